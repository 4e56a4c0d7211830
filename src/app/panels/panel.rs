//! The focus of what is asked, to the letter: it never takes the focus by itself, nothing is selected when it gets it,
//! keys that come within 300 ms are dropped, and no key that was meant for the composer answers. `letters` knows what a
//! printable key does in it.

use crate::app::effect::Effect;
use crate::app::msg::Frame;
use crate::app::panels::letters::{self, Did};
use crate::app::panels::{answers, hunks, key_field, plan};
use crate::app::shell::{draft, focus};
use crate::app::state::State;
use crate::app::state::edit::Editor;
use crate::app::state::hidden::Hidden;
use crate::app::state::notices::{IGNORED, TrueWhile};
use crate::app::state::overlay::Overlay;
use crate::app::state::panel::{Choice, Extent, Panel, Stage};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::request::{Ask, UserAnswer};
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;
use crate::keymap::key::Key;

/// Esc in the panel: from the words back to the answers, from there to the composer. A request for a key that no turn waits for
/// was the user's own wish: it is over with that.
pub(crate) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    let panel = state.current_open_mut().and_then(|open| open.panel.as_mut());
    if panel.is_some_and(focus::out_of_words) {
        return;
    }
    let wish = state.panel().filter(|(_, asked)| matches!(asked.ask, Ask::Key(_))).map(|(_, asked)| asked.id.clone());
    focus::give_back(state);
    if let Some((request, session)) = wish.zip(state.current_id().cloned()).filter(|_| !state.running()) {
        answers::give(state, &session, &request, UserAnswer::No(None), fx);
    }
}

/// The verbs of the panel.
pub(crate) fn act(state: &mut State, verb: AnswerAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        AnswerAction::Focus => answers::focus(state),
        AnswerAction::Plan => focus_plan(state),
        // The router opens it.
        AnswerAction::Inbox => {}
        AnswerAction::YesOnce => letters::yes_once(state, fx),
        _ => in_panel(state, verb, key, fx),
    }
}

fn focus_plan(state: &mut State) {
    let found = state.current_open_mut().and_then(|open| {
        let request = open.waiting_plan()?;
        if open.panel.as_ref().is_none_or(|panel| panel.request != request.id) {
            open.panel = Some(Panel::new(request));
        }
        if let Some(panel) = &mut open.panel {
            panel.scroll = None;
        }
        Some(())
    });
    match found {
        Some(()) => answers::focus(state),
        None => plan::tell(state),
    }
}

fn in_panel(state: &mut State, verb: AnswerAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    let Some((_, panel)) = focus::focused(state) else { return };
    if !matches!(panel.stage, Stage::Choosing) {
        return;
    }
    let moves = matches!(
        verb,
        AnswerAction::StepNext
            | AnswerAction::StepPrevious
            | AnswerAction::ScrollUp
            | AnswerAction::ScrollDown
            | AnswerAction::Full
    );
    if key.and_then(Key::printable).is_some() && letters::is_marked(state) && !(moves && letters::unmark(state)) {
        return letters::type_through(state, key);
    }
    let did = match verb {
        AnswerAction::Confirm if key.is_some() && letters::is_too_soon(state) => {
            let notice = Notice::new(Level::Info, format!("{IGNORED}Enter came together with the letter"));
            return state.notify(notice.hint("press enter again"));
        }
        AnswerAction::Confirm => return confirm(state, fx),
        AnswerAction::Equal if toggle_reach(state) => letters::Did::Moved,
        AnswerAction::Equal => letters::Did::Nothing,
        AnswerAction::Rules if focus::focused(state).is_some_and(|(_, panel)| panel.remembers()) => {
            return change_rules(state);
        }
        AnswerAction::Rules => letters::Did::Nothing,
        AnswerAction::StepNext | AnswerAction::StepPrevious | AnswerAction::StepStrike | AnswerAction::StepComment => {
            step(state, verb)
        }
        _ => scrolled(state, verb).or_else(|| selects(state, verb, key)).unwrap_or(letters::Did::Nothing),
    };
    letters::settle(state, did, key);
}

