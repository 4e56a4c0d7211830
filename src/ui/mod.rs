//! Drawing: the state goes in, cells come out; only the layout cache changes.
//!
//! [`render`] draws the whole screen and reports what it found out: where things are for the mouse, how far can be
//! scrolled, and where the real cursor stands. Each part of the screen has a file or folder: `session_list`, `header`,
//! `status_line`, `bar` (keys and notices, the last rows), `conversation` over `chat`, `panel`, `composer`, `overlay`. They draw with a `frame_context`;
//! below that are `layout` (divides the screen), `layout_cache` (what earlier frames laid out), `glyphs`, `cells` and `text`
//! (measure and wrap). No part imports this file. `linear` words the same state in lines.

mod ascii;
mod banner;
mod bar;
pub mod cells;
pub mod chat;
mod composer;
mod conversation;
mod details;
mod editor;
pub mod figures;
mod frame_context;
pub mod glyphs;
mod header;
pub mod layout;
mod layout_cache;
pub mod linear;
mod link;
mod mode;
mod offer;
mod overlay;
mod panel;
pub mod printed;
mod queue;
mod session_list;
mod status_line;
pub mod text;

pub use frame_context::Appearance;
pub use layout_cache::LayoutCache;
pub use link::Link;

use crate::app::msg::{Frame, Target};
use crate::app::state::panel::Extent;
use crate::app::state::{Focus, Shown, State};
use crate::domain::request::Ask;
use crate::theme::Role;
use frame_context::FrameContext;
use layout::{Front, Layout, ListWant, PanelWant, Shape, Wants};
use panel::View;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

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

/// Draws the whole screen.
pub fn render(state: &State, look: &Appearance<'_>, cache: &mut LayoutCache, buf: &mut Buffer) -> Drawn {
    let area = buf.area;
    let mut paint = FrameContext::new(state, look, cache, buf);
    paint.fill(area, Role::Text);
    if area.is_empty() {
        return Drawn::default();
    }
    let layout = layout::divide(area, wants(&mut paint, area));
    paint.found.both_panes = layout.shape == Shape::Both;
    paint.found.list_cells = layout.list.width;
    panes(&mut paint, &layout);
    status_line::draw(&mut paint, cells::row(layout.status, 0), !layout.bar().is_empty());
    bar::draw(&mut paint, layout.bar());
    paint.settle_selected();
    if layout.shape != Shape::Tiny {
        overlay::which_key(&mut paint, &layout);
        overlay::draw(&mut paint, Rect { height: layout.status.y + 1 - area.y, ..area });
    }
    paint.settle_selected();
    // What was drawn over leads nowhere any more.
    let mut links = std::mem::take(&mut paint.links);
    links.retain(|link| link.is_seen(paint.buf));
    if look.glyphs == glyphs::GlyphSet::Ascii {
        ascii::replace(paint.buf);
    }
    Drawn { frame: paint.found, cursor: paint.cursor, links, pictures: paint.pictures }
}

/// Wishes of the panes for their size.
fn wants(paint: &mut FrameContext<'_>, area: Rect) -> Wants {
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
    let bar = bar::rows(paint, area);
    let plain = Wants { front, list, details, only_chat, composer: 1, queue: 0, files: 0, panel: PanelWant::None, bar };
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
                PanelWant::Docked(rows, panel::least_rows(paint, view.request, right.width))
            }
        }
    };
    let queue = u16::try_from(queue).unwrap_or(u16::MAX);
    let files = u16::from(!state.composer().files().is_empty());
    Wants { composer: composer::rows(paint, right.width), queue, files, panel, ..plain }
}

/// Rows that a panel which grows over blank ones has at the least: fewer say no more than its name does.
const GROWN: u16 = 6;

/// Area of the panel. One without the focus takes `blank` rows of the conversation too, all but the one above it, as far
/// as it has something to show there.
fn grown(paint: &mut FrameContext<'_>, view: View<'_>, layout: &Layout, blank: u16) -> Rect {
    let area = layout.panel;
    // Where a plan's panel has one row, the plan stands whole in the conversation.
    let told = area.height <= 1 && matches!(view.request.ask, Ask::Plan(_));
    if view.focused || told || paint.buf.area.height < layout::LOW {
        return area;
    }
    let wanted = panel::rows(paint, view, area.width);
    let height = wanted.min(area.height.saturating_add(blank.saturating_sub(1)));
    if height <= area.height || height < wanted.min(GROWN) {
        return area;
    }
    Rect { y: area.bottom() - height, height, ..area }
}

/// Pending request of the session that is shown.
fn view(state: &State) -> Option<View<'_>> {
    let (panel, request) = state.panel()?;
    let focused = state.focus == Focus::Panel && state.overlays.is_empty();
    let waiting = state.current_open().map_or(0, |open| open.requests.len());
    Some(View { panel, request, focused, waiting, equal: Default::default() })
}

fn panes(paint: &mut FrameContext<'_>, layout: &Layout) {
    let wide = paint.buf.area.width >= layout::WIDE && layout.list.width >= 30;
    if layout.shape == Shape::Tiny {
        session_list::draw(paint, cells::row(layout.list, 0), false);
        return;
    }
    session_list::draw(paint, layout.list, wide);
    let sign = paint.signs.lines.rule;
    let focused = paint.state.focus == Focus::List && paint.state.overlays.is_empty();
    let role = if focused { Role::RuleFocus } else { Role::Rule };
    for n in 0..layout.rule.height {
        paint.text(cells::row(layout.rule, n), sign, role);
    }
    paint.target(layout.rule, Target::Rule);
    for n in 0..layout.side_rule.height {
        paint.text(cells::row(layout.side_rule, n), sign, Role::Rule);
    }
    details::draw(paint, layout.side);
    header::header(paint, layout.header, layout.details);
    let blank = conversation::draw(paint, layout);
    if let Some(view) = view(paint.state) {
        let area = grown(paint, view, layout, blank);
        panel::draw(paint, view, area);
    }
    composer::draw(paint, layout);
}
