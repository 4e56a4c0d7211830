//! What is done to sessions as a whole, and what comes back: changes, the trash, search results, health.

use super::ids::{At, MessageId, SessionId};
use serde::{Deserialize, Serialize};

/// A change of a session's properties that needs no conversation. It is made to one session or to many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "change", content = "to")]
pub enum Change {
    /// The status, by id.
    Status(String),
    /// Flagged or not.
    Flagged(bool),
    /// Out of the list, or back in it.
    Archived(bool),
    /// Marked as unread, or as read.
    Unread(bool),
    /// Never listed unless asked for.
    Hidden(bool),
    /// Adds a label, `id` or `id::value`; an entry of the same id is replaced.
    AddLabel(String),
    /// Takes away every entry of this label id.
    RemoveLabel(String),
    /// All labels at once.
    Labels(Vec<String>),
}

/// The name of a session in the trash: `ID-TIME`, its directory's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrashId(pub String);

/// A session in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trashed {
    /// Its name there.
    pub trash: TrashId,
    /// Its id before.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// When it was deleted.
    pub deleted: At,
    /// Bytes on disk.
    pub bytes: u64,
    /// Only its messages were cleared; the session itself lives on.
    pub cleared: bool,
}

/// Where in a session something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Where.
    pub place: HitIn,
    /// The row, where it is one.
    pub row: Option<MessageId>,
    /// Byte in `session.jsonl` at which the row's line begins; 0 for what is no row.
    pub at: u64,
    /// When the row was written.
    pub when: At,
    /// The line of its text, cut to a window around the first mark.
    pub line: String,
    /// The marked bytes of `line`: start and end.
    pub marks: Vec<(usize, usize)>,
}

/// What was found in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHits {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Its last message.
    pub last_message: At,
    /// The first hits.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: u64,
}

/// How a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// How a session's files are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthReport {
    /// The session; empty only in a default value.
    pub session: String,
    /// Rows that can be read.
    pub messages: u64,
    /// Lines of `session.jsonl`, the header included.
    pub lines: u64,
    /// What is odd: a sentence, and the lines that it is about.
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
    /// Who wrote last, in words.
    pub last_writer: Option<String>,
    /// Who holds it now, in words.
    pub held_by: Option<String>,
    /// What a repair would do, or did.
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
