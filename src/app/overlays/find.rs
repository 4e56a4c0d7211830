//! The search over all sessions: what is typed becomes a search of the engine after a moment, results come in below what
//! is there, and Enter opens a session at the line that was found. From there n and N walk the other hits.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::{overlay, session, trail};
use crate::app::state::State;
use crate::app::state::find::{Phase, Trail};
use crate::app::state::overlay::Overlay;
use crate::domain::query::Query;
use crate::domain::search_hit::{Searched, SessionHits};
use crate::keymap::action::FindAction;
use crate::protocol::{Command, EngineCommand};

/// Milliseconds without a key before the query is sent.
const AFTER: u64 = 80;

/// Opens the search as it was left; with `words` for these.
pub(crate) fn open(state: &mut State, words: Option<&str>, fx: &mut Vec<Effect>) {
    if !matches!(state.overlays.last(), Some(Overlay::Find)) {
        overlay::open(state, Overlay::Find);
    }
    match words {
        Some(words) => state.searches.sessions.query = crate::app::state::edit::Line::new(words),
        // Another search begins with the first key, and the old one goes on with any other.
        None => state.searches.sessions.query.select(),
    }
    let again = matches!(state.searches.sessions.phase, Phase::Stopped | Phase::Typing);
    if words.is_some() || again {
        state.searches.sessions.looked = state.searches.sessions.query.text().to_owned();
        send(state, fx);
    }
}

/// Looks whether something was typed, and then waits a moment for more.
pub(crate) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    let open = state.overlays.iter().any(|overlay| matches!(overlay, Overlay::Find));
    if !open {
        // Whatever closed it: nobody waits for the results any more.
        return stop(state, fx);
    }
    let find = &mut state.searches.sessions;
    if find.looked == find.query.text() {
        return;
    }
    find.query.text().clone_into(&mut find.looked);
    if find.looked.trim().is_empty() {
        let searching = matches!(find.phase, Phase::Searching(_) | Phase::Typing);
        find.clear();
        find.phase = Phase::Idle;
        fx.push(Effect::Disarm(Timer::Search));
        if searching {
            cancel(state, fx);
        }
        return;
    }
    find.phase = Phase::Typing;
    fx.push(Effect::Arm { timer: Timer::Search, ms: AFTER });
}

/// Nothing was typed for a moment.
pub(crate) fn time_over(state: &mut State, fx: &mut Vec<Effect>) {
    if state.searches.sessions.phase == Phase::Typing {
        send(state, fx);
    }
}

fn send(state: &mut State, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    let find = &mut state.searches.sessions;
    fx.push(Effect::Disarm(Timer::Search));
    if find.query.text().trim().is_empty() {
        find.phase = Phase::Idle;
        return;
    }
    if let Err(wrong) = Query::parse(find.query.text()) {
        // A query that is being written is often wrong for a moment: what was found before it stays.
        find.phase = Phase::Wrong(wrong);
        return;
    }
    find.number += 1;
    find.query.text().clone_into(&mut find.sent);
    find.phase = Phase::Searching(now);
    find.stale = true;
    fx.push(Effect::Send(Command::Engine(EngineCommand::Search { search: find.number, query: find.sent.clone() })));
}

/// Tells the engine to stop the search that runs; what still comes of it is dropped.
fn cancel(state: &mut State, fx: &mut Vec<Effect>) {
    state.searches.sessions.number += 1;
    fx.push(Effect::Send(Command::Engine(EngineCommand::Search {
        search: state.searches.sessions.number,
        query: String::new(),
    })));
}

fn stop(state: &mut State, fx: &mut Vec<Effect>) {
    match state.searches.sessions.phase {
        Phase::Searching(_) => cancel(state, fx),
        Phase::Typing => {
            fx.push(Effect::Disarm(Timer::Search));
            cancel(state, fx);
        }
        Phase::Idle | Phase::Wrong(_) | Phase::Done(_) | Phase::Stopped => return,
    }
    state.searches.sessions.phase = Phase::Stopped;
}

/// Results came in, or the end of the search.
pub(crate) fn found(state: &mut State, number: u64, results: Vec<SessionHits>, end: Option<Searched>) {
    let find = &mut state.searches.sessions;
    if number != find.number || !matches!(find.phase, Phase::Searching(_) | Phase::Typing) {
        return;
    }
    let failed = end.as_ref().is_some_and(|end| end.error.is_some());
    if (!results.is_empty() || end.is_some()) && !failed {
        find.add(results);
    }
    if let (Some(end), Phase::Searching(_)) = (end, &find.phase) {
        find.phase = Phase::Done(end);
    }
}

fn height(state: &State) -> usize {
    usize::from(state.screen.frame.overlay_rows.max(1))
}

/// Moves the selection by a number of hits.
pub(crate) fn step(state: &mut State, by: isize) {
    let height = height(state);
    state.searches.sessions.step(by, height);
}

pub(crate) fn act(state: &mut State, verb: FindAction) {
    let height = height(state);
    match verb {
        FindAction::NextSession => state.searches.sessions.step_session(1, height),
        FindAction::PreviousSession => state.searches.sessions.step_session(-1, height),
    }
}

/// Enter: opens the selected hit. While the results are not yet those of what is written, it searches at once.
pub(crate) fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    if state.searches.sessions.phase == Phase::Typing {
        return send(state, fx);
    }
    if state.searches.sessions.stale {
        return;
    }
    let Some((found, hit)) = state.searches.sessions.chosen() else { return };
    let session = found.session.clone();
    match Trail::of(found, hit, &state.searches.sessions.sent) {
        Some(trail) => trail::walk(state, trail, fx),
        None => session::open(state, &session, fx),
    }
}
