//! The conversation as lines: what the transcript looks like and which part of it is on the screen.
//!
//! [`draw`] is called once a frame with the whole conversation and lays out only what can be seen.

mod cache;
mod colours;
mod diff;
mod files;
mod ink;
mod look;
mod mark;
mod markdown;
pub mod picture;
mod plan;
mod row;
mod rows;
mod stream;
mod table;
mod thinking;
mod tool;
mod transcript;
mod user;

pub use cache::Cache;
pub use look::{Glyphs, Look};
pub use plan::{Lead as PlanLead, figures as plan_figures, step as plan_step, widest as plan_widest};

use crate::app::state::chat::{Chat, Drawn, Entry};
use crate::app::state::find::Marker;
use crate::domain::diff::FileDiff;
use crate::domain::message::FailureAction;
use crate::domain::plan::Progress;
use crate::domain::sanitise::clean;
use crate::domain::{At, Body};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Inputs of a transcript frame besides the conversation itself.
#[derive(Clone, Copy, Debug)]
pub struct ChatOpts<'a> {
    /// Session id of the conversation; the cache keeps only one.
    pub session: &'a str,
    /// The instant of the frame, for elapsed times and for the day of a message.
    pub now: At,
    /// Seconds east of UTC of the user's clock.
    pub utc_offset_s: i32,
    /// Glyphs that the terminal draws well.
    pub glyphs: Glyphs,
    /// The pane has the focus: the entry at the cursor is marked.
    pub focused: bool,
    /// The short name of the model in the head lines of answers; empty when there is none.
    pub model: &'a str,
    /// The path of a plan that is shown whole elsewhere on the screen, for the user to judge: here its title is enough.
    pub asked_plan: Option<&'a str>,
    /// The plan that is carried out: its row ticks off.
    pub plan: Option<&'a Progress>,
    /// The keys for what helps after a failure; what has none here is not offered.
    pub helps: &'a [(FailureAction, String)],
    /// State of pictures.
    pub pictures: picture::Sight<'a>,
    /// Search hits to mark.
    pub marker: Option<&'a Marker>,
    /// The key that goes to the end.
    pub to_end: &'a str,
    /// Working directory: paths inside it link to their files. Empty: no links.
    pub cwd: &'a str,
}

/// Draws the conversation into `area` and reports which part of it is seen.
pub fn draw(chat: &Chat, opts: &ChatOpts<'_>, theme: &Theme, cache: &mut Cache, area: Rect, buf: &mut Buffer) -> Drawn {
    transcript::Transcript { chat, opts, theme, cache, area, blocks: Vec::new(), mark: None, leads: None }.draw(buf)
}

/// Markdown as lines of at most `width` cells. The text is sanitised here.
#[must_use]
pub fn markdown_lines(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    markdown_with(text, width, &Look { theme, glyphs: Glyphs::Unicode })
}

/// The same with a choice of glyphs.
#[must_use]
pub fn markdown_with(text: &str, width: u16, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut stream = stream::Stream::default();
    stream.update(text, usize::from(width), look);
    stream.into_lines()
}

/// A change of a file as numbered lines of at most `width` cells, suspicious characters made visible.
#[must_use]
pub fn diff_lines(diff: &FileDiff, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    diff_with(diff, width, &Look { theme, glyphs: Glyphs::Unicode })
}

/// The same with a choice of glyphs.
#[must_use]
pub fn diff_with(diff: &FileDiff, width: u16, look: &Look<'_>) -> Vec<Line<'static>> {
    ink::lines(diff::unified(diff, usize::from(width), look))
}

/// The same with old and new beside each other, where there is room for it.
#[must_use]
pub fn diff_beside(diff: &FileDiff, width: u16, look: &Look<'_>) -> Vec<Line<'static>> {
    ink::lines(diff::beside(diff, usize::from(width), look))
}

/// The changes of several files, each under its name.
#[must_use]
pub fn diffs_with<'a>(diffs: impl Iterator<Item = &'a FileDiff>, width: u16, look: &Look<'_>) -> Vec<Line<'static>> {
    ink::lines(diff::several(diffs, usize::from(width), false, look))
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
    clean(&text).trim_end().to_owned()
}

#[cfg(test)]
mod tests;
