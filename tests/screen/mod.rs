//! The screen of a state, drawn and seen through a terminal emulator: as text for snapshots, and as an SVG picture with
//! `LISLE_PICTURES=DIR`. Shared by `tests/screens` and linear mode in `tests/program`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its screen cannot be drawn")]
#![allow(dead_code, reason = "each test binary uses a part of it")]

#[path = "../support/svg.rs"]
pub mod svg;

use lisle::app::msg::Target;
use lisle::app::state::open::Open;
use lisle::app::state::{Current, Size, State};
use lisle::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{At, CallId, Mode, SessionId, SessionMeta};
use lisle::keymap;
use lisle::keymap::action::{Action, AnswerAction, AppAction, ListAction, PickerAction};
use lisle::theme::Theme;
use lisle::ui::{self, Appearance, Drawn, LayoutCache};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
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
    state.conversations.open.insert(session(), open);
    state.conversations.current = Current::Session(session());
    state.sessions.select(&session());
    state
}

/// A call that is done.
pub fn call(name: &str, subject: &str, result: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(format!("call-{name}")),
        name: name.to_owned(),
        input: serde_json::Value::Null,
        subject: subject.to_owned(),
        status: ToolStatus::Completed,
        result: Some(result.to_owned()),
        millis: Some(1_200),
        figures: ToolFigures { lines: Some(result.lines().count() as u64), ..ToolFigures::default() },
        decision: None,
    }
}

/// The screen of `state` as cells, drawn without any earlier frame.
pub fn draw_with(
    state: &State,
    theme: &Theme,
    glyphs: ui::glyphs::GlyphSet,
    width: u16,
    height: u16,
) -> (Buffer, Drawn) {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = Appearance { theme, glyphs, home: "/home/me" };
    let drawn = ui::render(state, &look, &mut LayoutCache::default(), &mut buf);
    (buf, drawn)
}

/// The same in the theme that most people see.
pub fn draw(state: &State, width: u16, height: u16) -> (Buffer, Drawn) {
    draw_with(state, &Theme::builtin(true), ui::glyphs::GlyphSet::Unicode, width, height)
}

/// The screen as text, with the caret's place below it. `name` names its pictures.
pub fn shot(name: &str, state: &State, width: u16, height: u16) -> String {
    let (buf, drawn) = draw(state, width, height);
    if let Ok(dir) = std::env::var("LISLE_PICTURES") {
        pictures(&dir, name, state, (width, height));
    }
    hints_are_clickable(&buf, &drawn);
    let caret = drawn.cursor.map_or("hidden".to_owned(), |at| format!("column {} row {}", at.x, at.y));
    format!("{}\n\ncaret: {caret}", text(&terminal(&buf)))
}

/// Sizes of pictures: with `LISLE_PICTURES_ALL` each screen has one at all of them, else at its own.
const PICTURED: [(u16, u16); 5] = [(220, 60), (140, 40), (100, 30), (80, 24), (40, 10)];

/// The screen as pictures: dark and light, in the terminal's own 16 colours, and in ASCII.
fn pictures(dir: &str, name: &str, state: &State, size: (u16, u16)) {
    use lisle::theme::Colors;
    use ui::glyphs::GlyphSet::{Ascii, Unicode};
    let looks = [
        ("dark", true, Theme::builtin(true), Unicode),
        ("light", false, Theme::builtin(false), Unicode),
        ("sixteen", true, Theme::builtin(true).for_terminal(Colors::C16), Unicode),
        ("ascii", true, Theme::builtin(true), Ascii),
    ];
    let all = std::env::var("LISLE_PICTURES_ALL").is_ok();
    let sizes = if all { PICTURED.to_vec() } else { vec![size] };
    for (width, height) in sizes {
        for (look, dark, theme, glyphs) in &looks {
            let (buf, _) = draw_with(state, theme, *glyphs, width, height);
            let file = format!("{dir}/{name}-{width}x{height}-{look}.svg");
            std::fs::write(file, svg::picture(terminal(&buf).screen(), *dark)).unwrap();
        }
    }
}

/// Hints that are drawn, with the action of a click on them; no click answers the agent.
const HINTS: [(&str, Option<Action>); 8] = [
    ("esc close", Some(Action::App(AppAction::Back))),
    ("esc later", Some(Action::App(AppAction::Back))),
    ("F3 answer", Some(Action::Answer(AnswerAction::Focus))),
    ("tab refresh", Some(Action::Picker(PickerAction::Other))),
    ("enter quit", Some(Action::Picker(PickerAction::Accept))),
    ("z undo", Some(Action::List(ListAction::Undo))),
    ("F4 yes, once", None),
    ("enter answer", None),
];

/// A key that is shown with a word for what it does can be clicked as well as pressed.
fn hints_are_clickable(buf: &Buffer, drawn: &Drawn) {
    let area = buf.area;
    // The row below is the bar of keys, whose hints are those of the place.
    for row in 0..area.height.saturating_sub(1) {
        let cells: Vec<&str> = (0..area.width).map(|column| buf[(column, row)].symbol()).collect();
        for (hint, action) in HINTS {
            let starts = |at: &usize| {
                cells.iter().skip(*at).take(hint.len()).copied().eq(hint.split("").filter(|c| !c.is_empty()))
            };
            let Some(at) = (0..cells.len()).find(starts) else { continue };
            let found = drawn.frame.at(u16::try_from(at).unwrap(), row);
            let answers = [AnswerAction::Confirm, AnswerAction::YesOnce].map(|verb| Target::Act(verb.into()));
            match action {
                Some(action) => assert_eq!(found, Some(&Target::Act(action)), "{hint} in\n{}", text(&terminal(buf))),
                None => assert!(!answers.iter().any(|answer| found == Some(answer)), "{hint} answers by a click"),
            }
        }
    }
}

/// Screen of a terminal after `buf` was written to it.
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
