//! Opening and closing overlays. When the last one closes, the composer gets the focus.

use crate::app::shell::focus;
use crate::app::state::overlay::{Confirm, Overlay, Wanted};
use crate::app::state::picker::{Item, Kind, Picker, Value};
use crate::app::state::{Focus, State};

pub(crate) fn open(state: &mut State, overlay: Overlay) {
    focus::give_back(state);
    state.overlays.push(overlay);
}

pub(crate) fn open_picker(state: &mut State, kind: Kind, items: Vec<Item>, selected: usize) {
    let picker = Picker { from: state.focus, ..Picker::new(kind, items, selected) };
    open(state, Overlay::Picker(Box::new(picker)));
}

pub(crate) fn item(label: impl Into<String>, detail: impl Into<String>, value: Value) -> Item {
    Item::new(label, detail, value)
}

pub(crate) fn closed(state: &mut State) {
    if state.overlays.is_empty() {
        state.focus = Focus::Composer;
        state.screen.shown = Default::default();
    }
}

/// Closes what was asked of sessions from the list, or help over the list or the conversation: they keep the keys, for the next
/// ones. Whether that was it.
pub(crate) fn close_in_place(state: &mut State) -> bool {
    let over_chat = state.focus == Focus::Chat && matches!(state.overlays.last(), Some(Overlay::Help(_)));
    let of_list = match state.overlays.last() {
        Some(Overlay::Confirm(_) | Overlay::Rename(_) | Overlay::Help(_)) => true,
        Some(Overlay::Prompt(prompt)) => matches!(prompt.wanted, Wanted::LabelValue { .. }),
        Some(Overlay::Picker(picker)) => matches!(picker.kind, Kind::Filter | Kind::Status | Kind::Labels),
        _ => false,
    };
    let closes = (of_list && state.focus == Focus::List || over_chat) && state.overlays.len() == 1;
    if closes {
        state.overlays.pop();
    }
    closes
}

/// Closes the topmost overlay.
pub(crate) fn close(state: &mut State) {
    if !close_in_place(state) {
        state.overlays.pop();
        closed(state);
    }
}

/// Opens a question. Keys on their way were not meant for it.
pub(crate) fn confirm(state: &mut State, confirm: Confirm) {
    open(state, Overlay::Confirm(Box::new(confirm)));
    focus::hush(state);
}
