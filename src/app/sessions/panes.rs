//! The panes: shown, hidden, resized, and the focus that moves between them.

use crate::app::effect::Effect;
use crate::app::shell::session_list;
use crate::app::state::{Focus, Shown, State, panes};
use crate::domain::{Level, Notice};
use crate::keymap::action::PaneAction;
use crate::keymap::key::{Code, Key};

pub(crate) fn pane(state: &mut State, verb: PaneAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        PaneAction::Wider | PaneAction::Narrower => {
            // From what is on the screen now.
            let now = state.screen.frame.list_cells.max(panes::LEAST);
            let cells = match verb {
                PaneAction::Wider => now.saturating_add(panes::STEP),
                _ => now.saturating_sub(panes::STEP),
            };
            state.screen.panes.list = panes::Show::Yes;
            state.screen.panes.resize(cells, state.screen.size.width);
            session_list::keep_face(state, fx);
        }
        PaneAction::List => {
            state.screen.panes.list = state.screen.panes.list.other();
            pane_gone(state);
            session_list::keep_face(state, fx);
        }
        PaneAction::Details => {
            state.screen.panes.details = state.screen.panes.details.other();
            if state.screen.size.width < WIDEST && state.screen.panes.details == panes::Show::Yes {
                let text = format!("Details need at least {WIDEST} columns");
                state.notify(Notice::new(Level::Info, text));
            }
            session_list::keep_face(state, fx);
        }
        PaneAction::OnlyChat => {
            state.screen.panes.only_chat = !state.screen.panes.only_chat;
            pane_gone(state);
        }
        PaneAction::Next => {
            // Tab belongs to the text as long as there is one.
            let tab = key.is_some_and(|key| key.code == Code::Tab);
            let writing = matches!(state.focus, Focus::Composer | Focus::Panel) && !state.composer().is_empty();
            if (tab && writing) || !state.overlays.is_empty() {
                return;
            }
            match state.focus {
                Focus::Composer | Focus::Panel => session_list::focus_list(state),
                Focus::List => (state.focus, state.screen.shown) = (Focus::Chat, Shown::Chat),
                Focus::Chat => state.focus = Focus::Composer,
            }
        }
        PaneAction::Swap => match state.screen.shown {
            _ if !state.overlays.is_empty() => {}
            Shown::Chat => session_list::focus_list(state),
            Shown::List => (state.focus, state.screen.shown) = (Focus::Composer, Shown::Chat),
        },
    }
}

/// Width from which the details have a pane.
const WIDEST: u16 = 160;

/// A list that is gone from the screen has no focus.
fn pane_gone(state: &mut State) {
    if !state.screen.panes.lists() && state.focus == Focus::List {
        (state.focus, state.screen.shown) = (Focus::Composer, Shown::Chat);
    }
}
