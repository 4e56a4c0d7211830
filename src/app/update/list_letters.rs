//! Letters in the list of sessions, which may be the start of a text.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::sessions::HeldLetter;
use crate::app::state::{Focus, Shown, State};
use crate::app::update::dispatch;
use crate::keymap::action::Action;
use crate::keymap::key::{Code, Key};

/// True if a key is a letter that can begin a word.
pub(super) fn is_letter(key: Key) -> bool {
    matches!(key.code, Code::Char(c) if c.is_alphabetic()) && key.printable().is_some()
}

/// Milliseconds after which a letter in the list acts, unless a different letter follows.
pub(super) const LETTER: u64 = 150;

/// Takes a key that comes while the list has the focus: whether it is a letter that waits, or ends the waiting of one.
/// Anything but a different letter lets the waiting one act first.
pub(super) fn letter(state: &mut State, action: Option<Action>, key: Key, fx: &mut Vec<Effect>) -> bool {
    let in_list = state.focus == Focus::List && state.overlays.is_empty() && !state.sessions.filter_open();
    if !in_list {
        state.sessions.held = None;
        return false;
    }
    let letter = is_letter(key);
    if let Some(held) = state.sessions.held.take() {
        let typing = letter && held.key != key && state.clock.now.since(held.at) < LETTER;
        if typing {
            fx.push(Effect::Disarm(Timer::ListLetter));
            state.focus = Focus::Composer;
            state.screen.shown = Shown::Chat;
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
        dispatch::act(state, held.action, Some(held.key), fx);
        if state.focus != Focus::List || !state.overlays.is_empty() {
            // The key was pressed for the list, and what it meant there has no meaning here.
            return true;
        }
    }
    match action {
        Some(action) if letter && !matches!(key.code, Code::Char('j' | 'k' | 'g' | 'G')) => {
            state.sessions.held = Some(HeldLetter { key, action, at: state.clock.now });
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
        dispatch::act(state, held.action, Some(held.key), fx);
    }
}
