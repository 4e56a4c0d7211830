//! Preview of an undo: what it would do to files.

use super::super::cells::{self, Piece};
use super::super::figures::count;
use super::super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::clock::Clock;
use crate::app::state::overlay::UndoCard;
use crate::domain::At;
use crate::domain::sanitise::{clean_line, reveal_line};
use crate::domain::undo::{COMMITS_STAY, UndoAim, UndoDeed, UndoFile, UndoPlan, UndoState};
use crate::keymap::action::{Action, Context, PickerAction, UndoAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Limit of an undo.
pub(in crate::ui) const ONLY_HERE: &str = "What commands changed outside the working directory stays as it is.";

/// Cells of the sheet at the most.
const WIDTH: u16 = 96;
/// Rows of the list at the most.
const ROWS: u16 = 18;
/// Sentences of what is not known that are shown.
const GAPS: usize = 3;

pub(super) fn draw(paint: &mut FrameContext<'_>, card: &UndoCard, body: Rect) {
    let Some(plan) = &card.plan else {
        let title = [paint.piece(heading(paint.state.clock, card, None), Role::PanelTitle)];
        let inner = super::sheet(paint, body, WIDTH, 2, &title, &[]);
        let text = format!("{} comparing the files", paint.spin());
        paint.over(cells::row(inner, 0), &text, Role::Running);
        return;
    };
    let goes = plan.files.iter().filter(|file| card.restores(file)).count();
    let verb = match (&card.rewind, goes) {
        (Some(_), 0) => "rewind, keep files".to_owned(),
        (Some(_), n) => format!("rewind with {}", count(n, "file", "files")),
        (None, 0) => "skip it".to_owned(),
        (None, n) if card.aim == UndoAim::Redo => format!("redo {}", count(n, "file", "files")),
        (None, n) => format!("restore {}", count(n, "file", "files")),
    };
    let title = [paint.piece(heading(paint.state.clock, card, Some(plan)), Role::NeedsYou)];
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox);
    let chosen = plan.files.get(card.selected);
    let ticks = matches!(
        chosen.map(|file| &file.state),
        Some(UndoState::Changed(_) | UndoState::Between(_) | UndoState::Risky(_))
    );
    let tick = paint.key(Action::Undo(UndoAction::Tick), Context::Undo).filter(|_| ticks);
    let also = chosen.is_some_and(|file| card.also.contains(&file.path));
    let word = match (chosen.map(|file| &file.state), also) {
        (Some(UndoState::Between(_)), true) => "keep others' changes",
        (Some(UndoState::Between(_)), false) => "restore all",
        (_, true) => "leave",
        (_, false) => "include",
    };
    let width = usize::from(if body.width < 60 { body.width } else { WIDTH.min(body.width - 8) }.saturating_sub(4));
    let foot = foot(paint, card, plan, width, body.height);
    let rows = u16::try_from(plan.files.len().max(1)).unwrap_or(u16::MAX).min(ROWS);
    let below = u16::try_from(foot.len()).unwrap_or(0);
    let about = about(card, plan, paint.signs.cut).filter(|_| body.height >= 14);
    let above = if about.is_some() { 2 } else { 0 };
    let wanted = above + rows + below + u16::from(below > 0);
    let mut inner = super::sheet(paint, body, WIDTH, wanted, &title, &[(accept, verb.as_str()), (tick, word)]);
    if let Some(about) = about {
        paint.over(cells::row(inner, 0), &about, Role::Dim);
        inner = Rect { y: inner.y + above, height: inner.height.saturating_sub(above), ..inner };
    }
    let room = inner.height.saturating_sub(below + u16::from(below > 0)).max(1);
    let list = Rect { height: rows.min(room), ..inner };
    paint.found.overlay_rows = list.height;
    if plan.files.is_empty() {
        let text = if plan.gaps.is_empty() { "All files are unchanged" } else { "No files to restore" };
        paint.over(cells::row(list, 0), text, Role::Dim);
    }
    files(paint, card, plan, list);
    let first = list.height + u16::from(inner.height > list.height + below);
    for (n, line) in foot.into_iter().enumerate() {
        let at = first + u16::try_from(n).unwrap_or(u16::MAX);
        if at < inner.height {
            let (text, role) = line;
            paint.over(cells::row(inner, at), &text, role);
        }
    }
}

