//! The sources of a session: a row each, and below them all that is known of the selected one.

use super::super::cells;
use super::super::figures::{count, tokens};
use super::super::frame_context::FrameContext;
use super::rows::RowSheet;
use crate::app::msg::Target;
use crate::app::state::session_rows::SourcesCard;
use crate::domain::lookalike::expose_line;
use crate::domain::source::{SourceState, SourceView};
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of what is known of the selected source.
const DETAIL: u16 = 8;
/// Columns below which a row names no program and no number of tools.
const NARROW: u16 = 60;
/// Columns of a slug.
const SLUG: usize = 18;

/// Explanation of how a source is made.
const EMPTY: &str = "No sources. Add one with `lisle sources add NAME -- PROGRAM ARG…` or `lisle sources add NAME URL`, or put a \
 .mcp.json into the project.";

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &SourcesCard, body: Rect) {
    let rows = card.rows();
    let mut title = vec![paint.piece("Sources", Role::PanelTitle)];
    let cost: u64 = rows.iter().filter(|source| source.on).map(SourceView::tokens).sum();
    if cost > 0 {
        title.push(paint.piece(format!("  {} tokens in each request", tokens(cost)), Role::Dim));
    }
    let verb = if card.chosen().is_some_and(|source| source.on) { "turn off" } else { "turn on" };
    let toggle = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox).filter(|_| !rows.is_empty());
    let sheet = RowSheet {
        title: &title,
        hints: &[(toggle, verb)],
        rows: rows.len(),
        most: 12,
        detail: DETAIL,
        foot: 0,
        empty: EMPTY,
    };
    let (inner, _) = sheet.open(paint, body);
    let Some(parts) = sheet.parts(paint, (body, inner), card.selected, card.known.is_some()) else { return };
    for (n, one, area) in parts.of(rows) {
        row(paint, one, n, card.selected == n, area);
    }
    if let Some(source) = card.chosen() {
        facts(paint, source, parts.detail);
    }
}

fn state(source: &SourceView) -> (&'static str, Role) {
    let role = match source.state {
        SourceState::Ready => Role::Good,
        SourceState::Starting => Role::Running,
        SourceState::Failed { .. } => Role::Error,
        SourceState::NotTrusted => Role::Warning,
        SourceState::Idle | SourceState::Unsupported { .. } => Role::Dim,
    };
    (source.state.word(), role)
}

fn row(paint: &mut FrameContext<'_>, source: &SourceView, n: usize, chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let text = match (chosen, source.on) {
        (true, _) => Role::Strong,
        (false, true) => Role::Text,
        (false, false) => Role::Dim,
    };
    let on = if source.on { "on " } else { "off" };
    let slug = cells::cut(&source.slug, SLUG, paint.signs.cut).into_owned();
    let mut left = vec![
        paint.piece(format!("{on}  "), if source.on { Role::Good } else { Role::Dim }),
        paint.piece(format!("{slug:<SLUG$}  "), text),
    ];
    if area.width >= NARROW {
        left.push(paint.piece(expose_line(&source.target), Role::Dim));
    }
    let (word, role) = state(source);
    let mut right = vec![paint.piece(format!("  {word:>13}"), role)];
    if area.width >= NARROW {
        let tools = if source.tools.is_empty() { String::new() } else { count(source.tools.len(), "tool", "tools") };
        right.push(paint.piece(format!("  {tools:>9}"), Role::Dim));
    }
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(n));
}

/// Details that the row has no room for: why it does not run, its file, its tools.
fn facts(paint: &mut FrameContext<'_>, source: &SourceView, area: Rect) {
    let width = usize::from(area.width);
    let mut lines: Vec<(String, Role)> = vec![(expose_line(&source.name), Role::Strong)];
    if let Some(why) = source.state.why() {
        let folded = super::sheet::folded(&expose_line(why), width);
        lines.extend(folded.into_iter().take(3).map(|line| (line, state(source).1)));
    }
    if source.state == SourceState::NotTrusted {
        lines.push(("/trust shows what it would start".to_owned(), Role::Warning));
    }
    lines.push((expose_line(&paint.home_path(&source.file)), Role::Dim));
    let read_only = source.tools.iter().filter(|tool| tool.read_only).count();
    if !source.tools.is_empty() {
        let cost = tokens(source.tokens());
        let text = format!("{}, {read_only} read-only, {cost} tokens", count(source.tools.len(), "tool", "tools"));
        lines.push((text, Role::Text));
        let names: Vec<&str> = source.tools.iter().map(|tool| tool.name.as_str()).collect();
        let folded = super::sheet::folded(&names.join("  "), width);
        lines.extend(folded.into_iter().map(|line| (line, Role::Dim)));
    }
    for (n, (line, role)) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), &line, role);
    }
}
