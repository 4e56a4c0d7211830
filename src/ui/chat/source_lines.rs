//! Lines of text as it stands: sanitised, tabs as blanks, wrapped, and cut where a line is beyond reason. Code in them
//! keeps every blank.

use super::laid_out_line::{CodeAt, LaidOutLine, Source, coded, laid_out};
use super::style::ChatStyle;
use crate::domain::sanitise::{clean, clean_line};
use crate::theme::Role;
use crate::ui::text::{self, Fold};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Bytes of one unbroken line that are laid out.
const LINE: usize = 32 * 1024;

/// Text as it stands, wrapped.
pub(super) fn raw(source: &str, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    source.trim_end_matches('\n').split('\n').flat_map(|line| raw_line(line, width, look)).collect()
}

/// One line of text as it stands, wrapped.
pub(super) fn raw_line(line: &str, width: usize, look: &ChatStyle<'_>) -> Vec<LaidOutLine> {
    plain(line, look.style(Role::Text), width, &[], Fold::Words, look)
}

/// One line of text in one style behind a lead, sanitised, with tabs as blanks; what is beyond reason is only told.
pub(super) fn plain(
    line: &str,
    style: Style,
    width: usize,
    lead: &[Span<'static>],
    fold: Fold,
    look: &ChatStyle<'_>,
) -> Vec<LaidOutLine> {
    let (kept, more) = bounded(line, look);
    let text = clean(kept).replace('\n', " ");
    let shown = Span::styled(text::expand_tabs(&text).into_owned(), style);
    let spans: Vec<_> = [shown].into_iter().chain(more).collect();
    let source = Source { tabbed: Some(&text), spans: Some(1), ..Source::default() };
    laid_out(&spans, width, lead, lead, fold, source).into_iter().map(|(laid_line, _)| laid_line).collect()
}

/// The start of a line that can be laid out, and a word on how much was left out.
pub(super) fn bounded<'t>(line: &'t str, look: &ChatStyle<'_>) -> (&'t str, Option<Span<'static>>) {
    let kept = line.get(..line.floor_char_boundary(LINE)).unwrap_or(line);
    let more = (kept.len() < line.len()).then(|| {
        let text = format!("{} {} more in this line", look.ellipsis(), size(line.len() - kept.len()));
        Span::styled(text, look.style(Role::Dim))
    });
    (kept, more)
}

/// Bytes for people.
fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The row above a block of code whose info string names a language: the word at its right end.
pub(super) fn code_label(
    info: &str,
    width: usize,
    lead: &[Span<'static>],
    look: &ChatStyle<'_>,
) -> Option<LaidOutLine> {
    let word = clean_line(language(info)).into_owned();
    if word.is_empty() {
        return None;
    }
    let (lead, from) = code_lead(width, lead, look);
    let mut spans = lead;
    let room = width.saturating_sub(text::spans_width(&spans) + 1).max(1);
    let word = text::cut_with(&word, room, look.ellipsis()).into_owned();
    spans.push(Span::raw(" ".repeat(room.saturating_sub(text::width(&word)))));
    spans.push(Span::styled(word, look.style(Role::Dim)));
    Some(LaidOutLine::quiet(Line::from(spans)).on_ground(from))
}

/// Lead of a line of code behind `lead`, and the cell where its ground begins: a blank on a ground, where the theme has
/// one, else a line at the side.
fn code_lead(width: usize, lead: &[Span<'static>], look: &ChatStyle<'_>) -> (Vec<Span<'static>>, usize) {
    let own = match look.style(Role::CodeGround).bg {
        Some(_) => Span::raw("  "),
        None => Span::styled(look.glyph("│ ", "| "), look.style(Role::Rule)),
    };
    let all: Vec<_> = lead.iter().cloned().chain([own]).collect();
    let shown = text::lead_within(&all, width).to_vec();
    let from = if shown.is_empty() { 0 } else { text::spans_width(lead) };
    (shown, from)
}

/// One line of a block of code: two cells in, every blank kept. `at` says which line of which block.
pub(super) fn code_line(
    line: &str,
    width: usize,
    lead: &[Span<'static>],
    look: &ChatStyle<'_>,
    at: &CodeAt,
) -> Vec<LaidOutLine> {
    let (lead, from) = code_lead(width, lead, look);
    let (kept, more) = bounded(line, look);
    let text = clean(kept).replace('\n', " ");
    let shown = Span::styled(text::expand_tabs(&text).into_owned(), look.style(Role::CodeBlock));
    let spans: Vec<_> = [shown].into_iter().chain(more).collect();
    let source = Source { tabbed: Some(&text), spans: Some(1), ..Source::default() };
    // A blank stays free at the right end.
    let room = if lead.is_empty() { width } else { width.saturating_sub(1).max(text::spans_width(&lead) + 2) };
    coded(&spans, room, &lead, &lead, at, source).into_iter().map(|laid_line| laid_line.on_ground(from)).collect()
}

/// The word of an info string that names the language.
pub(super) fn language(info: &str) -> &str {
    info.split([' ', ',', '{']).next().unwrap_or_default()
}
