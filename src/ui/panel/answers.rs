//! The answers of a panel, each with its key.

use super::super::cells::{self, Piece};
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use super::remembered_rules;
use super::view::{View, context};
use crate::app::msg::Target;
use crate::app::state::panel::Choice;
use crate::domain::sanitise::reveal_line;
use crate::keymap::action::{Action, AnswerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// The answers with their keys, each on rows of its own. Where not all fit: the selected one with what it keeps, and all as
/// their keys.
pub(super) fn draw(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect) {
    // What a yes for longer keeps stands below it once it is selected.
    let details = remembered_rules::lines(paint, view, area.width);
    if rows(paint, view, area.width) > usize::from(area.height) {
        return packed(paint, view, area, &details);
    }
    let letters = letters(paint, view);
    let mut y = 0u16;
    for n in 0..view.panel.choices.len() {
        y += one(paint, view, (n, 0), rows_from(area, y), &letters);
        if view.panel.selected == Some(n) {
            for line in &details {
                paint.line(cells::row(area, y), line);
                y += 1;
            }
        }
    }
}

/// Rest of an area from row `y` on.
fn rows_from(area: Rect, y: u16) -> Rect {
    let y = y.min(area.height);
    Rect { y: area.y + y, height: area.height - y, ..area }
}

/// Rows of all answers with what the selected one keeps.
pub(super) fn rows(paint: &FrameContext<'_>, view: View<'_>, width: u16) -> usize {
    let letters = letters(paint, view);
    let room = usize::from(width).saturating_sub(key_cells(view, &letters));
    let answers = view.panel.choices.iter().map(|choice| option_lines(choice, room).map_or(1, |lines| lines.len()));
    answers.sum::<usize>() + remembered_rules::lines(paint, view, width).len()
}

/// Cells before the text of an answer: the widest key and two blanks. Keys that would go to the draft are not shown.
fn key_cells(view: View<'_>, letters: &[Option<String>]) -> usize {
    let widest = letters.iter().flatten().map(|key| cells::width(key)).max().unwrap_or(0);
    if view.focused { widest + 2 } else { 0 }
}

/// An answer in the agent's words, in lines of `room` cells; `None` for lisle's own, which are cut or shortened.
fn option_lines(choice: &Choice, room: usize) -> Option<Vec<String>> {
    let Choice::Option(text) = choice else { return None };
    // Blanks in a row say nothing, and push what follows out of sight.
    let text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    Some(cells::wrap(&reveal_line(&text), room.max(1)))
}

/// True if a row of `width` cells cuts an answer in the agent's words.
fn cuts(view: View<'_>, letters: &[Option<String>], width: usize) -> bool {
    let room = width.saturating_sub(key_cells(View { focused: true, ..view }, letters));
    view.panel.choices.iter().any(|choice| option_lines(choice, room).is_some_and(|lines| lines.len() > 1))
}

/// All answers in the agent's words with their numbers, in lines of `width` cells: for where they are packed into rows that
/// cut one of them.
pub(super) fn in_full(paint: &FrameContext<'_>, view: View<'_>, width: u16) -> Vec<Line<'static>> {
    let letters = letters(paint, view);
    let lead = key_cells(View { focused: true, ..view }, &letters);
    let room = usize::from(width).saturating_sub(lead).max(1);
    let all = view.panel.choices.iter().enumerate();
    let options: Vec<(usize, Vec<String>)> =
        all.filter_map(|(n, choice)| Some((n, option_lines(choice, room)?))).collect();
    if !cuts(view, &letters, usize::from(width)) {
        return Vec::new();
    }
    let mut out = vec![Line::default()];
    for (n, lines) in options {
        let key = letters.get(n).cloned().flatten().unwrap_or_default();
        for (at, line) in lines.into_iter().enumerate() {
            let key = if at == 0 { key.as_str() } else { "" };
            let key = Span::styled(format!("{key:lead$}"), paint.style(Role::Dim));
            out.push(Line::from(vec![key, Span::styled(line, paint.style(Role::Text))]));
        }
    }
    out
}

