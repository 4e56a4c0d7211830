//! The pane of the conversation: its banner, its rows, the links on it, or the welcome where there is nothing yet.

use super::chat;
use super::frame_context::FrameContext;
use super::layout::Layout;
use super::link::{Link, text_at};
use super::text::{self, Fold};
use super::{banner, cells, header, overlay};
use crate::app::msg::Target;
use crate::app::state::chat::{Drawn, Spent};
use crate::app::state::find::Marker;
use crate::app::state::{Focus, State};
use crate::domain::link::harmless;
use crate::domain::message::FailureAction;
use crate::domain::request::Ask;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, ChatAction, ComposerAction, Context, ModelAction, SessionAction, TurnAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// Search hits to mark in the conversation: of its own search, or of the search over all sessions.
fn marker(state: &State) -> Option<Marker> {
    if let Some(search) = &state.searches.conversation {
        return Some(Marker::of_text(search.query.text()));
    }
    let trail = state.searches.trail.as_ref().filter(|trail| Some(&trail.session) == state.current_id())?;
    Some(trail.marker.clone())
}

/// A session that the engine cannot read: why, and how it is tried again.
fn unreadable(paint: &mut FrameContext<'_>, area: Rect, why: &str) {
    let width = usize::from(area.width.saturating_sub(2));
    let wrap = |text: &str, style| text::wrap(&[Span::styled(text.to_owned(), style)], width, &[], &[], Fold::Words);
    let mut lines = wrap("this session can't be opened", paint.style(Role::Error));
    lines.extend(wrap(&clean_line(why), paint.style(Role::Text)));
    lines.extend(wrap("Enter on it in the list tries again.", paint.style(Role::Dim)));
    let above = area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX)) / 2;
    for (n, line) in (above..area.height).zip(&lines) {
        paint.line(cells::after(cells::row(area, n), 1), line);
    }
}

/// Draws the conversation, or the welcome where there is none. Returns the blank rows below the conversation.
pub(super) fn draw(paint: &mut FrameContext<'_>, layout: &Layout) -> u16 {
    let area = layout.chat;
    if area.is_empty() {
        return 0;
    }
    paint.target(area, Target::Chat);
    let state = paint.state;
    let Some(open) = state.current_open() else {
        overlay::welcome(paint, area);
        return 0;
    };
    if let Some(why) = open.unreadable.as_deref().filter(|_| !open.loaded) {
        unreadable(paint, area, why);
        return 0;
    }
    if !open.loaded {
        let row = cells::after(cells::row(area, area.height / 2), 1);
        let text = format!("reading {}", paint.signs.ellipsis());
        paint.text(row, &text, Role::Dim);
        return 0;
    }
    if open.chat.entries.is_empty() && !state.running() {
        // It makes room for what is being written.
        if state.composer().is_empty() {
            overlay::welcome(paint, area);
        }
        return 0;
    }
    let area = banner::draw(paint, layout.details, area);
    let area = retrying(paint, area);
    let session = state.current_id().map(|id| id.as_str().to_owned()).unwrap_or_default();
    // Rows that do not say their model are of the session's own, whatever answers in the place of its connection now.
    let model = match state.current_meta().filter(|meta| meta.stand_in.is_some()) {
        Some(meta) => header::without_vendor(meta.stored_model().unwrap_or_default()),
        None => header::short_model(state),
    };
    let helps = helps(paint);
    // A panel of one row has no room for the plan: then it stays whole in the conversation.
    let asked = match state.panel().filter(|_| layout.panel.height > 1).map(|(_, request)| &request.ask) {
        Some(Ask::Plan(plan)) => Some(plan.path.to_string_lossy().into_owned()),
        _ => None,
    };
    let marker = marker(state);
    let place = if state.focus == Focus::Chat { Context::Chat } else { Context::Global };
    let to_end = paint.key_of(Action::Chat(ChatAction::End), place).unwrap_or_default();
    let unfold_all = paint.key_of(Action::Chat(ChatAction::Density), place).unwrap_or_default();
    let cwd = state.current_meta().map(|meta| meta.cwd.to_string_lossy().into_owned()).unwrap_or_default();
    let opts = chat::ChatOpts {
        session: &session,
        now: state.clock.now,
        utc_offset_s: state.clock.utc_offset,
        glyphs: paint.look.glyphs,
        focused: state.focus == Focus::Chat && state.overlays.is_empty(),
        model: &model,
        asked_plan: asked.as_deref(),
        plan: open.plan.as_deref(),
        helps: &helps,
        pictures: chat::picture::Sight { gallery: &state.conversations.gallery, screen_rows: state.screen.size.height },
        marker: marker.as_ref(),
        keys: chat::ChatKeys { to_end: &to_end, unfold_all: &unfold_all },
        running: state.running() || !open.requests.is_empty(),
        spent: state.current_meta().map(|meta| Spent::new(state.clock.now, &meta.usage)).unwrap_or_default(),
        cwd: &cwd,
    };
    // A blank at each side, as everywhere beside the rule.
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let drawn = chat::draw(&open.chat, &opts, paint.look.theme, &mut paint.cache.chat, inner, paint.buf);
    found(paint, drawn, area);
    let end = paint.cache.chat.seen().map(|(y, height, _)| y + height).max();
    end.map_or(0, |end| area.bottom().saturating_sub(end))
}