fn step(state: &mut State, verb: AnswerAction) -> Did {
    let frame = &state.screen.frame;
    let (steps, rows, drew) = (frame.panel_steps.clone(), frame.panel_rows.max(2), frame.panel_scroll);
    let Some((_, panel)) = focus::focused(state) else { return letters::Did::Nothing };
    panel.scroll.get_or_insert(drew);
    match plan::step(panel, verb, &steps, rows) || hunks::step(panel, verb, &steps, rows) {
        true => letters::Did::Moved,
        false => letters::Did::Nothing,
    }
}

/// The verbs that move what is asked; `None` for other ones.
fn scrolled(state: &mut State, verb: AnswerAction) -> Option<Did> {
    let frame = &state.screen.frame;
    let (last, drew) = (frame.panel_hidden, frame.panel_scroll);
    let page = page(frame);
    let (_, panel) = focus::focused(state)?;
    let full = panel.extent == Extent::Full;
    match verb {
        // Letters that mean something only where the text has the whole screen.
        AnswerAction::ScrollTop | AnswerAction::ScrollEnd if !full => return Some(letters::Did::Nothing),
        AnswerAction::ScrollTop => panel.scroll = Some(0),
        AnswerAction::ScrollEnd => panel.scroll = Some(last),
        AnswerAction::Full => {
            panel.extent = if full { Extent::Docked } else { Extent::Full };
            panel.scroll = None;
        }
        AnswerAction::ScrollUp => panel.scroll_by(-page, drew, last),
        AnswerAction::ScrollDown => panel.scroll_by(page, drew, last),
        _ => return None,
    }
    Some(letters::Did::Moved)
}

/// The answer that a verb is about, where it is on offer.
fn selects(state: &mut State, verb: AnswerAction, key: Option<Key>) -> Option<Did> {
    let (_, panel) = focus::focused(state)?;
    let last = panel.choices.len().saturating_sub(1);
    let choice = match verb {
        AnswerAction::Previous => {
            return Some(letters::Did::Selects(panel.selected.map_or(last, |at| at.saturating_sub(1))));
        }
        AnswerAction::Next => return Some(letters::Did::Selects(panel.selected.map_or(0, |at| (at + 1).min(last)))),
        AnswerAction::Number => {
            return key.and_then(Key::digit).map(|digit| digit - 1).filter(|at| *at <= last).map(letters::Did::Selects);
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
    answers::place(panel, &choice).map(letters::Did::Selects)
}

/// Enter on the answers: gives the selected one, or asks for its words first.
pub(crate) fn confirm(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, panel)) = focus::focused(state) else { return };
    let Some(choice) = panel.choice().cloned() else {
        let notice = Notice::new(Level::Info, "Choose an answer first");
        return state.notify_while(notice.hint("↑ ↓ or its letter, then Enter"), vec![TrueWhile::NoAnswer]);
    };
    // The letter did its work.
    panel.letter = None;
    let request = panel.request.clone();
    if draft::is_held(state, &session, fx) {
        return;
    }
    let Some((_, panel)) = focus::focused(state) else { return };
    if choice == Choice::PlanEdit {
        let text = panel.plan.as_ref().map(|plan| plan.text()).unwrap_or_default();
        return plan::edit(state, session, request, text, fx);
    }
    if let Some(answer) = panel.answer(&choice) {
        if reads_on(state, &session, &request, &choice) {
            return;
        }
        let Some((_, panel)) = focus::focused(state) else { return };
        let struck = panel.plan.as_ref().is_some_and(|plan| plan.outline.is_all_struck());
        let panel = panel.clone();
        if plan::refused(state, struck && matches!(answer, UserAnswer::PlanApprove(_)))
            || hunks::refused(state, &panel, &answer)
        {
            return;
        }
        return answers::give(state, &session, &request, answer, fx);
    }
    if choice == Choice::Key {
        panel.stage = Stage::Secret { key: Hidden::default() };
        return;
    }
    let Some(request) = state.request(&session, &request).cloned() else { return };
    let Some((_, panel)) = focus::focused(state) else { return };
    let text = Box::new(Editor::new(&panel.first_words(&choice, &request)));
    // What stands there already would be an answer: a key pressed twice must not give it.
    let prefilled = !text.is_empty();
    panel.stage = Stage::Writing { purpose: choice, text };
    if prefilled {
        focus::hush(state);
    }
}

