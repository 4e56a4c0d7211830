//! A session in the list: the sign of its state, its title, its labels and its status as words, the sign of a mode that is
//! not the usual one, its age; below them what it waits for or how it begins.

use crate::app::state::sessions::{Grouping, Row, needs_you};
use crate::app::state::{Current, State};
use crate::domain::attention::Attention;
use crate::domain::property::{REVIEW, TODO, WORKING, split_label};
use crate::domain::sanitise::clean_line;
use crate::domain::session::Activity;
use crate::domain::{Mode, SessionMeta};
use crate::theme::Role;
use crate::ui::cells::{self, Piece, piece};
use crate::ui::figures::{age, elapsed};
use crate::ui::frame_context::FrameContext;
use crate::ui::mode::mode_role;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;

/// Cells of an age, right-aligned, with a blank before it.
const AGE: usize = 4;
/// Cells that a title keeps beside labels and status.
const TITLE: usize = 22;
/// Maximum number of labels.
const LABELS: usize = 3;

/// Sessions that get a second line.
#[derive(Clone, Copy)]
pub(super) struct Second {
    /// Show the pending request.
    pub waits: bool,
    /// Show the start of the first message.
    pub previews: bool,
}

impl Second {
    /// Rows on the screen of a row of the list.
    pub fn rows(self, state: &State, row: Row<'_>) -> usize {
        match row {
            Row::Group(_) => 1,
            Row::Session(id) => {
                let meta = state.sessions.meta(id);
                1 + usize::from(meta.is_some_and(|meta| self.line(meta).is_some()))
            }
        }
    }

    fn line(self, meta: &SessionMeta) -> Option<Cow<'_, str>> {
        let preview = self.previews && !meta.title.trim().is_empty() && says_more(meta);
        let reason = Some(meta).filter(|meta| self.waits && needs_you(meta)).and_then(SessionMeta::reason);
        reason.map(Cow::Owned).or_else(|| preview.then_some(Cow::Borrowed(meta.preview.as_str())))
    }
}

/// The first message is more than the title that was made of it.
fn says_more(meta: &SessionMeta) -> bool {
    let (title, preview) = (meta.title.trim(), meta.preview.trim());
    !preview.is_empty() && !preview.starts_with(title.trim_end_matches('…').trim_end())
}

/// Draws a session.
pub(super) fn draw(paint: &mut FrameContext<'_>, meta: &SessionMeta, area: Rect, second: Second, list_focused: bool) {
    let state = paint.state;
    let selected = list_focused && state.sessions.selected() == Some(&meta.id);
    let current = matches!(&state.conversations.current, Current::Session(id) if *id == meta.id);
    let marked = state.sessions.marks.has(&meta.id);
    if selected {
        paint.tint(area, Role::Selected);
    } else if current || marked {
        paint.tint(area, Role::SelectedDim);
    }
    // The band alone would not tell them from each other where there are few colours or none.
    let edge = match (marked, current) {
        (true, _) => Some(paint.signs.session.marked),
        (false, true) => Some(paint.signs.session.current),
        (false, false) => None,
    };
    if let Some(edge) = edge {
        for n in 0..area.height {
            paint.over(Rect { width: 1.min(area.width), ..cells::row(area, n) }, edge, Role::Accent);
        }
    }
    let (sign, style) = sign(paint, meta);
    // What was spawned stands below its own.
    let nested = state.sessions.is_nested(&meta.id);
    let area = if nested { cells::after(area, 2) } else { area };
    let first = cells::row(area, 0);
    let sign_at = Rect { width: 1.min(area.width), ..cells::after(first, 1) };
    let style = paint.flat(style);
    cells::put(paint.buf, sign_at, sign, style);

    let line = cells::after(first, 3);
    let line = Rect { width: line.width.saturating_sub(1), ..line };
    let title = clean_line(meta.shown_title());
    let title_role = if selected || current || meta.unread || needs_you(meta) { Role::Strong } else { Role::Text };
    let weight = if meta.archived { Role::Dim } else { title_role };
    let mut right = Vec::new();
    let mut marks = Vec::new();
    let signs = [
        (meta.branched_from.is_some(), paint.signs.session.branched, Role::Dim),
        (meta.flagged, paint.signs.session.flag, Role::Accent),
        (meta.mode != Mode::default(), paint.signs.mode(meta.mode), mode_role(meta.mode)),
    ];
    for (_, sign, role) in signs.into_iter().filter(|(is, ..)| *is) {
        marks.push(piece(format!(" {sign}"), paint.style(role)));
    }
    marks.push(piece(format!("{:>AGE$}", age_of(paint, meta)), paint.style(Role::Dim)));
    let taken = cells::width(&title).min(TITLE) + cells::pieces_width(&marks) + 2;
    let mut words = status(paint, meta);
    if area.height == 1 {
        words = labels(paint, meta).into_iter().chain(words).collect();
    }
    // The labels go before the title is cut, the last ones first; then the status.
    let room = usize::from(line.width).saturating_sub(taken);
    while !words.is_empty() && spaced(&words) > room {
        words.remove(words.len().saturating_sub(2));
    }
    for word in words {
        let gap = if right.is_empty() { "" } else { " " };
        right.push(piece(format!("{gap}{}", word.0), word.1));
    }
    right.extend(marks);
    let mut left = [piece(title, paint.style(weight))];
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(line, &left, &right, 6);

    if area.height > 1 {
        below(paint, meta, cells::row(area, 1), second, selected || current);
    }
}

