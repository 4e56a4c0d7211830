//! The list of sessions and the panes: moving, opening, filtering, and letters that may be the start of a text.

use crate::app::effect::Effect;
use crate::app::shell::{focus, session, session_changes, session_list};
use crate::app::state::sessions::{Cursor, Facet, Filter, Group, Wish};
use crate::app::state::{Focus, State};
use crate::domain::{Level, Notice};
use crate::keymap::action::ListAction;
use crate::protocol::{Command, EngineCommand};

pub(crate) fn act(state: &mut State, verb: ListAction, fx: &mut Vec<Effect>) {
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
            Some(Cursor::Heading(group)) => session_list::fold(state, &group, false, fx),
            _ => {}
        },
        ListAction::New => session::new(state, fx),
        ListAction::Filter => {
            session_list::focus_list(state);
            state.sessions.filter.get_or_insert_with(Filter::default).typing = true;
        }
        // The router opens these.
        ListAction::Rename | ListAction::Filters => {}
        ListAction::All => {
            state.sessions.clear_filter(state.clock.now, state.clock.utc_offset);
            session_list::keep_face(state, fx);
        }
        ListAction::Archived => {
            let wish =
                if state.sessions.facets().wish(&Facet::Archived) == Wish::Only { Wish::None } else { Wish::Only };
            session_list::set_facet(state, Facet::Archived, wish, fx);
        }
        ListAction::Group => {
            let next = state.sessions.grouping().next();
            state.sessions.group_by(next, state.clock.now, state.clock.utc_offset);
            state.notify(Notice::new(Level::Info, format!("Sessions: {}", next.shown())));
            session_list::keep_face(state, fx);
        }
        ListAction::Fold => {
            if let Some(group) = state.sessions.group_at_cursor() {
                session_list::fold(state, &group, true, fx);
            }
        }
        ListAction::Unfold => {
            if let Some(Cursor::Heading(group)) = state.sessions.cursor().cloned() {
                session_list::fold(state, &group, false, fx);
            }
        }
        ListAction::FoldAll => {
            if state.sessions.fold_all() {
                session_list::keep_face(state, fx);
            }
        }
        ListAction::Mark => match state.sessions.cursor().cloned() {
            Some(Cursor::Session(id)) => {
                state.sessions.marks.toggle(&id);
                state.sessions.step(1);
            }
            Some(Cursor::Heading(group)) => session_list::fold(state, &group, false, fx),
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
        ListAction::Undo => session_changes::undo(state, fx),
    }
    session_list::keep_in_sight(state);
}

fn begin_range(state: &mut State) {
    if let Some(id) = state.sessions.selected().cloned() {
        state.sessions.marks.begin(&id);
    }
}

/// A click on a heading folds its group, or unfolds it.
pub(crate) fn press_heading(state: &mut State, group: &Group, fx: &mut Vec<Effect>) {
    focus::give_back(state);
    state.focus = Focus::List;
    let folded = state.sessions.band(group).is_some_and(|band| band.folded);
    session_list::fold(state, group, !folded, fx);
}

/// Esc in the list: first the marks go, then what narrows it. Whether there was anything.
pub(crate) fn back(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    if !state.sessions.filter_open() && state.sessions.marks.clear() {
        return true;
    }
    if state.sessions.filter.take().is_some() {
        state.arrange();
        session_list::keep_in_sight(state);
        return true;
    }
    let any = state.sessions.clear_filter(state.clock.now, state.clock.utc_offset);
    if any {
        session_list::keep_face(state, fx);
        session_list::keep_in_sight(state);
    }
    any
}

/// The list is asked for again when the user comes back and it is older than so many milliseconds: other processes may
/// have changed it.
const FRESH: u64 = 5_000;

/// The terminal got or lost the focus of its window system.
pub(crate) fn focused(state: &mut State, focused: bool, fx: &mut Vec<Effect>) {
    let came = focused && !state.terminal.focused;
    state.terminal.focused = focused;
    if came && state.sessions.loaded && state.clock.now.since(state.sessions.listed_at) > FRESH {
        // Not twice before the answer.
        state.sessions.listed_at = state.clock.now;
        fx.push(Effect::Send(Command::Engine(EngineCommand::List)));
    }
}

/// Enter in the filter: it stays in force, and the list has the keys again.
pub(crate) fn accept_filter(state: &mut State, fx: &mut Vec<Effect>) {
    let unknown = state.sessions.unknown_facets();
    if let Some(first) = unknown.first() {
        let text = format!("Unknown filter: {first}");
        let hint = format!("{} lists filters", state.keys.key_for(ListAction::Filters));
        state.notify(Notice::new(Level::Warning, text).hint(hint));
    }
    let before = state.sessions.kept();
    state.sessions.accept_filter(state.clock.now, state.clock.utc_offset);
    if state.sessions.kept() != before {
        session_list::keep_face(state, fx);
    }
    if state.sessions.cursor_row().is_none() {
        state.sessions.step(isize::MIN);
    }
    session_list::keep_in_sight(state);
}
