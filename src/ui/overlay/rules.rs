//! The rules in force for a session: a row each, and below them all that is known of the selected one.

use super::super::cells;
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use super::rows::RowSheet;
use crate::app::msg::Target;
use crate::app::state::rules::Rules;
use crate::domain::rule::{KnownRule, RuleEffect, RuleScope};
use crate::domain::sanitise::reveal;
use crate::keymap::action::{Action, Context, RulesAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows of what is known of the selected rule.
const DETAIL: u16 = 4;

/// Explanation of how a rule is made.
const EMPTY: &str = "No rules: the permission mode decides. Approve with \"this session\" or \"this workspace\" to \
 add one, or edit permissions.json.";

pub(super) fn draw(paint: &mut FrameContext<'_>, rules: &Rules, body: Rect) {
    let rows = rules.rows();
    let mut title = vec![paint.piece("Permissions", Role::PanelTitle)];
    if !rows.is_empty() {
        title.push(paint.piece(format!("  {}", count(rows.len(), "rule", "rules")), Role::Dim));
    }
    let untrusted = rules.known.as_ref().map_or(0, |known| known.trust.len());
    let can = rules.chosen().is_some_and(|rule| rule.removable);
    let remove = paint.key(Action::Rules(RulesAction::Remove), Context::Rules).filter(|_| can);
    let sheet = RowSheet {
        title: &title,
        hints: &[(remove, "remove")],
        rows: rows.len(),
        most: 20,
        detail: DETAIL,
        foot: u16::from(untrusted > 0),
        empty: EMPTY,
    };
    let (inner, foot) = sheet.open(paint, body);
    if foot.height > 0 {
        paint.over(foot, "Untrusted rules only restrict: /trust", Role::Warning);
    }
    let Some(parts) = sheet.parts(paint, (body, inner), rules.selected, rules.known.is_some()) else { return };
    for (n, one, area) in parts.of(rows) {
        row(paint, one, n, rules.selected == n, area);
    }
    if let Some(rule) = rules.chosen() {
        facts(paint, rule, parts.detail);
    }
}

fn effect(rule: &KnownRule) -> (&'static str, Role) {
    match rule.rule.effect {
        RuleEffect::Allow => ("allow", Role::Good),
        RuleEffect::Ask => ("ask", Role::Warning),
        RuleEffect::Deny => ("deny", Role::Error),
    }
}

fn source(scope: RuleScope) -> &'static str {
    match scope {
        RuleScope::Session => "this session",
        RuleScope::Workspace => "workspace",
        RuleScope::User => "your file",
        RuleScope::Repository => "repository",
    }
}

fn row(paint: &mut FrameContext<'_>, rule: &KnownRule, n: usize, chosen: bool, area: Rect) {
    let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    if chosen {
        paint.tint(band, Role::Selected);
    }
    let (word, role) = effect(rule);
    let text = if chosen { Role::Strong } else { Role::Text };
    let mut left = vec![paint.piece(format!("{word:<6}"), role), paint.piece(reveal(&rule.in_words()), text)];
    let hits = if rule.hits > 0 { format!("{}×", rule.hits) } else { String::new() };
    let mut right = if area.width >= 56 {
        vec![
            paint.piece(format!("  {:<12}", source(rule.scope)), Role::Dim),
            paint.piece(format!("{hits:>5}"), Role::Dim),
        ]
    } else {
        vec![paint.piece(format!("  {}", source(rule.scope)), Role::Dim)]
    };
    for piece in left.iter_mut().chain(&mut right) {
        piece.1.bg = None;
    }
    paint.sides(area, &left, &right, 16);
    paint.target(band, Target::OverlayRow(n));
}

/// Details that the row has no room for: the whole rule, its file, its note.
fn facts(paint: &mut FrameContext<'_>, rule: &KnownRule, area: Rect) {
    let (word, _) = effect(rule);
    let width = usize::from(area.width);
    let used = match rule.hits {
        0 => "not used yet".to_owned(),
        1 => "used once".to_owned(),
        hits => format!("used {hits} times"),
    };
    let file = rule.file.as_ref().map(|file| paint.home_path(file));
    let place = match file {
        Some(file) => format!("{}: {}; {used}", source(rule.scope), reveal(&file)),
        None => format!("{}; {used}", source(rule.scope)),
    };
    let mut lines: Vec<(String, Role)> = Vec::new();
    // The whole rule first: at least half of the room is its own.
    let words = super::sheet::folded(&format!("{word} {}", reveal(&rule.in_words())), width);
    let room = usize::from(area.height);
    let kept = room.saturating_sub(1 + usize::from(rule.rule.note.is_some())).max(1);
    let cut = words.len() > kept;
    lines.extend(words.into_iter().take(kept).map(|line| (line, Role::Text)));
    if cut && let Some((line, _)) = lines.last_mut() {
        line.push_str(paint.signs.cut);
    }
    lines.push((place, Role::Dim));
    lines.extend(rule.rule.note.iter().map(|note| (reveal(note), Role::Dim)));
    for (n, (line, role)) in lines.into_iter().take(room).enumerate() {
        paint.over(cells::row(area, u16::try_from(n).unwrap_or(u16::MAX)), &line, role);
    }
}