/// Reason of an attempt that failed, below the rows while the next one is waited for. Gives what is left of the area.
fn retrying(paint: &mut FrameContext<'_>, area: Rect) -> Rect {
    let Some(retry) = paint.state.current_open().and_then(|open| open.turn.retry.as_ref()) else { return area };
    let sign = format!("{} ", paint.signs.marks.warning);
    let indent = [Span::raw(" ".repeat(cells::width(&sign)))];
    let (warning, width) = (paint.style(Role::Warning), usize::from(area.width.saturating_sub(2)));
    let reason = [Span::styled(clean_line(&retry.reason).into_owned(), paint.style(Role::Text))];
    let mut lines = text::wrap(&reason, width, &[Span::styled(sign, warning)], &indent, Fold::Words);
    lines.truncate(usize::from(area.height / 3).clamp(1, 4));
    let height = u16::try_from(lines.len()).unwrap_or(1);
    // A blank row stands above it where there is room.
    let above = u16::from(area.height > 6);
    let rest = Rect { height: area.height.saturating_sub(height + above), ..area };
    for (n, line) in (rest.height + above..area.height).zip(&lines) {
        paint.line(cells::after(cells::row(area, n), 1), line);
    }
    rest
}

/// Keys for what helps after a failure.
fn helps(paint: &FrameContext<'_>) -> Vec<(FailureAction, String)> {
    [
        // On an empty draft.
        (FailureAction::Retry, Action::Composer(ComposerAction::Send)),
        (FailureAction::Model, Action::Model(ModelAction::Pick)),
        (FailureAction::Compact, Action::Turn(TurnAction::Compact)),
        (FailureAction::NewSession, Action::Session(SessionAction::New)),
    ]
    .into_iter()
    .filter_map(|(help, action)| Some((help, paint.key_of(action, Context::Composer)?)))
    .collect()
}

/// Takes over what drawing the rows found out: pictures, marks, links, and what lies under the mouse.
fn found(paint: &mut FrameContext<'_>, drawn: Drawn, area: Rect) {
    paint.found.chat = Some(drawn);
    paint.found.code = paint.cache.chat.take_wanted();
    (paint.found.pictures, paint.pictures) = paint.cache.chat.take_pictures();
    paint.found.marked = paint.cache.chat.take_marked();
    let seen: Vec<_> = paint.cache.chat.seen().collect();
    for (y, height, key) in seen {
        paint.target(Rect { y, height, ..area }, Target::Entry(key));
    }
    for (mark, key) in paint.cache.chat.take_folds() {
        paint.target(mark, Target::Fold(key));
    }
    for (area, url) in paint.cache.chat.take_links() {
        if let Some(url) = harmless(&url) {
            let (x, y, width) = (area.x, area.y, area.width);
            let text = text_at(paint.buf, x, y, width);
            // A path is part of its entry, which a click selects; the terminal opens it.
            if url.starts_with("http://") || url.starts_with("https://") {
                paint.target(area, Target::Link(url.clone()));
            }
            paint.links.push(Link { x, y, width, url: url.into(), text });
        }
    }
}
