//! The list of sessions: groups with their count, and a row a session. Only the rows on the screen are made.

use super::cells::{self, piece};
use super::figures::{age, elapsed};
use super::paint::Paint;
use crate::app::msg::Target;
use crate::app::state::sessions::{Group, Row, Which, needs_you};
use crate::app::state::{Current, Focus};
use crate::domain::SessionMeta;
use crate::domain::sanitise::clean_line;
use crate::domain::session::Activity;
use crate::keymap::action::{Action, Context, ListAction, SessionAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Cells of an age, right-aligned, with a blank before it.
const AGE: usize = 4;

/// Draws the list into `area`. `wide`: there is room for a second line a session, if the height allows it.
pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, wide: bool) {
    if area.is_empty() {
        return;
    }
    paint.target(area, Target::List);
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    title(paint, cells::row(inner, 0));
    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let state = paint.state;
    let rows = state.sessions.rows();
    if rows.is_empty() {
        paint.found.list_rows = body.height;
        empty(paint, Rect { x: inner.x, width: inner.width, ..body });
        return;
    }
    let height = usize::from(body.height);
    let second = Second { waits: area.height >= 12, previews: wide && rows.len() * 2 <= height };
    let selected = state.sessions.selected();
    let focused = state.focus == Focus::List && state.overlays.is_empty();
    let shown = if focused { selected } else { state.current_id() };

    let mut top = state.sessions.top.min(rows.len().saturating_sub(1));
    // Second lines take room that the scrolling does not know of: the selected row must be seen all the same.
    let at = shown.and_then(|id| rows.iter().skip(top).take(height).position(|row| is(row, id)));
    if let Some(at) = at {
        let taken = |from: usize| rows.iter().skip(from).take(at + 1).map(|row| second.rows(paint, row)).sum::<usize>();
        let (mut more, mut need) = (at, taken(top));
        while need > height && more > 0 {
            need -= rows.get(top).map_or(0, |row| second.rows(paint, row));
            top += 1;
            more -= 1;
        }
    }
    let mut y = 0u16;
    let mut drawn = 0u16;
    for row in rows.iter().skip(top) {
        if y >= body.height {
            break;
        }
        let takes = u16::try_from(second.rows(paint, row)).unwrap_or(1).min(body.height - y);
        let place = Rect { y: body.y + y, height: takes, ..body };
        match row {
            Row::Group(group, count) => heading(paint, *group, *count, place),
            Row::Session(id) => {
                if let Some(meta) = state.sessions.meta(id) {
                    session(paint, meta, place, focused);
                }
                paint.target(place, Target::ListRow(id.clone()));
            }
        }
        y += takes;
        drawn += 1;
    }
    let left = rows.len().saturating_sub(top + usize::from(drawn)) > 0;
    paint.found.list_rows = if left { drawn.max(1) } else { drawn.max(body.height.saturating_sub(y) + drawn) };
}

fn is(row: &Row, id: &crate::domain::SessionId) -> bool {
    matches!(row, Row::Session(other) if other == id)
}

/// Which sessions get a second line.
#[derive(Clone, Copy)]
struct Second {
    /// What a session waits for.
    waits: bool,
    /// How its first message begins.
    previews: bool,
}

impl Second {
    fn rows(self, paint: &Paint<'_>, row: &Row) -> usize {
        match row {
            Row::Group(..) => 1,
            Row::Session(id) => {
                let meta = paint.state.sessions.meta(id);
                1 + usize::from(meta.is_some_and(|meta| self.line(meta).is_some()))
            }
        }
    }

    fn line(self, meta: &SessionMeta) -> Option<&str> {
        match &meta.activity {
            Activity::NeedsYou(what) if self.waits && !what.trim().is_empty() => Some(what),
            Activity::Idle if self.waits && meta.plan_pending => Some("plan waiting"),
            _ if self.previews && !meta.title.trim().is_empty() && says_more(meta) => Some(&meta.preview),
            _ => None,
        }
    }
}

/// The first message is more than the title that was made of it.
fn says_more(meta: &SessionMeta) -> bool {
    let (title, preview) = (meta.title.trim(), meta.preview.trim());
    !preview.is_empty() && !preview.starts_with(title.trim_end_matches('…').trim_end())
}

fn title(paint: &mut Paint<'_>, area: Rect) {
    let sessions = &paint.state.sessions;
    let count = sessions.order().count();
    if let Some(filter) = &sessions.filter {
        let left = [paint.piece("/ ", Role::Key)];
        let right = [paint.piece(format!("{count}"), Role::Dim)];
        paint.sides(area, &left, &right, 2);
        let field = cells::after(area, 2);
        let field = Rect { width: field.width.saturating_sub(5), ..field };
        paint.one_line(field, &filter.query, filter.typing && paint.state.overlays.is_empty());
        return;
    }
    let name = match sessions.which {
        Which::Current => "Sessions",
        Which::Archived => "Archived",
    };
    let role = if paint.state.focus == Focus::List { Role::Strong } else { Role::PanelTitle };
    let count = if count == 0 { String::new() } else { count.to_string() };
    let (left, right) = ([paint.piece(name, role)], [paint.piece(count, Role::Dim)]);
    paint.sides(area, &left, &right, name.len());
}

