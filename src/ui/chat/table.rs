//! Tables of markdown: columns as wide as they need, shrunk and wrapped where the pane is narrow, and one line a cell
//! where even that has no room.

use super::look::Look;
use crate::theme::Role;
use crate::ui::text::{Fold, spans_width, wrap};
use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

/// Cells between two columns.
const BETWEEN: usize = 3;
/// A column narrower than this is no column.
const NARROWEST: usize = 5;

type Cell = Vec<Span<'static>>;

/// A table while its cells come in; the first row is the head.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<Cell>>,
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
        look: &Look<'_>,
    ) -> Vec<Line<'static>> {
        let lead = spans_width(rest).max(spans_width(first));
        let (first, rest, room) =
            if lead + 2 > width { (&[][..], &[][..], width) } else { (first, rest, width - lead) };
        let bare = match self.columns(room) {
            Some(columns) => self.grid(&columns, look),
            None => self.records(room, look),
        };
        let mut lead = first;
        let mut out = Vec::with_capacity(bare.len());
        for line in bare {
            out.push(Line::from(lead.iter().cloned().chain(line.spans).collect::<Vec<_>>()));
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
                *width = (*width).max(spans_width(cell));
            }
        }
        let room = room.checked_sub(BETWEEN * count.saturating_sub(1))?;
        let under = |cap: usize| natural.iter().map(|w| (*w).min(cap)).sum::<usize>();
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
        let capped = natural.iter().map(|w| {
            let extra = usize::from(*w > fits && left > 0);
            left -= extra;
            (*w).min(fits) + extra
        });
        Some(capped.collect())
    }

    fn grid(&self, columns: &[usize], look: &Look<'_>) -> Vec<Line<'static>> {
        let mark = look.style(Role::Mark);
        let rule = || {
            let dash = look.glyph("─", "-");
            let cross = format!("{dash}{}{dash}", look.glyph("┼", "+"));
            let text = columns.iter().map(|w| dash.repeat(*w)).collect::<Vec<_>>().join(&cross);
            Line::from(Span::styled(text, mark))
        };
        let bar = Span::styled(look.glyph(" │ ", " | "), mark);
        let folded: Vec<Vec<Vec<Line<'static>>>> = self
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| {
                (columns.iter().zip(row.iter().map(Some).chain(std::iter::repeat(None))))
                    .map(|(width, cell)| match cell {
                        Some(cell) if number == 0 => wrap(&headed(cell, look), *width, &[], &[], Fold::Words),
                        Some(cell) => wrap(cell, *width, &[], &[], Fold::Words),
                        None => Vec::new(),
                    })
                    .collect()
            })
            .collect();
        let tall = folded.iter().skip(1).flatten().any(|cell| cell.len() > 1);
        let mut out = Vec::new();
        for (number, row) in folded.into_iter().enumerate() {
            if number == 1 || (tall && number > 1) {
                out.push(rule());
            }
            let height = row.iter().map(Vec::len).max().unwrap_or(1).max(1);
            let mut cells: Vec<_> = row.into_iter().map(Vec::into_iter).collect();
            for _ in 0..height {
                let mut spans = Vec::new();
                for (i, (cell, width)) in cells.iter_mut().zip(columns).enumerate() {
                    if i > 0 {
                        spans.push(bar.clone());
                    }
                    let line = cell.next().unwrap_or_default();
                    let space = width.saturating_sub(spans_width(&line.spans));
                    let before = match self.alignments.get(i) {
                        Some(Alignment::Right) => space,
                        Some(Alignment::Center) => space / 2,
                        _ => 0,
                    };
                    if before > 0 {
                        spans.push(Span::raw(" ".repeat(before)));
                    }
                    spans.extend(line.spans);
                    if space > before && i + 1 < columns.len() {
                        spans.push(Span::raw(" ".repeat(space - before)));
                    }
                }
                out.push(Line::from(spans));
            }
        }
        if self.rows.len() == 1 {
            out.push(rule());
        }
        out
    }

    /// One line a cell, `head: cell`, a rule between rows.
    fn records(&self, room: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        let mut rows = self.rows.iter();
        let head = rows.next().map(Vec::as_slice).unwrap_or_default();
        let mut out = Vec::new();
        if self.rows.len() == 1 {
            for cell in head {
                out.extend(wrap(&headed(cell, look), room, &[], &[], Fold::Words));
            }
        }
        for (number, row) in rows.enumerate() {
            if number > 0 {
                out.push(Line::from(Span::styled(look.glyph("─", "-").repeat(room.min(8)), look.style(Role::Mark))));
            }
            for (i, cell) in row.iter().enumerate() {
                let mut spans = head.get(i).map(|name| headed(name, look)).unwrap_or_default();
                spans.push(Span::styled(": ", look.style(Role::Mark)));
                spans.extend(cell.iter().cloned());
                out.extend(wrap(&spans, room, &[], &[Span::raw("  ")], Fold::Words));
            }
        }
        out
    }
}

fn headed(cell: &[Span<'static>], look: &Look<'_>) -> Cell {
    let bold = look.style(Role::Bold);
    cell.iter().map(|span| Span::styled(span.content.clone(), span.style.patch(bold))).collect()
}
