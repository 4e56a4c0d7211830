//! The list of sessions and the panes: moving, opening, filtering, and letters that may be the start of a text.

use super::{act as do_action, change, input, overlay, session};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::picker::{Kind, Value};
use crate::app::state::sessions::{Cursor, Facet, Filter, Group, HeldLetter, Wish};
use crate::app::state::{Focus, Shown, State, panes};
use crate::domain::contract::Command;
use crate::domain::{Level, Notice};
use crate::keymap::action::{Action, ListAction, PaneAction};
use crate::keymap::key::{Code, Key};

/// Milliseconds after which a letter in the list acts, unless a different letter follows.
pub(super) const LETTER: u64 = 150;

pub(super) fn act(state: &mut State, verb: ListAction, fx: &mut Vec<Effect>) {
    let page = isize::try_from(state.list_height().saturating_sub(1).max(1)).unwrap_or(1);
    match verb {
        ListAction::Up => state.sessions.step(-1),
        ListAction::Down => state.sessions.step(1),
        ListAction::PageUp => state.sessions.step(-page),
        ListAction::PageDown => state.sessions.step(page),
        ListAction::First => state.sessions.step(isize::MIN),
        ListAction::Last => state.sessions.step(isize::MAX),
        ListAction::Open => match state.sessions.cursor().cloned() {
            Some(Cursor::Session(id)) if state.sessions.is_shown(&id) => session::open(state, &id, fx),
            Some(Cursor::Heading(group)) => fold(state, &group, false, fx),
            _ => {}
        },
        ListAction::New => session::new(state, fx),
        ListAction::Rename => overlay::rename(state, state.sessions.selected().cloned()),
        ListAction::Filter => {
            focus_list(state);
            state.sessions.filter.get_or_insert_with(Filter::default).typing = true;
        }
        ListAction::Filters => filters(state),
        ListAction::All => {
            state.sessions.clear_filter(state.now, state.utc_offset);
            keep_face(state, fx);
        }
        ListAction::Archived => {
            let wish =
                if state.sessions.facets().wish(&Facet::Archived) == Wish::Only { Wish::None } else { Wish::Only };
            set_facet(state, Facet::Archived, wish, fx);
        }
        ListAction::Group => {
            let next = state.sessions.grouping().next();
            state.sessions.group_by(next, state.now, state.utc_offset);
            state.notify(Notice::new(Level::Info, format!("Sessions: {}", next.shown())));
            keep_face(state, fx);
        }
        ListAction::Fold => {
            if let Some(group) = state.sessions.group_at_cursor() {
                fold(state, &group, true, fx);
            }
        }
        ListAction::Unfold => {
            if let Some(Cursor::Heading(group)) = state.sessions.cursor().cloned() {
                fold(state, &group, false, fx);
            }
        }
        ListAction::FoldAll => {
            if state.sessions.fold_all() {
                keep_face(state, fx);
            }
        }
        ListAction::Mark => match state.sessions.cursor().cloned() {
            Some(Cursor::Session(id)) => {
                state.sessions.marks.toggle(&id);
                state.sessions.step(1);
            }
            Some(Cursor::Heading(group)) => fold(state, &group, false, fx),
            None => state.sessions.step(0),
        },
        ListAction::MarkRange if state.sessions.marks.is_range() => state.sessions.marks.end(),
        ListAction::MarkRange => begin_range(state),
        ListAction::MarkUp | ListAction::MarkDown => {
            if !state.sessions.marks.is_range() {
                begin_range(state);
            }
            state.sessions.step(if verb == ListAction::MarkUp { -1 } else { 1 });
        }
        ListAction::MarkGroup => state.sessions.mark_group(),
        ListAction::MarkAll => state.sessions.mark_all(),
        ListAction::Undo => change::undo(state, fx),
    }
    keep_in_sight(state);
}

fn begin_range(state: &mut State) {
    if let Some(id) = state.sessions.selected().cloned() {
        state.sessions.marks.begin(&id);
    }
}

/// Saves the screen state for the next start.
pub(super) fn keep_face(state: &State, fx: &mut Vec<Effect>) {
    fx.push(Effect::KeepFace(Box::new(state.kept())));
}

/// Folds or unfolds a group of the list.
pub(super) fn fold(state: &mut State, group: &Group, folded: bool, fx: &mut Vec<Effect>) {
    if state.sessions.fold(group, folded) {
        keep_face(state, fx);
    }
}

