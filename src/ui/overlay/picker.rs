//! A list to choose from: what was typed, then the hits with the matched characters marked, in columns where there are some,
//! below headings where there are some, and what is said of the selected one below.

use super::super::cells::{self, Piece, piece};
use super::super::figures;
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::hidden::holds_a_key;
use crate::app::state::picker::{Column, Item, Kind, Picker, PickerRow, Side, Value};
use crate::domain::finding::Health;
use crate::domain::property::split_label;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use std::fmt::Write;

/// Rows of hits at the most: more are found by typing.
const ROWS: u16 = 16;
/// The same for lists with columns, which are looked through more than typed into.
const MORE_ROWS: u16 = 22;
/// Cells that a name keeps before a column goes.
const NAME: usize = 18;
/// Cells of the words about rows that are scrolled away.
const MARK: u16 = 14;
/// Cells of the first column that are worth showing.
const SOME: usize = 6;

pub(super) fn draw(paint: &mut FrameContext<'_>, picker: &Picker, body: Rect) {
    let columns = picker.kind.columns();
    let title = title(paint, picker);
    let key = |verb| paint.key(Action::Picker(verb), Context::Picker);
    let takes_other = picker.chosen().is_none_or(|item| item.value != Value::OtherServer);
    let other = key(PickerAction::Other).filter(|_| takes_other && !picker.kind.other().is_empty());
    let accept = key(PickerAction::Accept).filter(|_| !picker.kind.verb().is_empty());
    let hints = [(accept, picker.kind.verb()), (other, picker.kind.other())];
    let below = picker.kind.about_lines();
    // The height comes from all items: the sheet stays as it is while one types.
    let read = matches!(picker.kind, Kind::Doctor | Kind::Notice);
    let wide = read || !columns.is_empty() || picker.kind == Kind::Palette;
    let most = if wide { MORE_ROWS } else { ROWS };
    let all = picker.items.len() + picker.groups.len();
    let least = if picker.kind == Kind::Doctor { MORE_ROWS } else { 1 };
    let rows = u16::try_from(all).unwrap_or(u16::MAX).clamp(least, most);
    let heads = u16::from(columns.iter().any(|column| !column.head.is_empty()));
    let around = if below > 0 { below + 1 } else { 0 } + heads;
    let width = if wide { 100 } else { 80 };
    let inner = super::sheet(paint, body, width, rows.saturating_add(2 + around), &title, &hints);
    let field = cells::row(inner, 0);
    let sign = paint.signs.prompt;
    paint.text(field, sign, Role::Accent);
    // What is scrolled away is told beside the text that filters, where it takes no row.
    let wide = if field.width > 2 * MARK { MARK } else { 0 };
    let mark = Rect { width: wide, x: field.right() - wide, ..field };
    let text = cells::after(field, 2);
    let query = Rect { width: text.width.saturating_sub(wide), ..text };
    // What may be a key is one here.
    if picker.kind == Kind::Connection && holds_a_key(picker.query.text()) {
        paint.hidden_line(query, picker.query.text().chars().count(), true);
    } else {
        paint.one_line(query, &picker.query, true);
    }
    if picker.query.text().is_empty() {
        paint.over(text, picker.kind.typed(), Role::Faint);
    }
    let roomy = inner.height > (rows + around).min(8) + 1;
    let gap = if roomy { 2 } else { 1 }.min(inner.height);
    let list = Rect { y: inner.y + gap, height: inner.height - gap, ..inner };
    let (list, about) = split(list, below, rows.min(4) + heads);
    if picker.hits.is_empty() && picker.rows().is_empty() {
        paint.found.overlay_rows = list.height;
        let text = if picker.items.is_empty() { picker.kind.none() } else { "no matches" };
        paint.over(cells::row(list, 0), text, Role::Dim);
        return;
    }
    let shape = Shape::of(picker, usize::from(list.width));
    let list = match heads {
        1 if list.height > 5 && !shape.widths.is_empty() => {
            draw_heads(paint, &shape, columns, cells::row(list, 0));
            Rect { y: list.y + 1, height: list.height - 1, ..list }
        }
        _ => list,
    };
    paint.found.overlay_rows = list.height;
    draw_rows(paint, picker, &shape, list, mark);
    draw_about(paint, picker, about);
}

