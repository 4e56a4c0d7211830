//! /queue: the messages of the shown session that wait: taken back, moved, deleted, let go.
//!
//! Messages that go into the running turn come first. They can be taken back and deleted, but keep
//! their order: they are sent at once.

use crate::app::effect::Effect;
use crate::app::shell::{attachments, draft, overlay, session};
use crate::app::state::State;
use crate::app::state::overlay::{Overlay, QueueCard};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::{Level, Notice};
use crate::keymap::action::QueueAction;
use crate::protocol::{QueueEdit, Queued, SessionCommand};

pub(crate) fn act(state: &mut State, verb: QueueAction, fx: &mut Vec<Effect>) {
    match verb {
        QueueAction::Edit => edit(state, fx),
        QueueAction::Earlier => shift(state, -1, fx),
        QueueAction::Later => shift(state, 1, fx),
        QueueAction::Remove => remove(state, fx),
        QueueAction::Release => release(state, fx),
        QueueAction::File => {
            let files = chosen(state).map(|(_, item, _)| item.attachments.clone()).unwrap_or_default();
            attachments::view(state, files, fx);
        }
    }
}

/// Opens the list at this message, else at the last one.
pub(crate) fn open(state: &mut State, at: Option<MessageId>) {
    let waiting = state.current_open().and_then(|open| Some((open.waits(), open.waiting().last()?.id.clone())));
    let (Some(session), Some((count, last))) = (state.current_id().cloned(), waiting) else {
        return state.notify(Notice::new(Level::Info, "Queue empty"));
    };
    let card = QueueCard { session, selected: Some(at.unwrap_or(last)), at: count.saturating_sub(1) };
    overlay::open(state, Overlay::Queue(card));
}

/// The selected message, with its session and its place among all that wait.
fn chosen(state: &State) -> Option<(&SessionId, &Queued, usize)> {
    let Some(Overlay::Queue(card)) = state.overlays.last() else { return None };
    let open = state.conversations.open.get(&card.session)?;
    let at = card.place(Some(open));
    Some((&card.session, open.waiting().nth(at)?, at))
}

pub(crate) fn step(state: &mut State, by: isize) {
    if let Some((_, _, at)) = chosen(state) {
        select(state, at.saturating_add_signed(by));
    }
}

fn select(state: &mut State, at: usize) {
    let Some(Overlay::Queue(card)) = state.overlays.last_mut() else { return };
    let Some(open) = state.conversations.open.get(&card.session) else { return };
    let at = at.min(open.waits().saturating_sub(1));
    card.selected = open.waiting().nth(at).map(|item| item.id.clone());
    card.at = at;
}

/// A click on a row. Tells whether it was selected before.
pub(crate) fn press(state: &mut State, at: usize) -> bool {
    let same = chosen(state).is_some_and(|(_, _, known)| known == at);
    select(state, at);
    same
}

/// The engine told what waits now: what was selected stays so, or what stands in its place is.
pub(crate) fn changed(state: &mut State, id: &SessionId) {
    let empty = state.conversations.open.get(id).is_none_or(|open| open.waits() == 0);
    let shown = |overlay: &Overlay| matches!(overlay, Overlay::Queue(card) if card.session == *id);
    if empty && state.overlays.last().is_some_and(shown) {
        return overlay::close(state);
    }
    for overlay in &mut state.overlays {
        if let Overlay::Queue(card) = overlay
            && card.session == *id
            && let Some(open) = state.conversations.open.get(id)
        {
            let at = card.place(Some(open));
            card.selected = open.waiting().nth(at).map(|item| item.id.clone());
            card.at = at;
        }
    }
}

/// Takes the selected message back into the composer.
pub(crate) fn edit(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(item) = chosen(state).map(|(_, item, _)| item.clone()) else { return };
    overlay::close(state);
    draft::take_queued(state, &item, fx);
}

fn shift(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    let Some((session, item, at)) = chosen(state) else { return };
    let (session, id) = (session.clone(), item.id.clone());
    let Some(open) = state.conversations.open.get_mut(&session) else { return };
    let Some(from) = at.checked_sub(open.steers.len()) else {
        let text = "Can't move: this message goes into the running turn, in order";
        return state.notify(Notice::new(Level::Info, text));
    };
    let to_place = from.saturating_add_signed(by).min(open.queue.len().saturating_sub(1));
    if to_place == from {
        return;
    }
    // The engine tells the same in a moment; until then a second key must not move another one.
    open.queue.swap(from, to_place);
    let place = open.steers.len() + to_place;
    fx.push(session::to(&session, SessionCommand::Queue(QueueEdit::Move { id, to: to_place })));
    select(state, place);
}

fn remove(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, item, _)) = chosen(state) else { return };
    let (session, item) = (session.clone(), item.clone());
    if let Some(open) = state.conversations.open.get_mut(&session) {
        open.queue.retain(|other| other.id != item.id);
        open.steers.retain(|other| other.id != item.id);
    }
    fx.push(session::to(&session, SessionCommand::Queue(QueueEdit::Remove { id: item.id })));
    for file in item.attachments {
        fx.push(session::to(&session, SessionCommand::Detach { path: file.path }));
    }
    changed(state, &session);
}

fn release(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, _, _)) = chosen(state) else { return };
    let session = session.clone();
    let Some(open) = state.conversations.open.get_mut(&session) else { return };
    if !open.queue_held {
        return state.notify(Notice::new(Level::Info, "Queue not paused: it sends when the turn ends"));
    }
    open.queue_held = false;
    fx.push(session::to(&session, SessionCommand::Queue(QueueEdit::Release)));
}
