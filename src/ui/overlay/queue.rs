//! The messages of a session that wait: a row each in the order in which they go, and below them the selected one with its
//! files. Where the queue is held, why, and how it goes on.

use super::super::cells;
use super::super::figures::{age, bytes, count};
use super::super::frame_context::{FrameContext, ShownKey};
use crate::app::msg::Target;
use crate::app::state::open::Open;
use crate::app::state::overlay::QueueCard;
use crate::domain::sanitise::{clean_line, clean_message};
use crate::keymap::action::{Action, Context, PickerAction, QueueAction};
use crate::protocol::{Queued, TurnEnd};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of the list at the most, and of the selected message.
const ROWS: u16 = 10;
const DETAIL: u16 = 8;

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &QueueCard, body: Rect) {
    let Some(open) = paint.state.conversations.open.get(&card.session) else { return };
    let at = card.place(Some(open));
    let Some(item) = open.waiting().nth(at) else { return };
    let held = open.queue_held && !open.queue.is_empty();
    let title = [paint.piece(count(open.waits(), "queued message", "queued messages"), Role::PanelTitle)];
    let key = |verb| paint.key(Action::Queue(verb), Context::Queue);
    let mut hints = vec![(key(QueueAction::Remove), "delete")];
    // Where there is little room, the key that anybody would try is not told.
    if body.width >= 60 {
        hints.insert(0, (paint.key(Action::Picker(PickerAction::Accept), Context::Inbox), "edit"));
        if at >= open.steers.len() && open.queue.len() > 1 {
            let both = key(QueueAction::Earlier).zip(key(QueueAction::Later));
            let both = both.map(|(earlier, later)| ShownKey { name: format!("{earlier} {later}"), ..later });
            hints.push((both, "move"));
        }
        if !item.attachments.is_empty() {
            hints.push((key(QueueAction::File), "file"));
        }
    }
    let wait = u16::try_from(open.waits()).unwrap_or(u16::MAX).min(ROWS);
    let need = wait + 1 + DETAIL + if held { 2 } else { 0 };
    let mut inner = super::sheet(paint, body, 100, need, &title, &hints);
    if held {
        let said = held_because(paint, open);
        let lines = super::sheet::folded(&said, usize::from(inner.width));
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(inner.height.saturating_sub(2)).min(2);
        for (n, line) in (0..rows).zip(&lines) {
            paint.over(cells::row(inner, n), line, Role::Warning);
        }
        let used = rows + u16::from(inner.height > rows + 6);
        inner = Rect { y: inner.y + used, height: inner.height - used, ..inner };
    }
    let detail = DETAIL.min(inner.height.saturating_sub(2) * 2 / 3);
    let gap = u16::from(inner.height > detail + 2);
    let list = Rect { height: wait.min(inner.height.saturating_sub(detail + gap)).max(1), ..inner };
    paint.found.overlay_rows = list.height;
    let height = usize::from(list.height).max(1);
    let first = at.saturating_sub(height / 2).min(open.waits().saturating_sub(height));
    for (n, (place, item)) in (0..list.height).zip(open.waiting().enumerate().skip(first)) {
        row(paint, open, (item, place), place == at, cells::row(list, n));
    }
    let top = list.bottom() + gap;
    facts(paint, item, Rect { y: top, height: inner.bottom().saturating_sub(top), ..inner });
}

/// Reason why the queue is paused, and how to resume it.
fn held_because(paint: &FrameContext<'_>, open: &Open) -> String {
    let why = match open.ended {
        _ if open.queue.iter().any(|item| item.redelivered) => "Paused: lisle quit before sending.",
        _ if open.turn.started.is_some() => "Paused by you.",
        Some(TurnEnd::Stopped) => "Paused: you stopped the turn.",
        Some(TurnEnd::Failed) => "Paused: the turn failed.",
        Some(TurnEnd::Limit) => "Paused: the turn reached a limit.",
        Some(TurnEnd::Done | TurnEnd::Plan) | None => "Paused: the turn ended first.",
    };
    match paint.key(Action::Queue(QueueAction::Release), Context::Queue) {
        Some(key) => format!("{why} {key} sends them; so does your next message."),
        None => format!("{why} Your next message sends them too."),
    }
}

fn row(paint: &mut FrameContext<'_>, open: &Open, (item, place): (&Queued, usize), chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let steers = place < open.steers.len();
    let number = match place.checked_sub(open.steers.len()) {
        Some(n) => format!("{:>2}  ", n + 1),
        None => format!(" {}  ", paint.signs.arrows.right),
    };
    let role = if steers { Role::Running } else { Role::Dim };
    let text = if chosen { Role::Strong } else { Role::Text };
    let mut left = vec![paint.piece(number, role), paint.piece(words(item), text)];
    let mut right = Vec::new();
    if steers {
        let word = if area.width >= 70 { "  sent with the next tool results" } else { "  next results" };
        right.push(paint.piece(word, Role::Running));
    }
    if !steers && item.redelivered {
        right.push(paint.piece("  from last run", Role::Dim));
    }
    if area.width >= 56 {
        if !item.attachments.is_empty() {
            right.push(paint.piece(format!("  {}", count(item.attachments.len(), "file", "files")), Role::Dim));
        }
        right.push(paint.piece(format!("  {:>6}", age(item.at, paint.state.clock.now)), Role::Dim));
    }
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(place));
}

/// Its text in one line; one without text is named by its files.
fn words(item: &Queued) -> String {
    let text = clean_line(&item.text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        return text;
    }
    item.attachments.iter().map(|file| clean_line(&file.name).into_owned()).collect::<Vec<_>>().join(", ")
}

/// The whole text, and a row for each file.
fn facts(paint: &mut FrameContext<'_>, item: &Queued, area: Rect) {
    let width = usize::from(area.width).max(1);
    let room = usize::from(area.height);
    let files: Vec<(String, String)> = item
        .attachments
        .iter()
        .map(|file| (clean_line(&file.name).into_owned(), format!("  {}", bytes(file.bytes))))
        .collect();
    // The text has half of it at the least, if it is so long.
    let below = files.len().min(room / 2);
    let text = clean_message(item.text.trim()).into_owned();
    let mut lines: Vec<String> =
        text.lines().take(room).flat_map(|line| super::sheet::folded(line, width)).take(room + 1).collect();
    let shown = room.saturating_sub(below);
    if lines.len() > shown {
        lines.truncate(shown);
        if let Some(line) = lines.last_mut() {
            *line = format!("{}{}", cells::cut(line, width.saturating_sub(1), ""), paint.signs.cut);
        }
    }
    let row = |n: usize| cells::row(area, u16::try_from(n).unwrap_or(u16::MAX));
    for (n, line) in lines.iter().enumerate() {
        paint.over(row(n), line, Role::User);
    }
    let hidden = files.len().saturating_sub(below);
    for (n, (name, size)) in files.into_iter().take(below).enumerate() {
        let last = n + 1 == below && hidden > 0;
        let size = if last { format!("{size}  and {hidden} more") } else { size };
        let name = cells::cut(&name, width.saturating_sub(cells::width(&size) + 2), paint.signs.cut).into_owned();
        let mut pieces = [
            paint.piece(format!("{} ", paint.signs.bar), Role::Accent),
            paint.piece(name, Role::Text),
            paint.piece(size, Role::Dim),
        ];
        for piece in &mut pieces {
            piece.1.bg = None;
        }
        paint.pieces(row(lines.len() + n), &pieces);
    }
}
