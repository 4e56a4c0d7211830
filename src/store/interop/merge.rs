//! A session's properties merged three ways, so that two who change different ones both get theirs.

use crate::domain::session::{SessionMeta, SessionNames, TitleFrom};

/// `theirs` with what `ours` changed since `base`. Figures that the rows decide are not merged: they come from `theirs`
/// and are counted by the journal.
pub fn merge(base: &SessionMeta, ours: &SessionMeta, theirs: &SessionMeta) -> SessionMeta {
    let mut out = theirs.clone();
    macro_rules! take {
        ($($field:ident)*) => {
            $(if ours.$field != base.$field {
                out.$field.clone_from(&ours.$field);
            })*
        };
    }
    take!(names status labels flagged archived archived_at hidden unread last_read first_cwd worktree branched_from parent mode connection connection_locked model own_model thinking cwd);
    take!(created plan_pending pending_execution unfinished usage);
    // Whoever made it, a title that a person gave there stays when one of ours was made by a model.
    let theirs_by_hand = theirs.title != base.title && theirs.title_from == TitleFrom::User;
    if !(theirs_by_hand && ours.title_from != TitleFrom::User) {
        take!(title title_from);
    }
    out
}

/// `theirs` with what only somebody who went on here can know, from `ours`: their save is of before that.
pub fn without_the_past(ours: &SessionMeta, theirs: &SessionMeta) -> SessionMeta {
    SessionMeta {
        usage: ours.usage.clone(),
        model: ours.model.clone(),
        connection: ours.connection.clone(),
        connection_locked: ours.connection_locked,
        thinking: ours.thinking,
        first_cwd: ours.first_cwd.clone(),
        last_read: ours.last_read.clone(),
        unread: ours.unread,
        ..theirs.clone()
    }
}

/// Changes of another program in the properties of a session that is written here.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The properties as they were given here last.
    pub(in crate::store) given: SessionMeta,
    /// The same with what changed there.
    pub(in crate::store) merged: SessionMeta,
}

impl Merged {
    /// The properties `now` with what changed there; a mode only becomes stricter. What rows and the running program
    /// decide stays.
    #[must_use]
    pub fn onto(&self, now: &SessionMeta) -> SessionMeta {
        let mut out = merge(&self.given, now, &self.merged);
        out.mode = out.mode.stricter(now.mode);
        SessionMeta {
            id: now.id.clone(),
            preview: now.preview.clone(),
            used: now.used,
            last_message: now.last_message,
            messages: now.messages,
            last_role: now.last_role.clone(),
            unfinished: now.unfinished.clone(),
            odd: now.odd.clone(),
            activity: now.activity.clone(),
            held_by: now.held_by.clone(),
            next_cost: now.next_cost,
            stand_in: now.stand_in.clone(),
            own_model: now.own_model.clone(),
            switches: now.switches,
            names: SessionNames { alias: out.names.alias.clone(), ..now.names.clone() },
            unmapped: now.unmapped,
            ..out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{At, Mode, SessionId};

    fn meta() -> SessionMeta {
        SessionMeta::new(SessionId::parse("a").unwrap(), At(5), Mode::Ask, "/".into())
    }

    #[test]
    fn each_side_keeps_what_it_changed_and_ours_wins_where_both_did() {
        let base = meta();
        let ours = SessionMeta { mode: Mode::Execute, status: "done".into(), ..meta() };
        let theirs = SessionMeta { flagged: true, status: "cancelled".into(), labels: vec!["x".into()], ..meta() };
        let merged = merge(&base, &ours, &theirs);
        let expected = SessionMeta { mode: Mode::Execute, status: "done".into(), ..theirs.clone() };
        assert_eq!(merged, expected);
        // Back to the default is a change too.
        assert!(!merge(&theirs, &base, &theirs).flagged);
    }

    #[test]
    fn a_title_given_by_hand_there_is_not_overwritten_by_a_generated_one() {
        let base = meta();
        let theirs = SessionMeta { title: "Theirs".into(), title_from: TitleFrom::User, ..meta() };
        for (from, title) in [(TitleFrom::Generated, "Theirs"), (TitleFrom::User, "Ours")] {
            let ours = SessionMeta { title: "Ours".into(), title_from: from, ..meta() };
            assert_eq!(merge(&base, &ours, &theirs).title, title);
        }
    }
}
