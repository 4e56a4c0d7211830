//! Addresses that a terminal may be told to open: which are allowed, and where they stand in a text. Names of files too.

use std::ops::Range;

/// Bytes of an address; longer ones some terminals do not take.
const LONGEST: usize = 2_000;

/// The address with nothing in it that a terminal could take for something else; `None` for one that is not to be opened:
/// only `http`, `https`, `mailto` and `file` with an absolute path on this machine are.
#[must_use]
pub fn harmless(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once(':')?;
    let opens = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => rest.strip_prefix("//").is_some_and(|host| host.starts_with(|c: char| !"/?#".contains(c))),
        "mailto" => !rest.is_empty(),
        "file" => rest.starts_with("///"),
        _ => false,
    };
    if !opens {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => out.push_str(&format!("%{byte:02X}")),
            b'!'..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    (out.len() <= LONGEST).then_some(out)
}

/// Ranges of web addresses in a line of text, without punctuation after them that belongs to the sentence.
#[must_use]
pub fn in_text(line: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (colon, _) in line.match_indices("://") {
        let before = line.get(..colon).unwrap_or_default();
        let Some(scheme) = ["https", "http"].into_iter().find(|scheme| before.ends_with(scheme)) else { continue };
        let start = colon - scheme.len();
        let glued = before.get(..start).and_then(|text| text.chars().next_back()).is_some_and(char::is_alphanumeric);
        if glued || out.last().is_some_and(|last| last.end > start) {
            continue;
        }
        let rest = line.get(start..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"'`|\\^{}".contains(c);
        let mut url = rest.split(ends).next().unwrap_or_default();
        loop {
            let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '…', '。', '，', '、']);
            // A bracket that was opened inside is closed inside.
            let open = |closing: char, opening: char| {
                shorter.ends_with(closing) && shorter.matches(closing).count() > shorter.matches(opening).count()
            };
            let shorter =
                if open(')', '(') || open(']', '[') { shorter.get(..shorter.len() - 1) } else { Some(shorter) };
            match shorter {
                Some(shorter) if shorter.len() < url.len() => url = shorter,
                _ => break,
            }
        }
        if url.len() > scheme.len() + 3 {
            out.push(start..start + url.len());
        }
    }
    out
}

/// A file that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNamed {
    /// Range in the text, with its line number.
    pub range: Range<usize>,
    /// The path as it is written.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// Text in a line that looks like the path of a file: `src/auth.rs`, `auth.rs:42`, `./a/b.c:4:2`.
/// The file need not exist. A folder, and a name that stands alone, do not look like one.
#[must_use]
pub fn files_in(text: &str) -> Vec<FileNamed> {
    let belongs = |c: char| c.is_alphanumeric() || "_-./@+".contains(c);
    let mut out = Vec::new();
    let mut rest = 0;
    while let Some(start) = text.get(rest..).and_then(|tail| tail.find(belongs)).map(|at| rest + at) {
        let tail = text.get(start..).unwrap_or_default();
        let word = tail.split(|c| !belongs(c)).next().unwrap_or_default();
        rest = start + word.len();
        // The dot of a sentence is no part of a name.
        let path = word.trim_end_matches(['.', '/', '-', '+']);
        let ended = path.len() < word.len();
        let line = text.get(rest..).filter(|_| !ended).and_then(number_after);
        let is_file = match line {
            Some(_) => has_ending(path),
            None => has_ending(path) && path.trim_start_matches("./").contains('/'),
        };
        // Behind `://`, `~` or `\\` it is a part of something else.
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let glued = before.is_some_and(|c| "~\\:$%=&?#".contains(c)) || path.starts_with("//");
        if is_file && !glued && !path.contains("//") {
            let digits = line.map_or(0, |(_, bytes)| bytes);
            out.push(FileNamed {
                range: start..start + path.len() + digits,
                path: path.to_owned(),
                line: line.map(|(line, _)| line),
            });
        }
    }
    out
}

/// `:42` at the start of a text: the number, and its bytes.
fn number_after(text: &str) -> Option<(u32, usize)> {
    let digits = text.strip_prefix(':')?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let number = digits.get(..count)?.parse().ok().filter(|number| *number > 0)?;
    Some((number, count + 1))
}

/// True if the last part of a path is a name with an extension.
fn has_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    // `example.org/a.html` is an address, `v1.2/3.4` numbers.
    let host = path.split('/').next().filter(|first| first.len() < path.len()).and_then(|first| first.rsplit_once('.'));
    let is_host = host.is_some_and(|(name, top)| !name.is_empty() && ["com", "org", "net", "io", "dev"].contains(&top));
    !is_host
        && (!stem.is_empty() || path.contains('/'))
        && (1..=10).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The path inside of `root`, which is absolute: absolute, without `.`; `None` for one that leads elsewhere.
