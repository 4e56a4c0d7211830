//! Events of the engine. Those of a session are applied in order; where one is missing, a new
//! snapshot is requested. An event of a session that is not shown changes nothing of the one that
//! is.

use crate::app::composer::{attach, enhance, send};
use crate::app::conversation::{rows, search};
use crate::app::effect::Effect;
use crate::app::overlays::{
    audit, connection_picker, context, find, health, inbox, model_picker, properties, queue, rules, trash, undo, usage,
};
use crate::app::panels::answers;
use crate::app::sessions::{deleted, export, walk};
use crate::app::shell::{connecting, quit, session, trail};
use crate::app::state::State;
use crate::app::state::chat::Spent;
use crate::app::state::open::{Given, Open, Retry, Turn};
use crate::app::update::snapshot;
use crate::domain::ids::{At, SessionId};
use crate::domain::message::Body;
use crate::domain::request::{Ask, Request};
use crate::domain::{Level, Message, Notice};
use crate::protocol::{Command, Configured, Event, Stamped, TurnEnd, VERSION};

pub(super) fn engine(state: &mut State, stamped: Stamped, fx: &mut Vec<Effect>) {
    let Stamped { v, session, seq, event } = stamped;
    if v > VERSION {
        let text = format!("The engine speaks version {v} of the protocol, and this screen version {VERSION}.");
        return state.notify(Notice::new(Level::Error, text).hint("start lisle anew, after an update"));
    }
    match session {
        None => {
            let missed = state.engine.seq.is_some_and(|last| seq > last + 1);
            if state.engine.seq.is_some_and(|last| seq <= last) {
                return;
            }
            state.engine.seq = Some(seq);
            if missed {
                fx.push(Effect::Send(Command::List));
            }
            whole(state, event, fx);
        }
        Some(id) => of_session(state, &id, seq, event, fx),
    }
}

/// Events of the engine as a whole, and those of a session that change no conversation.
fn whole(state: &mut State, event: Event, fx: &mut Vec<Effect>) {
    match event {
        Event::Listed { sessions } => {
            // A session that is not on disk yet is in no list; what is open here stays.
            let mut sessions = sessions;
            let listed: std::collections::HashSet<SessionId> = sessions.iter().map(|meta| meta.id.clone()).collect();
            let ours = state
                .conversations
                .open
                .keys()
                .filter(|id| !listed.contains(*id))
                .filter_map(|id| state.sessions.meta(id));
            sessions.extend(ours.cloned());
            state.sessions.replace(sessions, state.clock.now, state.clock.utc_offset);
            // The list may come again and again: whoever moves about in it stays where they are.
            if state.sessions.cursor_row().is_none()
                && let Some(id) = state.current_id().cloned()
            {
                state.sessions.select(&id);
            }
            let height = state.list_height();
            state.sessions.follow(height);
        }
        Event::Changed(meta) => snapshot::changed(state, *meta, fx),
        Event::Models { connection, models } => {
            connecting::listed(state, &connection, &models);
            model_picker::came(state, connection, models, fx);
        }
        Event::Figures { connection, models } => {
            state.engine.catalogue.learn(connection, models);
            model_picker::refill(state);
        }
        Event::Levels { connection, model, levels } => {
            state.engine.catalogue.learn_levels(connection, model, levels);
            model_picker::refill(state);
        }
        Event::Configured(configured) => configure(state, *configured),
        Event::Connections(connections) => {
            state.engine.config.connections = connections;
            model_picker::refill(state);
        }
        Event::Properties(properties) => properties::defined(state, *properties, fx),
        Event::Found { search, results, end } => find::found(state, search, results, end),
        Event::Exported { path, masked, shared, session: _ } => export::exported(state, &path, masked, shared, fx),
        Event::Imported { session, program, left, again } => {
            walk::imported(state, &session, (&program, again), &left, fx);
        }
        Event::Audit(ledger) => audit::audit(state, *ledger),
        Event::Usage(spending) => usage::used(state, &spending),
        Event::Trash(rows) => trash::trash(state, rows),
        Event::Health(report) => health::health(state, *report),
        Event::Branched { from, to, rewound } => walk::branched(state, &from, &to, rewound, fx),
        Event::Deleted { session, trash } => deleted::deleted(state, &session, trash.as_ref(), fx),
        Event::Notice(notice) => state.notify(notice),
        Event::Unsaved(unsaved) => {
            // The rest, which may be the text itself, is said when the screen is left.
            let (text, hint) = unsaved.brief();
            state.notify(Notice::new(Level::Error, text).hint(hint));
        }
        Event::Ended => quit::ended(state, fx),
        _ => {}
    }
}

