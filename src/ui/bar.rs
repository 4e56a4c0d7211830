//! The last rows, below the status line: the keys of the place that has the focus, and in their place a notice for its
//! time. What the status line says stays in sight.

use super::cells::{self, Piece};
use super::frame_context::FrameContext;
use crate::app::msg::Target;
use crate::app::state::chat::Density;
use crate::app::state::ending::Quit;
use crate::app::state::engine_facts::EngineLine;
use crate::app::state::panel::{Extent, Stage};
use crate::app::state::{Focus, State};
use crate::domain::notice::Level;
use crate::domain::request::Ask;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, Context, ListAction, ModeAction, ModelAction,
    PaneAction, PickerAction, SessionAction,
};
use crate::keymap::key::chord_name;
use crate::theme::Role;
use ratatui::layout::Rect;

/// Height from which there is room for the keys of a place.
const ROOMY: u16 = 24;
/// Height below which a notice takes the status line.
const LOW: u16 = 8;
/// Rows of a notice at the most.
const MOST: usize = 3;
/// Height below which a notice has a row less.
const SHORT: u16 = 14;

fn most(paint: &FrameContext<'_>) -> usize {
    if paint.buf.area.height < SHORT { MOST - 1 } else { MOST }
}

/// Rows that the bar takes on a screen of this size.
pub(super) fn rows(paint: &FrameContext<'_>, area: Rect) -> u16 {
    if area.height < LOW {
        return 0;
    }
    let said = said(paint, usize::from(area.width).saturating_sub(2)).len();
    u16::try_from(said).unwrap_or(0).max(u16::from(area.height >= ROOMY))
}

/// True while the bar shows the keys of the place that has the focus.
pub(super) fn shows_keys(paint: &FrameContext<'_>) -> bool {
    let area = paint.buf.area;
    area.height >= ROOMY && said(paint, usize::from(area.width).saturating_sub(2)).is_empty()
}

/// True while the bar names the keys of the request that has the focus.
pub(super) fn names_answers(paint: &FrameContext<'_>) -> bool {
    let state = paint.state;
    let chooses = state.panel().is_some_and(|(panel, _)| matches!(panel.stage, Stage::Choosing));
    state.overlays.is_empty() && state.focus == Focus::Panel && chooses && shows_keys(paint)
}

/// Draws the bar.
pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    paint.fill(area, Role::Status);
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let said = said(paint, usize::from(inner.width));
    for (n, line) in (0..inner.height).zip(&said) {
        paint.pieces(cells::row(inner, n), line);
    }
    if said.is_empty() {
        keys(paint, cells::row(inner, 0));
    }
}

/// The keys of this place, as many as there is room for, each to be clicked.
fn keys(paint: &mut FrameContext<'_>, row: Rect) {
    let here = paint.state.contexts().first().copied().unwrap_or(Context::Global);
    let mut rest = row;
    for (action, word) in of_place(paint) {
        // Esc has its own word in few places, and is the one to name.
        let place = if action == AppAction::Back.into() { Context::Global } else { here };
        let Some(key) = paint.key_of(action, place) else { continue };
        let pieces = [paint.piece(key, Role::Key), paint.piece(format!(" {word}"), Role::Dim)];
        let wide = cells::pieces_width(&pieces);
        if wide > usize::from(rest.width) {
            break;
        }
        let used = paint.pieces(rest, &pieces);
        // Nothing is answered by a click.
        if action != AnswerAction::Confirm.into() {
            paint.target(Rect { width: used, ..rest }, Target::Act(action));
        }
        rest = cells::after(rest, used + 2);
    }
}

/// Actions of the place that has the focus, the most used first.
fn of_place(paint: &FrameContext<'_>) -> Vec<(Action, &'static str)> {
    let state = paint.state;
    if !state.overlays.is_empty() {
        return Vec::new();
    }
    match state.focus {
        Focus::List if !state.sessions.marks.is_empty() => vec![
            (SessionAction::Archive.into(), "archive"),
            (SessionAction::Status.into(), "status"),
            (SessionAction::Labels.into(), "label"),
            (SessionAction::Flag.into(), "flag"),
            (SessionAction::Delete.into(), "delete"),
            (AppAction::Back.into(), "unmark"),
        ],
        Focus::List if state.sessions.filter_open() => {
            vec![(PickerAction::Accept.into(), "keep the filter"), (AppAction::Back.into(), "show all")]
        }
        Focus::List => vec![
            (ListAction::Open.into(), "open"),
            (ListAction::New.into(), "new"),
            (ListAction::Filter.into(), "filter"),
            (ListAction::Rename.into(), "rename"),
            (SessionAction::Status.into(), "status"),
            (SessionAction::Labels.into(), "label"),
            (SessionAction::Flag.into(), "flag"),
            (SessionAction::Archive.into(), "archive"),
            (SessionAction::Delete.into(), "delete"),
            (PaneAction::Next.into(), "next pane"),
        ],
        Focus::Chat => [unfold(state)]
            .into_iter()
            .flatten()
            .chain([
                (ChatAction::Search.into(), "search"),
                (ChatAction::PreviousMessage.into(), "previous message"),
                (ChatAction::Copy.into(), "copy"),
                (ChatAction::Open.into(), "open"),
                (ChatAction::End.into(), "end"),
                (PaneAction::Next.into(), "next pane"),
            ])
            .collect(),
        Focus::Panel => answering(paint),
        Focus::Composer => vec![
            (ComposerAction::Send.into(), enter(state)),
            (ComposerAction::Newline.into(), "new line"),
            (ModeAction::Next.into(), "mode"),
            (ModelAction::Pick.into(), "model"),
            (AppAction::Palette.into(), "commands"),
            (SessionAction::New.into(), "new session"),
            (PaneAction::Next.into(), "next pane"),
            (AppAction::Help.into(), "help"),
        ],
    }
}

