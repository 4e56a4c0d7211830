//! The list of sessions: its title and what narrows it, groups, and a row a session. Only the rows on the screen are
//! made. `row` draws a session.

pub(in crate::ui) mod row;

use super::cells;
use super::frame_context::{FrameContext, Hint};
use crate::app::msg::Target;
use crate::app::state::sessions::{Band, Cursor, Facet, Group, Grouping, Row, Wish};
use crate::app::state::{Focus, State};
use crate::keymap::action::{Action, AppAction, Context, ListAction, SessionAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use row::Second;

/// Rows below which the list has no room for the line that offers to undo.
const UNDO: u16 = 8;

/// Draws the list into `area`. `wide`: there is room for a second line a session, if the height allows it.
pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect, wide: bool) {
    if area.is_empty() {
        return;
    }
    paint.target(area, Target::List);
    title(paint, inset(cells::row(area, 0)));
    let mut body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    if !paint.state.sessions.facets().is_empty() && body.height > 1 {
        chips(paint, inset(cells::row(body, 0)));
        body = Rect { y: body.y + 1, height: body.height - 1, ..body };
    }
    // Where letters filter, no letter undoes.
    let filters = paint.state.focus == Focus::List && paint.state.sessions.filter_open();
    if area.height >= UNDO && offers_undo(paint.state) && !filters {
        body.height -= 1;
        undo(paint, inset(Rect { y: body.bottom(), height: 1, ..body }));
    }
    let state = paint.state;
    let sessions = &state.sessions;
    let count = sessions.row_count();
    if count == 0 {
        paint.found.list_rows = body.height;
        empty(paint, inset(body));
        return;
    }
    let height = usize::from(body.height);
    let second = Second { waits: area.height >= 12, previews: wide && count * 2 <= height };
    let focused = state.focus == Focus::List && state.overlays.is_empty();
    let shown = if focused { sessions.cursor_row() } else { state.current_id().and_then(|id| sessions.row_of(id)) };

    let mut top = sessions.top.min(count - 1);
    // Second lines take room that the scrolling does not know of: the selected row must be seen all the same.
    if let Some(at) = shown.filter(|at| (top..top + height).contains(at)) {
        let mut taken: Vec<usize> =
            sessions.rows_from(top).take(at + 1 - top).map(|row| second.rows(state, row)).collect();
        taken.reverse();
        let mut need: usize = taken.iter().sum();
        while need > height && taken.len() > 1 {
            need -= taken.pop().unwrap_or(0);
            top += 1;
        }
    }
    let mut y = 0u16;
    let mut drawn = 0u16;
    for row in sessions.rows_from(top) {
        if y >= body.height {
            break;
        }
        let takes = u16::try_from(second.rows(state, row)).unwrap_or(1).min(body.height - y);
        let place = Rect { y: body.y + y, height: takes, ..body };
        match row {
            Row::Group(band) => {
                heading(paint, band, place, focused);
                paint.target(place, Target::ListHeading(band.group.clone()));
            }
            Row::Session(id) => {
                if let Some(meta) = sessions.meta(id) {
                    row::draw(paint, meta, place, second, focused);
                }
                paint.target(place, Target::ListRow(id.clone()));
            }
        }
        y += takes;
        drawn += 1;
    }
    let left = count.saturating_sub(top + usize::from(drawn)) > 0;
    paint.found.list_rows = if left { drawn.max(1) } else { drawn.max(body.height.saturating_sub(y) + drawn) };
}

/// `area` without its first and last column.
fn inset(area: Rect) -> Rect {
    let inner = cells::after(area, 1);
    Rect { width: inner.width.saturating_sub(1), ..inner }
}

fn title(paint: &mut FrameContext<'_>, area: Rect) {
    let sessions = &paint.state.sessions;
    let count = sessions.count();
    if let Some(filter) = &sessions.filter {
        let left = [paint.piece("/ ", Role::Key)];
        let out = paint.key(Action::App(AppAction::Back), Context::Global);
        let mut right = Vec::new();
        // While it is typed the way out is known; later it must be said.
        // A list without a match says it itself.
        if !filter.typing && area.width >= 30 && count > 0 {
            right.extend(paint.hints(&[(out, "all")]));
            right.push(paint.piece("  ", Role::Dim));
        }
        right.push(match sessions.marks.len() {
            0 => paint.piece(count.to_string(), Role::Dim),
            marked => paint.piece(format!("{marked} marked"), Role::Accent),
        });
        let taken = u16::try_from(cells::pieces_width(&right)).unwrap_or(0);
        paint.sides(area, &left, &right, 2);
        let field = cells::after(area, 2);
        let field = Rect { width: field.width.saturating_sub(taken + 2), ..field };
        paint.one_line(field, &filter.query, filter.typing && paint.state.overlays.is_empty());
        if filter.query.text().is_empty() {
            let words = ["title, #label, status:done, is:flagged", "title, #label, status:", "title or #label"];
            let room = usize::from(field.width).saturating_sub(1);
            let words = words.into_iter().find(|words| words.len() <= room).unwrap_or_default();
            paint.over(cells::after(field, 1), words, Role::Faint);
        }
        return;
    }
    let focused = paint.state.focus == Focus::List && paint.state.overlays.is_empty();
    let role = if focused { Role::Key } else { Role::PanelTitle };
    let archived = sessions.facets().wish(&Facet::Archived) == Wish::Only;
    let name = if archived { "Archived" } else { "Sessions" };
    let mut left = vec![paint.piece(name, role)];
    if focused {
        super::header::underline(&mut left);
    }
    let grouped = format!(" {}", sessions.grouping().shown());
    // Half of a word says less than none.
    if sessions.grouping() != Grouping::Date && name.len() + grouped.len() + 4 <= usize::from(area.width) {
        left.push(paint.piece(grouped, Role::Dim));
    }
    let right = match sessions.marks.len() {
        0 if count == 0 => paint.piece("", Role::Dim),
        0 => paint.piece(count.to_string(), Role::Dim),
        marked => paint.piece(format!("{marked} marked"), Role::Accent),
    };
    paint.sides(area, &left, &[right], name.len());
}

