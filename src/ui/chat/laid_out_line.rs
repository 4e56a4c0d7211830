//! A laid out line with what in it is more than text: code that can be coloured, links, and where its logical text stands.
//!
//! The logical text is what is copied: without gutters, padding and soft breaks, in logical lines that do not depend on the
//! width. The first line on the screen of a logical line carries its text, and each tells which part of it stands where.

use crate::domain::code::ShadedRun;
use crate::ui::text::{self, Fold, Origins, wrap_told};
use ratatui::text::{Line, Span};
use std::fmt;
use std::sync::Arc;

/// A laid out line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LaidOutLine {
    pub(super) line: Line<'static>,
    pub(super) code: Vec<CodeAt>,
    pub(super) links: Vec<LinkAt>,
    /// The text of the logical line that begins here; `None` where one goes on, and where nothing can be marked.
    pub(super) text: Option<Box<str>>,
    /// Parts of the logical text on this line, from left to right.
    pub(super) segs: Vec<Seg>,
    /// Logical lines that are left out above this one.
    pub(super) skips: u32,
    /// The first cell of a ground that reaches to the end of the row: that of a block of code.
    pub(super) ground: Option<u16>,
    /// A line that a change adds or removes.
    pub(super) changed: bool,
    /// It begins with a fold mark.
    pub(super) folds: bool,
    /// It counts lines that are not shown. The key that shows them stands behind it, and depends on the focus.
    pub(super) more: Option<Unfold>,
}

/// Key that shows the lines that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfold {
    /// Enter on the entry; elsewhere the key that shows more of all output.
    Here,
    /// The key that opens the entry in a program: too long for the screen.
    Program,
}

/// Position of a part of a logical line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seg {
    /// The first cell of the line, and how many.
    pub(super) x: u16,
    pub(super) width: u16,
    /// The first byte of the logical line, and how many.
    pub(super) from: u32,
    pub(super) len: u32,
}

/// Part of a block of code on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeAt {
    /// The block's number in its entry.
    pub(super) block: u32,
    /// The word for its language.
    pub(super) lang: Arc<str>,
    /// Line of the block, from 0.
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

impl LaidOutLine {
    /// The code that stands on the line.
    pub(super) fn code_text(&self, code: &CodeAt) -> String {
        let (lead, spans) = (usize::from(code.lead), usize::from(code.spans));
        self.line.spans.iter().skip(lead).take(spans).map(|span| span.content.as_ref()).collect()
    }

    /// The runs of a line of code as cells: the first one, how many, and the run.
    pub(super) fn shades<'r>(&self, code: &CodeAt, lines: &'r [Vec<ShadedRun>]) -> Vec<(u16, u16, &'r ShadedRun)> {
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

    /// The same line after a lead of this many spans and cells.
    pub(super) fn behind(mut self, lead: &[Span<'static>]) -> Self {
        let cells = u16::try_from(text::spans_width(lead)).unwrap_or(u16::MAX);
        self.line.spans.splice(0..0, lead.iter().cloned());
        for code in &mut self.code {
            code.lead = code.lead.saturating_add(u16::try_from(lead.len()).unwrap_or(u16::MAX));
        }
        for link in &mut self.links {
            link.from = link.from.saturating_add(cells);
        }
        for seg in &mut self.segs {
            seg.x = seg.x.saturating_add(cells);
        }
        self.ground = self.ground.map(|from| from.saturating_add(cells));
        self
    }

    /// The same line on the ground of code from cell `from` on.
    pub(super) fn on_ground(self, from: usize) -> Self {
        Self { ground: Some(number16(from)), ..self }
    }

    /// A line that is no part of the text: a label, a hint, a rule.
    pub(super) fn quiet(line: Line<'static>) -> Self {
        Self { line, ..Self::default() }
    }

    /// An empty line of the text.
    pub(super) fn blank() -> Self {
        Self { text: Some("".into()), ..Self::default() }
    }

    /// A line that stands for `text` as a whole.
    pub(super) fn standing_for(line: Line<'static>, text: impl Into<Box<str>>) -> Self {
        Self { line, text: Some(text.into()), ..Self::default() }
    }

    /// The same line, which is no part of the text.
    pub(super) fn silent(self) -> Self {
        Self { text: None, segs: Vec::new(), ..self }
    }
}

/// A line of nothing but text.
impl From<Line<'static>> for LaidOutLine {
    fn from(line: Line<'static>) -> Self {
        let shown = line.to_string();
        let shown = shown.trim_end();
        let seg = Seg { x: 0, width: number16(text::width(shown)), from: 0, len: number32(shown.len()) };
        Self { text: Some(shown.into()), segs: vec![seg], ..Self::quiet(line) }
    }
}

