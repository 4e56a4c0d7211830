//! Positions in the logical text: what lies under the mouse, and in which cells a part of it stands.

use super::cache::{Cache, Laid};
use super::laid_out_line::{LaidOutLine, Seg};
use crate::app::state::mark::{Marked, Spot};
use crate::ui::text;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

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
        self.laid_lines().filter_map(move |laid_line| {
            next = next.saturating_add(laid_line.skips);
            let text = laid_line.text.as_deref()?;
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
        let begun =
            self.laid_lines().take(number.saturating_add(1)).filter(|laid_line| laid_line.text.is_some()).count();
        self.logical().nth(begun.checked_sub(1)?)
    }

    /// The text of the logical line of which a part stands in line `number` of the screen, and the line where it begins.
    pub(super) fn text_at(&self, number: usize) -> Option<(usize, &str)> {
        (0..=number).rev().find_map(|number| Some((number, self.line(number)?.text.as_deref()?)))
    }

    /// The line of the screen in which a logical line begins.
    pub(super) fn line_of(&self, logical: u32) -> Option<usize> {
        let mut next = 0u32;
        self.laid_lines().position(|laid_line| {
            next = next.saturating_add(laid_line.skips);
            let here = laid_line.text.is_some() && next >= logical;
            next = next.saturating_add(u32::from(laid_line.text.is_some()));
            here
        })
    }

    /// Text position in line `number` of the screen at cell `col`.
    fn spot(&self, key: i64, number: usize, col: u16) -> Option<Spot> {
        let laid_line = self.line(number)?;
        let Some((line, text)) = self.logical_at(number) else {
            // A hint above all text.
            let (line, text) = self.logical().next()?;
            return Some(Spot { key, line, sign: (0, 0), word: (0, 0), len: bytes(text.len()) });
        };
        let len = bytes(text.len());
        let sign = match laid_line.segs.first() {
            None if laid_line.text.is_some() => (0, len),
            None => (len, len),
            Some(first) if col < first.x => (first.from, first.from),
            Some(_) => sign(text, &laid_line.segs, col),
        };
        Some(Spot { key, line, sign, word: word(text, sign), len })
    }
}

pub(super) fn bytes(number: usize) -> u32 {
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
pub(super) fn word(text: &str, sign: (u32, u32)) -> (u32, u32) {
    #[derive(PartialEq)]
    enum CharKind {
        Letter,
        Blank,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || "_-./~@:%+#=&?".contains(c) => CharKind::Letter,
        c if c.is_whitespace() => CharKind::Blank,
        _ => CharKind::Other,
    };
    let (from, to) = (sign.0 as usize, sign.1 as usize);
    let Some(first) = text.get(from..to).and_then(|sign| sign.chars().next()) else { return sign };
    let same = |c: &char| kind(*c) == kind(first);
    let before: usize = text.get(..from).unwrap_or_default().chars().rev().take_while(same).map(char::len_utf8).sum();
    let after: usize = text.get(to..).unwrap_or_default().chars().take_while(same).map(char::len_utf8).sum();
    let (mut start, mut end) = (from - before, to + after);
    if kind(first) == CharKind::Letter {
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
pub(super) fn cells(laid_line: &LaidOutLine, text: &str, range: Range<u32>) -> Vec<(u16, u16)> {
    let mut out: Vec<(u16, u16)> = Vec::new();
    for seg in &laid_line.segs {
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