/// Pending request or start of the session; labels at the right.
fn below(paint: &mut FrameContext<'_>, meta: &SessionMeta, area: Rect, second: Second, near: bool) {
    let Some(text) = second.line(meta) else { return };
    // What is only remembered weighs less than what waits.
    let role = if near || needs_you(meta) { Role::Dim } else { Role::Faint };
    // Further in than the titles, so that it is not read as a session of its own.
    let area = cells::after(area, 5);
    let area = Rect { width: area.width.saturating_sub(1), ..area };
    let mut left = [paint.piece(clean_line(&text).into_owned(), role)];
    // What waits is said whole before labels are, and a preview to the half.
    let text = cells::pieces_width(&left);
    let least = if needs_you(meta) { text } else { text.min(usize::from(area.width) / 2) };
    let room = usize::from(area.width).saturating_sub(least + 2);
    let mut words = labels(paint, meta);
    while spaced(&words) > room && words.pop().is_some() {}
    let gap = |n: usize| if n == 0 { "" } else { " " };
    let words = words.into_iter().enumerate();
    let mut right: Vec<_> = words.map(|(n, (text, style))| piece(format!("{}{text}", gap(n)), style)).collect();
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, least);
}

/// Age of a session; for a running one the duration.
fn age_of(paint: &FrameContext<'_>, meta: &SessionMeta) -> String {
    let now = paint.state.clock.now;
    match meta.activity {
        Activity::Running(since) if now.since(since) < 60_000 => elapsed(now.since(since)),
        Activity::Running(since) => age(since, now),
        _ => age(meta.last_message, now),
    }
}

/// Cells of words with a blank between two.
fn spaced(words: &[Piece<'_>]) -> usize {
    cells::pieces_width(words) + words.len().saturating_sub(1)
}

/// Its first labels as words.
fn labels(paint: &FrameContext<'_>, meta: &SessionMeta) -> Vec<Piece<'static>> {
    meta.labels.iter().take(LABELS).map(|entry| label(paint, entry)).collect()
}

/// `#bug`, `#priority:3`: the name of a label and its value, in its colour.
pub(in crate::ui) fn label(paint: &FrameContext<'_>, entry: &str) -> Piece<'static> {
    let known = paint.state.sessions.catalogue().label_entry(entry);
    let colour = known.and_then(|known| known.color);
    let style = colour.map_or_else(|| paint.style(Role::Accent), |colour| paint.look.theme.tag(colour));
    let (id, value) = split_label(entry);
    let name = known.map_or(id, |known| known.name.as_str());
    let value = value.map(|value| format!(":{value}")).unwrap_or_default();
    piece(format!("#{}", clean_line(&format!("{name}{value}"))), style)
}

/// Its status as a word, where somebody chose it and the groups do not say it: that it is begun is in its sign and age.
fn status(paint: &FrameContext<'_>, meta: &SessionMeta) -> Vec<Piece<'static>> {
    let sessions = &paint.state.sessions;
    // A plan that waits says so below its title.
    let plan = meta.plan_pending && meta.status == REVIEW;
    if plan || ["", TODO, WORKING].contains(&meta.status.as_str()) || sessions.grouping() == Grouping::Status {
        return Vec::new();
    }
    let entry = sessions.catalogue().status_entry(&meta.status);
    let name = entry.map_or(meta.status.as_str(), |entry| entry.name.as_str());
    // What is over is worth no colour.
    let colour = entry.filter(|entry| !entry.closed).and_then(|entry| entry.color);
    let style = colour.map_or_else(|| paint.style(Role::Dim), |colour| paint.look.theme.tag(colour));
    vec![piece(clean_line(name).into_owned(), style)]
}

/// The sign of a session's state, and its colour. Where something is new and nothing happens, the sign says that.
fn sign(paint: &FrameContext<'_>, meta: &SessionMeta) -> (&'static str, Style) {
    let signs = paint.signs;
    let (sign, role) = match meta.attention() {
        Attention::NeedsYou(_) if meta.activity == Activity::Idle => (signs.session.plan, Role::NeedsYou),
        Attention::NeedsYou(_) => (signs.session.needs_you, Role::NeedsYou),
        Attention::Running if meta.activity == Activity::Stopping => (signs.session.stopping, Role::Dim),
        Attention::Running => (paint.spin_slowly(), Role::Running),
        Attention::Failed(_) => (signs.session.failed, Role::Error),
        Attention::Interrupted(_) => (signs.session.interrupted, Role::Warning),
        Attention::Unread => (signs.session.unread, Role::Unread),
        Attention::Idle => (" ", Role::Text),
    };
    (sign, paint.style(role))
}
