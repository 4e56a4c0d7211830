//! The focus of what is asked, to the letter: it never takes the focus by itself, nothing is selected when it gets it,
//! keys that come within 300 ms are dropped, and no key that was meant for the composer answers. `letters` knows what a
//! printable key does in it.

use super::letters::{self, Did};
use super::{compose, inbox, input, plan, to};
use crate::app::effect::Effect;
use crate::app::state::edit::Editor;
use crate::app::state::hidden::Hidden;
use crate::app::state::open::Given;
use crate::app::state::overlay::{Overlay, Reach};
use crate::app::state::panel::{Choice, Extent, Panel, Stage};
use crate::app::state::{Focus, State};
use crate::domain::contract::Act;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::request::Answer;
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;
use crate::keymap::key::Key;

/// Milliseconds after the panel got the focus, or its content changed, in which keys are dropped.
pub(super) const QUIET: u64 = 300;
/// Milliseconds without a key after which Enter on an empty draft gives the panel the focus.
pub(super) const CALM: u64 = 1_500;

/// Number of answers that can still come back with their text.
const GIVEN: usize = 8;

/// Drops keys for a moment after the focus has changed: they were meant for something else.
pub(super) fn hush(state: &mut State) {
    state.quiet_until = state.now.plus(QUIET);
}

/// Gives the panel of the shown session the focus.
pub(super) fn focus(state: &mut State, fx: &mut Vec<Effect>) {
    state.overlays.clear();
    let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut()) else {
        if state.sessions.needing() > 0 {
            return inbox::open_inbox(state, fx);
        }
        return state.notify(Notice::new(Level::Info, "Nothing to answer here"));
    };
    panel.unselect();
    leave_words(panel);
    state.focus = Focus::Panel;
    state.shown = Default::default();
    hush(state);
}

/// Gives the focus back to the composer; the request waits on.
pub(super) fn give_back(state: &mut State) {
    if state.focus == Focus::Panel {
        if let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut()) {
            panel.unselect();
            panel.extent = Extent::Docked;
            leave_words(panel);
        }
        state.focus = Focus::Composer;
    }
}

/// Esc in the panel: from the words back to the answers, from there to the composer.
pub(super) fn back(state: &mut State) {
    let panel = state.current_open_mut().and_then(|open| open.panel.as_mut());
    if !panel.is_some_and(out_of_words) {
        give_back(state);
    }
}

/// Leaves what is being written for the answers. Whether something was.
pub(super) fn out_of_words(panel: &mut Panel) -> bool {
    match panel.stage {
        Stage::Choosing => return false,
        Stage::Writing { .. } => {
            leave_words(panel);
            panel.unselect();
        }
        Stage::Rules { .. } => panel.stage = Stage::Choosing,
        Stage::Secret { .. } => {
            // Nothing of it is kept.
            panel.stage = Stage::Choosing;
            panel.unselect();
        }
    }
    true
}

/// Keeps words that were begun, for when the same answer is chosen again.
pub(super) fn leave_words(panel: &mut Panel) {
    // A key that was begun is not kept.
    if let Stage::Writing { purpose, text } = std::mem::take(&mut panel.stage) {
        panel.begun = Some((purpose, text.text()));
    }
}

/// The requests of a session changed: its panel shows the first of them, or the one it showed. Keys are dropped for a
/// while when the user was looking at another content.
pub(super) fn sync(state: &mut State, session: &SessionId, changed: Option<&RequestId>) {
    let focused = state.focus == Focus::Panel && state.current_id() == Some(session);
    let Some(open) = state.open.get_mut(session) else { return };
    let shown = open.panel.as_ref().map(|panel| panel.request.clone());
    let keep = shown.as_ref().is_some_and(|id| changed != Some(id) && open.request(id).is_some());
    if keep {
        return;
    }
    // It has to stand on the screen for a while again.
    state.frame.panel = None;
    let same = shown.as_ref().and_then(|id| open.request(id)).or_else(|| open.requests.first());
    let panel = same.map(Panel::new);
    let was = shown.is_some();
    open.panel = panel;
    if focused && was {
        if open.panel.is_none() {
            state.focus = Focus::Composer;
        }
        hush(state);
    }
}

