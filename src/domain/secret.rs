//! A key that shows itself to nobody but who asks for it, and the one table of what keys look like in a text. Where a key
//! comes from is the configuration's business, where it goes the provider's.

mod content;
mod escapes;
mod json;
mod key_forms;
mod shapes;
mod variable;

pub use content::{Content, MOST};
pub use json::masked_json;
#[cfg(test)]
pub(crate) use shapes::tests::{escapings, examples};
pub use shapes::{keys_masked, masked, masked_value, quoted};
use std::fmt;
pub use variable::{is_secret_name, is_secret_variable};

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

/// Serialisation for the one place where a key crosses a wire: from the client where it was written
/// to the engine. Nothing else that holds a key can be serialised.
pub mod on_the_wire {
    use crate::domain::secret::Key;
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
        Key::new(&text).ok_or_else(|| D::Error::custom("not a key"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
