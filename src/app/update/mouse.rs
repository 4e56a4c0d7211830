//! The mouse: a click does what stands there, the wheel scrolls what lies under it. Nothing is answered by a click.

use crate::app::composer::{attach, chips, completion};
use crate::app::conversation::mark;
use crate::app::effect::Effect;
use crate::app::msg::{Mouse, MouseKind, Target};
use crate::app::overlays::{keys, queue};
use crate::app::panels::answers;
use crate::app::sessions::list;
use crate::app::shell::{focus, scroll, session, session_list};
use crate::app::state::overlay::Overlay;
use crate::app::state::{Focus, State};
use crate::app::update::dispatch;
use crate::keymap::action::{ChatAction, ModeAction, SessionAction, TurnAction};

/// Lines for a notch of the wheel.
const NOTCH: i64 = 3;

pub(super) fn mouse(state: &mut State, mouse: Mouse, fx: &mut Vec<Effect>) {
    let target = state.screen.frame.at(mouse.col, mouse.row).cloned();
    if mouse.kind == MouseKind::Press {
        state.input.pressed = state.input.pressed.filter(|pressed| pressed.cell == (mouse.col, mouse.row));
        mark::clear(state);
    }
    match mouse.kind {
        MouseKind::Press if target == Some(Target::Rule) && state.overlays.is_empty() => state.screen.dragging = true,
        MouseKind::Press => press(state, mouse, target, fx),
        MouseKind::Drag if state.screen.dragging => state.screen.panes.resize(mouse.col, state.screen.size.width),
        MouseKind::Release if state.screen.dragging => {
            state.screen.dragging = false;
            session_list::keep_face(state, fx);
        }
        MouseKind::Drag => mark::drag(state, mouse, fx),
        MouseKind::Release => release(state, mouse, target, fx),
        MouseKind::WheelUp => wheel(state, target, -NOTCH),
        MouseKind::WheelDown => wheel(state, target, NOTCH),
    }
}

/// A click on a link opens it, if nothing was selected on the way; a click on what was chosen is what Enter is.
fn release(state: &mut State, mouse: Mouse, target: Option<Target>, fx: &mut Vec<Effect>) {
    let clicked = state.input.pressed.is_some_and(|pressed| pressed.down && pressed.cell == (mouse.col, mouse.row));
    let folds = mark::release(state, fx);
    let selects = state.current_open().is_some_and(|open| open.chat.mark.is_some());
    match target {
        Some(Target::Link(url)) if clicked && !selects && state.overlays.is_empty() => fx.push(Effect::Browse(url)),
        _ if folds => dispatch::act(state, ChatAction::Fold.into(), None, fx),
        _ => {}
    }
}

fn press(state: &mut State, mouse: Mouse, target: Option<Target>, fx: &mut Vec<Effect>) {
    let Some(target) = target else { return };
    if !state.overlays.is_empty() {
        match target {
            Target::OverlayRow(_) | Target::Act(_) if state.clock.now < state.input.quiet_until => {}
            Target::OverlayRow(at) => keys::press(state, at, fx),
            Target::Choice(at) => choose(state, at),
            Target::Act(action) => dispatch::act(state, action, None, fx),
            _ => {}
        }
        return;
    }
    match target {
        Target::ListRow(id) => session::open(state, &id, fx),
        Target::ListHeading(group) => list::press_heading(state, &group, fx),
        Target::List => {
            focus::give_back(state);
            state.focus = Focus::List;
        }
        Target::Chat => {
            focus::give_back(state);
            state.focus = Focus::Chat;
            mark::press(state, mouse, false);
        }
        Target::Fold(key) => {
            focus::give_back(state);
            state.focus = Focus::Chat;
            if let Some(open) = state.current_open_mut() {
                (open.chat.cursor, open.chat.block) = (Some(key), None);
            }
            dispatch::act(state, ChatAction::Fold.into(), None, fx);
        }
        // The selection of text begins there as well.
        Target::Link(_) => {
            focus::give_back(state);
            state.focus = Focus::Chat;
            mark::press(state, mouse, false);
        }
        Target::Entry(key) => {
            focus::give_back(state);
            let chosen =
                state.focus == Focus::Chat && state.current_open().is_some_and(|open| open.chat.cursor == Some(key));
            state.focus = Focus::Chat;
            if let Some(open) = state.current_open_mut() {
                open.chat.cursor = Some(key);
                open.chat.block = None;
            }
            mark::press(state, mouse, chosen);
        }
        Target::ToEnd => dispatch::act(state, ChatAction::End.into(), None, fx),
        Target::Parent => dispatch::act(state, SessionAction::Parent.into(), None, fx),
        Target::Composer => {
            focus::give_back(state);
            state.focus = Focus::Composer;
        }
        Target::StopMark => dispatch::act(state, TurnAction::Stop.into(), None, fx),
        Target::Chip(picked) => chips::press(state, picked, fx),
        Target::File(at) => attach::take_out(state, at, fx),
        Target::Queued(id) => queue::open(state, Some(id)),
        Target::Slash(at) => completion::press(state, at, fx),
        Target::Choice(at) if state.focus == Focus::Panel => choose(state, at),
        Target::Panel | Target::Choice(_) if state.focus != Focus::Panel => answers::focus(state),
        Target::Act(action) => dispatch::act(state, action, None, fx),
        Target::Mode => dispatch::act(state, ModeAction::Next.into(), None, fx),
        Target::Panel | Target::Choice(_) | Target::Overlay | Target::OverlayRow(_) | Target::Rule => {}
    }
}

/// Selects an answer of the panel that has the focus; Enter gives it.
fn choose(state: &mut State, at: usize) {
    if state.clock.now < state.input.quiet_until {
        return;
    }
    let panel = match state.overlays.last_mut() {
        Some(Overlay::Inbox(inbox)) => inbox.answering.as_mut().map(|answering| &mut answering.1),
        Some(_) => None,
        None => state.current_open_mut().and_then(|open| open.panel.as_mut()),
    };
    if let Some(panel) = panel.filter(|panel| at < panel.choices.len()) {
        (panel.selected, panel.letter) = (Some(at), None);
    }
}

fn wheel(state: &mut State, target: Option<Target>, by: i64) {
    let step = isize::try_from(by).unwrap_or(0);
    if !state.overlays.is_empty() {
        return keys::wheel(state, step);
    }
    match target {
        Some(Target::List | Target::ListRow(_) | Target::ListHeading(_)) => {
            let last = state.sessions.row_count().saturating_sub(state.list_height());
            state.sessions.top = state.sessions.top.saturating_add_signed(step).min(last);
        }
        Some(Target::Panel | Target::Choice(_)) => {
            let id = state.current_id().cloned();
            let open = id.and_then(|id| state.conversations.open.get_mut(&id));
            if let Some(panel) = open.and_then(|open| open.panel.as_mut()) {
                panel.scroll_by(step, state.screen.frame.panel_scroll, state.screen.frame.panel_hidden);
            }
        }
        _ => scroll::scroll(state, by),
    }
}
