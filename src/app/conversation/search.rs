//! Search in the conversation that is shown.

use crate::app::conversation::jump;
use crate::app::conversation::jump::Way;
use crate::app::state::State;

/// Finds the hits of an open search anew.
pub(crate) fn search_again(state: &mut State) {
    let Some(mut search) = state.searches.conversation.take() else { return };
    if let Some(open) = state.current_open() {
        search.find(&open.chat);
    }
    let typed = search.typing && search.at.is_none();
    state.searches.conversation = Some(search);
    if typed {
        walk_hits(state, Way::Up);
    }
}

/// Enter in the search: from now on n and N walk the hits.
pub(crate) fn accept_search(state: &mut State) {
    if state.searches.conversation.as_ref().is_some_and(|search| search.query.text().is_empty()) {
        state.searches.conversation = None;
    } else if let Some(search) = &mut state.searches.conversation {
        search.typing = false;
    }
}

/// The next hit, down for more than 0.
pub(crate) fn step_hits(state: &mut State, by: isize) {
    walk_hits(state, if by < 0 { Way::Up } else { Way::Down });
}

/// To the next hit in a direction, around the ends.
pub(crate) fn walk_hits(state: &mut State, way: Way) {
    let Some(search) = &mut state.searches.conversation else { return };
    let Some(last) = search.hits.len().checked_sub(1) else { return };
    let at = match (search.at, way) {
        (Some(0), Way::Up) | (None, Way::Up) => last,
        (Some(at), Way::Up) => at - 1,
        (Some(at), Way::Down) if at < last => at + 1,
        (_, Way::Down) => 0,
    };
    search.at = Some(at);
    if let Some(key) = search.hits.get(at).copied() {
        jump::show(state, key);
    }
}
