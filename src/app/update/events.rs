//! Events of the engine. Those of a session are applied in order; where one is missing, a new
//! snapshot is requested. An event of a session that is not shown changes nothing of the one that
//! is.

use crate::app::composer::{attach, enhance, send};
use crate::app::conversation::{rows, search};
use crate::app::effect::Effect;
use crate::app::overlays::{
    audit, connection_picker, context, find, health, inbox, model_picker, properties, queue, rules, trash, undo, usage,
};
use crate::app::overlays::{extensions, sources};
use crate::app::panels::{answers, key_field};
use crate::app::sessions::{deleted, export, walk};
use crate::app::shell::{connecting, quit, session, text, trail};
use crate::app::state::State;
use crate::app::state::chat::Spent;
use crate::app::state::notices::TrueWhile;
use crate::app::state::open::{Given, Open, Retry, Turn};
use crate::app::update::snapshot;
use crate::domain::export::SharedFile;
use crate::domain::ids::{At, MessageId, RequestId, SessionId};
use crate::domain::message::Body;
use crate::domain::request::{Ask, Request};
use crate::domain::session::SessionMeta;
use crate::domain::{Level, Message, Notice};
use crate::protocol::{
    Command, Configured, EngineCommand, EngineEvent, Event, SessionCommand, SessionEvent, Stamped, TurnEnd, VERSION,
};

pub(super) fn engine(state: &mut State, stamped: Stamped, fx: &mut Vec<Effect>) {
    let after = stamped.after();
    let Stamped { v, seq, merged: _, re, event } = stamped;
    if v > VERSION {
        let text = format!("Protocol mismatch: engine version {v}, screen version {VERSION}");
        return state.notify(Notice::new(Level::Error, text).hint("restart lisle after the update"));
    }
    match event {
        Event::Engine(event) => {
            // Answers stand between the numbers.
            if re.is_none() {
                let missed = state.engine.seq.is_some_and(|last| after > last);
                if state.engine.seq.is_some_and(|last| seq <= last) {
                    return;
                }
                state.engine.seq = Some(seq);
                if missed {
                    fx.push(Effect::Send(Command::Engine(EngineCommand::List)));
                }
            }
            of_engine(state, event, fx);
        }
        Event::Session { id, event } => {
            let place = if re.is_some() { EventPlace::Answer(seq) } else { EventPlace::After(after, seq) };
            of_session(state, &id, place, event, fx);
        }
    }
}

/// Place of an event among those of its session.
#[derive(Clone, Copy)]
enum EventPlace {
    /// After the event of the first number; its own number.
    After(u64, u64),
    /// An answer behind the event of this number.
    Answer(u64),
}

/// Events of the engine as a whole.
#[deny(clippy::wildcard_enum_match_arm, reason = "a new event is handled, or named as ignored")]
fn of_engine(state: &mut State, event: EngineEvent, fx: &mut Vec<Effect>) {
    match event {
        EngineEvent::Listed { sessions } => listed(state, sessions),
        EngineEvent::SessionChanged(meta) => snapshot::changed(state, *meta, fx),
        EngineEvent::Models { connection, models } => {
            connecting::listed(state, &connection, &models);
            model_picker::came(state, connection, models, fx);
        }
        EngineEvent::Figures { connection, models } => {
            state.engine.catalogue.learn(connection, models);
            model_picker::refill(state);
        }
        EngineEvent::Levels { connection, model, levels } => {
            state.engine.catalogue.learn_levels(connection, model, levels);
            model_picker::refill(state);
        }
        EngineEvent::Configured(configured) => configure(state, *configured),
        EngineEvent::Connections(connections) => {
            state.engine.config.connections = connections;
            model_picker::refill(state);
        }
        EngineEvent::ServerAdded { connection, wants_key } => {
            connection_picker::added(state, &connection, wants_key, fx)
        }
        EngineEvent::ServerNotAdded { address, why } => connecting::not_added(state, &address, &why),
        EngineEvent::Properties(properties) => properties::defined(state, *properties, fx),
        EngineEvent::Found { search, results, end } => find::found(state, search, results, end),
        EngineEvent::Exported { session, path, masked, shared: true, upload } => {
            let file = SharedFile { session, path, masked };
            fx.push(if upload { Effect::OfferUpload(file) } else { Effect::SharePage(file) });
        }
        EngineEvent::Exported { path, masked, shared: false, .. } => export::exported(state, &path, masked),
        EngineEvent::Imported { session, program, left, again } => {
            walk::imported(state, &session, (&program, again), &left, fx);
        }
        EngineEvent::Audit(log) => audit::audit(state, *log),
        EngineEvent::Usage(spending) => usage::used(state, &spending),
        EngineEvent::Trash(rows) => trash::trash(state, rows),
        EngineEvent::Health(report) => health::health(state, *report),
        EngineEvent::Branched { from, to, rewound } => walk::branched(state, &from, &to, rewound, fx),
        EngineEvent::Deleted { session, trash, .. } => deleted::deleted(state, &session, trash.as_ref(), fx),
        EngineEvent::Notice(notice) => state.notify(notice),
        EngineEvent::Ended => quit::ended(state, fx),
    }
}

