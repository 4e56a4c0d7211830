//! Snapshots of conversations, and sessions that get another id.

use crate::app::composer::{attach, send};
use crate::app::conversation::{rows, search};
use crate::app::effect::Effect;
use crate::app::overlays::inbox;
use crate::app::panels::answers;
use crate::app::shell::{session, text, trail};
use crate::app::state::open::Open;
use crate::app::state::overlay::Overlay;
use crate::app::state::sessions::needs_you;
use crate::app::state::{Current, Editing, State};
use crate::domain::attachment::Attachment;
use crate::domain::attention::Attention;
use crate::domain::ids::{At, RequestId, SessionId};
use crate::domain::message::UserText;
use crate::domain::request::{Ask, Request};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Level, Notice};
use crate::protocol::{Opened, SessionCommand};

/// A snapshot. What was known of the session goes, but not what the user wrote and where they were reading.
pub(super) fn opened(state: &mut State, id: &SessionId, seq: u64, snapshot: Opened, fx: &mut Vec<Effect>) {
    let Opened {
        meta,
        rows,
        earlier,
        later,
        redelivery,
        queue,
        queue_held,
        steers,
        requests,
        todo,
        plan,
        jobs,
        draft,
        draft_attachments,
    } = snapshot;
    let mut apart = false;
    if !state.conversations.open.contains_key(id) {
        apart = meta.worktree.is_some();
        adopt(state, id, apart, fx);
    }
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let first = !open.loaded;
    let running = matches!(meta.activity, Activity::Running(_) | Activity::NeedsYou(_));
    open.loaded = true;
    open.unreadable = None;
    open.resync = false;
    open.seq = Some(seq);
    open.chat.density = state.conversations.density;
    open.chat.unified = state.conversations.unified;
    rows::replace(open, rows, (earlier, later), running);
    open.redelivery = redelivery;
    open.queue = queue;
    open.queue_held = queue_held;
    open.steers = steers;
    open.todo = todo;
    open.jobs = jobs;
    open.plan = plan;
    open.turn.started = started(&meta.activity, &requests, open.turn.started, state.clock.now);
    open.turn.stopping &= meta.activity != Activity::Idle;
    let shown = open.panel.as_ref().map(|panel| panel.request.clone());
    let before = std::mem::replace(&mut open.requests, requests);
    let of = |requests: &[Request], id: &RequestId| requests.iter().find(|request| request.id == *id).cloned();
    let same = shown.as_ref().is_some_and(|shown| of(&before, shown) == of(&open.requests, shown));
    let others: Vec<RequestId> = before
        .iter()
        .filter(|was| open.request(&was.id).is_some_and(|is| is != *was))
        .map(|was| was.id.clone())
        .collect();
    if first {
        take_draft(open, draft, draft_attachments);
    }
    let odd: Vec<String> = if first { meta.odd.clone() } else { Vec::new() };
    changed(state, meta, fx);
    answers::sync(state, id, shown.as_ref().filter(|_| !same));
    for changed in &others {
        inbox::forget_answer(state, id, changed);
    }
    trail::land(state, id);
    if !odd.is_empty() && state.current_id() == Some(id) {
        let more = if odd.len() > 1 { format!(" (and {} more)", odd.len() - 1) } else { String::new() };
        state.notify(Notice::new(Level::Warning, format!("{}{more}", odd.first().map_or("", String::as_str))));
    }
    if apart && std::mem::take(&mut state.lobby.apart) {
        session::open(state, id, fx);
    }
    if state.current_id() == Some(id) {
        search::search_again(state);
    }
}

/// Start of the turn that a snapshot is taken in.
fn started(activity: &Activity, requests: &[Request], before: Option<At>, now: At) -> Option<At> {
    match activity {
        Activity::Running(since) => Some(*since),
        // A call or a question that waits belongs to a turn; a plan waits without one.
        // Without a request here it waits for a session that it spawned.
        Activity::NeedsYou(_) if requests.is_empty() || requests.iter().any(|r| !matches!(r.ask, Ask::Plan(_))) => {
            before.or(Some(now))
        }
        Activity::NeedsYou(_) => None,
        Activity::Idle | Activity::Stopping => None,
    }
}

/// The draft on disk.
fn take_draft(open: &mut Open, draft: String, draft_attachments: Vec<Attachment>) {
    open.saved_draft = UserText::with(draft.clone(), draft_attachments.clone());
    // What was typed before the snapshot came is newer than the draft on disk.
    if open.composer.is_empty() && !open.saved_draft.is_empty() {
        open.composer.set(&draft);
        open.composer.files_mut().add(draft_attachments);
        open.saved_revision = open.composer.revision();
    }
}

