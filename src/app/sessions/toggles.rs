//! Changes of the chosen sessions with one key.

use crate::app::effect::Effect;
use crate::app::shell::session_changes;
use crate::app::state::State;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::domain::{Level, Notice};

/// Changes what is chosen: to what most are not yet, so that a mixed lot becomes one.
fn toggle(state: &mut State, has: fn(&SessionMeta) -> bool, to: fn(bool) -> PropertyChange, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    if ids.is_empty() {
        return session_changes::nothing(state);
    }
    let all_have = session_changes::metas(state, &ids).iter().all(|meta| has(meta));
    session_changes::change(state, &ids, to(!all_have), fx);
}

/// Flags what is chosen, or takes the flags away where all have one.
pub(crate) fn flag(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.flagged, PropertyChange::Flagged, fx);
}

/// Archives what is chosen, or takes it back into the list where all of it is archived.
pub(crate) fn archive(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.archived, PropertyChange::Archived, fx);
}

/// Takes what is chosen back into the list.
pub(crate) fn unarchive(state: &mut State, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    if ids.is_empty() {
        return session_changes::nothing(state);
    }
    if !session_changes::metas(state, &ids).iter().any(|meta| meta.archived) {
        return state.notify(Notice::new(Level::Info, "Not archived").hint("/archive archives it"));
    }
    session_changes::change(state, &ids, PropertyChange::Archived(false), fx);
}

/// Hides what is chosen, or shows it again where all of it is hidden.
pub(crate) fn hide(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.hidden, PropertyChange::Hidden, fx);
}

/// Marks what is chosen as unread, or as read where all is unread.
pub(crate) fn unread(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.unread, PropertyChange::Unread, fx);
}
