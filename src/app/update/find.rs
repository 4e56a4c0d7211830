//! The search over all sessions: what is typed becomes a search of the engine after a moment, results come in below what
//! is there, and Enter opens a session at the line that was found. From there n and N walk the other hits.

use super::{overlay, session};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::State;
use crate::app::state::chat::{Chat, Density, View};
use crate::app::state::find::{Phase, Stop, Trail};
use crate::app::state::overlay::Overlay;
use crate::app::state::search::text_of;
use crate::app::state::{Focus, Shown};
use crate::domain::contract::Command;
use crate::domain::ids::SessionId;
use crate::domain::inbox::{Searched, SessionHits};
use crate::domain::message::Body;
use crate::domain::query::Query;
use crate::keymap::action::FindAction;

/// Milliseconds without a key before the query is sent.
const AFTER: u64 = 80;

/// Opens the search as it was left; with `words` for these.
pub(super) fn open(state: &mut State, words: Option<&str>, fx: &mut Vec<Effect>) {
    if !matches!(state.overlays.last(), Some(Overlay::Find)) {
        overlay::open(state, Overlay::Find);
    }
    if let Some(words) = words {
        state.find.query = crate::app::state::edit::Line::new(words);
    }
    let again = matches!(state.find.phase, Phase::Stopped | Phase::Typing);
    if words.is_some() || again {
        state.find.looked = state.find.query.text().to_owned();
        send(state, fx);
    }
}

/// Looks whether something was typed, and then waits a moment for more.
pub(super) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    let open = state.overlays.iter().any(|overlay| matches!(overlay, Overlay::Find));
    if !open {
        // Whatever closed it: nobody waits for the results any more.
        return stop(state, fx);
    }
    let find = &mut state.find;
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
pub(super) fn time_over(state: &mut State, fx: &mut Vec<Effect>) {
    if state.find.phase == Phase::Typing {
        send(state, fx);
    }
}

fn send(state: &mut State, fx: &mut Vec<Effect>) {
    let now = state.now;
    let find = &mut state.find;
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
    fx.push(Effect::Send(Command::Search { search: find.number, query: find.sent.clone() }));
}

/// Tells the engine to stop the search that runs; what still comes of it is dropped.
fn cancel(state: &mut State, fx: &mut Vec<Effect>) {
    state.find.number += 1;
    fx.push(Effect::Send(Command::Search { search: state.find.number, query: String::new() }));
}

fn stop(state: &mut State, fx: &mut Vec<Effect>) {
    match state.find.phase {
        Phase::Searching(_) => cancel(state, fx),
        Phase::Typing => {
            fx.push(Effect::Disarm(Timer::Search));
            cancel(state, fx);
        }
        Phase::Idle | Phase::Wrong(_) | Phase::Done(_) | Phase::Stopped => return,
    }
    state.find.phase = Phase::Stopped;
}

/// Results came in, or the end of the search.
pub(super) fn found(state: &mut State, number: u64, results: Vec<SessionHits>, end: Option<Searched>) {
    let find = &mut state.find;
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
    usize::from(state.frame.overlay_rows.max(1))
}

/// Moves the selection by a number of hits.
pub(super) fn step(state: &mut State, by: isize) {
    let height = height(state);
    state.find.step(by, height);
}

pub(super) fn act(state: &mut State, verb: FindAction) {
    let height = height(state);
    match verb {
        FindAction::NextSession => state.find.step_session(1, height),
        FindAction::PreviousSession => state.find.step_session(-1, height),
    }
}

/// Enter: opens the selected hit. While the results are not yet those of what is written, it searches at once.
pub(super) fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    if state.find.phase == Phase::Typing {
        return send(state, fx);
    }
    if state.find.stale {
        return;
    }
    let Some((found, hit)) = state.find.chosen() else { return };
    let session = found.session.clone();
    match Trail::of(found, hit, &state.find.sent) {
        Some(trail) => walk(state, trail, fx),
        None => session::open(state, &session, fx),
    }
}

