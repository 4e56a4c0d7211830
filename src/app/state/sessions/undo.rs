//! The way back from the last change that was made to sessions with one key. It is open for ten seconds.

use crate::domain::ids::{At, SessionId};
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::domain::trash::TrashId;
use crate::protocol::{Command, EngineCommand};
use std::collections::HashSet;

/// Milliseconds for which a change can be undone.
pub const OPEN: u64 = 10_000;

/// The way back.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    /// The change in words: `Archived 3 sessions`.
    pub what: String,
    /// Until when it can be undone.
    pub until: At,
    /// Commands that undo it.
    steps: Vec<Command>,
    /// Sessions that were told to go and are not gone yet.
    going: HashSet<SessionId>,
    /// Trash entries of the deleted sessions.
    trash: Vec<TrashId>,
}

/// `1 session` names it, more are counted.
#[must_use]
pub fn named(metas: &[&SessionMeta]) -> String {
    match metas {
        [one] => format!("“{}”", one.shown_title().split_whitespace().collect::<Vec<_>>().join(" ")),
        more => format!("{} sessions", more.len()),
    }
}

/// Inverse of a change for a session; `None` if the change has no effect on it.
#[must_use]
pub fn inverse(meta: &SessionMeta, change: &PropertyChange) -> Option<PropertyChange> {
    let mut after = meta.labels.clone();
    let labels = |after: Vec<String>| (after != meta.labels).then(|| PropertyChange::Labels(meta.labels.clone()));
    match change {
        PropertyChange::Status(to) => (*to != meta.status).then(|| PropertyChange::Status(meta.status.clone())),
        PropertyChange::Flagged(to) => (*to != meta.flagged).then_some(PropertyChange::Flagged(meta.flagged)),
        PropertyChange::Archived(to) => (*to != meta.archived).then_some(PropertyChange::Archived(meta.archived)),
        PropertyChange::Unread(to) => (*to != meta.unread).then_some(PropertyChange::Unread(meta.unread)),
        PropertyChange::Hidden(to) => (*to != meta.hidden).then_some(PropertyChange::Hidden(meta.hidden)),
        PropertyChange::AddLabel(entry) => {
            let known = after.contains(entry);
            after.push(entry.clone());
            if known { None } else { labels(after) }
        }
        PropertyChange::RemoveLabel(id) => {
            after.retain(|entry| crate::domain::property::split_label(entry).0 != id);
            labels(after)
        }
        PropertyChange::Labels(to) => labels(to.clone()),
        PropertyChange::Name(to) => (*to != meta.names.alias).then(|| PropertyChange::Name(meta.names.alias.clone())),
    }
}

impl Undo {
    /// The way back from `change` of these sessions, with those that it changes; `None` when it changes none.
    #[must_use]
    pub fn of(
        metas: &[&SessionMeta],
        change: &PropertyChange,
        what: String,
        now: At,
    ) -> Option<(Self, Vec<SessionId>)> {
        let mut backs: Vec<(PropertyChange, Vec<SessionId>)> = Vec::new();
        let mut changed = Vec::new();
        for meta in metas {
            let Some(back) = inverse(meta, change) else { continue };
            changed.push(meta.id.clone());
            match backs.iter_mut().find(|(known, _)| *known == back) {
                Some((_, ids)) => ids.push(meta.id.clone()),
                None => backs.push((back, vec![meta.id.clone()])),
            }
        }
        let steps: Vec<Command> = backs
            .into_iter()
            .map(|(change, sessions)| Command::Engine(EngineCommand::Change { sessions, change }))
            .collect();
        let undo = Self { what, until: now.plus(OPEN), steps, going: HashSet::new(), trash: Vec::new() };
        (!changed.is_empty()).then_some((undo, changed))
    }

    /// The way back from the trash: open as soon as a session is there.
    #[must_use]
    pub fn of_delete(sessions: &[SessionId], what: String, now: At) -> Self {
        let going = sessions.iter().cloned().collect();
        Self { what, until: now.plus(OPEN), steps: Vec::new(), going, trash: Vec::new() }
    }

