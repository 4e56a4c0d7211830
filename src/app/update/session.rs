//! The shown session: making, opening, leaving, stopping, its mode and draft.

use super::{change, find, lifecycle, overlay, to};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::edit::Line;
use crate::app::state::fuzzy;
use crate::app::state::open::Open;
use crate::app::state::overlay::Overlay;
use crate::app::state::{Current, Focus, State};
use crate::domain::contract::{Act, Command, NewSession};
use crate::domain::ids::SessionId;
use crate::domain::inbox::Change;
use crate::domain::message::{Body, FailureAction};
use crate::domain::nearest::nearest;
use crate::domain::session::{Activity, SessionMeta, ThinkingLevel};
use crate::domain::{Level, Mode, Notice};
use crate::keymap::action::{ModeAction, SessionAction, TurnAction};
use crate::keymap::key::Key;

/// Rows asked for when a session is opened, and with each page before.
pub(super) const ROWS: usize = 200;
/// Number of conversations that stay loaded.
const LOADED: usize = 12;

pub(super) fn act(state: &mut State, verb: SessionAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        SessionAction::New => new(state, fx),
        SessionAction::Worktree => apart(state, fx),
        SessionAction::Rename => overlay::rename(state, state.current_id().cloned()),
        SessionAction::Switch => overlay::sessions(state),
        SessionAction::Flag => change::flag(state, fx),
        SessionAction::Archive => change::archive(state, fx),
        SessionAction::Unarchive => change::unarchive(state, fx),
        SessionAction::Reset => reset(state, fx),
        SessionAction::Unread => change::unread(state, fx),
        SessionAction::Hide => change::hide(state, fx),
        SessionAction::Next => beside(state, 1, fx),
        SessionAction::Previous => beside(state, -1, fx),
        SessionAction::Position => {
            let place = key.and_then(Key::digit).and_then(|digit| state.sessions.order().nth(digit - 1)).cloned();
            if let Some(id) = place {
                open(state, &id, fx);
            }
        }
        SessionAction::Search => find::open(state, None, fx),
        verb => lifecycle::act(state, verb, fx),
    }
}

/// Session at a distance from the shown one in the list.
fn beside(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    let order: Vec<SessionId> = state.sessions.order().cloned().collect();
    let at = state.current_id().and_then(|id| order.iter().position(|other| other == id));
    let target = match at {
        Some(at) => at.checked_add_signed(by),
        None => Some(0),
    };
    if let Some(id) = target.and_then(|at| order.get(at)) {
        open(state, id, fx);
    }
}

/// A new session: the composer is there at once, the engine makes the session meanwhile.
pub(super) fn new(state: &mut State, fx: &mut Vec<Effect>) {
    begin(state, NewSession::default(), fx);
}

/// Archives the shown session, whose turn ends, and begins a new one with its settings. One in which nothing was said is
/// as new as it can be.
fn reset(state: &mut State, fx: &mut Vec<Effect>) {
    let said = |meta: &&SessionMeta| meta.messages > 0 || meta.activity != Activity::Idle;
    let Some(meta) = state.current_meta().filter(said).cloned() else {
        return state
            .notify(Notice::new(Level::Info, "Nothing was said here yet: this session is as new as it can be."));
    };
    let settings = NewSession {
        title: None,
        connection: meta.asked().cloned(),
        cwd: Some(meta.cwd),
        model: meta.model,
        mode: Some(meta.mode),
        thinking: Some(meta.thinking),
        labels: meta.labels,
        worktree: false,
    };
    if meta.activity != Activity::Idle {
        stop(state, fx);
    }
    change::change(state, &[meta.id], Change::Archived(true), fx);
    begin(state, settings, fx);
}

fn begin(state: &mut State, settings: NewSession, fx: &mut Vec<Effect>) {
    leave_shown(state, fx);
    state.current = Current::New;
    state.trail = None;
    state.left_unread = None;
    if !state.creating {
        state.creating = true;
        fx.push(Effect::Send(Command::Create(settings)));
    }
    shown_now(state);
}

/// A new session that works in a worktree of its own. A checkout takes its time, so it is shown when it is there.
fn apart(state: &mut State, fx: &mut Vec<Effect>) {
    state.apart = true;
    fx.push(Effect::Send(Command::Create(NewSession { worktree: true, ..NewSession::default() })));
}

