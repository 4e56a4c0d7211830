//! Thinking: one dim line with its time, the text below when unfolded.

use super::laid_out_line::LaidOutLine;
use super::row::{Level, Row, seconds};
use super::source_lines::plain;
use crate::domain::At;
use crate::domain::message::Thinking;
use crate::domain::sanitise::clean_message;
use crate::theme::Role;
use crate::ui::text::{Fold, cut_with, line};
use ratatui::text::Span;

/// The row as lines. `began` is when it was made; `live` while it goes on.
pub(super) fn lines(thinking: &Thinking, began: At, live: bool, row: &Row<'_>) -> Vec<LaidOutLine> {
    let style = row.look.style(Role::Thinking);
    let words = match thinking.millis {
        Some(ms) => format!("thought for {}", seconds(ms.saturating_add(500).max(1000))),
        None if live => format!("thinking {}", seconds(row.now.since(began))),
        None => "thought".to_owned(),
    };
    let text = clean_message(thinking.text.trim());
    // Where the provider hides the text, there is nothing to unfold.
    let mark = if text.is_empty() { "" } else { row.fold(row.level != Level::Line) };
    let head = cut_with(&format!("{mark}{words}"), row.width, row.look.ellipsis()).into_owned();
    let head = LaidOutLine::standing_for(line(head, style), words);
    let mut out = vec![LaidOutLine { folds: !text.is_empty(), ..head }];
    if row.level != Level::Line && !text.is_empty() {
        for part in text.split('\n') {
            out.extend(plain(part, style, row.width, &[Span::raw("  ")], Fold::Words, &row.look));
        }
    }
    out
}
