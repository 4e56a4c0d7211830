//! The composer: the draft with the real caret, and the line above it that tells of the turn. Also draws any other text of several lines that is being written.

use super::cells::{self, Piece, piece};
use super::figures::{bytes, count, elapsed};
use super::layout::Layout;
use super::paint::Paint;
use super::queue;
use crate::app::msg::Target;
use crate::app::state::composer::Picked;
use crate::app::state::edit::Editor;
use crate::app::state::files::File;
use crate::app::state::vim::Mode;
use crate::app::state::{Current, Focus};
use crate::domain::ids::RequestId;
use crate::domain::message::Body;
use crate::domain::sanitise::clean_line;
use crate::domain::session::Activity;
use crate::keymap::action::{Action, AppAction, ChatAction, ComposerAction, Context, SessionAction, TurnAction};
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Rows of a text that are counted at the most.
const COUNTED: usize = 200;

/// Cells of a file's name at the least, and at the most.
const FILE_NAME: usize = 6;
const WIDEST_NAME: usize = 32;

/// Cells of a reason at the least: less says nothing.
const REASON: usize = 8;
/// Width from which the key that skips the wait before a retry is shown.
const WIDE: usize = 60;
/// Silence within a response after which the screen mentions it.
const STALLED_MS: u64 = 10_000;
/// Time before a response begins after which the screen mentions it.
const UNUSUAL_MS: u64 = 5_000;

/// Text laid out last, and its width: the widget counts its rows by the width of its last drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Laid {
    /// The draft of this place.
    Draft(Current, u16),
    /// The words for this answer.
    Answer(RequestId, u16),
}