fn listed(state: &mut State, mut sessions: Vec<SessionMeta>) {
    // A session that is not on disk yet is in no list; what is open here stays.
    let listed: std::collections::HashSet<SessionId> = sessions.iter().map(|meta| meta.id.clone()).collect();
    let ours =
        state.conversations.open.keys().filter(|id| !listed.contains(*id)).filter_map(|id| state.sessions.meta(id));
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

#[deny(clippy::wildcard_enum_match_arm, reason = "a new event is handled, or named as ignored")]
fn of_session(state: &mut State, id: &SessionId, place: EventPlace, event: SessionEvent, fx: &mut Vec<Effect>) {
    let (EventPlace::Answer(seq) | EventPlace::After(_, seq)) = place;
    if let SessionEvent::Opened(opened) = event {
        return snapshot::opened(state, id, seq, *opened, fx);
    }
    if let EventPlace::After(after, seq) = place
        && let Some(open) = state.conversations.open.get_mut(id).filter(|open| open.loaded)
    {
        let last = open.seq.unwrap_or(after);
        if seq <= last {
            return;
        }
        if after == last && !open.resync {
            open.seq = Some(seq);
        } else {
            session::resync(open, id, fx);
        }
    }
    match event {
        // Above.
        SessionEvent::Opened(_) => {}
        SessionEvent::Reidentified { to } => snapshot::reidentified(state, id, &to),
        // Also where the conversation is read anew: what the user wrote is not in it.
        SessionEvent::Refused { command, why } => refused(state, id, &command, why),
        SessionEvent::Enhanced { number, result } => enhance::done(state, id, number, result),
        SessionEvent::UndoPlanned(plan) => undo::planned(state, id, *plan),
        SessionEvent::FilesChanged(changes) => undo::changed(state, id, *changes),
        SessionEvent::Context(report) => context::shown(state, *report),
        SessionEvent::Rules(known) => rules::shown(state, id, *known),
        SessionEvent::Sources(known) => sources::shown(state, id, &known),
        SessionEvent::Extensions(known) => extensions::shown(state, id, &known),
        SessionEvent::Changed(meta) => snapshot::changed(state, *meta, fx),
        SessionEvent::Notice(notice) => state.notify(notice),
        SessionEvent::Unsaved(unsaved) => {
            // The rest, which may be the text itself, is said when the screen is left.
            let (text, hint) = unsaved.brief();
            state.notify(Notice::new(Level::Error, text).hint(hint));
        }
        // `lisle run` asks for it; the screen sees by the session's properties who holds it.
        SessionEvent::Held { .. } => {}
        event @ (SessionEvent::Accepted { .. }
        | SessionEvent::Page { .. }
        | SessionEvent::LaterPage { .. }
        | SessionEvent::Row(_)
        | SessionEvent::Delta { .. }
        | SessionEvent::Dropped { .. }
        | SessionEvent::Queue { .. }
        | SessionEvent::Redelivering { .. }
        | SessionEvent::Attached { .. }
        | SessionEvent::ConnectionWanted { .. }
        | SessionEvent::ModelWanted { .. }
        | SessionEvent::Asked(_)
        | SessionEvent::Settled { .. }
        | SessionEvent::Todo(_)
        | SessionEvent::Jobs(_)
        | SessionEvent::Plan(_)
        | SessionEvent::TurnStarted { .. }
        | SessionEvent::Compacting { .. }
        | SessionEvent::Retrying { .. }
        | SessionEvent::Waiting(_)
        | SessionEvent::Starting { .. }
        | SessionEvent::TurnEnded { .. }) => {
            if state.conversations.open.get(id).is_some_and(|open| open.loaded && !open.resync) {
                loaded(state, id, event, fx);
            }
        }
    }
}

/// The engine did not do this: what the user wrote comes back, and a session that cannot be read says why.
fn refused(state: &mut State, id: &SessionId, command: &SessionCommand, why: String) {
    if matches!(command, SessionCommand::Open { .. } | SessionCommand::OpenAt { .. }) {
        if let Some(open) = state.conversations.open.get_mut(id) {
            open.unreadable = Some(why);
        }
        return;
    }
    if matches!(command, SessionCommand::Answer { .. }) {
        state.connecting.checking = None;
    }
    if !answers::refused(state, id, command) {
        send::refused(state, id, command);
    }
}

/// An event of a conversation that is loaded and complete.
#[deny(clippy::wildcard_enum_match_arm, reason = "a new event is handled, or named as ignored")]
fn loaded(state: &mut State, id: &SessionId, event: SessionEvent, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    let shown = state.current_id() == Some(id);
    let spent = state.sessions.meta(id).map(|meta| Spent::new(now, &meta.usage));
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    match event {
        SessionEvent::Page { rows, earlier } => rows::prepend(open, rows, earlier),
        SessionEvent::LaterPage { rows, later } => {
            let running = open.turn.started.is_some();
            rows::append(open, rows, later, running);
            trail::land(state, id);
        }
        SessionEvent::Row(row) => row_came(open, *row, now),
        SessionEvent::Delta { id: row, add } => {
            if !grown(open, &row, &add, (now, shown)) {
                session::resync(open, id, fx);
            }
        }
        SessionEvent::Dropped { id: row } => {
            if open.chat.later.is_none() {
                rows::drop_row(open, &row);
            }
        }
        SessionEvent::Redelivering { at } => open.redelivery = at,
        SessionEvent::Queue { items, held, steers } => {
            (open.queue, open.queue_held, open.steers) = (items, held, steers);
            queue::changed(state, id);
            return;
        }
        SessionEvent::ModelWanted { why, .. } if shown => model_picker::wanted(state, &why, fx),
        SessionEvent::ConnectionWanted { connection } if shown => connection_picker::wanted(state, &connection, fx),
        SessionEvent::Attached { path, made } => attach::came(state, id, &path, made, fx),
        SessionEvent::Asked(request) => asked(state, id, *request, fx),
        SessionEvent::Settled { request, by } => settled(state, id, &request, by.as_deref()),
        SessionEvent::Todo(items) => open.todo = items,
        SessionEvent::Plan(plan) => open.plan = plan,
        SessionEvent::Jobs(jobs) => open.jobs = jobs,
        SessionEvent::TurnStarted { at } => {
            open.chat.turns.extend(spent.map(|spent| Spent { at, ..spent }));
            open.turn = Turn { started: Some(at), heard: Some(now), ..Turn::default() };
        }
        SessionEvent::Compacting { part, of } => {
            (open.turn.retry, open.turn.heard, open.turn.compacting) = (None, Some(now), Some((part, of)));
        }
        SessionEvent::Retrying { attempt, of, wait_ms, reason } => {
            open.turn.retry = Some(Retry { attempt, of, at: now.plus(wait_ms), reason });
            (open.turn.heard, open.turn.answering) = (Some(now.plus(wait_ms)), false);
        }
        SessionEvent::Waiting(connection) => open.turn.waiting = connection,
        SessionEvent::Starting { sources } => (open.turn.starting, open.turn.heard) = (sources, Some(now)),
        SessionEvent::TurnEnded { end } => turn_ended(state, id, end),
        // A row follows, or the queue; a choice is offered where the conversation is shown.
        SessionEvent::Accepted { .. } | SessionEvent::ModelWanted { .. } | SessionEvent::ConnectionWanted { .. } => {}
        // Whether or not the conversation is complete: above.
        SessionEvent::Opened(_)
        | SessionEvent::Reidentified { .. }
        | SessionEvent::Refused { .. }
        | SessionEvent::Enhanced { .. }
        | SessionEvent::UndoPlanned(_)
        | SessionEvent::FilesChanged(_)
        | SessionEvent::Context(_)
        | SessionEvent::Rules(_)
        | SessionEvent::Sources(_)
        | SessionEvent::Extensions(_)
        | SessionEvent::Changed(_)
        | SessionEvent::Notice(_)
        | SessionEvent::Unsaved(_)
        | SessionEvent::Held { .. } => {}
    }
    if state.current_id() == Some(id) {
        search::search_again(state);
    }
}

/// Text was added to a row. False if there is no such row.
fn grown(open: &mut Open, row: &MessageId, add: &str, (now, shown): (At, bool)) -> bool {
    // What comes at the end has no place while rows before it are missing.
    if open.chat.later.is_some() {
        return true;
    }
    open.turn.retry = None;
    open.turn.waiting = None;
    (open.turn.heard, open.turn.answering) = (Some(now), true);
    // Nothing of a turn is shown any more once it was told to stop.
    let grow = if shown { rows::grow } else { rows::grow_hidden };
    open.turn.stopping || grow(open, row, add)
}

fn turn_ended(state: &mut State, id: &SessionId, end: TurnEnd) {
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    open.turn = Turn::default();
    open.ended = Some(end);
    rows::settle(open);
    let held = matches!(end, TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::Limit) && !open.queue.is_empty();
    if held && state.current_id() == Some(id) {
        let notice = Notice::new(Level::Info, "Queue paused").hint("it follows your next message");
        state.notify_while(notice, vec![TrueWhile::Shows(id.clone()), TrueWhile::QueueWaits]);
    }
}

/// A row came at the end: whatever the turn waited for is over.
fn row_came(open: &mut Open, row: Message, now: At) {
    // It has no place while rows before it are missing.
    if open.chat.later.is_some() {
        open.chat.unseen.insert(row.id);
        return;
    }
    let turn = &mut open.turn;
    (turn.retry, turn.compacting, turn.waiting) = (None, None, None);
    turn.heard = Some(now);
    turn.answering = matches!(row.body, Body::Assistant(_) | Body::Thinking(_));
    rows::put(open, row);
}

fn asked(state: &mut State, id: &SessionId, request: Request, fx: &mut Vec<Effect>) {
    let typed = key_field::open_field(state, id);
    taken(state, id, request);
    key_field::asked(state, id, typed, fx);
}

fn settled(state: &mut State, id: &SessionId, request: &RequestId, by: Option<&str>) {
    let quiet = state.input.quiet_until;
    let key = key_field::settled(state, id, request);
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let mut ours = false;
    for given in open.given.iter_mut().filter(|given| given.request.id == *request) {
        given.settled = true;
        ours = true;
    }
    // Whoever looked at it here learns why it is gone.
    let other = by.filter(|_| !ours && open.panel.as_ref().is_some_and(|panel| panel.request == *request));
    let other = other.map(|by| Notice::new(Level::Info, format!("Answered by {}", text::plain(by))));
    let of_trust = |other: &Request| other.id == *request && matches!(other.ask, Ask::Trust(_));
    if open.requests.iter().any(of_trust) {
        // Commands, skills and agents may be others now: they are read again.
        state.drafts.commands_of = None;
    }
    open.requests.retain(|other| other.id != *request);
    answers::sync(state, id, Some(request));
    if let Some(notice) = other.filter(|_| !key && state.current_id() == Some(id)) {
        state.notify(notice);
    }
    if key {
        // Nothing took the place of the field yet: what is typed next is a message.
        state.input.quiet_until = quiet;
    }
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
