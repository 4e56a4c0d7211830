//! The header above the conversation: where one is. The status line is in `status_line`.

use super::cells::{self, Piece, piece};
use super::figures::{age, count};
use super::frame_context::FrameContext;
use crate::app::state::{Focus, State};
use crate::domain::ids::shown_name;
use crate::domain::sanitise::clean_line;
use crate::domain::tool::TodoStatus;
use crate::domain::workspace::{USUAL, colour};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

/// From this width on the details of the header are shown.
const DETAILS: u16 = super::layout::WIDE;

/// The name of the model that answers here, and its thinking level where there is a session.
pub(super) fn model(state: &State) -> (String, Option<&'static str>) {
    let connections = &state.engine.config.connections;
    let meta = state.current_meta();
    let connection = meta.and_then(|meta| meta.asked());
    let default = match connection {
        Some(name) => connections.iter().find(|known| known.name == *name),
        None => connections.first().filter(|known| !known.offered),
    };
    let named = meta.and_then(|meta| meta.model.as_deref());
    let model = named.or(default.map(|known| known.default_model.as_str())).filter(|model| !model.is_empty());
    // A connection without a model is named itself.
    let model = model.or(default.map(|known| known.name.as_str())).unwrap_or("");
    (clean_line(shown_name(model)).into_owned(), meta.map(|meta| meta.thinking.word()))
}

/// The model without its vendor's path (`vendor/model` is how routers name them).
pub(super) fn short_model(state: &State) -> String {
    without_vendor(&model(state).0)
}

/// A model as its vendor names it, where a router put the vendor before it.
pub(super) fn without_vendor(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_owned()
}

/// Title, labels, status, and what is odd; `details` may be empty.
pub(super) fn header(paint: &mut FrameContext<'_>, area: Rect, details: Rect) {
    if area.is_empty() {
        return;
    }
    let inner = |area: Rect| {
        let inner = cells::after(area, 1);
        Rect { width: inner.width.saturating_sub(1), ..inner }
    };
    let state = paint.state;
    let Some(meta) = state.current_meta() else {
        let left = [paint.piece("New session", Role::PanelTitle)];
        let right = [workspace(paint)];
        paint.sides(inner(area), &left, &right, 11);
        return;
    };
    let focused = state.focus == Focus::Chat && state.overlays.is_empty();
    let role = if focused { Role::Key } else { Role::PanelTitle };
    let mut left = [paint.piece(clean_line(meta.shown_title()), role)];
    if focused {
        underline(&mut left);
    }
    let mut right = Vec::new();
    // Who writes it stands above the conversation.
    if meta.held_by.is_some() {
        right.push(paint.piece("read-only", Role::Warning));
    }
    if !meta.odd.is_empty() {
        right.push(paint.piece(count(meta.odd.len(), "unreadable line", "unreadable lines"), Role::Warning));
    }
    if meta.archived {
        right.push(paint.piece("archived", Role::Dim));
    }
    if state.engine.config.workspace != USUAL && !state.engine.config.workspace.is_empty() {
        right.push(workspace(paint));
    }
    let status = state.sessions.catalogue().status_entry(&meta.status);
    let status = status.map_or(meta.status.as_str(), |status| status.name.as_str());
    right.push(paint.piece(clean_line(status).into_owned(), Role::Dim));
    // What was put into the system prompt, the strategy first as there.
    for name in [&meta.names.strategy, &meta.names.context].into_iter().flatten() {
        right.push(paint.piece(clean_line(name).into_owned(), Role::ModeExplore));
    }
    right.extend(meta.labels.iter().map(|entry| super::session_list::row::label(paint, entry)));
    // The labels go before the title gets cut, the last ones first; what is odd stays.
    let room = usize::from(inner(area).width);
    let title = cells::pieces_width(&left).min(24);
    while right.len() > 1 && spaced_width(&right) + title + 2 > room {
        right.pop();
    }
    let right = spaced(right);
    paint.sides(inner(area), &left, &right, title.min(room / 2));
    let details = cells::row(details, 0);
    if !details.is_empty() && paint.buf.area.width >= DETAILS {
        let sign = format!(" {} ", paint.signs.dot);
        let mut facts: Vec<String> = meta.names.alias.iter().map(|name| clean_line(name).into_owned()).collect();
        facts.push(meta.id.as_str().to_owned());
        if meta.messages > 0 {
            facts.push(count(usize::try_from(meta.messages).unwrap_or(usize::MAX), "message", "messages"));
        }
        facts.extend(meta.names.program.iter().map(|program| format!("from {}", clean_line(program))));
        facts.push(match age(meta.created, state.clock.now).as_str() {
            "now" => "started just now".to_owned(),
            age => format!("started {age} ago"),
        });
        facts.extend(meta.asked().map(|name| clean_line(name.as_str()).into_owned()));
        let left = [paint.piece(facts.join(&sign), Role::Faint)];
        let right = todo(paint);
        paint.sides(inner(details), &left, &right, cells::pieces_width(&left));
    }
}

/// Marks the title of the pane that has the keys: a colour alone would tell nothing where there is none.
pub(super) fn underline(title: &mut [Piece<'_>]) {
    title.iter_mut().for_each(|(_, style)| *style = style.add_modifier(Modifier::UNDERLINED));
}

/// The workspace's name, in its own colour.
pub(super) fn workspace<'p>(paint: &FrameContext<'_>) -> Piece<'p> {
    let name = &paint.state.engine.config.workspace;
    let style = colour(name).map_or_else(|| paint.style(Role::Dim), |colour| paint.look.theme.tag(colour));
    piece(clean_line(name).into_owned(), style)
}

/// `2 of 5  Write the parser`.
fn todo(paint: &FrameContext<'_>) -> Vec<Piece<'static>> {
    let Some(open) = paint.state.current_open().filter(|open| !open.todo.is_empty()) else { return Vec::new() };
    let done = open.todo.iter().filter(|item| item.status == TodoStatus::Completed).count();
    let now = open.todo.iter().find(|item| item.status == TodoStatus::InProgress);
    let mut out = vec![paint.piece(format!("todo {done} of {}", open.todo.len()), Role::Dim)];
    if let Some(now) = now {
        let text = clean_line(&now.content);
        let text = cells::cut(&text, 40, paint.signs.cut).into_owned();
        out.push(paint.piece(format!("  {text}"), Role::Text));
    }
    out
}

fn spaced(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut out = Vec::with_capacity(pieces.len() * 2);
    for one in pieces {
        if !out.is_empty() {
            out.push(piece("  ", one.1));
        }
        out.push(one);
    }
    out
}

fn spaced_width(pieces: &[Piece<'_>]) -> usize {
    cells::pieces_width(pieces) + 2 * pieces.len().saturating_sub(1)
}
