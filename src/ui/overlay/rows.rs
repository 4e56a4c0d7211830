//! Sheet of rows, and below them all that is known of the selected one.

use super::super::cells::{self, Piece};
use super::super::frame_context::{FrameContext, Hint};
use crate::theme::Role;
use ratatui::layout::Rect;
use std::ops::Range;

/// Cells of the sheet at the most.
const WIDTH: u16 = 100;

/// Content of a sheet of rows, as far as its size depends on it.
pub(super) struct RowSheet<'s> {
    pub(super) title: &'s [Piece<'s>],
    pub(super) hints: &'s [Hint<'s>],
    /// Number of rows, and how many are shown at the most.
    pub(super) rows: usize,
    pub(super) most: u16,
    /// Rows of what is known of the selected one.
    pub(super) detail: u16,
    /// Rows at the end that are the caller's.
    pub(super) foot: u16,
    /// Words in place of rows where there is none.
    pub(super) empty: &'s str,
}

/// Parts of a sheet that has rows.
pub(super) struct RowParts {
    pub(super) list: Rect,
    pub(super) detail: Rect,
    /// Rows that are shown.
    pub(super) shown: Range<usize>,
}

impl RowSheet<'_> {
    /// Clears the sheet, and writes its title. Returns the rectangle for the rows, and that of the foot.
    pub(super) fn open(&self, paint: &mut FrameContext<'_>, body: Rect) -> (Rect, Rect) {
        let need = match self.rows {
            0 => u16::try_from(self.words(body).len()).unwrap_or(2),
            rows => u16::try_from(rows).unwrap_or(u16::MAX).clamp(2, self.most) + 1 + self.detail,
        };
        let inner = super::sheet(paint, body, WIDTH, need + self.foot, self.title, self.hints);
        let foot = if inner.height > 2 { self.foot } else { 0 };
        let rows = Rect { height: inner.height - foot, ..inner };
        (rows, Rect { y: rows.bottom(), height: foot, ..inner })
    }

    /// Parts of the rectangle for the rows; `None` where there is no row, and words are written. `is_known`: the engine has
    /// answered.
    pub(super) fn parts(
        &self,
        paint: &mut FrameContext<'_>,
        (body, inner): (Rect, Rect),
        selected: usize,
        is_known: bool,
    ) -> Option<RowParts> {
        if self.rows == 0 {
            paint.found.overlay_rows = inner.height;
            let lines = if is_known { self.words(body) } else { vec![format!("reading {}", paint.signs.ellipsis())] };
            for (n, line) in lines.into_iter().enumerate().take(usize::from(inner.height)) {
                paint.over(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), &line, Role::Dim);
            }
            return None;
        }
        let detail = self.detail.min(inner.height / 2);
        let gap = u16::from(inner.height > detail + 3);
        let list = Rect { height: inner.height - detail - gap, ..inner };
        paint.found.overlay_rows = list.height;
        let height = usize::from(list.height).max(1);
        let first = selected.saturating_sub(height / 2).min(self.rows.saturating_sub(height));
        let detail = Rect { y: list.bottom() + gap, height: detail, ..inner };
        Some(RowParts { list, detail, shown: first..self.rows.min(first + height) })
    }

    fn words(&self, body: Rect) -> Vec<String> {
        let width = if body.width < 60 { body.width } else { WIDTH.min(body.width.saturating_sub(8)) };
        super::sheet::folded(self.empty, usize::from(width.saturating_sub(4)))
    }
}

impl RowParts {
    /// The rows that are shown, each with its number and area.
    pub(super) fn of<'r, T>(&self, rows: &'r [T]) -> impl Iterator<Item = (usize, &'r T, Rect)> + use<'r, T> {
        let (list, first) = (self.list, self.shown.start);
        let shown = rows.iter().enumerate().skip(first).take(self.shown.len());
        shown.map(move |(n, one)| (n, one, cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX))))
    }
}