/// Lines of a page of the panel.
fn page(frame: &Frame) -> isize {
    isize::from(u8::try_from(frame.panel_rows.max(2) - 1).unwrap_or(u8::MAX))
}

/// Turns a page of a question for trust that is not read to its end: nobody trusts what he has not seen. False at its end.
fn reads_on(state: &mut State, session: &SessionId, request: &RequestId, choice: &Choice) -> bool {
    let trusts = matches!(choice, Choice::Trust | Choice::TrustSources | Choice::TrustExtensions);
    let frame = &state.screen.frame;
    let page = page(frame);
    let (scroll, hidden) = (frame.panel_scroll, frame.panel_hidden);
    let is_trust = state.request(session, request).is_some_and(|asked| matches!(asked.ask, Ask::Trust(_)));
    let Some((_, panel)) = focus::focused(state) else { return false };
    if !trusts || !is_trust || scroll >= hidden {
        return false;
    }
    panel.scroll_by(page, scroll, hidden);
    state.notify(Notice::new(Level::Info, "Not trusted: there is more to read").hint("Enter reads on"));
    true
}

/// Opens the rules that would be kept for changing.
fn change_rules(state: &mut State) {
    let Some((_, panel)) = focus::focused(state) else { return };
    let Some(lines) = panel.rule_lines() else {
        let text = "Can't edit this rule: it has line breaks or control characters";
        return state.notify(Notice::new(Level::Info, text));
    };
    panel.stage = Stage::Rules { text: Box::new(Editor::new(&lines)), problem: None };
    focus::hush(state);
}

/// Enter on the rules: they are what an answer will keep. None is given by that.
fn accept_rules(state: &mut State) {
    let Some((session, panel)) = focus::focused(state) else { return };
    let asked = panel.request.clone();
    let Some(request) = state.request(&session, &asked).cloned() else { return };
    let Some((_, panel)) = focus::focused(state) else { return };
    let Stage::Rules { text, .. } = &panel.stage else { return };
    let lines = text.text();
    match panel.take_rules(&lines, &request) {
        Ok(()) => {
            panel.stage = Stage::Choosing;
            focus::hush(state);
        }
        Err(why) => {
            if let Stage::Rules { problem, .. } = &mut panel.stage {
                *problem = Some(why);
            }
        }
    }
}

/// Enter on the words: gives the answer with them; without any, nothing.
pub(crate) fn accept_words(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, panel)) = focus::focused(state) else { return };
    if let Stage::Rules { .. } = panel.stage {
        return accept_rules(state);
    }
    if !matches!(panel.stage, Stage::Writing { purpose: Choice::StepComment(_), .. })
        && draft::is_held(state, &session, fx)
    {
        return;
    }
    let Some((session, panel)) = focus::focused(state) else { return };
    if let Stage::Secret { .. } = &panel.stage {
        return key_field::accept(state, fx);
    }
    if plan::accept_comment(panel) {
        return;
    }
    let Stage::Writing { purpose, text } = &panel.stage else { return };
    let answer = match (purpose.with_words(&text.text()), &panel.plan) {
        (Some(UserAnswer::PlanChanges(words)), Some(plan)) => Some(UserAnswer::PlanChanges(plan.wish(&words))),
        (answer, _) => answer,
    };
    let request = panel.request.clone();
    match answer {
        Some(answer) => answers::give(state, &session, &request, answer, fx),
        None => state.notify(Notice::new(Level::Info, "Empty reply; Esc to go back")),
    }
}

/// `a`: the answer goes to all equal requests, or to this one alone. Whether there are any.
fn toggle_reach(state: &mut State) -> bool {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() else { return false };
    let toggled = inbox.toggle_reach();
    if toggled {
        focus::hush(state);
    }
    toggled
}