/// An answer did not count, and what was asked waits on: its panel stands as it did when the answer was given. Another text
/// than the one that was answered gets a new panel, in which the words are kept for when they are wanted.
pub(super) fn again(state: &mut State, session: &SessionId, given: Given) {
    let Some(open) = state.open.get_mut(session) else { return };
    let Given { request, panel, .. } = given;
    if open.request(&request.id).is_none() {
        open.requests.insert(0, request.clone());
    }
    let panel = if panel.is_about(&request) { panel } else { panel.renewed(&request) };
    open.panel = Some(panel);
    if state.focus == Focus::Panel && state.current_id() == Some(session) {
        hush(state);
    }
}

/// The verbs of the panel.
pub(super) fn act(state: &mut State, verb: AnswerAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        AnswerAction::Focus => focus(state, fx),
        AnswerAction::Plan => focus_plan(state, fx),
        AnswerAction::Inbox => inbox::open_inbox(state, fx),
        AnswerAction::YesOnce => letters::yes_once(state, fx),
        _ => in_panel(state, verb, key, fx),
    }
}

fn focus_plan(state: &mut State, fx: &mut Vec<Effect>) {
    let found = state.current_open_mut().and_then(|open| {
        let request = open.waiting_plan()?;
        if open.panel.as_ref().is_none_or(|panel| panel.request != request.id) {
            open.panel = Some(Panel::new(request));
        }
        if let Some(panel) = &mut open.panel {
            panel.scroll = 0;
        }
        Some(())
    });
    match found {
        Some(()) => focus(state, fx),
        None => plan::tell(state),
    }
}

/// The panel that has the focus, in the pane or in the inbox, and its session.
pub(super) fn focused(state: &mut State) -> Option<(SessionId, &mut Panel)> {
    if !state.overlays.is_empty() {
        return match state.overlays.last_mut() {
            Some(Overlay::Inbox(inbox)) => inbox.answering.as_mut().map(|(session, panel)| (session.clone(), panel)),
            _ => None,
        };
    }
    if state.focus != Focus::Panel {
        return None;
    }
    let session = state.current_id()?.clone();
    let panel = state.open.get_mut(&session)?.panel.as_mut()?;
    Some((session, panel))
}

fn in_panel(state: &mut State, verb: AnswerAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    let Some((_, panel)) = focused(state) else { return };
    if !matches!(panel.stage, Stage::Choosing) {
        return;
    }
    if key.and_then(Key::printable).is_some() && letters::is_marked(state) {
        return input::type_into(state, key);
    }
    let did = match verb {
        AnswerAction::Confirm if key.is_some() && letters::is_too_soon(state) => return,
        AnswerAction::Confirm => return confirm(state, fx),
        AnswerAction::Equal if inbox::toggle_reach(state) => Did::Moved,
        AnswerAction::Equal => Did::Nothing,
        AnswerAction::Rules if focused(state).is_some_and(|(_, panel)| panel.remembers()) => {
            return change_rules(state);
        }
        AnswerAction::Rules => Did::Nothing,
        AnswerAction::StepNext | AnswerAction::StepPrevious | AnswerAction::StepStrike | AnswerAction::StepComment => {
            step(state, verb)
        }
        _ => scrolled(state, verb).or_else(|| selects(state, verb, key)).unwrap_or(Did::Nothing),
    };
    letters::settle(state, did, key);
}

fn step(state: &mut State, verb: AnswerAction) -> Did {
    let (steps, rows) = (state.frame.panel_steps.clone(), state.frame.panel_rows.max(2));
    match focused(state).is_some_and(|(_, panel)| plan::step(panel, verb, &steps, rows)) {
        true => Did::Moved,
        false => Did::Nothing,
    }
}

