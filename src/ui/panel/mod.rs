//! Requests of the engine: exactly what will run or change, the reason, and the answers.
//!
//! The same drawing serves the panel docked above the composer, the one that has the whole screen, and the inbox. It
//! never decides who has the focus: it only says so, loudly.

pub(in crate::ui) mod approval;
mod kept;
mod key;
mod plan;
pub(in crate::ui) mod trust;

use super::cells::{self, Piece, piece};
use super::chat;
use super::composer;
use super::figures::count;
use super::paint::Paint;
use super::text::{self, Fold};
use crate::app::msg::Target;
use crate::app::state::overlay::Reach;
use crate::app::state::panel::{Choice, Panel, Stage};
use crate::app::state::plan::PlanView;
use crate::domain::Mode;
use crate::domain::diff::FileDiff;
use crate::domain::lookalike::{expose, expose_line};
use crate::domain::request::{Ask, Request};
use crate::domain::sanitise::clean_line;
use crate::domain::tool::Proposal;
use crate::keymap::action::{Action, AnswerAction, AppAction, ComposerAction, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::path::Path;
use std::rc::Rc;

/// Rows that a text being written for an answer takes at the most.
const WRITING: usize = 5;
/// Rows that a word about what is wrong takes at the most.
const PROBLEM: usize = 3;
/// Rows of what is asked, and of the word that there is more of it, that stay before the answers scroll.
const KEPT: usize = 3;
/// Cells of a command's title and its keys, without the place.
const TITLE: usize = 46;

/// A request with how it is shown.
#[derive(Clone, Copy)]
pub(in crate::ui) struct View<'p> {
    pub panel: &'p Panel,
    pub request: &'p Request,
    /// Keys go to it.
    pub focused: bool,
    /// Number of requests that wait in this session, including this one.
    pub waiting: usize,
    /// Number of equal requests, and whether they get the same answer.
    pub equal: (usize, Reach),
}

/// The request, laid out for a width.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ui) struct Body {
    request: Request,
    /// With the marks that the user made of a plan.
    plan: Option<Box<PlanView>>,
    width: u16,
    theme: String,
    unified: bool,
    lines: Rc<Vec<Line<'static>>>,
    steps: Vec<(u16, u16)>,
}

/// Rows that the panel would fill if it could have them all.
pub(in crate::ui) fn rows(paint: &mut Paint<'_>, view: View<'_>, width: u16) -> u16 {
    let inner = inner_width(width);
    let body = body(paint, view, inner).len();
    let facts = approval::facts(paint, view, inner).len();
    let gap = usize::from(facts > 0);
    let answers = answer_rows(paint, view, inner);
    // Title, body, gap, facts, gap, answers.
    u16::try_from(1 + body + gap + facts + 1 + answers).unwrap_or(u16::MAX)
}

/// Bar, blank, text, blank.
fn inner_width(width: u16) -> u16 {
    width.saturating_sub(4).max(1)
}

