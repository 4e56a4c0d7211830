//! The key of a connection that is asked for: where it goes, where it is kept, and the field that shows nothing of it.

use super::super::cells;
use super::super::frame_context::FrameContext;
use super::lines::words;
use crate::app::state::hidden::Hidden;
use crate::domain::lookalike::expose;
use crate::domain::request::KeyRequest;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, AppAction, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::path::Path;

/// The request, in lines of `width` cells.
pub(super) fn body(paint: &FrameContext<'_>, wanted: &KeyRequest, width: u16) -> Vec<Line<'static>> {
    let stored = paint.home_path(Path::new(&wanted.stored));
    let mut lines = words(paint, &clean_line(&wanted.why), width, Role::Text);
    lines.extend(words(paint, &format!("It goes to {} and nowhere else.", expose(&wanted.host)), width, Role::Text));
    let kept = format!("It is kept in {}, which only you can read.", expose(&stored));
    lines.extend(words(paint, &kept, width, Role::Dim));
    lines
}

/// The field: one sign for each character, whatever it is.
pub(super) fn field(paint: &mut FrameContext<'_>, key: &Hidden, area: Rect, focused: bool) {
    let send = paint.key(Action::Picker(PickerAction::Accept), Context::Input);
    let back = paint.key(Action::App(AppAction::Back), Context::Global);
    let label = "the key, not shown";
    let left = [paint.piece(label, Role::Strong)];
    let hints = paint.hints(&[(send, "keep and use"), (back, "back")]);
    paint.sides(cells::row(area, 0), &left, &hints, label.len());
    if area.height < 2 {
        return;
    }
    let row = cells::row(area, 1);
    let shown = key.len().min(usize::from(row.width.saturating_sub(1)));
    paint.text(row, &"*".repeat(shown), Role::Text);
    if focused {
        paint.caret(row, shown, 0);
    }
}
