//! Reading: scrolling, jumping, folding, copying, searching the conversation that is shown.
//!
//! Only the drawing knows how long entries are, so scrolling moves a wish ([`View::At`] with any line), and what the next
//! frame reports makes it exact.

use super::{colours, copy, find, gallery, mark, session};
use crate::app::effect::Effect;
use crate::app::msg::{Frame, Target};
use crate::app::state::chat::{self, Chat, Density, Entry, View};
use crate::app::state::search::Search;
use crate::app::state::{Focus, State};
use crate::domain::attachment::Attachment;
use crate::domain::contract::Command;
use crate::domain::ids::SessionId;
use crate::domain::message::Body;
use crate::domain::{Level, Notice};
use crate::keymap::action::ChatAction;

/// Takes in the facts that the last frame found out.
pub(super) fn drawn(state: &mut State, mut frame: Frame, fx: &mut Vec<Effect>) {
    colours::wanted(state, std::mem::take(&mut frame.code), fx);
    gallery::wanted(state, std::mem::take(&mut frame.pictures), fx);
    let found = frame.chat;
    mark::drawn(state, &mut frame.marked, fx);
    let rows_changed = state.frame.list_rows != frame.list_rows;
    let hidden = frame.panel_hidden;
    let asked = |frame: &Frame| frame.panel.as_ref().map(|(request, _)| request.clone());
    if asked(&state.frame) != asked(&frame) {
        state.moments.panel_seen = state.now;
    }
    state.frame = frame;
    if rows_changed {
        let height = state.list_height();
        state.sessions.follow(height);
    }
    let Some(id) = state.current_id().cloned() else { return };
    let (Some(drawn), Some(open)) = (found, state.open.get_mut(&id)) else { return };
    if let Some(panel) = open.panel.as_mut() {
        panel.scroll = panel.scroll.min(hidden);
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
        fx.push(Effect::Send(Command::Later { session: id, cursor, rows: session::ROWS }));
        return;
    }
    if let (true, Some(cursor), false) = (drawn.at_top, chat.earlier, chat.loading || !open.loaded) {
        chat.loading = true;
        fx.push(Effect::Send(Command::Earlier { session: id, cursor, rows: session::ROWS }));
    }
}

/// The session that the call at the cursor spawned.
fn spawned_at_cursor(state: &State) -> Option<SessionId> {
    let chat = &state.current_open()?.chat;
    let entry = chat.entries.iter().find(|entry| Some(entry.key) == chat.cursor)?;
    let child = entry.message.tool()?.figures.child.as_ref()?;
    state.sessions.meta(&child.session).map(|meta| meta.id.clone())
}

pub(super) fn act(state: &mut State, verb: ChatAction, fx: &mut Vec<Effect>) {
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
            if let Some(chat) = chat(state)
                && let (Some(id), true) = (id, chat.earlier.is_some())
            {
                // The beginning is far away: it is asked for.
                (chat.loading, chat.to_top, chat.around) = (true, true, Some(0));
                fx.push(Effect::Send(Command::OpenAt { session: id, at: 0, rows: session::ROWS }));
            } else if let Some(chat) = self::chat(state)
                && let Some(first) = chat.entries.front()
            {
                let key = first.key;
                chat.view = View::At { key, line: 0 };
                mark::extend_to(chat, key, false);
            }
        }
        ChatAction::End => to_end(state, fx),
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
            if let Some(chat) = chat(state)
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
            if let Some(chat) = chat(state) {
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
        ChatAction::SearchNext if state.search.is_none() && find::walk_on(state, 1, fx) => {}
        ChatAction::SearchPrevious if state.search.is_none() && find::walk_on(state, -1, fx) => {}
        ChatAction::SearchNext => walk_hits(state, Way::Down),
        ChatAction::SearchPrevious => walk_hits(state, Way::Up),
    }
}

/// Shows the end and follows it; where later rows are missing, the last ones are asked for.
pub(super) fn to_end(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    let Some(chat) = chat(state) else { return };
    chat.view = View::End;
    (chat.cursor, chat.block) = (None, None);
    (chat.seek, chat.to_top) = (None, false);
    if let Some(last) = chat.entries.back().map(|entry| entry.key) {
        mark::extend_to(chat, last, true);
    }
    if chat.later.is_some() {
        chat.loading = true;
        fx.push(Effect::Send(Command::Open { session: id, rows: session::ROWS }));
    }
}

/// A direction in the conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

fn chat(state: &mut State) -> Option<&mut Chat> {
    state.current_open_mut().map(|open| &mut open.chat)
}

/// The files of the chosen message; without one those of the last message that has some.
pub(super) fn files(state: &State) -> Vec<Attachment> {
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
pub(super) fn scroll(state: &mut State, by: i64) {
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

/// The entry that Enter and `y` act on: the one chosen, else the one at the top.
fn at_cursor(chat: &Chat) -> Option<i64> {
    chat.cursor
        .filter(|key| chat.entries.iter().any(|entry| entry.key == *key))
        .or_else(|| chat.drawn.top.map(|top| top.0))
        .or_else(|| chat.entries.back().map(|entry| entry.key))
}

/// Chooses the next entry in a direction that fits, and shows it. The first press chooses among those on the screen.
fn jump(state: &mut State, way: Way, fits: impl Fn(&Entry) -> bool) {
    let Some(chat) = chat(state) else { return };
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
    let Some(chat) = chat(state) else { return };
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
    let Some(chat) = self::chat(state) else { return };
    (chat.block, chat.reveal) = (Some(number), true);
    if let (View::End, Some((key, line))) = (chat.view, chat.drawn.top) {
        chat.view = View::At { key, line };
    }
}

/// Chooses an entry and brings it on the screen where it is not.
fn show(state: &mut State, key: i64) {
    let seen = state.frame.areas.iter().any(|(_, target)| *target == Target::Entry(key));
    let Some(chat) = chat(state) else { return };
    (chat.cursor, chat.block, chat.held) = (Some(key), None, false);
    mark::extend_to(chat, key, false);
    if !seen {
        chat.view = View::At { key, line: 0 };
    }
}

pub(super) fn set_density(state: &mut State, density: Density) {
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

/// Finds the hits of an open search anew.
pub(super) fn search_again(state: &mut State) {
    let Some(mut search) = state.search.take() else { return };
    if let Some(open) = state.current_open() {
        search.find(&open.chat);
    }
    let typed = search.typing && search.at.is_none();
    state.search = Some(search);
    if typed {
        walk_hits(state, Way::Up);
    }
}

/// Enter in the search: from now on n and N walk the hits.
pub(super) fn accept_search(state: &mut State) {
    if state.search.as_ref().is_some_and(|search| search.query.text().is_empty()) {
        state.search = None;
    } else if let Some(search) = &mut state.search {
        search.typing = false;
    }
}

/// The next hit, down for more than 0.
pub(super) fn step_hits(state: &mut State, by: isize) {
    walk_hits(state, if by < 0 { Way::Up } else { Way::Down });
}

/// To the next hit in a direction, around the ends.
fn walk_hits(state: &mut State, way: Way) {
    let Some(search) = &mut state.search else { return };
    let Some(last) = search.hits.len().checked_sub(1) else { return };
    let at = match (search.at, way) {
        (Some(0), Way::Up) | (None, Way::Up) => last,
        (Some(at), Way::Up) => at - 1,
        (Some(at), Way::Down) if at < last => at + 1,
        (_, Way::Down) => 0,
    };
    search.at = Some(at);
    if let Some(key) = search.hits.get(at).copied() {
        show(state, key);
    }
}
