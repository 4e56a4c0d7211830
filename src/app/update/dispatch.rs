//! Verbs with all that follows from them: what one feature leaves to another is done before the next message.

use super::{actions, slash};
use crate::app::composer::{key_text, user_commands};
use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::panels::{answers, letters};
use crate::app::shell::{command_table, session};
use crate::app::slash::Slash;
use crate::app::state::{Focus, Shown, State};
use crate::keymap::action::{Action, SessionAction};
use crate::keymap::key::Key;

/// Does a verb, whatever led to it. `key` is the last key pressed for it.
pub(super) fn act(state: &mut State, action: Action, key: Option<Key>, fx: &mut Vec<Effect>) {
    actions::act(state, action, key, fx);
    follow_ups(state, fx);
}

/// Does what features left to the router.
pub(super) fn follow_ups(state: &mut State, fx: &mut Vec<Effect>) {
    while let Some(intent) = state.intents.pop_front() {
        match intent {
            Intent::Act(action) => act(state, action, None, fx),
            Intent::ActFrom { action, from } => {
                let slash = Slash::ALL.iter().find(|slash| slash.action() == action);
                command_table::used(state, slash.map_or(action.name(), |slash| slash.word()));
                from_palette(state, action, from, fx);
            }
            Intent::Run(call) => {
                command_table::used(state, call.slash.word());
                slash::run(state, call, fx);
            }
            Intent::BeginOwn(name) => {
                command_table::used(state, &name);
                user_commands::begin_own(state, &name, fx);
            }
            Intent::SendOwn { hash, text } => user_commands::send_own(state, hash, text, fx),
            Intent::UseKey(connection) => key_text::use_key(state, &connection, fx),
            Intent::SendKey => key_text::send_anyway(state, fx),
            Intent::Write { session, text } => {
                session::open(state, &session, fx);
                letters::write(state, &text);
            }
            Intent::Answer { session, request, answer } => answers::give(state, &session, &request, answer, fx),
        }
    }
}

/// Does a verb where the palette was opened: in the conversation it is for the chosen entry, in the list for what is
/// chosen there.
fn from_palette(state: &mut State, action: Action, from: Focus, fx: &mut Vec<Effect>) {
    let now = state.focus;
    let of_entry = matches!(action, Action::Session(SessionAction::Branch | SessionAction::Rewind));
    if from == Focus::List && matches!(action, Action::Session(_) | Action::List(_)) {
        state.focus = from;
        state.screen.shown = Shown::List;
        act(state, action, None, fx);
    } else if from == Focus::Chat && of_entry {
        state.focus = from;
        act(state, action, None, fx);
        if state.focus == from && state.overlays.is_empty() {
            state.focus = now;
        }
    } else {
        act(state, action, None, fx);
    }
}
