//! Help to read: the keys of a place, or a page of the manual.

use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Help, HelpPage, Overlay};
use crate::domain::manual::Topic;

pub(crate) fn open_help(state: &mut State) {
    let contexts = state.contexts();
    overlay::open(state, Overlay::Help(Help { page: HelpPage::Keys(contexts), query: Line::default(), scroll: 0 }));
}

/// Opens a page of the manual.
pub(crate) fn open_topic(state: &mut State, topic: &'static Topic) {
    overlay::open(state, Overlay::Help(Help { page: HelpPage::Topic(topic), query: Line::default(), scroll: 0 }));
}
