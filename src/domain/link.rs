//! Addresses that a terminal may be told to open: which are allowed, and where they stand in a text.

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

/// Where addresses of the web stand in a line of text, without the signs behind them that belong to the sentence.
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

    proptest::proptest! {
        #[test]
        fn nothing_but_printable_ascii_comes_out(url in "(https?|file|mailto):(//)?/?.{0,60}") {
            if let Some(url) = harmless(&url) {
                proptest::prop_assert!(url.bytes().all(|b| matches!(b, b'!'..=b'~')));
            }
            let _ = in_text(&url);
        }
    }
}
