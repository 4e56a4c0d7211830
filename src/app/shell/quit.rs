//! The ways out: Ctrl+C, Ctrl+D, /quit. Drafts are kept, turns are stopped, and the engine has the last word.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::{attachments, draft, focus, session};
use crate::app::state::overlay::Overlay;
use crate::app::state::{Focus, Quit, State};
use crate::domain::session::Activity;
use crate::keymap::action::ComposerAction;
use crate::keymap::key::Key;
use crate::protocol::{Command, EngineCommand};

/// Milliseconds within which a second press quits.
const ONCE_MORE: u64 = 2_000;

/// The engine ends within 2 seconds; after a little more we leave without its last word.
const GRACE: u64 = 2_500;

/// Ctrl+C: the draft into the history; without one it stops the turn; without a turn twice quits.
pub(crate) fn interrupt(state: &mut State, key: Option<Key>, fx: &mut Vec<Effect>) {
    if state.ending.quit == Quit::Ending {
        return now(state, fx);
    }
    if !state.composer().is_empty() {
        draft::keep_draft(state, fx);
        attachments::drop_all(state, fx);
    } else if state.running() {
        session::stop(state, fx);
    } else if once_more(state, key, fx) {
        quit(state, fx);
    }
}

/// Ctrl+D: in a draft it deletes; on an empty one twice quits, and asks where turns run.
pub(crate) fn end_of_input(state: &mut State, key: Option<Key>, fx: &mut Vec<Effect>) {
    if !state.composer().has_no_text() {
        if state.focus == Focus::Composer && state.overlays.is_empty() {
            state.composer_mut().edit(ComposerAction::Delete);
        }
    } else if once_more(state, key, fx) {
        ask(state, fx);
    }
}

/// True if the same key came twice; until the timer runs out the status line says so from [`State::quit`].
fn once_more(state: &mut State, key: Option<Key>, fx: &mut Vec<Effect>) -> bool {
    let Some(key) = key else { return true };
    if state.ending.quit == Quit::OnceMore(key) {
        return true;
    }
    state.ending.quit = Quit::OnceMore(key);
    fx.push(Effect::Arm { timer: Timer::Quit, ms: ONCE_MORE });
    false
}

/// True if quitting would stop something, or something waits for the user.
pub(crate) fn stops_something(state: &State) -> bool {
    let busy = |activity: &Activity| matches!(activity, Activity::Running(_) | Activity::NeedsYou(_));
    let jobs = state.conversations.open.values().any(|open| open.running_jobs() > 0);
    jobs || state.running() || state.sessions.metas().any(|meta| meta.held_by.is_none() && busy(&meta.activity))
}

/// Quits; where turns run it asks first.
pub(crate) fn ask(state: &mut State, fx: &mut Vec<Effect>) {
    if stops_something(state) {
        state.ending.quit = Quit::No;
        if !matches!(state.overlays.last(), Some(Overlay::ConfirmQuit)) {
            state.overlays.push(Overlay::ConfirmQuit);
            // What was typed before the question appeared is no answer to it.
            focus::hush(state);
        }
    } else {
        quit(state, fx);
    }
}

/// Keeps the drafts and tells the engine to end.
pub(crate) fn quit(state: &mut State, fx: &mut Vec<Effect>) {
    if state.ending.quit == Quit::Ending {
        return;
    }
    let ids: Vec<_> = state.conversations.open.keys().cloned().collect();
    for id in ids {
        session::save_draft(state, &id, fx);
    }
    session::leave_blank(state, fx);
    state.overlays.clear();
    state.ending.quit = Quit::Ending;
    fx.push(Effect::Send(Command::Engine(EngineCommand::Shutdown)));
    fx.push(Effect::Arm { timer: Timer::Quit, ms: GRACE });
}

/// The engine has ended.
pub(crate) fn ended(state: &mut State, fx: &mut Vec<Effect>) {
    fx.push(Effect::Disarm(Timer::Quit));
    now(state, fx);
}

pub(crate) fn time_over(state: &mut State, fx: &mut Vec<Effect>) {
    match state.ending.quit {
        Quit::Ending => now(state, fx),
        Quit::OnceMore(_) | Quit::No => state.ending.quit = Quit::No,
    }
}

fn now(state: &mut State, fx: &mut Vec<Effect>) {
    // A session without a message has nothing to come back to.
    let resume = state.current_meta().filter(|meta| meta.messages > 0).map(|meta| meta.id.clone());
    let begun = state.current_open().is_some_and(|open| !open.chat.entries.is_empty());
    let resume = resume.or_else(|| state.current_id().filter(|_| begun).cloned());
    fx.push(Effect::Quit { resume, workspace: state.ending.workspace.take() });
}