/// Rows of the list, with its minimum, and those below it for the description.
fn split(area: Rect, below: u16, least: u16) -> (Rect, Rect) {
    let take = match area.height {
        _ if below == 0 => 0,
        height if height > least + below => below + 1,
        // The one line that fits stands right below.
        5.. => 1,
        _ => 0,
    };
    let list = Rect { height: area.height - take, ..area };
    let gap = u16::from(take > 1);
    (list, Rect { y: list.bottom() + gap, height: take - gap.min(take), ..area })
}

fn title(paint: &FrameContext<'_>, picker: &Picker) -> Vec<Piece<'static>> {
    let mut title = vec![paint.piece(picker.kind.title(), Role::PanelTitle)];
    if marks_what_is_set(picker.kind) {
        let of = match picker.sessions.as_slice() {
            [one] => paint.state.sessions.meta(one).map(|meta| clean_line(meta.shown_title()).into_owned()),
            more => Some(figures::count(more.len(), "session", "sessions")),
        };
        let of = of.unwrap_or_default();
        title.push(paint.piece(format!("  {}", cells::cut(&of, 40, paint.signs.cut)), Role::Dim));
        return title;
    }
    match picker.counts() {
        (hits, all) if hits < all => title.push(paint.piece(format!("  {hits} of {all}"), Role::Dim)),
        (_, all) if all > usize::from(ROWS) => title.push(paint.piece(format!("  {all}"), Role::Dim)),
        _ => {}
    }
    title
}

/// Column widths.
struct Shape {
    /// Cells before each name for the sign of what is in force.
    mark: usize,
    /// Cells of the names.
    names: usize,
    /// Cells of the columns that fit, from the first on.
    widths: Vec<usize>,
}

impl Shape {
    fn of(picker: &Picker, room: usize) -> Self {
        // A long list is measured at its beginning.
        let some = || picker.items.iter().take(500);
        let mark = if some().any(|item| item.facts.current || item.facts.health.is_some()) { 2 } else { 0 };
        let names = some().map(|item| cells::width(&item.label)).max().unwrap_or(0);
        // Cells for the sign of what is set, and for its value.
        let names = names + if marks_what_is_set(picker.kind) { 14 } else { 0 };
        let columns = picker.kind.columns();
        if columns.is_empty() {
            return Self { mark, names: names.min(room * 3 / 5), widths: Vec::new() };
        }
        let wide = |(n, column): (usize, &Column)| {
            let texts = some().filter_map(|item| item.facts.columns.get(n)).map(|text| cells::width(text));
            texts.max().unwrap_or(0).max(cells::width(column.head))
        };
        let mut widths: Vec<usize> = columns.iter().enumerate().map(wide).collect();
        let taken = |widths: &[usize]| widths.iter().filter(|wide| **wide > 0).map(|wide| wide + 2).sum::<usize>();
        let least = names.min(NAME) + mark;
        // From the right, what is least missed goes first.
        while least + taken(&widths) > room {
            // The first says what all the others are about: it is rather cut off.
            let rest = room.saturating_sub(least + 2);
            match widths.as_mut_slice() {
                [] => break,
                [only] if rest >= SOME && *only > rest => *only = rest,
                _ => drop(widths.pop()),
            }
        }
        let names = names.min(room.saturating_sub(mark + taken(&widths)));
        Self { mark, names, widths }
    }
}

/// The texts of the columns, each two cells after the one before.
fn in_columns<'t>(shape: &Shape, columns: &[Column], text: impl Fn(usize) -> &'t str, cut: &str) -> String {
    let mut out = String::new();
    for (n, wide) in shape.widths.iter().enumerate().filter(|(_, wide)| **wide > 0) {
        let text = clean_line(text(n));
        let text = cells::cut(&text, *wide, cut);
        let blanks = wide - cells::width(&text).min(*wide);
        match columns.get(n).map(|column| column.side) {
            Some(Side::Right) => {
                let _ = write!(out, "  {:blanks$}{text}", "");
            }
            _ => {
                let _ = write!(out, "  {text}{:blanks$}", "");
            }
        }
    }
    out
}

