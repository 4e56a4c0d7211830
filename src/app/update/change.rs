//! Changes of sessions with one key, from the list or a command: made to those that are chosen, all at once, with a way
//! back that is open for ten seconds. And what becomes of the screen when a session is gone.

use super::{list, session};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::overlay::Overlay;
use crate::app::state::sessions::undo::{Undo, named};
use crate::app::state::{Current, Focus, State};
use crate::domain::contract::Command;
use crate::domain::ids::SessionId;
use crate::domain::inbox::{Change, TrashId};
use crate::domain::property::split_label;
use crate::domain::session::SessionMeta;
use crate::domain::{Level, Notice};

/// Their properties, in the order of `ids`.
fn metas<'s>(state: &'s State, ids: &[SessionId]) -> Vec<&'s SessionMeta> {
    ids.iter().filter_map(|id| state.sessions.meta(id)).collect()
}

/// A change of sessions in words: `Archived 3 sessions`.
fn in_words(state: &State, change: &Change, metas: &[&SessionMeta]) -> String {
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
        Change::Status(id) => {
            let name = catalogue.status_entry(id).map_or(id.as_str(), |entry| entry.name.as_str());
            format!("{name}: {who}")
        }
        Change::Flagged(true) => format!("Flagged {who}"),
        Change::Flagged(false) => format!("Unflagged {who}"),
        Change::Archived(true) => format!("Archived {who}"),
        Change::Archived(false) => format!("Back in the list: {who}"),
        Change::Unread(true) => format!("Unread: {who}"),
        Change::Unread(false) => format!("Read: {who}"),
        Change::Hidden(true) => format!("Hid {who}"),
        Change::Hidden(false) => format!("No longer hidden: {who}"),
        Change::AddLabel(entry) => format!("{} on {who}", label(entry)),
        Change::RemoveLabel(id) => format!("{} off {who}", label(id)),
        Change::Labels(_) => format!("Labelled {who}"),
    }
}

/// Changes sessions and opens the way back. Those that are so already are left alone.
pub(super) fn change(state: &mut State, ids: &[SessionId], change: Change, fx: &mut Vec<Effect>) {
    let all = metas(state, ids);
    let changed: Vec<&SessionMeta> = all
        .iter()
        .copied()
        .filter(|meta| crate::app::state::sessions::undo::inverse(meta, &change).is_some())
        .collect();
    let what = in_words(state, &change, &changed);
    let Some((undo, sessions)) = Undo::of(&all, &change, what, state.now) else { return };
    if let Change::Unread(unread) = change {
        // What is on the screen would count as read at once.
        let shown = state.current_id().filter(|id| unread && sessions.contains(id)).cloned();
        state.left_unread = shown;
    }
    fx.push(Effect::Send(Command::Change { sessions, change }));
    open_undo(state, undo, fx);
}

fn open_undo(state: &mut State, undo: Undo, fx: &mut Vec<Effect>) {
    fx.push(Effect::Arm { timer: Timer::Undo, ms: undo.until.since(state.now) });
    state.sessions.undo = Some(undo);
}

/// Changes what is chosen: to what most are not yet, so that a mixed lot becomes one.
fn toggle(state: &mut State, has: fn(&SessionMeta) -> bool, to: fn(bool) -> Change, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    if ids.is_empty() {
        return nothing(state);
    }
    let all_have = metas(state, &ids).iter().all(|meta| has(meta));
    change(state, &ids, to(!all_have), fx);
}

fn nothing(state: &mut State) {
    state.notify(Notice::new(Level::Info, "There is no session to change here."));
}

/// Flags what is chosen, or takes the flags away where all have one.
pub(super) fn flag(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.flagged, Change::Flagged, fx);
}

/// Archives what is chosen, or takes it back into the list where all of it is archived.
pub(super) fn archive(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.archived, Change::Archived, fx);
}

/// Takes what is chosen back into the list.
pub(super) fn unarchive(state: &mut State, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    if ids.is_empty() {
        return nothing(state);
    }
    if !metas(state, &ids).iter().any(|meta| meta.archived) {
        return state.notify(Notice::new(Level::Info, "It is not archived.").hint("/archive archives it"));
    }
    change(state, &ids, Change::Archived(false), fx);
}

/// Hides what is chosen, or shows it again where all of it is hidden.
pub(super) fn hide(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.hidden, Change::Hidden, fx);
}

/// Marks what is chosen as unread, or as read where all is unread.
pub(super) fn unread(state: &mut State, fx: &mut Vec<Effect>) {
    toggle(state, |meta| meta.unread, Change::Unread, fx);
}

