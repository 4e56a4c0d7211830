//! The list of sessions and the panes: moving, opening, filtering, and letters that may be the start of a text.

use super::{act as do_action, input, overlay, session};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::sessions::{Filter, HeldLetter, Which};
use crate::app::state::{Focus, Shown, State};
use crate::keymap::action::{Action, ListAction, PaneAction};
use crate::keymap::key::{Code, Key};

/// A letter in the list acts after so many milliseconds, unless a different letter follows.
pub(super) const LETTER: u64 = 150;

pub(super) fn act(state: &mut State, verb: ListAction, fx: &mut Vec<Effect>) {
    let page = isize::try_from(state.list_height().saturating_sub(1).max(1)).unwrap_or(1);
    match verb {
        ListAction::Up => state.sessions.step(-1),
        ListAction::Down => state.sessions.step(1),
        ListAction::PageUp => state.sessions.step(-page),
        ListAction::PageDown => state.sessions.step(page),
        ListAction::First => state.sessions.step(isize::MIN),
        ListAction::Last => state.sessions.step(isize::MAX),
        ListAction::Open => {
            let listed = state.sessions.selected().filter(|id| state.sessions.order().any(|other| other == *id));
            if let Some(id) = listed.cloned() {
                session::open(state, &id, fx);
            }
        }
        ListAction::New => session::new(state, fx),
        ListAction::Rename => overlay::rename(state, state.sessions.selected().cloned()),
        ListAction::Filter => {
            focus_list(state);
            state.sessions.filter.get_or_insert_with(Filter::default).typing = true;
        }
        ListAction::Archived => {
            state.sessions.which = match state.sessions.which {
                Which::Current => Which::Archived,
                Which::Archived => Which::Current,
            };
            state.arrange();
        }
    }
    keep_in_sight(state);
}

/// Scrolls the list so that its selected row is on the screen.
pub(super) fn keep_in_sight(state: &mut State) {
    let height = state.list_height();
    state.sessions.follow(height);
}

/// Enter in the filter: it stays in force, and the list has the keys again.
pub(super) fn accept_filter(state: &mut State) {
    match &mut state.sessions.filter {
        Some(filter) if filter.query.text().trim().is_empty() => state.sessions.filter = None,
        Some(filter) => filter.typing = false,
        None => {}
    }
    state.arrange();
    if state.sessions.order().all(|id| Some(id) != state.sessions.selected()) {
        state.sessions.step(isize::MIN);
    }
}

fn focus_list(state: &mut State) {
    super::panel::give_back(state);
    state.focus = Focus::List;
    state.shown = Shown::List;
    if state.sessions.selected().is_none() {
        match state.current_id().cloned() {
            Some(id) => state.sessions.select(&id),
            None => state.sessions.step(0),
        }
    }
    keep_in_sight(state);
}

pub(super) fn pane(state: &mut State, verb: PaneAction, key: Option<Key>) {
    match verb {
        PaneAction::Next => {
            // Tab belongs to the text as long as there is one.
            let tab = key.is_some_and(|key| key.code == Code::Tab);
            let writing = matches!(state.focus, Focus::Composer | Focus::Panel) && !state.composer().is_empty();
            if (tab && writing) || !state.overlays.is_empty() {
                return;
            }
            match state.focus {
                Focus::Composer | Focus::Panel => focus_list(state),
                Focus::List => (state.focus, state.shown) = (Focus::Chat, Shown::Chat),
                Focus::Chat => state.focus = Focus::Composer,
            }
        }
        PaneAction::Swap => match state.shown {
            _ if !state.overlays.is_empty() => {}
            Shown::Chat => focus_list(state),
            Shown::List => (state.focus, state.shown) = (Focus::Composer, Shown::Chat),
        },
    }
}

/// Takes a key that comes while the list has the focus: whether it is a letter that waits, or ends the waiting of one.
/// Anything but a different letter lets the waiting one act first.
pub(super) fn letter(state: &mut State, action: Option<Action>, key: Key, fx: &mut Vec<Effect>) -> bool {
    let in_list = state.focus == Focus::List && state.overlays.is_empty() && !state.sessions.filter_open();
    if !in_list {
        state.sessions.held = None;
        return false;
    }
    let letter = input::is_letter(key);
    if let Some(held) = state.sessions.held.take() {
        let typing = letter && held.key != key && state.now.since(held.at) < LETTER;
        if typing {
            fx.push(Effect::Disarm(Timer::ListLetter));
            state.focus = Focus::Composer;
            state.shown = Shown::Chat;
            for c in [held.key, key].into_iter().filter_map(Key::printable) {
                state.composer_mut().type_char(c);
            }
            return true;
        }
        if letter && held.key == key {
            // A key that repeats by itself acts once.
            state.sessions.held = Some(held);
            return true;
        }
        fx.push(Effect::Disarm(Timer::ListLetter));
        do_action(state, held.action, Some(held.key), fx);
        if state.focus != Focus::List || !state.overlays.is_empty() {
            // The key was pressed for the list, and what it meant there has no meaning here.
            return true;
        }
    }
    match action {
        Some(action) if letter && !matches!(key.code, Code::Char('j' | 'k' | 'g' | 'G')) => {
            state.sessions.held = Some(HeldLetter { key, action, at: state.now });
            fx.push(Effect::Arm { timer: Timer::ListLetter, ms: LETTER });
            true
        }
        _ => false,
    }
}

/// The time of the waiting letter is over: it acts.
pub(super) fn release_letter(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(held) = state.sessions.held.take()
        && state.focus == Focus::List
        && state.overlays.is_empty()
    {
        do_action(state, held.action, Some(held.key), fx);
    }
}
