//! Paths as people and terminals write them into a line of text: several, quoted, with escaped blanks, as `file://`.
//!
//! A terminal into which files are dragged pastes their paths, each in its own way of quoting. Whether there are such files
//! is not known here.

use super::percent::percent_decoded;

/// More paths in one paste are taken for text.
const MOST: usize = 50;
/// A longer word is no path.
const LONGEST: usize = 4_096;

/// The words of a line as a shell would take them apart: quotes and backslashes are taken out. `None` where a quote
/// does not end.
#[must_use]
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => out.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        c if c == quote => break,
                        '\\' if quote == '"' => {
                            let next = chars.next()?;
                            if !matches!(next, '"' | '\\' | '$' | '`') {
                                word.push('\\');
                            }
                            word.push(next);
                        }
                        c => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    Some(out)
}

/// The word that stands for this path in [`words`].
#[must_use]
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~' | '+' | ':' | ',' | '@' | '%');
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// The paths that were written behind a command; a line whose quotes do not end is one path.
#[must_use]
pub fn given(line: &str) -> Vec<String> {
    words(line).unwrap_or_else(|| vec![line.trim().to_owned()]).iter().map(|word| place(word)).collect()
}

/// The paths that a paste consists of: absolute ones, below the home directory, or `file://`, and nothing else. `None`
/// for any other text.
#[must_use]
pub fn pasted(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if text.is_empty() || text.len() > MOST * LONGEST {
        return None;
    }
    // One a line, with bare blanks inside; then as a shell would read it.
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let bare = |line: &&str| is_path(line) && !line.contains(['\\', '\'', '"']);
    let separate = |line: &&str| line.split_whitespace().skip(1).all(|word| !is_path(word));
    if lines.len() <= MOST && lines.iter().all(|line| bare(line) && separate(line)) {
        return Some(lines.iter().map(|line| place(line)).collect());
    }
    let words = words(text)?;
    let all = !words.is_empty() && words.len() <= MOST && words.iter().all(|word| is_path(word));
    all.then(|| words.iter().map(|word| place(word)).collect())
}

/// True if a word is written like a whole path. A lone slash, a comment and a command are not.
fn is_path(word: &str) -> bool {
    let rest = match word.strip_prefix("file://") {
        Some(address) => behind_host(address),
        None => word.strip_prefix('~').unwrap_or(word),
    };
    let name = rest.strip_prefix('/').unwrap_or_default();
    let named = name.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '/' | '*'));
    // `/help` may be a command, and is more often that than a file of the root directory.
    let deep = word.len() > rest.len() || name.contains('/') || name.contains('.');
    named && deep && word.len() <= LONGEST && !word.contains('\0')
}

/// The path that a word stands for: that of an address is taken out of it.
fn place(word: &str) -> String {
    let Some(rest) = word.strip_prefix("file://") else { return word.to_owned() };
    percent_decoded(behind_host(rest))
}

/// A host may stand before the path of an address; it is this machine's name where files are dragged.
fn behind_host(address: &str) -> &str {
    address.find('/').and_then(|at| address.get(at..)).unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_terminals_paste_for_dragged_files() {
        let is = |text: &str, paths: &[&str]| {
            assert_eq!(
                pasted(text).as_deref(),
                Some(paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>().as_slice()),
                "{text:?}"
            )
        };
        is("/home/ada/a.png", &["/home/ada/a.png"]);
        is(" /home/ada/a.png \n", &["/home/ada/a.png"]);
        is("'/home/ada/my plot.png'", &["/home/ada/my plot.png"]);
        is("\"/home/ada/my plot.png\"", &["/home/ada/my plot.png"]);
        is("/home/ada/my\\ plot\\(1\\).png", &["/home/ada/my plot(1).png"]);
        is("/home/ada/my plot.png", &["/home/ada/my plot.png"]);
        is("file:///home/ada/my%20plot%C3%A4.png", &["/home/ada/my plotä.png"]);
        is("file://host/tmp/a.png", &["/tmp/a.png"]);
        is("'/tmp/it'\\''s.png' ~/b.pdf", &["/tmp/it's.png", "~/b.pdf"]);
        is("/tmp/a.png /tmp/b.png", &["/tmp/a.png", "/tmp/b.png"]);
        is("file:///tmp/a.png\nfile:///tmp/b%2.png", &["/tmp/a.png", "/tmp/b%2.png"]);
        is("/tmp/日本 語.png\n/tmp/😀.gif", &["/tmp/日本 語.png", "/tmp/😀.gif"]);
    }

    #[test]
    fn other_pastes_are_text() {
        for text in [
            "",
            "/",
            "//",
            "// a comment",
            "/* a comment */",
            "/help",
            "/model sonnet",
            "~",
            "a.png",
            "see /etc/hosts",
            "https://example.com/a.png",
            "/tmp/a.png\nand more",
            "'/tmp/a.png",
            "file://",
            "a/b.rs",
            "./a.rs",
        ] {
            assert_eq!(pasted(text), None, "{text:?}");
        }
        assert_eq!(pasted(&"/tmp/a ".repeat(MOST + 1)), None);
    }

    #[test]
    fn paths_behind_a_command() {
        assert_eq!(given("a.png 'b c.png' d\\ e ~/f"), ["a.png", "b c.png", "d e", "~/f"]);
        assert_eq!(given(" it's"), ["it's"], "an open quote belongs to the name");
        assert_eq!(given("file:///tmp/a%20b"), ["/tmp/a b"]);
    }

    proptest! {
        #[test]
        fn a_quoted_path_is_one_word(path in "[^\\x00]{1,60}", more in "[^\\x00]{1,20}") {
            prop_assert_eq!(words(&quoted(&path)), Some(vec![path.clone()]));
            prop_assert_eq!(words(&format!("{} {}", quoted(&path), quoted(&more))), Some(vec![path, more]));
        }

        #[test]
        fn a_quoted_whole_path_is_what_was_pasted(name in "[^/\\x00\\s*][^/\\x00\\n\\r]{0,30}[^/\\x00\\s]") {
            let path = format!("/tmp/{name}");
            prop_assert_eq!(pasted(&quoted(&path)), Some(vec![path.clone()]));
        }

        #[test]
        fn any_paste_is_read(text in "\\PC{0,200}") {
            if let Some(paths) = pasted(&text) {
                prop_assert!(!paths.is_empty());
            }
        }
    }
}
