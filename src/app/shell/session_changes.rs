//! Changes of sessions: made to those that are chosen, all at once, with a way back that is open for ten seconds.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::text;
use crate::app::state::State;
use crate::app::state::sessions::undo::{Undo, named};
use crate::domain::ids::SessionId;
use crate::domain::property::split_label;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand};

/// Their properties, in the order of `ids`.
pub(crate) fn metas<'s>(state: &'s State, ids: &[SessionId]) -> Vec<&'s SessionMeta> {
    ids.iter().filter_map(|id| state.sessions.meta(id)).collect()
}

/// A change of sessions in words: `Archived 3 sessions`.
fn in_words(state: &State, change: &PropertyChange, metas: &[&SessionMeta]) -> String {
    let who = named(metas);
    let catalogue = state.sessions.catalogue();
    let label = |entry: &str| {
        let name = catalogue.label_entry(entry).map_or(split_label(entry).0, |entry| entry.name.as_str()).to_owned();
        match split_label(entry).1 {
            Some(value) => format!("#{name}:{value}"),
            None => format!("#{name}"),
        }
    };
    match change {
        PropertyChange::Status(id) => {
            let name = catalogue.status_entry(id).map_or(id.as_str(), |entry| entry.name.as_str());
            format!("{name}: {who}")
        }
        PropertyChange::Flagged(true) => format!("Flagged {who}"),
        PropertyChange::Flagged(false) => format!("Unflagged {who}"),
        PropertyChange::Archived(true) => format!("Archived {who}"),
        PropertyChange::Archived(false) => format!("Unarchived {who}"),
        PropertyChange::Unread(true) => format!("Marked unread: {who}"),
        PropertyChange::Unread(false) => format!("Marked read: {who}"),
        PropertyChange::Hidden(true) => format!("Hid {who}"),
        PropertyChange::Hidden(false) => format!("Unhid {who}"),
        PropertyChange::AddLabel(entry) => format!("{} on {who}", label(entry)),
        PropertyChange::RemoveLabel(id) => format!("{} off {who}", label(id)),
        PropertyChange::Labels(_) => format!("Labelled {who}"),
        PropertyChange::Name(Some(name)) => format!("Named {who}: {name}"),
        PropertyChange::Name(None) => format!("Name removed: {who}"),
    }
}

/// Changes sessions and opens the way back. Those that are so already are left alone.
pub(crate) fn change(state: &mut State, ids: &[SessionId], change: PropertyChange, fx: &mut Vec<Effect>) {
    let all = metas(state, ids);
    let changed: Vec<&SessionMeta> = all
        .iter()
        .copied()
        .filter(|meta| crate::app::state::sessions::undo::inverse(meta, &change).is_some())
        .collect();
    let what = in_words(state, &change, &changed);
    let Some((undo, sessions)) = Undo::of(&all, &change, what, state.clock.now) else { return };
    if let PropertyChange::Unread(unread) = change {
        // What is on the screen would count as read at once.
        let shown = state.current_id().filter(|id| unread && sessions.contains(id)).cloned();
        state.conversations.left_unread = shown;
    }
    fx.push(Effect::Send(Command::Engine(EngineCommand::Change { sessions, change })));
    open_undo(state, undo, fx);
}

fn open_undo(state: &mut State, undo: Undo, fx: &mut Vec<Effect>) {
    fx.push(Effect::Arm { timer: Timer::Undo, ms: undo.until.since(state.clock.now) });
    state.sessions.undo = Some(undo);
}

pub(crate) fn nothing(state: &mut State) {
    state.notify(Notice::new(Level::Info, "No session here"));
}

/// Branches the session at the cursor, or the one that is shown.
pub(crate) fn branch(state: &mut State, title: Option<String>, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    match ids.as_slice() {
        [] => nothing(state),
        [one] => {
            fx.push(Effect::Send(Command::Engine(EngineCommand::Branch { session: one.clone(), at: None, title })))
        }
        more => {
            let text = format!("{} sessions marked; branch one at a time", more.len());
            state.notify(Notice::new(Level::Info, text));
        }
    }
}

/// Moves sessions to the trash.
pub(crate) fn delete(state: &mut State, ids: Vec<SessionId>, fx: &mut Vec<Effect>) {
    let what = format!("Deleted {}", named(&metas(state, &ids)));
    let undo = Undo::of_delete(&ids, what, state.clock.now);
    fx.push(Effect::Send(Command::Engine(EngineCommand::Delete { sessions: ids, now: false })));
    open_undo(state, undo, fx);
}

/// Takes the last change back, if its time is not over.
pub(crate) fn undo(state: &mut State, fx: &mut Vec<Effect>) {
    match state.sessions.undo.take_if(|undo| undo.is_open(state.clock.now)) {
        Some(undo) => {
            fx.push(Effect::Disarm(Timer::Undo));
            fx.extend(undo.into_steps().into_iter().map(Effect::Send));
        }
        None => state.notify(Notice::new(Level::Info, "Nothing to undo from the last 10 seconds")),
    }
}

/// The time of the last change is over, unless it began anew.
pub(crate) fn undo_over(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(undo) = &state.sessions.undo else { return };
    if undo.until > state.clock.now {
        fx.push(Effect::Arm { timer: Timer::Undo, ms: undo.until.since(state.clock.now) });
    } else {
        state.sessions.undo = None;
    }
}

/// Changes properties of sessions.
pub(crate) fn change_all(state: &mut State, sessions: Vec<SessionId>, change: PropertyChange, fx: &mut Vec<Effect>) {
    if sessions.is_empty() {
        return text::nothing_yet(state);
    }
    self::change(state, &sessions, change, fx);
}

/// The sessions that a verb is for.
pub(crate) fn targets(state: &State) -> Vec<SessionId> {
    state.chosen()
}
