//! Texts of several lines that are being written: how many rows they take, their marks and the caret.

use super::cells;
use super::frame_context::FrameContext;
use super::layout_cache::LaidText;
use crate::app::state::edit::Editor;
use crate::domain::ids::RequestId;
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Rows of a text that are counted at the most.
const COUNTED: usize = 200;

/// Rows that the words for an answer take.
pub(super) fn answer_rows(paint: &mut FrameContext<'_>, request: &RequestId, editor: &Editor, width: u16) -> usize {
    let laid = LaidText::Answer(request.clone(), width);
    let known = paint.cache.answer.as_ref() == Some(&laid);
    let rows = count_rows(editor, width, known);
    paint.cache.answer = Some(laid);
    rows
}

/// Rows of a text at a width. `known`: it was drawn at that width last.
pub(super) fn count_rows(editor: &Editor, width: u16, known: bool) -> usize {
    let area = editor.area();
    if !known {
        // Only drawing tells the widget its width. High enough, so that its scrolling stays as it is.
        let scratch = Rect::new(0, 0, width, 70);
        area.render(scratch, &mut Buffer::empty(scratch));
    }
    // Past the last row every position is the last row's: the first that repeats ends the count.
    let last = |n: &usize| area.screen_to_data(*n, 0) == area.screen_to_data(n + 1, 0);
    (0..COUNTED).find(last).unwrap_or(COUNTED) + 1
}

/// Two places in a text: of the first character, and behind the last one.
pub(super) type Range = ((usize, usize), (usize, usize));

/// Draws a text of several lines, what is marked in it, and the caret if it has the focus.
pub(super) fn draw(paint: &mut FrameContext<'_>, editor: &Editor, area: Rect, focused: bool) {
    draw_marked(paint, editor, editor.marked(), area, focused);
}

/// The same with another part marked.
pub(super) fn draw_marked(
    paint: &mut FrameContext<'_>,
    editor: &Editor,
    marked: Option<Range>,
    area: Rect,
    focused: bool,
) {
    if area.is_empty() {
        return;
    }
    let widget = editor.area();
    widget.render(area, paint.buf);
    if let Some(range) = marked {
        mark(paint, editor, range, area);
    }
    if !focused {
        return;
    }
    let row = widget.screen_cursor().row;
    let top = usize::from(widget.scroll_offset().0);
    // The widget measures by character; an emoji of several is one sign of two cells. So the column is measured here.
    let start = widget.screen_to_data(row, 0);
    let (line, col) = editor.caret();
    let text: String = editor
        .lines()
        .get(line)
        .map(|text| text.chars().skip(start.1).take(col.saturating_sub(start.1)).collect())
        .unwrap_or_default();
    paint.caret(area, cells::width(&cells::expand_tabs(&text)), row.saturating_sub(top));
}

/// The cells of what is marked; of an empty line one cell.
fn mark(paint: &mut FrameContext<'_>, editor: &Editor, range: Range, area: Rect) {
    for cells in spans(editor, range, area) {
        paint.tint(cells, Role::Selected);
    }
}

/// The cells in which a part of a text stands, a rectangle for each row that is shown.
pub(super) fn spans(editor: &Editor, (from, to): Range, area: Rect) -> Vec<Rect> {
    let mut out = Vec::new();
    let widget = editor.area();
    let top = usize::from(widget.scroll_offset().0);
    for y in 0..area.height {
        let row = top + usize::from(y);
        let begin = widget.screen_to_data(row, 0);
        let next = widget.screen_to_data(row + 1, 0);
        let below = (next.0, next.1) == (begin.0, begin.1);
        let Some(line) = editor.lines().get(begin.0) else { return out };
        // To where the next row of the same line begins, else to the end of the line.
        let end = if next.0 == begin.0 && !below { next.1 } else { line.chars().count() };
        let first = if from.0 == begin.0 { from.1.max(begin.1) } else { begin.1 };
        let last = if to.0 == begin.0 { to.1.min(end) } else { end };
        let inside = (from.0..=to.0).contains(&begin.0) && (first < last || (line.is_empty() && to.0 > begin.0));
        if inside {
            let cells = |from: usize, to: usize| {
                let text: String = line.chars().skip(from).take(to.saturating_sub(from)).collect();
                u16::try_from(cells::width(&cells::expand_tabs(&text))).unwrap_or(u16::MAX)
            };
            let x = cells(begin.1, first).min(area.width);
            let width = cells(first, last).max(1).min(area.width - x);
            out.push(Rect { x: area.x + x, y: area.y + y, width, height: 1 });
        }
        if below {
            break;
        }
    }
    out
}
