//! Lines that were written where lines are read instead of keys. What a line is about was found out before; here it is
//! done by the same functions as a key's, and only where the thing that it is about is still there.

use crate::app::composer::{enter, send};
use crate::app::effect::Effect;
use crate::app::line::Line;
use crate::app::msg::Timer;
use crate::app::overlays::{keys, properties};
use crate::app::panels::{answers, panel};
use crate::app::shell::{draft, focus, quit, session};
use crate::app::slash;
use crate::app::state::overlay::Overlay;
use crate::app::state::panel::{Choice, Panel, Stage};
use crate::app::state::{Focus, Quit, State, edit};
use crate::app::update::{dispatch, redelivery};
use crate::domain::ids::RequestId;
use crate::domain::{Level, Notice};
use crate::keymap::action::PickerAction;
use crate::keymap::key::{Code, Key, Mods};

/// Does what a line says.
pub(super) fn heard(state: &mut State, line: Line, fx: &mut Vec<Effect>) {
    state.input.last_key = state.clock.now;
    redelivery::hold(state, fx);
    if line == Line::Interrupt {
        return interrupt(state, fx);
    }
    if matches!(state.ending.quit, Quit::OnceMore(_)) {
        state.ending.quit = Quit::No;
        fx.push(Effect::Disarm(Timer::Quit));
    }
    if state.ending.quit == Quit::Ending {
        return;
    }
    match line {
        Line::Say(text) => say(state, &text, fx),
        Line::SendDraft => {
            let text = state.composer().text();
            say(state, &text, fx);
        }
        Line::DropDraft => draft::keep_draft(state, fx),
        Line::Answer { request, choice } => answer(state, &request, &choice, fx),
        Line::Without { request, places } => without(state, &request, &places, fx),
        Line::Words { request, text } => words(state, &request, &text, fx),
        Line::Reply { request, text } => {
            answer(state, &request, &Choice::Words, fx);
            words(state, &request, &text, fx);
        }
        Line::Key { request, key } => {
            if asked(state, &request).is_none() {
                return;
            }
            if key.is_empty() {
                return panel::back(state, fx);
            }
            if let Some(field) = focus::secret(state) {
                *field = key;
                panel::accept_words(state, fx);
            }
        }
        Line::Row(at) => row(state, at, fx),
        Line::Accept => dispatch::act(state, PickerAction::Accept.into(), None, fx),
        Line::Input(text) => input(state, &text, fx),
        Line::Back => keys::back(state, fx),
        Line::End => end(state, fx),
        Line::Interrupt => {}
    }
}

/// The panel of this request, where it is the one that is shown and nothing lies over it.
fn asked<'a>(state: &'a mut State, request: &RequestId) -> Option<&'a mut Panel> {
    if !state.overlays.is_empty() {
        return None;
    }
    state.current_open_mut()?.panel.as_mut().filter(|panel| panel.request == *request)
}

/// A message or a command. A draft that stood there is not lost for it.
fn say(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    state.overlays.clear();
    focus::give_back(state);
    state.focus = Focus::Composer;
    if !state.composer().has_no_text() {
        let draft = state.composer().text();
        if draft != text {
            draft::keep_draft(state, fx);
        }
    }
    state.composer_mut().set(text);
    draft::close_menu(state);
    let told = state.notices.last().cloned();
    enter::enter(state, send::How::Queue, fx);
    dispatch::follow_ups(state, fx);
    // A command that could not be run stays in the composer to be corrected; here it is written anew.
    let left = state.composer().text();
    if slash::read(&left).is_some() && state.overlays.is_empty() {
        state.composer_mut().take();
        if state.notices.last() == told.as_ref() {
            let text = format!("{} needs an argument", left.trim());
            state.notify(Notice::new(Level::Info, text).hint("see /help"));
        }
    }
}

fn answer(state: &mut State, request: &RequestId, choice: &Choice, fx: &mut Vec<Effect>) {
    let Some(panel) = asked(state, request) else { return };
    let Some(at) = answers::place(panel, choice) else { return };
    focus::leave_words(panel);
    (panel.selected, panel.letter) = (Some(at), None);
    state.focus = Focus::Panel;
    panel::confirm(state, fx);
}

/// A yes without these changed places. One that does not exist answers nothing.
fn without(state: &mut State, request: &RequestId, places: &[usize], fx: &mut Vec<Effect>) {
    let Some(hunks) = asked(state, request).and_then(|panel| panel.hunks.as_mut()) else { return };
    if !hunks.strike_only(places) {
        let text = format!("{} here: strike by number", hunks.in_words());
        return state.notify(Notice::new(Level::Warning, text));
    }
    answer(state, request, &Choice::Once, fx);
    if let Some(hunks) = asked(state, request).and_then(|panel| panel.hunks.as_mut()) {
        // It was not taken: a plain yes must not leave out what a line before named.
        hunks.strike_only(&[]);
    }
}

fn words(state: &mut State, request: &RequestId, text: &str, fx: &mut Vec<Effect>) {
    let Some(panel) = asked(state, request) else { return };
    let Stage::Writing { text: words, .. } = &mut panel.stage else { return };
    if text.trim().is_empty() {
        return panel::back(state, fx);
    }
    words.replace(text);
    state.focus = Focus::Panel;
    panel::accept_words(state, fx);
}

/// A row is chosen. What waits in another session is answered there.
fn row(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last() else { return keys::press(state, at, fx) };
    let Some(waiting) = inbox.rows.get(at).cloned() else { return };
    session::open(state, &waiting.session, fx);
    let Some(open) = state.current_open_mut() else { return };
    let request = waiting.request.and_then(|id| open.request(&id).cloned());
    if let Some(request) = request.filter(|request| open.panel.as_ref().is_none_or(|p| p.request != request.id)) {
        open.panel = Some(Panel::new(&request));
    }
}

fn input(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    let line = edit::Line::new(text);
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            picker.query = line;
            picker.filter();
            properties::offer_new_label(state);
        }
        Some(Overlay::Find) => state.searches.sessions.query = line,
        Some(Overlay::Rename(rename)) => {
            rename.title = line;
            dispatch::act(state, PickerAction::Accept.into(), None, fx);
        }
        Some(Overlay::Prompt(prompt)) => {
            (prompt.line, prompt.problem) = (line, None);
            dispatch::act(state, PickerAction::Accept.into(), None, fx);
        }
        _ => {}
    }
}

fn interrupt(state: &mut State, fx: &mut Vec<Effect>) {
    let key = Key::new(Code::Char('c'), Mods::CTRL);
    if state.ending.quit == Quit::Ending {
        quit::interrupt(state, Some(key), fx);
    } else if !state.overlays.is_empty() {
        keys::back(state, fx);
    } else if state.focus == Focus::Panel {
        panel::back(state, fx);
        focus::give_back(state);
    } else if state.running() {
        session::stop(state, fx);
    } else {
        quit::interrupt(state, Some(key), fx);
    }
}

fn end(state: &mut State, fx: &mut Vec<Effect>) {
    if matches!(state.overlays.last(), Some(Overlay::ConfirmQuit)) {
        quit::quit(state, fx);
    } else {
        quit::ask(state, fx);
    }
}
