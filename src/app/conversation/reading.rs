//! Reading: scrolling, jumping, folding the conversation that is shown.
//!
//! Only the drawing knows how long entries are, so scrolling moves a wish ([`View::At`] with any line), and what the next
//! frame reports makes it exact.

use crate::app::conversation::jump::{self, Way};
use crate::app::conversation::{colours, copy, mark, search};
use crate::app::effect::Effect;
use crate::app::shell::{scroll, session, trail};
use crate::app::state::chat::{Density, View};
use crate::app::state::search::Search;
use crate::app::state::{Focus, State};
use crate::domain::ids::SessionId;
use crate::domain::{Level, Notice};
use crate::keymap::action::ChatAction;
use crate::protocol::{Command, SessionCommand};

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
        ChatAction::PageUp => scroll::scroll(state, -page(state)),
        ChatAction::PageDown => scroll::scroll(state, page(state)),
        ChatAction::LineUp => scroll::scroll(state, -1),
        ChatAction::LineDown => scroll::scroll(state, 1),
        ChatAction::Top => to_top(state, fx),
        ChatAction::End => scroll::to_end(state, fx),
        ChatAction::Previous => jump::jump(state, Way::Up, |_| true),
        ChatAction::Next => jump::jump(state, Way::Down, |_| true),
        ChatAction::PreviousMessage => jump::jump(state, Way::Up, jump::is_user),
        ChatAction::NextMessage => jump::jump(state, Way::Down, jump::is_user),
        ChatAction::PreviousTool => jump::jump(state, Way::Up, jump::is_tool),
        ChatAction::NextTool => jump::jump(state, Way::Down, jump::is_tool),
        ChatAction::PreviousCode => jump::jump_code(state, Way::Up),
        ChatAction::NextCode => jump::jump_code(state, Way::Down),
        ChatAction::Mark => mark::begin(state),
        ChatAction::Fold => fold(state, fx),
        ChatAction::Copy if mark::copy(state) => {}
        ChatAction::Copy => copy::entry(state, fx),
        ChatAction::CopyCode => copy::code(state, fx),
        ChatAction::Open => copy::open(state, fx),
        ChatAction::EditFile => copy::edit_file(state, fx),
        ChatAction::Print => copy::print(state, fx),
        ChatAction::Beside => turn_sides(state),
        ChatAction::Density => next_density(state),
        ChatAction::Thinking => {
            if let Some(chat) = scroll::chat(state) {
                chat.thinking = !chat.thinking;
            }
        }
        ChatAction::Search => open_search(state),
        ChatAction::SearchNext if state.searches.conversation.is_none() && trail::walk_on(state, 1, fx) => {}
        ChatAction::SearchPrevious if state.searches.conversation.is_none() && trail::walk_on(state, -1, fx) => {}
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

pub(crate) fn set_density(state: &mut State, density: Density) {
    state.conversations.density = density;
    for open in state.conversations.open.values_mut() {
        open.chat.density = density;
        open.chat.toggled.clear();
        open.chat.colours.clear();
    }
    let words = match density {
        Density::Lines => "Tool output: one line per call",
        Density::Tails => "Tool output: its last lines",
        Density::Full => "Tool output: full",
    };
    state.notify(Notice::new(Level::Info, words));
}

/// Shows the beginning; where earlier rows are missing, the first ones are asked for.
fn to_top(state: &mut State, fx: &mut Vec<Effect>) {
    let id = state.current_id().cloned();
    if let Some(chat) = scroll::chat(state)
        && let (Some(id), true) = (id, chat.earlier.is_some())
    {
        // The beginning is far away: it is asked for.
        (chat.loading, chat.to_top, chat.around) = (true, true, Some(0));
        fx.push(Effect::Send(Command::Session { id, command: SessionCommand::OpenAt { at: 0, rows: session::ROWS } }));
    } else if let Some(chat) = scroll::chat(state)
        && let Some(first) = chat.entries.front()
    {
        let key = first.key;
        chat.view = View::At { key, line: 0 };
        scroll::extend_to(chat, key, false);
    }
}

/// Folds or unfolds the chosen entry. What a session that it spawned did is in that one.
fn fold(state: &mut State, fx: &mut Vec<Effect>) {
    // What it did is in its own session.
    if let Some(child) = spawned_at_cursor(state) {
        return session::open(state, &child, fx);
    }
    if let Some(chat) = scroll::chat(state)
        && let Some(key) = jump::at_cursor(chat)
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

/// Puts old and new of changes beside each other, or below.
fn turn_sides(state: &mut State) {
    let unified = !state.conversations.unified;
    state.conversations.unified = unified;
    for open in state.conversations.open.values_mut() {
        open.chat.unified = unified;
        open.chat.colours.clear();
    }
    let words = if unified { "Diffs: unified" } else { "Diffs: side by side where there is room" };
    state.notify(Notice::new(Level::Info, words));
}

/// The next detail of tool calls.
fn next_density(state: &mut State) {
    let next = match state.conversations.density {
        Density::Lines => Density::Tails,
        Density::Tails => Density::Full,
        Density::Full => Density::Lines,
    };
    set_density(state, next);
}

/// Opens the search in the conversation.
fn open_search(state: &mut State) {
    state.focus = Focus::Chat;
    state.screen.shown = Default::default();
    match &mut state.searches.conversation {
        Some(search) => search.typing = true,
        None => state.searches.conversation = Some(Search { typing: true, ..Search::default() }),
    }
}
