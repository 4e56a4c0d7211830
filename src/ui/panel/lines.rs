//! Lines of a request's text.

use crate::domain::lookalike::expose;
use crate::theme::Role;
use crate::ui::cells;
use crate::ui::frame_context::FrameContext;
use crate::ui::text::{self, Fold};
use ratatui::text::{Line, Span};
use std::path::Path;

/// Cells of a command's title and its keys, without the place.
const TITLE: usize = 46;

/// Directory of a command.
pub(super) fn place(paint: &FrameContext<'_>, cwd: &Path) -> String {
    format!("in {}", expose(&paint.home_path(cwd)))
}

/// The title says where a command runs, if that fits there beside the keys; else it stands below the command.
pub(super) fn in_title(paint: &FrameContext<'_>, cwd: &Path, width: u16) -> bool {
    cells::width(&place(paint, cwd)) + TITLE <= usize::from(width)
}

/// A sentence, broken between words.
pub(super) fn words(paint: &FrameContext<'_>, text: &str, width: u16, role: Role) -> Vec<Line<'static>> {
    let span = Span::styled(text.to_owned(), paint.flat(paint.style(role)));
    text::wrap(&[span], usize::from(width), &[], &[], Fold::Words)
}

/// The text as it is, broken where the width ends.
pub(super) fn styled(paint: &FrameContext<'_>, text: &str, width: u16, role: Role) -> Vec<Line<'static>> {
    let style = paint.style(role);
    cells::wrap(text, usize::from(width)).into_iter().map(|line| Line::styled(line, style)).collect()
}
