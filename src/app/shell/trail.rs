//! Places of a conversation that a search found: the way from one to the next.

use crate::app::effect::Effect;
use crate::app::shell::session;
use crate::app::state::chat::{Chat, Density, View};
use crate::app::state::find::{Stop, Trail};
use crate::app::state::search::text_of;
use crate::app::state::{Focus, Shown, State};
use crate::domain::ids::SessionId;
use crate::domain::message::Body;
use crate::protocol::{Command, SessionCommand};

/// Shows a stop of a trail.
pub(crate) fn walk(state: &mut State, trail: Trail, fx: &mut Vec<Effect>) {
    let Some(stop) = trail.stops.get(trail.at).cloned() else { return };
    let id = trail.session.clone();
    session::enter(state, &id, fx);
    // To read on with n and N is the point of it: the keys go to the conversation.
    state.focus = Focus::Chat;
    state.screen.shown = Shown::Chat;
    state.searches.conversation = None;
    state.searches.trail = Some(trail);
    seek(state, &id, stop, fx);
}

/// The next stop, or the one before, around the ends. Whether there is a trail here.
pub(crate) fn walk_on(state: &mut State, by: isize, fx: &mut Vec<Effect>) -> bool {
    let Some(trail) = state.searches.trail.as_mut() else { return false };
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
    let open = state.conversations.open.entry(id.clone()).or_default();
    let at = stop.at;
    open.chat.seek = Some(stop);
    if open.loaded && land(state, id) {
        return;
    }
    if let Some(open) = state.conversations.open.get_mut(id) {
        open.chat.loading = true;
        open.chat.around = Some(at);
    }
    fx.push(Effect::Send(Command::Session {
        id: id.clone(),
        command: SessionCommand::OpenAt { at, rows: session::ROWS },
    }));
}

/// Shows the place that is sought, if it is loaded. Whether it is.
pub(crate) fn land(state: &mut State, id: &SessionId) -> bool {
    let marker = state.searches.trail.as_ref().filter(|trail| trail.session == *id).map(|trail| trail.marker.clone());
    let Some(chat) = state.conversations.open.get_mut(id).map(|open| &mut open.chat) else { return false };
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
