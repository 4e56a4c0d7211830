//! Lines between header and conversation that say what the session is: followed while another process writes it, or a
//! branch of another session. They stand still while one scrolls.

use super::cells::{self, Piece};
use super::figures::day;
use super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::domain::At;
use crate::domain::ids::MessageId;
use crate::domain::message::Body;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, SessionAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows that the conversation keeps.
const LEAST: u16 = 6;

/// Draws what there is to say, and gives what is left of the area. The blank row above it, the last of `details`, moves
/// below what is said.
pub(super) fn draw(paint: &mut FrameContext<'_>, details: Rect, area: Rect) -> Rect {
    let above = u16::from(details.height > 0 && details.bottom() == area.y);
    let mut rest = Rect { y: area.y - above, height: area.height + above, ..area };
    say(paint, &mut rest);
    let said = rest.y > area.y - above;
    let blank = if said { above } else { 0 };
    let y = (rest.y + blank).max(area.y);
    Rect { y, height: area.bottom().saturating_sub(y), ..area }
}

fn say(paint: &mut FrameContext<'_>, rest: &mut Rect) {
    let state = paint.state;
    let Some(meta) = state.current_meta() else { return };
    if let Some(holder) = &meta.held_by
        && let Some(row) = take(rest)
    {
        let left = [paint
            .piece(format!("{} written by {}; live", paint.signs.marks.warning, clean_line(holder)), Role::Warning)];
        let right = [paint.piece("/takeover", Role::Key), paint.piece(" to write here", Role::Dim)];
        sides(paint, row, &left, &right);
    }
    if let Some(by) = &meta.parent
        && let Some(row) = take(rest)
    {
        let parent = state.sessions.meta(&by.session);
        let title = parent.map_or_else(|| by.session.to_string(), |meta| meta.shown_title().to_owned());
        let left = [
            paint.piece(format!("{} spawned by ", paint.signs.session.branched), Role::Dim),
            paint.piece(clean_line(&title).into_owned(), Role::Text),
        ];
        let key = paint.key(Action::Session(SessionAction::Parent), Context::Global).filter(|_| parent.is_some());
        let next = paint.key(Action::Session(SessionAction::Child), Context::Global);
        let next = next.filter(|_| state.sessions.spawned_by(&by.session).len() > 1);
        let right = match key {
            Some(_) => paint.hints(&[(key, "return"), (next, "next")]),
            None => vec![paint.piece("deleted", Role::Faint)],
        };
        sides(paint, row, &left, &right);
        paint.target(row, Target::Parent);
    }
    if let Some(from) = &meta.branched_from
        && let Some(row) = take(rest)
    {
        let parent = state.sessions.meta(&from.session);
        let title = parent.map_or_else(|| from.session.to_string(), |meta| meta.shown_title().to_owned());
        let title = clean_line(&title).into_owned();
        let at = made(paint, &from.message).map(|at| day(at, state.clock.now, state.clock.utc_offset));
        let said = said_at(paint, &from.message).map(|said| format!(", after “{said}”"));
        let at = at.map_or_else(String::new, |at| format!(", {at}"));
        let at = format!("{}{at}", said.unwrap_or_default());
        let left = [
            paint.piece(format!("{} branch of ", paint.signs.session.branched), Role::Dim),
            paint.piece(title, Role::Text),
            paint.piece(at, Role::Dim),
        ];
        let key = paint.key(Action::Session(SessionAction::Parent), Context::Global).filter(|_| parent.is_some());
        let right = match key {
            Some(_) => paint.hints(&[(key, "open")]),
            None => vec![paint.piece("deleted", Role::Faint)],
        };
        sides(paint, row, &left, &right);
        paint.target(row, Target::Parent);
    }
}

/// Cells of what is said that stay beside what helps.
const SAID: usize = 24;

/// Message on the left, help on the right; on a narrow row the keys alone.
fn sides(paint: &mut FrameContext<'_>, row: Rect, left: &[Piece<'_>], right: &[Piece<'_>]) {
    let fits = cells::pieces_width(right) + SAID < usize::from(row.width);
    let key = paint.style(Role::Key);
    let keys: Vec<Piece<'_>> = right.iter().filter(|(_, style)| *style == key).take(1).cloned().collect();
    paint.sides(row, left, if fits { right } else { &keys }, SAID.min(usize::from(row.width) / 2));
}

/// A row of it, with a blank at each side, where the conversation has room for that.
fn take(rest: &mut Rect) -> Option<Rect> {
    if rest.height <= LEAST {
        return None;
    }
    // Beside the rule a blank, as everywhere.
    let row = cells::after(cells::row(*rest, 0), 1);
    rest.y += 1;
    rest.height -= 1;
    Some(Rect { width: row.width.saturating_sub(1), ..row })
}

/// Characters of a message that are shown.
const EXCERPT: usize = 32;

/// Start of the message that a branch ends with: the user's own, because they know it by that.
fn said_at(paint: &FrameContext<'_>, id: &MessageId) -> Option<String> {
    let entries = &paint.state.current_open()?.chat.entries;
    let place = entries.iter().position(|entry| entry.message.id == *id)?;
    let said = entries.iter().take(place + 1).rev().find_map(|entry| match &entry.message.body {
        Body::User(said) => Some(said.told()),
        _ => None,
    })?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(EXCERPT).collect();
    let cut = if short.len() < line.len() { paint.signs.cut } else { "" };
    Some(format!("{}{cut}", clean_line(&short))).filter(|text| !text.is_empty())
}

/// Time of a message: from its row, else from its id (`msg-{epochMs}-…`).
fn made(paint: &FrameContext<'_>, id: &MessageId) -> Option<At> {
    let entries = paint.state.current_open().map(|open| &open.chat.entries);
    let row = entries.into_iter().flatten().find(|entry| entry.message.id == *id).map(|entry| entry.message.at);
    row.or_else(|| id.as_str().split('-').nth(1)?.parse().ok().filter(|ms| *ms > 0).map(At))
}
