//! Marking in the conversation, with the mouse and with keys, and what becomes of what is marked.
//!
//! Only the drawing knows the text. The mouse comes with what lies under it; keys move the mark by a wish that the next
//! frame makes exact, and that frame hands the text over when it is to be copied.

use crate::app::effect::Effect;
use crate::app::msg::{Area, Mouse, Target, Timer};
use crate::app::shell::scroll;
use crate::app::state::chat::{Chat, View};
use crate::app::state::mark::{Mark, Marked, Place, Pressed, Unit};
use crate::app::state::notices::TrueWhile;
use crate::app::state::{Focus, State};
use crate::domain::{Level, Notice};
use crate::keymap::action::{Action, AppAction, ChatAction};

/// Milliseconds between presses on one cell that belong together.
const TWICE: u64 = 400;

/// While the mouse is held over an edge, the conversation scrolls once in so many milliseconds.
const BEAT: u64 = 50;

/// Lines that it scrolls then at most.
const FASTEST: i64 = 12;

fn chat(state: &mut State) -> Option<&mut Chat> {
    state.current_open_mut().map(|open| &mut open.chat)
}

/// The end is not followed any more: what is marked stays where it is. Whether it was.
fn hold(chat: &mut Chat) -> bool {
    let (View::End, Some((key, line))) = (chat.view, chat.drawn.top) else { return false };
    chat.view = View::At { key, line };
    true
}

/// Nothing is marked any more; the end is followed again where the mark held it, and nobody scrolled since.
fn drop_mark(chat: &mut Chat) -> Option<Mark> {
    let mark = chat.mark.take();
    if std::mem::take(&mut chat.held) && mark.is_some() {
        chat.view = View::End;
    }
    mark
}

/// The button went down on the conversation. `chosen`: on the entry that was chosen already.
pub(crate) fn press(state: &mut State, mouse: Mouse, chosen: bool) {
    let (cell, spot) = ((mouse.col, mouse.row), state.input.spot);
    let again = state.input.pressed.filter(|last| last.cell == cell && state.clock.now.since(last.when) < TWICE);
    let times = again.map_or(1, |last| if last.times < 3 { last.times + 1 } else { 1 });
    state.input.pressed = Some(Pressed { cell, when: state.clock.now, times, spot, chosen, down: true, pull: 0 });
    let Some(spot) = spot.filter(|_| times > 1) else { return };
    if let Some(chat) = chat(state).filter(|chat| !folds_at(chat, spot.key, spot.line)) {
        chat.mark = Some(Mark::at(spot, Unit::of_presses(times)));
        chat.held = hold(chat);
    }
}

/// True if a click on this line folds and unfolds: the first line of an entry that has more to show.
fn folds_at(chat: &Chat, key: i64, line: u32) -> bool {
    line == 0 && chat.folds(key)
}

/// The mouse was moved with the button down, from a press on the conversation.
pub(crate) fn drag(state: &mut State, mouse: Mouse, fx: &mut Vec<Effect>) {
    let (Some(mut pressed), spot) = (state.input.pressed.filter(|pressed| pressed.down), state.input.spot) else {
        return;
    };
    let pane = state.screen.frame.areas.iter().find(|(_, target)| *target == Target::Chat).map(|(area, _)| *area);
    let pull = pane.map_or(0, |pane| over(pane, mouse.row));
    let began = std::mem::replace(&mut pressed.pull, pull) == 0;
    state.input.pressed = Some(pressed);
    let (Some(from), Some(spot)) = (pressed.spot, spot) else { return };
    let Some(chat) = chat(state) else { return };
    if chat.mark.is_none() && (mouse.col, mouse.row) != pressed.cell {
        chat.mark = Some(Mark::at(from, Unit::Sign));
        chat.held = hold(chat);
    }
    if let Some(mark) = &mut chat.mark {
        mark.head = spot.ends(mark.unit);
        match (pull, began) {
            (0, true) => {}
            (0, false) => fx.push(Effect::Disarm(Timer::Pull)),
            (_, true) => fx.push(Effect::Arm { timer: Timer::Pull, ms: BEAT }),
            (_, false) => {}
        }
    }
}

/// Lines to scroll per tick with the mouse on this row: none inside the pane, more further out.
fn over(pane: Area, row: u16) -> i64 {
    let bottom = pane.y + pane.h.saturating_sub(1);
    // Where nothing is above the pane or below it, its edge is the first row outside.
    let (above, below) = (i64::from(pane.y) - i64::from(row), i64::from(row) - i64::from(bottom));
    match (above, below) {
        (above, _) if above > 0 => -(above * 2 - 1).min(FASTEST),
        (_, below) if below > 0 => (below * 2 - 1).min(FASTEST),
        _ => 0,
    }
}

/// The mouse is held over an edge: on with it.
pub(crate) fn pull(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(pressed) = state.input.pressed.filter(|pressed| pressed.down && pressed.pull != 0) else { return };
    scroll::scroll(state, pressed.pull);
    fx.push(Effect::Arm { timer: Timer::Pull, ms: BEAT });
}