/// An answer on rows of its own at the top of `area`, with `kept` cells of the first for what follows. Returns how many.
fn one(
    paint: &mut FrameContext<'_>,
    view: View<'_>,
    (n, kept): (usize, usize),
    area: Rect,
    letters: &[Option<String>],
) -> u16 {
    let Some(choice) = view.panel.choices.get(n) else { return 0 };
    let lead = key_cells(view, letters);
    let row = cells::row(area, 0);
    let more = option_lines(choice, usize::from(row.width).saturating_sub(lead)).unwrap_or_default();
    let height = u16::try_from(more.len().max(1)).unwrap_or(u16::MAX).min(area.height);
    // The selection begins under the bar's blank, so that the text keeps its column.
    let band = Rect { x: row.x.saturating_sub(1), width: row.width + 1, height, ..row };
    let chosen = view.panel.selected == Some(n);
    if chosen {
        let role = if view.focused { Role::Selected } else { Role::SelectedDim };
        paint.tint(band, role);
        let sign = paint.signs.prompt;
        paint.over(Rect { width: 1, height: 1, ..band }, sign, Role::Strong);
    }
    let mut pieces = Vec::new();
    if view.focused {
        let key = letters.get(n).cloned().flatten().unwrap_or_default();
        let blanks = lead.saturating_sub(cells::width(&key));
        pieces.push(paint.piece(format!("{key}{:blanks$}", ""), Role::Key));
    }
    let room = usize::from(row.width).saturating_sub(cells::pieces_width(&pieces) + kept);
    let without = without(view, choice);
    let label = format!("{}{without}", reveal_line(choice.label()));
    let label = match short(choice).filter(|_| cells::width(&label) > room) {
        Some(short) => format!("{short}{without}"),
        None => more.first().cloned().unwrap_or(label),
    };
    let role = match (chosen, view.focused) {
        (true, _) => Role::Strong,
        (false, true) => Role::Text,
        (false, false) => Role::Dim,
    };
    pieces.push(paint.piece(label, role));
    let struck = view.panel.hunks.as_ref().is_some_and(|hunks| !hunks.left_out().is_empty());
    if choice.scope().is_some() && struck {
        pieces.push(paint.piece("   not with struck changes", Role::Warning));
    } else if choice.scope().is_some() && !chosen {
        pieces.push(paint.piece(format!("   will allow {}", remembered_rules::in_short(view.panel)), Role::Dim));
    }
    // Only the words' colour: the ground is the panel's or the selection's.
    for piece in &mut pieces {
        piece.1.bg = None;
    }
    paint.pieces(row, &pieces);
    for (y, line) in (1..height).zip(more.iter().skip(1)) {
        let mut piece = paint.piece(format!("{:lead$}{line}", ""), role);
        piece.1.bg = None;
        paint.pieces(cells::row(area, y), &[piece]);
    }
    paint.target(band, Target::Choice(n));
    height
}

/// The selected answer with what it keeps, and below it the keys of all where they have room beside that.
fn packed(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect, details: &[Line<'_>]) {
    let rows = key_rows(paint, view, usize::from(area.width));
    let keys = if gives_way(view, rows.len(), details.len(), area.height) { 0 } else { rows.len() };
    // Where hardly anything has room, the selected answer is what has to be seen.
    let chosen = u16::from(view.panel.selected.is_some());
    let keys = u16::try_from(keys).unwrap_or(u16::MAX).min(area.height.saturating_sub(chosen));
    let above = area.height - keys;
    if let Some(n) = view.panel.selected.filter(|_| above > 0) {
        let letters = letters(paint, view);
        let alone = keys == 0 && area.width >= NUMBERED;
        let number = if alone { format!(" {} of {}", n + 1, view.panel.choices.len()) } else { String::new() };
        let used = one(paint, view, (n, number.len()), Rect { height: above, ..area }, &letters);
        let end = area.width.saturating_sub(u16::try_from(number.len()).unwrap_or(u16::MAX));
        let mut piece = paint.piece(number, Role::Dim);
        piece.1.bg = None;
        paint.pieces(cells::after(cells::row(area, 0), end), &[piece]);
        for (n, line) in (used..above).zip(details) {
            paint.line(cells::row(area, n), line);
        }
        let left = details.len().saturating_sub(usize::from(above.saturating_sub(used)));
        if left > 0 && above > used {
            // They are read where the question is.
            let said = format!("{} {}", paint.signs.arrows.up, count(left + 1, "more line", "more lines"));
            let row = cells::row(area, above - 1);
            paint.fill(row, Role::Panel);
            let piece = paint.piece(said, Role::Warning);
            paint.pieces(row, &[piece]);
        }
    }
    for (y, items) in (above..area.height).zip(rows) {
        let mut rest = cells::row(area, y);
        for (n, mut pieces) in items {
            pieces.iter_mut().for_each(|piece| piece.1 = paint.flat(piece.1));
            let used = paint.pieces(rest, &pieces);
            paint.target(Rect { width: used, ..rest }, Target::Choice(n));
            rest = cells::after(rest, used + gap(view));
        }
    }
}

/// True if the keys of all answers leave their rows to the selected answer and what it keeps: those are what is agreed to,
/// and what they are chosen among is a list to walk through.
fn gives_way(view: View<'_>, keys: usize, details: usize, height: u16) -> bool {
    view.panel.selected.is_some() && details > 0 && keys + 1 + details > usize::from(height)
}

/// All that the selected answer keeps, for where the answers in an area of `height` rows cut it.
pub(super) fn cut_details(paint: &FrameContext<'_>, view: View<'_>, (width, height): (u16, u16)) -> Vec<Line<'static>> {
    let details = remembered_rules::lines(paint, view, width);
    let fits = rows(paint, view, width) <= usize::from(height) || details.len() < usize::from(height);
    if fits { Vec::new() } else { std::iter::once(Line::default()).chain(details).collect() }
}

/// Cells from which on a selected answer has its number.
const NUMBERED: u16 = 30;