/// Keys of the request that has the focus.
fn answering(paint: &FrameContext<'_>) -> Vec<(Action, &'static str)> {
    let Some((panel, _)) = paint.state.panel() else { return Vec::new() };
    if !matches!(panel.stage, Stage::Choosing) {
        return vec![(AppAction::Back.into(), "back")];
    }
    let full = panel.extent == Extent::Full;
    let mut keys: Vec<(AnswerAction, &'static str)> = Vec::new();
    keys.extend(panel.selected.map(|_| (AnswerAction::Confirm, "answer")));
    keys.push((AnswerAction::Next, "choose"));
    keys.extend(super::panel::step_verbs(panel));
    if paint.found.panel_hidden > 0 {
        keys.push((AnswerAction::ScrollDown, "scroll"));
    }
    let size = (paint.found.panel_hidden > 0 || full).then_some(if full { "smaller" } else { "full screen" });
    let size = size.map(|word| (Action::from(AnswerAction::Full), word));
    let keys = keys.into_iter().map(|(verb, word)| (Action::from(verb), word));
    keys.chain([(AppAction::Back.into(), "later")]).chain(size).collect()
}

/// Effect of Enter in the conversation; `None` where what is chosen has nothing to unfold.
pub(super) fn unfold(state: &State) -> Option<(Action, &'static str)> {
    let chat = &state.current_open()?.chat;
    let at = chat.cursor.or_else(|| chat.drawn.top.map(|top| top.0)).or_else(|| chat.entries.back().map(|one| one.key));
    let key = at.filter(|key| chat.folds(*key))?;
    let open = chat.toggled.contains(&key) != (chat.density == Density::Full);
    Some((ChatAction::Fold.into(), if open { "fold" } else { "unfold" }))
}

/// Effect of Enter in the composer, with a text where there is none yet.
pub(super) fn enter(state: &State) -> &'static str {
    if let (true, Some(does)) = (state.composer().is_empty(), state.empty_enter()) {
        return does.word();
    }
    match state.panel().map(|(_, request)| &request.ask) {
        Some(Ask::Question(_)) => "answer",
        _ if state.composer().text().starts_with('!') => "run",
        _ if state.running() => "queue",
        _ => "send",
    }
}