    /// A session is gone. Whether this is what was asked for, so that the time begins anew.
    pub fn gone(&mut self, session: &SessionId, trash: Option<&TrashId>, now: At) -> bool {
        let ours = self.going.remove(session);
        if let (true, Some(trash)) = (ours, trash) {
            self.trash.push(trash.clone());
            self.until = now.plus(OPEN);
        }
        ours
    }

    /// A session was told to go and is not gone yet.
    #[must_use]
    pub fn is_going(&self, session: &SessionId) -> bool {
        self.going.contains(session)
    }

    /// True if there is something to undo, and the time is not over.
    #[must_use]
    pub fn is_open(&self, now: At) -> bool {
        now < self.until && (!self.steps.is_empty() || !self.trash.is_empty())
    }

    /// Commands that undo it.
    #[must_use]
    pub fn into_steps(self) -> Vec<Command> {
        let mut steps = self.steps;
        if !self.trash.is_empty() {
            steps.push(Command::Engine(EngineCommand::Restore { trash: self.trash }));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;

    fn meta(id: &str) -> SessionMeta {
        SessionMeta::new(SessionId::parse(id).unwrap(), At(1), Mode::Ask, "/w".into())
    }

    #[test]
    fn the_way_back_leads_to_what_each_had() {
        let (mut a, mut b, mut c) = (meta("a"), meta("b"), meta("c"));
        (a.status, b.status, c.status) = ("todo".to_owned(), "done".to_owned(), "todo".to_owned());
        let metas = [&a, &b, &c];
        let (undo, changed) =
            Undo::of(&metas, &PropertyChange::Status("done".to_owned()), "x".to_owned(), At(5)).unwrap();
        assert_eq!(changed, [a.id.clone(), c.id.clone()], "what is so already is left alone");
        assert!(undo.is_open(At(10_004)) && !undo.is_open(At(10_005)));
        let back = Command::Engine(EngineCommand::Change {
            sessions: changed,
            change: PropertyChange::Status("todo".to_owned()),
        });
        assert_eq!(undo.into_steps(), [back]);
        assert!(Undo::of(&metas, &PropertyChange::Archived(false), String::new(), At(5)).is_none());

        c.labels = vec!["bug::1".to_owned(), "doc".to_owned()];
        let of = |change: PropertyChange| inverse(&c, &change);
        let all = Some(PropertyChange::Labels(c.labels.clone()));
        assert_eq!(of(PropertyChange::AddLabel("bug::2".to_owned())), all);
        assert_eq!(of(PropertyChange::AddLabel("doc".to_owned())), None);
        assert_eq!(of(PropertyChange::RemoveLabel("bug".to_owned())), all);
        assert_eq!(of(PropertyChange::RemoveLabel("other".to_owned())), None);
        assert_eq!(of(PropertyChange::Labels(vec![])), all);
    }

    #[test]
    fn what_went_to_the_trash_comes_back_from_where_it_is() {
        let ids: Vec<SessionId> = ["a", "b"].map(|id| SessionId::parse(id).unwrap()).into();
        let mut undo = Undo::of_delete(&ids, "x".to_owned(), At(0));
        assert!(!undo.is_open(At(1)), "nothing is gone yet");
        let trash = TrashId("a-1".to_owned());
        assert!(undo.gone(&ids[0], Some(&trash), At(4_000)));
        assert!(!undo.gone(&SessionId::parse("z").unwrap(), Some(&TrashId("z-1".to_owned())), At(4_000)));
        assert!(undo.gone(&ids[1], None, At(4_000)), "gone for good");
        assert!(undo.is_open(At(13_999)) && !undo.is_open(At(14_000)));
        assert_eq!(undo.into_steps(), [Command::Engine(EngineCommand::Restore { trash: vec![trash] })]);
    }
}
