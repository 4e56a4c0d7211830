//! Sheets for the trash and for the health of a session's files.

use super::super::cells::{self, Piece};
use super::super::figures::{age, bytes, count};
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::overlay::{Bin, Card};
use crate::domain::sanitise::clean_line;
use crate::domain::session_health::HealthReport;
use crate::domain::trash::Trashed;
use crate::keymap::action::{Action, Context, HealthAction, PickerAction, SessionAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Milliseconds that deleted sessions stay in the trash.
const KEPT: u64 = 30 * DAY;
const DAY: u64 = 86_400_000;
/// Line numbers that are named of one kind of odd lines.
const NAMED: usize = 12;
/// Files that are named of each kind.
const FILES: usize = 20;

pub(super) fn trash(paint: &mut FrameContext<'_>, bin: &Bin, body: Rect) {
    let mut title = vec![paint.piece("Trash", Role::PanelTitle)];
    let rows = bin.rows.as_deref().unwrap_or_default();
    if !rows.is_empty() {
        let all = rows.iter().map(|row| row.bytes).sum();
        title.push(paint.piece(format!("  {} {} {}", rows.len(), paint.signs.dot, bytes(all)), Role::Dim));
    }
    let restore = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox).filter(|_| !rows.is_empty());
    let wanted = u16::try_from(rows.len()).unwrap_or(u16::MAX).clamp(1, 16);
    let inner = super::sheet(paint, body, 92, wanted.saturating_add(2), &title, &[(restore, "restore")]);
    let foot = if inner.height > 4 { 2 } else { 0 };
    let list = Rect { height: inner.height.saturating_sub(foot), ..inner };
    paint.found.overlay_rows = list.height;
    if foot > 0 {
        let row = cells::row(inner, inner.height - 1);
        let text = ["Deleted sessions are kept for 30 days.", "Kept for 30 days."]
            .into_iter()
            .find(|text| cells::width(text) <= usize::from(row.width));
        paint.over(row, text.unwrap_or_default(), Role::Faint);
    }
    match &bin.rows {
        None => {
            paint.over(cells::row(list, 0), &format!("reading {}", paint.signs.ellipsis()), Role::Dim);
        }
        Some(rows) if rows.is_empty() => {
            let key = paint.key(Action::Session(SessionAction::Delete), Context::List);
            let way = key.map(|key| format!(" {key} in the list deletes a session.")).unwrap_or_default();
            for (n, line) in
                super::sheet::folded(&format!("Trash is empty.{way}"), usize::from(list.width)).iter().enumerate()
            {
                paint.over(cells::row(list, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Dim);
            }
        }
        Some(rows) => thrown(paint, rows, bin.selected, list),
    }
}

fn thrown(paint: &mut FrameContext<'_>, rows: &[Trashed], selected: usize, list: Rect) {
    let height = usize::from(list.height).max(1);
    let last = rows.len().saturating_sub(height);
    let first = selected.saturating_sub(height / 2).min(last);
    let roomy = list.width >= 56;
    for (n, row) in rows.iter().enumerate().skip(first).take(height) {
        let area = cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX));
        let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
        let chosen = n == selected;
        if chosen {
            paint.tint(band, Role::Selected);
        }
        let title = if row.title.trim().is_empty() { row.session.as_str() } else { &row.title };
        let mut left =
            vec![paint.piece(clean_line(title).into_owned(), if chosen { Role::Strong } else { Role::Text })];
        if row.cleared {
            left.push(paint.piece("  its messages", Role::Dim));
        }
        let now = paint.state.clock.now;
        let ago = age(row.deleted, now);
        let left_days = row.deleted.plus(KEPT).since(now).div_ceil(DAY);
        let gone = if left_days == 0 { "expiring".to_owned() } else { format!("{left_days}d left") };
        let role = if left_days <= 3 { Role::Warning } else { Role::Faint };
        let mut right = Vec::new();
        if roomy {
            right.push(paint.piece(format!("{:>8}  {ago:>4}  ", bytes(row.bytes)), Role::Dim));
            right.push(paint.piece(format!("{gone:>11}"), role));
        } else {
            right.push(paint.piece(ago, Role::Dim));
        }
        for piece in left.iter_mut().chain(&mut right) {
            piece.1.bg = None;
        }
        paint.sides(area, &left, &right, 12);
        paint.target(band, Target::OverlayRow(n));
    }
}

