//! Texts as one line, ages, and names of sessions for notices and lists.

use crate::app::state::State;
use crate::domain::ids::At;
use crate::domain::session::SessionMeta;
use crate::domain::{Level, Notice};
use unicode_width::UnicodeWidthChar;

/// A session's title as one short line for the terminal's title.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

/// A text as one line of a list.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

/// Age: `now`, `5m`, `3h`, `12d`, `2y`.
pub(crate) fn ago(now: At, then: At) -> String {
    let minutes = now.since(then) / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h", minutes / 60),
        1_440..525_600 => format!("{}d", minutes / 1_440),
        _ => format!("{}y", minutes / 525_600),
    }
}

/// Cells of a title in quotes: a question about it has room beside it.
const QUOTED: usize = 44;

/// The title of a session in quotes, as one short line.
pub(crate) fn named(meta: &SessionMeta) -> String {
    quoted(meta.shown_title())
}

pub(crate) fn quoted(text: &str) -> String {
    let line = one_line(text);
    let mut cells = 0;
    let fits = |c: &char| {
        cells += c.width().unwrap_or(0);
        cells <= QUOTED
    };
    let short: String = line.chars().take_while(fits).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("“{short}{cut}”")
}

pub(crate) fn nothing_yet(state: &mut State) {
    state.notify(Notice::new(Level::Info, "No session yet"));
}
