//! The commands of a session in the background: a row each, and below them the selected one with its last lines.

use super::super::cells;
use super::super::figures::{bytes, count};
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::overlay::JobsCard;
use crate::domain::job::JobShown;
use crate::domain::lookalike::expose;
use crate::domain::sanitise::{clean, clean_line};
use crate::keymap::action::{Action, Context, JobAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of the selected one.
const DETAIL: u16 = 12;
/// Rows of its command.
const COMMAND: usize = 3;

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &JobsCard, body: Rect) {
    let jobs = paint.state.conversations.open.get(&card.session).map(|open| open.jobs.as_slice()).unwrap_or_default();
    let at = card.place(jobs);
    let running = jobs.iter().filter(|job| job.runs()).count();
    let mut title = vec![paint.piece("Background jobs", Role::PanelTitle)];
    if running > 0 {
        title.push(paint.piece(format!("  {}", count(running, "runs", "run")), Role::Dim));
    }
    let kill =
        paint.key(Action::Job(JobAction::Kill), Context::Jobs).filter(|_| jobs.get(at).is_some_and(JobShown::runs));
    let rows = u16::try_from(jobs.len()).unwrap_or(u16::MAX).clamp(1, 12);
    let need = if jobs.is_empty() { 2 } else { rows + 1 + DETAIL };
    let inner = super::sheet(paint, body, 100, need, &title, &[(kill, "end")]);
    if jobs.is_empty() {
        paint.found.overlay_rows = inner.height;
        let text = "No background jobs. The agent runs servers and long builds here; they stop when lisle quits.";
        for (n, line) in
            super::sheet::folded(text, usize::from(inner.width)).into_iter().enumerate().take(usize::from(inner.height))
        {
            paint.over(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), &line, Role::Dim);
        }
        return;
    }
    let detail = DETAIL.min(inner.height.saturating_sub(2) * 2 / 3);
    let gap = u16::from(inner.height > detail + 2);
    let list = Rect { height: rows.min(inner.height - detail - gap).max(1), ..inner };
    paint.found.overlay_rows = list.height;
    let height = usize::from(list.height).max(1);
    let first = at.saturating_sub(height / 2).min(jobs.len().saturating_sub(height));
    for (n, job) in jobs.iter().enumerate().skip(first).take(height) {
        row(paint, job, n, n == at, cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX)));
    }
    if let Some(job) = jobs.get(at) {
        let top = list.bottom() + gap;
        facts(paint, job, Rect { y: top, height: inner.bottom().saturating_sub(top), ..inner });
    }
}

/// `12 s`, `3 min`, `2 h 5 min`.
fn lasted(job: &JobShown, now: crate::domain::At) -> String {
    let until = job.end.as_ref().map_or(now, |end| end.at);
    match until.since(job.since) / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn row(paint: &mut FrameContext<'_>, job: &JobShown, n: usize, chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let command = job.command.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match (chosen, job.runs()) {
        (true, _) => Role::Strong,
        (false, true) => Role::Text,
        (false, false) => Role::Dim,
    };
    let (word, role) = match &job.end {
        None => ("runs".to_owned(), Role::Running),
        Some(end) => (clean_line(&end.words).into_owned(), if end.failed { Role::Error } else { Role::Dim }),
    };
    let mut left = vec![paint.piece(format!("{}  ", job.id), Role::Dim), paint.piece(expose(&command), text)];
    let mut right = vec![paint.piece(format!("  {word}"), role)];
    right.push(paint.piece(format!("  {:>8}", lasted(job, paint.state.clock.now)), Role::Dim));
    if area.width >= 56 {
        right.push(paint.piece(format!("  {:>9}", bytes(job.bytes)), Role::Dim));
    }
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(n));
}

/// The whole command, and what it wrote last.
fn facts(paint: &mut FrameContext<'_>, job: &JobShown, area: Rect) {
    let width = usize::from(area.width).max(1);
    let mut lines: Vec<(String, Role)> = Vec::new();
    let command = cells::wrap(&format!("$ {}", expose(&job.command)), width);
    let cut = command.len() > COMMAND;
    lines.extend(command.into_iter().take(COMMAND).map(|line| (line, Role::Strong)));
    if cut && let Some((line, _)) = lines.last_mut() {
        line.push_str(paint.signs.cut);
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    let said = clean(&job.last).into_owned();
    let said: Vec<&str> = said.lines().collect();
    let last: Vec<(String, Role)> = match said.as_slice() {
        [] => vec![("No output yet".to_owned(), Role::Dim)],
        said => {
            said.iter().map(|line| (cells::cut(line, width, paint.signs.cut).into_owned(), Role::ToolOutput)).collect()
        }
    };
    let skip = last.len().saturating_sub(room);
    lines.extend(last.into_iter().skip(skip));
    for (n, (line, role)) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), &line, role);
    }
}
