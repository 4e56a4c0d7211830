//! Enter in the composer: what the draft is decides what becomes of it.

use crate::app::composer::send::{self, How};
use crate::app::composer::{chips, key_text, reply, user_commands};
use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{connecting, session};
use crate::app::slash as commands;
use crate::app::state::composer::EnterDoes;
use crate::app::state::empty_enter::EmptyEnter;
use crate::app::state::notices::TrueWhile;
use crate::app::state::{Blind, Focus, State};
use crate::domain::{Level, Notice};
use crate::keymap::action::{AnswerAction, ModelAction};
use crate::protocol::{QueueEdit, SessionCommand};

/// Milliseconds without a key after which Enter on an empty draft gives the panel the focus.
const CALM: u64 = 1_500;

/// Enter in the composer.
pub(crate) fn enter(state: &mut State, how: How, fx: &mut Vec<Effect>) {
    if how == How::Queue && state.focus == Focus::Composer && state.composer().picked().is_some() {
        return chips::open_picked(state, fx);
    }
    match state.composer_mut().enter() {
        EnterDoes::BrokeLine => {}
        EnterDoes::Empty if how == How::Queue => enter_on_nothing(state, fx),
        EnterDoes::Empty => {}
        EnterDoes::Send if state.input.blind == Blind::WentOn => {
            let text = "Not sent: partly typed while a dialog was open";
            let conditions = vec![TrueWhile::Draft(state.composer().text())];
            state.notify_while(Notice::new(Level::Warning, text).hint("Enter sends it anyway"), conditions);
        }
        EnterDoes::Send if key_text::asks(state) => {}
        EnterDoes::Send if reply::holds_back(state) => {}
        EnterDoes::Send => {
            let text = state.composer().text();
            if let Some(command) = send::command(&text) {
                return send::type_command(state, command, fx);
            }
            if let Some((at, args)) = user_commands::own(state, &text) {
                return user_commands::run_own(state, at, &args, fx);
            }
            match commands::read(&text) {
                None if how == How::Queue && reply::reply(state, &text, fx) => {}
                None => drop(send::send(state, text, how, fx)),
                Some(Ok(call)) => {
                    state.composer_mut().take();
                    state.follow_up(Intent::Run(call));
                }
                Some(Err(unknown)) => user_commands::unknown(state, &unknown),
            }
        }
    }
}

/// Enter on an empty draft: [`State::empty_enter`]. What waits gets the focus only after a while without keys.
fn enter_on_nothing(state: &mut State, fx: &mut Vec<Effect>) {
    if state.focus != Focus::Composer || !state.composer().is_empty() {
        return;
    }
    if state.panel().is_some() {
        if state.input.idle_before >= CALM {
            state.follow_up(Intent::Act(AnswerAction::Focus.into()));
        } else {
            let key = state.keys.key_for(AnswerAction::Focus);
            let notice = Notice::new(Level::Info, "Not answered: too soon after another key");
            let waits = state.panel().map(|(_, asked)| TrueWhile::Waits(asked.id.clone()));
            state.notify_while(notice.hint(format!("{key} to the request")), waits.into_iter().collect());
        }
        return;
    }
    let act = match state.empty_enter() {
        Some(EmptyEnter::Retry | EmptyEnter::Continue) => SessionCommand::Retry,
        Some(EmptyEnter::Release) => SessionCommand::Queue(QueueEdit::Release),
        Some(EmptyEnter::Model) => return state.follow_up(Intent::Act(ModelAction::Pick.into())),
        Some(EmptyEnter::Choose) => return connecting::choose_first(state, fx),
        Some(EmptyEnter::Answer) | None => return,
    };
    if let Some(id) = state.current_id() {
        fx.push(session::to(id, act));
    }
}
