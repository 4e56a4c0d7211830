//! Help to read: the keys of a place, from the keymap (nothing here knows a key by itself), or a page of the manual.

use super::super::cells::{self, Piece};
use super::super::chat;
use super::super::frame_context::FrameContext;
use super::super::layout_cache::LaidTopic;
use crate::app::slash::Slash;
use crate::app::state::overlay::{Help, HelpPage};
use crate::domain::manual::{TOPICS, Topic};
use crate::keymap::action::{
    Action, AnswerAction, AppAction, ComposerAction, Context, HelpAction, ModeAction, PaneAction, PickerAction,
    SessionAction, UndoAction,
};
use crate::keymap::key::chord_name;
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::rc::Rc;

/// Widest page of the manual: longer lines are hard to read.
const PAGE: u16 = 100;

pub(super) fn draw(paint: &mut FrameContext<'_>, help: &Help, body: Rect) {
    match &help.page {
        HelpPage::Keys(contexts) => keys(paint, help, contexts, body),
        HelpPage::Topic(topic) => page(paint, topic, help.scroll, body),
    }
}

fn page(paint: &mut FrameContext<'_>, topic: &Topic, scroll: u16, body: Rect) {
    let width = if body.width < 60 { body.width } else { (body.width - 8).min(PAGE) / 2 * 2 };
    let lines = laid(paint, topic, width.saturating_sub(4).max(1));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let mut title = vec![paint.piece(topic.title(), Role::PanelTitle)];
    // By the rows of the frame before: the sheet is not divided yet. What surely fits has no place.
    let fits = rows.saturating_add(8) <= body.height;
    let most = if fits { 0 } else { rows.saturating_sub(paint.state.screen.frame.overlay_rows.max(1)) };
    if most > 0 && scroll > 0 {
        let read = u32::from(scroll.min(most)) * 100 / u32::from(most);
        title.push(paint.piece(format!("  {read}%"), Role::Dim));
    }
    let down = paint.key(Action::Help(HelpAction::Down), Context::Help);
    let inner = super::sheet(paint, body, width, rows, &title, &[(down, "scroll")]);
    paint.found.overlay_rows = inner.height;
    paint.found.overlay_lines = rows;
    let first = usize::from(scroll.min(rows.saturating_sub(inner.height)));
    for (n, line) in lines.iter().skip(first).take(usize::from(inner.height)).enumerate() {
        paint.line(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
}

/// The page in lines of `width` cells.
fn laid(paint: &mut FrameContext<'_>, topic: &Topic, width: u16) -> Rc<Vec<Line<'static>>> {
    let theme = paint.look.theme;
    if let Some(known) = &paint.cache.topic
        && (known.topic, known.width, known.theme.as_str()) == (topic.name, width, theme.name.as_str())
    {
        return Rc::clone(&known.lines);
    }
    let look = chat::ChatStyle { theme, glyphs: paint.look.glyphs };
    let lines = Rc::new(chat::markdown_with(&topic.text("/help"), width, &look));
    let kept = LaidTopic { topic: topic.name, width, theme: theme.name.clone(), lines: Rc::clone(&lines) };
    paint.cache.topic = Some(kept);
    lines
}

/// Width below which a key stands on a row of its own, over what it does.
const NARROW: usize = 52;

fn keys(paint: &mut FrameContext<'_>, help: &Help, contexts: &[Context], body: Rect) {
    // Two columns need the room of two: a verb that is cut off helps nobody.
    let query = help.query.text().trim().to_lowercase();
    let width = if body.width >= 180 { 172 } else { body.width.saturating_sub(8).min(92) };
    let inside = usize::from(if body.width < 60 { body.width } else { width }.saturating_sub(4));
    // What is looked for may be a key of another place.
    let others = Context::ALL.iter().filter(|other| !contexts.contains(other)).copied();
    let everywhere: Vec<Context> = contexts.iter().copied().chain(others).collect();
    let lines = lines(paint, if query.is_empty() { contexts } else { &everywhere }, inside, &query);
    // The sheet keeps its height while one types.
    let all = if query.is_empty() { lines.len() } else { self::lines(paint, contexts, inside, "").len() };
    let title = [paint.piece("Help", Role::PanelTitle)];
    let down = paint.key(Action::Picker(PickerAction::Down), Context::Picker);
    let rows = u16::try_from(all).unwrap_or(u16::MAX);
    let inner = super::sheet(paint, body, width, rows.saturating_add(2), &title, &[(down, "scroll")]);
    let field = cells::row(inner, 0);
    let sign = paint.signs.prompt;
    paint.text(field, sign, Role::Accent);
    paint.one_line(cells::after(field, 2), &help.query, true);
    if help.query.text().is_empty() {
        paint.over(cells::after(field, 4), "Filter keys, commands and topics", Role::Faint);
    }
    let gap = if inner.height > 10 { 2 } else { 1 }.min(inner.height);
    let inner = Rect { y: inner.y + gap, height: inner.height - gap, ..inner };
    let shown = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    paint.found.overlay_rows = inner.height;
    paint.found.overlay_lines = shown;
    if lines.is_empty() {
        paint.over(cells::row(inner, 0), "no matches", Role::Dim);
    }
    let scroll = usize::from(help.scroll.min(shown.saturating_sub(inner.height)));
    for (n, line) in lines.iter().skip(scroll).take(usize::from(inner.height)).enumerate() {
        paint.pieces(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
}

/// Keys that most people press most, in the order of a first hour.
const MOST_USED: [(Action, &str); 10] = [
    (Action::Composer(ComposerAction::Send), "send the message"),
    (Action::Composer(ComposerAction::Newline), "new line"),
    (Action::Mode(ModeAction::Next), "next permission mode"),
    (Action::Answer(AnswerAction::Focus), "answer the pending request"),
    (Action::Pane(PaneAction::Next), "next pane: list, conversation, message"),
    (Action::App(AppAction::Palette), "all commands"),
    (Action::App(AppAction::Back), "close, or stop the turn"),
    (Action::Undo(UndoAction::Files), "undo the last turn's file changes"),
    (Action::Session(SessionAction::Search), "search all sessions"),
    (Action::App(AppAction::Interrupt), "quit (press twice)"),
];

/// A row of the list: keys and what they do.
type KeyRow = (String, String);

/// The ten most used, the places, the signs; of those, what matches the query.
fn groups(paint: &FrameContext<'_>, contexts: &[Context], query: &str) -> Vec<(String, Vec<KeyRow>)> {
    let slash = |action: Action| Slash::ALL.iter().find(|slash| slash.action() == action);
    let most = MOST_USED.into_iter().filter_map(|(action, words)| {
        let key = paint.key_of(action, Context::Composer).or_else(|| paint.key_of(action, Context::Global));
        let key = key.or_else(|| slash(action).map(|slash| format!("/{}", slash.word())))?;
        Some((key, words.to_owned()))
    });
    let mut out = vec![("Most used".to_owned(), most.collect::<Vec<_>>())];
    out.extend(contexts.iter().map(|context| (context.heading().to_owned(), verbs(paint, *context))));
    // Looked for, a command is found wherever it is: by its key, its name, or the page that tells of it.
    if !query.is_empty() {
        let commands = Slash::ALL.iter().map(|slash| (format!("/{}", slash.word()), slash.description().to_owned()));
        out.push(("Commands".to_owned(), commands.collect()));
        let topics = TOPICS.iter().map(|topic| (format!("/help {}", topic.name), topic.title().to_owned()));
        out.push(("Topics".to_owned(), topics.collect()));
    }
    let legend = paint.signs.legend();
    out.push((
        "Signs".to_owned(),
        legend.iter().map(|(sign, meaning)| ((*sign).to_owned(), (*meaning).to_owned())).collect(),
    ));
    for (heading, rows) in &mut out {
        let all = format!("{heading} ").to_lowercase();
        rows.retain(|(keys, words)| {
            let text = format!("{all}{keys} {words}").to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        });
    }
    out.retain(|(_, rows)| !rows.is_empty());
    out
}

/// One heading a place, then a row a verb with all its keys. Two columns where there is room for them, and two rows a verb
/// where one would cut its words.
fn lines(paint: &FrameContext<'_>, contexts: &[Context], width: usize, query: &str) -> Vec<Vec<Piece<'static>>> {
    let mut out: Vec<Vec<Piece<'static>>> = Vec::new();
    let groups = groups(paint, contexts, query);
    let all = groups.iter().flat_map(|(_, rows)| rows);
    let widest = all.map(|(keys, _)| cells::width(keys)).max().unwrap_or(0);
    for (heading, rows) in &groups {
        if !out.is_empty() {
            out.push(Vec::new());
        }
        out.push(vec![paint.piece(heading.clone(), Role::Strong)]);
        if width < NARROW {
            stacked(paint, rows, width, &mut out);
        } else {
            in_columns(paint, rows, (width, widest), &mut out);
        }
    }
    out
}

/// The words of each verb, and below them its keys.
fn stacked(paint: &FrameContext<'_>, rows: &[KeyRow], width: usize, out: &mut Vec<Vec<Piece<'static>>>) {
    for (keys, words) in rows {
        // What fits beside its key needs no second row.
        if cells::width(keys) + cells::width(words) + 2 <= width {
            out.push(vec![paint.piece(format!("{keys}  "), Role::Key), paint.piece(words.clone(), Role::Dim)]);
            continue;
        }
        out.push(vec![paint.piece(cells::cut(keys, width, paint.signs.cut).into_owned(), Role::Key)]);
        let wrapped = cells::wrap(words, width.saturating_sub(2).max(1));
        out.extend(wrapped.into_iter().map(|line| vec![paint.piece(format!("  {line}"), Role::Dim)]));
    }
}

fn in_columns(
    paint: &FrameContext<'_>,
    verbs: &[KeyRow],
    (width, widest): (usize, usize),
    out: &mut Vec<Vec<Piece<'static>>>,
) {
    let columns = if width >= 160 { 2 } else { 1 };
    let column = width / columns;
    let keys = widest.min(column / 2);
    let rows = verbs.len().div_ceil(columns);
    for row in 0..rows {
        let mut line = Vec::new();
        for n in 0..columns {
            let Some((chords, desc)) = verbs.get(n * rows + row) else { continue };
            let chords = cells::cut(chords, keys, paint.signs.cut);
            let blanks = keys - cells::width(&chords) + 2;
            let room = column.saturating_sub(keys + 4);
            let desc = cells::cut(desc, room, paint.signs.cut);
            let pad = if n + 1 < columns { room.saturating_sub(cells::width(&desc)) + 2 } else { 0 };
            line.push(paint.piece(format!("{chords}{:blanks$}", ""), Role::Key));
            line.push(paint.piece(format!("{desc}{:pad$}", ""), Role::Dim));
        }
        out.push(line);
    }
}

/// Each verb of a place once: its keys and what it does.
fn verbs(paint: &FrameContext<'_>, context: Context) -> Vec<(String, String)> {
    let mut found: Vec<(Action, Vec<String>, String)> = Vec::new();
    for binding in paint.state.keys.of(context) {
        let name = paint.key_name(&chord_name(&binding.keys));
        match found.iter_mut().find(|(action, ..)| *action == binding.action) {
            Some((_, keys, _)) => keys.push(name),
            None => found.push((binding.action, vec![name], binding.desc.clone())),
        }
    }
    found.into_iter().map(|(_, keys, desc)| (ways(&keys, paint.signs.ellipsis()), desc)).collect()
}

/// Two ways are enough to remember, and nine digits say no more than their ends.
fn ways(keys: &[String], cut: &str) -> String {
    match keys {
        [first, ..] if keys.len() >= 9 && first.ends_with('1') => format!("{first}{cut}9"),
        [first, second, ..] => format!("{first}, {second}"),
        _ => keys.concat(),
    }
}