/// The verbs that move what is asked; `None` for other ones.
fn scrolled(state: &mut State, verb: AnswerAction) -> Option<Did> {
    let (last, page) = (state.frame.panel_hidden, state.frame.panel_rows.max(2) - 1);
    let (_, panel) = focused(state)?;
    let full = panel.extent == Extent::Full;
    match verb {
        // Letters that mean something only where the text has the whole screen.
        AnswerAction::ScrollTop | AnswerAction::ScrollEnd if !full => return Some(Did::Nothing),
        AnswerAction::ScrollTop => panel.scroll = 0,
        AnswerAction::ScrollEnd => panel.scroll = last,
        AnswerAction::Full => {
            panel.extent = if full { Extent::Docked } else { Extent::Full };
            panel.scroll = 0;
        }
        AnswerAction::ScrollUp => panel.scroll = panel.scroll.saturating_sub(page),
        AnswerAction::ScrollDown => panel.scroll = panel.scroll.saturating_add(page).min(last),
        _ => return None,
    }
    Some(Did::Moved)
}

/// The answer that a verb is about, where it is on offer.
fn selects(state: &mut State, verb: AnswerAction, key: Option<Key>) -> Option<Did> {
    let (_, panel) = focused(state)?;
    let last = panel.choices.len().saturating_sub(1);
    let choice = match verb {
        AnswerAction::Previous => return Some(Did::Selects(panel.selected.map_or(last, |at| at.saturating_sub(1)))),
        AnswerAction::Next => return Some(Did::Selects(panel.selected.map_or(0, |at| (at + 1).min(last)))),
        AnswerAction::Number => {
            return key.and_then(Key::digit).map(|digit| digit - 1).filter(|at| *at <= last).map(Did::Selects);
        }
        AnswerAction::Once => Choice::Once,
        AnswerAction::Session => Choice::Session,
        AnswerAction::Workspace => Choice::Workspace,
        AnswerAction::No => Choice::No,
        AnswerAction::Reason => Choice::Reason,
        AnswerAction::Instead => Choice::Instead,
        AnswerAction::PlanToAsk => Choice::PlanToAsk,
        AnswerAction::PlanToExecute => Choice::PlanToExecute,
        AnswerAction::PlanCompact => Choice::PlanCompactToAsk,
        AnswerAction::PlanEdit => Choice::PlanEdit,
        AnswerAction::PlanChanges => Choice::PlanChanges,
        AnswerAction::PlanDecline => Choice::PlanDecline,
        AnswerAction::Words => Choice::Words,
        _ => return None,
    };
    place(panel, &choice).map(Did::Selects)
}

pub(super) fn place(panel: &Panel, choice: &Choice) -> Option<usize> {
    panel.choices.iter().position(|other| other == choice)
}

/// Enter on the answers: gives the selected one, or asks for its words first.
pub(super) fn confirm(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, panel)) = focused(state) else { return };
    let Some(choice) = panel.choice().cloned() else { return };
    // The letter did its work.
    panel.letter = None;
    let request = panel.request.clone();
    if compose::is_held(state, &session, fx) {
        return;
    }
    let Some((_, panel)) = focused(state) else { return };
    if choice == Choice::PlanEdit {
        let text = panel.plan.as_ref().map(|plan| plan.text()).unwrap_or_default();
        return plan::edit(state, session, request, text, fx);
    }
    if let Some(answer) = panel.answer(&choice) {
        let struck = panel.plan.as_ref().is_some_and(|plan| plan.outline.is_all_struck());
        if plan::refused(state, struck && matches!(answer, Answer::PlanApprove(_))) {
            return;
        }
        return give(state, &session, &request, answer, fx);
    }
    if choice == Choice::Key {
        panel.stage = Stage::Secret { key: Hidden::default() };
        return;
    }
    let Some(request) = state.request(&session, &request).cloned() else { return };
    let Some((_, panel)) = focused(state) else { return };
    let text = Box::new(Editor::new(&panel.first_words(&choice, &request)));
    // What stands there already would be an answer: a key pressed twice must not give it.
    let prefilled = !text.is_empty();
    panel.stage = Stage::Writing { purpose: choice, text };
    if prefilled {
        hush(state);
    }
}

