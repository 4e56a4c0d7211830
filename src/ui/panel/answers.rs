//! The answers of a panel, each with its key.

use super::super::cells::{self, Piece};
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use super::remembered_rules;
use super::view::{View, context};
use crate::app::msg::Target;
use crate::app::state::panel::Choice;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, AnswerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// The answers with their keys, one a row. Where not all fit: the selected one with what it keeps, and all as their keys.
pub(super) fn draw(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect) {
    // What a yes for longer keeps stands below it once it is selected.
    let details = remembered_rules::lines(paint, view, area.width);
    if view.panel.choices.len() + details.len() > usize::from(area.height) {
        return packed(paint, view, area, &details);
    }
    let letters = letters(paint, view);
    let widest = letters.iter().flatten().map(|key| cells::width(key)).max().unwrap_or(0);
    let mut y = 0u16;
    for n in 0..view.panel.choices.len() {
        one(paint, view, n, cells::row(area, y), (&letters, widest));
        y += 1;
        if view.panel.selected == Some(n) {
            for line in &details {
                paint.line(cells::row(area, y), line);
                y += 1;
            }
        }
    }
}

/// An answer on a row of its own.
fn one(
    paint: &mut FrameContext<'_>,
    view: View<'_>,
    n: usize,
    row: Rect,
    (letters, widest): (&[Option<String>], usize),
) {
    let Some(choice) = view.panel.choices.get(n) else { return };
    // The selection begins under the bar's blank, so that the text keeps its column.
    let band = Rect { x: row.x.saturating_sub(1), width: row.width + 1, ..row };
    let chosen = view.panel.selected == Some(n);
    if chosen {
        let role = if view.focused { Role::Selected } else { Role::SelectedDim };
        paint.tint(band, role);
        let sign = paint.signs.prompt;
        paint.over(Rect { width: 1, ..band }, sign, Role::Strong);
    }
    let mut pieces = Vec::new();
    // Keys that would go to the draft are not shown.
    if view.focused {
        let (key, wide) = match widest {
            0 => ((n + 1).to_string(), 1),
            _ => (letters.get(n).cloned().flatten().unwrap_or_default(), widest),
        };
        let blanks = wide.saturating_sub(cells::width(&key)) + 2;
        pieces.push(paint.piece(format!("{key}{:blanks$}", ""), Role::Key));
    }
    let room = usize::from(row.width).saturating_sub(cells::pieces_width(&pieces));
    let without = without(view, choice);
    let label = format!("{}{without}", clean_line(choice.label()));
    let label = match short(choice).filter(|_| cells::width(&label) > room) {
        Some(short) => format!("{short}{without}"),
        None => label,
    };
    let role = match (chosen, view.focused) {
        (true, _) => Role::Strong,
        (false, true) => Role::Text,
        (false, false) => Role::Dim,
    };
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
}

/// The selected answer with what it keeps, and below it the keys of all.
fn packed(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect, details: &[Line<'_>]) {
    let rows = key_rows(paint, view, usize::from(area.width));
    // Where hardly anything has room, the selected answer is what has to be seen.
    let chosen = u16::from(view.panel.selected.is_some());
    let keys = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height.saturating_sub(chosen));
    let above = area.height - keys;
    if let Some(n) = view.panel.selected.filter(|_| above > 0) {
        let letters = letters(paint, view);
        let widest = letters.iter().flatten().map(|key| cells::width(key)).max().unwrap_or(0);
        one(paint, view, n, cells::row(area, 0), (&letters, widest));
        for (n, line) in (1..above).zip(details) {
            paint.line(cells::row(area, n), line);
        }
    }
    for (y, items) in (above..area.height).zip(rows) {
        let mut rest = cells::row(area, y);
        for (n, mut pieces) in items {
            pieces.iter_mut().for_each(|piece| piece.1 = paint.flat(piece.1));
            let used = paint.pieces(rest, &pieces);
            paint.target(Rect { width: used, ..rest }, Target::Choice(n));
            rest = cells::after(rest, used + 2);
        }
    }
}

