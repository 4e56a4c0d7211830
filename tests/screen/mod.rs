//! The screen of a state, drawn and seen through a terminal emulator: as text for snapshots, and as an SVG picture with
//! `LISLE_PICTURES=DIR`. Shared by all `screens*` tests.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use lisle::app::state::open::Open;
use lisle::app::state::{Current, Size, State};
use lisle::domain::{At, Mode, SessionId, SessionMeta};
use lisle::keymap;
use lisle::theme::Theme;
use lisle::ui::{self, Cache, Drawn, Look};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::fmt::Write as _;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
pub const NOW: At = At(1_788_383_040_000);
/// Wide, usual and tiny.
pub const SIZES: [(u16, u16); 3] = [(140, 40), (80, 24), (40, 10)];

/// The session of [`one_session`].
pub fn session() -> SessionId {
    SessionId::parse("260902-swift-river").unwrap()
}

/// A state with one session, which is open and shown.
pub fn one_session() -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    let mut meta = SessionMeta::new(session(), NOW, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.title = "Fix login redirect".to_owned();
    state.sessions.replace(vec![meta], NOW, 0);
    let mut open = Open::default();
    open.loaded = true;
    state.open.insert(session(), open);
    state.current = Current::Session(session());
    state.sessions.select(&session());
    state
}

/// The screen of `state` as cells, drawn without any earlier frame.
pub fn draw_with(state: &State, theme: &Theme, glyphs: ui::chat::Glyphs, width: u16, height: u16) -> (Buffer, Drawn) {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = Look { theme, glyphs, home: "/home/me" };
    let drawn = ui::render(state, &look, &mut Cache::default(), &mut buf);
    (buf, drawn)
}

/// The same in the theme that most people see.
pub fn draw(state: &State, width: u16, height: u16) -> (Buffer, Drawn) {
    draw_with(state, &Theme::builtin(true), ui::chat::Glyphs::Unicode, width, height)
}

/// The screen as text, with the caret's place below it. `name` names its pictures.
pub fn shot(name: &str, state: &State, width: u16, height: u16) -> String {
    let (buf, drawn) = draw(state, width, height);
    if let Ok(dir) = std::env::var("LISLE_PICTURES") {
        for dark in [true, false] {
            let (buf, _) = draw_with(state, &Theme::builtin(dark), ui::chat::Glyphs::Unicode, width, height);
            let shade = if dark { "dark" } else { "light" };
            let file = format!("{dir}/{name}-{width}x{height}-{shade}.svg");
            std::fs::write(file, svg(&terminal(&buf), dark)).unwrap();
        }
    }
    let caret = drawn.cursor.map_or("hidden".to_owned(), |at| format!("column {} row {}", at.x, at.y));
    format!("{}\n\ncaret: {caret}", text(&terminal(&buf)))
}

/// What a terminal shows after `buf` was written to it.
pub fn terminal(buf: &Buffer) -> vt100::Parser {
    let mut bytes = Vec::new();
    let mut backend = CrosstermBackend::new(&mut bytes);
    let empty = Buffer::empty(buf.area);
    backend.draw(empty.diff(buf).into_iter()).unwrap();
    Backend::flush(&mut backend).unwrap();
    let size = |n: u16| NonZeroU16::new(n.max(1)).unwrap();
    let mut parser = vt100::Parser::new(size(buf.area.height), size(buf.area.width), 0);
    parser.process(&bytes);
    parser
}

/// The rows as text, without blanks at their ends.
pub fn text(parser: &vt100::Parser) -> String {
    let (_, width) = parser.screen().size();
    let rows: Vec<String> = parser.screen().rows(0, width.get()).map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

const CELL: (u32, u32) = (9, 19);
/// The usual 16 colours, for themes that use the terminal's own.
const BASIC: [&str; 16] = [
    "#1c1c1c", "#cc4b4b", "#5aa65a", "#c9a34a", "#5a86c9", "#a86bb8", "#4fa8a8", "#c8c8c8", "#7a7a7a", "#e57373",
    "#81c784", "#ffd54f", "#82b1ff", "#ce93d8", "#80deea", "#f5f5f5",
];

/// The screen as a picture: one `<text>` a run of one style, grounds as rectangles.
pub fn svg(parser: &vt100::Parser, dark: bool) -> String {
    let screen = parser.screen();
    let (height, width) = screen.size();
    let (w, h) = (u32::from(width.get()) * CELL.0, u32::from(height.get()) * CELL.1);
    let (ink, ground) = if dark { ("#d5d9e1", "#16181d") } else { ("#2b303a", "#fbfbf8") };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"15\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"{ground}\"/>\n"
    );
    for y in 0..height.get() {
        for x in 0..width.get() {
            let Some(cell) = screen.cell(y, x) else { continue };
            if cell.is_wide_continuation() {
                continue;
            }
            let cells = if cell.is_wide() { 2 } else { 1 };
            let (mut fg, mut bg) = (color(cell.fgcolor(), ink), color(cell.bgcolor(), ground));
            if cell.inverse() {
                std::mem::swap(&mut fg, &mut bg);
            }
            let (left, top) = (u32::from(x) * CELL.0, u32::from(y) * CELL.1);
            if bg != ground {
                let wide = cells * CELL.0;
                writeln!(out, "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{}\" fill=\"{bg}\"/>", CELL.1)
                    .unwrap();
            }
            if cell.contents().trim().is_empty() {
                continue;
            }
            let mut style = String::new();
            if cell.bold() {
                style.push_str(" font-weight=\"bold\"");
            }
            if cell.italic() {
                style.push_str(" font-style=\"italic\"");
            }
            if cell.underline() {
                style.push_str(" text-decoration=\"underline\"");
            }
            if cell.dim() {
                style.push_str(" opacity=\"0.65\"");
            }
            // Lines are drawn as lines: letters of a font leave gaps between the rows.
            let (middle, half) = (left + CELL.0 / 2, top + CELL.1 / 2);
            let strokes: &[(u32, u32, u32, u32)] = match cell.contents() {
                "│" => &[(middle, top, 1, CELL.1)],
                "─" => &[(left, half, CELL.0, 1)],
                "├" => &[(middle, top, 1, CELL.1), (middle, half, CELL.0 - CELL.0 / 2, 1)],
                "▌" => &[(left, top, CELL.0 / 2, CELL.1)],
                _ => &[],
            };
            for (x, y, w, h) in strokes {
                writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fg}\"/>").unwrap();
            }
            if !strokes.is_empty() {
                continue;
            }
            let text = cell.contents().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            writeln!(out, "<text x=\"{left}\" y=\"{}\" fill=\"{fg}\"{style}>{text}</text>", top + 14).unwrap();
        }
    }
    out.push_str("</svg>\n");
    out
}

fn color(color: vt100::Color, default: &str) -> String {
    match color {
        vt100::Color::Default => default.to_owned(),
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        vt100::Color::Idx(n) if n < 16 => BASIC[usize::from(n)].to_owned(),
        vt100::Color::Idx(n) if n >= 232 => {
            let grey = 8 + (n - 232) * 10;
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
        vt100::Color::Idx(n) => {
            let level = |i: u8| [0u8, 95, 135, 175, 215, 255][usize::from(i % 6)];
            let n = n - 16;
            format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6), level(n))
        }
    }
}
