//! The draft: put away, replaced, and held back where another process writes the session.

use crate::app::effect::Effect;
use crate::app::shell::session;
use crate::app::state::hidden::holds_a_key;
use crate::app::state::{Current, Focus, State};
use crate::domain::ids::SessionId;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand, QueueEdit, Queued, SessionCommand};

/// Takes a message out of the queue into the composer. A draft is not lost for it.
pub(crate) fn take_queued(state: &mut State, queued: &Queued, fx: &mut Vec<Effect>) {
    let Current::Session(id) = state.conversations.current.clone() else { return };
    keep_draft(state, fx);
    if let Some(open) = state.conversations.open.get_mut(&id) {
        open.queue.retain(|other| other.id != queued.id);
        open.steers.retain(|other| other.id != queued.id);
        open.composer.set(&queued.text);
        open.composer.files_mut().add(queued.attachments.clone());
    }
    fx.push(session::to(&id, SessionCommand::Queue(QueueEdit::Remove { id: queued.id.clone() })));
    state.focus = Focus::Composer;
}

/// Puts the draft away into the history, so that something else can be written.
pub(crate) fn keep_draft(state: &mut State, fx: &mut Vec<Effect>) {
    let text = state.composer_mut().take();
    remember(state, &text, fx);
}

pub(crate) fn remember(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    // A key is kept where keys are, and nowhere else.
    if !text.trim().is_empty() && !holds_a_key(text) {
        state.drafts.history.push(text);
        fx.push(Effect::Send(Command::Engine(EngineCommand::Remember { text: text.to_owned() })));
    }
}

/// True if another process writes this session: then nothing is sent there, and the user gets a notice.
pub(crate) fn is_held(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) -> bool {
    let Some(holder) = state.sessions.meta(id).and_then(|meta| meta.held_by.clone()) else { return false };
    let text = format!("Read-only: {holder} is writing this session");
    let key = state.keys.key_for(crate::keymap::action::SessionAction::New);
    // The holder may be gone: the engine looks again, and the next Enter sends if so.
    fx.push(Effect::Send(Command::Session { id: id.clone(), command: SessionCommand::Open { rows: session::ROWS } }));
    state.notify(Notice::new(Level::Warning, text).hint(format!("/takeover to write here; {key} new session")));
    true
}

/// Esc on the offered commands: they go until something is typed.
pub(crate) fn close_menu(state: &mut State) {
    state.composer_mut().close_menu();
}

/// Opens the draft for a text that a picker gave.
pub(crate) fn write(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    keep_draft(state, fx);
    state.composer_mut().set(text);
    close_menu(state);
}