/// Words for a time: quitting, an unfinished chord, the newest notice; in rows of `width` cells.
pub(super) fn said(paint: &FrameContext<'_>, width: usize) -> Vec<Vec<Piece<'static>>> {
    let state = paint.state;
    match state.ending.quit {
        Quit::Ending => return vec![vec![paint.piece(format!("saving {}", paint.signs.ellipsis()), Role::Text)]],
        Quit::OnceMore(key) => {
            let key = paint.key_name(&chord_name(&[key]));
            return vec![vec![paint.piece(key, Role::Key), paint.piece(" again to quit", Role::Text)]];
        }
        Quit::No => {}
    }
    if !state.input.chord.keys.is_empty() {
        let key = paint.key_name(&chord_name(&state.input.chord.keys));
        let dots = paint.piece(format!(" {}", paint.signs.ellipsis()), Role::Dim);
        return vec![vec![paint.piece(key, Role::Key), dots]];
    }
    let mut said = line(paint).unwrap_or_default();
    said.extend(notice(paint, width).or_else(|| undo(paint)).unwrap_or_default());
    said.truncate(most(paint));
    said
}

/// The line to a gateway, while it is lost.
fn line(paint: &FrameContext<'_>) -> Option<Vec<Vec<Piece<'static>>>> {
    let (state, why, waiting) = match &paint.state.engine.line {
        EngineLine::Own | EngineLine::Joined => return None,
        EngineLine::Reconnecting { why, waiting } => ("Reconnecting", why, *waiting),
        EngineLine::Down { why, waiting } => ("Not connected, any key tries again", why, *waiting),
    };
    let waiting = match waiting {
        0 => String::new(),
        1 => "1 message waits, ".to_owned(),
        n => format!("{n} messages wait, "),
    };
    let mark = paint.signs.marks.warning;
    let text = format!("{mark} {state}: {waiting}{}", clean_line(why));
    Some(vec![vec![paint.piece(text, Role::Warning)]])
}

/// The way back, where the list has no row for it.
fn undo(paint: &FrameContext<'_>) -> Option<Vec<Vec<Piece<'static>>>> {
    let state = paint.state;
    let undo =
        state.sessions.undo.as_ref().filter(|undo| undo.is_open(state.clock.now) && paint.found.list_rows < 5)?;
    let mut said = vec![paint.piece(format!("{}   ", clean_line(&undo.what)), Role::Text)];
    said.extend(paint.hints(&[super::session_list::undo_hint(paint)]));
    Some(vec![said])
}

/// The newest notice: what it says to do stays whole, its words are cut before that.
fn notice(paint: &FrameContext<'_>, width: usize) -> Option<Vec<Vec<Piece<'static>>>> {
    let notice = paint.state.notices.last()?;
    let (lead, role) = match notice.level {
        Level::Info => (String::new(), Role::Text),
        Level::Warning => (format!("{} ", paint.signs.marks.warning), Role::Warning),
        Level::Error => (format!("{} ", paint.signs.marks.warning), Role::Error),
    };
    let more = paint.state.notices.iter().len().saturating_sub(1);
    let more = if more > 0 { format!("   {more} more") } else { String::new() };
    let text = clean_line(&notice.text).into_owned();
    let hint = clean_line(&notice.hint).into_owned();
    let room = width.saturating_sub(cells::width(&lead)).max(1);
    let gap = if hint.is_empty() { "" } else { "   " };
    let one = cells::width(&text) + gap.len() + cells::width(&hint);
    let mut rows: Vec<Vec<Piece<'static>>> = Vec::new();
    if one <= room {
        rows.push(vec![paint.piece(text, role), paint.piece(format!("{gap}{hint}"), Role::Dim)]);
    } else {
        let most = most(paint);
        let (text, hint) = instruction_apart(&text, &hint, (room, most));
        let hints = lines(&hint, room, most - 1, paint.signs.cut);
        let words = lines(&text, room, most.saturating_sub(hints.len()).max(1), paint.signs.cut);
        rows.extend(words.into_iter().map(|line| vec![paint.piece(line, role)]));
        rows.extend(hints.into_iter().map(|line| vec![paint.piece(line, Role::Dim)]));
    }
    if let Some(last) = rows.last_mut().filter(|last| cells::pieces_width(last) + cells::width(&more) <= room) {
        last.push(paint.piece(more, Role::Faint));
    }
    for (n, row) in rows.iter_mut().enumerate() {
        let lead = if n == 0 { lead.clone() } else { " ".repeat(cells::width(&lead)) };
        row.insert(0, paint.piece(lead, role));
    }
    Some(rows)
}

/// A text in at most `most` lines of `room` cells, the last one cut where there is more.
fn lines(text: &str, room: usize, most: usize, cut: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines = cells::wrap(text, room);
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(cells::cut(&rest, room, cut).into_owned());
    }
    lines
}

/// The text and what it says to do. Where a notice without a hint is longer than its rows, its last sentence is the
/// instruction, which must not be what is cut off.
fn instruction_apart(text: &str, hint: &str, (room, most): (usize, usize)) -> (String, String) {
    let whole = || (text.to_owned(), hint.to_owned());
    if !hint.is_empty() || cells::wrap(text, room).len() <= most {
        return whole();
    }
    match text.rsplit_once(". ") {
        Some((what, todo)) if !todo.trim().is_empty() => (format!("{what}."), todo.trim().to_owned()),
        _ => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_notice_says_to_do_is_not_cut_off() {
        let long = "Key of anthropic stored, not checked: the address of api.anthropic.com cannot be found, and some \
            more words about it that nobody needs to read. Check the network, or base_url.";
        let (text, hint) = instruction_apart(long, "", (36, MOST));
        assert!(text.ends_with("needs to read.") && hint == "Check the network, or base_url.");
        assert_eq!(lines(&hint, 36, MOST - 1, "…"), ["Check the network, or base_url."]);
        let words = lines(&text, 36, MOST - 1, "…");
        assert!(words.len() == MOST - 1 && words[1].ends_with('…'), "{words:?}");
        // What fits stays as it is, and a hint that is longer than its rows says that it goes on.
        assert_eq!(instruction_apart("One. Two.", "", (36, MOST)), ("One. Two.".to_owned(), String::new()));
        assert!(lines(&"word ".repeat(40), 36, MOST - 1, "…")[1].ends_with('…'));
    }
}
