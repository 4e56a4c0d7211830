//! The answers of a panel, each with its key.

use super::super::cells;
use super::super::frame_context::FrameContext;
use super::remembered_rules;
use super::view::{View, context};
use crate::app::msg::Target;
use crate::app::state::panel::Choice;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, AnswerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// The answers with their keys, one a row; on a single row only the keys, or the answer that is selected.
pub(super) fn draw(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect) {
    if area.height == 1 && view.panel.selected.is_none() && view.panel.choices.len() > 1 {
        return in_a_row(paint, view, area, (0..view.panel.choices.len()).collect());
    }
    let letters = letters(paint, view);
    let widest = letters.iter().flatten().map(|key| cells::width(key)).max().unwrap_or(0);
    // What a yes for longer keeps stands below it once it is selected.
    let details = remembered_rules::lines(paint, view, area.width);
    let selected = view.panel.selected.unwrap_or(0);
    // Where not all fit, those around the selected one are shown, and below them the keys of the others.
    let others = area.height > 2 && view.panel.choices.len() + details.len() > usize::from(area.height);
    let whole = area;
    let area = Rect { height: area.height - u16::from(others), ..area };
    let rows = usize::from(area.height);
    let first = (selected + details.len()).saturating_sub(rows.saturating_sub(1)).min(selected);
    let mut y = 0u16;
    let mut hidden: Vec<usize> = (0..first).collect();
    for (n, choice) in view.panel.choices.iter().enumerate().skip(first) {
        if y >= area.height {
            hidden.push(n);
            continue;
        }
        let row = cells::row(area, y);
        y += 1;
        // The selection begins under the bar's blank, so that the text keeps its column.
        let band = Rect { x: row.x.saturating_sub(1), width: row.width + 1, ..row };
        let chosen = view.panel.selected == Some(n);
        if chosen {
            let role = if view.focused { Role::Selected } else { Role::SelectedDim };
            paint.tint(band, role);
            let sign = paint.signs.prompt;
            paint.over(Rect { width: 1, ..band }, sign, Role::Strong);
        }
        let key_role = if view.focused { Role::Key } else { Role::Dim };
        let number = if view.panel.needs_arrows(n) { " ".to_owned() } else { (n + 1).to_string() };
        let mut pieces = vec![paint.piece(format!("{number}  "), Role::Dim)];
        if widest > 0 {
            let key = letters.get(n).and_then(Option::as_deref).unwrap_or("");
            let blanks = widest - cells::width(key) + 2;
            pieces.push(paint.piece(format!("{key}{:blanks$}", ""), key_role));
        }
        let label = clean_line(choice.label());
        let role = if chosen { Role::Strong } else { Role::Text };
        pieces.push(paint.piece(label, role));
        if choice.scope().is_some() && !chosen {
            pieces.push(paint.piece(format!("   will allow {}", remembered_rules::in_short(view.panel)), Role::Dim));
        }
        // Only the words' colour: the ground is the panel's or the selection's.
        for piece in &mut pieces {
            piece.1.bg = None;
        }
        paint.pieces(row, &pieces);
        paint.target(band, Target::Choice(n));
        if chosen {
            for line in &details {
                if y >= area.height {
                    break;
                }
                paint.line(cells::row(area, y), line);
                y += 1;
            }
        }
    }
    if others {
        in_a_row(paint, view, cells::row(whole, area.height), hidden);
    }
}

/// Keys of the answers: their letters, and the arrows of those that no letter selects.
fn letters(paint: &FrameContext<'_>, view: View<'_>) -> Vec<Option<String>> {
    let context = context(view.request);
    let arrows = format!("{}{}", paint.signs.arrows.up, paint.signs.arrows.down);
    let of = |(n, choice): (usize, &Choice)| match view.panel.needs_arrows(n) {
        true => Some(arrows.clone()),
        false => verb(choice).and_then(|verb| paint.key(Action::Answer(verb), context)),
    };
    view.panel.choices.iter().enumerate().map(of).collect()
}

/// Keys of these answers on one row, with a word each where there is room.
fn in_a_row(paint: &mut FrameContext<'_>, view: View<'_>, row: Rect, which: Vec<usize>) {
    let letters = letters(paint, view);
    let key = |n: usize| letters.get(n).cloned().flatten().unwrap_or_else(|| (n + 1).to_string());
    let words: Vec<String> = which
        .iter()
        .filter_map(|n| view.panel.choices.get(*n))
        .map(|choice| first_word(&clean_line(choice.label())).to_owned())
        .collect();
    let with_words: Vec<_> = which.iter().zip(&words).map(|(n, word)| (Some(key(*n)), word.as_str())).collect();
    let keys: Vec<_> = which.iter().map(|n| (Some(key(*n)), "")).collect();
    let long = paint.hints(&with_words);
    let fits = cells::pieces_width(&long) <= usize::from(row.width);
    let hints = if fits { long } else { paint.hints(&keys) };
    paint.pieces(row, &hints);
}

fn first_word(label: &str) -> &str {
    label.split([' ', ',']).next().unwrap_or_default()
}

/// The verb that gives this answer at once.
fn verb(choice: &Choice) -> Option<AnswerAction> {
    Some(match choice {
        Choice::Once => AnswerAction::Once,
        Choice::Session => AnswerAction::Session,
        Choice::Workspace => AnswerAction::Workspace,
        Choice::No => AnswerAction::No,
        Choice::Reason => AnswerAction::Reason,
        Choice::Instead => AnswerAction::Instead,
        Choice::PlanToAsk => AnswerAction::PlanToAsk,
        Choice::PlanToExecute => AnswerAction::PlanToExecute,
        Choice::PlanCompactToAsk => AnswerAction::PlanCompact,
        Choice::PlanChanges => AnswerAction::PlanChanges,
        Choice::PlanEdit => AnswerAction::PlanEdit,
        Choice::PlanDecline => AnswerAction::PlanDecline,
        Choice::Words => AnswerAction::Words,
        Choice::PlanCompactToExecute
        | Choice::Option(_)
        | Choice::Trust
        | Choice::Distrust
        | Choice::Key
        | Choice::NoKey
        | Choice::StepComment(_) => {
            return None;
        }
    })
}