/// Rows that the answers take as keys, with those of the selected answer and what it keeps unless all are for `reading`.
pub(super) fn packed_rows(paint: &FrameContext<'_>, view: View<'_>, width: u16, reading: bool) -> u16 {
    let rows = key_rows(paint, view, usize::from(width)).len();
    let chosen = match view.panel.selected {
        Some(_) if !reading => 1 + remembered_rules::lines(paint, view, width).len(),
        _ => 0,
    };
    u16::try_from(rows + chosen).unwrap_or(u16::MAX)
}

type Item = (usize, Vec<Piece<'static>>);

/// All answers as keys with a word or two each, in rows of `width` cells.
fn key_rows(paint: &FrameContext<'_>, view: View<'_>, width: usize) -> Vec<Vec<Item>> {
    let letters = letters(paint, view);
    let numbered = letters.iter().all(Option::is_none);
    let mut rows: Vec<Vec<Item>> = Vec::new();
    let mut left = 0;
    for (n, choice) in view.panel.choices.iter().enumerate() {
        let key = if numbered { Some((n + 1).to_string()) } else { letters.get(n).cloned().flatten() };
        let key = key.filter(|_| view.focused).map(|key| format!("{key} ")).unwrap_or_default();
        let label = clean_line(choice.label()).into_owned();
        let word = short(choice).map_or(label, |short| format!("{short}{}", without(view, choice)));
        let word = cells::cut(&word, width.saturating_sub(cells::width(&key)).max(1), paint.signs.cut).into_owned();
        let role = if view.panel.selected == Some(n) { Role::Strong } else { Role::Dim };
        let pieces = vec![paint.piece(key, Role::Key), paint.piece(word, role)];
        let wide = cells::pieces_width(&pieces);
        match rows.last_mut().filter(|_| left >= wide + 2) {
            Some(row) => {
                row.push((n, pieces));
                left -= wide + 2;
            }
            None => {
                rows.push(vec![(n, pieces)]);
                left = width.saturating_sub(wide);
            }
        }
    }
    rows
}

/// Changes that a yes leaves out: said where it is given, since what is struck out may be scrolled away.
fn without(view: View<'_>, choice: &Choice) -> String {
    let struck = view.panel.hunks.as_ref().map_or(0, |hunks| hunks.left_out().len());
    match choice {
        Choice::Once if struck > 0 => format!(", without {}", count(struck, "change", "changes")),
        _ => String::new(),
    }
}

/// An answer in a word or two: what tells it from the others is never left out.
fn short(choice: &Choice) -> Option<&'static str> {
    Some(match choice {
        Choice::Once => "once",
        Choice::Session => "session",
        Choice::Workspace => "workspace",
        Choice::No => "no",
        Choice::Reason => "no, why",
        Choice::Instead => "edit",
        Choice::PlanToAsk => "Ask to Edit",
        Choice::PlanToExecute => "Execute",
        Choice::PlanCompactToAsk => "compact, Ask to Edit",
        Choice::PlanCompactToExecute => "compact, Execute",
        Choice::PlanChanges => "changes",
        Choice::PlanEdit => "edit",
        Choice::PlanDecline => "decline",
        Choice::Trust => "yes",
        Choice::Distrust => "no",
        Choice::Words => "own words",
        Choice::StepComment(_) | Choice::Option(_) | Choice::Key | Choice::NoKey => return None,
    })
}

/// Keys of the answers: their letters, and the arrows of those that no letter selects.
fn letters(paint: &FrameContext<'_>, view: View<'_>) -> Vec<Option<String>> {
    let context = context(view.request);
    let arrows = format!("{}{}", paint.signs.arrows.up, paint.signs.arrows.down);
    let of = |(n, choice): (usize, &Choice)| match view.panel.needs_arrows(n) {
        true => Some(arrows.clone()),
        false => verb(choice).and_then(|verb| paint.key_of(Action::Answer(verb), context)),
    };
    view.panel.choices.iter().enumerate().map(of).collect()
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
