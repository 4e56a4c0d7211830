//! Paths in session files: `{{SESSION_PATH}}` for the session's own directory and `~` for the home directory.
//!
//! Craft Agents replaces both textually. Here the token stands for the directory only where the directory's name ends
//! there (`{{SESSION_PATH}}-2` is a sibling), and a token that was typed is written as `\u007b{SESSION_PATH}}`, which
//! no textual replacement touches.

use memchr::memmem;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Placeholder in a file for the session's own directory.
pub const TOKEN: &str = "{{SESSION_PATH}}";

/// JSON text whose tokens are replaced by `dir`, to be parsed.
///
/// Works on the JSON text because only there a typed token (`\u007b…`) differs from a written one; in valid JSON the
/// token can stand in strings alone, so this is a replacement in strings.
pub fn expand<'a>(json: &'a str, dir: &Path) -> Cow<'a, str> {
    if memmem::find(json.as_bytes(), TOKEN.as_bytes()).is_none() {
        return Cow::Borrowed(json);
    }
    let quoted = serde_json::to_string(&dir.to_string_lossy()).unwrap_or_default();
    let path = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let mut out = String::with_capacity(json.len() + path.len());
    let mut rest = json;
    while let Some(at) = rest.find(TOKEN) {
        let after = &rest[at + TOKEN.len()..];
        out.push_str(&rest[..at]);
        out.push_str(if name_ends(after) { path } else { TOKEN });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// One line of JSON in which `dir` is the token and typed tokens are marked.
pub fn render<T: Serialize>(value: &T, dir: &Path) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Portable { dir: dir.to_str().unwrap_or_default() });
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// The same for a text.
pub fn render_text(text: &str, dir: &Path) -> String {
    render(&Value::String(text.to_owned()), dir)
}

struct Portable<'a> {
    dir: &'a str,
}

impl Formatter for Portable<'_> {
    // A fragment holds no character that JSON escapes; neither does the token, nor a path that is replaced. What
    // stands before and after a fragment is a quote or an escaped character, so the path's name ends there.
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        let mut before = None;
        loop {
            let token = rest.find(TOKEN);
            let dir = find_dir(rest, self.dir, before);
            match (token, dir) {
                (Some(t), d) if d.is_none_or(|d| t < d) => {
                    writer.write_all(&rest.as_bytes()[..t])?;
                    writer.write_all(b"\\u007b{SESSION_PATH}}")?;
                    rest = &rest[t + TOKEN.len()..];
                    before = Some('}');
                }
                (_, Some(d)) => {
                    writer.write_all(&rest.as_bytes()[..d])?;
                    writer.write_all(TOKEN.as_bytes())?;
                    rest = &rest[d + self.dir.len()..];
                    before = Some('x');
                }
                _ => return CompactFormatter.write_string_fragment(writer, rest),
            }
        }
    }
}

/// Position of `dir` in `text` as a whole path.
fn find_dir(text: &str, dir: &str, before: Option<char>) -> Option<usize> {
    if dir.len() < 2 {
        return None;
    }
    let mut from = 0;
    while let Some(found) = text[from..].find(dir) {
        let at = from + found;
        let previous = text[..at].chars().next_back().or(before);
        let starts = previous.is_none_or(|c| !is_name(c) && c != '.' && c != '~');
        if starts && name_ends(&text[at + dir.len()..]) {
            return Some(at);
        }
        from = at + dir.len();
    }
    None
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// True if what follows cannot belong to the directory's name. A dot belongs to it if a name continues after it.
fn name_ends(after: &str) -> bool {
    let mut chars = after.chars();
    match chars.next() {
        None => true,
        Some('.') => !chars.next().is_some_and(is_name),
        Some(c) => !is_name(c),
    }
}

/// A path of the header as this machine has it: `~`, `$HOME` and `${HOME}` mean the home directory.
pub fn absolute(text: &str, home: &Path) -> PathBuf {
    for word in ["~", "${HOME}", "$HOME"] {
        if let Some(rest) = text.strip_prefix(word)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return if rest.len() < 2 { home.to_owned() } else { home.join(&rest[1..]) };
        }
    }
    PathBuf::from(text)
}

/// A path as the header has it: `~/…` below the home directory, else as it is.
pub fn homely(path: &Path, home: &Path) -> String {
    if home.as_os_str().len() > 1
        && let Ok(rest) = path.strip_prefix(home)
    {
        return if rest.as_os_str().is_empty() { "~".to_owned() } else { format!("~/{}", rest.to_string_lossy()) };
    }
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIR: &str = "/w/sessions/260913-keen-falcon";

    #[test]
    fn the_directory_is_replaced_where_its_name_ends() {
        for (text, json) in [
            ("/w/sessions/260913-keen-falcon/data", r#""{{SESSION_PATH}}/data""#),
            ("in /w/sessions/260913-keen-falcon.", r#""in {{SESSION_PATH}}.""#),
            ("/w/sessions/260913-keen-falcon\n", r#""{{SESSION_PATH}}\n""#),
            ("/w/sessions/260913-keen-falcon-2/data", r#""/w/sessions/260913-keen-falcon-2/data""#),
            ("/w/sessions/260913-keen-falcon.bak", r#""/w/sessions/260913-keen-falcon.bak""#),
            ("/mnt/w/sessions/260913-keen-falcon", r#""/mnt/w/sessions/260913-keen-falcon""#),
            ("typed {{SESSION_PATH}}/x", r#""typed \u007b{SESSION_PATH}}/x""#),
            ("{{{SESSION_PATH}}", r#""{\u007b{SESSION_PATH}}""#),
        ] {
            assert_eq!(render_text(text, Path::new(DIR)), json);
            assert_eq!(serde_json::from_str::<String>(&expand(json, Path::new(DIR))).unwrap(), text);
        }
        // A sibling that Craft's textual replacement made stays as it is.
        let sibling = r#""{{SESSION_PATH}}-2/x""#;
        assert_eq!(expand(sibling, Path::new(DIR)), sibling);
    }

    #[test]
    fn home_goes_both_ways() {
        let home = Path::new("/home/ada");
        for (text, path) in [("~/code", "/home/ada/code"), ("~", "/home/ada"), ("/srv/x", "/srv/x")] {
            assert_eq!(absolute(text, home), Path::new(path));
            assert_eq!(homely(Path::new(path), home), text);
        }
        assert_eq!(absolute("${HOME}/code", home), Path::new("/home/ada/code"));
        assert_eq!(absolute("~other/code", home), Path::new("~other/code"));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(parts in prop::collection::vec(prop_oneof![
            Just(TOKEN.to_owned()), Just(DIR.to_owned()), Just("{".to_owned()), Just("-2".to_owned()),
            Just("/".to_owned()), Just("\\u007b".to_owned()), Just("\n".to_owned()), "\\PC{0,4}"], 0..8)) {
            let text = parts.concat();
            let json = render_text(&text, Path::new(DIR));
            prop_assert_eq!(serde_json::from_str::<String>(&expand(&json, Path::new(DIR))).unwrap(), text);
        }
    }
}