/// `/session`: a new one, the list of all, or to the one that is named.
pub(super) fn named(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let (verb, which) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
    match (verb.to_lowercase().as_str(), which.trim()) {
        ("new", "") => new(state, fx),
        ("new", name) => {
            let title = Some(overlay::one_line(name));
            // One that is being made already has no title yet.
            state.titled = title.clone().filter(|_| state.creating);
            begin(state, NewSession { title, ..NewSession::default() }, fx);
        }
        ("list" | "switch", "") => overlay::sessions(state),
        ("switch", which) => return switch(state, which, fx),
        ("list", _) => return Err(format!("/session {verb} takes nothing after it.")),
        (other, _) => {
            let near = nearest(other, ["new", "list", "switch"]);
            let near = near.map_or_else(String::new, |near| format!(" The nearest is {near}."));
            return Err(format!("/session does not know {other:?}.{near}"));
        }
    }
    Ok(())
}

/// To the session of this id or title. Where it may be several of them, they are shown to choose from.
fn switch(state: &mut State, which: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let wanted = which.to_lowercase();
    let all: Vec<(SessionId, String)> = state
        .sessions
        .metas()
        .filter(|meta| !meta.hidden)
        .map(|meta| (meta.id.clone(), overlay::one_line(meta.shown_title())))
        .collect();
    let those = |fits: &dyn Fn(&SessionId, &str) -> bool| {
        all.iter().filter(|(id, title)| fits(id, title)).map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    // From what is meant for certain to what may be meant; the first that fits anything counts.
    let mut found = those(&|id, _| id.as_str() == which);
    if found.is_empty() {
        found = those(&|_, title| title.to_lowercase() == wanted);
    }
    if found.is_empty() {
        found = those(&|id, title| title.to_lowercase().contains(&wanted) || id.as_str().contains(&wanted));
    }
    if found.is_empty() {
        let ranked = fuzzy::rank(which, all.iter().map(|(_, title)| title.as_str()));
        found = ranked.into_iter().filter_map(|(at, _)| all.get(at).map(|(id, _)| id.clone())).collect();
    }
    match found.as_slice() {
        [] => {
            let near = nearest(&wanted, all.iter().map(|(id, _)| id.as_str()));
            let near = near.map_or_else(String::new, |near| format!(" The nearest id is {near}."));
            Err(format!("There is no session {which:?}.{near}"))
        }
        [one] => {
            open(state, one, fx);
            Ok(())
        }
        _ => {
            overlay::sessions(state);
            if let Some(Overlay::Picker(picker)) = state.overlays.last_mut() {
                picker.query = Line::new(which);
                picker.filter();
            }
            Ok(())
        }
    }
}

/// Shows a session; its composer gets the focus.
pub(super) fn open(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    let other = state.current_id() != Some(id);
    enter(state, id, fx);
    if other {
        load(state, id, fx);
    }
}

/// Goes to a session without asking for its conversation.
pub(super) fn enter(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    if state.current_id() != Some(id) {
        leave_shown(state, fx);
        state.current = Current::Session(id.clone());
        state.search = None;
        state.trail = None;
        state.left_unread = None;
        // What came meanwhile was not kept.
        if let Some(open) = state.open.get_mut(id).filter(|open| !open.behind.is_empty()) {
            super::engine::resync(open, id, fx);
        }
    }
    state.sessions.select(id);
    let height = state.list_height();
    state.sessions.follow(height);
    shown_now(state);
}

fn shown_now(state: &mut State) {
    state.focus = Focus::Composer;
    state.shown = Default::default();
    state.overlays.clear();
}

/// Asks for a session's conversation where it is not loaded.
pub(super) fn load(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    loaded_last(state, id);
    if !state.open.contains_key(id) {
        state.open.insert(id.clone(), Open::default());
        fx.push(Effect::Send(Command::Open { session: id.clone(), rows: ROWS }));
    }
}

/// Takes note that a session was looked at last.
pub(super) fn loaded_last(state: &mut State, id: &SessionId) {
    state.recent.retain(|other| other != id);
    state.recent.push(id.clone());
}

fn leave_shown(state: &mut State, fx: &mut Vec<Effect>) {
    super::panel::give_back(state);
    if let Some(id) = state.current_id().cloned() {
        save_draft(state, &id, fx);
    }
}

/// Sends the draft of a session to be kept, where it changed.
pub(super) fn save_draft(state: &mut State, id: &SessionId, fx: &mut Vec<Effect>) {
    let Some(open) = state.open.get_mut(id) else { return };
    if open.draft_timer {
        open.draft_timer = false;
        fx.push(Effect::Disarm(Timer::Draft(id.clone())));
    }
    if open.saved_revision == open.composer.revision() {
        return;
    }
    open.saved_revision = open.composer.revision();
    let draft = open.composer.kept();
    if draft != open.saved_draft {
        open.saved_draft.clone_from(&draft);
        fx.push(to(id, Act::Draft { text: draft.text, attachments: draft.attachments }));
    }
}

/// Lets conversations go that were not looked at for long and in which nothing happens.
pub(super) fn evict(state: &mut State, fx: &mut Vec<Effect>) {
    if state.recent.len() <= LOADED {
        return;
    }
    let calm = |id: &SessionId| {
        let idle = state.sessions.meta(id).is_none_or(|meta| meta.activity == Activity::Idle);
        let saved = |open: &Open| open.requests.is_empty() && open.saved_revision == open.composer.revision();
        idle && state.current_id() != Some(id) && state.open.get(id).is_none_or(saved)
    };
    if let Some(at) = state.recent.iter().position(calm) {
        let id = state.recent.remove(at);
        state.open.remove(&id);
        fx.push(Effect::Send(Command::Leave { session: id }));
    }
}

pub(super) fn turn(state: &mut State, verb: TurnAction, fx: &mut Vec<Effect>) {
    match verb {
        TurnAction::Stop if state.running() || waiting(state) || stopping(state) => stop(state, fx),
        TurnAction::Stop => state.notify(Notice::new(Level::Info, "No turn runs in this session.")),
        TurnAction::Retry => retry(state, fx),
        TurnAction::Compact => super::context::compact(state, String::new(), fx),
    }
}

fn waiting(state: &State) -> bool {
    state.current_meta().is_some_and(|meta| matches!(meta.activity, Activity::NeedsYou(_)))
}

/// A turn was stopped, and something of it ends yet.
fn stopping(state: &State) -> bool {
    state.current_meta().is_some_and(|meta| meta.activity == Activity::Stopping)
}

/// Stops the turn: from now on nothing of it is shown.
pub(super) fn stop(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    if let Some(open) = state.open.get_mut(&id) {
        open.turn.stopping = true;
        open.turn.retry = None;
    }
    fx.push(to(&id, Act::Stop));
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
        (_, Some(id)) if waits => fx.push(to(id, Act::Retry)),
        (Some(true), Some(id)) if !state.running() => fx.push(to(id, Act::Retry)),
        _ => state.notify(Notice::new(Level::Info, "There is no failed request to send again.")),
    }
}

