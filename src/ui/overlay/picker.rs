//! A list to choose from: what was typed, then the hits with the matched characters marked.

use super::super::cells::{self, piece};
use super::super::paint::Paint;
use crate::app::msg::Target;
use crate::app::state::picker::{Kind, Picker, Value};
use crate::domain::property::split_label;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of hits at the most: more are found by typing.
const ROWS: u16 = 16;

pub(super) fn draw(paint: &mut Paint<'_>, picker: &Picker, body: Rect) {
    let mut title = vec![paint.piece(picker.kind.title(), Role::PanelTitle)];
    if marks_what_is_set(picker.kind) {
        let of = match picker.sessions.as_slice() {
            [one] => paint.state.sessions.meta(one).map(|meta| clean_line(meta.shown_title()).into_owned()),
            more => Some(super::super::figures::count(more.len(), "session", "sessions")),
        };
        let of = of.unwrap_or_default();
        title.push(paint.piece(format!("  {}", cells::cut(&of, 40, paint.signs.cut)), Role::Dim));
    } else if picker.hits.len() < picker.items.len() {
        title.push(paint.piece(format!("  {} of {}", picker.hits.len(), picker.items.len()), Role::Dim));
    }
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Picker);
    // The height comes from all items: the sheet stays as it is while one types.
    let rows = u16::try_from(picker.items.len()).unwrap_or(u16::MAX).clamp(1, ROWS);
    let verb = if picker.kind == Kind::Labels { "add or take away" } else { "choose" };
    let inner = super::sheet(paint, body, 80, rows.saturating_add(2), &title, &[(accept, verb)]);
    let field = cells::row(inner, 0);
    let sign = paint.signs.prompt;
    paint.text(field, sign, Role::Accent);
    paint.one_line(cells::after(field, 2), &picker.query, true);
    let gap = if inner.height > rows.min(6) + 1 { 2 } else { 1 }.min(inner.height);
    let list = Rect { y: inner.y + gap, height: inner.height - gap, ..inner };
    paint.found.overlay_rows = list.height;
    if picker.hits.is_empty() {
        paint.over(cells::row(list, 0), "nothing matches", Role::Dim);
        return;
    }
    let labels = picker.items.iter().take(500).map(|item| cells::width(&item.label)).max().unwrap_or(0);
    // Cells for the sign of what is set, and for its value.
    let labels = labels + if marks_what_is_set(picker.kind) { 14 } else { 0 };
    let labels = labels.min(usize::from(list.width) * 3 / 5);
    let height = usize::from(list.height);
    // The selected one stays away from the edge as long as there is more behind it.
    let last = picker.hits.len().saturating_sub(height);
    let first = picker.selected.saturating_sub(height / 2).min(last);
    for (n, hit) in picker.hits.iter().enumerate().skip(first).take(height) {
        let Some(item) = picker.items.get(hit.item) else { continue };
        let row = cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX));
        let band = Rect { x: row.x.saturating_sub(1), width: row.width + 2, ..row };
        let chosen = n == picker.selected;
        if chosen {
            paint.tint(band, Role::Selected);
        }
        let role = match (&item.value, chosen) {
            (Value::Remark, _) => Role::Dim,
            (_, true) => Role::Strong,
            (_, false) => Role::Text,
        };
        let mut label = paint.marked(&item.label, &hit.marks, role);
        let (sign, value) = set(paint, picker, &item.value);
        if let Some(sign) = sign {
            label.insert(0, paint.piece(format!("{sign} "), Role::Accent));
        }
        if let Some(value) = value {
            label.push(paint.piece(format!(": {value}"), Role::Accent));
        }
        let mut right = Vec::new();
        if let Value::Act(action) = item.value
            && let Some(key) = paint.key(action, Context::Composer)
        {
            right.push(paint.piece(key, Role::Key));
        }
        let detail = clean_line(&item.detail);
        if !detail.trim().is_empty() {
            let blanks = labels.saturating_sub(cells::pieces_width(&label)) + 2;
            label.push(piece(" ".repeat(blanks), paint.style(Role::Dim)));
            label.push(paint.piece(detail.into_owned(), Role::Dim));
        }
        for piece in label.iter_mut().chain(&mut right) {
            piece.1.bg = None;
        }
        paint.sides(row, &label, &right, labels.min(usize::from(row.width) / 2));
        paint.target(band, Target::OverlayRow(n));
    }
}

/// Whether a picker shows which of its items the sessions have.
fn marks_what_is_set(kind: Kind) -> bool {
    matches!(kind, Kind::Status | Kind::Labels)
}

/// The sign before an item that the sessions of the picker have, all or some of them, and the value that they have.
fn set(paint: &Paint<'_>, picker: &Picker, value: &Value) -> (Option<&'static str>, Option<String>) {
    if !marks_what_is_set(picker.kind) {
        return (None, None);
    }
    let metas: Vec<_> = picker.sessions.iter().filter_map(|id| paint.state.sessions.meta(id)).collect();
    let (have, value) = match value {
        Value::Status(id) => (metas.iter().filter(|meta| meta.status == *id).count(), None),
        Value::Label(id) => {
            let entries: Vec<_> = metas
                .iter()
                .filter_map(|meta| meta.labels.iter().map(|entry| split_label(entry)).find(|entry| entry.0 == id))
                .collect();
            let first = entries.first().and_then(|entry| entry.1);
            let same = entries.iter().all(|entry| entry.1 == first);
            let value = first.map(|value| if same { clean_line(value).into_owned() } else { "several".to_owned() });
            (entries.len(), value)
        }
        _ => (0, None),
    };
    let sign = match have {
        0 => " ",
        n if n == metas.len() => paint.signs.check,
        _ => paint.signs.partly,
    };
    (Some(sign), value)
}