/// Question of the sheet.
pub(in crate::ui) fn heading(time: Clock, card: &UndoCard, plan: Option<&UndoPlan>) -> String {
    let at = plan.filter(|plan| plan.at > At(0)).map(|plan| clock(time, plan.at));
    match (&card.aim, at) {
        (UndoAim::Since(_), _) => "Rewind and restore files".to_owned(),
        (UndoAim::Redo, Some(at)) => format!("Redo the changes undone at {at}?"),
        (UndoAim::Redo, None) => "Redo".to_owned(),
        (UndoAim::Last, Some(at)) => format!("Undo the turn of {at}?"),
        (UndoAim::Last, None) => "Undo".to_owned(),
    }
}

/// Request of the user in the turn that is undone; `cut` stands where it goes on.
pub(in crate::ui) fn about(card: &UndoCard, plan: &UndoPlan, cut: &str) -> Option<String> {
    let about = clean_line(plan.about.trim()).into_owned();
    if about.is_empty() || card.aim != UndoAim::Last {
        return None;
    }
    let short: String = about.chars().take(60).collect();
    let cut = if short.len() < about.len() { cut } else { "" };
    Some(format!("\u{201c}{short}{cut}\u{201d}"))
}

/// `12:03` on the user's clock, with the day where it is not today.
fn clock(time: Clock, at: At) -> String {
    let offset = i64::from(time.utc_offset) * 1000;
    let local = |at: At| at.0.saturating_add(offset);
    let minutes = local(at).div_euclid(60_000).rem_euclid(24 * 60);
    let minute = format!("{:02}:{:02}", minutes / 60, minutes % 60);
    let day = |at: At| local(at).div_euclid(86_400_000);
    if day(at) == day(time.now) {
        return minute;
    }
    format!("{minute}, {}", super::super::figures::day(at, time.now, time.utc_offset))
}

fn files(paint: &mut FrameContext<'_>, card: &UndoCard, plan: &UndoPlan, list: Rect) {
    let height = usize::from(list.height).max(1);
    let last = plan.files.len().saturating_sub(height);
    let first = card.selected.saturating_sub(height / 2).min(last);
    for (n, file) in plan.files.iter().enumerate().skip(first).take(height) {
        let area = cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX));
        let band = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
        let selected = n == card.selected;
        if selected {
            paint.tint(band, Role::Selected);
        }
        let (sign, sign_role) = match (&file.state, card.restores(file)) {
            (UndoState::Lost(_), _) => (paint.signs.dot, Role::Faint),
            (UndoState::Changed(_) | UndoState::Risky(_), false) => (paint.signs.marks.warning, Role::Warning),
            (UndoState::Changed(_) | UndoState::Between(_) | UndoState::Risky(_), _) => {
                (paint.signs.marks.check, Role::Warning)
            }
            (UndoState::Ready, _) if file.during.is_some() => (paint.signs.marks.check, Role::Warning),
            (UndoState::Ready, _) => (paint.signs.marks.check, Role::Good),
        };
        let name = if card.restores(file) { Role::Text } else { Role::Dim };
        let lead = format!("{sign} {:<8}", deed(&card.aim, file.deed));
        let figures = figures(paint, card, file);
        let room = usize::from(area.width).saturating_sub(cells::width(&lead) + cells::pieces_width(&figures) + 2);
        let path = reveal_line(&file.shown);
        let path = cells::cut_start(&path, room.max(8), paint.signs.cut).into_owned();
        let mut left = vec![
            paint.piece(format!("{sign} "), sign_role),
            paint.piece(format!("{:<8}", deed(&card.aim, file.deed)), Role::Dim),
            paint.piece(path, if selected { Role::Strong } else { name }),
        ];
        let mut right = figures;
        for piece in left.iter_mut().chain(&mut right) {
            piece.1.bg = None;
        }
        paint.sides(area, &left, &right, 18);
        paint.target(band, Target::OverlayRow(n));
    }
}

