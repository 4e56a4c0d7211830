//! Completions above the composer, right above its edge: a row each, with the characters that matched.

use super::cells::{self, Piece, piece};
use super::frame_context::FrameContext;
use super::layout::Layout;
use crate::app::msg::Target;
use crate::app::slash::Slash;
use crate::app::state::Focus;
use crate::app::state::offer::{OfferKind, OfferRow};
use crate::domain::command::OwnCommand;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, SlashAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows at once at the most.
const SHOWN: u16 = 10;

pub(super) fn draw(paint: &mut FrameContext<'_>, layout: &Layout) {
    let state = paint.state;
    let Some(menu) = state.composer().menu.as_ref().filter(|_| state.composer_takes_text()) else { return };
    if state.focus != Focus::Composer || !state.overlays.is_empty() {
        return;
    }
    let top = layout.header.bottom().max(layout.details.bottom());
    let bottom = if layout.edge.is_empty() { layout.composer.y } else { layout.edge.y };
    let room = bottom.saturating_sub(top);
    let rows = u16::try_from(menu.rows.len()).unwrap_or(u16::MAX).min(SHOWN).min(room);
    if rows == 0 {
        return;
    }
    let area = Rect { y: bottom - rows, height: rows, ..layout.right };
    paint.fill(area, Role::Panel);
    let sign = match menu.kind {
        OfferKind::Commands => "/",
        OfferKind::Labels => "#",
        OfferKind::Words(_) | OfferKind::Things => "",
    };
    let first = menu.selected.saturating_sub(usize::from(rows) - 1);
    let room = usize::from(area.width).saturating_sub(4);
    let seen = menu.rows.iter().skip(first).take(usize::from(rows));
    let (names, usages) = match menu.kind {
        OfferKind::Commands => Columns::of(seen, &state.drafts.commands).fit(room),
        _ => {
            let labels = menu.rows.iter().map(|row| cells::width(&row.label));
            (labels.max().unwrap_or(0).min(usize::from(area.width) * 3 / 5) + 3, 0)
        }
    };
    let with_usage = usages > 0;
    for (n, item) in menu.rows.iter().enumerate().skip(first).take(usize::from(rows)) {
        let row = cells::row(area, u16::try_from(n - first).unwrap_or(u16::MAX));
        let chosen = n == menu.selected;
        if chosen {
            paint.tint(row, Role::Selected);
        }
        let mut pieces = vec![paint.piece(sign, Role::Dim)];
        pieces.extend(paint.marked(&item.label, &item.marks, if chosen { Role::Strong } else { Role::Text }));
        let blanks = names.saturating_sub(cells::pieces_width(&pieces));
        pieces.push(piece(" ".repeat(blanks), paint.style(Role::Dim)));
        if with_usage {
            let usage = clean_line(&item.usage);
            let blanks = usages.saturating_sub(cells::width(&usage));
            pieces.push(paint.piece(format!("{usage}{:blanks$}", ""), Role::Faint));
        }
        pieces.push(paint.piece(clean_line(&item.detail).into_owned(), Role::Dim));
        let mut right = Vec::new();
        if chosen {
            let free = room.saturating_sub(cells::pieces_width(&pieces) + 2);
            right = beside_selected(paint, &place(n, menu.rows.len(), rows), free);
        }
        for piece in pieces.iter_mut().chain(&mut right) {
            piece.1.bg = None;
        }
        if item.current {
            let style = ratatui::style::Style { bg: None, ..paint.style(Role::Accent) };
            cells::put(paint.buf, cells::after(row, 1), paint.signs.marks.check, style);
        }
        let text = cells::after(row, 3);
        let text = Rect { width: text.width.saturating_sub(1), ..text };
        let least = names.min(usize::from(text.width) / 2) + 24;
        paint.sides(text, &pieces, &right, least);
        paint.target(row, Target::Slash(n));
    }
}

/// The place among more rows than are in sight, and the key that completes. What the row says comes before them.
fn beside_selected(paint: &FrameContext<'_>, place: &str, free: usize) -> Vec<Piece<'static>> {
    let complete = paint.key(Action::Slash(SlashAction::Complete), Context::Slash);
    let mut out = paint.hints(&[(complete, "complete")]);
    if cells::pieces_width(&out) + cells::width(place) + 2 > free {
        out.clear();
    }
    if !place.is_empty() && cells::width(place) <= free {
        let gap = if out.is_empty() { "" } else { "  " };
        out.insert(0, paint.piece(format!("{place}{gap}"), Role::Dim));
    }
    out
}

/// `3/119`, where more rows are offered than are in sight.
fn place(selected: usize, all: usize, in_sight: u16) -> String {
    if all > usize::from(in_sight) { format!("{}/{all}", selected + 1) } else { String::new() }
}

/// Cells of the columns of commands, each with the blanks behind it.
struct Columns {
    /// Names of all commands.
    all: usize,
    /// Names in sight.
    names: usize,
    /// Arguments in sight.
    usages: usize,
    /// Descriptions in sight.
    details: usize,
}

impl Columns {
    /// Cells that the rows in sight need, beside the user's `own` commands.
    fn of<'r>(seen: impl Iterator<Item = &'r OfferRow>, own: &[OwnCommand]) -> Self {
        let all = Slash::ALL.iter().map(|slash| slash.word()).chain(own.iter().map(|own| own.name.as_str()));
        let all = all.map(cells::width).max().unwrap_or(0) + 3;
        seen.fold(Self { all, names: 3, usages: 2, details: 0 }, |so_far, row| Self {
            all,
            names: so_far.names.max(cells::width(&row.label) + 3),
            usages: so_far.usages.max(cells::width(&clean_line(&row.usage)) + 2),
            details: so_far.details.max(cells::width(&clean_line(&row.detail))),
        })
    }

    /// Cells of names and arguments (0: not shown). The names stay where they are while one types, as long as that cuts no
    /// description.
    fn fit(&self, room: usize) -> (usize, usize) {
        let tries = [(self.all, self.usages), (self.names, self.usages), (self.all, 0)];
        let fits = |(names, usages): &(usize, usize)| names + usages + self.details <= room;
        tries.into_iter().find(fits).unwrap_or((self.names, 0))
    }
}
