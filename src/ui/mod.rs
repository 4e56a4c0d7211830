//! Drawing: the state goes in, cells come out; only the layout cache changes.
//!
//! [`render`] draws the whole screen and tells what it found out: where things are for the mouse, how far can be
//! scrolled, and where the real cursor stands. Each part of the screen has a file: `session_list`, `status` (header and
//! last line), `chat`, `panel`, `composer`, `overlay`. `layout` divides the screen, `cells` measures text; `linear` tells
//! the same state in lines.

mod banner;
pub mod cells;
pub mod chat;
mod composer;
mod details;
pub mod figures;
pub mod glyphs;
pub mod layout;
pub mod linear;
mod offer;
mod overlay;
mod paint;
mod panel;
mod queue;
mod session_list;
mod status;
pub mod text;

use crate::app::msg::{Frame, Target};
use crate::app::state::find::Marker;
use crate::app::state::mark::Spot;
use crate::app::state::panel::Extent;
use crate::app::state::{Focus, Shown, State};
use crate::domain::link::harmless;
use crate::domain::message::FailureAction;
use crate::domain::request::Ask;
use crate::keymap::action::{Action, ChatAction, Context, ModelAction, SessionAction, TurnAction};
use crate::theme::{Role, Theme};
use layout::{Front, Layout, ListWant, PanelWant, Wants};
use paint::Paint;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::sync::Arc;

/// Inputs of every frame that no message changes.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Styles by role, already reduced to what the terminal can show.
    pub theme: &'a Theme,
    /// Glyphs that the terminal draws well.
    pub glyphs: chat::Glyphs,
    /// The home directory, shown as `~`; empty when there is none.
    pub home: &'a str,
}

/// Lines laid out in earlier frames. Make one with `Cache::default()` and hand it to every frame.
#[derive(Debug, Default)]
pub struct Cache {
    chat: chat::Cache,
    asked: Option<panel::Body>,
    draft: Option<composer::Laid>,
    answer: Option<composer::Laid>,
}

impl Cache {
    /// Position in the conversation at a cell of the last frame, or the nearest one.
    #[must_use]
    pub fn spot(&self, col: u16, row: u16) -> Option<Spot> {
        self.chat.spot(col, row)
    }
}

/// Facts that drawing found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// For [`crate::app::Msg::Drawn`].
    pub frame: Frame,
    /// Position of the real cursor; `None`: hide it.
    pub cursor: Option<Position>,
    /// Links on the screen.
    pub links: Vec<Link>,
    /// Some cells stand for parts of pictures.
    pub pictures: bool,
}

/// Cells of one row that lead to an address. Only such as may be opened are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The first column.
    pub x: u16,
    /// The row.
    pub y: u16,
    /// Width in columns.
    pub width: u16,
    /// The address, in printable ASCII.
    pub url: Arc<str>,
    /// Text of these cells when the link was drawn.
    text: String,
}

/// Draws the whole screen.
pub fn render(state: &State, look: &Look<'_>, cache: &mut Cache, buf: &mut Buffer) -> Drawn {
    let area = buf.area;
    let mut paint = Paint::new(state, look, cache, buf);
    paint.fill(area, Role::Text);
    if area.is_empty() {
        return Drawn::default();
    }
    let layout = layout::divide(area, wants(&mut paint, area));
    paint.found.both_panes = layout.both;
    paint.found.list_cells = layout.list.width;
    panes(&mut paint, &layout);
    status::line(&mut paint, layout.status);
    if !layout.tiny {
        overlay::which_key(&mut paint, &layout);
        overlay::draw(&mut paint, area);
    }
    // What was drawn over leads nowhere any more.
    let mut links = std::mem::take(&mut paint.links);
    links.retain(|link| under(paint.buf, link.x, link.y, link.width) == link.text);
    Drawn { frame: paint.found, cursor: paint.cursor, links, pictures: paint.pictures }
}

/// Text of some cells of a row.
fn under(buf: &Buffer, x: u16, y: u16, width: u16) -> String {
    (x..x.saturating_add(width)).filter_map(|x| buf.cell((x, y))).map(|cell| cell.symbol()).collect()
}

/// Wishes of the panes for their size.
fn wants(paint: &mut Paint<'_>, area: Rect) -> Wants {
    let state = paint.state;
    let front = if state.screen.shown == Shown::List { Front::List } else { Front::Chat };
    let panes = &state.screen.panes;
    let list = match panes.list_width {
        _ if !panes.lists() => ListWant::Hidden,
        Some(cells) => ListWant::Cells(cells),
        None => ListWant::Fitting,
    };
    // There is nothing to tell of a session that is not there.
    let details = panes.details() && state.current_open().is_some_and(|open| open.loaded);
    let only_chat = panes.only_chat;
    let plain = Wants { front, list, details, only_chat, composer: 1, queue: 0, files: 0, panel: PanelWant::None };
    // Texts are measured in the width that they will have.
    let right = layout::divide(area, Wants { front: Front::Chat, ..plain }).right;
    if right.is_empty() {
        return plain;
    }
    let queue = state.current_open().map_or(0, |open| open.waits());
    let panel = match view(state) {
        None => PanelWant::None,
        Some(view) if view.panel.extent == Extent::Full && view.focused => PanelWant::Full,
        Some(view) => {
            let rows = panel::rows(paint, view, right.width);
            if view.focused {
                PanelWant::Focused(rows)
            } else {
                PanelWant::Docked(rows, panel::least_rows(view.request))
            }
        }
    };
    let queue = u16::try_from(queue).unwrap_or(u16::MAX);
    let files = u16::from(!state.composer().files().is_empty());
    Wants { composer: composer::rows(paint, right.width), queue, files, panel, ..plain }
}

