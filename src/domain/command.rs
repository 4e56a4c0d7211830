//! Commands of the user's own: a file each, `commands/NAME.md`, whose text is sent to the model.
//!
//! The file may begin with front matter between two lines of `---`: `description` and `argument-hint`. In the text
//! `$ARGUMENTS` stands for all that follows the command, `$1` to `$9` for its words; a text without any of them gets what
//! follows at its end. The format is that of Claude Code's custom commands, so those can be copied over. Reading files is
//! the runtime's part.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Owner of a command's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandOrigin {
    /// The user's, in the folder of the configuration.
    User,
    /// The workspace's.
    Workspace,
    /// The repository's, below the directory where tools work: whoever wrote the repository wrote it.
    Repository,
}

impl CommandOrigin {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CommandOrigin::User => "yours",
            CommandOrigin::Workspace => "workspace",
            CommandOrigin::Repository => "repository",
        }
    }
}

/// A command of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCommand {
    /// Its name without the slash.
    pub name: String,
    /// Description in a few words; may be empty.
    pub description: String,
    /// Arguments that can follow it; may be empty.
    pub hint: String,
    /// The text to be sent.
    pub text: String,
    /// Owner of the file.
    pub origin: CommandOrigin,
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal digits: a file that changed is another one.
    pub hash: String,
}

/// Content of a command's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFile {
    /// `description`
    pub description: String,
    /// `argument-hint`
    pub hint: String,
    /// Text after the front matter.
    pub text: String,
}

/// Reads the text of a file.
///
/// # Errors
/// The line, from 1, and what is wrong there.
pub fn read(whole: &str) -> Result<CommandFile, (usize, &'static str)> {
    let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
    let mut out = CommandFile::default();
    let mut lines = whole.split_inclusive('\n');
    let mut body = whole;
    if whole.lines().next().map(str::trim_end) == Some("---") {
        let mut read = lines.next().map_or(0, str::len);
        let mut closed = false;
        for (n, line) in lines.enumerate() {
            read += line.len();
            let line = line.trim();
            if line == "---" {
                closed = true;
                break;
            }
            if line.is_empty() || line.starts_with('#') || line.starts_with("- ") {
                continue;
            }
            let (name, value) = line.split_once(':').ok_or((n + 2, "expected `name: value`"))?;
            let value = unquoted(value.trim()).to_owned();
            match name.trim() {
                "description" => out.description = value,
                "argument-hint" => out.hint = value,
                // Others are for other programs.
                _ => {}
            }
        }
        if !closed {
            return Err((1, "unclosed front matter: missing the second ---"));
        }
        body = whole.get(read..).unwrap_or_default();
    }
    body.trim().clone_into(&mut out.text);
    if out.text.is_empty() {
        return Err((1, "no text to send"));
    }
    if out.description.is_empty() {
        let first = out.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        out.description = first.chars().take(80).collect();
    }
    Ok(out)
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// True if a file of this name without `.md` can be a command.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.chars().count() <= 64 && name.chars().all(fits) && name == name.to_lowercase()
}

impl OwnCommand {
    /// The text with what follows the command put in.
    #[must_use]
    pub fn fill(&self, args: &str) -> String {
        fill(&self.text, args.trim())
    }
}

fn fill(text: &str, args: &str) -> String {
    let words = words(args);
    let mut out = String::with_capacity(text.len() + args.len());
    let mut used = false;
    let mut rest = text;
    // In one pass: what is put in is not looked at again.
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        if let Some(after) = behind.strip_prefix("ARGUMENTS") {
            out.push_str(args);
            (rest, used) = (after, true);
            continue;
        }
        let digit = behind.chars().next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
        let longer = behind.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        match digit.filter(|_| !longer) {
            Some(digit) => {
                out.push_str(words.get(digit as usize - 1).map_or("", String::as_str));
                (rest, used) = (&behind[1..], true);
            }
            None => {
                out.push('$');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    if !used && !args.is_empty() {
        out.push_str("\n\n");
        out.push_str(args);
    }
    out
}

/// The words of what follows a command; quotes hold blanks together.
fn words(args: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in args.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => out.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_read() {
        let read = read("---\ndescription: \"Fix it\"\nargument-hint: [ISSUE]\nallowed-tools: Bash\n---\n\nFix $1.\n")
            .unwrap();
        assert_eq!(
            (read.description.as_str(), read.hint.as_str(), read.text.as_str()),
            ("Fix it", "[ISSUE]", "Fix $1.")
        );
        let plain = super::read("# Look at it\n\nClosely.").unwrap();
        assert_eq!((plain.description.as_str(), plain.text.as_str()), ("Look at it", "# Look at it\n\nClosely."));
        let rule = super::read("a\n---\nb").unwrap();
        assert_eq!(rule.text, "a\n---\nb", "only at the beginning");
        for (broken, line) in
            [("", 1), ("---\ndescription: x\n", 1), ("---\nwhat is this\n---\nx", 2), ("---\n---\n \n", 1)]
        {
            assert_eq!(super::read(broken).unwrap_err().0, line, "{broken:?}");
        }
        for (name, fits) in
            [("fix", true), ("fix-it_2", true), ("Fix", false), ("a b", false), ("", false), ("a/b", false)]
        {
            assert_eq!(is_name(name), fits, "{name}");
        }
    }

    #[test]
    fn arguments_are_put_in_once() {
        for (text, args, expected) in [
            ("Fix $ARGUMENTS now", "a b", "Fix a b now"),
            ("Fix $1 in $2", "a 'b c' d", "Fix a in b c"),
            ("Fix $1 in $2", "a", "Fix a in "),
            ("Fix it", "a b", "Fix it\n\na b"),
            ("Fix it", "", "Fix it"),
            ("costs $10 or $0 and $x", "a", "costs $10 or $0 and $x\n\na"),
            ("$1", "$ARGUMENTS", "$ARGUMENTS"),
            ("$ARGUMENTS$1", "$1 x", "$1 x$1"),
        ] {
            assert_eq!(fill(text, args), expected, "{text:?} {args:?}");
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read_and_any_words_filled(text in "(---\n)?.{0,40}(\n---\n.{0,20})?", args in ".{0,30}") {
            if let Ok(written) = read(&text) {
                prop_assert!(!written.text.is_empty());
                let _ = fill(&written.text, &args);
            }
        }
    }
}
