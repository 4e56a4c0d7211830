//! Tables of markdown: columns as wide as they need, shrunk and wrapped where the pane is narrow, and one line a cell
//! where even that has no room.

use super::laid_out_line::{LaidOutLine, Seg, Source, laid_out};
use super::link_marks::{LinkMark, linked};
use super::style::ChatStyle;
use crate::theme::Role;
use crate::ui::text::{self, Fold, spans_width};
use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// Cells between two columns.
const BETWEEN: usize = 3;
/// A column narrower than this is no column.
const NARROWEST: usize = 5;
/// Cells of a word that keeps a column wide; a longer one is broken.
const WORD: usize = 24;

/// A cell: its text, and which spans of it are links.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) spans: Vec<Span<'static>>,
    pub(super) marks: Vec<LinkMark>,
}

impl Cell {
    /// Its text, and links, in lines of at most `width` cells. The first `label` spans are no text of its own.
    fn fold(&self, width: usize, rest: &[Span<'static>], label: usize) -> Vec<LaidOutLine> {
        let source = Source { label, ..Source::default() };
        let laid = laid_out(&self.spans, width, &[], rest, Fold::Words, source).into_iter();
        laid.map(|(laid_line, origins)| linked(laid_line, &origins, &self.marks)).collect()
    }

    fn text(&self) -> String {
        let text: String = self.spans.iter().map(|span| span.content.as_ref()).collect();
        text.trim_end().to_owned()
    }
}

/// A table while its cells come in; the first row is the head.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// The logical text of a row: cells with tabs between them; and the byte at which each begins.
fn logical(row: &[Cell]) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(row.len()));
    for (number, cell) in row.iter().enumerate() {
        if number > 0 {
            text.push('\t');
        }
        starts.push(text.len());
        text.push_str(&cell.text());
    }
    (text, starts)
}

