//! Operations on whole sessions and their results: changes, the trash, search results, health.

use super::ids::{At, MessageId, SessionId};
use super::property::{add_label, remove_label};
use super::session::SessionMeta;
use serde::{Deserialize, Serialize};

/// A change of a session's properties that needs no conversation. It is made to one session or to many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "change", content = "to")]
pub enum PropertyChange {
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

impl PropertyChange {
    /// Makes the change to a session's properties. What is so already stays as it is: a session that was archived
    /// before keeps the time of it.
    pub fn apply(&self, meta: &mut SessionMeta, now: At) {
        match self {
            Self::Status(id) => meta.status = id.replace('_', "-"),
            Self::Flagged(on) => meta.flagged = *on,
            Self::Archived(true) if meta.archived => {}
            Self::Archived(on) => {
                meta.archived = *on;
                meta.archived_at = on.then_some(now);
            }
            Self::Unread(on) => meta.unread = *on,
            Self::Hidden(on) => meta.hidden = *on,
            Self::AddLabel(entry) => add_label(&mut meta.labels, entry),
            Self::RemoveLabel(id) => remove_label(&mut meta.labels, id),
            Self::Labels(labels) => meta.labels.clone_from(labels),
        }
    }
}

/// The name of a session in the trash: `ID-TIME`, its directory's name; with `-cleared` behind it where only the
/// messages of a session are there.
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
    /// Time of deletion.
    pub deleted: At,
    /// Bytes on disk.
    pub bytes: u64,
    /// Only its messages were cleared; the session itself lives on.
    pub cleared: bool,
}

/// Place of a hit in a session.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Health of a session's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl TrashId {
    /// The id that the session had; `None` when this is no name of the trash.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        let name = self.0.strip_suffix("-cleared").unwrap_or(&self.0);
        SessionId::parse(name.rsplit_once('-')?.0).ok()
    }
}

impl HealthReport {
    /// Nothing is odd, unfinished or missing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.odd.is_empty() && self.unfinished == 0 && self.missing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::permission::Mode;
    use super::*;

    fn meta(labels: &[&str]) -> SessionMeta {
        let mut meta = SessionMeta::new(SessionId::parse("a").unwrap(), At(5), Mode::Ask, "/".into());
        meta.labels = labels.iter().map(|l| (*l).to_owned()).collect();
        meta
    }

    #[test]
    fn labels_are_replaced_by_id_where_they_stand() {
        for (before, change, after) in [
            (&["a", "p::1"][..], PropertyChange::AddLabel("b".into()), &["a", "p::1", "b"][..]),
            (&["p::1", "a", "p::2"], PropertyChange::AddLabel("p::3".into()), &["p::3", "a"]),
            (&["a"], PropertyChange::AddLabel("a".into()), &["a"]),
            (&["p::1", "a", "p"], PropertyChange::RemoveLabel("p".into()), &["a"]),
            (&["pp", "a"], PropertyChange::RemoveLabel("p".into()), &["pp", "a"]),
            (&["a"], PropertyChange::Labels(vec!["x".into(), "y::2".into()]), &["x", "y::2"]),
        ] {
            let mut meta = meta(before);
            change.apply(&mut meta, At(9));
            assert_eq!(meta.labels, after, "{before:?} {change:?}");
        }
    }

    #[test]
    fn archiving_keeps_its_first_time_and_coming_back_takes_it_away() {
        let mut meta = meta(&[]);
        PropertyChange::Archived(true).apply(&mut meta, At(7));
        PropertyChange::Archived(true).apply(&mut meta, At(9));
        assert_eq!((meta.archived, meta.archived_at), (true, Some(At(7))));
        PropertyChange::Archived(false).apply(&mut meta, At(11));
        assert_eq!((meta.archived, meta.archived_at), (false, None));
    }

    #[test]
    fn each_change_touches_its_own_property_only() {
        for (change, expected) in [
            (
                PropertyChange::Status("in_progress".into()),
                SessionMeta { status: "in-progress".into(), ..meta(&["l"]) },
            ),
            (PropertyChange::Flagged(true), SessionMeta { flagged: true, ..meta(&["l"]) }),
            (PropertyChange::Unread(true), SessionMeta { unread: true, ..meta(&["l"]) }),
            (PropertyChange::Hidden(true), SessionMeta { hidden: true, ..meta(&["l"]) }),
        ] {
            let mut changed = meta(&["l"]);
            change.apply(&mut changed, At(9));
            assert_eq!(changed, expected, "{change:?}");
        }
    }

    #[test]
    fn the_name_in_the_trash_holds_the_id() {
        let of = |name: &str| TrashId(name.to_owned()).session().map(|id| id.as_str().to_owned());
        assert_eq!(of("260902-swift-river-20261122T013000123Z").as_deref(), Some("260902-swift-river"));
        assert_eq!(of("260902-swift-river-20261122T013000123Z-cleared").as_deref(), Some("260902-swift-river"));
        assert_eq!(of("nothing"), None);
        assert_eq!(of("../x-1"), None);
    }
}
