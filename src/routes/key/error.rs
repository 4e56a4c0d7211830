//! Errors in session keys, as sentences without their end.

use std::fmt;

/// Longest key in bytes.
pub const MAX_KEY: usize = 1024;

/// Error in a session key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// No text.
    Empty,
    /// Longer than [`MAX_KEY`].
    TooLong,
    /// A control character, which would break lists and logs.
    ControlCharacter,
    /// Two colons side by side, or one at an end.
    EmptyPart,
    /// `agent:` without an agent and a rest.
    Incomplete,
    /// An agent id outside `[a-z0-9][a-z0-9_-]{0,63}`.
    AgentId(String),
    /// A property name of JavaScript's objects, which readers of the store would trip over.
    PrototypeName(String),
    /// `agent:A:agent:B:…`, the result of qualifying a key twice.
    DoublePrefix,
    /// A word such as `group` without what must follow it.
    MissingValue(&'static str),
    /// A word of the key format in the place of a name.
    ReservedName(String),
    /// An id that would read as something else, such as `x:thread:5`.
    AmbiguousId(String),
    /// More parts than the form has.
    TooManyParts(&'static str),
    /// A sender's id that is also the name of a linked person, whose session it would share.
    LinkedName(String),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("session key is empty"),
            Self::TooLong => write!(f, "session key is longer than {MAX_KEY} bytes"),
            Self::ControlCharacter => f.write_str("session key contains a control character"),
            Self::EmptyPart => f.write_str("session key has an empty part between colons"),
            Self::Incomplete => f.write_str("session key is incomplete: use agent:AGENT:REST"),
            Self::AgentId(id) => {
                write!(f, "invalid agent id {id:?} in session key: use 1 to 64 letters, digits, '_' or '-'")
            }
            Self::PrototypeName(name) => write!(f, "reserved name {name:?} in session key"),
            Self::DoublePrefix => f.write_str("session key has the prefix agent: twice"),
            Self::MissingValue(word) => write!(f, "session key has nothing after {word:?}"),
            Self::ReservedName(name) => write!(f, "{name:?} is a word of session keys and can't be a name in one"),
            Self::AmbiguousId(id) => write!(f, "id {id:?} can't be part of a session key: it reads as another form"),
            Self::LinkedName(id) => write!(f, "id {id:?} is the name of a linked person: add the id to identityLinks"),
            Self::TooManyParts(form) => write!(f, "session key has more parts than the form {form:?}"),
        }
    }
}

impl std::error::Error for KeyError {}
