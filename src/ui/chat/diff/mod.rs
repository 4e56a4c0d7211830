//! A change of a file as numbered lines, one below the other or old and new beside each other. Also the user's ground for
//! an approval: so every suspicious character shows.
//!
//! `words` finds what changed within lines; here they are laid out.

mod words;

use super::laid_out_line::{CodeAt, LaidOutLine, Source, coded, laid_out};
use super::source_lines::bounded;
use super::style::ChatStyle;
use crate::domain::diff::{DiffKind, DiffLine, FileDiff, Hunk};
use crate::domain::lookalike::expose;
use crate::domain::sanitise::reveal;
use crate::theme::Role;
use crate::ui::text::{Fold, expand_tabs, spans_width, wrap};
use ratatui::text::Span;
use std::ops::Range;

/// Cells from which on old and new may stand beside each other.
pub(in crate::ui) const BESIDE: usize = 120;

/// All lines of the change: number, sign, text; a mark between the changed places.
pub(super) fn unified(diff: &FileDiff, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    let page = match Page::new(diff, look) {
        Ok(page) => page,
        Err(said) => return wrap(&[said], width, &[], &[], Fold::Words).into_iter().map(LaidOutLine::quiet).collect(),
    };
    let mut out = Vec::new();
    for (number, hunk) in diff.hunks.iter().enumerate() {
        page.gap(number, width, &mut out);
        for line in page.lines(number, hunk) {
            out.extend(page.line(&line, width));
        }
    }
    out.extend(rest(diff, width, look));
    out
}

/// Count of omitted lines, if any.
fn rest(diff: &FileDiff, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    let Some(text) = diff.rest() else { return Vec::new() };
    let said = Span::styled(text, look.style(Role::DiffMeta));
    wrap(&[said], width, &[], &[], Fold::Words).into_iter().map(LaidOutLine::quiet).collect()
}

/// The same with the old text on the left and the new one on the right; in too narrow a pane as [`unified`].
pub(super) fn beside(diff: &FileDiff, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    let page = match Page::new(diff, look) {
        Ok(page) if width >= BESIDE && !diff.is_new => page,
        _ => return unified(diff, width, look),
    };
    let half = (width - 3) / 2;
    let bar = Span::styled(look.glyph(" │ ", " | "), look.style(Role::Mark));
    let mut out = Vec::new();
    for (number, hunk) in diff.hunks.iter().enumerate() {
        page.gap(number, width, &mut out);
        let lines = page.lines(number, hunk);
        for (left, right) in rows(&lines) {
            // Of two texts beside each other the new one is the text; the old one where nothing came for it.
            let has_new = right.is_some();
            let mut left = left.map_or_else(Vec::new, |line| page.line(&line.left(), half)).into_iter();
            let mut right = right.map_or_else(Vec::new, |line| page.line(line, half)).into_iter();
            loop {
                let (one, other) = (left.next(), right.next());
                let changed = [&one, &other].into_iter().flatten().any(|line| line.changed);
                if one.is_none() && other.is_none() {
                    break;
                }
                let mut laid_line = one.unwrap_or_default();
                if has_new {
                    laid_line = laid_line.silent();
                }
                let room = half.saturating_sub(spans_width(&laid_line.line.spans));
                laid_line.line.spans.push(Span::raw(" ".repeat(room)));
                laid_line.line.spans.push(bar.clone());
                let other = other.unwrap_or_default().behind(&laid_line.line.spans);
                laid_line.code.extend(other.code);
                (laid_line.line, laid_line.changed) = (other.line, changed);
                if has_new {
                    (laid_line.text, laid_line.segs) = (other.text, other.segs);
                }
                out.push(laid_line);
            }
        }
    }
    out.extend(rest(diff, width, look));
    out
}

/// The changes of several files, each under its name and what becomes of it.
pub(super) fn several<'a>(
    diffs: impl Iterator<Item = &'a FileDiff>,
    width: usize,
    side_by_side: bool,
    look: &ChatStyle<'_>,
) -> Vec<LaidOutLine> {
    let mut out = Vec::new();
    for diff in diffs {
        if !out.is_empty() {
            out.push(LaidOutLine::blank());
        }
        out.extend(name(diff, width, look));
        // One that only moves has nothing else to show.
        if !diff.hunks.is_empty() || diff.moved_from.is_none() {
            out.extend(if side_by_side { beside(diff, width, look) } else { unified(diff, width, look) });
        }
    }
    out
}

/// Name of a changed file, what becomes of it, and how much comes and goes.
pub(super) fn name(diff: &FileDiff, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    let mut name = vec![Span::styled(expose(&diff.path), look.style(Role::Strong))];
    let fate = match diff {
        FileDiff { is_new: true, .. } => "  new".to_owned(),
        FileDiff { is_gone: true, .. } => "  deleted".to_owned(),
        FileDiff { moved_from: Some(from), .. } => format!("  was {}", expose(from)),
        _ => String::new(),
    };
    name.push(Span::styled(fate, look.style(Role::DiffMeta)));
    name.push(Span::styled(format!("  +{}", diff.added), look.style(Role::DiffAdded)));
    let minus = look.glyph("−", "-");
    name.push(Span::styled(format!(" {minus}{}", diff.removed), look.style(Role::DiffRemoved)));
    let source = Source { spans: Some(1), ..Source::default() };
    laid_out(&name, width, &[], &[], Fold::Anywhere, source).into_iter().map(|(laid_line, _)| laid_line).collect()
}

