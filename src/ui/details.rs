//! The pane beside the conversation on a wide screen: how full the context is, how far the plan is, what goes on in the
//! background, what was spawned, what changed. Beside a session that has nothing yet: what was done here before.

use super::cells;
use super::figures::{age, count, dollars, elapsed, tokens};
use super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::open::Open;
use crate::domain::SessionMeta;
use crate::domain::attention::Attention;
use crate::domain::diff::FileDiff;
use crate::domain::message::Body;
use crate::domain::plan::StepStatus;
use crate::domain::sanitise::clean_line;
use crate::domain::tool::{TodoStatus, ToolStatus};
use crate::keymap::action::{Action, Context, PaneAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Steps and files at the most.
const ROWS: usize = 14;
/// Commands and sessions at the most.
const LISTED: usize = 8;
/// Number of listed sessions that are searched for those of the same directory.
const LOOKED_AT: usize = 400;

pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let mut y = 0;
    let Some(open) = paint.state.current_open() else { return };
    context(paint, inner, &mut y);
    steps(paint, open, inner, &mut y);
    background(paint, open, inner, &mut y);
    spawned(paint, inner, &mut y);
    files(paint, open, inner, &mut y);
    if open.chat.entries.is_empty() {
        earlier(paint, inner, &mut y);
    }
    if y == 0 {
        let key = paint.key(Action::Pane(PaneAction::Details), Context::Global);
        let hides = key.map(|key| format!(" {key} to hide")).unwrap_or_default();
        let text = format!("Plans, changed files and context usage appear here.{hides}");
        for (n, line) in cells::wrap(&text, usize::from(inner.width)).into_iter().enumerate() {
            paint.text(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), &line, Role::Faint);
        }
    }
}

/// Commands that go on beside the turns.
fn background(paint: &mut FrameContext<'_>, open: &Open, area: Rect, y: &mut u16) {
    let running: Vec<_> = open.jobs.iter().filter(|job| job.runs()).collect();
    if running.is_empty() {
        return;
    }
    heading(paint, area, y, "Background", &count(running.len(), "command", "commands"));
    for job in running.into_iter().take(LISTED) {
        let right = [paint.piece(elapsed(paint.state.clock.now.since(job.since)), Role::Dim)];
        let left = [
            paint.piece(format!("{} ", paint.spin_slowly()), Role::Running),
            paint.piece(clean_line(&job.command).into_owned(), Role::Text),
        ];
        paint.sides(cells::row(area, *y), &left, &right, 8);
        *y += 1;
    }
}

/// The sessions that this one spawned, the last one first.
fn spawned(paint: &mut FrameContext<'_>, area: Rect, y: &mut u16) {
    let state = paint.state;
    let Some(id) = state.current_id() else { return };
    let below = state.sessions.spawned_by(id);
    if below.is_empty() {
        return;
    }
    heading(paint, area, y, "Spawned", &count(below.len(), "session", "sessions"));
    for meta in below.into_iter().rev().take(LISTED) {
        session(paint, meta, area, y);
    }
}

/// The latest sessions that worked in the same directory.
fn earlier(paint: &mut FrameContext<'_>, area: Rect, y: &mut u16) {
    let state = paint.state;
    let Some(here) = state.current_meta() else { return };
    // Of the first ones of the list, so that ten thousand sessions cost no more than a few hundred.
    let known = state.sessions.order().take(LOOKED_AT).filter_map(|id| state.sessions.meta(id));
    let mut same: Vec<&SessionMeta> =
        known.filter(|meta| meta.cwd == here.cwd && meta.id != here.id && meta.messages > 0).collect();
    same.sort_by_key(|meta| std::cmp::Reverse(meta.last_message));
    if same.is_empty() {
        return;
    }
    let place = clean_line(&paint.home_path(&here.cwd)).into_owned();
    heading(paint, area, y, "Earlier here", "");
    let shown = cells::cut_start(&place, usize::from(area.width), paint.signs.cut).into_owned();
    paint.text(cells::row(area, *y), &shown, Role::Faint);
    *y += 1;
    for meta in same.into_iter().take(LISTED) {
        session(paint, meta, area, y);
    }
}

/// One session: its state, its title, and how long ago it was. A click opens it.
fn session(paint: &mut FrameContext<'_>, meta: &SessionMeta, area: Rect, y: &mut u16) {
    let (sign, role) = match meta.attention() {
        Attention::NeedsYou(_) => (paint.signs.session.needs_you, Role::NeedsYou),
        Attention::Running => (paint.spin_slowly(), Role::Running),
        Attention::Failed(_) => (paint.signs.session.failed, Role::Error),
        Attention::Interrupted(_) => (paint.signs.session.interrupted, Role::Warning),
        _ => (paint.signs.dot, Role::Dim),
    };
    let right = [paint.piece(age(meta.last_message, paint.state.clock.now), Role::Dim)];
    let title = clean_line(meta.shown_title()).into_owned();
    let left = [paint.piece(format!("{sign} "), role), paint.piece(title, Role::Text)];
    let row = cells::row(area, *y);
    paint.sides(row, &left, &right, 8);
    paint.target(row, Target::ListRow(meta.id.clone()));
    *y += 1;
}