/// Opens the rules that would be kept for changing.
fn change_rules(state: &mut State) {
    let Some((_, panel)) = focused(state) else { return };
    let Some(lines) = panel.rule_lines() else {
        let text = "What would be remembered has line breaks or control characters: it can only be kept as it is.";
        return state.notify(Notice::new(Level::Info, text));
    };
    panel.stage = Stage::Rules { text: Box::new(Editor::new(&lines)), problem: None };
    hush(state);
}

/// Enter on the rules: they are what an answer will keep. None is given by that.
fn accept_rules(state: &mut State) {
    let Some((session, panel)) = focused(state) else { return };
    let asked = panel.request.clone();
    let Some(request) = state.request(&session, &asked).cloned() else { return };
    let Some((_, panel)) = focused(state) else { return };
    let Stage::Rules { text, .. } = &panel.stage else { return };
    let lines = text.text();
    match panel.take_rules(&lines, &request) {
        Ok(()) => {
            panel.stage = Stage::Choosing;
            hush(state);
        }
        Err(why) => {
            if let Stage::Rules { problem, .. } = &mut panel.stage {
                *problem = Some(why);
            }
        }
    }
}

/// Enter on the words: gives the answer with them; without any, nothing.
pub(super) fn accept_words(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, panel)) = focused(state) else { return };
    if let Stage::Rules { .. } = panel.stage {
        return accept_rules(state);
    }
    if !matches!(panel.stage, Stage::Writing { purpose: Choice::StepComment(_), .. })
        && compose::is_held(state, &session, fx)
    {
        return;
    }
    let Some((session, panel)) = focused(state) else { return };
    if let Stage::Secret { key } = &panel.stage {
        let (request, key) = (panel.request.clone(), key.key());
        return match key {
            Some(key) => give(state, &session, &request, Answer::Key(key), fx),
            None => state.notify(Notice::new(Level::Info, "Write or paste the key first; Esc goes back.")),
        };
    }
    if plan::accept_comment(panel) {
        return;
    }
    let Stage::Writing { purpose, text } = &panel.stage else { return };
    let answer = match (purpose.with_words(&text.text()), &panel.plan) {
        (Some(Answer::PlanChanges(words)), Some(plan)) => Some(Answer::PlanChanges(plan.wish(&words))),
        (answer, _) => answer,
    };
    let request = panel.request.clone();
    match answer {
        Some(answer) => give(state, &session, &request, answer, fx),
        None => state.notify(Notice::new(Level::Info, "Write something first; Esc goes back.")),
    }
}

pub(super) fn give(state: &mut State, session: &SessionId, request: &RequestId, answer: Answer, fx: &mut Vec<Effect>) {
    let mut answered = vec![(session.clone(), request.clone())];
    let own = focused(state).map(|(_, panel)| panel.clone());
    if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() {
        inbox.answering = None;
        if std::mem::take(&mut inbox.reach) == Reach::Equal {
            answered.append(&mut inbox.equal);
        }
    } else {
        state.focus = Focus::Composer;
    }
    for (session, request) in answered {
        fx.push(to(&session, Act::Answer { request: request.clone(), answer: answer.clone() }));
        if let Some(open) = state.open.get_mut(&session) {
            let panel = own.clone().filter(|panel| panel.request == request).or_else(|| open.panel.clone());
            let asked = open.requests.iter().position(|other| other.id == request).map(|at| open.requests.remove(at));
            if let (Some(request), Some(panel)) = (asked, panel.filter(|panel| panel.request == request)) {
                open.given.push_back(Given { request, panel: panel.without_key(), settled: false });
                if open.given.len() > GIVEN {
                    open.given.pop_front();
                }
            }
        }
        sync(state, &session, Some(&request));
    }
    // Enter pressed twice must not go on to what has the keys now.
    hush(state);
}

/// The key that is being written.
pub(super) fn secret(state: &mut State) -> Option<&mut Hidden> {
    focused(state)?.1.stage.secret_mut()
}

/// The editor of the words that are being written, in the pane or in the inbox.
pub(super) fn words(state: &mut State) -> Option<&mut Editor> {
    focused(state)?.1.stage.editor_mut()
}
