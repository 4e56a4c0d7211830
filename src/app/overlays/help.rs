//! The keys of a place.

use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::overlay::{Help, Overlay};

pub(crate) fn open_help(state: &mut State) {
    let contexts = state.contexts();
    overlay::open(state, Overlay::Help(Help { contexts, scroll: 0 }));
}
