//! Audit log of a session: a row for each tool call, and below them all that is known of the selected one.

use super::super::cells;
use super::super::figures::{count, day};
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::audit::Audit;
use crate::domain::audit_log::{AuditEntry, Fate};
use crate::domain::permission::Sandbox;
use crate::domain::sanitise::{clean_line, reveal, reveal_line};
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of what is known of the selected call.
const DETAIL: u16 = 5;
/// Cells of the name of what decided.
const WHO: usize = 12;

pub(super) fn draw(paint: &mut FrameContext<'_>, audit: &Audit, body: Rect) {
    let entries = audit.entries();
    let mut title = vec![paint.piece("Audit log", Role::PanelTitle)];
    if let Some(log) = &audit.log {
        let (all, refused) = (log.entries.len() + log.left_out, log.count(Fate::Refused));
        let dot = paint.signs.dot;
        let mut said = format!("  {} {dot} {refused} refused", count(all, "call", "calls"));
        if audit.shown != Default::default() {
            said = format!("  {} {dot} {}", audit.shown.words(), entries.len());
        }
        title.push(paint.piece(said, Role::Dim));
    }
    let any = audit.log.as_ref().is_some_and(|log| !log.entries.is_empty());
    let next = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox).filter(|_| any);
    let wanted = u16::try_from(entries.len()).unwrap_or(u16::MAX).clamp(1, 24);
    let hint = format!("show {}", audit.shown.next().words());
    let inner = super::sheet(paint, body, 110, wanted.saturating_add(1 + DETAIL), &title, &[(next, hint.as_str())]);
    let detail = if entries.is_empty() { 0 } else { DETAIL.min(inner.height / 2) };
    let gap = u16::from(detail > 0 && inner.height > detail + 3);
    let list = Rect { height: inner.height - detail - gap, ..inner };
    paint.found.overlay_rows = list.height;
    if entries.is_empty() {
        let says = match &audit.log {
            None => format!("reading {}", paint.signs.ellipsis()),
            Some(log) if log.entries.is_empty() => {
                "No tool calls yet. Every call is listed here with who allowed it.".to_owned()
            }
            Some(_) => format!("None: {}.", audit.shown.words()),
        };
        for (n, line) in super::sheet::folded(&says, usize::from(list.width)).into_iter().enumerate() {
            paint.over(cells::row(list, u16::try_from(n).unwrap_or(u16::MAX)), &line, Role::Dim);
        }
        return;
    }
    let height = usize::from(list.height).max(1);
    let last = entries.len().saturating_sub(height);
    let first = audit.selected.saturating_sub(height / 2).min(last);
    for (n, entry) in entries.iter().enumerate().skip(first).take(height) {
        row(paint, entry, n, audit.selected == n, cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX)));
    }
    if let Some(entry) = entries.get(audit.selected) {
        facts(paint, entry, Rect { y: list.bottom() + gap, height: detail, ..inner });
    }
}

fn fate(entry: &AuditEntry) -> Role {
    match entry.fate() {
        Fate::Ran => Role::Good,
        Fate::Refused => Role::Error,
        Fate::Waits => Role::NeedsYou,
        Fate::Dropped | Fate::Elsewhere => Role::Dim,
    }
}

fn row(paint: &mut FrameContext<'_>, entry: &AuditEntry, n: usize, chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let roomy = area.width >= 70;
    let sign = match entry.fate() {
        Fate::Ran => paint.signs.marks.check,
        Fate::Refused => paint.signs.marks.warning,
        Fate::Waits | Fate::Dropped | Fate::Elsewhere => paint.signs.dot,
    };
    let text = if chosen { Role::Strong } else { Role::Text };
    let mut left = vec![
        paint.piece(format!("{sign} "), fate(entry)),
        paint.piece(format!("{:<7}", clean_line(&entry.tool)), Role::ToolVerb),
        paint.piece(reveal_line(entry.subject.trim()), text),
    ];
    let mut right = Vec::new();
    if roomy {
        let who = entry.decision.as_ref().map_or("", |one| short(&one.authority));
        let mode = entry.decision.as_ref().map_or("", |one| one.mode.word());
        let held = entry.decision.as_ref().map_or("", |one| held(one.sandbox));
        right.push(paint.piece(format!("  {mode:<8}{who:<WHO$}{held:<10}"), Role::Dim));
    }
    let time = day(entry.at, paint.state.clock.now, paint.state.clock.utc_offset);
    right.push(paint.piece(format!("{time:>6}"), Role::Faint));
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(n));
}

/// Authority of a decision in a word or two; the full text is below the list.
fn short(authority: &crate::domain::permission::Authority) -> &'static str {
    use crate::domain::permission::Authority;
    match authority {
        Authority::Mode => "mode",
        Authority::Rule(_) => "a rule",
        Authority::Grant(_) => "answered",
        Authority::Person => "you",
        Authority::Typed => "typed",
        Authority::Nobody => "nobody",
    }
}

fn held(sandbox: Sandbox) -> &'static str {
    match sandbox {
        Sandbox::None => "",
        Sandbox::ReadOnly => "read-only",
        Sandbox::Workspace => "workspace",
    }
}

/// All that is known of a call.
fn facts(paint: &mut FrameContext<'_>, entry: &AuditEntry, area: Rect) {
    let mut said = vec![format!("{} {}", entry.tool, reveal(&entry.subject))];
    let exit = entry.exit.map(|code| format!(", exit {code}")).unwrap_or_default();
    match &entry.decision {
        Some(decision) => {
            let held = match decision.sandbox {
                Sandbox::None => "",
                Sandbox::ReadOnly => ", in the read-only sandbox",
                Sandbox::Workspace => ", in the workspace sandbox",
            };
            let word = entry.fate().word();
            let who = clean_line(&decision.by()).into_owned();
            said.push(format!("{word} in {}, decided by {who}{held}{exit}", decision.mode.shown()));
            said.push(reveal(&decision.reason));
        }
        None => said.push(match entry.fate() {
            Fate::Waits => "waiting for an answer".to_owned(),
            Fate::Elsewhere => format!("run by another program, no audit log{exit}"),
            _ => "ended before a decision".to_owned(),
        }),
    }
    let width = usize::from(area.width);
    let mut rows = said.iter().filter(|text| !text.is_empty()).enumerate().flat_map(|(n, text)| {
        let role = if n == 0 { Role::Strong } else { Role::Dim };
        // A long command must not push what was decided out of sight.
        let most = if n == 0 { 2 } else { usize::MAX };
        let mut lines = super::sheet::folded(text, width);
        if lines.len() > most {
            let rest = lines.split_off(most - 1).join(" ");
            lines.push(cells::cut(&rest, width, paint.signs.cut).into_owned());
        }
        lines.into_iter().map(move |line| (line, role))
    });
    for n in 0..area.height {
        let Some((line, role)) = rows.next() else { break };
        paint.over(cells::row(area, n), &line, role);
    }
}
