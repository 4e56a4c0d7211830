//! The shown session: making, opening, leaving, stopping, its mode and draft.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::focus;
use crate::app::state::hidden::holds_a_key;
use crate::app::state::notices::TrueWhile;
use crate::app::state::open::Open;
use crate::app::state::{Current, Focus, State};
use crate::domain::SessionMeta;
use crate::domain::ids::SessionId;
use crate::domain::session::{Activity, ThinkingLevel};
use crate::domain::{Level, Mode, Notice};
use crate::protocol::{Command, EngineCommand, NewSession, SessionCommand};

/// Rows asked for when a session is opened, and with each page before.
pub(crate) const ROWS: usize = 200;

/// Number of conversations that stay loaded.
const LOADED: usize = 12;

/// A new session: the composer is there at once, the engine makes the session meanwhile.
/// A shown session that is blank is the new one.
pub(crate) fn new(state: &mut State, fx: &mut Vec<Effect>) {
    if is_blank(state) {
        return shown_now(state);
    }
    begin(state, NewSession::default(), fx);
}

/// Settings for a new session like this one.
pub(crate) fn settings_of(meta: &SessionMeta) -> NewSession {
    NewSession {
        alias: None,
        title: None,
        connection: meta.asked().cloned(),
        cwd: Some(meta.cwd.clone()),
        model: meta.model.clone(),
        mode: Some(meta.mode),
        thinking: Some(meta.thinking),
        labels: meta.labels.clone(),
        worktree: false,
        key: None,
    }
}

pub(crate) fn begin(state: &mut State, settings: NewSession, fx: &mut Vec<Effect>) {
    leave_shown(state, fx);
    state.conversations.current = Current::New;
    state.searches.trail = None;
    state.conversations.left_unread = None;
    if !state.lobby.creating {
        state.lobby.creating = true;
        fx.push(Effect::Send(Command::Engine(EngineCommand::Create(settings))));
    }
    shown_now(state);
}

/// Shows a session; its composer gets the focus.
pub(crate) fn open(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    let other = state.current_id() != Some(id);
    let unreadable = state.conversations.open.get(id).is_some_and(|open| open.unreadable.is_some());
    enter(state, id, fx);
    if other || unreadable {
        load(state, id, fx);
    }
}

/// Goes to a session without asking for its conversation.
pub(crate) fn enter(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    if state.current_id() != Some(id) {
        leave_shown(state, fx);
        state.conversations.current = Current::Session(id.clone());
        state.searches.conversation = None;
        state.searches.trail = None;
        state.conversations.left_unread = None;
        // What came meanwhile was not kept.
        if let Some(open) = state.conversations.open.get_mut(id).filter(|open| !open.behind.is_empty()) {
            resync(open, id, fx);
        }
    }
    state.sessions.select(id);
    let height = state.list_height();
    state.sessions.follow(height);
    shown_now(state);
}

fn shown_now(state: &mut State) {
    state.focus = Focus::Composer;
    state.screen.shown = Default::default();
    state.overlays.clear();
}

/// Asks for a session's conversation where it is not loaded, also once more where it could not be read.
pub(crate) fn load(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    loaded_last(state, id);
    let known = state.conversations.open.contains_key(id);
    let open = state.conversations.open.entry(id.clone()).or_default();
    if open.unreadable.take().is_some() || !known {
        fx.push(Effect::Send(Command::Session { id: id.clone(), command: SessionCommand::Open { rows: ROWS } }));
    }
}

/// Takes note that a session was looked at last.
pub(crate) fn loaded_last(state: &mut State, id: &SessionId) {
    state.conversations.recent.retain(|other| other != id);
    state.conversations.recent.push(id.clone());
}

fn leave_shown(state: &mut State, fx: &mut Vec<Effect>) {
    focus::give_back(state);
    if let Some(id) = state.current_id().cloned() {
        save_draft(state, &id, fx);
        leave_blank(state, fx);
    }
}

/// Leaves the shown session where it is blank: the engine lets it go where nothing was chosen in it either.
pub(crate) fn leave_blank(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(id) = state.current_id().filter(|_| is_blank(state)).cloned() {
        state.conversations.recent.retain(|other| *other != id);
        state.conversations.open.remove(&id);
        fx.push(to(&id, SessionCommand::Leave));
    }
}

