//! Answers: which request a panel shows, and what is sent.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{focus, session};
use crate::app::state::open::Given;
use crate::app::state::overlay::{Overlay, Reach};
use crate::app::state::panel::{Choice, Panel};
use crate::app::state::{Focus, State};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::request::{Ask, UserAnswer};
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;
use crate::protocol::SessionCommand;

/// Number of answers that can still come back with their text.
const GIVEN: usize = 8;

/// The requests of a session changed: its panel shows the first of them, or the one it showed. Keys are dropped for a
/// while when the user was looking at another content.
pub(crate) fn sync(state: &mut State, session: &SessionId, changed: Option<&RequestId>) {
    let focused = state.focus == Focus::Panel && state.current_id() == Some(session);
    let Some(open) = state.conversations.open.get_mut(session) else { return };
    let shown = open.panel.as_ref().map(|panel| panel.request.clone());
    // The turn goes on while a plan waits: what holds it comes first, unless the plan is being worked with.
    let of_turn = open.requests.iter().find(|request| !matches!(request.ask, Ask::Plan(_)));
    let is_idle_plan = |panel: &Panel| !focused && panel.plan.is_some() && !panel.is_worked_with();
    let gives_way = of_turn.is_some() && open.panel.as_ref().is_some_and(is_idle_plan);
    let keep = shown.as_ref().is_some_and(|id| changed != Some(id) && open.request(id).is_some());
    if keep && !gives_way {
        return;
    }
    // It has to stand on the screen for a while again.
    state.screen.frame.panel = None;
    let same = shown.as_ref().filter(|_| !gives_way).and_then(|id| open.request(id));
    let panel = same.or(of_turn).or_else(|| open.requests.first()).map(Panel::new);
    let was = shown.is_some();
    open.panel = panel;
    if focused && was {
        if open.panel.is_none() {
            state.focus = Focus::Composer;
        }
        focus::hush(state);
    }
}

/// An answer did not count, and what was asked waits on: its panel stands as it did when the answer was given. Another text
/// than the one that was answered gets a new panel, in which the words are kept for when they are wanted.
pub(crate) fn again(state: &mut State, session: &SessionId, given: Given) {
    let Some(open) = state.conversations.open.get_mut(session) else { return };
    let Given { request, panel, .. } = given;
    if open.request(&request.id).is_none() {
        open.requests.insert(0, request.clone());
    }
    let panel = if panel.is_about(&request) { panel } else { panel.renewed(&request) };
    open.panel = Some(panel);
    if state.focus == Focus::Panel && state.current_id() == Some(session) {
        focus::hush(state);
    }
}

pub(crate) fn place(panel: &Panel, choice: &Choice) -> Option<usize> {
    panel.choices.iter().position(|other| other == choice)
}

pub(crate) fn give(
    state: &mut State,
    session: &SessionId,
    request: &RequestId,
    answer: UserAnswer,
    fx: &mut Vec<Effect>,
) {
    let mut answered = vec![(session.clone(), request.clone())];
    let own = focus::focused(state).map(|(_, panel)| panel.clone());
    if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() {
        inbox.answering = None;
        if std::mem::take(&mut inbox.reach) == Reach::Equal {
            answered.append(&mut inbox.equal);
        }
    } else {
        state.focus = Focus::Composer;
    }
    for (session, request) in answered {
        fx.push(session::to(
            &session,
            SessionCommand::Answer { request: request.clone(), answer: answer.clone(), shown: None },
        ));
        if let Some(open) = state.conversations.open.get_mut(&session) {
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
    focus::hush(state);
    state.input.quiet_types = true;
}

/// The engine did not take an answer: where its request waits on, its panel is shown again. True if nothing is left to
/// bring back into the composer.
pub(crate) fn refused(state: &mut State, id: &SessionId, act: &SessionCommand) -> bool {
    let (SessionCommand::Answer { request, .. }, Some(_)) = (act, act.said()) else { return false };
    let Some(open) = state.conversations.open.get_mut(id) else { return false };
    let given = open.given.iter().rposition(|given| given.request.id == *request);
    match given.and_then(|at| open.given.remove(at)) {
        Some(given) if !given.settled => {
            again(state, id, given);
            true
        }
        Some(given) => !given.panel.has_words(),
        None => false,
    }
}

/// Gives the panel of the shown session the focus.
pub(crate) fn focus(state: &mut State) {
    state.overlays.clear();
    let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut()) else {
        if state.sessions.needing() > 0 {
            return state.follow_up(Intent::Act(AnswerAction::Inbox.into()));
        }
        return state.notify(Notice::new(Level::Info, "Nothing to answer here"));
    };
    panel.unselect();
    focus::leave_words(panel);
    state.focus = Focus::Panel;
    state.screen.shown = Default::default();
    focus::hush(state);
}
