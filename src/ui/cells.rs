//! Putting text into cells: rows of pieces, a left and a right side, fields and blanks. `text` measures and cuts.
//!
//! Text from outside is sanitised by the reader of the state, before it reaches this module.

pub use super::text::{cut_start, cut_with as cut, expand_tabs, width};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// A piece of text with its style.
pub type Piece<'a> = (Cow<'a, str>, Style);

/// A piece from anything that is text.
pub fn piece<'a>(text: impl Into<Cow<'a, str>>, style: Style) -> Piece<'a> {
    (text.into(), style)
}

/// `text` in lines of at most `max` cells, broken at blanks where there are any. Line breaks stay; blanks at the start
/// of a line stay, those at a break go. Tabs become blanks to the next column of four.
#[must_use]
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        wrap_line(&expand_tabs(line), max, &mut lines);
    }
    lines
}

fn wrap_line(line: &str, max: usize, lines: &mut Vec<String>) {
    let mut now = String::new();
    let mut used = 0;
    for part in parts(line) {
        // What is longer than a line is broken at its words.
        let words = if width(part) > max { part.split_word_bounds().collect() } else { vec![part] };
        for word in words {
            let wide = width(word);
            if used + wide <= max {
                now.push_str(word);
                used += wide;
            } else if word.chars().all(char::is_whitespace) {
                lines.push(std::mem::take(&mut now));
                used = 0;
            } else if wide <= max && used > 0 {
                let kept = now.trim_end().len();
                now.truncate(kept);
                lines.push(std::mem::replace(&mut now, word.to_owned()));
                used = wide;
            } else {
                for grapheme in word.graphemes(true) {
                    let wide = width(grapheme);
                    if used + wide > max && used > 0 {
                        lines.push(std::mem::take(&mut now));
                        used = 0;
                    }
                    now.push_str(grapheme);
                    used += wide;
                }
            }
        }
    }
    lines.push(now);
}

/// Parts between which a line may be broken: at blanks, and between signs of scripts that have none. A bracket or a comma stays
/// with its word.
fn parts(line: &str) -> Vec<&str> {
    let is_wide = |word: &str| word.graphemes(true).any(|sign| width(sign) > 1);
    let is_blank = |word: &str| word.chars().all(char::is_whitespace);
    let mut parts = Vec::new();
    let (mut from, mut before) = (0, "");
    for (at, word) in line.split_word_bound_indices() {
        let breaks = is_blank(word) != is_blank(before) || is_wide(word) || is_wide(before);
        if at > from && breaks {
            parts.extend(line.get(from..at));
            from = at;
        }
        before = word;
    }
    parts.extend(line.get(from..).filter(|rest| !rest.is_empty()));
    parts
}

/// Writes `text` from the left edge of `area`'s first row, no further than its right edge, and returns the cells used.
/// A wide sign that would cross the edge is left out.
pub fn put(buf: &mut Buffer, area: Rect, text: &str, style: Style) -> u16 {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return 0;
    }
    let (end, _) = buf.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    end.saturating_sub(area.x)
}

/// `area` without its first `by` columns.
#[must_use]
pub fn after(area: Rect, by: u16) -> Rect {
    let by = by.min(area.width);
    Rect { x: area.x.saturating_add(by), width: area.width - by, ..area }
}

/// Row `n` of `area`, empty when it has fewer.
#[must_use]
pub fn row(area: Rect, n: u16) -> Rect {
    if n < area.height { Rect { y: area.y + n, height: 1, ..area } } else { Rect { height: 0, ..area } }
}

/// Fills `area` with blanks of `style`. A wide character that reaches into it from the left becomes a blank.
pub fn fill(buf: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buf.area);
    let mut blank = Cell::EMPTY;
    blank.set_style(style);
    for y in area.top()..area.bottom() {
        if let Some(cell) = area.left().checked_sub(1).and_then(|x| buf.cell_mut((x, y)))
            && cell.cell_width() > 1
        {
            cell.set_symbol(" ");
        }
        let start = buf.index_of(area.left(), y);
        if let Some(row) = buf.content.get_mut(start..start + usize::from(area.width)) {
            for cell in row {
                // Quicker than a clone, which has to look whether the text is on the heap.
                cell.reset();
                (cell.fg, cell.bg, cell.modifier) = (blank.fg, blank.bg, blank.modifier);
                cell.underline_color = blank.underline_color;
            }
        }
    }
}

