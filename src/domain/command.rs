//! Commands of the user's own: a file each, `commands/NAME.md`, whose text is sent to the model.
//!
//! The file may begin with front matter: `description`, `argument-hint`, `model`, `allowed-tools`. In the text `$ARGUMENTS`
//! stands for all that follows the command, `$1` to `$9` for its words; a text without any of them gets what follows at its
//! end. `` !`COMMAND` `` and `@FILE` stand for what the command prints and the file says: the engine runs and reads them as
//! calls of the session, before the model is asked. The format is that of Claude Code's custom commands, so those can be
//! copied over. Reading files is the runtime's part.

use super::extension::{ExtensionKind, ExtensionOrigin};
use super::front_matter::{Fault, FrontMatter};
use super::skill::line;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Expansions of one command at the most.
const EXPANSIONS: usize = 20;

/// A command of the user's own, or a skill or an agent that is called by its name as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCommand {
    /// Command or skill, called by `/NAME`; agent, by `@NAME`.
    pub kind: ExtensionKind,
    /// Its name without the slash.
    pub name: String,
    /// Description in a few words; may be empty.
    pub description: String,
    /// Arguments that can follow it; may be empty.
    pub hint: String,
    /// The text to be sent; empty for what the engine reads itself.
    pub text: String,
    /// Model of the turn; empty for the session's.
    pub model: String,
    /// Tools that run without being asked for in the turn, in Claude Code's words.
    pub allowed_tools: Vec<String>,
    /// Owner of the file.
    pub origin: ExtensionOrigin,
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal digits: a file that changed is another one.
    pub hash: String,
    /// It may run commands, read files and allow tools.
    pub trusted: bool,
}

/// Content of a command's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFile {
    /// `description`. Sanitised.
    pub description: String,
    /// `argument-hint`. Sanitised.
    pub hint: String,
    /// `model`; empty for the session's. Sanitised.
    pub model: String,
    /// `allowed-tools`. Sanitised.
    pub allowed_tools: Vec<String>,
    /// Text after the front matter.
    pub text: String,
}

/// Part of a command's text that stands for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Output of a command.
    Command(String),
    /// Content of a file.
    File(String),
}

/// Reads the text of a file.
///
/// # Errors
/// The line, from 1, and the problem in it.
pub fn read(whole: &str) -> Result<CommandFile, Fault> {
    let matter = FrontMatter::read(whole)?;
    if matter.body.is_empty() {
        return Err((1, "no text to send"));
    }
    let mut description = line(&matter.words("description"), 200);
    if description.is_empty() {
        let first = matter.body.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        description = line(first, 80);
    }
    let model = line(&matter.text("model")?, 200);
    Ok(CommandFile {
        description,
        hint: line(&matter.words("argument-hint"), 200),
        model: if model == "inherit" { String::new() } else { model },
        allowed_tools: matter.list("allowed-tools")?.iter().map(|tool| line(tool, 200)).collect(),
        text: matter.body,
    })
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

    /// The engine carries it out: it does more than to send a text.
    #[must_use]
    pub fn is_of_engine(&self) -> bool {
        self.kind != ExtensionKind::Command || self.needs_trust()
    }

    /// It runs, reads or allows something, or chooses a model: where others wrote it, it needs trust.
    #[must_use]
    pub fn needs_trust(&self) -> bool {
        !self.model.is_empty() || !self.allowed_tools.is_empty() || !expansions(&self.text).is_empty()
    }

    /// Expansions of the text with what follows the command put in. What is put in is not looked at: it begins no expansion.
    #[must_use]
    pub fn expansions(&self, args: &str) -> Vec<Expansion> {
        let (args, words) = (args.trim(), words(args));
        let put = |text: &str| put_in(text, args, &words).0;
        let filled = expansions(&self.text).into_iter().map(|one| match one {
            Expansion::Command(text) => Expansion::Command(put(text.as_str())),
            Expansion::File(text) => Expansion::File(put(text.as_str())),
        });
        filled.filter(|one| !matches!(one, Expansion::File(path) if path.is_empty())).collect()
    }
}

