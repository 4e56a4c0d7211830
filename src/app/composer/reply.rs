//! A draft while a request waits: an answer to the agent's question, or a word that fell out of a panel.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::draft;
use crate::app::shell::focus::SEEN;
use crate::app::slash as commands;
use crate::app::state::State;
use crate::app::state::notices::TrueWhile;
use crate::app::state::panel::Choice;
use crate::domain::request::{Ask, UserAnswer};
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;

/// Enter on a word that fell out of a panel, or on one that other programs take for the answer: it may have been meant as one.
/// True: it is not sent.
pub(crate) fn holds_back(state: &mut State) -> bool {
    let asks = waiting_question(state).is_some();
    let text = state.composer().text();
    let fell_out = state.composer_mut().take_spill() && is_doubtful(text.trim(), asks);
    let waits = !asks && state.panel().is_some() && is_answer(text.trim());
    let held = fell_out || waits && state.composer_mut().hold_once();
    if fell_out {
        state.composer_mut().hold_once();
    }
    if held {
        let key = state.keys.key_for(AnswerAction::Focus);
        let text = format!("Not sent: “{}” looks like an answer", text.trim());
        let hint = format!("{key} back to the question · Enter sends it as a message");
        let mut conditions = vec![TrueWhile::Draft(state.composer().text())];
        conditions.extend(state.panel().map(|(_, asked)| TrueWhile::Waits(asked.id.clone())));
        state.notify_while(Notice::new(Level::Warning, text).hint(hint), conditions);
    }
    held
}

/// A word that answers a request for approval elsewhere.
fn is_answer(text: &str) -> bool {
    const WORDS: &[&str] = &["yes", "no", "ok", "okay", "sure", "approve", "allow", "deny"];
    let mut signs = text.chars();
    let is_sign = signs.next().is_some_and(char::is_alphanumeric) && signs.next().is_none();
    is_sign || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) || is_before_command(text)
}

/// A letter or two with a command behind them: they were meant for the request, and stayed in the draft.
fn is_before_command(text: &str) -> bool {
    let Some((letters, rest)) = text.split_once('/') else { return false };
    let word = rest.split(['/', ' ']).next().unwrap_or_default();
    let few = matches!(letters.chars().count(), 1 | 2) && letters.chars().all(char::is_alphanumeric);
    few && matches!(commands::read(&format!("/{word}")), Some(Ok(_)))
}

/// A single word; where any text is an answer, one of a letter or two.
fn is_doubtful(text: &str, asks: bool) -> bool {
    let command = text.starts_with(['/', '!']);
    !command && !text.contains(char::is_whitespace) && (!asks || text.chars().count() <= 2)
}

/// The question of the agent that waits in the session that is shown.
fn waiting_question(state: &State) -> Option<crate::domain::ids::RequestId> {
    // Behind another request nobody sees it.
    let (_, asked) = state.panel()?;
    matches!(asked.ask, Ask::Question(_)).then(|| asked.id.clone())
}

/// A text from the composer while the agent's question waits: it is the answer. False: no question waits.
pub(crate) fn reply(state: &mut State, text: &str, fx: &mut Vec<Effect>) -> bool {
    let Some(request) = waiting_question(state).filter(|_| state.composer().files().is_empty()) else { return false };
    let Some(session) = state.current_id().cloned() else { return false };
    if draft::is_held(state, &session, fx) {
        return true;
    }
    let on_screen = state.screen.frame.panel.as_ref().is_some_and(|(shown, _)| *shown == request);
    if !on_screen || state.clock.now.since(state.input.moments.panel_seen) < SEEN {
        let notice = Notice::new(Level::Info, "Not sent: a question just appeared, and this would answer it");
        let conditions = vec![TrueWhile::Waits(request), TrueWhile::Draft(state.composer().text())];
        state.notify_while(notice.hint("Enter again sends it"), conditions);
        return true;
    }
    draft::keep_draft(state, fx);
    if let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut())
        && panel.request == request
    {
        // It comes back here where the answer does not count.
        panel.begun = Some((Choice::Words, text.to_owned()));
    }
    state.follow_up(Intent::Answer { session, request, answer: UserAnswer::Reply(text.trim().to_owned()) });
    true
}
