//! Jumps from entry to entry and from block to block of code.

use crate::app::conversation::copy;
use crate::app::msg::Target;
use crate::app::shell::scroll;
use crate::app::state::State;
use crate::app::state::chat::{Chat, Entry, View};
use crate::domain::message::Body;
use crate::domain::{Level, Notice};

/// A direction in the conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

pub(crate) fn is_user(entry: &Entry) -> bool {
    matches!(entry.message.body, Body::User(_))
}

pub(crate) fn is_tool(entry: &Entry) -> bool {
    matches!(entry.message.body, Body::Tool(_))
}

/// The entry that Enter and `y` act on: the one chosen, else the one at the top.
pub(crate) fn at_cursor(chat: &Chat) -> Option<i64> {
    chat.cursor
        .filter(|key| chat.entries.iter().any(|entry| entry.key == *key))
        .or_else(|| chat.drawn.top.map(|top| top.0))
        .or_else(|| chat.entries.back().map(|entry| entry.key))
}

/// Chooses the next entry in a direction that fits, and shows it. The first press chooses among those on the screen.
pub(crate) fn jump(state: &mut State, way: Way, fits: impl Fn(&Entry) -> bool) {
    let Some(chat) = scroll::chat(state) else { return };
    // Without a chosen entry one goes up from below the last, and down from the one at the top.
    let from = match (chat.cursor, way) {
        (Some(key), _) => key,
        (None, Way::Up) if chat.view == View::End => i64::MAX,
        (None, _) => chat.drawn.top.map_or(i64::MIN, |top| top.0),
    };
    let found = match way {
        Way::Up => chat.entries.iter().rev().find(|entry| entry.key < from && fits(entry)),
        Way::Down => chat.entries.iter().find(|entry| entry.key > from && fits(entry)),
    };
    if let Some(key) = found.map(|entry| entry.key) {
        return show(state, key);
    }
    // There may be one in what is not loaded: the end of what is leads there.
    let edge = match way {
        Way::Up if chat.earlier.is_some() => chat.entries.front(),
        Way::Down if chat.later.is_some() => chat.entries.back(),
        _ => None,
    };
    if let Some(key) = edge.map(|entry| entry.key) {
        chat.view = View::At { key, line: 0 };
    }
}

/// Chooses the next block of code in a direction, in the chosen entry and beyond it, and brings it on the screen.
pub(crate) fn jump_code(state: &mut State, way: Way) {
    let Some(chat) = scroll::chat(state) else { return };
    let last = chat.entries.len().saturating_sub(1);
    let from = match (chat.cursor.and_then(|key| chat.place(key)), way) {
        (Some(place), _) => Some((place, chat.block)),
        (None, Way::Up) if chat.view == View::End => None,
        (None, _) => chat.drawn.top.and_then(|top| chat.place(top.0)).map(|place| (place, None)),
    };
    let (place, block) = from.unwrap_or((last, None));
    // Without a block in focus one goes down to the first of the entry, and up from its end.
    let fits = |at: usize, number: u32| match (way, block) {
        (Way::Down, Some(block)) => at > place || number > block,
        (Way::Up, Some(block)) => at < place || number < block,
        (Way::Down, None) => true,
        (Way::Up, None) => from.is_none() || at < place || chat.cursor.is_some(),
    };
    let within = |at: usize| {
        let entry = chat.entries.get(at)?;
        // Only what is laid out as markdown has blocks that can be seen.
        let shown = matches!(entry.message.body, Body::Assistant(_) | Body::Plan(_));
        let mut blocks = if shown { copy::code_of(&entry.message.body) } else { Vec::new() };
        blocks.retain(|code| fits(at, code.number));
        let code = if way == Way::Down { blocks.first() } else { blocks.last() };
        code.map(|code| (entry.key, code.number))
    };
    let found = match way {
        Way::Down => (place..=last).find_map(within),
        Way::Up => (0..=place).rev().find_map(within),
    };
    let Some((key, number)) = found else {
        let where_to = if way == Way::Down { "further down" } else { "further up" };
        return state.notify(Notice::new(Level::Info, format!("No code block {where_to}")));
    };
    show(state, key);
    let Some(chat) = scroll::chat(state) else { return };
    (chat.block, chat.reveal) = (Some(number), true);
    if let (View::End, Some((key, line))) = (chat.view, chat.drawn.top) {
        chat.view = View::At { key, line };
    }
}

/// Chooses an entry and brings it on the screen where it is not.
pub(crate) fn show(state: &mut State, key: i64) {
    let seen = state.screen.frame.areas.iter().any(|(_, target)| *target == Target::Entry(key));
    let Some(chat) = scroll::chat(state) else { return };
    (chat.cursor, chat.block, chat.held) = (Some(key), None, false);
    scroll::extend_to(chat, key, false);
    if !seen {
        chat.view = View::At { key, line: 0 };
    }
}
