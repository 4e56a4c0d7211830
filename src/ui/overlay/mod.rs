//! Sheets over the panes: one raised sheet at a time, without a frame where its background shows.

mod ask;
mod audit;
mod cards;
mod changes;
mod context;
mod find;
mod help;
mod inbox;
mod jobs;
mod picker;
mod queue;
mod rules;
mod undo;
mod usage;
mod welcome;
mod which_key;

use super::cells::{self, Piece};
use super::layout::Layout;
use super::paint::Paint;
use crate::app::msg::Target;
use crate::app::state::overlay::Overlay;
use crate::keymap::action::{Action, AppAction, Context, PickerAction};
use crate::theme::Role;
pub(super) use help::LaidTopic;
use ratatui::layout::Rect;
pub(super) use welcome::welcome;

/// Draws the topmost overlay.
pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let state = paint.state;
    let Some(top) = state.overlay() else { return };
    // The caret of what lies below is not the one that types.
    paint.cursor = None;
    let body = Rect { height: area.height.saturating_sub(1), ..area };
    match top {
        Overlay::Help(help) => help::draw(paint, help, body),
        Overlay::Picker(picker) => picker::draw(paint, picker, body),
        Overlay::Inbox(inbox) => inbox::draw(paint, inbox, body),
        Overlay::Find => find::draw(paint, body),
        Overlay::Confirm(asked) => ask::confirm(paint, asked, body),
        Overlay::Prompt(prompt) => ask::prompt(paint, prompt, body),
        Overlay::Trash(bin) => cards::trash(paint, bin, body),
        Overlay::Audit(audit) => audit::draw(paint, audit, body),
        Overlay::Context(card) => context::draw(paint, card, body),
        Overlay::Usage(usage) => usage::draw(paint, usage, body),
        Overlay::Rules(known) => rules::draw(paint, known, body),
        Overlay::Jobs(card) => jobs::draw(paint, card, body),
        Overlay::Queue(card) => queue::draw(paint, card, body),
        Overlay::Health(card) => cards::health(paint, card, body),
        Overlay::Undo(card) => undo::draw(paint, card, body),
        Overlay::Changes(card) => changes::draw(paint, card, body),
        Overlay::Rename(rename) => {
            let title = [paint.piece("Rename the session", Role::PanelTitle)];
            let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Search);
            let inner = sheet(paint, body, 60, 2, &title, &[(accept, "rename")]);
            let row = cells::row(inner, 0);
            let sign = paint.signs.prompt;
            paint.text(row, sign, Role::Accent);
            paint.one_line(cells::after(row, 2), &rename.title, true);
        }
        Overlay::ConfirmQuit => {
            let title = [paint.piece("Quit?", Role::NeedsYou)];
            let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Confirm);
            let width =
                usize::from(if body.width < 60 { body.width } else { 60.min(body.width - 8) }.saturating_sub(4));
            let lines = folded(&state.at_the_end(), width);
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            let inner = sheet(paint, body, 60, rows, &title, &[(accept, "quit")]);
            for (n, line) in lines.iter().enumerate() {
                paint.over(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Text);
            }
        }
    }
}

/// A text in lines of at most `width` cells, broken between words.
fn folded(text: &str, width: usize) -> Vec<String> {
    let span = ratatui::text::Span::raw(text);
    let lines = super::text::wrap(&[span], width.max(1), &[], &[], super::text::Fold::Words);
    lines.iter().map(ToString::to_string).collect()
}

/// Rows below which a sheet has the whole screen.
const SMALL: u16 = 18;

/// Clears a sheet of at most `width` by `rows` for its content and writes its title with `hints` and the way out. Where
/// they do not fit beside the title they stand below the content, which gets fewer rows: no answer is lost.
/// Returns the rectangle for the content. On a small screen it is the whole screen.
fn sheet(
    paint: &mut Paint<'_>,
    body: Rect,
    width: u16,
    rows: u16,
    title: &[Piece<'_>],
    hints: &[(Option<String>, &str)],
) -> Rect {
    let small = body.width < 60 || body.height < SMALL;
    let framed = paint.style(Role::Panel).bg.is_none();
    let close = paint.key(Action::App(AppAction::Back), Context::Global);
    let mut all = hints.to_vec();
    all.push((close, "close"));
    let width = if small { body.width } else { width.min(body.width - 8) / 2 * 2 };
    let below = hints_below(paint, title, &all, usize::from(width.saturating_sub(4)));
    let area = if small {
        body
    } else {
        // Title and content, with a blank row around.
        let more = u16::try_from(below.len()).unwrap_or(0);
        let height = rows.saturating_add(4 + more).min(body.height - 4);
        Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 4, width, height }
    };
    paint.fill(area, Role::Panel);
    if framed && !small {
        frame(paint, area);
    }
    paint.target(area, Target::Overlay);
    let inset = u16::from(!small);
    let inner = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + inset.min(area.height),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2 * inset),
    };
    let beside = if below.is_empty() { paint.hints(&all) } else { Vec::new() };
    paint.sides(cells::row(inner, 0), title, &beside, cells::pieces_width(title));
    let gap = if small { 1 } else { 2 }.min(inner.height);
    let under = u16::try_from(below.len()).unwrap_or(0).min(inner.height - gap);
    for (n, line) in (inner.height - under..inner.height).zip(&below) {
        paint.pieces(cells::row(inner, n), line);
    }
    Rect { y: inner.y + gap, height: inner.height - gap - under, ..inner }
}

/// The hints in rows of `width` cells where they do not fit beside the title; none where they do.
fn hints_below(
    paint: &Paint<'_>,
    title: &[Piece<'_>],
    hints: &[(Option<String>, &str)],
    width: usize,
) -> Vec<Vec<Piece<'static>>> {
    let beside = cells::pieces_width(&paint.hints(hints));
    if cells::pieces_width(title) + 2 + beside <= width {
        return Vec::new();
    }
    let (mut rows, mut row) = (Vec::new(), Vec::<(Option<String>, &str)>::new());
    for hint in hints.iter().filter(|(key, _)| key.is_some()) {
        row.push(hint.clone());
        if row.len() > 1 && cells::pieces_width(&paint.hints(&row)) > width {
            row.pop();
            rows.push(paint.hints(&row));
            row = vec![hint.clone()];
        }
    }
    rows.push(paint.hints(&row));
    rows
}

/// A thin line around, for themes whose sheets have no ground of their own.
fn frame(paint: &mut Paint<'_>, area: Rect) {
    let [top_left, top_right, bottom_left, bottom_right] = paint.signs.corners;
    let (line, side) = (paint.signs.line.repeat(usize::from(area.width.saturating_sub(2))), paint.signs.rule);
    let right = area.width.saturating_sub(1);
    for n in 0..area.height {
        let row = cells::row(area, n);
        let (left, end) = match n {
            0 => (top_left, top_right),
            n if n + 1 == area.height => (bottom_left, bottom_right),
            _ => (side, side),
        };
        paint.text(row, left, Role::Rule);
        if n == 0 || n + 1 == area.height {
            paint.text(cells::after(row, 1), &line, Role::Rule);
        }
        paint.text(cells::after(row, right), end, Role::Rule);
    }
}

/// The strip of what can follow an unfinished chord.
pub(super) fn which_key(paint: &mut Paint<'_>, layout: &Layout) {
    which_key::draw(paint, layout);
}
