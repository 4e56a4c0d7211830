//! The composer: the draft with the real caret, and the line above it that tells of the turn.

use super::cells::{self, Piece, piece};
use super::figures::{bytes, count, elapsed};
use super::frame_context::FrameContext;
use super::layout::{Layout, Shape};
use super::layout_cache::LaidText;
use super::mode::{mode, mode_role};
use super::{editor, queue};
use crate::app::msg::Target;
use crate::app::state::Focus;
use crate::app::state::composer::Picked;
use crate::app::state::empty_enter::EmptyEnter;
use crate::app::state::files::File;
use crate::app::state::open::Turn;
use crate::app::state::panel::Stage;
use crate::app::state::vim::Mode;
use crate::domain::message::Body;
use crate::domain::plan::StepStatus;
use crate::domain::request::Ask;
use crate::domain::sanitise::clean_line;
use crate::domain::session::Activity;
use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, Context, SessionAction, TurnAction,
};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Cells of a file's name at the least, and at the most.
const FILE_NAME: usize = 6;
const WIDEST_NAME: usize = 32;

/// Width from which the key that skips the wait before a retry is shown.
const WIDE: usize = 60;
/// Silence within a response after which the screen mentions it.
const STALLED_MS: u64 = 10_000;
/// Time before a response begins after which the screen mentions it.
const UNUSUAL_MS: u64 = 5_000;

