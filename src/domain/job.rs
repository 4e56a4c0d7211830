//! Commands that go on in the background, as the screen shows them.

use super::ids::At;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that goes on, or went on, beside the turns of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobShown {
    /// Its name, which the model uses, too.
    pub id: String,
    /// The command line, exactly. Not sanitised.
    pub command: String,
    /// Since when.
    pub since: At,
    /// End; `None` while it runs.
    #[serde(default)]
    pub end: Option<JobEnd>,
    /// Bytes that it wrote.
    pub bytes: u64,
    /// The last lines that it wrote. Not sanitised.
    pub last: String,
}

/// End of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobEnd {
    /// Time of the end.
    pub at: At,
    /// In a few words: `exit 0`, `ended by you`.
    pub words: String,
    /// It did not end well by itself.
    pub failed: bool,
    /// Cause of the end.
    pub by: EndedBy,
    /// Files that configure or run code and that it made or changed without having asked: a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
}

/// Cause of a job's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// It ended by itself, or a limit did.
    #[default]
    Itself,
    /// The model, with `job_kill`.
    Model,
    /// The user.
    User,
    /// The session or lisle ended.
    Close,
}

impl JobShown {
    /// It goes on.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.end.is_none()
    }
}