fn draw_heads(paint: &mut FrameContext<'_>, shape: &Shape, columns: &[Column], row: Rect) {
    let heads = in_columns(shape, columns, |n| columns.get(n).map_or("", |column| column.head), paint.signs.cut);
    let blanks = shape.mark + shape.names;
    paint.over(row, &format!("{:blanks$}{heads}", ""), Role::Faint);
}

fn draw_rows(paint: &mut FrameContext<'_>, picker: &Picker, shape: &Shape, list: Rect, mark: Rect) {
    let rows = picker.rows();
    let height = usize::from(list.height);
    // The selected one stays away from the edge as long as there is more behind it.
    let place = rows.iter().position(|row| *row == PickerRow::Hit(picker.selected)).unwrap_or(0);
    let last = rows.len().saturating_sub(height);
    let first = place.saturating_sub(height / 2).min(last);
    let hidden = scrolled(paint, first, last - first);
    let hidden = [paint.piece(hidden, Role::Dim)];
    paint.sides(mark, &[], &hidden, 0);
    for (n, row) in rows.iter().skip(first).take(height).enumerate() {
        let at = cells::row(list, u16::try_from(n).unwrap_or(u16::MAX));
        match *row {
            PickerRow::Group(group) => draw_group(paint, picker, group, at),
            PickerRow::Hit(hit) => draw_hit(paint, picker, shape, hit, at),
        }
    }
}

/// `↑ 2  ↓ 9 more`: rows that are scrolled away above and below; empty if none are.
pub(super) fn scrolled(paint: &FrameContext<'_>, above: usize, below: usize) -> String {
    let arrows = &paint.signs.arrows;
    match (above, below) {
        (0, 0) => String::new(),
        (above, 0) => format!("{} {above} more", arrows.up),
        (0, below) => format!("{} {below} more", arrows.down),
        (above, below) => format!("{} {above}  {} {below}", arrows.up, arrows.down),
    }
}

fn draw_group(paint: &mut FrameContext<'_>, picker: &Picker, group: usize, row: Rect) {
    let Some(group) = picker.groups.get(group) else { return };
    let mut pieces = vec![paint.piece(clean_line(&group.name).into_owned(), Role::Group)];
    let note = clean_line(&group.note).into_owned();
    match group.since {
        Some(since) => {
            let asked = figures::elapsed(paint.state.clock.now.since(since));
            pieces.push(paint.piece(format!("  {} {note} {asked}", paint.spin()), Role::Running));
        }
        None if !note.is_empty() => pieces.push(paint.piece(format!("  {note}"), Role::Dim)),
        None => {}
    }
    for piece in &mut pieces {
        piece.1 = paint.flat(piece.1);
    }
    paint.pieces(row, &pieces);
}

