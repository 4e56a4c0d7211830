//! Esc: what it closes, and what it does where nothing is open.

use crate::app::composer::enhance;
use crate::app::conversation::mark;
use crate::app::effect::Effect;
use crate::app::overlays::{keys, rewind};
use crate::app::panels::panel;
use crate::app::sessions::list;
use crate::app::shell::{draft, session};
use crate::app::state::notices::TrueWhile;
use crate::app::state::{Focus, State};
use crate::domain::request::Ask;
use crate::domain::session::Activity;
use crate::domain::{Level, Notice};

/// Milliseconds after Esc closed something in which it stops no turn.
const CLOSED: u64 = 800;

/// Esc: closes what is open, gives the focus back, else stops the turn.
pub(super) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    if closes(state, fx) {
        state.input.moments.closed = state.clock.now;
    } else if state.running() {
        if state.clock.now.since(state.input.moments.closed) >= CLOSED && is_meant(state) {
            session::stop(state, fx);
        }
    } else if matches!(state.focus, Focus::List | Focus::Chat) {
        state.focus = Focus::Composer;
        state.screen.shown = Default::default();
    } else {
        state.notices.clear();
        twice(state, fx);
    }
}

/// Decides if Esc is meant for the turn. Where it would take more along than the answer that is being written, a request or
/// spawned sessions, it says so first and stops the second time.
fn is_meant(state: &mut State) -> bool {
    let before = state.input.moments.escaped.replace(state.clock.now);
    let below = state.current_id().map(|id| state.sessions.spawned_by(id)).unwrap_or_default();
    let below = below.iter().filter(|meta| meta.activity != Activity::Idle).count();
    let asks = state.panel().is_some_and(|(_, request)| !matches!(request.ask, Ask::Plan(_)));
    if (below == 0 && !asks) || before.is_some_and(|before| state.clock.now.since(before) < ONCE_MORE) {
        state.input.moments.escaped = None;
        return true;
    }
    let what = match below {
        0 => "The turn is waiting for your answer".to_owned(),
        1 => "1 spawned session will be stopped too".to_owned(),
        n => format!("{n} spawned sessions will be stopped too"),
    };
    let notice = Notice::new(Level::Info, what).hint("Esc again stops the turn");
    state.notify_for(ONCE_MORE, notice, vec![TrueWhile::TurnRuns]);
    false
}

/// Milliseconds in which a second Esc stops a turn that takes more along.
const ONCE_MORE: u64 = 3_000;

/// Closes what lies on top of the rest. False: nothing did.
fn closes(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    if !state.overlays.is_empty() {
        keys::back(state, fx);
        return true;
    }
    if mark::clear(state) || (state.focus == Focus::Composer && state.composer_mut().unpick()) {
        return true;
    }
    if state.focus == Focus::List && list::back(state, fx) {
        return true;
    }
    match state.focus {
        Focus::Panel => panel::back(state, fx),
        Focus::Chat if state.searches.conversation.is_some() => state.searches.conversation = None,
        Focus::Chat if state.searches.trail.is_some() => state.searches.trail = None,
        Focus::Composer if state.composer().offers() => draft::close_menu(state),
        _ => {
            if state.focus == Focus::Composer && state.composer_mut().unmark() {
                return true;
            }
            if !enhance::give_up(state, fx) {
                return false;
            }
            state.notify(Notice::new(Level::Info, "Draft unchanged"));
        }
    }
    true
}

/// Esc where it has nothing to do: twice, it leads back to an earlier message.
fn twice(state: &mut State, fx: &mut Vec<Effect>) {
    let idle = state.focus == Focus::Composer && state.composer().is_empty() && rewind::has_messages(state);
    let before = state.input.moments.escaped.replace(state.clock.now);
    if idle && before.is_some_and(|before| state.clock.now.since(before) < TWICE) {
        state.input.moments.escaped = None;
        return rewind::rewind(state, fx);
    }
    if idle {
        let notice = Notice::new(Level::Info, "Esc again rewinds to an earlier message");
        state.notify_for(TWICE, notice, vec![TrueWhile::Draft(String::new())]);
    }
}

/// Milliseconds between two presses of Esc that belong together; the words about the second one stay as long.
const TWICE: u64 = 1_500;
