//! Dialogs that appear by themselves: a key on its way was meant for what stood there before.

use crate::app::msg::Msg;
use crate::app::shell::focus;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::app::state::{Held, State};
use crate::keymap::key::Code;
use std::mem::{Discriminant, discriminant};

/// Milliseconds until a key that is held down repeats, at most.
const FIRST_REPEAT: u64 = 700;

/// Topmost dialog, as far as Enter means something else in another one.
#[derive(PartialEq, Eq)]
pub(super) struct Dialog {
    depth: usize,
    topmost: Option<(Discriminant<Overlay>, Option<Kind>)>,
}

impl Dialog {
    /// Dialog that the user sees now, and that `msg` may change; `None` where the user changes it.
    pub(super) fn before(state: &State, msg: &Msg) -> Option<Self> {
        match msg {
            Msg::Act { .. }
            | Msg::Chord(_)
            | Msg::Key(_)
            | Msg::Line(_)
            | Msg::Paste(_)
            | Msg::Typed(_)
            | Msg::Mouse(_)
            | Msg::Timer(_) => None,
            _ => Some(Self::of(state)),
        }
    }

    fn of(state: &State) -> Self {
        let topmost = state.overlays.last().map(|overlay| {
            let kind = match overlay {
                Overlay::Picker(picker) => Some(picker.kind),
                _ => None,
            };
            (discriminant(overlay), kind)
        });
        Self { depth: state.overlays.len(), topmost }
    }
}

/// Drops keys for a moment when another dialog than `before` has appeared by itself, and an Enter for as long as it may be
/// the one that was pressed before.
pub(super) fn settle(state: &mut State, before: Option<Dialog>) {
    let Some(before) = before else { return };
    let now = Dialog::of(state);
    if now == before || now.topmost.is_none() {
        return;
    }
    focus::hush(state);
    let last = state.input.last.filter(|key| key.code == Code::Enter);
    state.input.held = last.map(|key| Held { key, until: state.input.last_key.plus(FIRST_REPEAT) });
}
