//! Measuring, cutting and wrapping text by graphemes, with the widths that the frame buffer will give them.
//!
//! The text is sanitised already and has no newline. What a line means is the callers' business.

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// Columns between tab stops.
const TAB: usize = 4;

/// Line breaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Between words and between wide characters; inside words that are longer than a line. Blanks at a break go.
    Words,
    /// Anywhere, and every blank stays: for code and output.
    Anywhere,
}

/// Cells that `text` takes in the buffer.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_simple(text) { text.len() } else { text.graphemes(true).map(cells).sum() }
}

/// Cells that a line takes in the buffer.
#[must_use]
pub fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// `text` in at most `width` cells; `…` marks a cut.
#[must_use]
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    cut_with(text, width, "…")
}

/// `text` in at most `width` cells; `mark` marks a cut (and is left out where it has no room).
#[must_use]
pub fn cut_with<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    match fitting(text.graphemes(true), text, width, mark) {
        None => Cow::Borrowed(text),
        Some((bytes, mark)) => Cow::Owned(format!("{}{mark}", text.get(..bytes).unwrap_or_default())),
    }
}

/// Like [`cut_with`], but the end stays: for paths, whose last part says most.
#[must_use]
pub fn cut_start<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    match fitting(text.graphemes(true).rev(), text, width, mark) {
        None => Cow::Borrowed(text),
        Some((bytes, mark)) => Cow::Owned(format!("{mark}{}", text.get(text.len() - bytes..).unwrap_or_default())),
    }
}

/// Bytes of the graphemes that fit beside the mark, and the mark if it fits; `None` if all fit without it.
fn fitting<'a, 'm>(
    graphemes: impl Iterator<Item = &'a str>,
    text: &str,
    room: usize,
    mark: &'m str,
) -> Option<(usize, &'m str)> {
    // A text of at most so many bytes cannot be wider: no grapheme is wider than its bytes.
    if text.len() <= room && is_simple(text) {
        return None;
    }
    let mark = if width(mark) <= room { mark } else { "" };
    let beside = room - width(mark);
    let (mut used, mut bytes, mut kept) = (0, 0, 0);
    for g in graphemes {
        used += cells(g);
        bytes += g.len();
        if used <= beside {
            kept = bytes;
        }
        if used > room {
            return Some((kept, mark));
        }
    }
    None
}

/// Tabs as blanks up to the next stop.
#[must_use]
pub fn expand_tabs(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for (i, part) in text.split('\t').enumerate() {
        if i > 0 {
            let blanks = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        }
        out.push_str(part);
        column += width(part);
    }
    Cow::Owned(out)
}

/// Positions where [`expand_tabs`] puts blanks for the tabs of a text: the first byte in its
/// result, and the number of blanks.
#[must_use]
pub fn tabs(text: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let (mut bytes, mut column) = (0, 0);
    for (i, part) in text.split('\t').enumerate() {
        if i > 0 {
            let blanks = TAB - column % TAB;
            out.push((bytes, blanks));
            bytes += blanks;
            column += blanks;
        }
        bytes += part.len();
        column += width(part);
    }
    out
}

