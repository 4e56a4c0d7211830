//! The steps of a plan as lines: what is struck out, what the user says to them, how far they are. For the row in the
//! conversation and for the panel that asks.

use super::stream::Stream;
use super::style::ChatStyle;
use crate::domain::plan::{Outline, PlanStep, Progress, StepStatus};
use crate::domain::sanitise::reveal;
use crate::theme::Role;
use crate::ui::text::{self, Fold, wrap};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

/// Lead of a plan's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Numbers: nothing of it has begun.
    Number,
    /// Boxes that tick off, then numbers.
    Box,
}

/// A step in lines of at most `width` cells. Nothing of the text is hidden.
#[must_use]
pub fn step(step: &PlanStep, lead: Lead, widest: usize, width: usize, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    let number = format!("{:>widest$}. ", step.number);
    let (sign, role) = match (lead, step.struck, step.status) {
        (_, true, _) => (look.glyph("− ", "- "), Role::Error),
        (Lead::Number, ..) => ("", Role::Dim),
        (_, _, StepStatus::Open) => (look.glyph("☐ ", "[ ] "), Role::Dim),
        (_, _, StepStatus::Running) => (look.glyph("◐ ", "[>] "), Role::Accent),
        (_, _, StepStatus::Done) => (look.glyph("☑ ", "[x] "), Role::Good),
        (_, _, StepStatus::Failed) => (look.glyph("! ", "[!] "), Role::Error),
        (_, _, StepStatus::Skipped) => (look.glyph("– ", "[-] "), Role::Dim),
    };
    // All steps stand in one column, whatever leads them.
    let box_width = if lead == Lead::Box { text::width(look.glyph("☐ ", "[ ] ")) } else { 2 };
    let sign = format!("{sign}{}", " ".repeat(box_width.saturating_sub(text::width(sign))));
    let indent = (text::width(&sign) + text::width(&number)).min(width.saturating_sub(1));
    let mut stream = Stream::default();
    stream.update(&reveal(&step.text), width.saturating_sub(indent).max(1), look);
    let gone = step.struck || step.status == StepStatus::Skipped;
    let mut out = Vec::new();
    for (n, line) in stream.into_lines().into_iter().enumerate() {
        let mut spans = if n == 0 {
            vec![Span::styled(sign.clone(), look.style(role)), Span::styled(number.clone(), look.style(Role::Dim))]
        } else {
            vec![Span::raw(" ".repeat(indent))]
        };
        spans.extend(line.spans.into_iter().map(|span| {
            let style = line.style.patch(span.style);
            let style = if gone { look.style(Role::Dim).patch(crossed(step.struck)) } else { style };
            Span::styled(span.content, style)
        }));
        out.push(Line::from(spans));
    }
    if let Some(comment) = &step.comment {
        let bar = format!("{}{}", " ".repeat(indent), look.glyph("▏ ", "> "));
        let lead = [Span::styled(bar, look.style(Role::Accent))];
        for line in reveal(comment.trim()).split('\n') {
            let words = [Span::styled(line.to_owned(), look.style(Role::Accent))];
            out.extend(wrap(
                &words,
                width,
                text::lead_within(&lead, width),
                text::lead_within(&lead, width),
                Fold::Words,
            ));
        }
    }
    out
}

fn crossed(struck: bool) -> ratatui::style::Style {
    let style = ratatui::style::Style::default();
    if struck { style.add_modifier(Modifier::CROSSED_OUT) } else { style }
}

/// The cells of the longest number.
#[must_use]
pub fn widest(steps: &[PlanStep]) -> usize {
    steps.last().map_or(1, |step| step.number.to_string().len())
}

/// A plan that is carried out, in lines of at most `width` cells.
pub(super) fn carried_out(
    markdown: &str,
    progress: &Progress,
    width: usize,
    look: &ChatStyle<'_>,
) -> Vec<Line<'static>> {
    let outline = Outline::parse(markdown);
    let around = |text: &str| {
        let mut stream = Stream::default();
        stream.update(text, width, look);
        stream.into_lines()
    };
    let mut out = around(outline.before.trim());
    if !out.is_empty() {
        out.push(Line::default());
    }
    let widest = widest(&progress.steps);
    out.extend(progress.steps.iter().flat_map(|one| step(one, Lead::Box, widest, width, look)));
    if !outline.after.trim().is_empty() {
        out.push(Line::default());
        out.extend(around(outline.after.trim()));
    }
    out
}

/// `3 of 5 done`, with what failed.
#[must_use]
pub fn figures(progress: &Progress) -> String {
    let (done, of) = progress.figures();
    let failed = progress.steps.iter().filter(|step| step.status == StepStatus::Failed).count();
    if failed > 0 { format!("{done} of {of} done, {failed} failed") } else { format!("{done} of {of} done") }
}
