//! The turn of the shown session: stopped, tried again; and its permission mode.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::session;
use crate::app::state::State;
use crate::app::state::notices::TrueWhile;
use crate::domain::message::Body;
use crate::domain::request::Ask;
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Level, Mode, Notice};
use crate::keymap::action::{ModeAction, TurnAction};
use crate::protocol::SessionCommand;

/// Milliseconds for which the key of the permission mode rests before a mode that refuses what waits is set.
const RESTS: u64 = 2_000;

pub(crate) fn turn(state: &mut State, verb: TurnAction, fx: &mut Vec<Effect>) {
    match verb {
        TurnAction::Stop if state.running() || waiting(state) || stopping(state) => session::stop(state, fx),
        TurnAction::Stop => state.notify(Notice::new(Level::Info, "No running turn in this session")),
        TurnAction::Retry => retry(state, fx),
        // The router does it.
        TurnAction::Compact => {}
    }
}

fn waiting(state: &State) -> bool {
    state.current_meta().is_some_and(|meta| matches!(meta.activity, Activity::NeedsYou(_)))
}

/// A turn was stopped, and something of it ends yet.
fn stopping(state: &State) -> bool {
    state.current_meta().is_some_and(|meta| meta.activity == Activity::Stopping)
}

fn retry(state: &mut State, fx: &mut Vec<Effect>) {
    // Whoever asks for it after a failure that another try does not mend has changed something: the model, a key.
    let failed = state.current_open().and_then(|open| {
        open.chat.entries.iter().rev().find_map(|entry| match &entry.message.body {
            Body::Error(_) | Body::User(_) => Some(true),
            Body::Assistant(said) => Some(said.partial),
            _ => None,
        })
    });
    let waits = state.current_open().is_some_and(|open| open.turn.retry.is_some());
    match (failed, state.current_id()) {
        (_, Some(id)) if waits => fx.push(session::to(id, SessionCommand::Retry)),
        (_, Some(id)) if state.current_meta().is_some_and(SessionMeta::can_retry) => {
            fx.push(session::to(id, SessionCommand::Retry))
        }
        (Some(true), Some(id)) if !state.running() => fx.push(session::to(id, SessionCommand::Retry)),
        _ => state.notify(Notice::new(Level::Info, "Nothing to retry or continue")),
    }
}

pub(crate) fn mode(state: &mut State, verb: ModeAction, fx: &mut Vec<Effect>) {
    match verb {
        ModeAction::Next => next_mode(state, fx),
        // The router opens it.
        ModeAction::Pick => {}
        ModeAction::Explore => session::set_mode(state, Mode::Explore, false, fx),
        ModeAction::Ask => session::set_mode(state, Mode::Ask, false, fx),
        ModeAction::Execute => session::set_mode(state, Mode::Execute, false, fx),
    }
}

/// The next mode of the cycle. Explore refuses what waits for an approval, and other modes lie behind it: it is set when the
/// key has rested.
fn next_mode(state: &mut State, fx: &mut Vec<Effect>) {
    let resting = state.input.resting_mode.take().filter(|(session, _)| Some(session) == state.current_id());
    if resting.is_some() {
        fx.push(Effect::Disarm(Timer::Mode));
    }
    let asked = resting.map(|(_, mode)| mode).or_else(|| state.current_open().and_then(|open| open.asked_mode));
    let set = state.current_meta().map(|meta| meta.mode);
    let Some(now) = asked.or(set) else { return };
    let cycle: &[Mode] = if state.engine.config.cycle.is_empty() { &Mode::ALL } else { &state.engine.config.cycle };
    let next = cycle.iter().position(|mode| *mode == now).map_or(0, |at| (at + 1) % cycle.len());
    let Some(next) = cycle.get(next).copied() else { return };
    match state.current_id().cloned().filter(|_| next == Mode::Explore && set != Some(next) && refuses(state)) {
        Some(session) => {
            state.input.resting_mode = Some((session, next));
            fx.push(Effect::Arm { timer: Timer::Mode, ms: RESTS });
            let key = state.keys.key_for(ModeAction::Next);
            let notice = Notice::new(Level::Info, "Next mode is Explore, which refuses the pending request");
            state.notify_while(notice.hint(format!("{key} again skips Explore")), vec![TrueWhile::ModeRests]);
        }
        None => session::set_mode(state, next, false, fx),
    }
}

/// True if an approval waits in the shown session or in one that it spawned: those follow its mode.
fn refuses(state: &State) -> bool {
    let here = state
        .current_open()
        .is_some_and(|open| open.requests.iter().any(|request| matches!(request.ask, Ask::Approval(_))));
    let spawned = state.current_id().into_iter().flat_map(|id| state.sessions.spawned_by(id));
    here || spawned.into_iter().any(|meta| matches!(meta.activity, Activity::NeedsYou(_)))
}

/// Sets the mode at which the key rests.
pub(crate) fn mode_rested(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, mode)) = state.input.resting_mode.take() else { return };
    fx.push(Effect::Disarm(Timer::Mode));
    if state.current_id() == Some(&session) {
        session::set_mode(state, mode, false, fx);
    }
}