/// Planned action in a word.
pub(in crate::ui) fn deed(aim: &UndoAim, deed: UndoDeed) -> &'static str {
    match deed {
        UndoDeed::Change if *aim == UndoAim::Redo => "change",
        UndoDeed::Remove => "remove",
        UndoDeed::Bring => "restore",
        UndoDeed::Change => "revert",
        UndoDeed::Mode => "rights",
    }
}

/// Reason why a file is no plain case, in a few words.
pub(in crate::ui) fn case(card: &UndoCard, file: &UndoFile) -> Option<&'static str> {
    Some(match &file.state {
        UndoState::Lost(_) => "not possible",
        UndoState::Changed(_) if card.restores(file) => "changed since, restored anyway",
        UndoState::Changed(_) => "changed since, skipped",
        UndoState::Risky(_) if card.restores(file) => "may run code, restored anyway",
        UndoState::Risky(_) => "may run code, skipped",
        UndoState::Between(_) if card.also.contains(&file.path) => "changed between, restored anyway",
        UndoState::Between(_) => "changed between, change kept",
        UndoState::Ready if file.during.is_some() => "while a command ran",
        UndoState::Ready => return None,
    })
}

fn figures(paint: &FrameContext<'_>, card: &UndoCard, file: &UndoFile) -> Vec<Piece<'static>> {
    let role = if matches!(file.state, UndoState::Lost(_)) { Role::Faint } else { Role::Warning };
    let mut out: Vec<Piece<'static>> = case(card, file).map(|text| paint.piece(text, role)).into_iter().collect();
    if let Some((added, removed)) = file.lines.filter(|_| !matches!(file.state, UndoState::Lost(_))) {
        let gap = if out.is_empty() { "" } else { "  " };
        out.push(paint.piece(format!("{gap}+{added}"), Role::DiffAdded));
        out.push(paint.piece(format!(" {}{removed}", paint.signs.minus), Role::DiffRemoved));
    }
    out
}

/// Evidence for the [`case`] of a file: sentences.
pub(in crate::ui) fn reasons(card: &UndoCard, file: &UndoFile) -> Vec<String> {
    let mut out = Vec::new();
    if let UndoState::Changed(why) | UndoState::Between(why) | UndoState::Risky(why) | UndoState::Lost(why) =
        &file.state
    {
        out.push(clean_line(why).into_owned());
    }
    if let Some(command) = file.during.as_ref().filter(|_| card.restores(file)) {
        out.push(format!("Changed while `{}` ran: by the command or by you.", clean_line(command)));
    }
    out
}

/// Reason why the selected file is not restored, and what is not known.
fn foot(paint: &FrameContext<'_>, card: &UndoCard, plan: &UndoPlan, width: usize, height: u16) -> Vec<(String, Role)> {
    let mut out = Vec::new();
    let most = if height < 14 { 2 } else { 8 };
    for why in plan.files.get(card.selected).map(|file| reasons(card, file)).unwrap_or_default() {
        out.extend(super::sheet::folded(&why, width).into_iter().map(|line| (line, Role::Warning)));
    }
    if plan.commits {
        out.extend(super::sheet::folded(COMMITS_STAY, width).into_iter().map(|line| (line, Role::Warning)));
    }
    for gap in plan.gaps.iter().take(GAPS) {
        let text = format!("{} incomplete record: {}", paint.signs.marks.warning, clean_line(gap));
        out.extend(super::sheet::folded(&text, width).into_iter().map(|line| (line, Role::Warning)));
    }
    if plan.gaps.len() > GAPS {
        out.push((format!("and {} more gaps", plan.gaps.len() - GAPS), Role::Dim));
    }
    if card.rewind.is_none() && height >= 20 {
        out.extend(super::sheet::folded(ONLY_HERE, width).into_iter().map(|line| (line, Role::Faint)));
    }
    out.truncate(most);
    out
}