/// Branches the session at the cursor, or the one that is shown.
pub(super) fn branch(state: &mut State, title: Option<String>, fx: &mut Vec<Effect>) {
    let ids = state.chosen();
    match ids.as_slice() {
        [] => nothing(state),
        [one] => fx.push(Effect::Send(Command::Branch { session: one.clone(), at: None, title })),
        more => {
            let text = format!("{} sessions are marked, and one is branched at a time.", more.len());
            state.notify(Notice::new(Level::Info, text));
        }
    }
}

/// Moves sessions to the trash.
pub(super) fn delete(state: &mut State, ids: Vec<SessionId>, fx: &mut Vec<Effect>) {
    let what = format!("Deleted {}", named(&metas(state, &ids)));
    let undo = Undo::of_delete(&ids, what, state.now);
    fx.push(Effect::Send(Command::Delete { sessions: ids, now: false }));
    open_undo(state, undo, fx);
}

/// Takes the last change back, if its time is not over.
pub(super) fn undo(state: &mut State, fx: &mut Vec<Effect>) {
    match state.sessions.undo.take_if(|undo| undo.is_open(state.now)) {
        Some(undo) => {
            fx.push(Effect::Disarm(Timer::Undo));
            fx.extend(undo.into_steps().into_iter().map(Effect::Send));
        }
        None => state.notify(Notice::new(Level::Info, "There is nothing to undo; it can be for 10 seconds.")),
    }
}

/// The time of the last change is over, unless it began anew.
pub(super) fn undo_over(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(undo) = &state.sessions.undo else { return };
    if undo.until > state.now {
        fx.push(Effect::Arm { timer: Timer::Undo, ms: undo.until.since(state.now) });
    } else {
        state.sessions.undo = None;
    }
}

/// A session is gone. Where it was shown, the one beside it is shown; the keys stay where they are.
pub(super) fn deleted(state: &mut State, id: &SessionId, trash: Option<&TrashId>, fx: &mut Vec<Effect>) {
    let now = state.now;
    let ours = state.sessions.undo.as_mut().is_some_and(|undo| undo.gone(id, trash, now));
    let shown = state.current_id() == Some(id);
    let title = state.sessions.meta(id).map(|meta| named(&[meta]));
    // What was deleted here says so where it can be undone.
    if let (false, Some(title)) = (ours, title) {
        state.notify(match trash {
            Some(_) => Notice::new(Level::Info, format!("{title} is in the trash.")).hint("/trash takes it back"),
            None => Notice::new(Level::Info, format!("{title} is gone.")),
        });
    }
    let beside = beside(state, id);
    state.sessions.remove(id);
    state.recent.retain(|other| other != id);
    // What somebody else deletes takes no text along that is being written here.
    let mut left = None;
    if let Some(open) = state.open.remove(id) {
        fx.push(Effect::Disarm(Timer::Draft(id.clone())));
        left = Some(open.composer).filter(|composer| !ours && trash.is_none() && !composer.is_empty());
    }
    if let Some(composer) = left.take_if(|_| !shown) {
        state.history.push(&composer.text());
    }
    state.overlays.retain(|overlay| !matches!(overlay, Overlay::Rename(rename) if rename.session == *id));
    if !shown {
        return list::keep_in_sight(state);
    }
    let (focus, pane, overlays) = (state.focus, state.shown, std::mem::take(&mut state.overlays));
    let cursor = state.sessions.cursor().cloned();
    // Its draft went with it.
    state.current = Current::New;
    match (beside, left) {
        (_, Some(composer)) => {
            session::new(state, fx);
            state.composer_mut().bring_back(composer);
            let text = "Your draft of the session that is gone stands in the composer.";
            state.notify(Notice::new(Level::Warning, text).hint("Enter sends it in a new session"));
        }
        (Some(beside), None) => session::open(state, &beside, fx),
        (None, None) => session::new(state, fx),
    }
    state.overlays = overlays;
    if focus == Focus::List {
        (state.focus, state.shown) = (focus, pane);
        state.sessions.restore_cursor(cursor);
    }
    list::keep_in_sight(state);
}

/// The session that stands beside one in the list and does not go with it: the next, else the one before.
fn beside(state: &State, id: &SessionId) -> Option<SessionId> {
    let going = |other: &SessionId| state.sessions.undo.as_ref().is_some_and(|undo| undo.is_going(other));
    let order: Vec<&SessionId> = state.sessions.order().collect();
    let at = order.iter().position(|other| *other == id)?;
    let after = order.iter().skip(at + 1).find(|other| !going(other));
    let before = order.iter().take(at).rev().find(|other| !going(other));
    after.or(before).map(|id| (*id).clone())
}