#[must_use]
pub fn inside(root: &str, path: &str) -> Option<String> {
    let root = root.trim_end_matches('/');
    let below = match path.strip_prefix('/') {
        Some(_) => path.strip_prefix(root)?.strip_prefix('/')?,
        None => path,
    };
    let parts: Vec<&str> = below.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() || parts.contains(&"..") || path.contains(char::is_control) || !root.starts_with('/') {
        return None;
    }
    Some(format!("{root}/{}", parts.join("/")))
}

/// The address of a file inside of `root`; the line is its fragment. `None` for one that lies elsewhere.
#[must_use]
pub fn file_url(root: &str, path: &str, line: Option<u32>) -> Option<String> {
    let mut url = "file://".to_owned();
    for byte in inside(root, path)?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' | b'@' | b'+' => {
                url.push(char::from(byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    if let Some(line) = line {
        url.push_str(&format!("#{line}"));
    }
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_opened_without_harm() {
        for (url, want) in [
            ("https://example.org/a?b=c;d#e", Some("https://example.org/a?b=c;d#e")),
            ("HTTP://example.org", Some("HTTP://example.org")),
            ("mailto:a@example.org", Some("mailto:a@example.org")),
            ("file:///home/me/a b", Some("file:///home/me/a%20b")),
            ("https://example.org/\u{1b}\\日", Some("https://example.org/%1B%5C%E6%97%A5")),
            ("file://host/share", None),
            ("javascript:alert(1)", None),
            ("https:", None),
            ("https:///etc", None),
            ("data:text/html,x", None),
            ("../relative", None),
        ] {
            assert_eq!(harmless(url).as_deref(), want, "{url}");
        }
        assert_eq!(harmless(&format!("https://{}", "a".repeat(LONGEST))), None);
    }

    #[test]
    fn addresses_in_sentences() {
        for (line, want) in [
            ("see https://example.org/a.", vec!["https://example.org/a"]),
            ("(http://a.b/c_(d)) and <https://e.f>", vec!["http://a.b/c_(d)", "https://e.f"]),
            ("xhttp://no ftp://no http:// no", vec![]),
            ("日本https://a.b、次", vec![]),
            ("「https://a.b」", vec!["https://a.b」"]),
        ] {
            let found: Vec<&str> = in_text(line).into_iter().map(|range| &line[range]).collect();
            assert_eq!(found, want, "{line}");
        }
    }

    #[test]
    fn files_in_sentences() {
        for (text, want) in [
            ("see src/auth/redirect.rs:42.", vec![("src/auth/redirect.rs:42", Some(42))]),
            ("at src/a.rs:4:2, in b.py:7", vec![("src/a.rs:4", Some(4)), ("b.py:7", Some(7))]),
            ("`./ui/text.rs` and (docs/a-b.md)", vec![("./ui/text.rs", None), ("docs/a-b.md", None)]),
            ("/work/app/src/日本.rs", vec![("/work/app/src/日本.rs", None)]),
            ("Read src/main.rs.", vec![("src/main.rs", None)]),
            ("Node.js and/or state.now, 3/4.5, e.g. a/b, v1.2:3", vec![]),
            ("https://example.org/a.html example.org/a.html ~/x/y.rs", vec![]),
            (".github/ci.yml src/.env a//b.rs 12:30 note:4", vec![(".github/ci.yml", None), ("src/.env", None)]),
        ] {
            let found = files_in(text);
            let got: Vec<(&str, Option<u32>)> = found.iter().map(|one| (&text[one.range.clone()], one.line)).collect();
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn only_files_inside_have_an_address() {
        for (path, line, want) in [
            ("src/a.rs", Some(4), Some("file:///w/app/src/a.rs#4")),
            ("./src/a b#.rs", None, Some("file:///w/app/src/a%20b%23.rs")),
            ("/w/app/日", None, Some("file:///w/app/%E6%97%A5")),
            ("/w/application/x.rs", None, None),
            ("/etc/passwd", None, None),
            ("src/../../x.rs", None, None),
            ("/w/app", None, None),
            ("", None, None),
        ] {
            assert_eq!(file_url("/w/app/", path, line).as_deref(), want, "{path}");
        }
        assert_eq!(file_url("", "a/b.rs", None), None);
        assert!(harmless("file:///w/app/src/a.rs#4").is_some());
    }

    proptest::proptest! {
        #[test]
        fn what_is_found_lies_in_the_text(text in "([a-z./:~ 0-9é日]{0,12}|.{0,20}){0,4}") {
            for found in files_in(&text) {
                let shown = text.get(found.range.clone());
                proptest::prop_assert!(shown.is_some_and(|shown| shown.starts_with(&found.path)));
                if let Some(url) = file_url("/w", &found.path, found.line) {
                    proptest::prop_assert!(url.starts_with("file:///w/") && harmless(&url) == Some(url));
                }
            }
        }

        #[test]
        fn nothing_but_printable_ascii_comes_out(url in "(https?|file|mailto):(//)?/?.{0,60}") {
            if let Some(url) = harmless(&url) {
                proptest::prop_assert!(url.bytes().all(|b| matches!(b, b'!'..=b'~')));
            }
            let _ = in_text(&url);
        }
    }
}
