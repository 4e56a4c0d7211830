//! What an approval covers, to the byte, and what speaks for caution.

use super::super::cells;
use super::super::chat;
use super::super::paint::Paint;
use super::{in_title, place, styled};
use crate::domain::request::{Approval, Ask, Request};
use crate::domain::sanitise::{clean_line, reveal};
use crate::domain::tool::Proposal;
use crate::theme::Role;
use ratatui::text::{Line, Span};

/// What exactly will happen, in lines of `width` cells.
pub(super) fn body(paint: &Paint<'_>, approval: &Approval, width: u16, look: &chat::Look<'_>) -> Vec<Line<'static>> {
    match &approval.proposal {
        Proposal::Command { command, cwd } => {
            let mut lines = command_lines(paint, command, width);
            if !in_title(paint, cwd, width) {
                lines.extend(styled(paint, &place(paint, cwd), width, Role::Dim));
            }
            lines
        }
        Proposal::Change { diff, .. } => chat::diff_with(diff, width, look),
        Proposal::Plain => styled(paint, &reveal(&approval.subject), width, Role::ToolSubject),
    }
}

/// The command with nothing hidden: every line, every character that would deceive made visible.
fn command_lines(paint: &Paint<'_>, command: &str, width: u16) -> Vec<Line<'static>> {
    let room = usize::from(width).saturating_sub(2).max(1);
    let (sign, text) = (paint.style(Role::Faint), paint.style(Role::Strong));
    let shown = reveal(command);
    let wrapped = cells::wrap(&shown, room);
    let lines = wrapped.into_iter().enumerate();
    lines
        .map(|(n, line)| {
            let lead = if n == 0 { "$ " } else { "  " };
            Line::from(vec![Span::styled(lead, sign), Span::styled(line, text)])
        })
        .collect()
}

/// Risks, then reasons, one sentence each.
pub(super) fn facts(paint: &Paint<'_>, request: &Request, width: u16) -> Vec<Line<'static>> {
    let Ask::Approval(approval) = &request.ask else { return Vec::new() };
    let Approval { risks, reasons, would_run_now, .. } = &**approval;
    let mut lines = Vec::new();
    let mut say = |sign: &'static str, role: Role, text: &str| {
        let room = usize::from(width).saturating_sub(2).max(1);
        for (n, part) in cells::wrap(&clean_line(text), room).into_iter().enumerate() {
            let lead = if n == 0 { format!("{sign} ") } else { "  ".to_owned() };
            lines.push(Line::from(vec![Span::styled(lead, paint.style(role)), Span::styled(part, paint.style(role))]));
        }
    };
    for risk in risks {
        say(paint.signs.warning, Role::Warning, risk);
    }
    for reason in reasons {
        say(paint.signs.dot, Role::Dim, reason);
    }
    if *would_run_now {
        say(paint.signs.dot, Role::Good, "the mode was changed since: it would run now without being asked");
    }
    lines
}
