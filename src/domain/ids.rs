//! Identifiers and instants as types of their own, so that one cannot be passed for another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Milliseconds since the Unix epoch, as the session files store them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct At(pub i64);

impl At {
    /// Milliseconds from `earlier` to `self`; 0 when the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: At) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// The instant `ms` milliseconds later.
    #[must_use]
    pub fn plus(self, ms: u64) -> At {
        At(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps `text` as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Id of a row of the transcript: `msg-{epochMs}-{6 base36}`, `plan-…` for plans, or whatever another program wrote.
    MessageId
}
text_id! {
    /// The provider's id of one tool call (`toolUseId` on disk).
    CallId
}
text_id! {
    /// Id of one thing that the engine asks the user.
    RequestId
}
/// Name of a connection in the configuration.
///
/// The built-in agent is `demo`. Its older word, `rehearsal`, is the same name wherever one is read. Files and the protocol
/// keep the older word, which versions before the change understand: their sessions go on with this one, and back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub struct ConnectionName(String);

/// Name of the built-in agent's connection and model.
pub const DEMO: &str = "demo";
/// Its name in files.
const STORED_DEMO: &str = "rehearsal";

/// Name of a model or connection as people read it: the older word for the demo is left to files.
#[must_use]
pub fn shown_name(name: &str) -> &str {
    if name == STORED_DEMO { DEMO } else { name }
}

impl ConnectionName {
    /// Name of `text`; the older word for the demo is the newer one.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        if text == STORED_DEMO { Self(DEMO.to_owned()) } else { Self(text) }
    }

    /// The name as people read it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as files keep it.
    #[must_use]
    pub fn stored(&self) -> &str {
        if self.0 == DEMO { STORED_DEMO } else { &self.0 }
    }
}

impl From<String> for ConnectionName {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<ConnectionName> for String {
    fn from(name: ConnectionName) -> Self {
        name.stored().to_owned()
    }
}

impl fmt::Display for ConnectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// True for a text that has the shape of an id that a program makes for a session: `260902-swift-river`, a UUID,
/// `session-0000002a`. Nobody means a new name by it.
#[must_use]
pub fn looks_generated(text: &str) -> bool {
    let hex = |text: &str, long: usize| text.len() == long && text.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        ["session", number] => hex(number, 8),
        [a, b, c, d, e] if hex(a, 8) => hex(b, 4) && hex(c, 4) && hex(d, 4) && hex(e, 12),
        [day, words @ ..] => {
            let word =
                |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            day.len() == 6
                && day.bytes().all(|b| b.is_ascii_digit())
                && (2..=3).contains(&words.len())
                && words.iter().all(word)
        }
        [] => false,
    }
}

/// Error: a text is not a session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSessionId(pub String);

impl fmt::Display for BadSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid session id {:?}: use 1 to 200 letters, digits, '_' or '-'", self.0)
    }
}

impl std::error::Error for BadSessionId {}

/// A session's id, which is its directory's name. It is checked here, once, so that it can become part of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Accepts `[A-Za-z0-9_-]+` up to 200 characters.
    ///
    /// # Errors
    /// [`BadSessionId`] with the text when it holds anything else.
    pub fn parse(text: impl Into<String>) -> Result<Self, BadSessionId> {
        let text = text.into();
        let fits = (1..=200).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if fits { Ok(Self(text)) } else { Err(BadSessionId(text)) }
    }

    /// The id `session-` and the number in eight hex digits, for where no better one can be had.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        Self(format!("session-{number:08x}"))
    }

    /// The text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadSessionId;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_has_one_name_and_files_keep_the_older_word() {
        let (old, new) = (ConnectionName::new("rehearsal"), ConnectionName::new("demo"));
        assert_eq!(old, new);
        assert_eq!((new.to_string().as_str(), new.stored()), ("demo", "rehearsal"));
        assert_eq!(serde_json::to_string(&new).unwrap(), "\"rehearsal\"");
        assert_eq!(serde_json::from_str::<ConnectionName>("\"rehearsal\"").unwrap(), new);
        assert_eq!(ConnectionName::new("work").stored(), "work");
        assert_eq!((shown_name("rehearsal"), shown_name("vendor/m")), ("demo", "vendor/m"));
    }

    #[test]
    fn generated_ids_have_a_shape() {
        for (text, is) in [
            ("260902-swift-river", true),
            ("260902-swift-river-2", true),
            ("3f2b8c1e-7d44-4c0a-9b1e-2a6f0c9d8e77", true),
            ("session-0000002a", true),
            ("notes", false),
            ("260902-notes", false),
            ("session-notes", false),
            ("my-swift-river", false),
            ("", false),
        ] {
            assert_eq!(looks_generated(text), is, "{text}");
        }
    }

    #[test]
    fn session_ids_cannot_leave_their_directory() {
        for good in ["260902-swift-river", "3f2b8c1e-7d44-4c0a-9b1e-2a6f0c9d8e77", "a", "A_b-9"] {
            assert!(SessionId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a\\b", "a b", "ä", "a\0", "a.jsonl", &"x".repeat(201)] {
            assert!(SessionId::parse(bad).is_err(), "{bad}");
        }
        for number in [0, 7, u32::MAX] {
            let id = SessionId::numbered(number);
            assert_eq!(SessionId::parse(id.as_str()), Ok(id));
        }
    }
}