fn draw_hit(paint: &mut FrameContext<'_>, picker: &Picker, shape: &Shape, n: usize, row: Rect) {
    let Some(hit) = picker.hits.get(n) else { return };
    let Some(item) = picker.items.get(hit.item) else { return };
    let band = Rect { x: row.x.saturating_sub(1), width: row.width + 2, ..row };
    let chosen = n == picker.selected;
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let role = match (&item.value, chosen) {
        (Value::Remark, _) if !matches!(picker.kind, Kind::Doctor | Kind::Notice) => Role::Dim,
        (_, true) => Role::Strong,
        (_, false) if item.facts.off => Role::Dim,
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
        && let Some(key) = paint.key_of(action, Context::Composer)
    {
        right.push(paint.piece(key, Role::Key));
    }
    let columns = picker.kind.columns();
    if columns.is_empty() {
        add_detail(paint, item, shape, &mut label);
    } else {
        let name: String = label.iter().map(|(text, _)| text.as_ref()).collect();
        if cells::width(&name) > shape.names {
            label = vec![paint.piece(cells::cut(&name, shape.names, paint.signs.cut).into_owned(), role)];
        }
        let blanks = shape.names.saturating_sub(cells::pieces_width(&label));
        let text = |n: usize| item.facts.columns.get(n).map_or("", String::as_str);
        let columns = in_columns(shape, columns, text, paint.signs.cut);
        label.push(paint.piece(format!("{:blanks$}{columns}", ""), Role::Dim));
    }
    if shape.mark > 0 {
        let (sign, role) = match item.facts.health {
            Some(Health::Ok) => (paint.signs.marks.check, Role::Good),
            Some(Health::Warn) => (paint.signs.marks.warning, Role::Warning),
            Some(Health::Broken) => (paint.signs.session.failed, Role::Error),
            None if item.facts.current => (paint.signs.marks.check, Role::Accent),
            None => (" ", Role::Accent),
        };
        label.insert(0, paint.piece(format!("{sign} "), role));
    }
    for piece in label.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(row, &label, &right, shape.names.min(usize::from(row.width) / 2));
    paint.target(band, Target::OverlayRow(n));
}

/// Detail beside a name where there are no columns.
fn add_detail(paint: &FrameContext<'_>, item: &Item, shape: &Shape, label: &mut Vec<Piece<'static>>) {
    let detail = clean_line(&item.detail);
    if !detail.trim().is_empty() {
        let blanks = shape.names.saturating_sub(cells::pieces_width(label)) + 2;
        label.push(piece(" ".repeat(blanks), paint.style(Role::Dim)));
        label.push(paint.piece(detail.into_owned(), Role::Dim));
    }
}

/// Description of the selected item.
fn draw_about(paint: &mut FrameContext<'_>, picker: &Picker, area: Rect) {
    let Some(item) = picker.chosen().filter(|_| area.height > 0) else { return };
    if picker.kind == Kind::Theme {
        return draw_swatches(paint, cells::row(area, 0));
    }
    let room = usize::from(area.width);
    let mut lines: Vec<String> = Vec::new();
    for text in &item.facts.about {
        lines.extend(super::sheet::folded(&clean_line(text), room));
    }
    let most = usize::from(area.height);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cells::cut(&format!("{last}{}", paint.signs.cut), room, paint.signs.cut).into_owned();
        }
    }
    for (n, line) in lines.iter().enumerate() {
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Dim);
    }
}

/// The roles of the theme that is looked at, each in its own colours.
fn draw_swatches(paint: &mut FrameContext<'_>, row: Rect) {
    let roles = [
        ("text", Role::Text),
        ("dim", Role::Dim),
        ("accent", Role::Accent),
        ("needs you", Role::NeedsYou),
        ("running", Role::Running),
        ("good", Role::Good),
        ("warning", Role::Warning),
        ("error", Role::Error),
        ("explore", Role::ModeExplore),
        ("ask", Role::ModeAsk),
        ("execute", Role::ModeExecute),
    ];
    let mut rest = row;
    for (word, role) in roles {
        if usize::from(rest.width) < cells::width(word) {
            break;
        }
        let used = paint.over(rest, word, role);
        rest = cells::after(rest, used + 2);
    }
}

/// True if a picker shows which of its items the sessions have.
fn marks_what_is_set(kind: Kind) -> bool {
    matches!(kind, Kind::Status | Kind::Labels)
}

/// The sign before an item that the sessions of the picker have, all or some of them, and the value that they have.
fn set(paint: &FrameContext<'_>, picker: &Picker, value: &Value) -> (Option<&'static str>, Option<String>) {
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
        n if n == metas.len() => paint.signs.marks.check,
        _ => paint.signs.marks.partly,
    };
    (Some(sign), value)
}
