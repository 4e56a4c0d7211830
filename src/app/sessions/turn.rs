//! The turn of the shown session: stopped, tried again; and its permission mode.

use crate::app::effect::Effect;
use crate::app::shell::session;
use crate::app::state::State;
use crate::domain::message::{Body, FailureAction};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Level, Mode, Notice};
use crate::keymap::action::{ModeAction, TurnAction};
use crate::protocol::SessionCommand;

pub(crate) fn turn(state: &mut State, verb: TurnAction, fx: &mut Vec<Effect>) {
    match verb {
        TurnAction::Stop if state.running() || waiting(state) || stopping(state) => session::stop(state, fx),
        TurnAction::Stop => state.notify(Notice::new(Level::Info, "No turn runs in this session.")),
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
    let failed = state.current_open().and_then(|open| {
        open.chat.entries.iter().rev().find_map(|entry| match &entry.message.body {
            Body::Error(failure) => Some(failure.actions.contains(&FailureAction::Retry)),
            Body::User(_) | Body::Assistant(_) => Some(false),
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
        ModeAction::Next => {
            let asked = state.current_open().and_then(|open| open.asked_mode);
            let Some(now) = asked.or_else(|| state.current_meta().map(|meta| meta.mode)) else { return };
            let cycle: &[Mode] =
                if state.engine.config.cycle.is_empty() { &Mode::ALL } else { &state.engine.config.cycle };
            let next = cycle.iter().position(|mode| *mode == now).map_or(0, |at| (at + 1) % cycle.len());
            if let Some(next) = cycle.get(next).copied() {
                session::set_mode(state, next, false, fx);
            }
        }
        // The router opens it.
        ModeAction::Pick => {}
        ModeAction::Explore => session::set_mode(state, Mode::Explore, false, fx),
        ModeAction::Ask => session::set_mode(state, Mode::Ask, false, fx),
        ModeAction::Execute => session::set_mode(state, Mode::Execute, false, fx),
    }
}
