//! Usage and cost of requests: today and in total, then a row for each day, model, session or turn.

use super::super::cells;
use super::super::figures::{count, day, dollars, tokens};
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::usage::{Usage, UsageGrouping};
use crate::domain::At;
use crate::domain::sanitise::clean_line;
use crate::domain::spending::{Sum, UsageGroup};
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Width from which a row has all its figures.
const ROOMY: u16 = 66;

pub(super) fn draw(paint: &mut FrameContext<'_>, usage: &Usage, body: Rect) {
    let rows = usage.rows();
    let mut title = vec![paint.piece("Usage", Role::PanelTitle)];
    title.push(paint.piece(format!("  {}", usage.shown.words()), Role::Dim));
    let next = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox);
    let hint = usage.shown.next().words();
    let sums = summary(usage);
    let wanted = u16::try_from(rows.len().max(1) + sums.len() + 1).unwrap_or(u16::MAX).min(28);
    let inner = super::sheet(paint, body, 100, wanted, &title, &[(next, hint)]);
    let mut area = inner;
    for (what, says) in sums {
        for (n, line) in
            super::sheet::folded(&says, usize::from(area.width.saturating_sub(11)).max(20)).into_iter().enumerate()
        {
            if area.height < 3 {
                break;
            }
            let row = cells::row(area, 0);
            let what = if n == 0 { what } else { "" };
            paint.pieces(row, &[paint.piece(format!("{what:<11}"), Role::Dim), paint.piece(line, Role::Panel)]);
            area = Rect { y: area.y + 1, height: area.height - 1, ..area };
        }
    }
    let gap = u16::from(inner.height > 8 && area.y > inner.y);
    let list = Rect { y: area.y + gap, height: area.height.saturating_sub(gap), ..area };
    paint.found.overlay_rows = list.height;
    if rows.is_empty() {
        let says = match (&usage.spending, usage.shown) {
            (None, _) => format!("reading {}", paint.signs.ellipsis()),
            (Some(_), UsageGrouping::Turns) => "No requests recorded in this session".to_owned(),
            (Some(_), _) => "No requests recorded".to_owned(),
        };
        paint.over(cells::row(list, 0), &says, Role::Dim);
        return;
    }
    let height = usize::from(list.height).max(1);
    let first = usage.selected.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    for (n, group) in rows.iter().enumerate().skip(first).take(height) {
        row(paint, usage, group, n, cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX)));
    }
}

/// Today, all, and what is known only as totals, each with its words.
fn summary(usage: &Usage) -> Vec<(&'static str, String)> {
    let Some(spending) = &usage.spending else { return Vec::new() };
    let mut out = vec![("today", in_words(&spending.today)), ("recorded", in_words(&spending.all))];
    let beyond = spending.beyond;
    if beyond.sessions > 0 {
        let sessions = count(usize::try_from(beyond.sessions).unwrap_or(usize::MAX), "session", "sessions");
        let cost = if beyond.cost_usd > 0.0 { format!(", {}", dollars(beyond.cost_usd)) } else { String::new() };
        out.push(("beyond", format!("{} output tokens{cost} in {sessions}, totals only", tokens(beyond.output))));
    }
    out
}

fn in_words(sum: &Sum) -> String {
    if sum.requests == 0 {
        return "nothing".to_owned();
    }
    let requests = count(usize::try_from(sum.requests).unwrap_or(usize::MAX), "request", "requests");
    format!("{}, {requests}, {} in, {} out", cost(sum), tokens(sum.input), tokens(sum.output))
}

/// Cost, as far as prices are known.
fn cost(sum: &Sum) -> String {
    match (sum.unpriced, sum.requests) {
        (0, _) => dollars(sum.cost_usd),
        (some, all) if some == all => "price unknown".to_owned(),
        (some, _) => format!("{} plus {some} unpriced", dollars(sum.cost_usd)),
    }
}

fn row(paint: &mut FrameContext<'_>, usage: &Usage, group: &UsageGroup, n: usize, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    let chosen = usage.selected == n;
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let name = match usage.shown {
        UsageGrouping::Turns => {
            let at = At(group.key.parse().unwrap_or_default());
            day(at, paint.state.clock.now, paint.state.clock.utc_offset)
        }
        _ if group.name.is_empty() => group.key.clone(),
        _ => group.name.clone(),
    };
    let sum = &group.sum;
    let money = match sum.unpriced {
        0 => dollars(sum.cost_usd),
        all if all == sum.requests => "unknown".to_owned(),
        // More than this, by what is not known.
        _ => format!("{}+?", dollars(sum.cost_usd)),
    };
    let mut left = vec![paint.piece(clean_line(&name).into_owned(), if chosen { Role::Strong } else { Role::Panel })];
    let mut right = Vec::new();
    if area.width >= ROOMY {
        let cached = sum.cache_read.saturating_mul(100).checked_div(sum.input).unwrap_or_default();
        let cached = if cached > 0 { format!("{cached}% cached") } else { String::new() };
        let facts =
            format!("  {:>5} req {:>7} in {cached:>11} {:>7} out", sum.requests, tokens(sum.input), tokens(sum.output));
        right.push(paint.piece(facts, Role::Dim));
    } else if area.width >= 44 {
        right.push(paint.piece(format!("  {} in {} out", tokens(sum.input), tokens(sum.output)), Role::Dim));
    }
    right.push(paint.piece(format!("{money:>10}"), Role::Panel));
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 10);
    paint.target(band, Target::OverlayRow(n));
}
