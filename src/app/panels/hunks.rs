//! The panel of a change with several changed places: walking through them and striking them out, with the keys of a
//! plan's steps.

use crate::app::panels::plan;
use crate::app::state::State;
use crate::app::state::panel::Panel;
use crate::domain::request::UserAnswer;
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;

/// A verb about a changed place. False if it was none here.
pub(crate) fn step(panel: &mut Panel, verb: AnswerAction, ends: &[(u16, u16)], rows: u16) -> bool {
    let Some(hunks) = &mut panel.hunks else { return false };
    match verb {
        AnswerAction::StepNext => hunks.walk(true),
        AnswerAction::StepPrevious => hunks.walk(false),
        AnswerAction::StepStrike if hunks.strike() => {}
        _ => return false,
    }
    let at = hunks.at;
    plan::scroll_to(panel, at.and_then(|at| ends.get(at)).copied(), rows);
    true
}

/// True if an answer does not go together with what is struck out: said here, so that the marks stay.
pub(crate) fn refused(state: &mut State, panel: &Panel, answer: &UserAnswer) -> bool {
    let struck = panel.hunks.as_ref().filter(|hunks| !hunks.left_out().is_empty());
    let Some(hunks) = struck else { return false };
    let (text, hint) = match answer {
        UserAnswer::Once | UserAnswer::OnceWithout(_) if hunks.is_all_struck() => {
            ("Every change is struck: nothing to write", "answer no, or restore one with the same key")
        }
        UserAnswer::Remember { .. } => {
            ("Struck changes apply to this call only", "answer “yes, this once”, or restore them")
        }
        _ => return false,
    };
    state.notify(Notice::new(Level::Warning, text).hint(hint));
    true
}
