//! Cells and logical text: what lies under the mouse, which cells are marked, and the text of what is marked.

use super::cache::{Cache, Laid};
use super::ink::{Ink, Seg};
use super::transcript::Transcript;
use crate::app::state::mark::{Mark, Marked, Place, Spot};
use crate::theme::Role;
use crate::ui::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Rows that the head of a mark walks over at most in one frame.
const WALK: usize = 4_000;

/// A row of the screen as it was drawn last.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowAt {
    pub(super) y: u16,
    /// Column where the text begins, behind the gutter.
    pub(super) x: u16,
    /// The entry, and which of its lines on the screen.
    pub(super) key: i64,
    pub(super) number: usize,
}

impl Cache {
    /// Text position at a cell of the last frame. Beside the text the nearest position, above the
    /// pane its first and below it its last; `None` where no text was drawn.
    #[must_use]
    pub fn spot(&self, col: u16, row: u16) -> Option<Spot> {
        let (first, last) = (self.rows.first()?, self.rows.last()?);
        let (at, col) = if row > last.y {
            (last, u16::MAX)
        } else {
            let at = self.rows.iter().find(|at| at.y >= row).unwrap_or(first);
            (at, if at.y == row { col } else { 0 })
        };
        self.laid(at.key)?.spot(at.key, at.number, col.saturating_sub(at.x))
    }

    /// The first and the last place on the screen.
    pub(super) fn seen_spots(&self) -> Option<(Spot, Spot)> {
        let (first, last) = (self.rows.first()?, self.rows.last()?);
        let first = self.laid(first.key)?.spot(first.key, first.number, 0)?;
        Some((first, self.laid(last.key)?.spot(last.key, last.number, u16::MAX)?))
    }

    /// Takes the selection found by the last frame.
    pub fn take_marked(&mut self) -> Marked {
        std::mem::take(&mut self.marked)
    }
}

impl Laid {
    /// The logical lines that are there, with their numbers.
    pub(super) fn logical(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut next = 0u32;
        self.inks().filter_map(move |ink| {
            next = next.saturating_add(ink.skips);
            let text = ink.text.as_deref()?;
            next = next.saturating_add(1);
            Some((next - 1, text))
        })
    }

    /// All of its logical text.
    #[cfg(test)]
    pub(super) fn logical_text(&self) -> String {
        self.logical().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }

    /// The logical line that goes on in line `number` of the screen, or ends above it; its number and its text.
    pub(super) fn logical_at(&self, number: usize) -> Option<(u32, &str)> {
        let begun = self.inks().take(number.saturating_add(1)).filter(|ink| ink.text.is_some()).count();
        self.logical().nth(begun.checked_sub(1)?)
    }

    /// The text of the logical line of which a part stands in line `number` of the screen, and the line where it begins.
    pub(super) fn text_at(&self, number: usize) -> Option<(usize, &str)> {
        (0..=number).rev().find_map(|number| Some((number, self.line(number)?.text.as_deref()?)))
    }

    /// The line of the screen in which a logical line begins.
    pub(super) fn line_of(&self, logical: u32) -> Option<usize> {
        let mut next = 0u32;
        self.inks().position(|ink| {
            next = next.saturating_add(ink.skips);
            let here = ink.text.is_some() && next >= logical;
            next = next.saturating_add(u32::from(ink.text.is_some()));
            here
        })
    }

    /// Text position in line `number` of the screen at cell `col`.
    fn spot(&self, key: i64, number: usize, col: u16) -> Option<Spot> {
        let ink = self.line(number)?;
        let Some((line, text)) = self.logical_at(number) else {
            // A hint above all text.
            let (line, text) = self.logical().next()?;
            return Some(Spot { key, line, sign: (0, 0), word: (0, 0), len: bytes(text.len()) });
        };
        let len = bytes(text.len());
        let sign = match ink.segs.first() {
            None if ink.text.is_some() => (0, len),
            None => (len, len),
            Some(first) if col < first.x => (first.from, first.from),
            Some(_) => sign(text, &ink.segs, col),
        };
        Some(Spot { key, line, sign, word: word(text, sign), len })
    }
}