/// Cells between two answers in a row: without keys a sign stands there, too.
fn gap(view: View<'_>) -> u16 {
    if view.focused { 2 } else { 1 }
}

/// Rows that the answers take as keys in at most `room` rows of `width` cells, with those of the selected answer and what it
/// keeps unless all are for `reading`.
pub(super) fn packed_rows(paint: &FrameContext<'_>, view: View<'_>, (width, room): (u16, u16), reading: bool) -> u16 {
    let keys = key_rows(paint, view, usize::from(width)).len();
    let details = remembered_rules::lines(paint, view, width).len();
    let rows = match view.panel.selected {
        Some(_) if !reading && gives_way(view, keys, details, room) => 1 + details,
        Some(_) if !reading => keys + 1 + details,
        _ => keys,
    };
    u16::try_from(rows).unwrap_or(u16::MAX)
}

type Item = (usize, Vec<Piece<'static>>);

/// All answers as keys with a word or two each, in rows of `width` cells.
fn key_rows(paint: &FrameContext<'_>, view: View<'_>, width: usize) -> Vec<Vec<Item>> {
    let letters = letters(paint, view);
    let cut = cuts(view, &letters, width);
    let mut rows: Vec<Vec<Item>> = Vec::new();
    let mut left = 0;
    for (n, choice) in view.panel.choices.iter().enumerate() {
        // One without a letter is reached by the arrows.
        let key = letters.get(n).cloned().flatten().unwrap_or_else(|| paint.key_name("down"));
        let key = if view.focused { format!("{key} ") } else { String::new() };
        // One that is cut is read above.
        let only_key = cut && !key.is_empty() && matches!(choice, Choice::Option(_));
        let label = reveal_line(choice.label());
        let word = short(choice).map_or(label, |short| format!("{short}{}", without(view, choice)));
        let word = cells::cut(&word, width.saturating_sub(cells::width(&key)).max(1), paint.signs.cut).into_owned();
        let word = if only_key { String::new() } else { word };
        let role = if view.panel.selected == Some(n) { Role::Strong } else { Role::Dim };
        let mut pieces = vec![paint.piece(key, Role::Key), paint.piece(word, role)];
        // Without their keys nothing else would tell one answer from the next.
        let sign = if view.focused { String::new() } else { format!("{} ", paint.signs.dot) };
        let wide = cells::pieces_width(&pieces);
        let beside = wide + cells::width(&sign) + usize::from(gap(view));
        match rows.last_mut().filter(|_| left >= beside) {
            Some(row) => {
                pieces.insert(0, paint.piece(sign, Role::Faint));
                row.push((n, pieces));
                left -= beside;
            }
            None => {
                rows.push(vec![(n, pieces)]);
                left = width.saturating_sub(wide);
            }
        }
    }
    rows
}

/// Changes or steps that a yes leaves out: said where it is given, since what is struck out may be scrolled away.
fn without(view: View<'_>, choice: &Choice) -> String {
    let hunks = view.panel.hunks.as_ref().map_or(0, |hunks| hunks.left_out().len());
    let steps = view.panel.plan.as_ref().map_or(0, |plan| plan.outline.steps.iter().filter(|step| step.struck).count());
    let struck = match choice {
        Choice::Once if hunks > 0 => count(hunks, "change", "changes"),
        Choice::PlanToAsk | Choice::PlanToExecute | Choice::PlanCompactToAsk | Choice::PlanCompactToExecute
            if steps > 0 =>
        {
            count(steps, "step", "steps")
        }
        _ => return String::new(),
    };
    format!(", without {struck}")
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
        Choice::PlanToAsk => "approve",
        Choice::PlanToExecute => "approve, Execute",
        Choice::PlanCompactToAsk => "approve, compact",
        Choice::PlanCompactToExecute => "approve, compact, Execute",
        Choice::PlanChanges => "changes",
        Choice::PlanEdit => "edit",
        Choice::PlanDecline => "decline",
        Choice::Trust | Choice::TrustSources | Choice::TrustExtensions => "yes",
        Choice::Distrust | Choice::LeaveSources | Choice::LeaveExtensions => "no",
        Choice::Words => "own words",
        Choice::StepComment(_) | Choice::Option(_) | Choice::Key | Choice::NoKey => return None,
    })
}

/// Keys of the answers: their letters, and the numbers of all others. Those that only the arrows reach have none.
fn letters(paint: &FrameContext<'_>, view: View<'_>) -> Vec<Option<String>> {
    let context = context(view.request);
    let of = |(n, choice): (usize, &Choice)| match view.panel.needs_arrows(n) {
        true => None,
        false => match verb(choice) {
            Some(verb) => paint.key_of(Action::Answer(verb), context),
            None => (n < 9).then(|| (n + 1).to_string()),
        },
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
        | Choice::TrustSources
        | Choice::LeaveSources
        | Choice::TrustExtensions
        | Choice::LeaveExtensions
        | Choice::Key
        | Choice::NoKey
        | Choice::StepComment(_) => {
            return None;
        }
    })
}
