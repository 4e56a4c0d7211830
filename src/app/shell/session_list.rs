//! The list of sessions: its focus, its scroll position, and saving it for the next start.

use crate::app::effect::Effect;
use crate::app::shell::focus;
use crate::app::state::sessions::{Facet, Group, Wish};
use crate::app::state::{Focus, Shown, State};

/// Saves the screen state for the next start.
pub(crate) fn keep_face(state: &State, fx: &mut Vec<Effect>) {
    fx.push(Effect::KeepFace(Box::new(state.kept())));
}

/// Folds or unfolds a group of the list.
pub(crate) fn fold(state: &mut State, group: &Group, folded: bool, fx: &mut Vec<Effect>) {
    if state.sessions.fold(group, folded) {
        keep_face(state, fx);
    }
}

pub(crate) fn set_facet(state: &mut State, facet: Facet, wish: Wish, fx: &mut Vec<Effect>) {
    state.sessions.set_facet(facet, wish, state.clock.now, state.clock.utc_offset);
    keep_face(state, fx);
}

/// Scrolls the list so that its selected row is on the screen.
pub(crate) fn keep_in_sight(state: &mut State) {
    let height = state.list_height();
    state.sessions.follow(height);
}

pub(crate) fn focus_list(state: &mut State) {
    focus::give_back(state);
    state.focus = Focus::List;
    state.screen.shown = Shown::List;
    if state.sessions.cursor_row().is_none() {
        match state.current_id().cloned() {
            Some(id) => state.sessions.select(&id),
            None => state.sessions.step(0),
        }
    }
    state.sessions.rest();
    keep_in_sight(state);
}
