//! Content of the model's context window: a meter, and the parts with their tokens.

use super::super::cells::{self, Piece};
use super::super::figures::{count, tokens};
use super::super::frame_context::FrameContext;
use crate::app::state::context::{ContextCard, Depth};
use crate::domain::context::{ContextPart, ContextReport, ContextSort, Measured};
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, PickerAction, TurnAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// One line of the card.
struct CardLine {
    /// Kind, for the colour of its sign.
    sort: Option<ContextSort>,
    text: String,
    /// Its tokens, or other words at the right.
    figure: String,
    role: Role,
}

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &ContextCard, body: Rect) {
    let mut title = vec![paint.piece("Context", Role::PanelTitle)];
    if let Some(report) = &card.report {
        title.push(paint.piece(format!("  {}", summed(report)), Role::Dim));
    }
    let next = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox).filter(|_| card.report.is_some());
    let compact = paint.key(Action::Turn(TurnAction::Compact), Context::Global).filter(|_| card.report.is_some());
    let hints = [(next, card.depth.next().word()), (compact, "compact")];
    let lines = card.report.as_ref().map(|report| lines(report, card.depth)).unwrap_or_default();
    let meter = card.report.as_ref().and_then(|report| report.window).map_or(0, |_| 2);
    let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).clamp(1, 60).saturating_add(meter);
    let inner = super::sheet(paint, body, 90, wanted, &title, &hints);
    let Some(report) = &card.report else {
        let text = format!("{} counting", paint.spin());
        paint.over(cells::row(inner, 0), &text, Role::Running);
        return;
    };
    let used = if inner.height > 4 { meter.min(inner.height) } else { 0 };
    if used > 0 {
        draw_meter(paint, report, cells::row(inner, 0));
    }
    let list = Rect { y: inner.y + used, height: inner.height - used, ..inner };
    let height = usize::from(list.height);
    paint.found.overlay_rows = list.height;
    paint.found.overlay_lines = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let scroll = usize::from(card.scroll).min(lines.len().saturating_sub(height));
    for (n, line) in lines.iter().skip(scroll).take(height).enumerate() {
        draw_line(paint, line, cells::row(list, u16::try_from(n).unwrap_or(u16::MAX)));
    }
}

/// `31k of 200k, 15%`.
fn summed(report: &ContextReport) -> String {
    let about = match report.measured {
        Measured::Guessed => "about ",
        Measured::Corrected => "",
    };
    let total = report.total();
    match report.window {
        Some(window) => {
            let percent = total.saturating_mul(100) / window.max(1);
            format!("{about}{} of {} tokens, {percent}%", tokens(total), tokens(window))
        }
        None => format!("{about}{} tokens", tokens(total)),
    }
}

/// The window as a line of cells: what is used by what, what is free, and where it is compacted by itself.
fn draw_meter(paint: &mut FrameContext<'_>, report: &ContextReport, row: Rect) {
    let window = report.window.unwrap_or(1).max(1);
    let width = u64::from(row.width);
    let mut at = 0u64;
    let mut sum = 0u64;
    let mut place = row;
    for (sort, _, its) in report.sums() {
        sum += its;
        // What there is at all is seen, as long as there is room.
        let least = u64::from(its > 0 && at < width);
        let to = (sum.saturating_mul(width) / window).min(width).max((at + least).min(width));
        let sign = paint.signs.meter.used.repeat(usize::try_from(to - at).unwrap_or(0));
        let used = paint.over(place, &sign, colour(sort));
        place = cells::after(place, used);
        at = to;
    }
    let free = paint.signs.meter.free.repeat(usize::try_from(width - at).unwrap_or(0));
    paint.over(place, &free, Role::Faint);
    if let Some(limit) = report.compact_at.filter(|limit| *limit < window) {
        let mark = u16::try_from(limit.saturating_mul(width) / window).unwrap_or(row.width);
        if mark < row.width {
            let rule = paint.signs.lines.rule;
            paint.over(Rect { width: 1, ..cells::after(row, mark) }, rule, Role::Warning);
        }
    }
}

