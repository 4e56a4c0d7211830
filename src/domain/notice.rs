//! A short word to the user: what happened and what to do about it.

use serde::{Deserialize, Serialize};

/// Level of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Success.
    Info,
    /// Irregularity; the program went on.
    Warning,
    /// Failure.
    Error,
}

/// A sentence for the status area of the screen, or for stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Level.
    pub level: Level,
    /// Event, and the file or session it is about.
    pub text: String,
    /// Advice; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

impl Notice {
    /// A notice of `level` without a hint.
    pub fn new(level: Level, text: impl Into<String>) -> Self {
        Self { level, text: text.into(), hint: String::new() }
    }

    /// The same notice with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}