/// Rows that the draft takes.
pub(super) fn rows(paint: &mut Paint<'_>, width: u16) -> u16 {
    let laid = Laid::Draft(paint.state.conversations.current.clone(), field_width(width));
    let known = paint.cache.draft.as_ref() == Some(&laid);
    let rows = count_rows(paint.state.composer().editor(), field_width(width), known);
    paint.cache.draft = Some(laid);
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Rows that the words for an answer take.
pub(super) fn answer_rows(paint: &mut Paint<'_>, request: &RequestId, editor: &Editor, width: u16) -> usize {
    let laid = Laid::Answer(request.clone(), width);
    let known = paint.cache.answer.as_ref() == Some(&laid);
    let rows = count_rows(editor, width, known);
    paint.cache.answer = Some(laid);
    rows
}

/// Blank, prompt, blank; and a blank at the right edge.
fn field_width(width: u16) -> u16 {
    width.saturating_sub(4).max(1)
}

fn count_rows(editor: &Editor, width: u16, known: bool) -> usize {
    let area = editor.area();
    if !known {
        // Only drawing tells the widget its width. High enough, so that its scrolling stays as it is.
        let scratch = Rect::new(0, 0, width, 70);
        area.render(scratch, &mut Buffer::empty(scratch));
    }
    // Past the last row every position is the last row's: the first that repeats ends the count.
    let last = |n: &usize| area.screen_to_data(*n, 0) == area.screen_to_data(n + 1, 0);
    (0..COUNTED).find(last).unwrap_or(COUNTED) + 1
}

/// Two places in a text: of the first character, and behind the last one.
type Range = ((usize, usize), (usize, usize));

/// Draws a text of several lines, what is marked in it, and the caret if it has the focus.
pub(super) fn editor(paint: &mut Paint<'_>, editor: &Editor, area: Rect, focused: bool) {
    draw_editor(paint, editor, editor.marked(), area, focused);
}

fn draw_editor(paint: &mut Paint<'_>, editor: &Editor, marked: Option<Range>, area: Rect, focused: bool) {
    if area.is_empty() {
        return;
    }
    let widget = editor.area();
    widget.render(area, paint.buf);
    if let Some(range) = marked {
        mark(paint, editor, range, area);
    }
    if !focused {
        return;
    }
    let row = widget.screen_cursor().row;
    let top = usize::from(widget.scroll_offset().0);
    // The widget measures by character; an emoji of several is one sign of two cells. So the column is measured here.
    let start = widget.screen_to_data(row, 0);
    let (line, col) = editor.caret();
    let text: String = editor
        .lines()
        .get(line)
        .map(|text| text.chars().skip(start.1).take(col.saturating_sub(start.1)).collect())
        .unwrap_or_default();
    paint.caret(area, cells::width(&cells::expand_tabs(&text)), row.saturating_sub(top));
}

/// The cells of what is marked; of an empty line one cell.
fn mark(paint: &mut Paint<'_>, editor: &Editor, range: Range, area: Rect) {
    for cells in spans(editor, range, area) {
        paint.tint(cells, Role::Selected);
    }
}

/// The cells in which a part of a text stands, a rectangle for each row that is shown.
fn spans(editor: &Editor, (from, to): Range, area: Rect) -> Vec<Rect> {
    let mut out = Vec::new();
    let widget = editor.area();
    let top = usize::from(widget.scroll_offset().0);
    for y in 0..area.height {
        let row = top + usize::from(y);
        let begin = widget.screen_to_data(row, 0);
        let next = widget.screen_to_data(row + 1, 0);
        let below = (next.0, next.1) == (begin.0, begin.1);
        let Some(line) = editor.lines().get(begin.0) else { return out };
        // To where the next row of the same line begins, else to the end of the line.
        let end = if next.0 == begin.0 && !below { next.1 } else { line.chars().count() };
        let first = if from.0 == begin.0 { from.1.max(begin.1) } else { begin.1 };
        let last = if to.0 == begin.0 { to.1.min(end) } else { end };
        let inside = (from.0..=to.0).contains(&begin.0) && (first < last || (line.is_empty() && to.0 > begin.0));
        if inside {
            let cells = |from: usize, to: usize| {
                let text: String = line.chars().skip(from).take(to.saturating_sub(from)).collect();
                u16::try_from(cells::width(&cells::expand_tabs(&text))).unwrap_or(u16::MAX)
            };
            let x = cells(begin.1, first).min(area.width);
            let width = cells(first, last).max(1).min(area.width - x);
            out.push(Rect { x: area.x + x, y: area.y + y, width, height: 1 });
        }
        if below {
            break;
        }
    }
    out
}

/// The mode of the keys and what was begun, where the keymap has modes.
fn key_mode(paint: &Paint<'_>) -> Option<Vec<Piece<'static>>> {
    let state = paint.state;
    if !state.keys.modal() || state.focus != Focus::Composer {
        return None;
    }
    let vim = state.composer().vim();
    let role = if vim.mode() == Mode::Insert { Role::Dim } else { Role::Strong };
    let mut out = vec![paint.piece(format!(" {} ", vim.mode().word()), role)];
    let begun = vim.begun();
    if !begun.is_empty() {
        out.push(paint.piece(format!("{begun}{} ", paint.signs.cut), Role::Key));
    }
    Some(out)
}

/// Draws edge, queue, draft and the commands on offer.
pub(super) fn draw(paint: &mut Paint<'_>, layout: &Layout) {
    edge(paint, layout);
    queue::draw(paint, layout.queue);
    files(paint, layout.files);
    draft(paint, layout.composer);
    super::offer::draw(paint, layout);
}

/// The line above: what the turn does at its right end, how a command is used at its left.
fn edge(paint: &mut Paint<'_>, layout: &Layout) {
    let area = layout.edge;
    if area.is_empty() {
        return;
    }
    let role = if paint.state.focus == Focus::Composer && paint.state.overlays.is_empty() {
        Role::RuleFocus
    } else {
        Role::Rule
    };
    let line = paint.signs.line.repeat(usize::from(area.width));
    paint.text(area, &line, role);
    if layout.both {
        let sign = paint.signs.branch;
        paint.text(Rect { width: 1, ..area_at(layout.rule.x, area.y) }, sign, Role::Rule);
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
    } else if let Some(pieces) = key_mode(paint) {
        paint.pieces(left, &pieces);
    }
}

/// The search in the conversation: its words, and which hit is shown.
fn search(paint: &mut Paint<'_>, area: Rect) {
    let Some(search) = &paint.state.searches.conversation else { return };
    let found = match (search.hits.len(), search.at) {
        (0, _) if search.query.text().is_empty() => String::new(),
        (0, _) => "  nothing found ".to_owned(),
        (all, Some(at)) => format!("  {} of {all} ", at + 1),
        (all, None) => format!("  {all} found "),
    };
    let mut right = vec![paint.piece(found, Role::Dim)];
    if !search.typing && !search.hits.is_empty() {
        let next = paint.key(Action::Chat(ChatAction::SearchNext), Context::Chat);
        let previous = paint.key(Action::Chat(ChatAction::SearchPrevious), Context::Chat);
        right.extend(paint.hints(&[(next, "next"), (previous, "before")]));
        right.push(paint.piece(" ", Role::Dim));
    }
    let sign = paint.pieces(area, &[paint.piece(" / ", Role::Key)]);
    let rest = cells::after(area, sign);
    // The words, a cell for the caret, then what was found.
    let words = u16::try_from(cells::width(search.query.text()) + 1).unwrap_or(u16::MAX).min(rest.width * 2 / 3);
    let field = Rect { width: words, ..rest };
    cells::fill(paint.buf, field, paint.style(Role::Text));
    paint.one_line(field, &search.query, search.typing && paint.state.overlays.is_empty());
    paint.pieces(cells::after(rest, words), &right);
}

/// Notice that the messages left from the last run are sent in so many seconds, and how to prevent it.
fn redelivery(paint: &Paint<'_>) -> Option<Vec<Piece<'static>>> {
    let open = paint.state.current_open()?;
    let left = open.redelivery?.since(paint.state.clock.now).div_ceil(1_000);
    Some(vec![
        paint.piece(format!(" {} sends again in {left}s ", paint.signs.bar), Role::Warning),
        paint.piece(" any key", Role::Key),
        paint.piece(" holds ", Role::Dim),
    ])
}

/// The way through the hits of a search over all sessions.
fn trail(paint: &Paint<'_>) -> Option<Vec<Piece<'static>>> {
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
fn turn_pieces(paint: &Paint<'_>, room: usize) -> Vec<Piece<'static>> {
    let state = paint.state;
    let Some(open) = state.current_open() else { return Vec::new() };
    let role = |text: String, role| piece(text, paint.style(role));
    if open.enhancing.is_some() {
        let here = state.focus != Focus::Panel && state.overlays.is_empty();
        let mut out = vec![role("rewriting the draft  ".to_owned(), Role::Running)];
        if let Some(key) = paint.key(Action::App(AppAction::Back), Context::Global).filter(|_| here) {
            out.extend([role(key, Role::Key), role(" keeps it".to_owned(), Role::Dim)]);
        }
        return out;
    }
    if open.turn.stopping {
        return vec![role(format!("{} stopping", paint.signs.stopping), Role::Dim)];
    }
    if !state.running() {
        return Vec::new();
    }
    // In a panel or an overlay the key that goes back does only that; with modes it ends the typing, and no turn.
    let types = state.keys.modal() && state.focus == Focus::Composer;
    let here = state.focus != Focus::Panel && state.overlays.is_empty();
    let mut stop = vec![role(format!("{} ", paint.signs.stop), Role::Running)];
    let stops = match types {
        false => Some(AppAction::Back),
        true => Some(AppAction::Interrupt).filter(|_| state.composer().is_empty()),
    };
    let key = stops.and_then(|stops| paint.key(Action::App(stops), Context::Global)).filter(|_| here);
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
        let mut text = format!("retry {} of {} in {wait}", retry.attempt, retry.of);
        let mut now = Vec::new();
        if let Some(key) = paint.key(Action::Turn(TurnAction::Retry), Context::Global).filter(|_| here && room >= WIDE)
        {
            now.push(role(key, Role::Key));
            now.push(role(" now  ".to_owned(), Role::Dim));
        }
        let others = cells::pieces_width(&stop) + cells::pieces_width(&now);
        let left = room.saturating_sub(cells::width(&text) + others + 4);
        if left >= REASON {
            let reason = clean_line(&retry.reason);
            text.push_str(": ");
            text.push_str(&cells::cut(&reason, left, paint.signs.cut));
        }
        out.push(role(format!("{text}  "), Role::Warning));
        out.extend(now);
    } else if let Some(connection) = open.turn.waiting.as_ref().filter(|_| !waits) {
        let text = format!("waits for a free place at {}", clean_line(connection.as_str()));
        let left = room.saturating_sub(cells::pieces_width(&stop) + 2);
        out.push(role(format!("{}  ", cells::cut(&text, left, paint.signs.cut)), Role::Dim));
    } else if waits {
        // It stands still: nothing turns and no time is counted while the user thinks.
        out.push(role("waits for you  ".to_owned(), Role::Dim));
    } else if let Some((part, of)) = open.turn.compacting {
        let parts = if of > 1 { format!(" {part} of {of}") } else { String::new() };
        let since = open.turn.started.map_or_else(String::new, |since| elapsed(state.clock.now.since(since)));
        out.push(role(format!("{} {since}  compacting{parts}  ", paint.spin()), Role::Running));
    } else if let Some(since) = open.turn.started {
        let spin = paint.spin();
        out.push(role(format!("{spin} {}  ", elapsed(state.clock.now.since(since))), Role::Running));
        out.extend(silence(paint, room.saturating_sub(cells::pieces_width(&stop) + 12)));
    }
    out.extend(stop);
    out
}

/// Notice about a silence longer than usual: of a response that has not begun, or of one that has.
fn silence(paint: &Paint<'_>, room: usize) -> Option<Piece<'static>> {
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
        false => (UNUSUAL_MS, "no answer yet, for", Role::Dim),
    };
    let text = format!("{what} {}  ", elapsed(silent));
    (silent >= after && cells::width(&text) <= room).then(|| piece(text, paint.style(role)))
}

/// The files of the draft, each with its size and the mark that takes it out; those for which there is no room are
/// counted. Backspace at the start of the draft takes the last one out.
fn files(paint: &mut Paint<'_>, area: Rect) {
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

fn draft(paint: &mut Paint<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    paint.target(area, Target::Composer);
    let composer = paint.state.composer();
    let focused = paint.state.focus == Focus::Composer && paint.state.overlays.is_empty();
    let role = if focused { mode_role(super::status::mode(paint.state)) } else { Role::Faint };
    let typed = composer.text().starts_with('!');
    let (sign, role) = if typed { ("!", Role::Warning) } else { (paint.signs.prompt, role) };
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
    draw_editor(paint, composer.editor(), marked, field, focused);
    let picked = composer.picked().filter(|_| focused);
    for chip in composer.chips() {
        let chosen = picked == Some(Picked::Chip(chip));
        for cells in spans(composer.editor(), ((chip.row, chip.start), (chip.row, chip.end())), field) {
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
fn placeholder(paint: &Paint<'_>) -> String {
    let state = paint.state;
    if let Some(holder) = state.current_meta().and_then(|meta| meta.held_by.as_deref()) {
        // On a small screen nothing above says what helps.
        if state.screen.size.width < 60 {
            return "read only: /takeover writes here".to_owned();
        }
        return format!("read only: held by {}", clean_line(holder));
    }
    if state.current_open().is_some_and(|open| open.queue_held && !open.queue.is_empty()) {
        let again = state.current_open().is_some_and(|open| open.queue.iter().any(|item| item.redelivered));
        let send = paint.key(Action::Composer(ComposerAction::Send), Context::Composer);
        return match send.filter(|_| again) {
            Some(key) => format!("{key} sends what waited when lisle ended"),
            None => "what is queued waits for you".to_owned(),
        };
    }
    if state.panel().is_some() && state.focus == Focus::Composer {
        let send = paint.key(Action::Composer(ComposerAction::Send), Context::Composer);
        return send.map_or_else(String::new, |key| format!("Reply, or {key} to answer the request above"));
    }
    if state.running() {
        return "Type ahead: sent when the turn ends".to_owned();
    }
    let begun = state.current_open().is_some_and(|open| !open.loaded || !open.chat.entries.is_empty());
    if begun { "Write a message".to_owned() } else { "What is to be done?".to_owned() }
}

/// The colour of a mode.
pub(super) fn mode_role(mode: crate::domain::Mode) -> Role {
    use crate::domain::Mode;
    match mode {
        Mode::Explore => Role::ModeExplore,
        Mode::Ask => Role::ModeAsk,
        Mode::Execute => Role::ModeExecute,
    }
}
