//! Help to read: the keys of a place, from the keymap (nothing here knows a key by itself), or a page of the manual.

use super::super::cells::{self, Piece};
use super::super::chat;
use super::super::frame_context::FrameContext;
use super::super::layout_cache::LaidTopic;
use crate::app::state::overlay::{Help, HelpPage};
use crate::domain::manual::Topic;
use crate::keymap::action::{Action, Context, HelpAction};
use crate::keymap::key::chord_name;
use crate::theme::Role;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::rc::Rc;

/// Widest page of the manual: longer lines are hard to read.
const PAGE: u16 = 100;

pub(super) fn draw(paint: &mut FrameContext<'_>, help: &Help, body: Rect) {
    match &help.page {
        HelpPage::Keys(contexts) => keys(paint, contexts, help.scroll, body),
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
        title.push(paint.piece(format!("  {read} %"), Role::Dim));
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

fn keys(paint: &mut FrameContext<'_>, contexts: &[Context], scroll: u16, body: Rect) {
    // Two columns need the room of two: a verb that is cut off helps nobody.
    let width = if body.width >= 180 { 172 } else { body.width.saturating_sub(8).min(92) };
    let inside = usize::from(if body.width < 60 { body.width } else { width }.saturating_sub(4));
    let lines = lines(paint, contexts, inside);
    let title = [paint.piece("Keys", Role::PanelTitle)];
    let down = paint.key(Action::Help(HelpAction::Down), Context::Help);
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inner = super::sheet(paint, body, width, rows, &title, &[(down, "scroll")]);
    paint.found.overlay_rows = inner.height;
    paint.found.overlay_lines = rows;
    let scroll = usize::from(scroll.min(rows.saturating_sub(inner.height)));
    for (n, line) in lines.iter().skip(scroll).take(usize::from(inner.height)).enumerate() {
        paint.pieces(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line);
    }
}

/// One heading a place, then a row a verb with all its keys. Two columns where there is room for them.
fn lines(paint: &FrameContext<'_>, contexts: &[Context], width: usize) -> Vec<Vec<Piece<'static>>> {
    let mut out: Vec<Vec<Piece<'static>>> = Vec::new();
    let places: Vec<_> = contexts.iter().map(|context| (context, verbs(paint, *context))).collect();
    let all = places.iter().flat_map(|(_, verbs)| verbs);
    let widest = all.map(|(keys, _)| cells::width(keys)).max().unwrap_or(0);
    for (context, verbs) in &places {
        if verbs.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(Vec::new());
        }
        out.push(vec![paint.piece(context.heading(), Role::Strong)]);
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
    out.extend([Vec::new(), vec![paint.piece("Signs", Role::Strong)]]);
    for (sign, meaning) in paint.signs.legend() {
        let blanks = widest.min(width / 2).saturating_sub(cells::width(sign)) + 2;
        out.push(vec![paint.piece(format!("{sign}{:blanks$}", ""), Role::Accent), paint.piece(meaning, Role::Dim)]);
    }
    out
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
    found.into_iter().map(|(_, keys, desc)| (ways(&keys, paint.signs.cut), desc)).collect()
}

/// Two ways are enough to remember, and nine digits say no more than their ends.
fn ways(keys: &[String], cut: &str) -> String {
    match keys {
        [first, ..] if keys.len() >= 9 && first.ends_with('1') => format!("{first}{cut}9"),
        [first, second, ..] => format!("{first}, {second}"),
        _ => keys.concat(),
    }
}