/// Rows side by side: an unchanged line with itself, removed lines with the added ones that replace them.
fn rows<'l, 't>(lines: &'l [SidedLine<'t>]) -> Vec<(Option<&'l SidedLine<'t>>, Option<&'l SidedLine<'t>>)> {
    let mut out = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        if first.line.kind == DiffKind::Same {
            out.push((Some(first), Some(first)));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let run = |lines: &'l [SidedLine<'t>], kind| lines.iter().take_while(|line| line.line.kind == kind).count();
        let (gone, after) = rest.split_at(run(rest, DiffKind::Removed));
        let (came, after) = after.split_at(run(after, DiffKind::Added));
        for at in 0..gone.len().max(came.len()) {
            out.push((gone.get(at), came.get(at)));
        }
        rest = after;
    }
    out
}

/// A line on its way to the screen.
#[derive(Clone)]
struct SidedLine<'t> {
    line: &'t DiffLine,
    /// Its number in the old text and in the new one; what stands there counts.
    old: u32,
    new: u32,
    /// Bytes of its text that are another word than before.
    words: Vec<Range<usize>>,
    code: CodeAt,
    is_left: bool,
}

impl SidedLine<'_> {
    /// The line as a part of the old text.
    fn left(&self) -> Self {
        Self { is_left: true, ..self.clone() }
    }
}

struct Page<'a> {
    look: &'a ChatStyle<'a>,
    digits: usize,
    lang: String,
}

impl<'a> Page<'a> {
    /// Layout shared by all lines, or the message for a diff without lines.
    fn new(diff: &FileDiff, look: &'a ChatStyle<'a>) -> Result<Self, Span<'static>> {
        if diff.hunks.is_empty() {
            let text = if diff.is_new { "an empty file" } else { "no change" };
            return Err(Span::styled(text, look.style(Role::DiffMeta)));
        }
        let highest = diff.hunks.iter().map(|h| {
            let lines = u32::try_from(h.lines.len()).unwrap_or(u32::MAX);
            h.old_start.max(h.new_start).saturating_add(lines)
        });
        let digits = highest.max().unwrap_or(1).to_string().len();
        Ok(Self { look, digits, lang: super::language::language_of(&diff.path) })
    }

    fn gap(&self, number: usize, width: usize, out: &mut Vec<LaidOutLine>) {
        if number > 0 {
            let digits = self.digits;
            let gap = format!("{:>digits$}", self.look.glyph("⋮", ":"));
            let gap = Span::styled(gap, self.look.style(Role::DiffMeta));
            out.extend(wrap(&[gap], width, &[], &[], Fold::Anywhere).into_iter().map(LaidOutLine::quiet));
        }
    }

    fn lines<'t>(&self, number: usize, hunk: &'t Hunk) -> Vec<SidedLine<'t>> {
        let words = words::changed(&hunk.lines, &|text| self.text(text).0);
        // Of the two texts of a place each is read as code on its own.
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_mul(2);
        let (mut before, mut after) =
            (CodeAt::first(number.saturating_add(1), &self.lang), CodeAt::first(number, &self.lang));
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        let mut out = Vec::with_capacity(hunk.lines.len());
        for (line, words) in hunk.lines.iter().zip(words) {
            let side = if line.kind == DiffKind::Removed { &mut before } else { &mut after };
            out.push(SidedLine { line, old, new, words, code: side.clone(), is_left: false });
            side.next();
            old = old.saturating_add(u32::from(line.kind != DiffKind::Added));
            new = new.saturating_add(u32::from(line.kind != DiffKind::Removed));
        }
        out
    }

    /// The text as it is shown, and a word on what was left out.
    fn text(&self, text: &str) -> (String, Option<Span<'static>>) {
        let (kept, more) = bounded(text, self.look);
        // A newline cannot stand in a line; if one does, it is a blank of its own.
        (expand_tabs(&reveal(kept)).replace('\n', " "), more)
    }

    fn line(&self, shown: &SidedLine<'_>, width: usize) -> Vec<LaidOutLine> {
        let (digits, look) = (self.digits, self.look);
        let meta = look.style(Role::DiffMeta);
        let (at, sign, role, word) = match shown.line.kind {
            DiffKind::Same if shown.is_left => (shown.old, ' ', Role::Text, Role::Text),
            DiffKind::Same => (shown.new, ' ', Role::Text, Role::Text),
            DiffKind::Removed => (shown.old, '-', Role::DiffRemoved, Role::DiffRemovedWord),
            DiffKind::Added => (shown.new, '+', Role::DiffAdded, Role::DiffAddedWord),
        };
        let (style, word) = (look.style(role), look.style(word));
        let first = [Span::styled(format!("{at:>digits$} "), meta), Span::styled(format!("{sign} "), style)];
        let rest = [Span::raw(" ".repeat(digits + 3))];
        let (text, more) = self.text(&shown.line.text);
        let mut spans = Vec::new();
        let mut done = 0;
        for range in &shown.words {
            let (Some(before), Some(piece)) = (text.get(done..range.start), text.get(range.clone())) else { continue };
            spans.push(Span::styled(before.to_owned(), style));
            spans.push(Span::styled(piece.to_owned(), word));
            done = range.end;
        }
        spans.push(Span::styled(text.get(done..).unwrap_or_default().to_owned(), style));
        let source = Source { spans: Some(spans.len()), ..Source::default() };
        spans.extend(more);
        let mut out = coded(&spans, width, &first, &rest, &shown.code, source);
        out.iter_mut().for_each(|laid_line| laid_line.changed = shown.line.kind != DiffKind::Same);
        // Where the ground does not tell what came and went, the colour of the letters does.
        if shown.line.kind != DiffKind::Same && style.bg.is_none() {
            out.iter_mut().for_each(|laid_line| laid_line.code.clear());
        }
        out
    }
}