/// Parts of a cell's text as parts of its row's, `x` cells further right.
fn moved(segs: &[Seg], x: usize, bytes: usize) -> impl Iterator<Item = Seg> + '_ {
    let (x, bytes) = (u16::try_from(x).unwrap_or(u16::MAX), u32::try_from(bytes).unwrap_or(u32::MAX));
    segs.iter().map(move |seg| Seg { x: seg.x.saturating_add(x), from: seg.from.saturating_add(bytes), ..*seg })
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    /// Its lines behind the leads of the containers it stands in.
    pub(super) fn lines(
        &self,
        width: usize,
        first: &[Span<'static>],
        rest: &[Span<'static>],
        look: &ChatStyle<'_>,
    ) -> Vec<LaidOutLine> {
        let lead = spans_width(rest).max(spans_width(first));
        let (first, rest, room) =
            if lead + 2 > width { (&[][..], &[][..], width) } else { (first, rest, width - lead) };
        let bare = match self.columns(room) {
            Some(columns) => self.grid(&columns, look),
            None => self.records(room, look),
        };
        let mut lead = first;
        let mut out = Vec::with_capacity(bare.len());
        for laid_line in bare {
            out.push(if lead.is_empty() { laid_line } else { laid_line.behind(lead) });
            lead = rest;
        }
        out
    }

    /// Widths of the columns; `None` when they have no room beside each other.
    fn columns(&self, room: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let mut natural = vec![1; count];
        for row in &self.rows {
            for (width, cell) in natural.iter_mut().zip(row) {
                *width = (*width).max(spans_width(&cell.spans));
            }
        }
        let room = room.checked_sub(BETWEEN * count.saturating_sub(1))?;
        // A column is as wide as its longest word, where all of them are.
        let mut words = self.words(&natural);
        if words.iter().sum::<usize>() > room {
            words = vec![0; count];
        }
        let capped = |cap: usize| natural.iter().zip(&words).map(move |(all, word)| (*all).min(cap).max(*word));
        let under = |cap: usize| capped(cap).sum::<usize>();
        let widest = natural.iter().copied().max()?;
        if under(widest) <= room {
            return Some(natural);
        }
        // The highest cap on all columns under which they fit: narrow ones keep their width.
        let (mut fits, mut over) = (0, widest);
        while over - fits > 1 {
            let cap = fits.midpoint(over);
            if under(cap) <= room { fits = cap } else { over = cap }
        }
        if fits < NARROWEST {
            return None;
        }
        let mut left = room - under(fits);
        let widths = capped(fits).zip(&natural).map(|(width, all)| {
            let extra = usize::from(width < *all && width >= fits && left > 0);
            left -= extra;
            width + extra
        });
        Some(widths.collect())
    }

    /// Cells of the longest word of each column, up to [`WORD`].
    fn words(&self, natural: &[usize]) -> Vec<usize> {
        let mut longest = vec![1; natural.len()];
        for row in &self.rows {
            for (width, cell) in longest.iter_mut().zip(row) {
                let text = cell.text();
                // Between wide characters a line may break.
                let words = text.split(|c: char| c == ' ' || c.width().is_some_and(|cells| cells > 1));
                *width = (*width).max(words.map(text::width).max().unwrap_or(0));
            }
        }
        longest.iter().zip(natural).map(|(word, all)| (*word).min(WORD).min(*all)).collect()
    }

    fn grid(&self, columns: &[usize], look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
        let mark = look.style(Role::Mark);
        let rule = || {
            let dash = look.glyph("─", "-");
            let cross = format!("{dash}{}{dash}", look.glyph("┼", "+"));
            let text = columns.iter().map(|w| dash.repeat(*w)).collect::<Vec<_>>().join(&cross);
            LaidOutLine::quiet(Line::from(Span::styled(text, mark)))
        };
        let bar = Span::styled(look.glyph(" │ ", " | "), mark);
        let folded: Vec<Vec<Vec<LaidOutLine>>> = self
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| {
                (columns.iter().zip(row.iter().map(Some).chain(std::iter::repeat(None))))
                    .map(|(width, cell)| match cell {
                        Some(cell) if number == 0 => headed(cell, look).fold(*width, &[], 0),
                        Some(cell) => cell.fold(*width, &[], 0),
                        None => Vec::new(),
                    })
                    .collect()
            })
            .collect();
        // A row begins where the first column does; where that cannot be seen, a rule parts it from its neighbour.
        let lines = |number: usize| folded.get(number).and_then(|row| row.first()).map_or(0, Vec::len);
        let parted: Vec<bool> = (0..folded.len()).map(|n| n > 1 && (lines(n - 1) > 1 || lines(n) == 0)).collect();
        let mut out = Vec::new();
        for (number, (row, source)) in folded.into_iter().zip(&self.rows).enumerate() {
            if number == 1 || parted.get(number) == Some(&true) {
                out.push(rule());
            }
            let (text, starts) = logical(source);
            let mut text = Some(text.into_boxed_str());
            let height = row.iter().map(Vec::len).max().unwrap_or(1).max(1);
            let mut cells: Vec<_> = row.into_iter().map(Vec::into_iter).collect();
            for _ in 0..height {
                let mut laid_line = LaidOutLine { text: text.take(), ..LaidOutLine::default() };
                let mut x = 0;
                for (i, (cell, width)) in cells.iter_mut().zip(columns).enumerate() {
                    if i > 0 {
                        laid_line.line.spans.push(bar.clone());
                        x += BETWEEN;
                    }
                    let part = cell.next().unwrap_or_default();
                    let space = width.saturating_sub(spans_width(&part.line.spans));
                    let before = match self.alignments.get(i) {
                        Some(Alignment::Right) => space,
                        Some(Alignment::Center) => space / 2,
                        _ => 0,
                    };
                    if before > 0 {
                        laid_line.line.spans.push(Span::raw(" ".repeat(before)));
                    }
                    laid_line.segs.extend(moved(&part.segs, x + before, starts.get(i).copied().unwrap_or(0)));
                    let right = u16::try_from(x + before).unwrap_or(u16::MAX);
                    laid_line.links.extend(part.links.into_iter().map(|mut link| {
                        link.from = link.from.saturating_add(right);
                        link
                    }));
                    laid_line.line.spans.extend(part.line.spans);
                    if space > before && i + 1 < columns.len() {
                        laid_line.line.spans.push(Span::raw(" ".repeat(space - before)));
                    }
                    x += width;
                }
                out.push(laid_line);
            }
        }
        if self.rows.len() == 1 {
            out.push(rule());
        }
        out
    }

    /// One line a cell, `head: cell`, a rule between rows.
    fn records(&self, room: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
        let mut rows = self.rows.iter();
        let head = rows.next().map(Vec::as_slice).unwrap_or_default();
        let mut out = Vec::new();
        if self.rows.len() == 1 {
            let (text, starts) = logical(head);
            let mut text = Some(text.into_boxed_str());
            for (cell, start) in head.iter().zip(starts) {
                for mut laid_line in headed(cell, look).fold(room, &[], 0) {
                    (laid_line.text, laid_line.segs) = (text.take(), moved(&laid_line.segs, 0, start).collect());
                    out.push(laid_line);
                }
            }
        }
        // The row of the head stands before each cell here, and has no line of its own.
        let mut skips = 1;
        for (number, row) in rows.enumerate() {
            if number > 0 {
                let rule = Span::styled(look.glyph("─", "-").repeat(room.min(8)), look.style(Role::Mark));
                out.push(LaidOutLine::quiet(Line::from(rule)));
            }
            let (whole, starts) = logical(row);
            let mut text = Some(whole.into_boxed_str());
            for (i, cell) in row.iter().enumerate() {
                let mut name = head.get(i).map(|name| headed(name, look).spans).unwrap_or_default();
                name.push(Span::styled(": ", look.style(Role::Mark)));
                let label = name.len();
                name.extend(cell.spans.iter().cloned());
                let marks = cell.marks.iter().map(|(from, to, url)| (from + label, to + label, url.clone())).collect();
                let start = starts.get(i).copied().unwrap_or(0);
                for mut laid_line in (Cell { spans: name, marks }).fold(room, &[Span::raw("  ")], label) {
                    (laid_line.text, laid_line.segs) = (text.take(), moved(&laid_line.segs, 0, start).collect());
                    laid_line.skips = std::mem::take(&mut skips);
                    out.push(laid_line);
                }
            }
        }
        out
    }
}

fn headed(cell: &Cell, look: &ChatStyle<'_>) -> Cell {
    let bold = look.style(Role::Bold);
    let bolder = |span: &Span<'static>| Span::styled(span.content.clone(), span.style.patch(bold));
    Cell { spans: cell.spans.iter().map(bolder).collect(), marks: cell.marks.clone() }
}