fn number16(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn number32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl fmt::Display for LaidOutLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.fmt(f)
    }
}

/// Text to copy in addition to, or instead of, the visible text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source<'t> {
    /// Stands before it in the copy; shown by the lead, at its right end.
    pub(super) prefix: &'t str,
    /// The first span is this text with its tabs as blanks.
    pub(super) tabbed: Option<&'t str>,
    /// Only the spans before this one are text; `None`: all.
    pub(super) spans: Option<usize>,
    /// Number of leading spans that are a label, not text.
    pub(super) label: usize,
}

/// Wraps a logical line behind leads; tells for each line where its spans come from, as [`wrap_told`] does.
pub(super) fn laid_out(
    spans: &[Span<'_>],
    width: usize,
    first: &[Span<'static>],
    rest: &[Span<'static>],
    fold: Fold,
    source: Source<'_>,
) -> Vec<(LaidOutLine, Origins)> {
    let count = source.spans.unwrap_or(spans.len());
    let shown: String = spans.iter().take(count).skip(source.label).map(|span| span.content.as_ref()).collect();
    let starts = starts(spans);
    let label = starts.get(source.label).copied().unwrap_or(0);
    let tabs = source.tabbed.filter(|text| text.contains('\t')).map(text::tabs).unwrap_or_default();
    let copied = match source.tabbed {
        Some(tabbed) if !tabs.is_empty() => {
            let behind = spans.get(1..count).unwrap_or_default().iter().map(|span| span.content.as_ref());
            [source.prefix, tabbed].into_iter().chain(behind).collect::<String>()
        }
        _ => format!("{}{shown}", source.prefix),
    };
    // Between words a blank at a break goes, so it does at the end.
    let copied: Box<str> = if fold == Fold::Words { copied.trim_end().into() } else { copied.into() };
    let most = copied.len();
    let mut copied = Some(copied);
    let prefix = text::width(source.prefix);
    let mut passed = (0, 0);
    let wrapped = wrap_told(spans, width, first, rest, fold).into_iter().enumerate();
    wrapped
        .map(|(number, (line, origins))| {
            let lead = line.spans.len() - origins.len();
            let mut x = text::spans_width(line.spans.get(..lead).unwrap_or_default());
            let (segs, before) = (Vec::new(), source.prefix.len());
            let mut segs = Segs { segs, tabs: &tabs, passed, shown: &shown, prefix: before, most };
            if number == 0 && prefix > 0 && prefix <= x {
                // An empty item has its mark, without the blank behind it.
                let mark = source.prefix.get(..most.min(source.prefix.len())).unwrap_or_default();
                let (at, width) = (number16(x - prefix), number16(text::width(mark)));
                segs.add(Seg { x: at, width, from: 0, len: number32(mark.len()) });
            }
            for (span, (origin, from)) in line.spans.iter().skip(lead).zip(&origins) {
                let wide = text::width(&span.content);
                if (source.label..count).contains(&(*origin as usize)) {
                    let from = starts.get(*origin as usize).copied().unwrap_or(0) + *from as usize;
                    segs.run(x, from - label, &span.content);
                }
                x += wide;
            }
            passed = segs.passed;
            let laid_line = LaidOutLine { text: copied.take(), segs: segs.segs, ..LaidOutLine::quiet(line) };
            (laid_line, origins)
        })
        .collect()
}

/// The byte at which each span begins, in all of them together.
fn starts(spans: &[Span<'_>]) -> Vec<usize> {
    let mut sum = 0;
    let start = |span: &Span<'_>| {
        let start = sum;
        sum += span.content.len();
        start
    };
    spans.iter().map(start).collect()
}

/// The parts of a line while they are found.
struct Segs<'t> {
    segs: Vec<Seg>,
    /// Tabs of the text: where their blanks begin in what is shown, and how many.
    tabs: &'t [(usize, usize)],
    /// Number of edits passed, and by how many bytes the text is shorter up to there.
    passed: (usize, usize),
    shown: &'t str,
    /// Bytes before the text.
    prefix: usize,
    /// Bytes of the logical line.
    most: usize,
}

impl Segs<'_> {
    /// Adds bytes of what is shown, which stand from cell `x` on.
    fn run(&mut self, mut x: usize, from: usize, content: &str) {
        // A character without room is shown as a sign: it stands for the character.
        let len = match self.shown.get(from..from + content.len()) {
            Some(same) if same == content => content.len(),
            _ => self.shown.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8),
        };
        let (mut at, end, tabs) = (from, from + len, self.tabs);
        // The runs come in their order: a tab before this one is behind all that follow.
        while let Some((tab, blanks)) = tabs.get(self.passed.0)
            && tab + blanks <= from
        {
            self.passed = (self.passed.0 + 1, self.passed.1 + blanks - 1);
        }
        let (first, mut less) = self.passed;
        for (tab, blanks) in tabs.get(first..).unwrap_or_default() {
            if *tab >= end {
                break;
            }
            if tab + blanks > at {
                if at < *tab {
                    x = self.plain(x, at, *tab, less);
                }
                let (start, stop) = (at.max(*tab), end.min(tab + blanks));
                let from = number32(self.prefix + tab - less);
                if (from as usize) < self.most {
                    self.segs.push(Seg { x: number16(x), width: number16(stop - start), from, len: 1 });
                }
                x += stop - start;
                at = stop;
            }
            less += blanks - 1;
        }
        if at < end {
            self.plain(x, at, end, less);
        }
    }

    /// Bytes without a tab; the cell behind them.
    fn plain(&mut self, x: usize, from: usize, to: usize, less: usize) -> usize {
        let width = self.shown.get(from..to).map_or(0, text::width).max(usize::from(from < to));
        let from_copied = self.prefix + from - less;
        // Blanks at the end of a logical line are not copied.
        let len = (to - from).min(self.most.saturating_sub(from_copied));
        if len > 0 {
            let width = width.saturating_sub(to - from - len);
            self.add(Seg { x: number16(x), width: number16(width), from: number32(from_copied), len: number32(len) });
        }
        x + width
    }

    /// Adds a part, as one with the part before it where they stand together.
    fn add(&mut self, seg: Seg) {
        // A tab is a part of its own: it has more cells than its byte tells.
        match self.segs.last_mut() {
            Some(last) if last.x + last.width == seg.x && last.from + last.len == seg.from && self.tabs.is_empty() => {
                last.width += seg.width;
                last.len += seg.len;
            }
            _ => self.segs.push(seg),
        }
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
    source: Source<'_>,
) -> Vec<LaidOutLine> {
    let starts = starts(spans);
    let laid = laid_out(spans, width, first, rest, Fold::Anywhere, source).into_iter();
    laid.map(|(mut laid_line, origins)| {
        let from = origins.first().map_or(0, |(span, start)| {
            number32(starts.get(*span as usize).copied().unwrap_or(0)).saturating_add(*start)
        });
        let (lead, spans) = (number16(laid_line.line.spans.len() - origins.len()), number16(origins.len()));
        laid_line.code = vec![CodeAt { from, lead, spans, ..at.clone() }];
        laid_line
    })
    .collect()
}

/// Lines without what is more than text.
pub(super) fn lines(laid_lines: Vec<LaidOutLine>) -> Vec<Line<'static>> {
    laid_lines.into_iter().map(|laid_line| laid_line.line).collect()
}

/// Lines that are nothing but text.
pub(super) fn laid_lines(lines: Vec<Line<'static>>) -> Vec<LaidOutLine> {
    lines.into_iter().map(LaidOutLine::from).collect()
}
