//! A plan that waits for its answer, as it is read.

use super::super::chat;
use super::super::paint::Paint;
use super::styled;
use crate::domain::request::PlanReview;
use crate::domain::sanitise::reveal;
use crate::theme::Role;
use ratatui::text::Line;
use std::path::Path;

/// The plan in lines of `width` cells.
pub(super) fn body(paint: &Paint<'_>, plan: &PlanReview, width: u16, look: &chat::Look<'_>) -> Vec<Line<'static>> {
    if plan.markdown.trim().is_empty() {
        return styled(paint, "The plan is empty: it cannot be approved.", width, Role::Warning);
    }
    let mut lines = chat::markdown_with(below_title(&plan.markdown, &plan.title), width, look);
    lines.push(Line::default());
    lines.extend(styled(paint, &format!("saved as {}", file_name(&plan.path)), width, Role::Dim));
    lines
}

/// A plan without the heading that only says its title again: that stands in the panel's first row.
fn below_title<'m>(markdown: &'m str, title: &str) -> &'m str {
    let whole = markdown.trim_start();
    let (first, rest) = whole.split_once('\n').unwrap_or((whole, ""));
    let heading = first.starts_with('#').then(|| first.trim_start_matches('#').trim());
    if heading == Some(title.trim()) && !rest.trim().is_empty() { rest.trim_start() } else { whole }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| reveal(&name.to_string_lossy())).unwrap_or_default()
}