/// The engine made the session that was asked for: what was written meanwhile goes there.
fn adopt(state: &mut State, id: &SessionId, apart: bool, fx: &mut Vec<Effect>) {
    let mut open = Open::default();
    state.conversations.recent.push(id.clone());
    if state.lobby.creating && !apart {
        state.lobby.creating = false;
        open.composer = std::mem::take(&mut state.lobby.composer);
        attach::adopted(id, open.composer.files(), fx);
        if let Some(title) = state.lobby.titled.take() {
            fx.push(session::to(id, SessionCommand::Rename { title }));
        }
        for said in std::mem::take(&mut state.lobby.sent) {
            let act = match send::command(&said.text) {
                Some(command) => SessionCommand::Type { command: command.to_owned() },
                None => SessionCommand::Send { text: said.text, attachments: said.attachments, piped: said.piped },
            };
            fx.push(session::to(id, act));
        }
        if state.conversations.current == Current::New {
            state.conversations.current = Current::Session(id.clone());
            state.sessions.select(id);
        }
    }
    state.conversations.open.insert(id.clone(), open);
}

/// A session got another id.
pub(super) fn reidentified(state: &mut State, from: &SessionId, to: &SessionId) {
    if let Some(open) = state.conversations.open.remove(from) {
        state.conversations.open.insert(to.clone(), open);
    }
    for id in state.conversations.recent.iter_mut().filter(|id| *id == from) {
        id.clone_from(to);
    }
    let editing = match &mut state.drafts.editing {
        Some(Editing::Draft(place)) => Some(place),
        Some(Editing::Plan { session, .. }) => {
            if session == from {
                session.clone_from(to);
            }
            None
        }
        None => None,
    };
    for place in [Some(&mut state.conversations.current), editing].into_iter().flatten() {
        if *place == Current::Session(from.clone()) {
            *place = Current::Session(to.clone());
        }
    }
    for overlay in &mut state.overlays {
        match overlay {
            Overlay::Rename(rename) if rename.session == *from => rename.session = to.clone(),
            Overlay::Health(card) if card.session == *from => card.session = to.clone(),
            Overlay::Undo(card) if card.session == *from => card.session = to.clone(),
            Overlay::Changes(card) if card.session == *from => card.session = to.clone(),
            Overlay::Rules(rules) if rules.session == *from => rules.session = to.clone(),
            Overlay::Sources(card) if card.session == *from => card.session = to.clone(),
            Overlay::Extensions(card) if card.session == *from => card.session = to.clone(),
            Overlay::Jobs(card) if card.session == *from => card.session = to.clone(),
            Overlay::Queue(card) if card.session == *from => card.session = to.clone(),
            Overlay::Picker(picker) => {
                for id in picker.sessions.iter_mut().filter(|id| *id == from) {
                    id.clone_from(to);
                }
            }
            Overlay::Inbox(inbox) => {
                if let Some((session, _)) = inbox.answering.as_mut().filter(|(session, _)| session == from) {
                    session.clone_from(to);
                }
            }
            _ => {}
        }
    }
    state.sessions.reidentify(from, to, state.clock.now, state.clock.utc_offset);
}

/// Properties of a session changed.
pub(super) fn changed(state: &mut State, meta: SessionMeta, fx: &mut Vec<Effect>) {
    let before = state.sessions.meta(&meta.id);
    let needed = before.is_some_and(needs_you);
    let ran = before.is_some_and(|meta| matches!(meta.activity, Activity::Running(_)));
    // Of a spawned session its parent tells.
    if !state.terminal.focused && meta.parent.is_none() {
        let title = text::plain(meta.shown_title());
        let said = match meta.attention() {
            Attention::NeedsYou(what) if !needed => Some(format!("{title} needs you: {}", text::plain(&what))),
            Attention::Failed(why) if ran => Some(format!("{title} failed: {}", text::plain(&why))),
            Attention::Interrupted(_) if ran => Some(format!("{title} was interrupted")),
            Attention::Idle | Attention::Unread if ran => Some(format!("{title} is done")),
            _ => None,
        };
        fx.extend(said.map(|text| Effect::Bell { text }));
    }
    if let Some(open) = state.conversations.open.get_mut(&meta.id) {
        open.asked_mode = None;
    }
    state.sessions.put(meta, state.clock.now, state.clock.utc_offset);
}