/// Nothing was said in the shown session, and nothing is typed there.
fn is_blank(state: &State) -> bool {
    let untyped = |open: &Open| {
        open.composer.is_empty() && open.chat.entries.is_empty() && open.requests.is_empty() && !open.draft_timer
    };
    state.current_meta().is_some_and(SessionMeta::is_blank) && state.current_open().is_some_and(untyped)
}

/// Sends the draft of a session to be kept, where it changed.
pub(crate) fn save_draft(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    if open.draft_timer {
        open.draft_timer = false;
        fx.push(Effect::Disarm(Timer::Draft(id.clone())));
    }
    if open.saved_revision == open.composer.revision() {
        return;
    }
    open.saved_revision = open.composer.revision();
    let draft = open.composer.kept();
    if draft != open.saved_draft && !holds_a_key(&draft.text) {
        open.saved_draft.clone_from(&draft);
        fx.push(to(id, SessionCommand::Draft { text: draft.text, attachments: draft.attachments }));
    }
}

/// Lets conversations go that were not looked at for long and in which nothing happens.
pub(crate) fn evict(state: &mut State, fx: &mut Vec<Effect>) {
    if state.conversations.recent.len() <= LOADED {
        return;
    }
    let calm = |id: &SessionId| {
        let idle = state.sessions.meta(id).is_none_or(|meta| meta.activity == Activity::Idle);
        let saved = |open: &Open| open.requests.is_empty() && open.saved_revision == open.composer.revision();
        idle && state.current_id() != Some(id) && state.conversations.open.get(id).is_none_or(saved)
    };
    if let Some(at) = state.conversations.recent.iter().position(calm) {
        let id = state.conversations.recent.remove(at);
        state.conversations.open.remove(&id);
        fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Leave }));
    }
}

/// Stops the turn: from now on nothing of it is shown.
pub(crate) fn stop(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    if let Some(open) = state.conversations.open.get_mut(&id) {
        open.turn.stopping = true;
        open.turn.retry = None;
    }
    fx.push(to(&id, SessionCommand::Stop));
}

/// Changes the permission mode. While a plan waits only its answers leave Explore.
pub(crate) fn set_mode(state: &mut State, mode: Mode, drop_plan: bool, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    let plan = state.current_meta().is_some_and(|meta| meta.plan_pending)
        || state.current_open().is_some_and(|open| open.waiting_plan().is_some());
    if plan && !drop_plan {
        let key = state.keys.key_for(crate::keymap::action::AnswerAction::Plan);
        let hint = format!("{key} to answer; /mode {} --drop-plan to drop it", mode.word());
        let waits = state.current_open().and_then(|open| open.waiting_plan()).map(|plan| plan.id.clone());
        let conditions = waits.map(TrueWhile::Waits).into_iter().chain([TrueWhile::Shows(id)]).collect();
        return state.notify_while(Notice::new(Level::Info, "Answer the pending plan first").hint(hint), conditions);
    }
    if let Some(open) = state.conversations.open.get_mut(&id) {
        open.asked_mode = Some(mode);
    }
    fx.push(to(&id, SessionCommand::Mode { mode, drop_plan }));
}

pub(crate) fn thinking(state: &mut State, level: ThinkingLevel, fx: &mut Vec<Effect>) {
    if let Some(id) = state.current_id() {
        fx.push(to(id, SessionCommand::Thinking(level)));
    }
}

/// Asks for a new snapshot of a conversation that is not as the engine has it.
pub(crate) fn resync(open: &mut Open, id: &SessionId, fx: &mut Vec<Effect>) {
    if open.resync {
        return;
    }
    open.resync = true;
    let rows = ROWS.max(open.chat.entries.len());
    let session = id.clone();
    // Who reads far from the end reads on there.
    fx.push(Effect::Send(match open.chat.around.filter(|_| open.chat.later.is_some()) {
        Some(at) => Command::Session { id: session, command: SessionCommand::OpenAt { at, rows } },
        None => Command::Session { id: session, command: SessionCommand::Open { rows } },
    }));
}

/// A command that changes one session.
pub(crate) fn to(session: &SessionId, act: SessionCommand) -> Effect {
    Effect::Send(Command::Session { id: session.clone(), command: act })
}
