//! The key of a connection that is asked for: where it goes, where it is kept, and the field that shows nothing of it.

use super::super::cells;
use super::super::figures::elapsed;
use super::super::frame_context::FrameContext;
use super::lines::words;
use crate::app::state::connecting::Check;
use crate::app::state::hidden::Hidden;
use crate::domain::lookalike::expose;
use crate::domain::request::KeyRequest;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, AppAction, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::path::Path;

/// Cells below which the field has short words for itself and its keys.
const NARROW: u16 = 48;

/// The request, in lines of `width` cells.
pub(super) fn body(paint: &FrameContext<'_>, wanted: &KeyRequest, width: u16) -> Vec<Line<'static>> {
    let stored = paint.home_path(Path::new(&wanted.stored));
    let mut lines = words(paint, &clean_line(&wanted.why), width, Role::Text);
    lines.extend(words(paint, &format!("Sent only to {}.", expose(&wanted.host)), width, Role::Text));
    let kept = format!("Stored in {}, readable only by you.", expose(&stored));
    lines.extend(words(paint, &kept, width, Role::Dim));
    lines
}

/// `⠹ 2s  checking the key of openai`, while its server is asked.
pub(in crate::ui) fn checking(paint: &FrameContext<'_>, check: &Check) -> String {
    let (spin, since) = (paint.spin(), elapsed(paint.state.clock.now.since(check.since)));
    format!("{spin} {since}  checking the key for {}", clean_line(check.connection.as_str()))
}

/// The field: one sign for each character, whatever it is. It stays open while a key is checked.
pub(super) fn field(paint: &mut FrameContext<'_>, key: &Hidden, area: Rect, focused: bool) {
    let send = paint.key(Action::Picker(PickerAction::Accept), Context::Input);
    let back = paint.key(Action::App(AppAction::Back), Context::Global);
    let check = paint.state.checked_key();
    let (label, role) = match check {
        None if area.width < NARROW => ("API key".to_owned(), Role::Strong),
        None => ("API key (hidden)".to_owned(), Role::Strong),
        Some(check) if check.next => (format!("{}, then the next", checking(paint, check)), Role::Running),
        Some(check) => (checking(paint, check), Role::Running),
    };
    let gives = match check {
        Some(_) => "keep even if rejected",
        None if area.width < NARROW => "save",
        None => "save and use",
    };
    let sends = check.is_none_or(|check| !check.next && !key.is_empty());
    let mut hints = if sends { vec![(send, gives)] } else { Vec::new() };
    hints.push((back, "back"));
    let (left, hints) = ([paint.piece(label.clone(), role)], paint.hints(&hints));
    paint.sides(cells::row(area, 0), &left, &hints, cells::width(&label));
    if area.height < 2 {
        return;
    }
    paint.hidden_line(cells::row(area, 1), key.len(), focused);
}
