//! What a look at this machine and this installation found: one thing each, and what to do about it.

use serde::{Deserialize, Serialize};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about, one or two words.
    pub about: String,
    /// How it is.
    pub state: Health,
    /// What was found.
    pub says: String,
    /// What to do about it; empty where nothing is to be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// lisle works, with less.
    Warn,
    /// Something does not work.
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
