//! Ways from the shown session to another one: beside it, above and below it, anew.

use crate::app::effect::Effect;
use crate::app::shell::{connecting, session, session_changes, text};
use crate::app::state::State;
use crate::app::state::sessions::needs_you;
use crate::domain::ids::SessionId;
use crate::domain::permission::Mode;
use crate::domain::plan::is_approval;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Level, Notice};
use crate::keymap::action::SessionAction;
use crate::protocol::{Command, EngineCommand, NewSession, SessionCommand};

/// Session at a distance from the shown one in the list.
pub(crate) fn beside(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    let order: Vec<SessionId> = state.sessions.order().cloned().collect();
    let at = state.current_id().and_then(|id| order.iter().position(|other| other == id));
    let target = match at {
        Some(at) => at.checked_add_signed(by),
        None => Some(0),
    };
    if let Some(id) = target.and_then(|at| order.get(at)) {
        session::open(state, id, fx);
    }
}

/// Archives the shown session, whose turn ends, and begins a new one with its settings. One in which nothing was said is
/// as new as it can be.
pub(crate) fn reset(state: &mut State, fx: &mut Vec<Effect>) {
    let said = |meta: &&SessionMeta| meta.messages > 0 || meta.activity != Activity::Idle;
    let Some(meta) = state.current_meta().filter(said).cloned() else {
        return state.notify(Notice::new(Level::Info, "Already a new session"));
    };
    let settings = session::settings_of(&meta);
    if meta.activity != Activity::Idle {
        session::stop(state, fx);
    }
    session_changes::change(state, &[meta.id], PropertyChange::Archived(true), fx);
    session::begin(state, settings, fx);
}

/// A new session that works in a worktree of its own. A checkout takes its time, so it is shown when it is there.
pub(crate) fn apart(state: &mut State, fx: &mut Vec<Effect>) {
    state.lobby.apart = true;
    fx.push(Effect::Send(Command::Engine(EngineCommand::Create(NewSession {
        worktree: true,
        ..NewSession::default()
    }))));
}

/// To a session that the one on the screen spawned; from one of these to the next.
pub(crate) fn child(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(meta) = state.current_meta() else { return text::nothing_yet(state) };
    let (here, root) = match &meta.parent {
        Some(parent) => (Some(meta.id.clone()), parent.session.clone()),
        None => (None, meta.id.clone()),
    };
    let all = state.sessions.spawned_by(&root);
    let next = match here.and_then(|here| all.iter().position(|meta| meta.id == here)) {
        Some(at) => all.get((at + 1) % all.len()).copied(),
        None => {
            let waits = all.iter().find(|meta| needs_you(meta));
            let works = all.iter().find(|meta| meta.activity != Activity::Idle);
            waits.or(works).or(all.last()).copied()
        }
    };
    match next.map(|meta| meta.id.clone()) {
        Some(id) => session::open(state, &id, fx),
        None => state.notify(Notice::new(Level::Info, "No spawned sessions")),
    }
}

pub(crate) fn parent(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(parent) = state.current_meta().and_then(|meta| meta.parent.clone()) {
        if state.sessions.meta(&parent.session).is_some() {
            return session::open(state, &parent.session, fx);
        }
        let text = format!("Parent session {} no longer exists", parent.session);
        return state.notify(Notice::new(Level::Warning, text).hint("/trash lists deleted sessions"));
    }
    let Some(from) = state.current_meta().and_then(|meta| meta.branched_from.clone()) else {
        return state.notify(Notice::new(Level::Info, "Not a branch of another session"));
    };
    if state.sessions.meta(&from.session).is_some() {
        session::open(state, &from.session, fx);
    } else {
        let text = format!("Branched from {}, which no longer exists", from.session);
        state.notify(Notice::new(Level::Warning, text).hint("/trash lists deleted sessions"));
    }
}

/// Rows below which there is no line above the conversation.
const LOW: u16 = 16;

/// A branch was made: it is opened where it was made from.
pub(crate) fn branched(state: &mut State, from: &SessionId, to: &SessionId, rewound: bool, fx: &mut Vec<Effect>) {
    connecting::branched(state, from, to, fx);
    let text = state.conversations.rewound.take_if(|(session, _)| session == from).map(|(_, text)| text);
    let title = state.sessions.meta(from).map(text::named).unwrap_or_else(|| from.to_string());
    if state.current_id() != Some(from) {
        return state.notify(Notice::new(Level::Info, format!("Branched from {title}")));
    }
    session::open(state, to, fx);
    let text = text.filter(|_| rewound);
    let taken_back = text.as_deref().is_some_and(is_approval);
    if taken_back && state.sessions.meta(from).is_some_and(|meta| meta.mode == Mode::Execute) {
        // The plan's approval brought the mode.
        fx.push(session::to(to, SessionCommand::Mode { mode: Mode::Ask, drop_plan: false }));
    }
    if let (Some(text), Some(open)) = (text.filter(|_| !taken_back), state.conversations.open.get_mut(to)) {
        open.composer.set(&text);
    }
    if state.screen.size.height >= LOW {
        // A line above the conversation says so.
        return;
    }
    let key = state.keys.key_for(SessionAction::Parent);
    let words = if rewound { "Rewound from" } else { "Branched from" };
    state.notify(Notice::new(Level::Info, format!("{words} {title}")).hint(format!("{key} opens it")));
}

/// Shows the imported session, with its omissions. `again`: relation to an earlier import.
pub(crate) fn imported(
    state: &mut State,
    id: &SessionId,
    (program, again): (&str, Option<String>),
    left: &[String],
    fx: &mut Vec<Effect>,
) {
    session::open(state, id, fx);
    let first = || format!("Imported from {program}; the original is unchanged");
    let notice = Notice::new(Level::Info, again.unwrap_or_else(first));
    state.notify(if left.is_empty() { notice } else { notice.hint("the last row lists what was left out") });
}