fn bytes(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The text of a part.
fn part(text: &str, seg: Seg) -> &str {
    let (from, len) = (seg.from as usize, seg.len as usize);
    text.get(from..from + len).unwrap_or_default()
}

/// The bytes of the character at a cell; behind a part its end.
fn sign(text: &str, segs: &[Seg], col: u16) -> (u32, u32) {
    let mut behind = (0, 0);
    for seg in segs.iter().take_while(|seg| seg.x <= col) {
        let end = seg.from + seg.len;
        behind = (end, end);
        if col - seg.x >= seg.width {
            continue;
        }
        let shown = part(text, *seg);
        if text::width(shown) != usize::from(seg.width) {
            // A tab, or a sign that stands for more than is shown.
            return (seg.from, end);
        }
        let (mut x, cell) = (0, usize::from(col - seg.x));
        for (at, grapheme) in shown.grapheme_indices(true) {
            x += text::width(grapheme);
            if x > cell {
                let from = seg.from + bytes(at);
                return (from, from + bytes(grapheme.len()));
            }
        }
        return behind;
    }
    behind
}

/// The word that a character is in: of letters, digits and what paths and addresses are made of; elsewhere what is alike.
fn word(text: &str, sign: (u32, u32)) -> (u32, u32) {
    #[derive(PartialEq)]
    enum Kind {
        Letter,
        Blank,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || "_-./~@:%+#=&?".contains(c) => Kind::Letter,
        c if c.is_whitespace() => Kind::Blank,
        _ => Kind::Other,
    };
    let (from, to) = (sign.0 as usize, sign.1 as usize);
    let Some(first) = text.get(from..to).and_then(|sign| sign.chars().next()) else { return sign };
    let same = |c: &char| kind(*c) == kind(first);
    let before: usize = text.get(..from).unwrap_or_default().chars().rev().take_while(same).map(char::len_utf8).sum();
    let after: usize = text.get(to..).unwrap_or_default().chars().take_while(same).map(char::len_utf8).sum();
    let (mut start, mut end) = (from - before, to + after);
    if kind(first) == Kind::Letter {
        // Signs at its ends belong to the sentence.
        let whole = text.get(start..end).unwrap_or_default();
        let trimmed = whole.trim_end_matches(['.', ':', '?', '=', '&']);
        if start + trimmed.len() >= to {
            end = start + trimmed.len();
        }
        let trimmed = text.get(start..end).unwrap_or_default().trim_start_matches([':', '=', '&', '?']);
        if end - trimmed.len() <= from {
            start = end - trimmed.len();
        }
    }
    (bytes(start), bytes(end))
}

/// The cells in which bytes of a logical line stand on a line of the screen: the first one, and how many.
pub(super) fn cells(ink: &Ink, text: &str, range: Range<u32>) -> Vec<(u16, u16)> {
    let mut out: Vec<(u16, u16)> = Vec::new();
    for seg in &ink.segs {
        let (from, to) = (range.start.max(seg.from), range.end.min(seg.from + seg.len));
        if from >= to {
            continue;
        }
        let whole = (seg.x, seg.width);
        let shown = part(text, *seg);
        let inner = |from: u32, to: u32| shown.get((from - seg.from) as usize..(to - seg.from) as usize);
        let (x, width) = match (inner(seg.from, from), inner(from, to)) {
            (Some(before), Some(here)) if text::width(shown) == usize::from(seg.width) => {
                let cells = |text| u16::try_from(text::width(text)).unwrap_or(u16::MAX);
                (seg.x + cells(before), cells(here))
            }
            _ => whole,
        };
        match out.last_mut() {
            Some(last) if last.0 + last.1 == x => last.1 += width,
            _ => out.push((x, width)),
        }
    }
    out
}

impl Transcript<'_> {
    /// Lays the style of what is marked over a line that was drawn into `area`.
    pub(super) fn paint_mark(&self, mark: &Mark, key: i64, number: usize, area: Rect, buf: &mut Buffer) {
        let (from, to) = mark.range();
        if key < from.key || key > to.key {
            return;
        }
        let Some(laid) = self.cache.laid(key) else { return };
        let (Some(ink), Some((line, text))) = (laid.line(number), laid.logical_at(number)) else { return };
        let Some(range) = within((from, to), key, line, text) else { return };
        let mut cells = cells(ink, text, range.clone());
        if cells.is_empty()
            && ink.text.is_some()
            && (text.is_empty() || ink.segs.is_empty())
            && (key, line) < (to.key, to.line)
        {
            // So that an empty line is seen to be marked: behind its gutter.
            let lead = if text.is_empty() { text::spans_width(&ink.line.spans) } else { 0 };
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
        let mut lines = (0..laid.height())
            .filter(|number| laid.line(*number).is_some_and(|ink| ink.code.iter().any(|code| code.block == block)));
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
