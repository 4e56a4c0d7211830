//! How messages change the state: the router.

use super::effect::Effect;
use super::key::Key;
use super::msg::Msg;
use super::state::State;
use crate::domain::ids::{At, SessionId};
use crate::keymap::Fed;

/// What a key means now: the runtime asks this for each key and hands the answer to [`update`].
#[must_use]
pub fn resolve(state: &State, key: Key) -> Msg {
    match state.keys.feed(&state.contexts(), &state.chord.keys, key) {
        Fed::Action(action) => Msg::Act { action, key: Some(key) },
        Fed::Pending => Msg::Chord(state.chord.keys.iter().copied().chain([key]).collect()),
        Fed::None => Msg::Key(key),
    }
}

/// The first effects: the list, and the session to begin with (a new one without `resume`).
pub fn start(state: &mut State, resume: Option<SessionId>) -> Vec<Effect> {
    let _ = (state, resume);
    Vec::new()
}

/// Changes the state by one message that came at `now`, and tells what is to be done outside.
pub fn update(state: &mut State, now: At, msg: Msg) -> Vec<Effect> {
    state.now = now;
    let _ = msg;
    Vec::new()
}
