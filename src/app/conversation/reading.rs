//! Reading: scrolling, jumping, folding the conversation that is shown.
//!
//! Only the drawing knows how long entries are, so scrolling moves a wish ([`View::At`] with any line), and what the next
//! frame reports makes it exact.

use crate::app::conversation::{colours, copy, mark, search};
use crate::app::effect::Effect;
use crate::app::msg::Target;
use crate::app::shell::{scroll, session, trail};
use crate::app::state::chat::{Chat, Density, Entry, View};
use crate::app::state::search::Search;
use crate::app::state::{Focus, State};
use crate::domain::attachment::Attachment;
use crate::domain::contract::Command;
use crate::domain::ids::SessionId;
use crate::domain::message::Body;
use crate::domain::{Level, Notice};
use crate::keymap::action::ChatAction;

pub(crate) fn act(state: &mut State, verb: ChatAction, fx: &mut Vec<Effect>) {
    let page = |state: &State| {
        let height = state.current_open().map_or(0, |open| open.chat.drawn.height);
        i64::from(height.saturating_sub(1).max(1))
    };
    let marks = match verb {
        ChatAction::PageUp => mark::extend(state, -page(state)),
        ChatAction::PageDown => mark::extend(state, page(state)),
        ChatAction::LineUp => mark::extend(state, -1),
        ChatAction::LineDown => mark::extend(state, 1),
        _ => false,
    };
    if marks {
        return;
    }
    match verb {
        ChatAction::PageUp => scroll(state, -page(state)),
        ChatAction::PageDown => scroll(state, page(state)),
        ChatAction::LineUp => scroll(state, -1),
        ChatAction::LineDown => scroll(state, 1),
        ChatAction::Top => {
            let id = state.current_id().cloned();
            if let Some(chat) = scroll::chat(state)
                && let (Some(id), true) = (id, chat.earlier.is_some())
            {
                // The beginning is far away: it is asked for.
                (chat.loading, chat.to_top, chat.around) = (true, true, Some(0));
                fx.push(Effect::Send(Command::OpenAt { session: id, at: 0, rows: session::ROWS }));
            } else if let Some(chat) = scroll::chat(state)
                && let Some(first) = chat.entries.front()
            {
                let key = first.key;
                chat.view = View::At { key, line: 0 };
                scroll::extend_to(chat, key, false);
            }
        }
        ChatAction::End => scroll::to_end(state, fx),
        ChatAction::Previous => jump(state, Way::Up, |_| true),
        ChatAction::Next => jump(state, Way::Down, |_| true),
        ChatAction::PreviousMessage => jump(state, Way::Up, is_user),
        ChatAction::NextMessage => jump(state, Way::Down, is_user),
        ChatAction::PreviousTool => jump(state, Way::Up, is_tool),
        ChatAction::NextTool => jump(state, Way::Down, is_tool),
        ChatAction::PreviousCode => jump_code(state, Way::Up),
        ChatAction::NextCode => jump_code(state, Way::Down),
        ChatAction::Mark => mark::begin(state),
        ChatAction::Fold => {
            // What it did is in its own session.
            if let Some(child) = spawned_at_cursor(state) {
                return session::open(state, &child, fx);
            }
            if let Some(chat) = scroll::chat(state)
                && let Some(key) = at_cursor(chat)
            {
                // What unfolds grows downwards: following the end would take away the line that was just looked at.
                if let (View::End, Some((top, line))) = (chat.view, chat.drawn.top) {
                    chat.view = View::At { key: top, line };
                }
                colours::forget(chat, key);
                if !chat.toggled.remove(&key) {
                    chat.toggled.insert(key);
                }
            }
        }
        ChatAction::Copy if mark::copy(state) => {}
        ChatAction::Copy => copy::entry(state, fx),
        ChatAction::CopyCode => copy::code(state, fx),
        ChatAction::Open => copy::open(state, fx),
        ChatAction::EditFile => copy::edit_file(state, fx),
        ChatAction::Print => copy::print(state, fx),
        ChatAction::Beside => {
            let unified = !state.unified;
            state.unified = unified;
            for open in state.open.values_mut() {
                open.chat.unified = unified;
                open.chat.colours.clear();
            }
            let words = if unified {
                "Changes: old and new below each other."
            } else {
                "Changes: old and new beside each other where there is room."
            };
            state.notify(Notice::new(Level::Info, words));
        }
        ChatAction::Density => {
            let next = match state.density {
                Density::Lines => Density::Tails,
                Density::Tails => Density::Full,
                Density::Full => Density::Lines,
            };
            set_density(state, next);
        }
        ChatAction::Thinking => {
            if let Some(chat) = scroll::chat(state) {
                chat.thinking = !chat.thinking;
            }
        }
        ChatAction::Search => {
            state.focus = Focus::Chat;
            state.shown = Default::default();
            match &mut state.search {
                Some(search) => search.typing = true,
                None => state.search = Some(Search { typing: true, ..Search::default() }),
            }
        }
        ChatAction::SearchNext if state.search.is_none() && trail::walk_on(state, 1, fx) => {}
        ChatAction::SearchPrevious if state.search.is_none() && trail::walk_on(state, -1, fx) => {}
        ChatAction::SearchNext => search::walk_hits(state, Way::Down),
        ChatAction::SearchPrevious => search::walk_hits(state, Way::Up),
    }
}

