//! /jobs: the commands of the shown session that go on in the background, and an end to one of them.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session};
use crate::app::state::State;
use crate::app::state::overlay::{JobsCard, Overlay};
use crate::domain::job::JobShown;
use crate::domain::{Level, Notice};
use crate::keymap::action::JobAction;
use crate::protocol::SessionCommand;

pub(crate) fn act(state: &mut State, verb: JobAction, fx: &mut Vec<Effect>) {
    match verb {
        JobAction::List => open(state),
        JobAction::Kill => kill(state, fx),
    }
}

fn open(state: &mut State) {
    let Some(session) = state.current_id().cloned() else {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    };
    // The latest that goes on is what one looks for.
    let jobs = state.current_open().map(|open| open.jobs.as_slice()).unwrap_or_default();
    let selected = jobs.iter().rev().find(|job| job.runs()).or(jobs.last()).map(|job| job.id.clone());
    overlay::open(state, Overlay::Jobs(JobsCard { session, selected }));
}

/// The jobs of the card, and the place of the selected one.
fn shown(state: &State) -> Option<(&JobsCard, &[JobShown], usize)> {
    let Some(Overlay::Jobs(card)) = state.overlays.last() else { return None };
    let jobs = state.conversations.open.get(&card.session).map(|open| open.jobs.as_slice()).unwrap_or_default();
    Some((card, jobs, card.place(jobs)))
}

pub(crate) fn step(state: &mut State, by: isize) {
    let Some((_, _, at)) = shown(state) else { return };
    select(state, at.saturating_add_signed(by));
}

pub(crate) fn select(state: &mut State, at: usize) {
    let Some((_, jobs, _)) = shown(state) else { return };
    let chosen = jobs.get(at.min(jobs.len().saturating_sub(1))).map(|job| job.id.clone());
    if let Some(Overlay::Jobs(card)) = state.overlays.last_mut() {
        card.selected = chosen;
    }
}

fn kill(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((card, jobs, at)) = shown(state) else { return };
    let Some(job) = jobs.get(at) else { return };
    if !job.runs() {
        return state.notify(Notice::new(Level::Info, "Already ended"));
    }
    fx.push(session::to(&card.session, SessionCommand::KillJob { job: job.id.clone() }));
}