/// Draws the panel into `area`; one row is enough for its name and the key that leads to it.
pub(in crate::ui) fn draw(paint: &mut Paint<'_>, view: View<'_>, area: Rect) {
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
    title(paint, view, cells::row(inner, 0), area.height == 1);
    if area.height == 1 {
        return;
    }
    let mut rest = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };

    // The answers stand at the bottom. They scroll before nothing is left of what they answer: nobody is to approve
    // what is not on the screen.
    let mut lines = body(paint, view, inner.width);
    let kept = u16::try_from(lines.len().min(KEPT)).unwrap_or(0).min(rest.height.saturating_sub(1));
    let answers = u16::try_from(answer_rows(paint, view, inner.width)).unwrap_or(u16::MAX);
    // One row less of what is asked, where that makes room for the last answer.
    let kept = if answers == rest.height - kept + 1 { kept.saturating_sub(1).max(1) } else { kept };
    // Where no answer is taken, the word about that comes before the answers.
    let held = approval::holder(paint, view.request).is_some();
    let all = lines.len() + approval::facts(paint, view, inner.width).len() + usize::from(answers);
    let crowded = held && all > usize::from(rest.height);
    let answers = if crowded { 0 } else { answers.min(rest.height - kept) };
    let below = Rect { y: rest.bottom() - answers, height: answers, ..rest };
    rest.height -= answers;

    let facts = approval::facts(paint, view, inner.width);
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
    let scroll = usize::from(view.panel.scroll).min(hidden);
    for (n, line) in lines.iter().skip(scroll).take(usize::from(text_rows)).enumerate() {
        paint.line(cells::row(text, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
    paint.found.panel_hidden = u16::try_from(hidden).unwrap_or(u16::MAX);
    paint.found.panel_rows = text_rows;
    let under = lines.len().saturating_sub(scroll + usize::from(text_rows));
    let between =
        Rect { y: text.bottom(), height: u16::from(hidden > 0 || gap > 0).min(rest.height - text_rows), ..rest };
    let walks = view.panel.plan.as_ref().is_some_and(|plan| !plan.outline.steps.is_empty());
    if hidden > 0 || (walks && view.focused && matches!(view.panel.stage, Stage::Choosing)) {
        more(paint, view, between, scroll, under);
    }

    let facts_area = Rect { y: between.bottom(), height: facts_rows, ..rest };
    for (n, line) in facts.iter().take(shown_facts).enumerate() {
        paint.line(cells::row(facts_area, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
    match &view.panel.stage {
        Stage::Choosing if crowded => {}
        Stage::Choosing => answers_list(paint, view, below),
        Stage::Secret { key } => key::field(paint, key, below, view.focused),
        Stage::Writing { text, .. } | Stage::Rules { text, .. } => {
            let (label, sends) = match &view.panel.stage {
                Stage::Writing { purpose: Choice::Instead, .. } => ("the command to run instead", "run it"),
                Stage::Writing { purpose, .. } => (purpose.label(), "send"),
                _ => ("remembered, one rule a line", "keep"),
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
            composer::editor(paint, text, field, view.focused);
        }
    }
}

/// `↓ 12 more lines`, with the keys that scroll.
fn more(paint: &mut Paint<'_>, view: View<'_>, area: Rect, above: usize, under: usize) {
    if area.is_empty() {
        return;
    }
    let mut said = Vec::new();
    if above > 0 {
        said.push(format!("{} {above}", paint.signs.up));
    }
    if under > 0 {
        said.push(format!("{} {}", paint.signs.down, count(under, "more line", "more lines")));
    }
    let left = [paint.piece(said.join("  "), Role::Dim)];
    let context = context(view.request);
    let keys = if view.focused {
        let down = paint.key(Action::Answer(AnswerAction::ScrollDown), context);
        let full = paint.key(Action::Answer(AnswerAction::Full), context);
        let scrolls = above > 0 || under > 0;
        let steps = view.panel.plan.as_ref().filter(|plan| !plan.outline.steps.is_empty());
        let of = |verb| paint.key(Action::Answer(verb), context);
        let mut hints = match steps.map(|plan| plan.step()) {
            None => Vec::new(),
            Some(None) => vec![(of(AnswerAction::StepNext), "to the steps")],
            Some(Some(step)) => vec![
                (of(AnswerAction::StepNext), "next"),
                (of(AnswerAction::StepStrike), if step.struck { "take back" } else { "strike out" }),
                (of(AnswerAction::StepComment), "comment"),
            ],
        };
        if scrolls && hints.len() < 2 {
            hints.push((down, "scroll"));
            hints.push((full, "full screen"));
        }
        paint.hints(&hints)
    } else {
        Vec::new()
    };
    paint.sides(area, &left, &keys, cells::pieces_width(&left));
}

fn title(paint: &mut Paint<'_>, view: View<'_>, area: Rect, alone: bool) {
    let mut left = heading(paint, view.request, area.width, alone);
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
    let hints = if view.focused {
        let confirm = paint.key(Action::Answer(AnswerAction::Confirm), context);
        let back = paint.key(Action::App(AppAction::Back), Context::Global);
        match view.panel.stage {
            Stage::Choosing if area.width < 50 => paint.hints(&[(back, "later")]),
            Stage::Choosing => {
                let short = [(confirm, "answer"), (back, "later")];
                let down = paint.key(Action::Answer(AnswerAction::Next), context);
                let [confirm, back] = short.clone();
                let long = paint.hints(&[(down, "choose"), confirm, back]);
                let fits = cells::pieces_width(&left) + cells::pieces_width(&long) + 2 <= usize::from(area.width);
                if view.panel.selected.is_none() && fits { long } else { paint.hints(&short) }
            }
            Stage::Writing { .. } | Stage::Rules { .. } | Stage::Secret { .. } => Vec::new(),
        }
    } else {
        let focus = paint.key(Action::Answer(AnswerAction::Focus), Context::Global);
        let held = approval::holder(paint, view.request).is_some();
        paint.hints(&[(focus, if held { "to read it" } else { "to answer" })])
    };
    // On a narrow row the way to the panel matters more than the end of its name.
    paint.sides(area, &left, &hints, 12);
}

/// The request in a few words: `Run this command?  in ~/src/app`, `Change src/main.rs?  +14 −3`.
/// Where the row is `alone`, nothing below names the subject, so this does.
fn heading(paint: &Paint<'_>, request: &Request, width: u16, alone: bool) -> Vec<Piece<'static>> {
    let loud = |text: &str| piece(text.to_owned(), paint.style(Role::NeedsYou));
    let strong = |text: String| piece(text, paint.style(Role::PanelTitle));
    let dim = |text: String| piece(text, paint.style(Role::Dim));
    match &request.ask {
        Ask::Approval(approval) => match &approval.proposal {
            Proposal::Command { command, .. } if alone => {
                vec![loud("Run? "), strong(expose(&one_line(command, paint.signs.cut)))]
            }
            Proposal::Command { cwd, .. } if in_title(paint, cwd, width) => {
                vec![loud("Run this command?"), dim(format!("  {}", place(paint, cwd)))]
            }
            Proposal::Command { .. } => vec![loud("Run this command?")],
            Proposal::Change { diff, .. } => {
                let verb = match diff {
                    FileDiff { is_new: true, .. } => "Create",
                    FileDiff { is_gone: true, .. } => "Delete",
                    _ => "Change",
                };
                let mut said = vec![
                    loud(verb),
                    strong(format!(" {}", expose(&diff.path))),
                    loud("?"),
                    piece(format!("  +{}", diff.added), paint.style(Role::Good)),
                ];
                // A new file takes nothing away.
                if !diff.is_new || diff.removed > 0 {
                    let removed = format!(" {}{}", paint.signs.minus, diff.removed);
                    said.push(piece(removed, paint.style(Role::Error)));
                }
                said
            }
            Proposal::Address { url } if alone => {
                vec![loud("Fetch? "), strong(expose(&one_line(url, paint.signs.cut)))]
            }
            Proposal::Address { .. } => vec![loud("Fetch this address?")],
            Proposal::Connect { to, .. } => {
                vec![loud("Allow network access to "), strong(expose(&one_line(to, paint.signs.cut))), loud("?")]
            }
            Proposal::Changes { changes } => {
                let sum = |of: fn(&FileDiff) -> u32| approval.proposal.diffs().map(of).fold(0, u32::saturating_add);
                vec![
                    loud(&format!("Change {}?", count(changes.len(), "file", "files"))),
                    piece(format!("  +{}", sum(|diff| diff.added)), paint.style(Role::Good)),
                    piece(format!(" {}{}", paint.signs.minus, sum(|diff| diff.removed)), paint.style(Role::Error)),
                ]
            }
            Proposal::Script { language, .. } => {
                vec![loud("Run this script?"), dim(format!("  {}", clean_line(language)))]
            }
            Proposal::Plain if alone => {
                vec![loud("Allow? "), strong(expose(&one_line(&approval.subject, paint.signs.cut)))]
            }
            Proposal::Plain => vec![loud(&format!("Allow {}?", clean_line(&approval.tool)))],
        },
        Ask::Plan(plan) => vec![loud("Is this plan good?"), strong(format!("  {}", expose_line(&plan.title)))],
        Ask::Question(question) if alone => vec![loud("Asks: "), strong(clean_line(&question.text).into_owned())],
        Ask::Question(_) => vec![loud("A question for you")],
        Ask::Trust(request) => trust::heading(request).into_iter().map(loud).collect(),
        Ask::Key(wanted) => {
            vec![loud("A key for "), strong(clean_line(wanted.connection.as_str()).into_owned()), loud("?")]
        }
    }
}

/// Directory of a command.
fn place(paint: &Paint<'_>, cwd: &Path) -> String {
    format!("in {}", expose(&paint.home_path(cwd)))
}

/// The title says where a command runs, if that fits there beside the keys; else it stands below the command.
fn in_title(paint: &Paint<'_>, cwd: &Path, width: u16) -> bool {
    cells::width(&place(paint, cwd)) + TITLE <= usize::from(width)
}

/// The first line, marked when there are more.
fn one_line(text: &str, cut: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} {cut}"),
        None => text.to_owned(),
    }
}

/// The exact effect, in lines of `width` cells. Cached until request, width or theme change.
fn body(paint: &mut Paint<'_>, view: View<'_>, width: u16) -> Rc<Vec<Line<'static>>> {
    let (theme, request) = (paint.look.theme, view.request);
    if let Some(known) = &paint.cache.asked
        && known.width == width
        && known.theme == theme.name
        && known.request == *request
        && known.plan == view.panel.plan
        && known.unified == paint.state.unified
    {
        paint.found.panel_steps.clone_from(&known.steps);
        return Rc::clone(&known.lines);
    }
    let mut steps = Vec::new();
    let look = chat::Look { theme, glyphs: paint.look.glyphs };
    let lines = Rc::new(match &request.ask {
        Ask::Approval(approval) => approval::body(paint, approval, width, &look),
        Ask::Plan(review) => {
            let (lines, ends) = plan::body(paint, review, view.panel.plan.as_deref(), width, &look);
            steps = ends;
            lines
        }
        Ask::Question(question) => chat::markdown_with(&question.text, width, &look),
        Ask::Trust(request) => trust::body(paint, request, width),
        Ask::Key(wanted) => key::body(paint, wanted, width),
    });
    paint.found.panel_steps.clone_from(&steps);
    let plan = view.panel.plan.clone();
    let (theme, lines_kept) = (theme.name.clone(), Rc::clone(&lines));
    let unified = paint.state.unified;
    let kept = Body { request: request.clone(), plan, width, theme, unified, lines: lines_kept, steps };
    paint.cache.asked = Some(kept);
    lines
}

/// A sentence, broken between words.
fn words(paint: &Paint<'_>, text: &str, width: u16, role: Role) -> Vec<Line<'static>> {
    let span = Span::styled(text.to_owned(), paint.flat(paint.style(role)));
    text::wrap(&[span], usize::from(width), &[], &[], Fold::Words)
}

fn styled(paint: &Paint<'_>, text: &str, width: u16, role: Role) -> Vec<Line<'static>> {
    let style = paint.style(role);
    cells::wrap(text, usize::from(width)).into_iter().map(|line| Line::styled(line, style)).collect()
}

fn answer_rows(paint: &mut Paint<'_>, view: View<'_>, width: u16) -> usize {
    match &view.panel.stage {
        Stage::Choosing => view.panel.choices.len() + kept::lines(paint, view, width).len(),
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
            1 + problem + composer::answer_rows(paint, &view.request.id, text, width).clamp(1, most)
        }
    }
}

fn answers_list(paint: &mut Paint<'_>, view: View<'_>, area: Rect) {
    let context = context(view.request);
    let letters: Vec<Option<String>> = view
        .panel
        .choices
        .iter()
        .map(|choice| verb(choice).and_then(|verb| paint.key(Action::Answer(verb), context)))
        .collect();
    let widest = letters.iter().flatten().map(|key| cells::width(key)).max().unwrap_or(0);
    // What a yes for longer keeps stands below it once it is selected.
    let details = kept::lines(paint, view, area.width);
    let selected = view.panel.selected.unwrap_or(0);
    // Where not all fit, those around the selected one are shown, and below them the keys of the others.
    let others = area.height > 2 && view.panel.choices.len() + details.len() > usize::from(area.height);
    let whole = area;
    let area = Rect { height: area.height - u16::from(others), ..area };
    let rows = usize::from(area.height);
    let first = (selected + details.len()).saturating_sub(rows.saturating_sub(1)).min(selected);
    let capped = matches!(&view.request.ask, Ask::Plan(plan) if plan.capped);
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
        let mut pieces = vec![paint.piece(format!("{}  ", n + 1), Role::Dim)];
        if widest > 0 {
            let key = letters.get(n).and_then(Option::as_deref).unwrap_or("");
            let blanks = widest - cells::width(key) + 2;
            pieces.push(paint.piece(format!("{key}{:blanks$}", ""), key_role));
        }
        let label = clean_line(choice.label());
        let role = if chosen { Role::Strong } else { Role::Text };
        pieces.push(paint.piece(label, role));
        if choice.scope().is_some() && !chosen {
            pieces.push(paint.piece(format!("   remembers {}", kept::in_short(view.panel)), Role::Dim));
        }
        if chosen && !capped {
            let other = match choice {
                Choice::PlanCompactToAsk => Some(Mode::Execute),
                Choice::PlanCompactToExecute => Some(Mode::Ask),
                _ => None,
            };
            pieces.extend(other.map(|mode| paint.piece(format!("   again: {}", mode.shown()), Role::Dim)));
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
        let key = |n: usize| letters.get(n).cloned().flatten().unwrap_or_else(|| (n + 1).to_string());
        let words: Vec<String> = hidden
            .iter()
            .filter_map(|n| view.panel.choices.get(*n))
            .map(|choice| first_word(&clean_line(choice.label())).to_owned())
            .collect();
        let with_words: Vec<_> = hidden.iter().zip(&words).map(|(n, word)| (Some(key(*n)), word.as_str())).collect();
        let keys: Vec<_> = hidden.iter().map(|n| (Some(key(*n)), "")).collect();
        let long = paint.hints(&with_words);
        let fits = cells::pieces_width(&long) <= usize::from(whole.width);
        let row = if fits { long } else { paint.hints(&keys) };
        paint.pieces(cells::row(whole, area.height), &row);
    }
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
        Choice::PlanCompactToAsk | Choice::PlanCompactToExecute => AnswerAction::PlanCompact,
        Choice::PlanChanges => AnswerAction::PlanChanges,
        Choice::PlanEdit => AnswerAction::PlanEdit,
        Choice::PlanDecline => AnswerAction::PlanDecline,
        Choice::Words => AnswerAction::Words,
        Choice::Option(_) | Choice::Trust | Choice::Distrust | Choice::Key | Choice::NoKey | Choice::StepComment(_) => {
            return None;
        }
    })
}

/// Keymap context of this request.
pub(in crate::ui) fn context(request: &Request) -> Context {
    match request.ask {
        Ask::Approval(_) => Context::Approval,
        Ask::Plan(_) => Context::Plan,
        Ask::Question(_) | Ask::Trust(_) | Ask::Key(_) => Context::Question,
    }
}
