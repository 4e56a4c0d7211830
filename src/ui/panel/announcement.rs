//! A request that is only announced: whether its rows say all of it, and the keys that lead on.

use super::super::cells;
use super::super::frame_context::{FrameContext, Hint};
use super::approval;
use super::heading::heading;
use super::view::View;
use crate::app::state::panel::Choice;
use crate::domain::request::Ask;
use crate::domain::tool::Proposal;
use crate::keymap::action::{Action, AnswerAction, Context};

/// True if these rows show all that an answer would let happen: a command or address in full, and every warning.
pub(super) fn is_whole(paint: &FrameContext<'_>, view: View<'_>, width: u16, rows: u16) -> bool {
    let Ask::Approval(asked) = &view.request.ask else { return false };
    let short = match &asked.proposal {
        Proposal::Command { command, .. } => !command.contains('\n'),
        Proposal::Address { url } => !url.contains('\n'),
        _ => false,
    };
    let name = cells::pieces_width(&heading(paint, view.request, None, (width, true)));
    let keys = cells::pieces_width(&paint.hints(&ways(paint, view, true)));
    let fits = name + keys + if view.waiting > 1 { 12 } else { 2 } <= usize::from(width);
    let warned = approval::warnings(asked);
    let said = match warned.as_slice() {
        [] => true,
        [one] => cells::wrap(one, usize::from(width).saturating_sub(2)).len() < usize::from(rows).min(1 + super::WORST),
        _ => false,
    };
    short && fits && said && approval::holder(paint, view.request).is_none()
}

/// Keys that lead to the answers; with the chord that says yes at once, where the screen shows all that it would allow.
pub(super) fn ways(paint: &FrameContext<'_>, view: View<'_>, whole: bool) -> Vec<Hint<'static>> {
    let focus = paint.key(Action::Answer(AnswerAction::Focus), Context::Global);
    if approval::holder(paint, view.request).is_some() {
        return vec![(focus, "read it")];
    }
    let yes = view.panel.choices.iter().position(|choice| *choice == Choice::Once);
    let straight = yes.is_some_and(|at| whole && !view.panel.needs_arrows(at));
    match straight {
        true => {
            let yes = paint.key(Action::Answer(AnswerAction::YesOnce), Context::Global);
            vec![(focus, "answer"), (yes, "yes, once")]
        }
        false => vec![(focus, "answer")],
    }
}
