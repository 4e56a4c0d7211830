//! A change with several changed places, each under its number, so that single ones can be struck out.

use super::super::chat::{self, ChangeLine};
use super::super::frame_context::FrameContext;
use super::super::text::spans_width;
use crate::app::state::hunks::HunkView;
use crate::domain::diff::{DiffKind, FileDiff, Hunk};
use crate::domain::tool::Proposal;
use crate::theme::Role;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// The change in lines of `width` cells, and the first and the last line of each changed place.
pub(super) fn body(
    paint: &FrameContext<'_>,
    proposal: &Proposal,
    marks: &HunkView,
    width: u16,
    look: &chat::ChatStyle<'_>,
) -> (Vec<ChangeLine>, Vec<(u16, u16)>) {
    let mut lines: Vec<ChangeLine> = Vec::new();
    let mut ends = Vec::new();
    let several = matches!(proposal, Proposal::Changes { .. });
    let one_below = several || paint.state.conversations.unified;
    let mut at = 0;
    for diff in proposal.diffs() {
        // Where a file is one change, its name is the head of that.
        let lone = several && diff.hunks.len() == 1;
        if several && !lines.is_empty() {
            lines.push(Line::default().into());
        }
        if several && !lone {
            lines.extend(chat::diff_name(diff, width, look).into_iter().map(ChangeLine::from));
        }
        for hunk in &diff.hunks {
            let first = lines.len();
            match lone {
                true => lines.extend(named(paint, diff, (at, marks), width, look).into_iter().map(ChangeLine::from)),
                false => lines.push(head(paint, hunk, at, marks).into()),
            }
            let one = FileDiff { hunks: vec![hunk.clone()], ..diff.clone_without_hunks() };
            let body = chat::change_lines(&one, width, one_below, look);
            match marks.is_struck(at) {
                true => lines.extend(body.into_iter().map(|line| struck(paint, line))),
                false => lines.extend(body),
            }
            let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
            ends.push((place(first), place(lines.len() - 1)));
            at += 1;
        }
    }
    (lines, ends)
}

/// `› 2. line 40  +1 −1`
fn head(paint: &FrameContext<'_>, hunk: &Hunk, at: usize, marks: &HunkView) -> Line<'static> {
    let (first, last) = hunk.changed_lines();
    let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
    let counts = (hunk.count_of(DiffKind::Added), hunk.count_of(DiffKind::Removed));
    let role = if marks.at == Some(at) { Role::Strong } else { Role::Dim };
    let mut spans = lead(paint, at, marks);
    spans.push(Span::styled(lines, paint.style(role)));
    spans.push(Span::styled(format!("  +{}", counts.0), paint.style(Role::Good)));
    spans.push(Span::styled(format!(" {}{}", paint.signs.minus, counts.1), paint.style(Role::Error)));
    spans.extend(fate(paint, at, marks));
    Line::from(spans)
}

/// `› 2. src/main.rs  +1 −1`
fn named(
    paint: &FrameContext<'_>,
    diff: &FileDiff,
    (at, marks): (usize, &HunkView),
    width: u16,
    look: &chat::ChatStyle<'_>,
) -> Vec<Line<'static>> {
    let lead = lead(paint, at, marks);
    let wide = spans_width(&lead);
    let inner = width.saturating_sub(u16::try_from(wide).unwrap_or(u16::MAX)).max(1);
    let mut lines = chat::diff_name(diff, inner, look);
    for (n, line) in lines.iter_mut().enumerate() {
        let before = if n == 0 { lead.clone() } else { vec![Span::raw(" ".repeat(wide))] };
        line.spans.splice(0..0, before);
    }
    if let Some(last) = lines.last_mut() {
        last.spans.extend(fate(paint, at, marks));
    }
    lines
}

/// Number of a place, with the sign of the one that is looked at.
fn lead(paint: &FrameContext<'_>, at: usize, marks: &HunkView) -> Vec<Span<'static>> {
    let here = marks.at == Some(at);
    let sign = if here { format!("{} ", paint.signs.prompt) } else { "  ".to_owned() };
    let role = if here { Role::Strong } else { Role::Dim };
    vec![Span::styled(sign, paint.style(Role::Strong)), Span::styled(format!("{}. ", at + 1), paint.style(role))]
}

/// Word on a place that is struck out.
fn fate(paint: &FrameContext<'_>, at: usize, marks: &HunkView) -> Option<Span<'static>> {
    marks.is_struck(at).then(|| Span::styled("  struck", paint.style(Role::Warning)))
}

/// A line of a place that is struck out: what would come or go is crossed out, what stays anyway is not.
fn struck(paint: &FrameContext<'_>, shown: ChangeLine) -> ChangeLine {
    let ChangeLine { line, changed: true } = shown else { return shown };
    let style: Style = paint.style(Role::Dim).add_modifier(Modifier::CROSSED_OUT);
    // Blanks that only pad are not crossed out.
    let spans = line.spans.into_iter().map(|span| match span.content.trim().is_empty() {
        true => Span::raw(span.content),
        false => Span::styled(span.content, style),
    });
    ChangeLine { line: Line::from(spans.collect::<Vec<_>>()), changed: true }
}
