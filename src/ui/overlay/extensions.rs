//! The extensions of a session: a row each, and below them all that is known of the selected one.

use super::super::cells;
use super::super::figures::tokens;
use super::super::frame_context::FrameContext;
use super::rows::RowSheet;
use crate::app::msg::Target;
use crate::app::state::session_rows::ExtensionsCard;
use crate::domain::extension::{ExtensionKind, ExtensionState, ExtensionView};
use crate::domain::lookalike::expose_line;
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of what is known of the selected extension.
const DETAIL: u16 = 7;
/// Columns below which a row has no origin and no cost.
const NARROW: u16 = 60;
/// Columns below which a row has no description.
const WIDE: u16 = 84;
/// Columns of a name.
const NAME: usize = 20;

/// Explanation of where extensions come from.
const EMPTY: &str = "No extensions. Skills, agents and commands are files below skills/, agents/ and commands/ of the workspace, \
 .claude/ or .agents/ of the repository, and ~/.claude; sources are added with `lisle sources add`. See /help skills.";

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &ExtensionsCard, body: Rect) {
    let rows = card.rows();
    let mut title = vec![paint.piece("Extensions", Role::PanelTitle)];
    let cost: u64 = rows.iter().map(|one| one.tokens).sum();
    if cost > 0 {
        title.push(paint.piece(format!("  {} tokens in each request", tokens(cost)), Role::Dim));
    }
    let verb = card.chosen().map_or("use", verb);
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox).filter(|_| !rows.is_empty());
    let sheet = RowSheet {
        title: &title,
        hints: &[(accept, verb)],
        rows: rows.len(),
        most: 14,
        detail: DETAIL,
        foot: 0,
        empty: EMPTY,
    };
    let (inner, _) = sheet.open(paint, body);
    let Some(parts) = sheet.parts(paint, (body, inner), card.selected, card.known.is_some()) else { return };
    for (n, one, area) in parts.of(rows) {
        row(paint, one, n, card.selected == n, area);
    }
    if let Some(one) = card.chosen() {
        facts(paint, one, parts.detail);
    }
}

/// Effect of Enter on an extension.
fn verb(one: &ExtensionView) -> &'static str {
    match (&one.state, one.kind) {
        (ExtensionState::NotTrusted, _) => "review",
        (ExtensionState::On, ExtensionKind::Source) => "turn off",
        (ExtensionState::Off { .. }, ExtensionKind::Source) => "turn on",
        (ExtensionState::On, _) => "use",
        (ExtensionState::Off { .. } | ExtensionState::Failed { .. }, _) => "explain",
    }
}

fn role(one: &ExtensionView) -> Role {
    match one.state {
        ExtensionState::On => Role::Good,
        ExtensionState::Off { .. } => Role::Dim,
        ExtensionState::NotTrusted => Role::Warning,
        ExtensionState::Failed { .. } => Role::Error,
    }
}

fn row(paint: &mut FrameContext<'_>, one: &ExtensionView, n: usize, chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let text = match (chosen, &one.state) {
        (true, _) => Role::Strong,
        (false, ExtensionState::On) => Role::Text,
        (false, _) => Role::Dim,
    };
    let name = expose_line(&one.name);
    let name = cells::cut(&name, NAME, paint.signs.cut).into_owned();
    let mut left =
        vec![paint.piece(format!("{:7}  ", one.kind.word()), Role::Dim), paint.piece(format!("{name:<NAME$}  "), text)];
    let mut right = vec![paint.piece(format!("  {:>11}", one.state.word()), role(one))];
    if area.width >= WIDE {
        left.push(paint.piece(expose_line(&one.description), Role::Dim));
    }
    if area.width >= NARROW {
        right.push(paint.piece(format!("  {:10}", one.origin.word()), Role::Dim));
        let cost = if one.tokens == 0 { String::new() } else { tokens(one.tokens) };
        right.push(paint.piece(format!(" {cost:>5}"), Role::Dim));
    }
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(n));
}

/// Details that the row has no room for: why it is off, its description, what it does, its file.
fn facts(paint: &mut FrameContext<'_>, one: &ExtensionView, area: Rect) {
    let width = usize::from(area.width);
    let mut lines: Vec<(String, Role)> = Vec::new();
    if let Some(why) = one.state.why() {
        let folded = super::sheet::folded(&expose_line(why), width);
        lines.extend(folded.into_iter().take(3).map(|line| (line, role(one))));
    }
    if one.state == ExtensionState::NotTrusted {
        lines.push(("/trust shows its text and what it allows".to_owned(), Role::Warning));
    }
    lines.push((expose_line(&paint.home_path(&one.file)), Role::Dim));
    let folded = super::sheet::folded(&expose_line(&one.description), width);
    lines.extend(folded.into_iter().take(3).map(|line| (line, Role::Text)));
    lines.extend(one.notes.iter().map(|note| (expose_line(note), Role::Dim)));
    for (n, (line, role)) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), &line, role);
    }
}