fn empty(paint: &mut Paint<'_>, area: Rect) {
    let sessions = &paint.state.sessions;
    let filtered = sessions.filter.as_ref().is_some_and(|filter| !filter.query.text().trim().is_empty());
    let text = match (sessions.loaded, filtered, sessions.which) {
        (false, ..) => "reading",
        (true, true, _) => "no title matches",
        (true, false, Which::Current) => "none yet",
        (true, false, Which::Archived) => "none archived",
    };
    paint.text(cells::row(area, 1), text, Role::Dim);
    if sessions.loaded && !filtered {
        let key = match sessions.which {
            Which::Current => (paint.key(Action::Session(SessionAction::New), Context::Global), "new session"),
            Which::Archived => (paint.key(Action::List(ListAction::Archived), Context::List), "back"),
        };
        let hint = paint.hints(&[key]);
        paint.pieces(cells::row(area, 2), &hint);
    }
}

fn heading(paint: &mut Paint<'_>, group: Group, count: usize, area: Rect) {
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let label = group.label(paint.state.now, paint.state.utc_offset);
    let role = if group == Group::NeedsYou { Role::NeedsYou } else { Role::Group };
    let left = [paint.piece(format!("{} ", paint.signs.open), Role::Faint), paint.piece(label, role)];
    // Days are not counted: the number would only be read as an age.
    let counted = matches!(group, Group::NeedsYou | Group::Running);
    let right = if counted { format!("{count}") } else { String::new() };
    let right = [paint.piece(right, role)];
    paint.sides(inner, &left, &right, 8);
}

fn session(paint: &mut Paint<'_>, meta: &SessionMeta, area: Rect, list_focused: bool) {
    let state = paint.state;
    let selected = list_focused && state.sessions.selected() == Some(&meta.id);
    let current = matches!(&state.current, Current::Session(id) if *id == meta.id);
    if selected {
        paint.tint(area, Role::Selected);
    } else if current {
        paint.tint(area, Role::SelectedDim);
    }
    if current {
        // The band alone would not tell it from the selected one where there are few colours or none.
        let bar = paint.signs.current;
        for n in 0..area.height {
            paint.over(Rect { width: 1.min(area.width), ..cells::row(area, n) }, bar, Role::Accent);
        }
    }
    let (sign, role) = sign(paint, meta);
    let first = cells::row(area, 0);
    let sign_at = Rect { width: 1.min(area.width), ..cells::after(first, 1) };
    paint.over(sign_at, sign, role);

    let line = cells::after(first, 3);
    let line = Rect { width: line.width.saturating_sub(1), ..line };
    let title = clean_line(meta.shown_title());
    let title_role = if selected || current || meta.unread || needs_you(meta) { Role::Strong } else { Role::Text };
    let weight = if meta.archived { Role::Dim } else { title_role };
    // What runs says for how long.
    let age = match meta.activity {
        Activity::Running(since) if state.now.since(since) < 60_000 => elapsed(state.now.since(since)),
        Activity::Running(since) => age(since, state.now),
        _ => age(meta.last_message, state.now),
    };
    let blanks = AGE.saturating_sub(age.len());
    let mut right = Vec::new();
    if meta.flagged {
        right.push(piece(paint.signs.flag, paint.style(Role::Accent)));
    }
    right.push(piece(format!("{:blanks$}{age}", ""), paint.style(Role::Dim)));
    let mut left = [piece(title, paint.style(weight))];
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(line, &left, &right, 6);

    if area.height > 1 {
        let second = Second { waits: true, previews: true };
        if let Some(text) = second.line(meta) {
            let text = clean_line(text);
            let below = cells::after(cells::row(area, 1), 3);
            let below = Rect { width: below.width.saturating_sub(1), ..below };
            // What is only remembered weighs less than what waits.
            let role = if selected || current || needs_you(meta) { Role::Dim } else { Role::Faint };
            paint.over(below, &text, role);
        }
    }
}

/// The sign of a session's state, and its colour.
fn sign(paint: &Paint<'_>, meta: &SessionMeta) -> (&'static str, Role) {
    let signs = paint.signs;
    match &meta.activity {
        Activity::NeedsYou(_) => (signs.needs_you, Role::NeedsYou),
        Activity::Running(_) => (paint.spin(), Role::Running),
        Activity::Stopping => (signs.stopping, Role::Dim),
        Activity::Idle if meta.plan_pending => (signs.plan, Role::NeedsYou),
        Activity::Idle if meta.unread => (signs.unread, Role::Unread),
        Activity::Idle => (" ", Role::Text),
    }
}
