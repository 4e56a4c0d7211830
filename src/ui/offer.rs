//! Completions above the composer, right above its edge: a row each, with the characters that matched.

use super::cells::{self, piece};
use super::frame_context::FrameContext;
use super::layout::Layout;
use crate::app::msg::Target;
use crate::app::slash::Slash;
use crate::app::state::Focus;
use crate::app::state::offer::OfferKind;
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
    // The columns come from all commands: they stay where they are while one types.
    let (names, usages) = match menu.kind {
        OfferKind::Commands => {
            let own = || state.drafts.commands.iter();
            let names = Slash::ALL.iter().map(|slash| slash.word()).chain(own().map(|own| own.name.as_str()));
            let usages = Slash::ALL.iter().map(|slash| slash.usage()).chain(own().map(|own| own.hint.as_str()));
            (names.map(cells::width).max().unwrap_or(0) + 3, usages.map(cells::width).max().unwrap_or(0) + 2)
        }
        _ => {
            let labels = menu.rows.iter().map(|row| cells::width(&row.label));
            (labels.max().unwrap_or(0).min(usize::from(area.width) * 3 / 5) + 3, 0)
        }
    };
    let with_usage = usages > 0 && usize::from(area.width) >= names + usages + 34;
    let first = menu.selected.saturating_sub(usize::from(rows) - 1);
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
            let complete = paint.key(Action::Slash(SlashAction::Complete), Context::Slash);
            right = paint.hints(&[(complete, "complete")]);
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
