//! A key that shows itself to nobody but who asks for it. Where it comes from is the configuration's business, where it
//! goes the provider's.

use std::fmt;

/// A key of a provider: something that can stand in a header.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Wraps a key, without the blanks and line ends that copying leaves around it. `None` for nothing, and for what
    /// cannot stand in a header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The key itself, for the header of a request.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// For the one place where a key crosses a wire: from the face where it was written to the engine. Nothing else that holds a key
/// can be serialised.
pub mod on_the_wire {
    use super::Key;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the key itself.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(key.reveal())
    }

    /// Reads a key. What is none is not repeated in the error.
    ///
    /// # Errors
    /// Those of the deserializer, and for a text that is no key.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let text = String::deserialize(deserializer)?;
        Key::new(&text).ok_or_else(|| D::Error::custom("this is not a key"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// How keys of well-known servers begin.
const BEGINNINGS: [&str; 24] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "gsk_",
    "AIza",
    "xai-",
    "hf_",
    "nvapi-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "npm_",
    "pypi-",
    "Bearer ",
    "bearer ",
];
/// A shorter word is none.
const SHORTEST: usize = 16;

/// A text in which what looks like a key is `***` behind its beginning, and how many were found; private keys are left
/// out whole. `None`: there is nothing of that kind in it.
#[must_use]
pub fn masked(text: &str) -> Option<(String, usize)> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=');
    let mut found: Vec<(usize, usize)> = Vec::new();
    for start in BEGINNINGS {
        for at in memchr::memmem::find_iter(text.as_bytes(), start.as_bytes()) {
            let begins = !text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_alphanumeric()));
            let from = at + start.len();
            let tail = text.get(from..).unwrap_or_default();
            let length = tail.find(|c| !is_key(c)).unwrap_or(tail.len());
            // A full stop at its end belongs to the sentence.
            let key = tail.get(..length).unwrap_or_default().trim_end_matches('.');
            if begins && key.len() >= SHORTEST && key.contains(|c: char| c.is_ascii_digit()) {
                found.push((from, from + key.len()));
            }
        }
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"PRIVATE KEY-----") {
        let from = at + "PRIVATE KEY-----".len();
        let rest = text.get(from..).unwrap_or_default();
        if !text.get(..at).is_some_and(|before| before.ends_with("-----BEGIN ") || before.ends_with(" ")) {
            continue;
        }
        if let Some(end) = rest.find("-----END") {
            found.push((from, from + end));
        }
    }
    if found.is_empty() {
        return None;
    }
    found.sort_unstable();
    let (mut out, mut at, mut count) = (String::with_capacity(text.len()), 0, 0);
    for (from, to) in found {
        if from < at {
            continue;
        }
        out.push_str(text.get(at..from).unwrap_or_default());
        out.push_str("***");
        (at, count) = (to, count + 1);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Some((out, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked_where_they_stand() {
        for (text, shown) in [
            ("KEY=sk-proj-a1b2c3d4e5f6a7b8 rest", "KEY=sk-*** rest"),
            ("ghp_abcdefghij0123456789.", "ghp_***."),
            (r#"{"a":"Bearer abcdefghijklmnop123"}"#, r#"{"a":"Bearer ***"}"#),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
            ),
        ] {
            assert_eq!(masked(text), Some((shown.to_owned(), 1)), "{text}");
        }
        for text in
            ["", "sk-learn is a library", "task-0123456789abcdefgh", "sk-short1", "the bearer of this letter came"]
        {
            assert_eq!(masked(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(format!("{:?}", Key::new(" sk-secret\n")), "Some(Key(…))");
        assert_eq!(Key::new(" sk-secret\n").unwrap().reveal(), "sk-secret");
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_no_key() {
        for text in ["", " \n", "a\nb", "two words", "schlüssel"] {
            assert_eq!(Key::new(text), None, "{text:?}");
        }
    }
}
