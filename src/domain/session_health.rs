//! Health of a session's files, as `lisle sessions verify` and `repair` tell it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Health of a session's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// The session; empty only in a default value.
    pub session: String,
    /// Rows that can be read.
    pub messages: u64,
    /// Lines of `session.jsonl`, the header included.
    pub lines: u64,
    /// Irregularities: a sentence, and its lines.
    pub odd: Vec<(String, Vec<u64>)>,
    /// Rows and queued messages that a death left in `live.jsonl`.
    pub unfinished: u64,
    /// Files that no row refers to, relative to the session.
    pub orphans: Vec<String>,
    /// Files that rows refer to and that are not there.
    pub missing: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
    /// Last writer, in words.
    pub last_writer: Option<String>,
    /// Current holder, in words.
    pub held_by: Option<String>,
    /// Repairs that would be made, or were made.
    pub repairs: Vec<String>,
    /// The repairs were made.
    pub repaired: bool,
}

impl HealthReport {
    /// Nothing is odd, unfinished or missing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.odd.is_empty() && self.unfinished == 0 && self.missing.is_empty()
    }
}
