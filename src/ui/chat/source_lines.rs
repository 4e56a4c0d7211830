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

/// The word above a block of code, if its info string has one.
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
    let lead: Vec<_> = lead.iter().cloned().chain([Span::raw("  ")]).collect();
    let mut spans = text::lead_within(&lead, width).to_vec();
    let room = width.saturating_sub(text::spans_width(&spans));
    spans.push(Span::styled(text::cut_with(&word, room, look.ellipsis()).into_owned(), look.style(Role::Faint)));
    Some(LaidOutLine::quiet(Line::from(spans)))
}

/// One line of a block of code: two cells in, every blank kept. `at` says which line of which block.
pub(super) fn code_line(
    line: &str,
    width: usize,
    lead: &[Span<'static>],
    look: &ChatStyle<'_>,
    at: &CodeAt,
) -> Vec<LaidOutLine> {
    let lead: Vec<_> = lead.iter().cloned().chain([Span::raw("  ")]).collect();
    let (kept, more) = bounded(line, look);
    let text = clean(kept).replace('\n', " ");
    let shown = Span::styled(text::expand_tabs(&text).into_owned(), look.style(Role::CodeBlock));
    let spans: Vec<_> = [shown].into_iter().chain(more).collect();
    let source = Source { tabbed: Some(&text), spans: Some(1), ..Source::default() };
    coded(&spans, width, &lead, &lead, at, source)
}

/// The word of an info string that names the language.
pub(super) fn language(info: &str) -> &str {
    info.split([' ', ',', '{']).next().unwrap_or_default()
}
