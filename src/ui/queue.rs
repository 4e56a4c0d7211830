//! The messages that wait, in a few rows above the draft: what goes into the running turn, then the queue. A click on one
//! opens the list of them all.

use super::cells;
use super::figures::count;
use super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::empty_enter::EmptyEnter;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, ComposerAction, Context};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Width from which the key that opens the list is shown beside the other.
const WIDE: u16 = 72;

pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect) {
    let Some(open) = paint.state.current_open() else { return };
    for (n, (at, item)) in (0..area.height).zip(open.waiting().enumerate()) {
        let row = cells::after(cells::row(area, n), 1);
        let row = Rect { width: row.width.saturating_sub(1), ..row };
        let last = n + 1 == area.height;
        let rest = open.waits().saturating_sub(at + 1);
        let steers = at < open.steers.len();
        let (word, bar) = match (steers, item.redelivered, open.queue_held) {
            (true, ..) => ("steering: ", Role::Running),
            (_, true, held) => ("from last run: ", if held { Role::Warning } else { Role::Accent }),
            (_, _, true) => ("paused: ", Role::Warning),
            (_, _, false) => ("queued: ", Role::Accent),
        };
        let text = clean_line(&item.text).into_owned();
        let along = match item.attachments.len() {
            0 => String::new(),
            n => format!("  + {}", count(n, "file", "files")),
        };
        let left = [
            paint.piece(paint.signs.bar, bar),
            paint.piece(word, Role::Dim),
            paint.piece(text, Role::Text),
            paint.piece(along, Role::Dim),
        ];
        let mut right = Vec::new();
        if last && rest > 0 {
            right.push(paint.piece(format!("and {}  ", count(rest, "more", "more")), Role::Dim));
        }
        if last {
            let sends = paint.state.empty_enter() == Some(EmptyEnter::Release);
            let (verb, word) = if sends { (ComposerAction::Send, "sends") } else { (ComposerAction::Up, "edit") };
            let mut hints = vec![(paint.key(Action::Composer(verb), Context::Composer), word)];
            if row.width >= WIDE {
                hints.push((paint.key(Action::Composer(ComposerAction::Queue), Context::Composer), "list"));
            }
            right.extend(paint.hints(&hints));
        }
        paint.sides(row, &left, &right, 16);
        paint.target(row, Target::Queued(item.id.clone()));
    }
}