/// A click on a heading folds its group, or unfolds it.
pub(super) fn press_heading(state: &mut State, group: &Group, fx: &mut Vec<Effect>) {
    super::panel::give_back(state);
    state.focus = Focus::List;
    let folded = state.sessions.band(group).is_some_and(|band| band.folded);
    fold(state, group, !folded, fx);
}

fn set_facet(state: &mut State, facet: Facet, wish: Wish, fx: &mut Vec<Effect>) {
    state.sessions.set_facet(facet, wish, state.now, state.utc_offset);
    keep_face(state, fx);
}

/// Offers what the list can be filtered by. Chosen once, only those are listed; once more, all but those; then all.
fn filters(state: &mut State) {
    let sessions = &state.sessions;
    let facets = sessions.facets();
    let mut items = Vec::new();
    if sessions.is_filtered() {
        items.push(overlay::item("all sessions", "no filter", Value::Act(ListAction::All.into())));
    }
    let catalogue = sessions.catalogue();
    let plain = Facet::PLAIN.into_iter().map(|facet| (0, facet));
    let statuses = catalogue.statuses().into_iter().map(|entry| (0, Facet::Status(entry.id.to_string())));
    let labels = catalogue.labels().into_iter().map(|entry| (entry.depth, Facet::Label(entry.id.to_string())));
    let views = catalogue.views().iter().map(|view| (0, Facet::View(view.id.clone())));
    for (depth, facet) in plain.chain(views).chain(statuses).chain(labels) {
        let detail = match facets.wish(&facet) {
            Wish::None => facet.kind_word(),
            Wish::Only => "only these; again: all but these",
            Wish::Without => "left out; again: listed",
        };
        let label = format!("{}{}", "  ".repeat(depth), facet.shown(catalogue));
        items.push(overlay::item(label, detail, Value::Facet(facet)));
    }
    overlay::open_picker(state, Kind::Filter, items, 0);
}

/// A facet was chosen from those that are offered: the list has the keys again.
pub(super) fn choose_facet(state: &mut State, facet: Facet, fx: &mut Vec<Effect>) {
    let wish = match state.sessions.facets().wish(&facet) {
        Wish::None => Wish::Only,
        Wish::Only => Wish::Without,
        Wish::Without => Wish::None,
    };
    set_facet(state, facet, wish, fx);
    focus_list(state);
}

/// Esc in the list: first the marks go, then what narrows it. Whether there was anything.
pub(super) fn back(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    if !state.sessions.filter_open() && state.sessions.marks.clear() {
        return true;
    }
    if state.sessions.filter.take().is_some() {
        state.arrange();
        keep_in_sight(state);
        return true;
    }
    let any = state.sessions.clear_filter(state.now, state.utc_offset);
    if any {
        keep_face(state, fx);
        keep_in_sight(state);
    }
    any
}

/// The list is asked for again when the user comes back and it is older than so many milliseconds: other processes may
/// have changed it.
const FRESH: u64 = 5_000;

/// The terminal got or lost the focus of its window system.
pub(super) fn focused(state: &mut State, focused: bool, fx: &mut Vec<Effect>) {
    let came = focused && !state.terminal.focused;
    state.terminal.focused = focused;
    if came && state.sessions.loaded && state.now.since(state.sessions.listed_at) > FRESH {
        // Not twice before the answer.
        state.sessions.listed_at = state.now;
        fx.push(Effect::Send(Command::List));
    }
}

/// Scrolls the list so that its selected row is on the screen.
pub(super) fn keep_in_sight(state: &mut State) {
    let height = state.list_height();
    state.sessions.follow(height);
}

/// Enter in the filter: it stays in force, and the list has the keys again.
pub(super) fn accept_filter(state: &mut State, fx: &mut Vec<Effect>) {
    let unknown = state.sessions.unknown_facets();
    if let Some(first) = unknown.first() {
        let text = format!("{first} is not known here.");
        let hint = format!("{} shows what can be filtered by", state.keys.key_for(ListAction::Filters));
        state.notify(Notice::new(Level::Warning, text).hint(hint));
    }
    let before = state.sessions.kept();
    state.sessions.accept_filter(state.now, state.utc_offset);
    if state.sessions.kept() != before {
        keep_face(state, fx);
    }
    if state.sessions.cursor_row().is_none() {
        state.sessions.step(isize::MIN);
    }
    keep_in_sight(state);
}