/// Active filters, and the key that clears them.
fn chips(paint: &mut FrameContext<'_>, area: Rect) {
    let sessions = &paint.state.sessions;
    let (facets, catalogue) = (sessions.facets(), sessions.catalogue());
    let names = |facets: &[Facet]| {
        let names: Vec<String> = facets.iter().map(|facet| facet.shown(catalogue)).collect();
        crate::domain::sanitise::clean_line(&names.join(", ")).into_owned()
    };
    let mut left = Vec::new();
    if !facets.only.is_empty() {
        left.push(paint.piece("only ", Role::Dim));
        left.push(paint.piece(names(&facets.only), Role::Match));
    }
    if !facets.without.is_empty() {
        left.push(paint.piece(if left.is_empty() { "not " } else { ", not " }, Role::Dim));
        left.push(paint.piece(names(&facets.without), Role::Match));
    }
    let key = paint.key(Action::List(ListAction::All), Context::List);
    paint.sides_hints(area, &left, &[(key, "all")], 10);
}

/// The last change can be undone.
pub(super) fn offers_undo(state: &State) -> bool {
    state.sessions.undo.as_ref().is_some_and(|undo| undo.is_open(state.clock.now))
}

fn undo(paint: &mut FrameContext<'_>, area: Rect) {
    let Some(undo) = &paint.state.sessions.undo else { return };
    let left = [paint.piece(crate::domain::sanitise::clean_line(&undo.what).into_owned(), Role::Text)];
    let hint = undo_hint(paint);
    paint.sides_hints(area, &left, &[hint], 8);
}

/// The key that undoes, where the keys go now.
pub(super) fn undo_hint(paint: &FrameContext<'_>) -> Hint<'static> {
    let here = if paint.state.focus == Focus::List { Context::List } else { Context::Global };
    (paint.key(Action::List(ListAction::Undo), here), "undo")
}

fn empty(paint: &mut FrameContext<'_>, area: Rect) {
    let sessions = &paint.state.sessions;
    let words = sessions.filter.as_ref().is_some_and(|filter| !filter.query.text().trim().is_empty());
    let archived = sessions.facets().wish(&Facet::Archived) == Wish::Only && sessions.facets().only.len() == 1;
    let key = |action, context, word| (paint.key(action, context), word);
    let (text, keys) = if !sessions.loaded {
        ("reading", Vec::new())
    } else if words {
        ("no matches", vec![key(Action::App(AppAction::Back), Context::Global, "shows all")])
    } else if sessions.is_filtered() {
        let text = if archived { "none archived" } else { "no matches" };
        (text, vec![key(Action::List(ListAction::All), Context::List, "all")])
    } else {
        let new = key(Action::Session(SessionAction::New), Context::Global, "new session");
        match sessions.metas().any(|meta| meta.archived) {
            true => ("all archived", vec![new, key(Action::List(ListAction::Archived), Context::Global, "archived")]),
            false => ("none yet", vec![new]),
        }
    };
    paint.text(cells::row(area, 1), text, Role::Dim);
    for (row, key) in (2..area.height).zip(keys) {
        let row = cells::row(area, row);
        paint.pieces(row, &paint.hints(std::slice::from_ref(&key)));
        paint.click_hints(row, &[key]);
    }
}

fn heading(paint: &mut FrameContext<'_>, band: &Band, area: Rect, list_focused: bool) {
    let sessions = &paint.state.sessions;
    if list_focused && sessions.cursor() == Some(&Cursor::Heading(band.group.clone())) {
        paint.tint(area, Role::Selected);
    }
    let inner = inset(area);
    let label = match &band.group {
        Group::Directory(path) => paint.home_path(std::path::Path::new(path.as_ref())),
        group => sessions.heading(group, paint.state.clock.now, paint.state.clock.utc_offset),
    };
    let label = crate::domain::sanitise::clean_line(&label).into_owned();
    let role = if band.group == Group::NeedsYou { Role::NeedsYou } else { Role::Group };
    let sign = if band.folded { paint.signs.closed } else { paint.signs.open };
    // Open days are not counted: the number would only be read as an age.
    let counted =
        band.folded || !matches!(band.group, Group::Today | Group::Yesterday | Group::DaysAgo(_) | Group::Month { .. });
    let mut right = Vec::new();
    if band.folded && band.group != Group::NeedsYou && sessions.needs_in(band) {
        right.push(paint.piece(format!("{} ", paint.signs.session.needs_you), Role::NeedsYou));
    }
    right.push(paint.piece(if counted { band.count().to_string() } else { String::new() }, role));
    let room = usize::from(inner.width).saturating_sub(2 + cells::pieces_width(&right) + 2);
    // The end of a path says more than its beginning.
    let label = match band.group {
        Group::Directory(_) => cells::cut_start(&label, room, paint.signs.cut).into_owned(),
        _ => label,
    };
    let colour = sessions.heading_color(&band.group);
    let style = colour.map_or_else(|| paint.style(role), |colour| paint.look.theme.tag(colour));
    let mut left = [paint.piece(format!("{sign} "), Role::Faint), (label.into(), style)];
    for piece in left.iter_mut().chain(&mut right) {
        piece.1 = paint.flat(piece.1);
    }
    paint.sides(inner, &left, &right, 8);
}