pub(super) fn mode(state: &mut State, verb: ModeAction, fx: &mut Vec<Effect>) {
    match verb {
        ModeAction::Next => {
            let asked = state.current_open().and_then(|open| open.asked_mode);
            let Some(now) = asked.or_else(|| state.current_meta().map(|meta| meta.mode)) else { return };
            let cycle: &[Mode] = if state.config.cycle.is_empty() { &Mode::ALL } else { &state.config.cycle };
            let next = cycle.iter().position(|mode| *mode == now).map_or(0, |at| (at + 1) % cycle.len());
            if let Some(next) = cycle.get(next).copied() {
                set_mode(state, next, false, fx);
            }
        }
        ModeAction::Pick => overlay::modes(state),
        ModeAction::Explore => set_mode(state, Mode::Explore, false, fx),
        ModeAction::Ask => set_mode(state, Mode::Ask, false, fx),
        ModeAction::Execute => set_mode(state, Mode::Execute, false, fx),
    }
}

/// Changes the permission mode. While a plan waits only its answers leave Explore.
pub(super) fn set_mode(state: &mut State, mode: Mode, drop_plan: bool, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    let plan = state.current_meta().is_some_and(|meta| meta.plan_pending)
        || state.current_open().is_some_and(|open| open.waiting_plan().is_some());
    if plan && !drop_plan {
        let key = state.keys.key_for(crate::keymap::action::AnswerAction::Plan);
        let hint = format!("{key} answers it; /mode {} --drop-plan drops it", mode.word());
        return state.notify(Notice::new(Level::Info, "A plan waits for its answer first.").hint(hint));
    }
    if let Some(open) = state.open.get_mut(&id) {
        open.asked_mode = Some(mode);
    }
    fx.push(to(&id, Act::Mode { mode, drop_plan }));
}

pub(super) fn thinking(state: &mut State, level: ThinkingLevel, fx: &mut Vec<Effect>) {
    if let Some(id) = state.current_id() {
        fx.push(to(id, Act::Thinking(level)));
    }
}