/// Shows a stop of a trail.
fn walk(state: &mut State, trail: Trail, fx: &mut Vec<Effect>) {
    let Some(stop) = trail.stops.get(trail.at).cloned() else { return };
    let id = trail.session.clone();
    session::enter(state, &id, fx);
    // To read on with n and N is the point of it: the keys go to the conversation.
    state.focus = Focus::Chat;
    state.shown = Shown::Chat;
    state.search = None;
    state.trail = Some(trail);
    seek(state, &id, stop, fx);
}

/// The next stop, or the one before, around the ends. Whether there is a trail here.
pub(super) fn walk_on(state: &mut State, by: isize, fx: &mut Vec<Effect>) -> bool {
    let Some(trail) = state.trail.as_mut() else { return false };
    let count = trail.stops.len().max(1);
    trail.at = if by < 0 { (trail.at + count - 1) % count } else { (trail.at + 1) % count };
    let (id, stop) = (trail.session.clone(), trail.stops.get(trail.at).cloned());
    if let Some(stop) = stop {
        seek(state, &id, stop, fx);
    }
    true
}

/// Brings a place of a conversation on the screen; where it is not loaded, the rows around it are asked for.
fn seek(state: &mut State, id: &SessionId, stop: Stop, fx: &mut Vec<Effect>) {
    session::loaded_last(state, id);
    let open = state.open.entry(id.clone()).or_default();
    let at = stop.at;
    open.chat.seek = Some(stop);
    if open.loaded && land(state, id) {
        return;
    }
    if let Some(open) = state.open.get_mut(id) {
        open.chat.loading = true;
        open.chat.around = Some(at);
    }
    fx.push(Effect::Send(Command::OpenAt { session: id.clone(), at, rows: session::ROWS }));
}

/// Shows the place that is sought, if it is loaded. Whether it is.
pub(super) fn land(state: &mut State, id: &SessionId) -> bool {
    let marker = state.trail.as_ref().filter(|trail| trail.session == *id).map(|trail| trail.marker.clone());
    let Some(chat) = state.open.get_mut(id).map(|open| &mut open.chat) else { return false };
    let Some(key) = chat.seek.as_ref().and_then(|stop| place(chat, stop)) else { return false };
    chat.seek = None;
    chat.view = View::Mark { key };
    chat.cursor = Some(key);
    let Some(entry) = chat.entries.iter().find(|entry| entry.key == key) else { return true };
    // What is folded away cannot be seen: a call whose output holds the words is unfolded.
    let folded = match &entry.message.body {
        Body::Tool(_) => chat.density != Density::Full,
        Body::Thinking(_) => !chat.thinking,
        Body::Error(_) | Body::Odd(_) => true,
        Body::User(_) | Body::Assistant(_) | Body::Info(_) | Body::Plan(_) => false,
    };
    let head = match &entry.message.body {
        Body::Tool(call) => vec![call.name.as_str(), call.subject.as_str()],
        _ => Vec::new(),
    };
    let marked = |texts: &[&str]| {
        let texts: Vec<&str> = texts.to_vec();
        marker.as_ref().is_some_and(|marker| texts.iter().any(|text| !marker.marks(text).is_empty()))
    };
    if folded && !marked(&head) && marked(&text_of(&entry.message.body)) {
        chat.toggled.insert(key);
    }
    true
}

/// The entry of a stop: its id may be there several times, its time tells which one.
fn place(chat: &Chat, stop: &Stop) -> Option<i64> {
    let row = stop.row.as_ref()?;
    let mut named = chat.entries.iter().filter(|entry| entry.message.id == *row);
    let exact = chat.entries.iter().find(|entry| entry.message.id == *row && entry.message.at == stop.when);
    exact.or_else(|| named.next()).map(|entry| entry.key)
}