fn of_session(state: &mut State, id: &SessionId, seq: u64, event: Event, fx: &mut Vec<Effect>) {
    if let Event::Opened(opened) = event {
        return snapshot::opened(state, id, seq, *opened, fx);
    }
    if let Some(open) = state.conversations.open.get_mut(id).filter(|open| open.loaded) {
        let next = open.seq.map_or(seq, |last| last + 1);
        if seq < next {
            return;
        }
        if seq == next && !open.resync {
            open.seq = Some(seq);
        } else {
            session::resync(open, id, fx);
        }
    }
    match event {
        Event::Reidentified { to } => snapshot::reidentified(state, id, &to),
        // Also where the conversation is read anew: what the user wrote is not in it.
        Event::Refused { act, why: _ } => {
            if !answers::refused(state, id, &act) {
                send::refused(state, id, &act);
            }
        }
        Event::Enhanced { number, result } => enhance::done(state, id, number, result),
        Event::UndoPlanned(plan) => undo::planned(state, id, *plan),
        Event::FilesChanged(changes) => undo::changed(state, id, *changes),
        Event::Context(report) => context::shown(state, *report),
        Event::Rules(known) => rules::shown(state, id, *known),
        Event::Changed(_)
        | Event::Models { .. }
        | Event::Figures { .. }
        | Event::Levels { .. }
        | Event::Configured(_)
        | Event::Connections(_)
        | Event::Properties(_)
        | Event::Found { .. }
        | Event::Exported { .. }
        | Event::Imported { .. }
        | Event::Audit(_)
        | Event::Usage(_)
        | Event::Trash(_)
        | Event::Health(_)
        | Event::Branched { .. }
        | Event::Deleted { .. }
        | Event::Notice(_)
        | Event::Unsaved(_)
        | Event::Ended => {
            whole(state, event, fx);
        }
        event => {
            if state.conversations.open.get(id).is_some_and(|open| open.loaded && !open.resync) {
                loaded(state, id, event, fx);
            }
        }
    }
}