/// Rows that the draft takes.
pub(super) fn rows(paint: &mut FrameContext<'_>, width: u16) -> u16 {
    let laid = LaidText::Draft(paint.state.conversations.current.clone(), field_width(width));
    let known = paint.cache.draft.as_ref() == Some(&laid);
    let rows = editor::count_rows(paint.state.composer().editor(), field_width(width), known);
    paint.cache.draft = Some(laid);
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Blank, prompt, blank; and a blank at the right edge.
fn field_width(width: u16) -> u16 {
    width.saturating_sub(4).max(1)
}

/// The mode of the keys and what was begun, where the keymap has modes.
fn key_mode(paint: &FrameContext<'_>) -> Option<Vec<Piece<'static>>> {
    let state = paint.state;
    if !state.keys.modal() || state.focus != Focus::Composer {
        return None;
    }
    let vim = state.composer().vim();
    let role = if vim.mode() == Mode::Insert { Role::Dim } else { Role::Strong };
    let mut out = vec![paint.piece(format!(" {} ", vim.mode().word()), role)];
    let begun = vim.begun();
    if !begun.is_empty() {
        out.push(paint.piece(format!("{begun}{} ", paint.signs.ellipsis()), Role::Key));
    }
    Some(out)
}

/// Draws edge, queue, draft and the commands on offer.
pub(super) fn draw(paint: &mut FrameContext<'_>, layout: &Layout) {
    edge(paint, layout);
    queue::draw(paint, layout.queue);
    files(paint, layout.files);
    draft(paint, layout.composer);
    super::offer::draw(paint, layout);
}

/// The line above: what the turn does at its right end, how a command is used at its left.
fn edge(paint: &mut FrameContext<'_>, layout: &Layout) {
    let area = layout.edge;
    if area.is_empty() {
        return;
    }
    let role = if paint.state.focus == Focus::Composer && paint.state.overlays.is_empty() {
        Role::RuleFocus
    } else {
        Role::Rule
    };
    let line = paint.signs.lines.line.repeat(usize::from(area.width));
    paint.text(area, &line, role);
    if layout.shape == Shape::Both {
        let sign = paint.signs.lines.branch;
        let list = paint.state.focus == Focus::List && paint.state.overlays.is_empty();
        let role = if list { Role::RuleFocus } else { Role::Rule };
        paint.text(Rect { width: 1, ..area_at(layout.rule.x, area.y) }, sign, role);
    }
    let room = usize::from(area.width);
    let turn = turn_pieces(paint, room.saturating_sub(4));
    let wide = cells::pieces_width(&turn);
    let mut left_room = area.width.saturating_sub(2);
    if wide > 0 && wide + 4 <= room {
        let at = u16::try_from(room - wide - 3).unwrap_or(0);
        let place = Rect { width: u16::try_from(wide + 2).unwrap_or(0), ..cells::after(area, at) };
        // Without the attributes of the line that it interrupts.
        paint.fill(place, Role::Text);
        let mut pieces = vec![piece(" ", paint.style(Role::Rule))];
        pieces.extend(turn);
        pieces.push(piece(" ", paint.style(Role::Rule)));
        paint.pieces(place, &pieces);
        paint.target(place, Target::StopMark);
        left_room = at;
    }
    let left = Rect { width: left_room.saturating_sub(1), ..cells::after(area, 1) };
    if paint.state.searches.conversation.is_some() {
        search(paint, left);
    } else if let Some(pieces) = redelivery(paint) {
        paint.pieces(left, &pieces);
    } else if let Some(pieces) = trail(paint) {
        paint.pieces(left, &pieces);
    } else if let Some(hint) = paint.state.hint() {
        let usage = clean_line(&format!(" {}", hint.usage)).trim_end().to_owned();
        let about = clean_line(&hint.description);
        let pieces = [
            paint.piece(" ", Role::Rule),
            paint.piece(hint.name, Role::Strong),
            paint.piece(usage, Role::Text),
            paint.piece(format!("{}{about} ", if about.is_empty() { "" } else { "  " }), Role::Dim),
        ];
        paint.pieces(left, &pieces);
    } else {
        standing(paint, left);
    }
}

/// Contents of the line while nothing is asked there: the mode of the keys, lines below the pane, the plan that is
/// carried out. The plan goes first where there is no room.
fn standing(paint: &mut FrameContext<'_>, area: Rect) {
    let mut rest = area;
    if let Some(pieces) = key_mode(paint) {
        clear(paint, rest, cells::pieces_width(&pieces));
        let used = paint.pieces(rest, &pieces);
        rest = cells::after(rest, used + 1);
    }
    let below = paint.cache.chat.below().filter(|_| paint.state.current_open().is_some_and(|open| open.loaded));
    if let Some((words, role)) = below.map(|(words, role)| (format!(" {words} "), role))
        && cells::width(&words) <= usize::from(rest.width)
    {
        clear(paint, rest, cells::width(&words));
        let used = paint.text(rest, &words, role);
        paint.target(Rect { width: used, ..rest }, Target::ToEnd);
        rest = cells::after(rest, used + 1);
    }
    if let Some(pieces) = plan(paint, usize::from(rest.width)) {
        clear(paint, rest, cells::pieces_width(&pieces));
        paint.pieces(rest, &pieces);
    }
}

/// Takes the line and its attributes from under the first `cells` of `area`.
fn clear(paint: &mut FrameContext<'_>, area: Rect, cells: usize) {
    let width = u16::try_from(cells).unwrap_or(u16::MAX).min(area.width);
    paint.fill(Rect { width, ..area }, Role::Text);
}

/// Cells of a step below which only the figures of a plan are shown.
const STEP: usize = 12;

/// `plan 2/6 · write the tests`, while an approved plan is carried out.
fn plan(paint: &FrameContext<'_>, room: usize) -> Option<Vec<Piece<'static>>> {
    let plan = paint.state.current_open()?.plan.as_ref().filter(|plan| !plan.over)?;
    // One of which no step was begun says nothing of what happens, unless it is about to.
    if !paint.state.running() && plan.steps.iter().all(|step| step.status == StepStatus::Open) {
        return None;
    }
    let (done, of) = plan.figures();
    // The step that is named is the one that is counted.
    let figures = match plan.next() {
        Some(step) => format!(" step {} of {of} ", step.number),
        None => format!(" plan {done}/{of} "),
    };
    let left = room.checked_sub(cells::width(&figures))?;
    let mut out = vec![paint.piece(figures, Role::Accent)];
    let step = plan.next().map(|step| clean_line(step.line()).replace('`', "")).filter(|_| left >= STEP);
    if let Some(step) = step {
        let sign = format!("{} ", paint.signs.dot);
        let text = cells::cut(&step, left - cells::width(&sign) - 1, paint.signs.cut).into_owned();
        out.extend([paint.piece(sign, Role::Dim), paint.piece(format!("{text} "), Role::Text)]);
    }
    Some(out)
}

/// The search in the conversation: its words, and which hit is shown.
fn search(paint: &mut FrameContext<'_>, area: Rect) {
    let Some(search) = &paint.state.searches.conversation else { return };
    let found = match (search.hits.len(), search.at) {
        (0, _) if search.query.text().is_empty() => String::new(),
        (0, _) => "  no matches ".to_owned(),
        (all, Some(at)) => format!("  {} of {all} ", at + 1),
        (all, None) => format!("  {all} found "),
    };
    let mut hints = Vec::new();
    if !search.typing && !search.hits.is_empty() {
        let next = paint.key(Action::Chat(ChatAction::SearchNext), Context::Chat);
        let previous = paint.key(Action::Chat(ChatAction::SearchPrevious), Context::Chat);
        hints = vec![(next, "next"), (previous, "before")];
    }
    let found = paint.piece(found, Role::Dim);
    let before = u16::try_from(cells::width(&found.0)).unwrap_or(u16::MAX);
    let mut right = vec![found];
    right.extend(paint.hints(&hints));
    if !hints.is_empty() {
        right.push(paint.piece(" ", Role::Dim));
    }
    let sign = paint.pieces(area, &[paint.piece(" / ", Role::Key)]);
    let rest = cells::after(area, sign);
    // The words, a cell for the caret, then what was found.
    let words = u16::try_from(cells::width(search.query.text()) + 1).unwrap_or(u16::MAX).min(rest.width * 2 / 3);
    let field = Rect { width: words, ..rest };
    cells::fill(paint.buf, field, paint.style(Role::Text));
    paint.one_line(field, &search.query, search.typing && paint.state.overlays.is_empty());
    let behind = cells::after(rest, words);
    paint.pieces(behind, &right);
    paint.click_hints(cells::after(behind, before), &hints);
}

/// Notice that the messages left from the last run are sent in so many seconds, and how to prevent it.
fn redelivery(paint: &FrameContext<'_>) -> Option<Vec<Piece<'static>>> {
    let open = paint.state.current_open()?;
    let left = open.redelivery?.since(paint.state.clock.now).div_ceil(1_000);
    Some(vec![
        paint.piece(format!(" {} resends in {left}s ", paint.signs.bar), Role::Warning),
        paint.piece(" any key", Role::Key),
        paint.piece(" holds ", Role::Dim),
    ])
}

/// The way through the hits of a search over all sessions.
fn trail(paint: &FrameContext<'_>) -> Option<Vec<Piece<'static>>> {
    let state = paint.state;
    let trail = state.searches.trail.as_ref().filter(|trail| Some(&trail.session) == state.current_id())?;
    if state.focus != Focus::Chat {
        return None;
    }
    // Not all hits of a session are sent.
    let more = if trail.more { "+" } else { "" };
    let query = clean_line(&trail.query).into_owned();
    let mut out = vec![
        paint.piece(" / ", Role::Key),
        paint.piece(cells::cut(&query, 40, paint.signs.cut).into_owned(), Role::Strong),
        paint.piece(format!("  {} of {}{more}  ", trail.at + 1, trail.stops.len()), Role::Dim),
    ];
    let several = trail.stops.len() > 1;
    let next = paint.key(Action::Chat(ChatAction::SearchNext), Context::Chat).filter(|_| several);
    let previous = paint.key(Action::Chat(ChatAction::SearchPrevious), Context::Chat).filter(|_| several);
    let back = paint.key(Action::Session(SessionAction::Search), Context::Global);
    out.extend(paint.hints(&[(next, "next"), (previous, "before"), (back, "results")]));
    out.push(paint.piece(" ", Role::Dim));
    Some(out)
}

fn area_at(x: u16, y: u16) -> Rect {
    Rect { x, y, width: 1, height: 1 }
}

/// `⠹ 12s  ■ esc stops`, or what else the turn does, in at most `room` cells; the reason of a retry is cut for that.
fn turn_pieces(paint: &FrameContext<'_>, room: usize) -> Vec<Piece<'static>> {
    let state = paint.state;
    let Some(open) = state.current_open() else { return Vec::new() };
    let role = |text: String, role| piece(text, paint.style(role));
    if open.enhancing.is_some() {
        let here = state.focus != Focus::Panel && state.overlays.is_empty();
        let mut out = vec![role("enhancing the draft  ".to_owned(), Role::Running)];
        if let Some(key) = paint.key_of(Action::App(AppAction::Back), Context::Global).filter(|_| here) {
            out.extend([role(key, Role::Key), role(" keep yours".to_owned(), Role::Dim)]);
        }
        return out;
    }
    if open.turn.stopping {
        return vec![role(format!("{} stopping", paint.signs.session.stopping), Role::Dim)];
    }
    if state.checked_key().is_some() || !state.running() {
        return checking(paint, room).into_iter().collect();
    }
    // In a panel or an overlay the key that goes back does only that; with modes it ends the typing, and no turn.
    let types = state.keys.modal() && state.focus == Focus::Composer;
    let here = state.focus != Focus::Panel && state.overlays.is_empty();
    let mut stop = vec![role(format!("{} ", paint.signs.stop), Role::Running)];
    let stops = match types {
        false => Some(AppAction::Back),
        true => Some(AppAction::Interrupt).filter(|_| state.composer().is_empty()),
    };
    let key = stops.and_then(|stops| paint.key_of(Action::App(stops), Context::Global)).filter(|_| here);
    if let Some(key) = key {
        stop.push(role(key, Role::Key));
        stop.push(role(" stops".to_owned(), Role::Dim));
    } else {
        stop.push(role("stop".to_owned(), Role::Dim));
    }
    let waits = state.current_meta().is_some_and(|meta| matches!(meta.activity, Activity::NeedsYou(_)));
    let mut out = Vec::new();
    if let Some(retry) = &open.turn.retry {
        let wait = elapsed(retry.at.since(state.clock.now).div_ceil(1_000) * 1_000);
        let text = format!("retry {} of {} in {wait}", retry.attempt, retry.of);
        let mut now = Vec::new();
        // The draft names Enter for it while it is empty.
        let named = here && room >= WIDE && !state.composer().is_empty();
        if let Some(key) = paint.key_of(Action::Turn(TurnAction::Retry), Context::Global).filter(|_| named) {
            now.push(role(key, Role::Key));
            now.push(role(" now  ".to_owned(), Role::Dim));
        }
        out.push(role(format!("{text}  "), Role::Warning));
        out.extend(now);
    } else if let Some(connection) = open.turn.waiting.as_ref().filter(|_| !waits) {
        let text = format!("waiting for a slot at {}", clean_line(connection.as_str()));
        let left = room.saturating_sub(cells::pieces_width(&stop) + 2);
        out.push(role(format!("{}  ", cells::cut(&text, left, paint.signs.cut)), Role::Dim));
    } else if waits {
        // It stands still: nothing turns and no time is counted while the user thinks.
        out.push(role("waiting for you  ".to_owned(), Role::Dim));
        let left = room.saturating_sub(cells::pieces_width(&stop) + cells::pieces_width(&out));
        out.extend(
            inbox(paint)
                .filter(|named| open.requests.is_empty() && cells::pieces_width(named) <= left)
                .into_iter()
                .flatten(),
        );
    } else if let Some((part, of)) = open.turn.compacting {
        let parts = if of > 1 { format!(" {part} of {of}") } else { String::new() };
        let since = open.turn.started.map_or_else(String::new, |since| elapsed(state.clock.now.since(since)));
        out.push(role(format!("{} {since}  compacting{parts}  ", paint.spin()), Role::Running));
    } else if let Some(since) = open.turn.started {
        let spin = paint.spin();
        out.push(role(format!("{spin} {}  ", elapsed(state.clock.now.since(since))), Role::Running));
        let left = room.saturating_sub(cells::pieces_width(&stop) + 12);
        out.extend(starting(paint, &open.turn, left).or_else(|| silence(paint, left)));
    }
    out.extend(stop);
    out
}

/// `ctrl+x a requests  `: a request of a session that this one spawned stands in the list of all.
fn inbox(paint: &FrameContext<'_>) -> Option<[Piece<'static>; 2]> {
    let key = paint.key_of(Action::Answer(AnswerAction::Inbox), Context::Global)?;
    Some([piece(key, paint.style(Role::Key)), piece(" requests  ".to_owned(), paint.style(Role::Dim))])
}

/// `⠹ 2s  checking the key of openai`, while its server is asked.
fn checking(paint: &FrameContext<'_>, room: usize) -> Option<Piece<'static>> {
    // The field for the key says it too.
    let field = paint.state.panel().is_some_and(|(panel, _)| matches!(panel.stage, Stage::Secret { .. }));
    let check = paint.state.checked_key().filter(|_| !field)?;
    let text = super::panel::checking(paint, check);
    Some(piece(cells::cut(&text, room, paint.signs.cut).into_owned(), paint.style(Role::Running)))
}

/// `starting files, gone  `, while the request waits for its sources.
fn starting(paint: &FrameContext<'_>, turn: &Turn, room: usize) -> Option<Piece<'static>> {
    let names = Some(turn.starting.join(", ")).filter(|names| !names.is_empty())?;
    let text = format!("starting {}", clean_line(&names));
    Some(piece(format!("{}  ", cells::cut(&text, room, paint.signs.cut)), paint.style(Role::Running)))
}

/// Notice about a silence longer than usual: of a response that has not begun, or of one that has.
fn silence(paint: &FrameContext<'_>, room: usize) -> Option<Piece<'static>> {
    let open = paint.state.current_open()?;
    let last = open.chat.entries.iter().rev().find(|entry| !matches!(entry.message.body, Body::Info(_)));
    if let Some(Body::Tool(call)) = last.map(|entry| &entry.message.body)
        && !call.status.ended()
    {
        // A tool may take its time.
        return None;
    }
    let silent = paint.state.clock.now.since(open.turn.heard?);
    let (after, what, role) = match open.turn.answering {
        true => (STALLED_MS, "silent for", Role::Warning),
        false => (UNUSUAL_MS, "no response for", Role::Dim),
    };
    let text = format!("{what} {}  ", elapsed(silent));
    (silent >= after && cells::width(&text) <= room).then(|| piece(text, paint.style(role)))
}

/// The files of the draft, each with its size and the mark that takes it out; those for which there is no room are
/// counted. Backspace at the start of the draft takes the last one out.
fn files(paint: &mut FrameContext<'_>, area: Rect) {
    let row = Rect { width: area.width.saturating_sub(2), ..cells::after(area, 1) };
    if row.is_empty() {
        return;
    }
    let items = paint.state.composer().files().items();
    let focused = paint.state.focus == Focus::Composer && paint.state.overlays.is_empty();
    let picked = paint.state.composer().picked().filter(|_| focused);
    let room = usize::from(row.width);
    let (mut at, mut shown) = (0, 0);
    for (place, file) in items.iter().enumerate() {
        let size = match file {
            File::Coming { .. } => " copying".to_owned(),
            File::There(file) => format!(" {}", bytes(file.bytes)),
        };
        let rest = items.len() - place - 1;
        // What follows is counted, where it has no room.
        let keep = if rest > 0 { format!(" and {rest} more").len() } else { 0 };
        let taken = cells::width(&size) + 4;
        let left = room.saturating_sub(at + taken + keep);
        if left < FILE_NAME {
            break;
        }
        let name = clean_line(&file.name()).into_owned();
        let name = cells::cut(&name, left.min(WIDEST_NAME), paint.signs.cut).into_owned();
        let pieces = [
            paint.piece(paint.signs.bar, Role::Accent),
            paint.piece(name, Role::Text),
            paint.piece(size, Role::Dim),
            paint.piece(" ×", Role::Key),
        ];
        let wide = cells::pieces_width(&pieces);
        let cell =
            Rect { width: u16::try_from(wide).unwrap_or(0), ..cells::after(row, u16::try_from(at).unwrap_or(0)) };
        let end = cells::after(row, u16::try_from(at + wide - 2).unwrap_or(0));
        paint.pieces(cell, &pieces);
        if picked == Some(Picked::File(place)) {
            paint.tint(cell, Role::Selected);
        }
        paint.target(cell, Target::Chip(Picked::File(place)));
        paint.target(Rect { width: 2, ..end }, Target::File(place));
        at += wide + 1;
        shown += 1;
    }
    if shown < items.len() {
        let more =
            if shown == 0 { count(items.len(), "file", "files") } else { format!("and {} more", items.len() - shown) };
        paint.text(cells::after(row, u16::try_from(at).unwrap_or(0)), &more, Role::Dim);
    }
}

fn draft(paint: &mut FrameContext<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    paint.target(area, Target::Composer);
    let composer = paint.state.composer();
    let focused = paint.state.focus == Focus::Composer && paint.state.overlays.is_empty();
    let role = if focused { mode_role(mode(paint.state)) } else { Role::Faint };
    let typed = composer.text().starts_with('!');
    let (sign, role) = (paint.signs.prompt, if typed { Role::Warning } else { role });
    paint.text(cells::after(area, 1), sign, role);
    let field = cells::after(area, 3);
    let field = Rect { width: field.width.saturating_sub(1).max(1).min(field.width), ..field };
    paint.tint(field, Role::Text);
    if composer.has_no_text() {
        let hint = placeholder(paint);
        paint.text(field, &hint, Role::Faint);
        if focused {
            paint.caret(field, 0, 0);
        }
        return;
    }
    let marked = composer.marked();
    editor::draw_marked(paint, composer.editor(), marked, field, focused);
    let picked = composer.picked().filter(|_| focused);
    for chip in composer.chips() {
        let chosen = picked == Some(Picked::Chip(chip));
        for cells in editor::spans(composer.editor(), ((chip.row, chip.start), (chip.row, chip.end())), field) {
            paint.tint(cells, if chosen { Role::Selected } else { Role::Accent });
            paint.target(cells, Target::Chip(Picked::Chip(chip)));
        }
    }
    // What can follow the command, behind the caret until something does.
    if let Some(hint) = paint.state.hint().filter(|hint| hint.bare && focused)
        && let [line] = composer.editor().lines()
    {
        let gap = usize::from(!line.ends_with(char::is_whitespace));
        let at = u16::try_from(cells::width(&cells::expand_tabs(line)) + gap).unwrap_or(u16::MAX);
        if at.saturating_add(1) < field.width {
            let usage = clean_line(&hint.usage).into_owned();
            paint.text(Rect { height: 1, ..cells::after(field, at) }, &usage, Role::Faint);
        }
    }
}

/// Placeholder of an empty draft.
fn placeholder(paint: &FrameContext<'_>) -> String {
    let state = paint.state;
    if state.focus == Focus::Panel
        && let Some(key) = paint.key_of(Action::App(AppAction::Back), Context::Global)
    {
        return format!("{key} to write a message");
    }
    if let Some(holder) = state.current_meta().and_then(|meta| meta.held_by.as_deref()) {
        // On a small screen nothing above says what helps.
        if state.screen.size.width < 60 {
            return "read-only · /takeover to write here".to_owned();
        }
        return format!("read-only · held by {}", clean_line(holder));
    }
    let send = paint.key(Action::Composer(ComposerAction::Send), Context::Composer);
    let again = state.current_open().is_some_and(|open| open.queue.iter().any(|item| item.redelivered));
    match (state.empty_enter(), send) {
        (Some(EmptyEnter::Answer), Some(key)) if state.focus == Focus::Composer => {
            let typed = match state.panel().map(|(_, request)| &request.ask) {
                Some(Ask::Question(_)) => "Type your answer",
                Some(_) if state.running() => "Type ahead",
                _ => "Message",
            };
            return format!("{typed}, or {key} {}", EmptyEnter::Answer.words());
        }
        (Some(EmptyEnter::Answer), _) | (None, _) => {}
        // There Enter is for what is selected.
        (Some(_), _) if matches!(state.focus, Focus::List | Focus::Chat) => {}
        (Some(EmptyEnter::Release), Some(key)) if again => return format!("Unsent from last run. {key} sends it"),
        (Some(EmptyEnter::Release), None) => return "Queue paused".to_owned(),
        (Some(what), Some(key)) if state.screen.size.width < 60 => return format!("{key} {}", what.words()),
        (Some(what), Some(key)) => return format!("{key} {}, or type a message", what.words()),
        (Some(_), None) => {}
    }
    if matches!(state.panel(), Some((_, request)) if matches!(request.ask, Ask::Question(_))) {
        return "Type your answer".to_owned();
    }
    if state.running() {
        return "Type ahead: sent when the turn ends".to_owned();
    }
    // There a slash filters or searches.
    if matches!(state.focus, Focus::List | Focus::Chat)
        && let Some(key) = paint.key_of(Action::App(AppAction::Back), Context::Global)
    {
        return format!("{key} to write a message");
    }
    let begun = state.current_open().is_some_and(|open| !open.loaded || !open.chat.entries.is_empty());
    if begun { "Message, or / for commands".to_owned() } else { "Ask anything, or type / for commands".to_owned() }
}
