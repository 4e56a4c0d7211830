//! The sheet of an overlay: its ground, its title with the keys, and the rectangle for its content.

use crate::app::msg::Target;
use crate::keymap::action::{Action, AppAction, Context};
use crate::theme::Role;
use crate::ui::cells::{self, Piece};
use crate::ui::frame_context::{FrameContext, Hint};
use crate::ui::text::{self, Fold};
use ratatui::layout::Rect;

/// A text in lines of at most `width` cells, broken between words.
pub(super) fn folded(text: &str, width: usize) -> Vec<String> {
    let span = ratatui::text::Span::raw(text);
    let lines = text::wrap(&[span], width.max(1), &[], &[], Fold::Words);
    lines.iter().map(ToString::to_string).collect()
}

/// The same with all lines but the first behind `indent` blanks.
pub(super) fn hanging(text: &str, width: usize, indent: usize) -> Vec<String> {
    let span = ratatui::text::Span::raw(text);
    let rest = [ratatui::text::Span::raw(" ".repeat(indent))];
    let lines = text::wrap(&[span], width.max(1), &[], &rest, Fold::Words);
    lines.iter().map(ToString::to_string).collect()
}

/// Rows below which a sheet has the whole screen.
const SMALL: u16 = 18;

/// Clears a sheet of at most `width` by `rows` for its content and writes its title with `hints` and the way out. Where
/// they do not fit beside the title they stand below the content, which gets fewer rows: no answer is lost.
/// Returns the rectangle for the content. On a small screen it is the whole screen.
pub(super) fn sheet(
    paint: &mut FrameContext<'_>,
    body: Rect,
    width: u16,
    rows: u16,
    title: &[Piece<'_>],
    hints: &[Hint<'_>],
) -> Rect {
    let small = body.width < 60 || body.height < SMALL;
    let framed = paint.style(Role::Panel).bg.is_none();
    let close = paint.key(Action::App(AppAction::Back), Context::Global);
    let mut all = hints.to_vec();
    all.push((close, "close"));
    let width = if small { body.width } else { width.min(body.width - 8) / 2 * 2 };
    let below = hints_below(paint, title, &all, usize::from(width.saturating_sub(4)));
    let area = if small {
        body
    } else {
        // Title and content, with a blank row around.
        let more = u16::try_from(below.len()).unwrap_or(0);
        let height = rows.saturating_add(4 + more).min(body.height - 4);
        Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 4, width, height }
    };
    for beside in slivers(body, area) {
        paint.fill(beside, Role::Text);
    }
    // Words that the sheet cuts do not touch its own.
    if !small {
        let left = Rect { x: area.x.saturating_sub(1), width: area.x.min(1), ..area };
        let right = Rect { x: area.right(), width: body.right().saturating_sub(area.right()).min(1), ..area };
        paint.fill(left, Role::Text);
        paint.fill(right, Role::Text);
    }
    paint.fill(area, Role::Panel);
    if framed && !small {
        frame(paint, area);
    }
    paint.target(area, Target::Overlay);
    let inset = u16::from(!small);
    let inner = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + inset.min(area.height),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2 * inset),
    };
    let beside = if below.is_empty() { all.as_slice() } else { &[] };
    paint.sides_hints(cells::row(inner, 0), title, beside, cells::pieces_width(title));
    let gap = if small { 1 } else { 2 }.min(inner.height);
    let under = u16::try_from(below.len()).unwrap_or(0).min(inner.height - gap);
    for (n, line) in (inner.height - under..inner.height).zip(&below) {
        let row = cells::row(inner, n);
        paint.pieces(row, &paint.hints(line));
        paint.click_hints(row, line);
    }
    Rect { y: inner.y + gap, height: inner.height - gap - under, ..inner }
}

/// Rows of content that a sheet has at the most, with its hints beside the title.
pub(super) fn most_rows(body: Rect) -> u16 {
    let small = body.width < 60 || body.height < SMALL;
    body.height.saturating_sub(if small { 1 } else { 8 }).max(1)
}

/// Cells beside a sheet below which nothing of what lies under it can be read.
const SLIVER: u16 = 12;

/// The strips beside a sheet that are too narrow to be read: words cut off there look like part of it.
fn slivers(body: Rect, area: Rect) -> impl Iterator<Item = Rect> {
    let left = Rect { x: body.x, width: area.x.saturating_sub(body.x), ..area };
    let right = Rect { x: area.right(), width: body.right().saturating_sub(area.right()), ..area };
    [left, right].into_iter().filter(|strip| (1..SLIVER).contains(&strip.width) && strip.height > 0)
}

/// The hints in rows of `width` cells where they do not fit beside the title; none where they do.
fn hints_below<'h>(
    paint: &FrameContext<'_>,
    title: &[Piece<'_>],
    hints: &[Hint<'h>],
    width: usize,
) -> Vec<Vec<Hint<'h>>> {
    let beside = cells::pieces_width(&paint.hints(hints));
    if cells::pieces_width(title) + 2 + beside <= width {
        return Vec::new();
    }
    let (mut rows, mut row) = (Vec::new(), Vec::<Hint<'_>>::new());
    for hint in hints.iter().filter(|(key, _)| key.is_some()) {
        row.push(hint.clone());
        if row.len() > 1 && cells::pieces_width(&paint.hints(&row)) > width {
            row.pop();
            rows.push(std::mem::take(&mut row));
            row.push(hint.clone());
        }
    }
    rows.push(row);
    rows
}

/// A thin line around, for themes whose sheets have no ground of their own.
fn frame(paint: &mut FrameContext<'_>, area: Rect) {
    let [top_left, top_right, bottom_left, bottom_right] = paint.signs.lines.corners;
    let (line, side) =
        (paint.signs.lines.line.repeat(usize::from(area.width.saturating_sub(2))), paint.signs.lines.rule);
    let right = area.width.saturating_sub(1);
    for n in 0..area.height {
        let row = cells::row(area, n);
        let (left, end) = match n {
            0 => (top_left, top_right),
            n if n + 1 == area.height => (bottom_left, bottom_right),
            _ => (side, side),
        };
        paint.text(row, left, Role::Rule);
        if n == 0 || n + 1 == area.height {
            paint.text(cells::after(row, 1), &line, Role::Rule);
        }
        paint.text(cells::after(row, right), end, Role::Rule);
    }
}