/// Pending request of the session that is shown.
fn view(state: &State) -> Option<panel::View<'_>> {
    let (panel, request) = state.panel()?;
    let focused = state.focus == Focus::Panel && state.overlays.is_empty();
    let waiting = state.current_open().map_or(0, |open| open.requests.len());
    Some(panel::View { panel, request, focused, waiting, equal: Default::default() })
}

fn panes(paint: &mut Paint<'_>, layout: &Layout) {
    let wide = paint.buf.area.width >= layout::WIDE && layout.list.width >= 30;
    if layout.tiny {
        session_list::draw(paint, cells::row(layout.list, 0), false);
        return;
    }
    session_list::draw(paint, layout.list, wide);
    let sign = paint.signs.rule;
    for n in 0..layout.rule.height {
        paint.text(cells::row(layout.rule, n), sign, Role::Rule);
    }
    paint.target(layout.rule, Target::Rule);
    for n in 0..layout.side_rule.height {
        paint.text(cells::row(layout.side_rule, n), sign, Role::Rule);
    }
    details::draw(paint, layout.side);
    status::header(paint, layout.header, layout.details);
    conversation(paint, layout);
    if let Some(view) = view(paint.state) {
        panel::draw(paint, view, layout.panel);
    }
    composer::draw(paint, layout);
}

/// Search hits to mark in the conversation: of its own search, or of the search over all sessions.
fn marker(state: &State) -> Option<Marker> {
    if let Some(search) = &state.searches.conversation {
        return Some(Marker::of_text(search.query.text()));
    }
    let trail = state.searches.trail.as_ref().filter(|trail| Some(&trail.session) == state.current_id())?;
    Some(trail.marker.clone())
}

fn conversation(paint: &mut Paint<'_>, layout: &Layout) {
    let area = layout.chat;
    if area.is_empty() {
        return;
    }
    paint.target(area, Target::Chat);
    let state = paint.state;
    let Some(open) = state.current_open() else {
        overlay::welcome(paint, area);
        return;
    };
    if !open.loaded {
        let row = cells::after(cells::row(area, area.height / 2), 1);
        let text = format!("reading {}", paint.signs.cut);
        paint.text(row, &text, Role::Dim);
        return;
    }
    if open.chat.entries.is_empty() && !state.running() {
        // It makes room for what is being written.
        if state.composer().is_empty() {
            overlay::welcome(paint, area);
        }
        return;
    }
    let area = banner::draw(paint, layout.details, area);
    let session = state.current_id().map(|id| id.as_str().to_owned()).unwrap_or_default();
    // Rows that do not say their model are of the session's own, whatever answers in the place of its connection now.
    let model = match state.current_meta().filter(|meta| meta.stand_in.is_some()) {
        Some(meta) => status::without_vendor(meta.stored_model().unwrap_or_default()),
        None => status::short_model(state),
    };
    let helps: Vec<(FailureAction, String)> = [
        (FailureAction::Retry, Action::Turn(TurnAction::Retry)),
        (FailureAction::Model, Action::Model(ModelAction::Pick)),
        (FailureAction::Compact, Action::Turn(TurnAction::Compact)),
        (FailureAction::NewSession, Action::Session(SessionAction::New)),
    ]
    .into_iter()
    .filter_map(|(help, action)| Some((help, paint.key(action, Context::Composer)?)))
    .collect();
    // A panel of one row has no room for the plan: then it stays whole in the conversation.
    let asked = match state.panel().filter(|_| layout.panel.height > 1).map(|(_, request)| &request.ask) {
        Some(Ask::Plan(plan)) => Some(plan.path.to_string_lossy().into_owned()),
        _ => None,
    };
    let marker = marker(state);
    let place = if state.focus == Focus::Chat { Context::Chat } else { Context::Global };
    let to_end = paint.key(Action::Chat(ChatAction::End), place).unwrap_or_default();
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
        to_end: &to_end,
        cwd: &cwd,
    };
    // A blank at each side, as everywhere beside the rule.
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let drawn = chat::draw(&open.chat, &opts, paint.look.theme, &mut paint.cache.chat, inner, paint.buf);
    paint.found.chat = Some(drawn);
    paint.found.code = paint.cache.chat.take_wanted();
    (paint.found.pictures, paint.pictures) = paint.cache.chat.take_pictures();
    paint.found.marked = paint.cache.chat.take_marked();
    for (area, url) in paint.cache.chat.take_links() {
        if let Some(url) = harmless(&url) {
            let (x, y, width) = (area.x, area.y, area.width);
            let text = under(paint.buf, x, y, width);
            paint.links.push(Link { x, y, width, url: url.into(), text });
        }
    }
    let seen: Vec<_> = paint.cache.chat.seen().collect();
    for (y, height, key) in seen {
        paint.target(Rect { y, height, ..area }, Target::Entry(key));
    }
    if let Some(mark) = paint.cache.chat.below() {
        paint.target(mark, Target::ToEnd);
    }
}