/// Writes pieces one after the other; the one that does not fit is cut and the rest left out. Returns the cells used.
pub fn put_pieces(buf: &mut Buffer, area: Rect, pieces: &[Piece<'_>], mark: &str) -> u16 {
    let mut rest = area;
    for (at, (text, style)) in pieces.iter().enumerate() {
        let room = usize::from(rest.width);
        let more = pieces.iter().skip(at + 1).any(|(text, _)| !text.trim().is_empty());
        let wide = width(text);
        // The last cell is kept for the mark when this piece fits exactly and another one cannot.
        let shown = if wide > room || (wide == room && more && room > 0) {
            if wide == room { cut(text, room - 1, mark) } else { cut(text, room, mark) }
        } else {
            Cow::Borrowed(text.as_ref())
        };
        let used = put(buf, rest, &shown, *style);
        rest = after(rest, used);
        if shown != *text || rest.width == 0 {
            break;
        }
    }
    area.width - rest.width
}

/// Cells that the pieces take.
#[must_use]
pub fn pieces_width(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|(text, _)| width(text)).sum()
}

/// True if [`put_sides`] writes a right side of `wide` cells into `room`.
#[must_use]
pub fn are_beside(left: &[Piece<'_>], wide: usize, least: usize, room: usize) -> bool {
    let wants = pieces_width(left).min(least);
    wide > 0 && wide + wants + usize::from(wants > 0) <= room
}

/// Writes `left` from the left and `right` to the right edge, two cells apart. `right` stays whole as long as `left`
/// keeps `least` cells; else it is left out.
pub fn put_sides(buf: &mut Buffer, area: Rect, left: &[Piece<'_>], right: &[Piece<'_>], mark: &str, least: usize) {
    let wide = pieces_width(right);
    let room = usize::from(area.width);
    let wants = pieces_width(left).min(least);
    if !are_beside(left, wide, least, room) {
        put_pieces(buf, area, left, mark);
        return;
    }
    let at = u16::try_from(room - wide).unwrap_or(area.width);
    let gap = if wants == 0 { 0 } else { (room - wide - wants).clamp(1, 2) };
    let gap = u16::try_from(gap).unwrap_or(1);
    put_pieces(buf, Rect { width: at.saturating_sub(gap), ..area }, left, mark);
    put_pieces(buf, after(area, at), right, mark);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn punctuation_stays_with_its_word() {
        assert_eq!(wrap("of (one, local)", 14), ["of (one,", "local)"]);
        assert_eq!(wrap("say “yes”!", 8), ["say", "“yes”!"]);
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
        assert_eq!(wrap("a /long/path/of/it", 10), ["a /long/", "path/of/it"]);
    }

    #[test]
    fn wraps_at_words_and_keeps_indents() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("    indented line", 12), ["    indented", "line"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("漢字漢字", 3), ["漢", "字", "漢", "字"]);
        assert_eq!(wrap("a\n\nb", 3), ["a", "", "b"]);
        assert_eq!(wrap("\tx", 9), ["    x"]);
    }

    fn shown(buf: &Buffer) -> String {
        buf.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn two_sides_share_a_row() {
        let plain = Style::default();
        for (wide, want) in [(20, "title here     right"), (12, "titl…  right"), (8, "title h…")] {
            let area = Rect::new(0, 0, wide, 1);
            let mut buf = Buffer::empty(area);
            put_sides(&mut buf, area, &[piece("title here", plain)], &[piece("right", plain)], "…", 4);
            assert_eq!(shown(&buf), want);
        }
    }

    #[test]
    fn nothing_follows_what_was_cut() {
        let area = Rect::new(0, 0, 12, 1);
        let mut buf = Buffer::empty(area);
        let plain = Style::default();
        put_pieces(&mut buf, area, &[piece("only bug", plain), piece(", not", plain), piece("done", plain)], "…");
        assert_eq!(shown(&buf), "only bug, n…");
    }

    proptest! {
        #[test]
        fn wrapping_loses_nothing_but_blanks(text in "[a-z漢é ]{0,60}", max in 2usize..20) {
            let lines = wrap(&text, max);
            prop_assert!(lines.iter().all(|line| width(line) <= max));
            let bare = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
        }

        #[test]
        fn pieces_stay_in_their_row(texts in proptest::collection::vec("\\PC{0,8}", 0..6), wide in 0u16..30) {
            let mut buf = Buffer::empty(Rect::new(0, 0, 40, 2));
            let pieces: Vec<Piece<'_>> = texts.iter().map(|t| piece(t.as_str(), Style::default())).collect();
            let used = put_pieces(&mut buf, Rect::new(3, 0, wide, 1), &pieces, "…");
            prop_assert!(used <= wide);
        }
    }
}
