//! Results of a search: hits in sessions, and how it ended.

use super::ids::{At, MessageId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Place of a hit in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HitIn {
    /// In the title.
    Title,
    /// In the id.
    Id,
    /// In a label.
    Label,
    /// In what the user wrote.
    User,
    /// In what the model wrote, or thought.
    Assistant,
    /// In a tool call: its command, its paths, its result.
    Tool,
    /// In a plan, an error or a note.
    Other,
}

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowHit {
    /// Place in the session.
    pub place: HitIn,
    /// The row, where it is one.
    pub row: Option<MessageId>,
    /// Byte in `session.jsonl` at which the row's line begins; 0 for what is no row.
    pub at: u64,
    /// Time of the row.
    pub when: At,
    /// The line of its text, cut to a window around the first mark.
    pub line: String,
    /// The marked bytes of `line`: start and end.
    pub marks: Vec<(usize, usize)>,
}

/// Hits in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHits {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Its last message.
    pub last_message: At,
    /// The first hits.
    pub hits: Vec<RowHit>,
    /// Number of all hits; in a session that is full of them only the first some hundred are counted.
    pub total: u64,
}

/// End of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Searched {
    /// Sessions looked at.
    pub sessions: u64,
    /// Sessions that could not be read.
    pub unreadable: u64,
    /// Bytes looked at.
    pub bytes: u64,
    /// Milliseconds that it took.
    pub millis: u64,
    /// It was stopped before its end: cancelled, or there was too much.
    pub stopped: bool,
    /// The query cannot be understood: why, and where.
    pub error: Option<String>,
}
