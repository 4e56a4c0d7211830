//! Letters in the list of sessions and in the conversation, which may be the start of a text.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::input::HeldLetter;
use crate::app::state::{Focus, Shown, State};
use crate::app::update::dispatch;
use crate::keymap::action::{Action, Context};
use crate::keymap::key::{Code, Key};

/// True if a key is a letter that can begin a word.
pub(super) fn is_letter(key: Key) -> bool {
    matches!(key.code, Code::Char(c) if c.is_alphabetic()) && key.printable().is_some()
}

/// Milliseconds after which such a letter acts, unless a different letter follows: longer than people pause within a word.
pub(super) const LETTER: u64 = 220;

/// The pane whose letters wait: the list, or the conversation while no text is marked in it.
fn pane(state: &State) -> Option<Focus> {
    let is_open = state.overlays.is_empty();
    let is_marked = state.current_open().is_some_and(|open| open.chat.mark.is_some());
    match state.focus {
        Focus::List if is_open && !state.sessions.filter_open() => Some(Focus::List),
        Focus::Chat if is_open && !is_marked && state.contexts().first() == Some(&Context::Chat) => Some(Focus::Chat),
        _ => None,
    }
}

/// A letter that only moves, which may be pressed many times in a row.
fn moves(pane: Focus, key: Key) -> bool {
    matches!(key.code, Code::Char('j' | 'k' | 'g' | 'G'))
        || pane == Focus::Chat && matches!(key.code, Code::Char('J' | 'K' | 'n' | 'N' | 'p'))
}

/// Takes a key that comes while such a pane has the focus: whether it is a letter that waits, or ends the waiting of one.
/// Anything but a different letter lets the waiting one act first.
pub(super) fn letter(state: &mut State, action: Option<Action>, key: Key, fx: &mut Vec<Effect>) -> bool {
    let Some(pane) = pane(state) else {
        state.input.letter = None;
        return false;
    };
    let letter = is_letter(key);
    if let Some(held) = state.input.letter.take() {
        let typing = letter && held.key != key && state.clock.now.since(held.at) < LETTER;
        if typing {
            fx.push(Effect::Disarm(Timer::HeldLetter));
            state.focus = Focus::Composer;
            state.screen.shown = Shown::Chat;
            for c in [held.key, key].into_iter().filter_map(Key::printable) {
                state.composer_mut().type_char(c);
            }
            return true;
        }
        if letter && held.key == key {
            // A key that repeats by itself acts once.
            state.input.letter = Some(held);
            return true;
        }
        fx.push(Effect::Disarm(Timer::HeldLetter));
        act(state, held, fx);
        if state.focus != pane || !state.overlays.is_empty() {
            // The key was pressed for the pane, and what it meant there has no meaning here.
            return true;
        }
    }
    match action {
        // One without an action is no more than that beginning.
        action if letter && !(action.is_some() && moves(pane, key)) => {
            state.input.letter = Some(HeldLetter { key, action, at: state.clock.now, pane });
            fx.push(Effect::Arm { timer: Timer::HeldLetter, ms: LETTER });
            true
        }
        _ => false,
    }
}

/// The time of the waiting letter is over: it acts.
pub(super) fn release_letter(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(held) = state.input.letter.take()
        && pane(state) == Some(held.pane)
    {
        act(state, held, fx);
    }
}

fn act(state: &mut State, held: HeldLetter, fx: &mut Vec<Effect>) {
    if let Some(action) = held.action {
        dispatch::act(state, action, Some(held.key), fx);
    }
}
