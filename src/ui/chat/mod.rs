//! The conversation as lines: what the transcript looks like and which part of it is on the screen.
//!
//! [`draw`] is called once a frame with the whole conversation and lays out only what can be seen.

mod cache;
mod colours;
mod diff;
mod files;
mod footer;
mod heads;
mod laid_out_line;
mod language;
mod link_marks;
mod links;
mod mark;
mod markdown;
mod opts;
pub mod picture;
mod plan;
mod row;
mod rows;
mod source_lines;
mod stream;
mod style;
mod table;
mod text_position;
mod thinking;
mod tool;
mod transcript;
mod user;

pub use cache::Cache;
pub use opts::{ChatKeys, ChatOpts};
pub use plan::{Lead as PlanLead, figures as plan_figures, step as plan_step, widest as plan_widest};
pub use style::ChatStyle;

use super::glyphs::GlyphSet;
use crate::app::state::chat::{Chat, Drawn, Entry};
use crate::domain::Body;
use crate::domain::diff::FileDiff;
use crate::domain::sanitise::{clean, clean_message};
use crate::theme::Theme;
use laid_out_line::LaidOutLine;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Draws the conversation into `area` and reports which part of it is seen.
pub fn draw(chat: &Chat, opts: &ChatOpts<'_>, theme: &Theme, cache: &mut Cache, area: Rect, buf: &mut Buffer) -> Drawn {
    transcript::Transcript { chat, opts, theme, cache, area, blocks: Vec::new(), mark: None, leads: None }.draw(buf)
}

/// Markdown as lines of at most `width` cells. The text is sanitised here.
#[must_use]
pub fn markdown_lines(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    markdown_with(text, width, &ChatStyle { theme, glyphs: GlyphSet::Unicode })
}

/// The same with a choice of glyphs.
#[must_use]
pub fn markdown_with(text: &str, width: u16, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    let mut stream = stream::Stream::default();
    stream.update(text, usize::from(width), look);
    stream.into_lines()
}

/// A change of a file as numbered lines of at most `width` cells, suspicious characters made visible.
#[must_use]
pub fn diff_lines(diff: &FileDiff, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    diff_with(diff, width, &ChatStyle { theme, glyphs: GlyphSet::Unicode })
}

/// The same with a choice of glyphs.
#[must_use]
pub fn diff_with(diff: &FileDiff, width: u16, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    laid_out_line::lines(diff::unified(diff, usize::from(width), look))
}

/// The same with old and new beside each other, where there is room for it.
#[must_use]
pub fn diff_beside(diff: &FileDiff, width: u16, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    laid_out_line::lines(diff::beside(diff, usize::from(width), look))
}

/// A line of a change as it is drawn.
#[derive(Clone, Debug)]
pub(in crate::ui) struct ChangeLine {
    pub(in crate::ui) line: Line<'static>,
    /// It comes or goes; else it is context, a name or a mark.
    pub(in crate::ui) changed: bool,
}

impl From<Line<'static>> for ChangeLine {
    fn from(line: Line<'static>) -> Self {
        Self { line, changed: false }
    }
}

/// A change of a file in lines that tell what comes or goes: old and new beside each other where there is room, unless
/// `one_below` is wanted.
pub(in crate::ui) fn change_lines(
    diff: &FileDiff,
    width: u16,
    one_below: bool,
    look: &ChatStyle<'_>,
) -> Vec<ChangeLine> {
    let width = usize::from(width);
    let laid_lines = if one_below { diff::unified(diff, width, look) } else { diff::beside(diff, width, look) };
    laid_lines.into_iter().map(ChangeLine::from).collect()
}

impl From<LaidOutLine> for ChangeLine {
    fn from(laid_line: LaidOutLine) -> Self {
        Self { changed: laid_line.changed, line: laid_line.line }
    }
}

/// Name of a changed file with what becomes of it, as above one of several changes.
#[must_use]
pub fn diff_name(diff: &FileDiff, width: u16, look: &ChatStyle<'_>) -> Vec<Line<'static>> {
    laid_out_line::lines(diff::name(diff, usize::from(width), look))
}

/// The changes of several files, each under its name.
pub(in crate::ui) fn changes_lines<'a>(
    diffs: impl Iterator<Item = &'a FileDiff>,
    width: u16,
    look: &ChatStyle<'_>,
) -> Vec<ChangeLine> {
    diff::several(diffs, usize::from(width), false, look).into_iter().map(ChangeLine::from).collect()
}

/// The logical text of an entry for copying: no gutter, no padding, no soft breaks. Sanitised.
#[must_use]
pub fn plain_text(entry: &Entry) -> String {
    let text = match &entry.message.body {
        Body::User(user) => user.text.clone(),
        Body::Assistant(text) => text.text.clone(),
        Body::Thinking(thinking) => thinking.text.clone(),
        Body::Tool(call) => tool::plain_text(call),
        Body::Error(failure) => {
            let parts = [&failure.title, &failure.text, &failure.detail];
            parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
        }
        Body::Info(info) => info.text.clone(),
        Body::Plan(plan) => plan.markdown.clone(),
        Body::Odd(odd) => odd.raw.clone(),
    };
    let cleaned = if entry.message.tool().is_some() { clean(&text) } else { clean_message(&text) };
    cleaned.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
