//! Requests of the engine: exactly what will run or change, the reason, and the answers.
//!
//! The same drawing serves the panel docked above the composer, the one that has the whole screen, and the inbox. It
//! never decides who has the focus: it only says so, loudly.

mod announcement;
mod answers;
pub(in crate::ui) mod approval;
mod heading;
mod hunks;
mod key;
mod lines;
mod plan;
mod remembered_rules;
pub(in crate::ui) mod trust;
mod view;

use super::cells;
use super::chat;
use super::editor;
use super::figures::count;
use super::frame_context::{FrameContext, ShownKey};
use super::layout_cache::{LaidRequest, PlanOrder};
use crate::app::msg::Target;
use crate::app::state::panel::{Choice, Extent, Panel, Stage};
use crate::domain::request::{Ask, Request};
use crate::domain::sanitise::{clean_line, reveal};
use crate::keymap::action::{Action, AnswerAction, AppAction, ComposerAction, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;
use std::rc::Rc;

use heading::heading;
pub(in crate::ui) use key::checking;
use lines::words;
pub(in crate::ui) use view::View;
use view::context;

/// Rows that a text being written for an answer takes at the most.
const WRITING: usize = 5;
/// Rows that a word about what is wrong takes at the most.
const PROBLEM: usize = 3;
/// Rows of what is asked, and of the word that there is more of it, that stay before the answers scroll.
const KEPT: usize = 3;
/// Cells of a title, or of figures, below which they are left out.
const TITLE: usize = 10;

/// Rows that the panel would fill if it could have them all.
pub(in crate::ui) fn rows(paint: &mut FrameContext<'_>, view: View<'_>, width: u16) -> u16 {
    let inner = inner_width(width);
    let worst = worst_lines(paint, view.request, inner).len();
    let body = body(paint, view, inner, PlanOrder::Any).len();
    let facts = approval::facts(paint, view, inner).len();
    let gap = usize::from(facts > 0);
    let answers = answer_rows(paint, view, inner);
    // Title, worst risk, body, gap, facts, gap, answers.
    u16::try_from(1 + worst + body + gap + facts + 1 + answers).unwrap_or(u16::MAX)
}

/// Bar, blank, text, blank.
fn inner_width(width: u16) -> u16 {
    width.saturating_sub(4).max(1)
}

/// Draws the panel into `area`; a row or two are enough for its name, its worst risk and the key that leads to it.
pub(in crate::ui) fn draw(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    paint.fill(area, Role::Panel);
    paint.target(area, Target::Panel);
    let bar = if view.focused { Role::NeedsYou } else { Role::Rule };
    let sign = paint.signs.bar;
    for n in 0..area.height {
        let cell = Rect { width: 1, ..cells::after(cells::row(area, n), 1) };
        if view.focused || n == 0 {
            paint.text(cell, sign, if n == 0 { Role::NeedsYou } else { bar });
        }
    }
    let inner = cells::after(area, 3);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let worst = worst_lines(paint, view.request, inner.width);
    if area.height <= least_rows(paint, view.request, area.width) {
        pinned(paint, &worst, Rect { y: inner.y + 1, height: inner.height - 1, ..inner });
        let whole = announcement::is_whole(paint, view, inner.width, area.height);
        title(paint, view, cells::row(inner, 0), (true, whole));
        paint.found.panel = Some((view.request.id.clone(), whole));
        return;
    }
    let mut rest = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    let facts = approval::facts(paint, view, inner.width);
    let answers = answer_rows(paint, view, inner.width);
    let order = order(paint, view, inner, facts.len() + answers);
    let lines = body(paint, view, inner.width, order);
    // Above whatever is cut: the worst is never what has to be scrolled to.
    let taken = pinned(paint, &worst, rest);
    rest = Rect { y: rest.y + taken, height: rest.height - taken, ..rest };
    let whole = content(paint, view, rest, (lines, facts), answers);
    title(paint, view, cells::row(inner, 0), (false, whole));
    paint.found.panel = Some((view.request.id.clone(), whole));
}

/// Order of the body in `area`, with `others` rows beside it: the steps of a plan stand first where what is before them
/// would leave little of them in sight.
fn order(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect, others: usize) -> PlanOrder {
    if view.panel.plan.as_ref().is_none_or(|plan| plan.outline.steps.is_empty()) {
        return PlanOrder::AsWritten;
    }
    let lines = body(paint, view, area.width, PlanOrder::Any).len();
    let before = paint.cache.request.as_ref().map_or(0, |known| known.before_steps);
    let rows = usize::from(area.height);
    if lines + others + 1 > rows && before * 4 > rows { PlanOrder::StepsFirst } else { PlanOrder::AsWritten }
}

/// Rows of a panel that is only announced: its name, and the worst risk.
pub(in crate::ui) fn least_rows(paint: &FrameContext<'_>, request: &Request, width: u16) -> u16 {
    1 + u16::try_from(worst_lines(paint, request, inner_width(width)).len()).unwrap_or(0)
}

/// Rows of the worst risk at the most; a longer one is cut.
const WORST: usize = 3;

/// The worst risk in lines of `width` cells, the sign before the first.
fn worst_lines(paint: &FrameContext<'_>, request: &Request, width: u16) -> Vec<String> {
    let Some(worst) = approval::worst(request, paint.signs.cut) else { return Vec::new() };
    let room = usize::from(width).saturating_sub(2).max(1);
    let mut lines = cells::wrap(&worst, room);
    if lines.len() > WORST {
        let rest = lines.split_off(WORST - 1).join(" ");
        lines.push(cells::cut(&rest, room, paint.signs.cut).into_owned());
    }
    let lead = |n: usize| if n == 0 { paint.signs.marks.warning } else { " " };
    lines.into_iter().enumerate().map(|(n, line)| format!("{} {line}", lead(n))).collect()
}

/// Draws the worst risk from the top of `area`, the loudest text of the panel. Returns the rows used.
fn pinned(paint: &mut FrameContext<'_>, worst: &[String], area: Rect) -> u16 {
    let rows = u16::try_from(worst.len()).unwrap_or(u16::MAX).min(area.height);
    let style = paint.flat(paint.style(Role::Error)).add_modifier(Modifier::BOLD);
    for (n, line) in (0..rows).zip(worst) {
        cells::put(paint.buf, cells::row(area, n), line, style);
    }
    rows
}

/// Draws the question, the facts and the answers. True if all of it is on the screen.
fn content(
    paint: &mut FrameContext<'_>,
    view: View<'_>,
    mut rest: Rect,
    (mut lines, facts): (Rc<Vec<Line<'static>>>, Vec<Line<'static>>),
    answers: usize,
) -> bool {
    // The answers stand at the bottom. They scroll before nothing is left of what they answer: nobody is to approve
    // what is not on the screen.
    let kept = u16::try_from(lines.len().min(KEPT)).unwrap_or(0).min(rest.height.saturating_sub(1));
    let all = lines.len() + facts.len() + answers;
    let answers = u16::try_from(answers).unwrap_or(u16::MAX);
    // One row less of what is asked, where that makes room for the last answer.
    let kept = if answers == rest.height - kept + 1 { kept.saturating_sub(1).max(1) } else { kept };
    // Where no answer is taken, the word about that comes before the answers.
    let held = approval::holder(paint, view.request).is_some();
    let crowded = held && all > usize::from(rest.height);
    let reads = view.panel.extent == Extent::Full && matches!(view.panel.stage, Stage::Choosing);
    let chooses = matches!(view.panel.stage, Stage::Choosing);
    let answers = match () {
        () if crowded => 0,
        // Whoever wants the whole screen for it wants to read: the answers stay as their keys.
        () if chooses && all > usize::from(rest.height) => {
            let packed = answers::packed_rows(paint, view, (rest.width, rest.height - kept.min(1)), reads);
            let half = if reads { packed } else { packed.max(rest.height * 2 / 5) };
            // Packed where they do not all have a row: none stays blank while something is hidden.
            let rows = if answers > half { packed } else { answers };
            rows.min(rest.height - kept.min(1))
        }
        () => answers.min(rest.height - kept),
    };
    // Answers in the agent's words that a packed row cuts are read where the question is.
    if chooses && all > usize::from(rest.height) {
        let lines = Rc::make_mut(&mut lines);
        lines.extend(answers::in_full(paint, view, rest.width));
        lines.extend(answers::cut_details(paint, view, (rest.width, answers)));
    }
    let below = Rect { y: rest.bottom() - answers, height: answers, ..rest };
    rest.height -= answers;

    let free = usize::from(rest.height);
    // Where it does not all fit, the blank rows go first, then the facts get a third and what is asked scrolls in the
    // rest, with a row that says so.
    let facts_gap = usize::from(!facts.is_empty());
    let gap = usize::from(free >= lines.len().min(8) + facts.len() + 1 + facts_gap);
    let shown_facts =
        if gap > 0 { facts.len() } else { facts.len().min((free / 3).max(free.saturating_sub(lines.len()))) };
    let shown_facts = if crowded { facts.len().min(free.saturating_sub(2)) } else { shown_facts };
    // What does not fit is read by scrolling on.
    let after = facts.get(shown_facts..).unwrap_or_default();
    if !after.is_empty() {
        Rc::make_mut(&mut lines).extend(after.iter().cloned());
    }
    let mut text_rows = free.saturating_sub(shown_facts + gap + if shown_facts > 0 { gap } else { 0 });
    if lines.len() > text_rows && gap == 0 && text_rows > 1 {
        text_rows = text_rows.saturating_sub(1);
    }
    let text_rows = u16::try_from(text_rows).unwrap_or(u16::MAX);
    let facts_rows = u16::try_from(shown_facts).unwrap_or(0);

    let text = Rect { height: text_rows, ..rest };
    let hidden = lines.len().saturating_sub(usize::from(text_rows));
    let scroll = view.panel.scroll.map_or_else(|| first_scroll(paint, text_rows), usize::from).min(hidden);
    for (n, line) in lines.iter().skip(scroll).take(usize::from(text_rows)).enumerate() {
        paint.line(cells::row(text, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
    paint.found.panel_hidden = u16::try_from(hidden).unwrap_or(u16::MAX);
    paint.found.panel_rows = text_rows;
    if view.panel.hunks.is_some() {
        keep_changes_in_sight(paint, text_rows);
    }
    paint.found.panel_scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
    let under = lines.len().saturating_sub(scroll + usize::from(text_rows));
    let between =
        Rect { y: text.bottom(), height: u16::from(hidden > 0 || gap > 0).min(rest.height - text_rows), ..rest };
    let walks =
        view.panel.hunks.is_some() || view.panel.plan.as_ref().is_some_and(|plan| !plan.outline.steps.is_empty());
    if hidden > 0 || (walks && view.focused && matches!(view.panel.stage, Stage::Choosing)) {
        more(paint, view, between, scroll, under);
    }

    let facts_area = Rect { y: between.bottom(), height: facts_rows, ..rest };
    for (n, line) in facts.iter().take(shown_facts).enumerate() {
        paint.line(cells::row(facts_area, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
    stage(paint, view, below, crowded);
    hidden == 0 && !crowded
}

/// The answers, or what is being written for one.
fn stage(paint: &mut FrameContext<'_>, view: View<'_>, below: Rect, crowded: bool) {
    match &view.panel.stage {
        Stage::Choosing if crowded => {}
        Stage::Choosing => answers::draw(paint, view, below),
        Stage::Secret { key } => key::field(paint, key, below, view.focused),
        Stage::Writing { text, .. } | Stage::Rules { text, .. } => {
            let (label, sends) = match &view.panel.stage {
                Stage::Writing { purpose: Choice::Instead, .. } => ("the edited command", "run"),
                Stage::Writing { purpose, .. } => (purpose.label(), "send"),
                _ => ("one rule per line", "keep"),
            };
            let problem = match &view.panel.stage {
                Stage::Rules { problem: Some(problem), .. } => clean_line(problem).into_owned(),
                _ => String::new(),
            };
            let send = paint.key(Action::Picker(PickerAction::Accept), Context::Input);
            let back = paint.key(Action::App(AppAction::Back), Context::Global);
            let newline = paint.key(Action::Composer(ComposerAction::Newline), Context::Input);
            let long = paint.hints(&[(send.clone(), sends), (newline, "new line"), (back.clone(), "back")]);
            let left = [paint.piece(label, Role::Strong)];
            let fits = cells::pieces_width(&left) + cells::pieces_width(&long) + 2 <= usize::from(below.width);
            let hints = if fits { long } else { paint.hints(&[(send, sends), (back, "back")]) };
            paint.sides(cells::row(below, 0), &left, &hints, label.len());
            let mut field = Rect { y: below.y + 1, height: below.height.saturating_sub(1), ..below };
            if !problem.is_empty() && field.height > 1 {
                let said = words(paint, &problem, field.width, Role::Error);
                for line in said.iter().take(usize::from(field.height - 1).min(PROBLEM)) {
                    paint.line(cells::row(field, 0), line);
                    field = Rect { y: field.y + 1, height: field.height - 1, ..field };
                }
            }
            editor::draw(paint, text, field, view.focused);
        }
    }
}

/// `↓ 12 more lines`, with the keys that scroll.
fn more(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect, above: usize, under: usize) {
    if area.is_empty() {
        return;
    }
    let mut said = Vec::new();
    if above > 0 {
        said.push(format!("{} {above}", paint.signs.arrows.up));
    }
    if under > 0 {
        said.push(format!("{} {}", paint.signs.arrows.down, count(under, "more line", "more lines")));
    }
    let left = [paint.piece(said.join("  "), Role::Dim)];
    let context = context(view.request);
    // While a text is written, letters are text.
    let chooses = matches!(view.panel.stage, Stage::Choosing);
    let keys = if view.focused && chooses && !super::bar::names_answers(paint) {
        let down = paint.key(Action::Answer(AnswerAction::ScrollDown), context);
        let full = paint.key(Action::Answer(AnswerAction::Full), context);
        let scrolls = above > 0 || under > 0;
        let mut hints = step_hints(paint, view);
        if scrolls && hints.len() < 2 {
            hints.push((down, "scroll"));
            hints.push((full, "full screen"));
        }
        hints
    } else {
        Vec::new()
    };
    paint.sides_hints(area, &left, &keys, cells::pieces_width(&left));
}

/// Keys that go through the steps of a plan or the changed places of a change, where there are any.
fn step_hints<'k>(paint: &FrameContext<'_>, view: View<'_>) -> Vec<(Option<ShownKey>, &'k str)> {
    let of = |(verb, word)| (paint.key(Action::Answer(verb), context(view.request)), word);
    step_verbs(view.panel).into_iter().map(of).collect()
}

/// The same as actions.
pub(in crate::ui) fn step_verbs(panel: &Panel) -> Vec<(AnswerAction, &'static str)> {
    let strike = |struck: bool| (AnswerAction::StepStrike, if struck { "restore" } else { "strike" });
    if let Some(hunks) = &panel.hunks {
        return match hunks.at {
            None => vec![(AnswerAction::StepNext, "review changes")],
            Some(at) => vec![(AnswerAction::StepNext, "next"), strike(hunks.is_struck(at))],
        };
    }
    let steps = panel.plan.as_ref().filter(|plan| !plan.outline.steps.is_empty());
    match steps.map(|plan| plan.step()) {
        None => Vec::new(),
        Some(None) => vec![(AnswerAction::StepNext, "review steps")],
        Some(Some(step)) => {
            vec![(AnswerAction::StepNext, "next"), strike(step.struck), (AnswerAction::StepComment, "comment")]
        }
    }
}

/// Name of the request and the keys that lead on. `alone`: nothing below names the subject; `whole`: all of it is on the
/// screen.
fn title(paint: &mut FrameContext<'_>, view: View<'_>, area: Rect, (alone, whole): (bool, bool)) {
    let mut left = heading(paint, view.request, view.panel.hunks.as_ref(), (area.width, alone));
    if let Some(plan) = view.panel.plan.as_ref().filter(|plan| !plan.outline.steps.is_empty()) {
        let role = if plan.outline.is_marked() { Role::Accent } else { Role::Dim };
        // Before the title: that may be cut.
        left.insert(1.min(left.len()), paint.piece(format!("  {}", plan.outline.in_words()), role));
    }
    if view.waiting > 1 {
        // Before what is cut off first.
        left.insert(0, paint.piece(format!("1 of {}  ", view.waiting), Role::Dim));
    }
    let context = context(view.request);
    let hints = if view.focused && super::bar::names_answers(paint) {
        Vec::new()
    } else if view.focused {
        let confirm = paint.key(Action::Answer(AnswerAction::Confirm), context);
        let back = paint.key(Action::App(AppAction::Back), Context::Global);
        match view.panel.stage {
            // What is chosen there is confirmed: no room for both.
            Stage::Choosing if area.width < 50 && view.panel.selected.is_some() => vec![(confirm, "ok")],
            Stage::Choosing if area.width < 50 => vec![(back, "later")],
            Stage::Choosing => {
                let down = paint.key(Action::Answer(AnswerAction::Next), context);
                let mut hints = vec![(down, "choose"), (confirm, "answer"), (back, "later")];
                let wide = cells::pieces_width(&left) + cells::pieces_width(&paint.hints(&hints)) + 2;
                if view.panel.selected.is_some() || wide > usize::from(area.width) {
                    hints.remove(0);
                }
                // The number of steps and the beginning of the title come before keys that the bar names too.
                let least = cells::pieces_width(left.get(..2).unwrap_or(&left)) + TITLE;
                let wide = least + cells::pieces_width(&paint.hints(&hints)) + 2;
                // So do the places of a change that are struck out.
                let all = cells::pieces_width(&left) + cells::pieces_width(&paint.hints(&hints)) + 2;
                let cut = view.panel.plan.is_some() && wide > usize::from(area.width)
                    || view.panel.hunks.is_some() && all > usize::from(area.width);
                if cut {
                    hints.drain(..hints.len() - 1);
                }
                let struck = view.panel.hunks.as_ref().is_some_and(|hunks| !hunks.left_out().is_empty());
                if struck
                    && cells::pieces_width(&left) + cells::pieces_width(&paint.hints(&hints)) > usize::from(area.width)
                {
                    hints.clear();
                }
                hints
            }
            Stage::Writing { .. } | Stage::Rules { .. } | Stage::Secret { .. } => Vec::new(),
        }
    } else {
        announcement::ways(paint, view, whole)
    };
    // What has no room goes as a whole, the figures first; half of a title still says something.
    let room = usize::from(area.width).saturating_sub(cells::pieces_width(&paint.hints(&hints)) + 2);
    while left.len() > 1 && cells::pieces_width(&left) > room {
        let at = left.len() - 1;
        let before = cells::pieces_width(left.get(..at).unwrap_or_default());
        if before + TITLE <= room {
            break;
        }
        left.pop();
        // One figure of two says too little.
        left.pop_if(|piece| piece.0.starts_with("  +"));
    }
    // On a narrow row the way to the panel matters more than the end of its name.
    paint.sides_hints(area, &left, &hints, 12);
}

/// First and last line that come or go between two lines of a change.
fn changed_lines(lines: &[chat::ChangeLine], (first, last): (u16, u16)) -> Option<(usize, usize)> {
    let (first, last) = (usize::from(first), usize::from(last));
    let place = lines.get(first..lines.len().min(last + 1))?;
    let changed = |line: &chat::ChangeLine| line.changed;
    Some((first + place.iter().position(changed)?, first + place.iter().rposition(changed)?))
}

/// In few rows the context before a change takes its place: what comes into sight as one goes through the places is then
/// what changes.
fn keep_changes_in_sight(paint: &mut FrameContext<'_>, rows: u16) {
    let rows = usize::from(rows.max(1));
    let changes = paint.cache.request.iter().flat_map(|known| &known.changes);
    for (place, (first, last)) in paint.found.panel_steps.iter_mut().zip(changes) {
        if last + 1 > usize::from(place.0) + rows {
            let top = u16::try_from(*first.min(&(last + 1).saturating_sub(rows))).unwrap_or(u16::MAX);
            *place = (top, top.saturating_add(u16::try_from(rows - 1).unwrap_or(u16::MAX)));
        }
    }
}

/// Lines scrolled away as long as nobody scrolls: the context before the first change goes where it would take more
/// than a quarter of the rows, and not further than brings all of that change into sight.
fn first_scroll(paint: &FrameContext<'_>, rows: u16) -> usize {
    let rows = usize::from(rows);
    let Some((first, last)) = paint.cache.request.as_ref().and_then(|known| known.changes.first().copied()) else {
        return 0;
    };
    if first * 4 > rows { first.min((last + 1).saturating_sub(rows)) } else { 0 }
}

/// The exact effect, in lines of `width` cells. Cached until request, width or theme change.
fn body(paint: &mut FrameContext<'_>, view: View<'_>, width: u16, order: PlanOrder) -> Rc<Vec<Line<'static>>> {
    let (theme, request) = (paint.look.theme, view.request);
    if let Some(known) = &paint.cache.request
        && known.width == width
        && known.theme == theme.name
        && known.request == *request
        && known.plan == view.panel.plan
        && known.hunks == view.panel.hunks
        && known.unified == paint.state.conversations.unified
        && (order == PlanOrder::Any || known.order == order)
    {
        paint.found.panel_steps.clone_from(&known.steps);
        return Rc::clone(&known.lines);
    }
    let (mut steps, mut before_steps, mut changes) = (Vec::new(), 0, Vec::new());
    let look = chat::ChatStyle { theme, glyphs: paint.look.glyphs };
    let lines = Rc::new(match &request.ask {
        Ask::Approval(approval) => match &view.panel.hunks {
            Some(marks) => {
                let (lines, ends) = hunks::body(paint, &approval.proposal, marks, width, &look);
                changes = ends.iter().filter_map(|place| changed_lines(&lines, *place)).collect();
                steps = ends;
                lines.into_iter().map(|shown| shown.line).collect()
            }
            None => {
                let lines = approval::body(paint, approval, width, &look);
                changes.extend(changed_lines(&lines, (0, u16::MAX)));
                lines.into_iter().map(|shown| shown.line).collect()
            }
        },
        Ask::Plan(review) => {
            let (lines, ends, before) = plan::body(paint, review, view.panel.plan.as_deref(), (width, order), &look);
            (steps, before_steps) = (ends, before);
            lines
        }
        Ask::Question(question) => chat::markdown_with(&reveal(&question.text), width, &look),
        Ask::Trust(request) => trust::body(paint, request, width),
        Ask::Key(wanted) => key::body(paint, wanted, width),
    });
    paint.found.panel_steps.clone_from(&steps);
    let (plan, hunks) = (view.panel.plan.clone(), view.panel.hunks.clone());
    let (theme, lines_kept) = (theme.name.clone(), Rc::clone(&lines));
    let unified = paint.state.conversations.unified;
    let request = request.clone();
    let kept = LaidRequest {
        request,
        plan,
        hunks,
        width,
        order,
        theme,
        unified,
        lines: lines_kept,
        steps,
        before_steps,
        changes,
    };
    paint.cache.request = Some(kept);
    lines
}

fn answer_rows(paint: &mut FrameContext<'_>, view: View<'_>, width: u16) -> usize {
    match &view.panel.stage {
        Stage::Choosing => answers::rows(paint, view, width),
        Stage::Secret { .. } => 2,
        Stage::Writing { text, .. } | Stage::Rules { text, .. } => {
            let problem = match &view.panel.stage {
                Stage::Rules { problem: Some(problem), .. } => {
                    words(paint, &clean_line(problem), width, Role::Error).len().min(PROBLEM)
                }
                _ => 0,
            };
            // A command has more to say than a reason.
            let most = match &view.panel.stage {
                Stage::Writing { purpose: Choice::Instead, .. } | Stage::Rules { .. } => 2 * WRITING,
                _ => WRITING,
            };
            1 + problem + editor::answer_rows(paint, &view.request.id, text, width).clamp(1, most)
        }
    }
}