/// The change as a patch: for copying.
pub(super) fn plain(diff: &FileDiff) -> String {
    let mut out = String::new();
    for hunk in &diff.hunks {
        out.push_str("@@\n");
        for line in &hunk.lines {
            out.push(match line.kind {
                DiffKind::Same => ' ',
                DiffKind::Removed => '-',
                DiffKind::Added => '+',
            });
            out.push_str(&line.text);
            out.push('\n');
        }
    }
    out.extend(diff.rest().map(|rest| format!("{rest}\n")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::ui::glyphs::GlyphSet;

    fn shown(old: Option<&str>, new: &str, width: usize) -> Vec<String> {
        let theme = Theme::plain();
        let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
        unified(&FileDiff::between("a", old, new), width, &look).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_signs_and_hidden_characters() {
        let old = (1..30).map(|i| format!("line {i}\n")).collect::<String>();
        let new = old.replace("line 2\n", "\tli\u{200b}ne two\x1b[8m\n").replace("line 28\n", "");
        assert_eq!(
            shown(Some(&old), &new, 40),
            [
                " 1   line 1",
                " 2 - line 2",
                " 2 +     li⟦U+200B⟧ne two␛[8m",
                " 3   line 3",
                " 4   line 4",
                " 5   line 5",
                " ⋮",
                "25   line 25",
                "26   line 26",
                "27   line 27",
                "28 - line 28",
                "28   line 29",
            ]
        );
        assert_eq!(shown(None, "a long line\n", 10), ["1 + a long", "     line"]);
        assert_eq!(shown(None, "", 20), ["an empty file"]);
        assert_eq!(shown(Some("x"), "x", 20), ["no change"]);
    }

    #[test]
    fn old_and_new_stand_beside_each_other() {
        let theme = Theme::plain();
        let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
        let diff =
            FileDiff::between("a.rs", Some("same\nlet a = 1;\ngone\nend\n"), "same\nlet b = 1;\nend\nnew 日本\n");
        let shown: Vec<String> =
            beside(&diff, 120, &look).iter().map(|laid_line| laid_line.to_string().trim_end().to_owned()).collect();
        let row = |left: &str, right: &str| format!("{left:<58} │ {right}");
        let want = [
            row("1   same", "1   same"),
            row("2 - let a = 1;", "2 + let b = 1;"),
            row("3 - gone", ""),
            row("4   end", "3   end"),
            row("", "4 + new 日本"),
        ];
        assert_eq!(shown, want.map(|row| row.trim_end().to_owned()));
        assert_eq!(beside(&diff, 100, &look), unified(&diff, 100, &look), "a narrow pane");
        for laid_line in beside(&diff, 121, &look) {
            assert!(spans_width(&laid_line.line.spans) <= 121, "{laid_line}");
            for code in &laid_line.code {
                assert!(!laid_line.code_text(code).starts_with(['-', '+']), "{laid_line}");
            }
        }
    }

    #[test]
    fn words_that_changed_are_marked() {
        let theme = Theme::builtin(true);
        let look = ChatStyle { theme: &theme, glyphs: GlyphSet::Unicode };
        let diff = FileDiff::between("a.rs", Some("let total = sum(one, two);\n"), "let total = sum(one, three);\n");
        let marked = |role: Role| -> String {
            let laid_lines = unified(&diff, 80, &look);
            let spans = laid_lines.iter().flat_map(|laid_line| &laid_line.line.spans);
            spans.filter(|span| span.style == theme.style(role)).map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(
            (marked(Role::DiffRemovedWord), marked(Role::DiffAddedWord)),
            ("two".to_owned(), "three".to_owned())
        );
    }
}
