//! The panel of a plan: walking through its steps, striking them out, saying something to them, editing the whole.

use crate::app::effect::Effect;
use crate::app::shell::{focus, session, text};
use crate::app::state::edit::Editor;
use crate::app::state::panel::{Choice, Panel, Stage};
use crate::app::state::{Current, Editing, State};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::{Level, Notice};
use crate::keymap::action::AnswerAction;
use crate::protocol::SessionCommand;

/// A verb about a step. Whether it was one here: a plan without steps, or with none looked at, knows no such verbs.
pub(crate) fn step(panel: &mut Panel, verb: AnswerAction, ends: &[(u16, u16)], rows: u16) -> bool {
    let Some(plan) = &mut panel.plan else { return false };
    let known = match verb {
        AnswerAction::StepNext => plan.walk(true),
        AnswerAction::StepPrevious => plan.walk(false),
        AnswerAction::StepStrike => plan.strike(),
        AnswerAction::StepComment => match plan.step() {
            Some(step) => {
                let said = step.comment.clone().unwrap_or_default();
                let purpose = Choice::StepComment(step.number);
                let begun = panel.begun.take().filter(|(other, _)| *other == purpose).map(|(_, words)| words);
                let text = Box::new(Editor::new(&begun.unwrap_or(said)));
                panel.stage = Stage::Writing { purpose, text };
                return true;
            }
            None => false,
        },
        _ => false,
    };
    let lines = plan.at.and_then(|at| ends.get(at)).copied().filter(|_| known);
    scroll_to(panel, lines, rows);
    known
}

/// Brings these lines into sight, or their beginning where they are longer than the panel.
pub(super) fn scroll_to(panel: &mut Panel, lines: Option<(u16, u16)>, rows: u16) {
    if let Some((first, last)) = lines {
        let least = (last + 1).saturating_sub(rows);
        panel.scroll = Some(panel.scroll.unwrap_or(0).clamp(least.min(first), first));
    }
}

/// Enter on the words to a step. Whether that is what was written.
pub(crate) fn accept_comment(panel: &mut Panel) -> bool {
    let Stage::Writing { purpose: Choice::StepComment(number), text } = &panel.stage else { return false };
    let (number, words) = (*number, text.text());
    if let Some(plan) = &mut panel.plan {
        plan.comment(number, &words);
    }
    panel.stage = Stage::Choosing;
    true
}

/// Nothing is left of the plan to approve: said here, so that the marks stay.
pub(crate) fn refused(state: &mut State, panel_all_struck: bool) -> bool {
    if panel_all_struck {
        let text = "Every step is struck: nothing to approve";
        state.notify(Notice::new(Level::Warning, text).hint("decline the plan, or restore a step"));
    }
    panel_all_struck
}

/// Opens the plan in $EDITOR; what is saved there is asked anew.
pub(crate) fn edit(state: &mut State, session: SessionId, request: RequestId, text: String, fx: &mut Vec<Effect>) {
    state.drafts.editing = Some(Editing::Plan { session, request });
    fx.push(Effect::Edit { text });
}

/// The plan comes back from $EDITOR.
pub(crate) fn edited(state: &mut State, session: &SessionId, request: RequestId, text: String, fx: &mut Vec<Effect>) {
    if state.request(session, &request).is_none() {
        // It was answered elsewhere meanwhile: what was written is not lost.
        let shown = state.conversations.current == Current::Session(session.clone());
        let composer = match state.conversations.open.get_mut(session) {
            Some(open) => &mut open.composer,
            None => state.composer_mut(),
        };
        if composer.is_empty() {
            composer.set(&text);
        }
        let where_to = if shown { "kept in the composer" } else { "kept in that session's composer" };
        let notice = Notice::new(Level::Warning, "The plan you edited is no longer pending");
        return state.notify(notice.hint(where_to));
    }
    fx.push(session::to(
        session,
        SessionCommand::Answer { request, answer: crate::domain::request::UserAnswer::PlanEdited(text), shown: None },
    ));
    focus::hush(state);
}

/// No plan waits: how far the one is that is carried out.
pub(crate) fn tell(state: &mut State) {
    let plan = state.current_open().and_then(|open| open.plan.as_ref());
    let notice = match plan {
        None => Notice::new(Level::Info, "No pending plan in this session"),
        Some(plan) => {
            let (done, of) = plan.figures();
            let next = plan.next().map(|step| format!("; step {}: {}", step.number, text::plain(step.line())));
            let text =
                format!("Plan {}: {done} of {of} steps done{}", text::plain(&plan.title), next.unwrap_or_default());
            Notice::new(Level::Info, text).hint("/plan drop ends it")
        }
    };
    state.notify(notice);
}

/// `/plan drop`: the plan that waits, or the one that is carried out.
pub(crate) fn drop_plan(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(id) = state.current_id() {
        fx.push(session::to(id, SessionCommand::DropPlan));
    }
}
