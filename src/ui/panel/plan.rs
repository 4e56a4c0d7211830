//! A plan that waits for its answer, as it is read and marked.

use super::super::chat;
use super::super::frame_context::FrameContext;
use super::super::layout_cache::PlanOrder;
use super::lines::styled;
use crate::app::state::plan::PlanView;
use crate::domain::request::{PlanOrigin, PlanReview};
use crate::domain::sanitise::reveal;
use crate::theme::Role;
use ratatui::text::{Line, Span};
use std::path::Path;

/// The plan in lines of `width` cells, the first and the last line of each step, and how many lines it has before its
/// steps as it is written.
pub(super) fn body(
    paint: &FrameContext<'_>,
    plan: &PlanReview,
    view: Option<&PlanView>,
    (width, order): (u16, PlanOrder),
    look: &chat::ChatStyle<'_>,
) -> (Vec<Line<'static>>, Vec<(u16, u16)>, usize) {
    if plan.markdown.trim().is_empty() {
        return (styled(paint, "Empty plan: nothing to approve", width, Role::Warning), Vec::new(), 0);
    }
    // Nothing of a plan is hidden: what a terminal would act on, or nobody sees, stands there as what it is.
    let shown = |text: &str| reveal(text);
    let mut lines = Vec::new();
    let mut ends = Vec::new();
    let mut before_steps = 0;
    if plan.resumes {
        let text = "Approved, but lisle quit before compaction finished. Answer to continue.";
        lines.extend(styled(paint, text, width, Role::Warning));
        lines.push(Line::default());
    }
    match view.filter(|view| !view.outline.steps.is_empty()) {
        None => lines.extend(chat::markdown_with(&shown(below_title(&plan.markdown, &plan.title)), width, look)),
        Some(view) => {
            let before = below_title(&view.outline.before, &plan.title);
            if !is_title(before, &plan.title) {
                lines.extend(chat::markdown_with(&shown(before), width, look));
                lines.push(Line::default());
            }
            before_steps = lines.len();
            let widest = chat::plan_widest(&view.outline.steps);
            let inner = usize::from(width).saturating_sub(2).max(1);
            for (n, step) in view.outline.steps.iter().enumerate() {
                let here = view.at == Some(n);
                let sign = if here { format!("{} ", paint.signs.prompt) } else { "  ".to_owned() };
                let first = lines.len();
                for (row, line) in
                    chat::plan_step(step, chat::PlanLead::Number, widest, inner, look).into_iter().enumerate()
                {
                    let lead = if row == 0 { sign.clone() } else { "  ".to_owned() };
                    let mut spans = vec![Span::styled(lead, paint.style(Role::Strong))];
                    spans.extend(line.spans);
                    lines.push(Line::from(spans));
                }
                let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
                ends.push((place(first), place(lines.len().saturating_sub(1).max(first))));
            }
            if order == PlanOrder::StepsFirst {
                // With the blank between them.
                let mut steps = lines.split_off(before_steps);
                if let Some(blank) = lines.pop() {
                    lines.insert(0, blank);
                }
                steps.append(&mut lines);
                lines = steps;
                let up = |at: &mut u16| *at = at.saturating_sub(u16::try_from(before_steps).unwrap_or(u16::MAX));
                for (first, last) in &mut ends {
                    up(first);
                    up(last);
                }
            }
            if !view.outline.after.trim().is_empty() {
                lines.push(Line::default());
                lines.extend(chat::markdown_with(&shown(&view.outline.after), width, look));
            }
        }
    }
    lines.push(Line::default());
    let name = file_name(&plan.path);
    let (said, role) = match plan.origin {
        PlanOrigin::Submitted => (format!("Saved as {name}"), Role::Dim),
        PlanOrigin::EditedByUser => (format!("Edited by you, saved as {name}"), Role::Dim),
        PlanOrigin::ChangedOnDisk => (format!("{name} changed since it was submitted"), Role::Warning),
    };
    lines.extend(styled(paint, &said, width, role));
    (lines, ends, before_steps)
}

/// A plan without the heading that only says its title again: that stands in the panel's first row.
fn below_title<'m>(markdown: &'m str, title: &str) -> &'m str {
    let whole = markdown.trim_start();
    let (first, rest) = whole.split_once('\n').unwrap_or((whole, ""));
    if is_title(first, title) && !rest.trim().is_empty() { rest.trim_start() } else { whole }
}

fn is_title(line: &str, title: &str) -> bool {
    line.trim().is_empty() || (line.starts_with('#') && line.trim_start_matches('#').trim() == title.trim())
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| reveal(&name.to_string_lossy())).unwrap_or_default()
}