fn heading(paint: &mut FrameContext<'_>, area: Rect, y: &mut u16, text: &str, right: &str) {
    if *y > 0 {
        *y += 1;
    }
    let row = cells::row(area, *y);
    let (left, right) = ([paint.piece(text.to_owned(), Role::Group)], [paint.piece(right.to_owned(), Role::Dim)]);
    paint.sides(row, &left, &right, cells::width(text));
    *y += 1;
}

fn context(paint: &mut FrameContext<'_>, area: Rect, y: &mut u16) {
    let Some(usage) = paint.state.current_meta().map(|meta| meta.usage.clone()) else { return };
    // Before the first request there is nothing to tell.
    if usage.context_tokens == 0 && usage.cost_usd <= 0.0 {
        return;
    }
    let cost = if usage.cost_usd > 0.0 { dollars(usage.cost_usd) } else { String::new() };
    heading(paint, area, y, "Context", &cost);
    let row = cells::row(area, *y);
    *y += 1;
    let Some((percent, window)) = usage.context_share() else {
        let text = format!("{} tokens, window unknown", tokens(usage.context_tokens));
        paint.text(row, &text, Role::Dim);
        return;
    };
    let role = if percent >= 80 { Role::Warning } else { Role::Text };
    let words = format!(" {percent}% of {}", tokens(window));
    let room = usize::from(row.width).saturating_sub(cells::width(&words));
    let full = usize::try_from(percent.min(100)).unwrap_or(100) * room / 100;
    let (full_sign, empty_sign) = (paint.signs.meter.full, paint.signs.meter.empty);
    let pieces = [
        paint.piece(full_sign.repeat(full), role),
        paint.piece(empty_sign.repeat(room - full), Role::Faint),
        paint.piece(words, role),
    ];
    paint.pieces(row, &pieces);
}

fn steps(paint: &mut FrameContext<'_>, open: &Open, area: Rect, y: &mut u16) {
    let plan = open.plan.as_ref().filter(|plan| !plan.over);
    let rows: Vec<(&'static str, Role, String)> = match plan {
        Some(plan) => {
            let (done, of) = plan.figures();
            heading(paint, area, y, "Plan", &format!("{done} of {of}"));
            plan.steps
                .iter()
                .filter(|step| !step.struck)
                .map(|step| step_row(paint, step.status, step.line()))
                .collect()
        }
        None if open.todo.is_empty() => return,
        None => {
            let done = open.todo.iter().filter(|item| item.status == TodoStatus::Completed).count();
            heading(paint, area, y, "Todo", &format!("{done} of {}", open.todo.len()));
            let status = |status| match status {
                TodoStatus::Completed => StepStatus::Done,
                TodoStatus::InProgress => StepStatus::Running,
                TodoStatus::Pending => StepStatus::Open,
            };
            open.todo.iter().map(|item| step_row(paint, status(item.status), &item.content)).collect()
        }
    };
    // What is done goes first where there are too many.
    let skip = rows.len().saturating_sub(ROWS).min(rows.iter().take_while(|row| row.1 == Role::Faint).count());
    for (sign, role, text) in rows.into_iter().skip(skip).take(ROWS) {
        let pieces = [paint.piece(format!("{sign} "), role), paint.piece(text, role)];
        paint.pieces(cells::row(area, *y), &pieces);
        *y += 1;
    }
}

fn step_row(paint: &FrameContext<'_>, status: StepStatus, text: &str) -> (&'static str, Role, String) {
    let (sign, role) = match status {
        StepStatus::Done => (paint.signs.marks.check, Role::Faint),
        StepStatus::Running => (paint.spin_slowly(), Role::Running),
        StepStatus::Failed => (paint.signs.marks.warning, Role::Error),
        _ => (paint.signs.dot, Role::Dim),
    };
    (sign, role, clean_line(text).into_owned())
}

/// The files that calls of this conversation wrote, as far as it is loaded, the latest first.
fn files(paint: &mut FrameContext<'_>, open: &Open, area: Rect, y: &mut u16) {
    let mut files: Vec<(String, u32, u32)> = Vec::new();
    for entry in open.chat.entries.iter().rev() {
        let Body::Tool(call) = &entry.message.body else { continue };
        let Some(FileDiff { path, added, removed, .. }) = &call.figures.diff else { continue };
        if call.status != ToolStatus::Completed {
            continue;
        }
        match files.iter_mut().find(|file| file.0 == *path) {
            Some(file) => (file.1, file.2) = (file.1 + added, file.2 + removed),
            None => files.push((path.clone(), *added, *removed)),
        }
    }
    if files.is_empty() {
        return;
    }
    heading(paint, area, y, "Changed", &count(files.len(), "file", "files"));
    let more = files.len().saturating_sub(ROWS);
    for (path, added, removed) in files.into_iter().take(ROWS) {
        let right = [
            paint.piece(format!("+{added} "), Role::DiffAdded),
            paint.piece(format!("{}{removed}", paint.signs.minus), Role::DiffRemoved),
        ];
        let room = usize::from(area.width).saturating_sub(cells::pieces_width(&right) + 2);
        let shown = clean_line(&path).into_owned();
        let left = [paint.piece(cells::cut_start(&shown, room, paint.signs.cut).into_owned(), Role::Text)];
        paint.sides(cells::row(area, *y), &left, &right, 8);
        *y += 1;
    }
    if more > 0 {
        let text = format!("and {more} more");
        paint.text(cells::row(area, *y), &text, Role::Faint);
        *y += 1;
    }
}