pub(super) fn health(paint: &mut FrameContext<'_>, card: &Card, body: Rect) {
    let title = [paint.piece("Session files: health", Role::PanelTitle)];
    let can = card.report.as_ref().is_some_and(|report| !report.repairs.is_empty() && !report.repaired);
    let repair = paint.key(Action::Health(HealthAction::Repair), Context::Health).filter(|_| can && !card.busy);
    let again = paint.key(Action::Health(HealthAction::Again), Context::Health).filter(|_| !card.busy);
    let width = if body.width < 60 { body.width } else { 88.min(body.width - 8) };
    let inside = usize::from(width.saturating_sub(4));
    let lines = match &card.report {
        Some(report) => report_lines(paint, report, inside),
        None => vec![vec![paint.piece(format!("{} checking every line", paint.spin()), Role::Running)]],
    };
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inner = super::sheet(paint, body, 88, rows, &title, &[(repair, "repair"), (again, "check again")]);
    paint.found.overlay_rows = inner.height;
    paint.found.overlay_lines = rows;
    let scroll = usize::from(card.scroll.min(rows.saturating_sub(inner.height)));
    for (n, line) in lines.iter().skip(scroll).take(usize::from(inner.height)).enumerate() {
        let bare: Vec<Piece<'_>> =
            line.iter().map(|(text, style)| (text.clone(), Style { bg: None, ..*style })).collect();
        paint.pieces(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), &bare);
    }
}

/// The report as lines of at most `width` cells.
fn report_lines(paint: &FrameContext<'_>, report: &HealthReport, width: usize) -> Vec<Vec<Piece<'static>>> {
    let mut out: Vec<Vec<Piece<'static>>> = Vec::new();
    let (sign, word, role) = match (report.is_sound(), report.repaired) {
        (true, true) => (paint.signs.marks.check, "repaired, no problems left", Role::Good),
        (true, false) => (paint.signs.marks.check, "no problems", Role::Good),
        (false, true) => (paint.signs.marks.warning, "partly repaired", Role::Warning),
        (false, false) => (paint.signs.marks.warning, "problems found", Role::Warning),
    };
    out.push(vec![paint.piece(format!("{sign} {word}"), role)]);
    out.push(Vec::new());
    let many = |n: u64, one: &str, many: &str| count(usize::try_from(n).unwrap_or(usize::MAX), one, many);
    let fact = |out: &mut Vec<Vec<Piece<'static>>>, name: &str, text: String, role: Role| {
        let room = width.saturating_sub(LABEL).max(1);
        for (n, line) in super::sheet::folded(&clean_line(&text), room).into_iter().enumerate() {
            let name = if n == 0 { name } else { "" };
            out.push(vec![paint.piece(format!("{name:LABEL$}"), Role::Dim), paint.piece(line, role)]);
        }
    };
    fact(&mut out, "session", report.session.clone(), Role::Text);
    let lines = many(report.lines, "line", "lines");
    fact(&mut out, "messages", format!("{} in {lines}", report.messages), Role::Text);
    fact(&mut out, "files", format!("{}, {}", many(report.files, "file", "files"), bytes(report.bytes)), Role::Text);
    if let Some(writer) = &report.last_writer {
        fact(&mut out, "written by", writer.clone(), Role::Text);
    }
    fact(&mut out, "held by", report.held_by.clone().unwrap_or_else(|| "none".to_owned()), Role::Text);
    if report.unfinished > 0 {
        let text = format!("{} unfinished, merged when opened", many(report.unfinished, "row", "rows"));
        fact(&mut out, "unfinished", text, Role::Warning);
    }
    for (what, numbers) in &report.odd {
        let mut named: Vec<String> = numbers.iter().take(NAMED).map(u64::to_string).collect();
        if numbers.len() > NAMED {
            named.push(format!("{} more", numbers.len() - NAMED));
        }
        let place = match numbers.len() {
            0 => String::new(),
            1 => format!(": line {}", named.join(", ")),
            _ => format!(": lines {}", named.join(", ")),
        };
        fact(&mut out, "problem", format!("{}{place}", what.trim_end_matches('.')), Role::Warning);
    }
    let files = |out: &mut Vec<Vec<Piece<'static>>>, name: &str, files: &[String], role: Role| {
        for (n, file) in files.iter().take(FILES).enumerate() {
            fact(out, if n == 0 { name } else { "" }, file.clone(), role);
        }
        if files.len() > FILES {
            fact(out, "", format!("and {} more", files.len() - FILES), role);
        }
    };
    files(&mut out, "missing", &report.missing, Role::Warning);
    files(&mut out, "unused", &report.orphans, Role::Dim);
    if !report.repairs.is_empty() {
        out.push(Vec::new());
        let heading = if report.repaired { "Repaired" } else { "Repair would" };
        out.push(vec![paint.piece(heading, Role::Strong)]);
        for repair in &report.repairs {
            for (n, line) in super::sheet::folded(&clean_line(repair), width.saturating_sub(2)).into_iter().enumerate()
            {
                let lead = if n == 0 { format!("{} ", paint.signs.dot) } else { "  ".to_owned() };
                out.push(vec![paint.piece(lead, Role::Dim), paint.piece(line, Role::Text)]);
            }
        }
    }
    out
}

/// Cells of the names of facts.
const LABEL: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::At;

    #[test]
    fn thirty_days_are_kept() {
        assert_eq!(At(0).plus(KEPT).since(At(0)).div_ceil(DAY), 30);
        assert_eq!(At(0).plus(KEPT).since(At(1)).div_ceil(DAY), 30);
        assert_eq!(At(0).plus(KEPT).since(At(31 * 86_400_000)), 0);
    }
}
