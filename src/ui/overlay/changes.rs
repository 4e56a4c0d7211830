//! Changes of a session: its files, and the diff of the selected one.

use super::super::cells::{self, Piece};
use super::super::chat;
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::overlay::ChangesCard;
use crate::domain::sanitise::clean_line;
use crate::domain::undo::{ChangeKind, ChangedFile, Changes};
use crate::keymap::action::{Action, Context, UndoAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Width from which files and diff are side by side.
const BESIDE: u16 = 100;

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &ChangesCard, body: Rect) {
    let mut title = vec![paint.piece("Files changed by this session", Role::PanelTitle)];
    let files = card.changes.as_ref().map(|changes| changes.files.as_slice()).unwrap_or_default();
    if !files.is_empty() {
        let all = |of: fn(&ChangedFile) -> u32| -> u32 { files.iter().map(of).fold(0, u32::saturating_add) };
        let added = all(|file| file.diff.as_ref().map_or(0, |diff| diff.added));
        let removed = all(|file| file.diff.as_ref().map_or(0, |diff| diff.removed));
        title.push(paint.piece(format!("  {}", count(files.len(), "file", "files")), Role::Dim));
        title.push(paint.piece("  ", Role::Dim));
        title.push(paint.piece(format!("+{added}"), Role::DiffAdded));
        title.push(paint.piece(format!(" {}{removed}", paint.signs.minus), Role::DiffRemoved));
        for piece in &mut title {
            piece.1.bg = None;
        }
    }
    let next = paint.key(Action::Undo(UndoAction::NextFile), Context::Changes).filter(|_| files.len() > 1);
    let undo = paint.key(Action::Undo(UndoAction::Files), Context::Changes).filter(|_| !files.is_empty());
    let hints = [(next, "next file"), (undo, "undo")];
    let inner = super::sheet(paint, body, body.width, body.height, &title, &hints);
    match &card.changes {
        None => {
            let text = format!("{} comparing the files", paint.spin());
            paint.over(cells::row(inner, 0), &text, Role::Running);
        }
        Some(changes) if changes.files.is_empty() => {
            paint.over(cells::row(inner, 0), "No file changes in this session", Role::Dim);
            gaps(paint, changes, cells_below(inner, 2));
        }
        Some(changes) if inner.width >= BESIDE => {
            let width = inner.width / 3;
            let list = Rect { width, ..inner };
            let below = u16::try_from(changes.gaps.len().min(3)).unwrap_or(0);
            let top = Rect { height: list.height.saturating_sub(below + u16::from(below > 0)), ..list };
            names(paint, card, changes, top);
            gaps(paint, changes, cells_below(list, list.height.saturating_sub(below)));
            let diff = Rect { x: inner.x + width + 2, width: inner.width - width - 2, ..inner };
            file(paint, card, changes, diff);
        }
        Some(changes) => {
            // One line names the file, the rest is its diff.
            let rows = match inner.height {
                0..10 => 1,
                n => (n / 4).min(u16::try_from(changes.files.len()).unwrap_or(u16::MAX)).max(1),
            };
            names(paint, card, changes, Rect { height: rows, ..inner });
            file(paint, card, changes, cells_below(inner, rows + u16::from(inner.height >= 10)));
        }
    }
}

fn cells_below(area: Rect, by: u16) -> Rect {
    let by = by.min(area.height);
    Rect { y: area.y + by, height: area.height - by, ..area }
}

fn names(paint: &mut FrameContext<'_>, card: &ChangesCard, changes: &Changes, list: Rect) {
    let height = usize::from(list.height).max(1);
    let last = changes.files.len().saturating_sub(height);
    let first = card.selected.saturating_sub(height / 2).min(last);
    for (n, file) in changes.files.iter().enumerate().skip(first).take(height) {
        let area = cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX));
        let band = Rect { x: area.x.saturating_sub(1), width: area.width + 1, ..area };
        let selected = n == card.selected;
        if selected {
            paint.tint(band, Role::Selected);
        }
        let (sign, role) = match file.kind {
            ChangeKind::Made => ("+", Role::DiffAdded),
            ChangeKind::Removed => (paint.signs.minus, Role::DiffRemoved),
            ChangeKind::Changed => ("~", Role::Warning),
        };
        let mut right: Vec<Piece<'_>> = Vec::new();
        if let Some(diff) = &file.diff {
            right.push(paint.piece(format!("+{}", diff.added), Role::DiffAdded));
            right.push(paint.piece(format!(" {}{}", paint.signs.minus, diff.removed), Role::DiffRemoved));
        }
        let room = usize::from(area.width).saturating_sub(4 + cells::pieces_width(&right));
        let path = clean_line(&file.shown).into_owned();
        let path = cells::cut_start(&path, room.max(6), paint.signs.cut).into_owned();
        let name = if selected { Role::Strong } else { Role::Text };
        let mut left = vec![paint.piece(format!("{sign} "), role), paint.piece(path, name)];
        for piece in left.iter_mut().chain(&mut right) {
            piece.1.bg = None;
        }
        paint.sides(area, &left, &right, 8);
        paint.target(band, Target::OverlayRow(n));
    }
}

fn file(paint: &mut FrameContext<'_>, card: &ChangesCard, changes: &Changes, area: Rect) {
    let Some(file) = changes.files.get(card.selected) else { return };
    let mut area = area;
    if !file.note.is_empty() {
        paint.over(cells::row(area, 0), &clean_line(&file.note), Role::Dim);
        area = cells_below(area, 1);
    }
    let Some(diff) = &file.diff else { return };
    let look = chat::ChatStyle { theme: paint.look.theme, glyphs: paint.look.glyphs };
    let lines = if paint.state.conversations.unified {
        chat::diff_with(diff, area.width.max(1), &look)
    } else {
        chat::diff_beside(diff, area.width.max(1), &look)
    };
    paint.found.overlay_rows = area.height;
    paint.found.overlay_lines = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let scroll = usize::from(card.scroll).min(lines.len().saturating_sub(usize::from(area.height)));
    for (n, line) in lines.iter().skip(scroll).take(usize::from(area.height)).enumerate() {
        paint.line(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
}

fn gaps(paint: &mut FrameContext<'_>, changes: &Changes, area: Rect) {
    for (n, gap) in changes.gaps.iter().enumerate().take(usize::from(area.height)) {
        let text = format!("{} {}", paint.signs.marks.warning, clean_line(gap));
        let text = cells::cut(&text, usize::from(area.width), paint.signs.cut).into_owned();
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), &text, Role::Warning);
    }
}