/// The button went up. `true`: it was a click, which marked nothing, and on an entry that was chosen already.
pub(crate) fn release(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    let Some(mut pressed) = state.input.pressed.filter(|pressed| pressed.down) else { return false };
    if pressed.pull != 0 {
        fx.push(Effect::Disarm(Timer::Pull));
    }
    (pressed.down, pressed.pull) = (false, 0);
    state.input.pressed = Some(pressed);
    let Some(chat) = chat(state) else { return false };
    match &mut chat.mark {
        Some(mark) if mark.range().0 < mark.range().1 => {
            mark.wanted = true;
            false
        }
        Some(_) => {
            drop_mark(chat);
            false
        }
        None => {
            let again = pressed.spot.is_none_or(|spot| folds_at(chat, spot.key, spot.line));
            pressed.chosen && (pressed.times == 1 || again)
        }
    }
}

/// Takes in the selection of a frame: the position of its head, and its text where that was requested.
pub(crate) fn drawn(state: &mut State, marked: &mut Marked, fx: &mut Vec<Effect>) {
    let pressed = state.input.pressed.filter(|pressed| pressed.down && pressed.pull != 0);
    let Some(chat) = chat(state) else { return };
    if let (Some((head, steps)), Some(mark)) = (marked.head.take(), &mut chat.mark) {
        (mark.head, mark.steps) = (head, mark.steps - steps);
    }
    if let (Some(pressed), Some(mark), Some((first, last))) = (pressed, &mut chat.mark, marked.seen) {
        mark.head = if pressed.pull < 0 { first } else { last }.ends(mark.unit);
    }
    let Some(text) = marked.text.take() else { return };
    let by_keys = chat.mark.is_some_and(|mark| mark.by_keys);
    if let Some(mark) = &mut chat.mark {
        mark.wanted = false;
    }
    if by_keys {
        chat.mark = None;
    }
    if text.trim().is_empty() {
        return state.notify(Notice::new(Level::Info, "No text in the selection"));
    }
    fx.push(Effect::Copy(text));
}

/// Copies what is marked. Whether something is.
pub(crate) fn copy(state: &mut State) -> bool {
    let Some(mark) = chat(state).and_then(|chat| chat.mark.as_mut()) else { return false };
    mark.wanted = true;
    true
}

/// Nothing is marked any more. Whether something was.
pub(crate) fn clear(state: &mut State) -> bool {
    chat(state).is_some_and(|chat| drop_mark(chat).is_some())
}

/// A key: what the mouse marked goes with it, but with the keys that are for it.
pub(crate) fn key(state: &mut State, action: Option<Action>) {
    let kept = [Action::App(AppAction::Back), ChatAction::Copy.into(), ChatAction::Mark.into()];
    if action.is_none_or(|action| !kept.contains(&action))
        && let Some(chat) = chat(state)
        && chat.mark.is_some_and(|mark| !mark.by_keys)
    {
        drop_mark(chat);
    }
}

/// Drops a selection made by keys when the keys go elsewhere.
pub(crate) fn settle(state: &mut State) {
    if state.focus != Focus::Chat
        && let Some(chat) = chat(state)
        && chat.mark.is_some_and(|mark| mark.by_keys && !mark.wanted)
    {
        chat.mark = None;
    }
}

/// Begins to mark lines with keys, at the chosen entry or what is read; or ends it.
pub(crate) fn begin(state: &mut State) {
    let seen = state.screen.frame.marked.seen;
    let Some(chat) = chat(state) else { return };
    if drop_mark(chat).is_some_and(|mark| mark.by_keys) {
        return;
    }
    let first = |key: i64| Place { key, line: 0, at: 0 };
    let place = match (chat.cursor.filter(|key| chat.entry(*key).is_some()), seen) {
        // The chosen entry began above the pane: what is seen of it.
        (Some(key), Some((top, _))) if top.key == key => top.ends(Unit::Line).0,
        (Some(key), _) => first(key),
        (None, Some((_, last))) if chat.view == View::End => last.ends(Unit::Line).0,
        (None, Some((top, _))) => top.ends(Unit::Line).0,
        (None, None) => return,
    };
    let ends = (place, place);
    chat.mark = Some(Mark { anchor: ends, head: ends, unit: Unit::Line, by_keys: true, steps: 0, wanted: false });
    chat.block = None;
    chat.reveal = true;
    hold(chat);
    let key = |action: ChatAction| state.keys.key_for(action);
    let (down, up, copy) = (key(ChatAction::LineDown), key(ChatAction::LineUp), key(ChatAction::Copy));
    let hint = format!("{down}/{up} extend · {copy} copy · {} leave", state.keys.key_for(AppAction::Back));
    state.notify_while(Notice::new(Level::Info, "Selecting lines").hint(hint), vec![TrueWhile::Selecting]);
}

/// Moves the head of a selection made by keys by a number of lines. True if there is one.
pub(crate) fn extend(state: &mut State, lines: i64) -> bool {
    let Some(chat) = chat(state) else { return false };
    let Some(mark) = chat.mark.as_mut().filter(|mark| mark.by_keys) else { return false };
    mark.steps = mark.steps.saturating_add(lines);
    chat.reveal = true;
    hold(chat);
    true
}

/// Gives the mouse to the terminal, or takes it back.
pub(crate) fn give_mouse(state: &mut State, fx: &mut Vec<Effect>) {
    let given = !state.input.mouse_given;
    state.input.mouse_given = given;
    state.input.pressed = None;
    fx.push(Effect::Mouse { ours: !given });
    let key = state.keys.key_for(AppAction::Mouse);
    let notice = if given {
        Notice::new(Level::Info, "Mouse released to the terminal").hint(format!("{key} recaptures it"))
    } else {
        Notice::new(Level::Info, "Mouse captured: selections are copied as text")
    };
    state.notify(notice);
}