fn colour(sort: ContextSort) -> Role {
    match sort {
        ContextSort::System | ContextSort::Preferences => Role::ModeExplore,
        ContextSort::Memory | ContextSort::Preamble => Role::Good,
        ContextSort::Tool => Role::Accent,
        ContextSort::Carried => Role::Running,
        ContextSort::User => Role::Strong,
        ContextSort::Assistant => Role::ToolVerb,
        ContextSort::Calls => Role::Thinking,
        ContextSort::Results => Role::Warning,
    }
}

fn lines(report: &ContextReport, depth: Depth) -> Vec<CardLine> {
    let line = |sort, text: String, figure: String, role| CardLine { sort, text, figure, role };
    let mut out = Vec::new();
    if report.compacting {
        out.push(line(None, "Compacting now".to_owned(), String::new(), Role::Running));
    }
    for (sort, n, its) in report.sums() {
        let many = match sort {
            ContextSort::System | ContextSort::Preferences | ContextSort::Preamble | ContextSort::Carried => {
                String::new()
            }
            ContextSort::Memory => format!("  {}", count(short(n), "file", "files")),
            _ => format!("  {n}"),
        };
        out.push(line(Some(sort), format!("{}{many}", sort.words()), tokens(its), Role::Text));
        let opened = match sort {
            ContextSort::Tool => depth == Depth::Detail,
            ContextSort::User | ContextSort::Assistant | ContextSort::Calls | ContextSort::Carried => false,
            ContextSort::Results => depth == Depth::Detail && !report.largest.is_empty(),
            _ => depth != Depth::Sums,
        };
        if !opened {
            continue;
        }
        let mut parts: Vec<&ContextPart> = match sort {
            ContextSort::Results => report.largest.iter().collect(),
            _ => report.parts.iter().filter(|part| part.sort == sort).collect(),
        };
        if sort == ContextSort::Tool {
            parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        }
        for part in parts {
            out.push(line(None, format!("  {}", clean_line(&part.name)), tokens(part.tokens), Role::Dim));
        }
    }
    if let Some(free) = report.free() {
        out.push(line(None, "free".to_owned(), tokens(free), Role::Text));
    }
    if let Some(limit) = report.compact_at {
        out.push(line(None, "auto-compact at".to_owned(), tokens(limit), Role::Dim));
    }
    if let Some(reserve) = report.reserve {
        out.push(line(None, "reserved for output".to_owned(), tokens(reserve), Role::Dim));
    }
    if report.window.is_none() {
        let text = "Context window unknown. Set window in [connections.NAME.figures.MODEL].";
        out.push(line(None, text.to_owned(), String::new(), Role::Dim));
    }
    if depth != Depth::Sums {
        for note in &report.notes {
            out.push(line(None, clean_line(note).into_owned(), String::new(), Role::Warning));
        }
        let how = match report.measured {
            Measured::Guessed => "Estimated from text length until the first response.",
            Measured::Corrected => "Server's last count, plus an estimate of what followed.",
        };
        out.push(line(None, how.to_owned(), String::new(), Role::Faint));
    }
    out
}

fn short(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn draw_line(paint: &mut FrameContext<'_>, line: &CardLine, row: Rect) {
    let sign = match line.sort {
        Some(sort) => paint.piece(format!("{} ", paint.signs.meter.used), colour(sort)),
        None => paint.piece("  ", Role::Dim),
    };
    let mut left: Vec<Piece<'_>> = vec![sign, paint.piece(line.text.as_str(), line.role)];
    let mut right: Vec<Piece<'_>> = Vec::new();
    if !line.figure.is_empty() {
        right.push(paint.piece(format!("  {}", line.figure), line.role));
    }
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(row, &left, &right, 10);
}
