//! Facts that the last frame found out.

use crate::app::conversation::{colours, mark, pictures};
use crate::app::effect::Effect;
use crate::app::msg::Frame;
use crate::app::shell::session;
use crate::app::state::State;
use crate::app::state::chat::{self, View};
use crate::protocol::{Command, SessionCommand};

/// Takes in the facts that the last frame found out.
pub(crate) fn drawn(state: &mut State, mut frame: Frame, fx: &mut Vec<Effect>) {
    colours::wanted(state, std::mem::take(&mut frame.code), fx);
    pictures::wanted(state, std::mem::take(&mut frame.pictures), fx);
    let found = frame.chat;
    mark::drawn(state, &mut frame.marked, fx);
    let rows_changed = state.screen.frame.list_rows != frame.list_rows;
    let hidden = frame.panel_hidden;
    let asked = |frame: &Frame| frame.panel.as_ref().map(|(request, _)| request.clone());
    if asked(&state.screen.frame) != asked(&frame) {
        state.input.moments.panel_seen = state.clock.now;
    }
    state.screen.frame = frame;
    if rows_changed {
        let height = state.list_height();
        state.sessions.follow(height);
    }
    let Some(id) = state.current_id().cloned() else { return };
    let (Some(drawn), Some(open)) = (found, state.conversations.open.get_mut(&id)) else { return };
    if let Some(panel) = open.panel.as_mut() {
        panel.scroll = panel.scroll.map(|scroll| scroll.min(hidden));
    }
    let chat = &mut open.chat;
    let bottom = drawn.at_end;
    // The end of what is loaded is not the end while later rows are missing.
    chat.drawn = chat::Drawn { at_end: bottom && chat.later.is_none(), ..drawn };
    if let (View::At { .. } | View::Mark { .. }, Some((key, line))) = (chat.view, drawn.top) {
        // Who scrolls to the end follows it from there on.
        // What is marked stays where it is.
        let follows = chat.drawn.at_end && chat.mark.is_none();
        chat.view = if follows { View::End } else { View::At { key, line } };
    }
    chat.reveal = false;
    if let (true, Some(cursor), false) = (bottom, chat.later, chat.loading || !open.loaded) {
        chat.loading = true;
        fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Later { cursor, rows: session::ROWS } }));
        return;
    }
    if let (true, Some(cursor), false) = (drawn.at_top, chat.earlier, chat.loading || !open.loaded) {
        chat.loading = true;
        fx.push(Effect::Send(Command::Session {
            id,
            command: SessionCommand::Earlier { cursor, rows: session::ROWS },
        }));
    }
}
