//! Changes of a session's properties that need no conversation.

use super::ids::At;
use super::property::{add_label, remove_label};
use super::session::SessionMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of a session's properties that needs no conversation. It is made to one session or to many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The name on the command line, which one session of a workspace has; `None` takes it away.
    Name(Option<String>),
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
            Self::Name(name) => meta.names.alias.clone_from(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::SessionId;
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
}
