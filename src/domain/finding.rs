//! Findings about this machine and this installation: one thing each, and the advice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Subject, one or two words.
    pub about: String,
    /// Health of the subject.
    pub state: Health,
    /// Finding.
    pub says: String,
    /// Advice; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// Health of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// lisle works, with less.
    Warn,
    /// Broken.
    Broken,
}

impl Finding {
    /// It is as it should be.
    #[must_use]
    pub fn ok(about: impl Into<String>, says: impl Into<String>) -> Self {
        Self { about: about.into(), state: Health::Ok, says: says.into(), advice: String::new() }
    }

    /// lisle works, with less.
    #[must_use]
    pub fn warn(about: impl Into<String>, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { about: about.into(), state: Health::Warn, says: says.into(), advice: advice.into() }
    }

    /// It does not work.
    #[must_use]
    pub fn broken(about: impl Into<String>, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { about: about.into(), state: Health::Broken, says: says.into(), advice: advice.into() }
    }
}