/// An event of a conversation that is loaded and complete.
fn loaded(state: &mut State, id: &SessionId, event: Event, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    let shown = state.current_id() == Some(id);
    let spent = state.sessions.meta(id).map(|meta| Spent::new(now, &meta.usage));
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    match event {
        Event::Page { rows, earlier } => rows::prepend(open, rows, earlier),
        Event::LaterPage { rows, later } => {
            let running = open.turn.started.is_some();
            rows::append(open, rows, later, running);
            trail::land(state, id);
        }
        // What comes at the end has no place while rows before it are missing.
        Event::Row(row) if open.chat.later.is_some() => {
            open.chat.unseen.insert(row.id);
        }
        Event::Delta { .. } | Event::Dropped { .. } if open.chat.later.is_some() => {}
        Event::Redelivering { at } => open.redelivery = at,
        Event::Row(row) => row_came(open, *row, now),
        Event::Delta { id: row, add } => {
            open.turn.retry = None;
            open.turn.waiting = None;
            (open.turn.heard, open.turn.answering) = (Some(now), true);
            // Nothing of a turn is shown any more once it was told to stop.
            let grow = if shown { rows::grow } else { rows::grow_hidden };
            if !open.turn.stopping && !grow(open, &row, &add) {
                session::resync(open, id, fx);
            }
        }
        Event::Dropped { id: row } => rows::drop_row(open, &row),
        Event::Queue { items, held, steers } => {
            open.queue = items;
            open.queue_held = held;
            open.steers = steers;
            queue::changed(state, id);
            return;
        }
        Event::ModelWanted { why, .. } if shown => model_picker::wanted(state, &why, fx),
        Event::ConnectionWanted { connection } if shown => connection_picker::wanted(state, &connection, fx),
        Event::Attached { path, made } => attach::came(state, id, &path, made, fx),
        Event::Asked(request) => asked(state, id, *request),
        Event::Settled { request } => {
            for given in open.given.iter_mut().filter(|given| given.request.id == request) {
                given.settled = true;
            }
            open.requests.retain(|other| other.id != request);
            answers::sync(state, id, Some(&request));
        }
        Event::Todo(items) => open.todo = items,
        Event::Plan(plan) => open.plan = plan,
        Event::Jobs(jobs) => open.jobs = jobs,
        Event::TurnStarted { at } => {
            open.chat.turns.extend(spent.map(|spent| Spent { at, ..spent }));
            open.turn = Turn { started: Some(at), heard: Some(now), ..Turn::default() };
        }
        event @ (Event::Compacting { .. } | Event::Retrying { .. } | Event::Waiting(_)) => {
            of_turn(&mut open.turn, now, event);
        }
        Event::TurnEnded { end } => {
            open.turn = Turn::default();
            open.ended = Some(end);
            rows::settle(open);
            let held = matches!(end, TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::Limit) && !open.queue.is_empty();
            if held && state.current_id() == Some(id) {
                state.notify(Notice::new(Level::Info, "Queue paused").hint("the next message sends it too"));
            }
        }
        _ => {}
    }
    if state.current_id() == Some(id) {
        search::search_again(state);
    }
}

/// A row came at the end: whatever the turn waited for is over.
fn row_came(open: &mut Open, row: Message, now: At) {
    let turn = &mut open.turn;
    (turn.retry, turn.compacting, turn.waiting) = (None, None, None);
    turn.heard = Some(now);
    turn.answering = matches!(row.body, Body::Assistant(_) | Body::Thinking(_));
    rows::put(open, row);
}

/// How the turn goes on.
fn of_turn(turn: &mut Turn, now: At, event: Event) {
    match event {
        Event::Compacting { part, of } => {
            turn.retry = None;
            turn.heard = Some(now);
            turn.compacting = Some((part, of));
        }
        Event::Retrying { attempt, of, wait_ms, reason } => {
            turn.retry = Some(Retry { attempt, of, at: now.plus(wait_ms), reason });
            (turn.heard, turn.answering) = (Some(now.plus(wait_ms)), false);
        }
        Event::Waiting(connection) => turn.waiting = connection,
        _ => {}
    }
}

fn asked(state: &mut State, id: &SessionId, request: Request) {
    taken(state, id, request);
    connecting::asked(state, id);
}

fn taken(state: &mut State, id: &SessionId, request: Request) {
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let request_id = request.id.clone();
    let changed = match open.requests.iter_mut().find(|other| other.id == request.id) {
        Some(known) if *known == request => false,
        Some(known) => {
            *known = request;
            true
        }
        None => {
            // It was answered here, and the answer did not count: what was written for it is not lost.
            let given = open.given.iter().rposition(|given| given.request.id == request.id);
            if let Some(given) = given.and_then(|at| open.given.remove(at)) {
                // No mark carries over to another command. A plan tells by its steps what stays.
                let same = given.request.ask == request.ask || matches!(request.ask, Ask::Plan(_));
                let panel = if same { given.panel } else { given.panel.renewed(&request) };
                return answers::again(state, id, Given { request, panel, ..given });
            }
            open.requests.push(request);
            false
        }
    };
    answers::sync(state, id, changed.then_some(&request_id));
    if changed {
        inbox::forget_answer(state, id, &request_id);
    }
}

fn configure(state: &mut State, configured: Configured) {
    let own = std::mem::take(&mut state.drafts.history.items);
    state.drafts.history.items.clone_from(&configured.history);
    for text in own {
        if !configured.history.contains(&text) {
            state.drafts.history.push(&text);
        }
    }
    state.engine.config = configured;
    model_picker::refill(state);
}
