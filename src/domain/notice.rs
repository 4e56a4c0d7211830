//! A short word to the user: what happened and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    /// Tells of files that configure or run code and that a command made or changed without having asked, a line each. `None`
    /// where there are none.
    #[must_use]
    pub fn protected(lines: &[String]) -> Option<Self> {
        let files = match lines.len() {
            0 => return None,
            1 => "1 file that configures or runs code".to_owned(),
            many => format!("{many} files that configure or run code"),
        };
        Some(Self::new(Level::Warning, format!("A command made or changed {files}:\n{}", lines.join("\n"))))
    }

    /// The same notice with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}
