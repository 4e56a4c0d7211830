//! Secrets in a line of JSON: each text is looked at as it reads, not as it is escaped. All other bytes stay.

use super::shapes::{MASK, is_secret_of, masked, quoted};

/// Fields of a header whose text is cut to a length, so that a key in it may have lost its end.
const CUT: [&str; 3] = ["preview", "name", "title"];

/// The line with secrets in its texts masked, and how many there were. `None`: there are none. A line that is no JSON is
/// looked at as text.
#[must_use]
pub fn masked_json(line: &str) -> Option<(String, usize)> {
    if serde_json::from_str::<serde::de::IgnoredAny>(line).is_err() {
        return masked(line);
    }
    let (mut out, mut copied, mut count) = (String::new(), 0, 0);
    let mut name = String::new();
    let mut at = 0;
    while let Some(quote) = line.get(at..).and_then(|rest| rest.find('"')) {
        let from = at + quote;
        let Some(length) = literal(line.get(from..).unwrap_or_default()) else { break };
        let to = from + length;
        at = to;
        let Ok(text) = serde_json::from_str::<String>(line.get(from..to).unwrap_or_default()) else { continue };
        if line.get(to..).is_some_and(|rest| rest.trim_start().starts_with(':')) {
            name = text;
            continue;
        }
        // A value, or one of a list: then the name of the list is not its name.
        let named = line.get(..from).is_some_and(|before| before.trim_end().ends_with(':'));
        let safe = match (named, masked(&text)) {
            (true, _) if is_secret_of(&name, &text) => Some((MASK.to_owned(), 1)),
            (true, safe) if CUT.contains(&name.as_str()) => {
                let (safe, found) = safe.unwrap_or_else(|| (text.clone(), 0));
                let whole = quoted(&safe);
                let found = found + usize::from(whole != safe);
                (found > 0).then_some((whole, found))
            }
            (_, safe) => safe,
        };
        let Some((safe, found)) = safe else { continue };
        out.push_str(line.get(copied..from).unwrap_or_default());
        out.push_str(&serde_json::to_string(&safe).unwrap_or_else(|_| "\"***\"".to_owned()));
        (copied, count) = (to, count + found);
    }
    if count == 0 {
        return None;
    }
    out.push_str(line.get(copied..).unwrap_or_default());
    Some((out, count))
}

/// The length of the string literal at the beginning of a text, with its quotes.
fn literal(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(b) = bytes.get(at) {
        match b {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_lost_its_end_in_a_header_is_masked_as_well() {
        let line = r#"{"id":"a","name":"use ghp_abcdef","preview":"write sk-ant-REDACTED and glpat-abcdef"}"#;
        let (safe, count) = masked_json(line).unwrap();
        assert!(!safe.contains("abcdef") && count >= 2, "{safe}");
        assert!(safe.starts_with(r#"{"id":"a","name":"use ghp_***"#), "{safe}");
        for plain in [r#"{"name":"bash","preview":"a plain word"}"#, r#"{"title":"The sk-learn tutorial"}"#] {
            assert_eq!(masked_json(plain), None, "{plain}");
        }
    }
}
