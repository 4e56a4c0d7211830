//! The end of the conversation.

use crate::app::effect::Effect;
use crate::app::shell::session;
use crate::app::state::State;
use crate::app::state::chat::{Chat, View};
use crate::app::state::mark::Place;
use crate::protocol::{Command, SessionCommand};

/// Shows the end and follows it; where later rows are missing, the last ones are asked for.
pub(crate) fn to_end(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    let Some(chat) = chat(state) else { return };
    chat.view = View::End;
    (chat.cursor, chat.block) = (None, None);
    (chat.seek, chat.to_top) = (None, false);
    if let Some(last) = chat.entries.back().map(|entry| entry.key) {
        extend_to(chat, last, true);
    }
    if chat.later.is_some() {
        chat.loading = true;
        fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Open { rows: session::ROWS } }));
    }
}

pub(crate) fn chat(state: &mut State) -> Option<&mut Chat> {
    state.current_open_mut().map(|open| &mut open.chat)
}

/// Moves the head of a mark that keys make to the first line of an entry, or to its last.
pub(crate) fn extend_to(chat: &mut Chat, key: i64, to_its_end: bool) {
    if let Some(mark) = chat.mark.as_mut().filter(|mark| mark.by_keys) {
        let place = Place { key, line: if to_its_end { u32::MAX } else { 0 }, at: 0 };
        (mark.head, mark.steps) = ((place, place), 0);
    }
}

/// Scrolls by a number of lines, down if positive.
pub(crate) fn scroll(state: &mut State, by: i64) {
    let Some(chat) = chat(state) else { return };
    chat.seek = None;
    chat.held = false;
    chat.view = match (chat.view, chat.drawn.top) {
        (View::At { key, line }, _) | (View::Mark { .. }, Some((key, line))) => {
            View::At { key, line: line.saturating_add(by) }
        }
        (view @ View::Mark { .. }, None) => view,
        (View::End, Some((key, line))) if by < 0 => View::At { key, line: line.saturating_add(by) },
        (View::End, _) => View::End,
    };
}
