//! Marked text: its cells, its text, and the rows that a mark made by keys walks over.

use super::text_position::{bytes, cells};
use super::transcript::Transcript;
use crate::app::state::mark::{Mark, Place};
use crate::theme::Role;
use crate::ui::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// Rows that the head of a mark walks over at most in one frame.
const WALK: usize = 4_000;

impl Transcript<'_> {
    /// Lays the style of what is marked over a line that was drawn into `area`.
    pub(super) fn paint_mark(&self, mark: &Mark, key: i64, number: usize, area: Rect, buf: &mut Buffer) {
        let (from, to) = mark.range();
        if key < from.key || key > to.key {
            return;
        }
        let Some(laid) = self.cache.laid(key) else { return };
        let (Some(laid_line), Some((line, text))) = (laid.line(number), laid.logical_at(number)) else { return };
        let Some(range) = within((from, to), key, line, text) else { return };
        let mut cells = cells(laid_line, text, range.clone());
        if cells.is_empty()
            && laid_line.text.is_some()
            && (text.is_empty() || laid_line.segs.is_empty())
            && (key, line) < (to.key, to.line)
        {
            // So that an empty line is seen to be marked: behind its gutter.
            let lead = if text.is_empty() { text::spans_width(&laid_line.line.spans) } else { 0 };
            cells.push((u16::try_from(lead).unwrap_or(0), 1));
        }
        let style = self.theme.style(Role::Selected);
        for (x, width) in cells {
            let place = Rect { x: area.x.saturating_add(x), width, ..area };
            buf.set_style(place.intersection(area), style);
        }
    }

    /// Moves the head of a mark that keys make by the lines that were asked for, and hands over its text if that is
    /// wanted.
    pub(super) fn work_mark(&mut self) {
        let Some(mut mark) = self.chat.mark else { return };
        if mark.steps != 0 {
            let head = self.stepped(mark.head.0, mark.steps);
            self.cache.marked.head = Some((head, mark.steps));
            mark.head = head;
        }
        if mark.wanted {
            let (from, to) = mark.range();
            self.cache.marked.text = Some(self.marked_text(from, to));
        }
        self.mark = Some(mark);
    }

    /// The logical lines of a row: their numbers and bytes.
    fn logical_of(&mut self, index: usize) -> Vec<(u32, u32)> {
        self.laid_row(index)
            .map_or_else(Vec::new, |laid| laid.logical().map(|(line, text)| (line, bytes(text.len()))).collect())
    }

    /// Logical line at a distance from a place, or the last one in that direction.
    fn stepped(&mut self, from: Place, steps: i64) -> (Place, Place) {
        let line = |key: i64, (line, len): (u32, u32)| (Place { key, line, at: 0 }, Place { key, line, at: len });
        let mut left = steps.unsigned_abs();
        let Some(mut index) = self.chat.place(from.key) else { return (from, from) };
        let mut lines = self.logical_of(index);
        let mut at = lines.iter().position(|(number, _)| *number >= from.line).unwrap_or(lines.len().saturating_sub(1));
        let mut best = lines.get(at).map_or((from, from), |found| line(from.key, *found));
        for _ in 0..WALK {
            let room = if steps < 0 { at } else { lines.len().saturating_sub(at + 1) } as u64;
            let here = left.min(room);
            let by = usize::try_from(here).unwrap_or(0);
            at = if steps < 0 { at - by.min(at) } else { at + by };
            left -= here;
            let key = self.chat.entries.get(index).map_or(from.key, |entry| entry.key);
            if let Some(found) = lines.get(at) {
                best = line(key, *found);
            }
            let next = if steps < 0 { index.checked_sub(1) } else { Some(index + 1) };
            let Some(next) = next.filter(|next| left > 0 && *next < self.chat.entries.len()) else { break };
            (index, lines) = (next, self.logical_of(next));
            if lines.is_empty() {
                // Nothing to stand on: the step is still to be made.
                at = 0;
                continue;
            }
            left -= 1;
            at = if steps < 0 { lines.len() - 1 } else { 0 };
            if let (0, Some(found), Some(entry)) = (left, lines.get(at), self.chat.entries.get(index)) {
                best = line(entry.key, *found);
                break;
            }
        }
        best
    }

    /// Selected text, as logical lines.
    fn marked_text(&mut self, from: Place, to: Place) -> String {
        let first = self.chat.entries.partition_point(|entry| entry.key < from.key);
        let mut out = String::new();
        for index in first..self.chat.entries.len() {
            let Some(key) = self.chat.entries.get(index).map(|entry| entry.key).filter(|key| *key <= to.key) else {
                break;
            };
            let apart = self.stands_apart(index);
            let Some(laid) = self.laid_row(index) else { break };
            let mut lines = laid.logical().filter_map(|(line, text)| {
                let range = within((from, to), key, line, text)?;
                text.get(range.start as usize..range.end as usize)
            });
            let Some(line) = lines.next() else { continue };
            if !out.is_empty() {
                out.push_str(if apart { "\n\n" } else { "\n" });
            }
            out.push_str(line);
            for line in lines {
                out.push('\n');
                out.push_str(line);
            }
        }
        out
    }

    /// Lines of the block in focus, or of the cursor of the selection: the row, and its first and
    /// last line counted with those above it.
    fn in_focus(&mut self) -> Option<(usize, usize, usize)> {
        if let Some(mark) = self.mark.filter(|mark| mark.by_keys) {
            let index = self.chat.place(mark.head.0.key)?;
            let above = self.lines_above(index);
            let line = self.laid_row(index)?.line_of(mark.head.0.line)?;
            return Some((index, above + line, above + line));
        }
        let (key, block) = (self.chat.cursor?, self.chat.block?);
        let index = self.chat.place(key)?;
        let above = self.lines_above(index);
        let laid = self.laid_row(index)?;
        let mut lines = (0..laid.height()).filter(|number| {
            laid.line(*number).is_some_and(|laid_line| laid_line.code.iter().any(|code| code.block == block))
        });
        let first = lines.next()?;
        // The word for its language stands above it.
        let label = usize::from(first > 0);
        Some((index, above + first - label, above + lines.next_back().unwrap_or(first)))
    }

    /// The top of the pane from which what is in focus can be seen: the one given, if it can.
    pub(super) fn revealing(&mut self, top: usize, line: usize) -> (usize, usize) {
        let Some((index, first, last)) = self.in_focus() else { return (top, line) };
        if (index, first) < (top, line) {
            return (index, first);
        }
        let room = usize::from(self.area.height).max(1);
        if index - top <= room {
            let between: usize = (top..index).map(|row| self.tall_row(row)).sum();
            if between + last < room + line {
                return (top, line);
            }
        }
        let (mut row, mut at, mut left) = (index, last, room - 1);
        while at < left && row > 0 {
            left -= at;
            row -= 1;
            at = self.tall_row(row);
        }
        // What is taller than the pane is seen from its top.
        (row, at.saturating_sub(left)).min((index, first))
    }
}

/// Bytes of a logical line between two places; `None` if it lies outside.
fn within((from, to): (Place, Place), key: i64, line: u32, text: &str) -> Option<Range<u32>> {
    let (here, len) = ((key, line), bytes(text.len()));
    if here < (from.key, from.line) || here > (to.key, to.line) {
        return None;
    }
    let inside = |at: u32| bytes(text.ceil_char_boundary(at.min(len) as usize));
    let start = if here == (from.key, from.line) { inside(from.at) } else { 0 };
    let end = if here == (to.key, to.line) { inside(to.at) } else { len };
    Some(start..end.max(start))
}

#[cfg(test)]
mod tests;