/// The expansions that a text asks for, in order. Those in code are none, but for the backticks of a command.
fn expansions(text: &str) -> Vec<Expansion> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced {
            of_line(line, &mut out);
        }
    }
    out.truncate(EXPANSIONS);
    out
}

fn of_line(line: &str, out: &mut Vec<Expansion>) {
    let mut rest = line;
    let mut before = None;
    while let Some(at) = rest.find(['`', '@']) {
        let ahead = rest.get(..at).and_then(|text| text.chars().next_back()).or(before.filter(|_| at == 0));
        let behind = rest.get(at + 1..).unwrap_or_default();
        if rest[at..].starts_with('`') {
            let Some((inside, after)) = behind.split_once('`') else { return };
            if ahead == Some('!') && !inside.trim().is_empty() {
                out.push(Expansion::Command(inside.trim().to_owned()));
            }
            (rest, before) = (after, Some('`'));
            continue;
        }
        let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
        let path =
            behind.get(..end).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"']);
        let begins = ahead.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"'));
        if begins && path.contains(['/', '.', '$']) && !path.contains('`') {
            out.push(Expansion::File(path.to_owned()));
        }
        (rest, before) = (behind, Some('@'));
    }
}

fn fill(text: &str, args: &str) -> String {
    let (mut out, used) = put_in(text, args, &words(args));
    if !used && !args.is_empty() {
        out.push_str("\n\n");
        out.push_str(args);
    }
    out
}

/// A text with what follows its name in the places for it; nothing is added where it has none.
#[must_use]
pub fn put_arguments(text: &str, args: &str) -> String {
    put_in(text, args, &words(args)).0
}

/// The text with arguments in their places, and whether it had one.
fn put_in(text: &str, args: &str, words: &[String]) -> (String, bool) {
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
    (out, used)
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

    fn own(text: &str) -> OwnCommand {
        OwnCommand {
            kind: ExtensionKind::Command,
            name: "x".into(),
            description: String::new(),
            hint: String::new(),
            text: text.into(),
            model: String::new(),
            allowed_tools: Vec::new(),
            origin: ExtensionOrigin::User,
            path: "/c/x.md".into(),
            hash: String::new(),
            trusted: true,
        }
    }

    #[test]
    fn commands_and_files_in_a_text_are_found() {
        let run = |text: &str| Expansion::Command(text.into());
        let file = |text: &str| Expansion::File(text.into());
        for (text, args, expected) in [
            ("State: !`git status -s`, log !`git log -$1`.", "5", vec![run("git status -s"), run("git log -5")]),
            (
                "See @src/main.rs, (@README.md) and @$1.",
                "a.txt",
                vec![file("src/main.rs"), file("README.md"), file("a.txt")],
            ),
            ("`git status` and `@a/b` are code, a@b.c an address, @name a person", "", vec![]),
            ("```\n!`rm x` @a/b\n```\nafter !`ls`", "", vec![run("ls")]),
            ("!`` and !` `, !`unclosed", "", vec![]),
            ("Fix $ARGUMENTS", "!`rm -rf x` @/etc/passwd", vec![]),
            ("@$2", "one", vec![]),
        ] {
            assert_eq!(own(text).expansions(args), expected, "{text:?}");
        }
        assert!(own("!`ls`").needs_trust() && own("@a/b").needs_trust() && !own("ls").needs_trust());
        assert_eq!(own(&"!`ls` ".repeat(50)).expansions("").len(), EXPANSIONS);
    }

    #[test]
    fn models_and_tools_are_read() {
        let whole = "---\nmodel: inherit\nallowed-tools: Bash(git add:*), Read\nargument-hint: [A] [B]\n---\nx";
        let read = super::read(whole).unwrap();
        assert_eq!((read.model.as_str(), read.hint.as_str()), ("", "[A] [B]"));
        assert_eq!(read.allowed_tools, ["Bash(git add:*)", "Read"]);
    }

    proptest! {
        #[test]
        fn any_file_is_read_and_any_words_filled(text in "(---\n)?.{0,40}(\n---\n.{0,20})?", args in ".{0,30}") {
            if let Ok(written) = read(&text) {
                prop_assert!(!written.text.is_empty());
                let _ = (fill(&written.text, &args), own(&written.text).expansions(&args));
            }
        }
    }
}
