//! Rules that somebody else wrote, before they are trusted: what they say, or what changed in them.

use super::super::frame_context::FrameContext;
use super::lines::styled;
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::domain::sanitise::{reveal, reveal_line};
use crate::theme::Role;
use ratatui::text::Line;

/// The request, in a few words.
pub(in crate::ui) fn heading(request: &TrustRequest) -> Option<&'static str> {
    Some(match (request.what, request.changed) {
        (TrustWhat::Workspace, _) => "Trust this workspace?",
        (TrustWhat::Repository, false) => "Trust these rules?",
        (TrustWhat::Repository, true) => "Trust the changed rules?",
        (TrustWhat::Sources, false) => "Trust these sources?",
        (TrustWhat::Sources, true) => "Trust the changed sources?",
        (TrustWhat::Extensions, false) => "Trust these skills, agents and commands?",
        (TrustWhat::Extensions, true) => "Trust the changed skills, agents and commands?",
    })
}

/// Text of the files, in lines of `width` cells.
pub(in crate::ui) fn body(paint: &FrameContext<'_>, request: &TrustRequest, width: u16) -> Vec<Line<'static>> {
    let mut lines = styled(paint, &reveal(&paint.home_path(&request.path)), width, Role::Dim);
    let verb = if request.what == TrustWhat::Sources { "starts " } else { "" };
    for start in &request.starts {
        lines.extend(styled(paint, &format!("{verb}{}", reveal_line(start)), width, Role::Strong));
    }
    for line in request.text.lines() {
        let role = match line.as_bytes().first() {
            Some(b'+') if request.changed => Role::Good,
            Some(b'-') if request.changed => Role::Error,
            _ => Role::Text,
        };
        lines.extend(styled(paint, &reveal_line(line), width, role));
    }
    lines
}