pub(super) fn focus_list(state: &mut State) {
    super::panel::give_back(state);
    state.focus = Focus::List;
    state.shown = Shown::List;
    if state.sessions.cursor_row().is_none() {
        match state.current_id().cloned() {
            Some(id) => state.sessions.select(&id),
            None => state.sessions.step(0),
        }
    }
    state.sessions.rest();
    keep_in_sight(state);
}

pub(super) fn pane(state: &mut State, verb: PaneAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        PaneAction::Wider | PaneAction::Narrower => {
            // From what is on the screen now.
            let now = state.frame.list_cells.max(panes::LEAST);
            let cells = match verb {
                PaneAction::Wider => now.saturating_add(panes::STEP),
                _ => now.saturating_sub(panes::STEP),
            };
            state.panes.list = panes::Show::Yes;
            state.panes.resize(cells, state.size.width);
            keep_face(state, fx);
        }
        PaneAction::List => {
            state.panes.list = state.panes.list.other();
            pane_gone(state);
            keep_face(state, fx);
        }
        PaneAction::Details => {
            state.panes.details = state.panes.details.other();
            if state.size.width < WIDEST && state.panes.details == panes::Show::Yes {
                let text = format!("The details are shown from {WIDEST} columns on.");
                state.notify(Notice::new(Level::Info, text));
            }
            keep_face(state, fx);
        }
        PaneAction::OnlyChat => {
            state.panes.only_chat = !state.panes.only_chat;
            pane_gone(state);
        }
        PaneAction::Next => {
            // Tab belongs to the text as long as there is one.
            let tab = key.is_some_and(|key| key.code == Code::Tab);
            let writing = matches!(state.focus, Focus::Composer | Focus::Panel) && !state.composer().is_empty();
            if (tab && writing) || !state.overlays.is_empty() {
                return;
            }
            match state.focus {
                Focus::Composer | Focus::Panel => focus_list(state),
                Focus::List => (state.focus, state.shown) = (Focus::Chat, Shown::Chat),
                Focus::Chat => state.focus = Focus::Composer,
            }
        }
        PaneAction::Swap => match state.shown {
            _ if !state.overlays.is_empty() => {}
            Shown::Chat => focus_list(state),
            Shown::List => (state.focus, state.shown) = (Focus::Composer, Shown::Chat),
        },
    }
}

/// Width from which the details have a pane.
const WIDEST: u16 = 160;

/// A list that is gone from the screen has no focus.
fn pane_gone(state: &mut State) {
    if !state.panes.lists() && state.focus == Focus::List {
        (state.focus, state.shown) = (Focus::Composer, Shown::Chat);
    }
}

/// Takes a key that comes while the list has the focus: whether it is a letter that waits, or ends the waiting of one.
/// Anything but a different letter lets the waiting one act first.
pub(super) fn letter(state: &mut State, action: Option<Action>, key: Key, fx: &mut Vec<Effect>) -> bool {
    let in_list = state.focus == Focus::List && state.overlays.is_empty() && !state.sessions.filter_open();
    if !in_list {
        state.sessions.held = None;
        return false;
    }
    let letter = input::is_letter(key);
    if let Some(held) = state.sessions.held.take() {
        let typing = letter && held.key != key && state.now.since(held.at) < LETTER;
        if typing {
            fx.push(Effect::Disarm(Timer::ListLetter));
            state.focus = Focus::Composer;
            state.shown = Shown::Chat;
            for c in [held.key, key].into_iter().filter_map(Key::printable) {
                state.composer_mut().type_char(c);
            }
            return true;
        }
        if letter && held.key == key {
            // A key that repeats by itself acts once.
            state.sessions.held = Some(held);
            return true;
        }
        fx.push(Effect::Disarm(Timer::ListLetter));
        do_action(state, held.action, Some(held.key), fx);
        if state.focus != Focus::List || !state.overlays.is_empty() {
            // The key was pressed for the list, and what it meant there has no meaning here.
            return true;
        }
    }
    match action {
        Some(action) if letter && !matches!(key.code, Code::Char('j' | 'k' | 'g' | 'G')) => {
            state.sessions.held = Some(HeldLetter { key, action, at: state.now });
            fx.push(Effect::Arm { timer: Timer::ListLetter, ms: LETTER });
            true
        }
        _ => false,
    }
}

/// The time of the waiting letter is over: it acts.
pub(super) fn release_letter(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(held) = state.sessions.held.take()
        && state.focus == Focus::List
        && state.overlays.is_empty()
    {
        do_action(state, held.action, Some(held.key), fx);
    }
}