/// The session that the call at the cursor spawned.
fn spawned_at_cursor(state: &State) -> Option<SessionId> {
    let chat = &state.current_open()?.chat;
    let entry = chat.entries.iter().find(|entry| Some(entry.key) == chat.cursor)?;
    let child = entry.message.tool()?.figures.child.as_ref()?;
    state.sessions.meta(&child.session).map(|meta| meta.id.clone())
}

/// A direction in the conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// The files of the chosen message; without one those of the last message that has some.
pub(crate) fn files(state: &State) -> Vec<Attachment> {
    let Some(chat) = state.current_open().map(|open| &open.chat) else { return Vec::new() };
    let of = |entry: &Entry| match &entry.message.body {
        Body::User(said) if !said.attachments.is_empty() => Some(said.attachments.clone()),
        _ => None,
    };
    let chosen = chat.entries.iter().find(|entry| chat.cursor == Some(entry.key)).and_then(of);
    chosen.or_else(|| chat.entries.iter().rev().find_map(of)).unwrap_or_default()
}

fn is_user(entry: &Entry) -> bool {
    matches!(entry.message.body, Body::User(_))
}

fn is_tool(entry: &Entry) -> bool {
    matches!(entry.message.body, Body::Tool(_))
}

/// Scrolls by a number of lines, down if positive.
pub(crate) fn scroll(state: &mut State, by: i64) {
    let Some(chat) = scroll::chat(state) else { return };
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

/// The entry that Enter and `y` act on: the one chosen, else the one at the top.
fn at_cursor(chat: &Chat) -> Option<i64> {
    chat.cursor
        .filter(|key| chat.entries.iter().any(|entry| entry.key == *key))
        .or_else(|| chat.drawn.top.map(|top| top.0))
        .or_else(|| chat.entries.back().map(|entry| entry.key))
}

/// Chooses the next entry in a direction that fits, and shows it. The first press chooses among those on the screen.
fn jump(state: &mut State, way: Way, fits: impl Fn(&Entry) -> bool) {
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
fn jump_code(state: &mut State, way: Way) {
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
        return state.notify(Notice::new(Level::Info, format!("There is no block of code {where_to}.")));
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
    let seen = state.frame.areas.iter().any(|(_, target)| *target == Target::Entry(key));
    let Some(chat) = scroll::chat(state) else { return };
    (chat.cursor, chat.block, chat.held) = (Some(key), None, false);
    scroll::extend_to(chat, key, false);
    if !seen {
        chat.view = View::At { key, line: 0 };
    }
}

pub(crate) fn set_density(state: &mut State, density: Density) {
    state.density = density;
    for open in state.open.values_mut() {
        open.chat.density = density;
        open.chat.toggled.clear();
        open.chat.colours.clear();
    }
    let words = match density {
        Density::Lines => "Tool calls: one line each.",
        Density::Tails => "Tool calls: with their last lines.",
        Density::Full => "Tool calls: everything.",
    };
    state.notify(Notice::new(Level::Info, words));
}
