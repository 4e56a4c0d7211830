//! A laid out line with what in it is more than text: code that can be coloured, links.

use crate::domain::code::Run;
use crate::ui::text::{self, Fold, wrap_told};
use ratatui::text::{Line, Span};
use std::fmt;
use std::sync::Arc;

/// A laid out line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ink {
    pub(super) line: Line<'static>,
    pub(super) code: Vec<CodeAt>,
    pub(super) links: Vec<LinkAt>,
}

/// Which part of a block of code stands on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeAt {
    /// The block's number in its entry.
    pub(super) block: u32,
    /// The word for its language.
    pub(super) lang: Arc<str>,
    /// Which line of the block, from 0.
    pub(super) line: u32,
    /// The first byte of that line that stands here.
    pub(super) from: u32,
    /// Spans before the code, and those of the code.
    pub(super) lead: u16,
    pub(super) spans: u16,
}

impl CodeAt {
    /// The first line of a block.
    pub(super) fn first(block: u32, lang: &str) -> Self {
        Self { block, lang: lang.into(), line: 0, from: 0, lead: 0, spans: 0 }
    }

    /// The line after it.
    pub(super) fn next(&mut self) {
        self.line = self.line.saturating_add(1);
    }
}

/// A link: cells of the line, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkAt {
    pub(super) from: u16,
    pub(super) width: u16,
    pub(super) url: Arc<str>,
}

impl Ink {
    /// The code that stands on the line.
    pub(super) fn code_text(&self, code: &CodeAt) -> String {
        let (lead, spans) = (usize::from(code.lead), usize::from(code.spans));
        self.line.spans.iter().skip(lead).take(spans).map(|span| span.content.as_ref()).collect()
    }

    /// The runs of a line of code as cells: the first one, how many, and the run.
    pub(super) fn shades<'r>(&self, code: &CodeAt, lines: &'r [Vec<Run>]) -> Vec<(u16, u16, &'r Run)> {
        let Some(runs) = lines.get(code.line as usize).filter(|runs| !runs.is_empty()) else { return Vec::new() };
        let lead = text::spans_width(self.line.spans.get(..usize::from(code.lead)).unwrap_or_default());
        let shown = self.code_text(code);
        let (from, to) = (code.from as usize, code.from as usize + shown.len());
        let cells = |text: &str| u16::try_from(text::width(text)).unwrap_or(u16::MAX);
        let mut out = Vec::new();
        for run in runs {
            let (start, end) = ((run.start as usize).max(from), (run.end as usize).min(to));
            if start >= end {
                continue;
            }
            // Colours of a text that is not quite this one any more may cut through a character.
            let (Some(before), Some(piece)) = (shown.get(..start - from), shown.get(start - from..end - from)) else {
                continue;
            };
            let before = u16::try_from(lead).unwrap_or(u16::MAX).saturating_add(cells(before));
            out.push((before, cells(piece), run));
        }
        out
    }

    /// The same line behind a lead of so many spans and cells.
    pub(super) fn behind(mut self, lead: &[Span<'static>]) -> Self {
        let cells = u16::try_from(text::spans_width(lead)).unwrap_or(u16::MAX);
        self.line.spans.splice(0..0, lead.iter().cloned());
        for code in &mut self.code {
            code.lead = code.lead.saturating_add(u16::try_from(lead.len()).unwrap_or(u16::MAX));
        }
        for link in &mut self.links {
            link.from = link.from.saturating_add(cells);
        }
        self
    }
}

impl From<Line<'static>> for Ink {
    fn from(line: Line<'static>) -> Self {
        Self { line, code: Vec::new(), links: Vec::new() }
    }
}

impl fmt::Display for Ink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.fmt(f)
    }
}

/// A line of code in pieces of several styles, wrapped behind a lead; every blank is kept. `at` says which line of which
/// block it is.
pub(super) fn coded(
    spans: &[Span<'_>],
    width: usize,
    first: &[Span<'static>],
    rest: &[Span<'static>],
    at: &CodeAt,
) -> Vec<Ink> {
    let starts: Vec<usize> = spans
        .iter()
        .scan(0, |sum, span| {
            let start = *sum;
            *sum += span.content.len();
            Some(start)
        })
        .collect();
    let wrapped = wrap_told(spans, width, first, rest, Fold::Anywhere).into_iter();
    wrapped
        .map(|(line, origins)| {
            let number = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
            let from = origins.first().map_or(0, |(span, start)| {
                let before = starts.get(*span as usize).copied().unwrap_or(0);
                u32::try_from(before).unwrap_or(u32::MAX).saturating_add(*start)
            });
            let (lead, spans) = (number(line.spans.len() - origins.len()), number(origins.len()));
            Ink { line, code: vec![CodeAt { from, lead, spans, ..at.clone() }], links: Vec::new() }
        })
        .collect()
}

/// Lines without what is more than text.
pub(super) fn lines(inks: Vec<Ink>) -> Vec<Line<'static>> {
    inks.into_iter().map(|ink| ink.line).collect()
}

/// Lines that are nothing but text.
pub(super) fn inks(lines: Vec<Line<'static>>) -> Vec<Ink> {
    lines.into_iter().map(Ink::from).collect()
}