/// Breaks one logical line into lines of at most `width` cells. The first begins with `first`, the others with `rest`;
/// a lead that leaves less than two cells is left out. There is always at least one line. A character that is wider
/// than the whole line is shown as `…`.
#[must_use]
pub fn wrap(
    spans: &[Span<'_>],
    width: usize,
    first: &[Span<'static>],
    rest: &[Span<'static>],
    fold: Fold,
) -> Vec<Line<'static>> {
    let mut wrapper = Wrapper { spans, width: width.max(1), leads: [first, rest], lines: Vec::new(), tells: false };
    wrapper.run(&pieces(spans), fold);
    wrapper.lines.into_iter().map(|(line, _)| line).collect()
}

/// Origins of the spans of a wrapped line, without its lead: the number of the source span, and the
/// first byte in it.
pub type Origins = Vec<(u32, u32)>;

/// Like [`wrap`]; tells for each line where its spans come from.
#[must_use]
pub fn wrap_told(
    spans: &[Span<'_>],
    width: usize,
    first: &[Span<'static>],
    rest: &[Span<'static>],
    fold: Fold,
) -> Vec<(Line<'static>, Origins)> {
    let mut wrapper = Wrapper { spans, width: width.max(1), leads: [first, rest], lines: Vec::new(), tells: true };
    wrapper.run(&pieces(spans), fold);
    wrapper.lines
}

/// A grapheme: which span it lies in, its bytes there, its cells.
#[derive(Clone, Copy)]
struct Piece {
    span: u32,
    start: u32,
    end: u32,
    width: u32,
    kind: GraphemeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GraphemeKind {
    Blank,
    Letter,
    /// A wide character: lines may break on both sides.
    Wide,
    /// A wide character that may not begin a line.
    Closing,
}

struct Wrapper<'a> {
    spans: &'a [Span<'a>],
    width: usize,
    leads: [&'a [Span<'static>]; 2],
    lines: Vec<(Line<'static>, Origins)>,
    /// Origins are wanted.
    tells: bool,
}

impl Wrapper<'_> {
    fn run(&mut self, pieces: &[Piece], fold: Fold) {
        let room = self.leads.map(|lead| self.width - self.lead(lead).1);
        // The line begins at piece `begin` and is `used` wide; it can be broken before piece `brk`.
        let (mut begin, mut used, mut brk) = (0, 0, None::<usize>);
        let (mut i, mut has_letter) = (0, false);
        while let Some(piece) = pieces.get(i) {
            let room = if self.lines.is_empty() { room[0] } else { room[1] };
            let wide = piece.width as usize;
            if fold == Fold::Words {
                let before = if i > begin { pieces.get(i - 1) } else { None };
                match (piece.kind, before.map(|p| p.kind)) {
                    (GraphemeKind::Blank, _) if used + wide > room => {
                        self.emit(pieces, begin, i, fold);
                        while pieces.get(i).is_some_and(|p| p.kind == GraphemeKind::Blank) {
                            i += 1;
                        }
                        (begin, used, brk, has_letter) = (i, 0, None, false);
                        continue;
                    }
                    (GraphemeKind::Blank, _) if has_letter => brk = Some(i + 1),
                    (GraphemeKind::Wide, Some(GraphemeKind::Letter | GraphemeKind::Wide | GraphemeKind::Closing))
                    | (GraphemeKind::Letter, Some(GraphemeKind::Wide | GraphemeKind::Closing)) => brk = Some(i),
                    _ => {}
                }
            }
            if used + wide > room {
                match brk.take() {
                    Some(at) if at > begin => {
                        self.emit(pieces, begin, at, fold);
                        begin = at;
                        used = pieces.get(at..i).unwrap_or_default().iter().map(|p| p.width as usize).sum();
                    }
                    _ if i > begin => {
                        self.emit(pieces, begin, i, fold);
                        (begin, used) = (i, 0);
                    }
                    _ => {
                        let style = self.spans.get(piece.span as usize).map(|s| s.style).unwrap_or_default();
                        self.push(vec![Span::styled("…", style)], vec![(piece.span, piece.start)]);
                        i += 1;
                        (begin, used) = (i, 0);
                    }
                }
                has_letter = begin < i;
                continue;
            }
            used += wide;
            has_letter |= piece.kind != GraphemeKind::Blank;
            i += 1;
        }
        if begin < pieces.len() || self.lines.is_empty() {
            self.emit(pieces, begin, pieces.len(), fold);
        }
    }

    /// The lead and its width, or nothing when it is too wide.
    fn lead<'l>(&self, lead: &'l [Span<'static>]) -> (&'l [Span<'static>], usize) {
        let lead = lead_within(lead, self.width);
        (lead, spans_width(lead))
    }

    fn emit(&mut self, pieces: &[Piece], from: usize, to: usize, fold: Fold) {
        let mut range = pieces.get(from..to).unwrap_or_default();
        while let (Fold::Words, [most @ .., Piece { kind: GraphemeKind::Blank, .. }]) = (fold, range) {
            range = most;
        }
        let (mut out, mut origins) = (Vec::new(), Origins::new());
        let mut rest = range;
        while let Some(head) = rest.first() {
            let run = rest.iter().take_while(|p| p.span == head.span).count();
            let end = rest.get(run - 1).map_or(head.end, |p| p.end);
            if let Some(span) = self.spans.get(head.span as usize) {
                let text = span.content.get(head.start as usize..end as usize).unwrap_or_default();
                out.push(Span::styled(text.to_owned(), span.style));
                if self.tells {
                    origins.push((head.span, head.start));
                }
            }
            rest = rest.get(run..).unwrap_or_default();
        }
        self.push(out, origins);
    }

    fn push(&mut self, spans: Vec<Span<'static>>, origins: Origins) {
        let lead = if self.lines.is_empty() { self.leads[0] } else { self.leads[1] };
        let (lead, _) = self.lead(lead);
        let spans = if lead.is_empty() { spans } else { lead.iter().cloned().chain(spans).collect() };
        self.lines.push((Line::from(spans), origins));
    }
}

fn pieces(spans: &[Span<'_>]) -> Vec<Piece> {
    let mut out = Vec::with_capacity(spans.iter().map(|s| s.content.len()).sum());
    for (number, span) in spans.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut add = |start: usize, text: &str, width: usize| {
            let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let piece = Piece {
                span: number,
                start: at(start),
                end: at(start + text.len()),
                width: at(width),
                kind: kind(text, width),
            };
            out.push(piece);
        };
        let text = span.content.as_ref();
        if is_simple(text) {
            for start in 0..text.len() {
                add(start, text.get(start..=start).unwrap_or_default(), 1);
            }
            continue;
        }
        for (start, grapheme) in text.grapheme_indices(true) {
            let wide = cells(grapheme);
            if wide <= 2 {
                add(start, grapheme, wide);
                continue;
            }
            // Some scripts chain letters into one grapheme without end: it may break between them.
            for (offset, c) in grapheme.char_indices() {
                let letter = grapheme.get(offset..offset + c.len_utf8()).unwrap_or_default();
                add(start + offset, letter, cells(letter));
            }
        }
    }
    out
}

fn kind(text: &str, width: usize) -> GraphemeKind {
    match text {
        " " => GraphemeKind::Blank,
        "、" | "。" | "，" | "．" | "）" | "」" | "』" | "】" | "〉" | "》" | "！" | "？" | "：" | "；" | "・"
        | "ー" => GraphemeKind::Closing,
        _ if width == 2 => GraphemeKind::Wide,
        _ => GraphemeKind::Letter,
    }
}

/// Printable ASCII: a cell each byte.
fn is_simple(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// Cells of a grapheme; 0 for control characters, which the buffer leaves out.
fn cells(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) { 0 } else { usize::from(grapheme.cell_width()) }
}

/// A lead, or nothing where it would leave less than two cells of `width`.
#[must_use]
pub fn lead_within<'l>(lead: &'l [Span<'static>], width: usize) -> &'l [Span<'static>] {
    if spans_width(lead) + 2 > width { &[] } else { lead }
}

/// A line of one style.
#[must_use]
pub fn line(text: impl Into<String>, style: Style) -> Line<'static> {
    Line::from(Span::styled(text.into(), style))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sanitise::clean_line;
    use proptest::prelude::*;

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        wrap(&[Span::raw(text)], width, &[], &[], Fold::Words).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn breaks() {
        for (text, width, want) in [
            ("", 10, vec![""]),
            ("the quick brown fox", 9, vec!["the quick", "brown fox"]),
            ("the quick brown fox", 10, vec!["the quick", "brown fox"]),
            ("  indented stays", 10, vec!["  indented", "stays"]),
            ("a  b   c", 4, vec!["a  b", "c"]),
            ("abcdefghij kl", 4, vec!["abcd", "efgh", "ij", "kl"]),
            ("日本語のテキスト", 6, vec!["日本語", "のテキ", "スト"]),
            ("日本語。次", 6, vec!["日本", "語。次"]),
            ("ab日本", 3, vec!["ab", "日", "本"]),
            ("👨‍👩‍👧👨‍👩‍👧", 3, vec!["👨‍👩‍👧", "👨‍👩‍👧"]),
            ("日本", 1, vec!["…", "…"]),
            ("trailing   ", 8, vec!["trailing"]),
            ("trailing   ", 9, vec!["trailing"]),
        ] {
            assert_eq!(wrapped(text, width), want, "{text:?} in {width}");
        }
        let code = wrap(&[Span::raw("a  b   c")], 4, &[], &[], Fold::Anywhere);
        assert_eq!(code.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a  b", "   c"]);
    }

    #[test]
    fn leads_hang() {
        let lines = wrap(&[Span::raw("one two three")], 7, &[Span::raw("- ")], &[Span::raw("  ")], Fold::Words);
        assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["- one", "  two", "  three"]);
        let lines = wrap(&[Span::raw("one")], 3, &[Span::raw("- ")], &[Span::raw("  ")], Fold::Words);
        assert_eq!(lines.len(), 1, "a lead without room goes");
    }

    #[test]
    fn styles_follow_their_text() {
        let red = Style::new().fg(ratatui::style::Color::Red);
        let lines = wrap(&[Span::raw("ab"), Span::styled("cd ef", red)], 4, &[], &[], Fold::Words);
        assert_eq!(lines[0].spans, [Span::raw("ab"), Span::styled("cd", red)]);
        assert_eq!(lines[1].spans, [Span::styled("ef", red)]);
    }

    #[test]
    fn cutting() {
        for (text, width, end, start) in [
            ("abcdef", 6, "abcdef", "abcdef"),
            ("abcdef", 4, "abc…", "…def"),
            ("日本語", 5, "日本…", "…本語"),
            ("日本語", 4, "日…", "…語"),
            ("abc", 1, "…", "…"),
            ("abc", 0, "", ""),
        ] {
            assert_eq!(cut(text, width), end);
            assert_eq!(cut_start(text, width, "…"), start);
        }
        assert_eq!(cut_with("abcdef", 5, "..."), "ab...");
        assert_eq!(expand_tabs("a\tb\t\tc"), "a   b       c");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_nothing_is_lost(
            texts in proptest::collection::vec(prop_oneof!["[a-z ]{0,30}", "[a-z 日本語。é👩\u{200d}\u{301}\u{fe0f}🇩क्]{0,20}", any::<String>()], 0..5),
            width in 1usize..200,
            lead in 0usize..4,
            anywhere in any::<bool>(),
        ) {
            let texts: Vec<String> = texts.iter().map(|t| clean_line(t).into_owned()).collect();
            let spans: Vec<Span> = texts.iter().enumerate()
                .map(|(i, t)| Span::styled(t.as_str(), if i % 2 == 0 { Style::new() } else { Style::new().bold() }))
                .collect();
            let fold = if anywhere { Fold::Anywhere } else { Fold::Words };
            let lead = Span::raw("-".repeat(lead));
            let lines = wrap(&spans, width, std::slice::from_ref(&lead), std::slice::from_ref(&lead), fold);
            let leads = if lead.content.len() + 2 > width { 0 } else { lead.content.len() };
            let mut seen = String::new();
            for line in &lines {
                prop_assert!(spans_width(&line.spans) <= width, "{line:?} is wider than {width}");
                let text = line.to_string();
                prop_assert!(text.starts_with(&"-".repeat(leads)));
                seen.push_str(&text[leads..]);
            }
            if width > 1 {
                let keep = |t: &str| if anywhere { t.to_owned() } else { t.replace(' ', "") };
                prop_assert_eq!(keep(&seen), keep(&texts.concat()));
            }
        }

        #[test]
        fn a_cut_fits(text in any::<String>(), room in 0usize..40) {
            let text = clean_line(&text);
            for cut in [cut(&text, room), cut_start(&text, room, "…")] {
                prop_assert!(width(&cut) <= room);
                prop_assert!(width(&text) > room || cut == text);
            }
        }
    }
}
