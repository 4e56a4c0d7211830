//! A field for a secret: what is written in it is never drawn, kept or shown by [`std::fmt::Debug`]. It is written, taken back and
//! sent, and nothing else: there is nothing to be seen that a caret could walk through.

use crate::domain::secret::{Key, masked};
use crate::keymap::action::ComposerAction as Verb;
use std::fmt;

/// Maximum length of a key.
const LONGEST: usize = 16_384;

/// A field for a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden {
    text: String,
    /// A blank was typed last.
    gap: bool,
    /// A blank stood between two words: a sentence, and no key.
    words: bool,
}

impl Hidden {
    /// Adds a typed or pasted text. Line ends and blanks around what is pasted are left out with the rest that no key has.
    pub fn insert(&mut self, text: &str) {
        for c in text.chars() {
            if c == ' ' {
                self.gap = !self.text.is_empty();
            } else if c.is_ascii_graphic() && self.text.len() < LONGEST {
                self.words |= self.gap;
                self.gap = false;
                self.text.push(c);
            }
        }
    }

    /// True if it holds several words.
    #[must_use]
    pub fn is_sentence(&self) -> bool {
        self.words
    }

    /// Takes back the last character, or all of it.
    pub fn edit(&mut self, verb: Verb) {
        match verb {
            Verb::Backspace => drop(self.text.pop()),
            Verb::KillWord | Verb::KillToStart => self.text.clear(),
            _ => {}
        }
        if self.text.is_empty() {
            (self.gap, self.words) = (false, false);
        }
    }

    /// Number of characters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Entered key; `None` if empty.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        Key::new(&self.text)
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}

/// Decides if a pasted text may be a key: one word that has the shape of a known one, or a long one of letters, digits and
/// the few signs that keys have, with digits in it.
#[must_use]
pub fn looks_like_a_key(text: &str) -> bool {
    let text = text.trim();
    if !text.contains(char::is_whitespace) && masked(text).is_some() {
        return true;
    }
    let signs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=');
    text.len() >= 16
        && text.chars().all(signs)
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| c.is_ascii_alphabetic())
        && !text.starts_with(['/', '.', '~'])
}

/// Decides if a draft holds a key: the shape of a known one anywhere, or nothing but a long word that can be one.
#[must_use]
pub fn holds_a_key(text: &str) -> bool {
    masked(text).is_some() || (text.trim().len() >= 32 && looks_like_a_key(text))
}

/// The word of a text that looks most like a key.
#[must_use]
pub fn key_in(text: &str) -> Option<Hidden> {
    let words = || text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '`', ',', ';']));
    let word = words().find(|word| masked(word).is_some()).or_else(|| words().find(|word| looks_like_a_key(word)))?;
    let mut field = Hidden::default();
    field.insert(word.rsplit(['=', ':']).next().unwrap_or(word));
    Some(field)
}

/// The vendor whose keys begin like one in this text.
#[must_use]
pub fn vendor_of(text: &str) -> Option<&'static str> {
    let begins = [("sk-ant-", "anthropic"), ("sk-or-", "openrouter"), ("AIza", "gemini"), ("sk-", "openai")];
    begins.into_iter().find(|(begin, _)| text.contains(begin)).map(|(_, vendor)| vendor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_nothing_and_gives_the_key() {
        let mut field = Hidden::default();
        assert!(field.is_empty() && field.key().is_none());
        field.insert(" sk-abc 1\r\n\u{1b}");
        assert_eq!((field.len(), field.key()), (7, Key::new("sk-abc1")));
        assert_eq!(format!("{field:?}"), "Hidden(…)");
        field.edit(Verb::Backspace);
        assert_eq!(field.key(), Key::new("sk-abc"));
        field.edit(Verb::KillToStart);
        assert!(field.is_empty());
        field.insert(&"x".repeat(LONGEST + 5));
        assert_eq!(field.len(), LONGEST);
    }

    #[test]
    fn keys_are_told_from_words_and_paths() {
        for key in
            ["sk-ant-api03-abcDEFghi", "AIzaSyA1234567890abcdef", "gsk_0123456789abcdef\n", "0123456789abcdef0123"]
        {
            assert!(looks_like_a_key(key), "{key}");
        }
        for other in [
            "",
            "hello",
            "fix the tests in src/main.rs please",
            "/home/me/project1/src/main.rs",
            "internationalization",
        ] {
            assert!(!looks_like_a_key(other), "{other}");
        }
    }
}
