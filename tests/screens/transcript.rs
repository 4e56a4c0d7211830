//! The conversation with what is hard to show: code, links, changes, long results, wide and unseen characters. At several
//! sizes and in several themes, through a terminal emulator. With `LISLE_PICTURES=DIR` each screen is also written there as
//! SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::Msg;
use lisle::app::effect::Effect;
use lisle::app::state::chat::{Density, Entry, View};
use lisle::app::state::mark::{Mark, Marked, Place, Unit};
use lisle::app::state::open::Open;
use lisle::app::state::search::Search;
use lisle::app::state::{Current, Focus, Size, State};
use lisle::domain::diff::FileDiff;
use lisle::domain::message::{AssistantText, Body, Thinking, UserText};
use lisle::domain::tool::{ToolCall, ToolFigures};
use lisle::domain::{At, Message, MessageId, Mode, SessionId, SessionMeta};
use lisle::keymap;
use lisle::syntax::Painter;
use lisle::theme::{Colors, Role, Theme};
use lisle::ui::glyphs::GlyphSet;
use ratatui::style::{Color, Modifier};
use screen::{call, draw, draw_with, shot};
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
const NOW: At = At(1_788_383_040_000);
const SIZES: [(u16, u16); 5] = [(140, 40), (100, 30), (80, 24), (40, 10), (20, 5)];

const ANSWER: &str = "The loop ends *too early*. See [the manual](https://example.org/manual) or https://example.org/bare.

```rust
/// Counts.
fn count(lines: &[String]) -> usize {
    let total = \"日本語 and emoji 👩‍👩‍👧\".len(); // a comment that is so long that it has to be folded at every width tried here, really
    lines.len() + 0x1f + total
}
```

| 名前 | Was es tut | 数 |
|---|:-:|--:|
| 読む | liest eine sehr lange Zeile, die umgebrochen werden muss | 12 |
| 👍🏽 | שלום עולם | 1,000 |

- a list
  ```sh
  cargo test -- --nocapture
  ```

Zero width: a\u{200b}b\u{202e}c. Math $x_1$ and

```mermaid
graph TD; A-->B
```
";

fn user(text: &str) -> Body {
    Body::User(UserText { text: text.to_owned(), ..UserText::default() })
}

fn change() -> ToolCall {
    let old = "use std::io;\n\nfn main() {\n    let name = read(\"a\");\n    print(name);\n}\n";
    let new = "use std::io;\n\nfn main() {\n    let name = read(\"日本\");\n    let more = 2;\n    print(name);\n}\n";
    let mut edit = call("edit", "src/main.rs", "");
    edit.result = None;
    edit.figures = ToolFigures { diff: Some(FileDiff::between("src/main.rs", Some(old), new)), ..edit.figures };
    edit
}

fn session() -> SessionId {
    SessionId::parse("260902-swift-river").unwrap()
}

fn state(bodies: Vec<Body>) -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    let mut meta = SessionMeta::new(session(), NOW, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.title = "A title that is much too long for any list 日本語のタイトル 👩‍👩‍👧 and goes on".to_owned();
    state.sessions.replace(vec![meta], NOW, 0);
    let row = |(at, body): (usize, Body)| {
        let key = i64::try_from(at).unwrap();
        let message = Message::new(MessageId::new(format!("m{at}")), NOW, body);
        Entry { key, revision: 0, message, live: false }
    };
    let mut open = Open::default();
    open.loaded = true;
    open.chat.entries = bodies.into_iter().enumerate().map(row).collect();
    state.conversations.open.insert(session(), open);
    state.conversations.current = Current::Session(session());
    state.sessions.select(&session());
    state
}

fn nasty() -> State {
    let numbered = (1..=300).map(|n| format!("{n}\tlet line_{n} = {n};\n")).collect::<String>();
    let long = (1..=300).map(|n| format!("output {n} 日本 \u{200b}\x1b[31mred\x1b[0m\n")).collect::<String>();
    let thinking = Thinking { text: "First this.\nThen that.".to_owned(), millis: Some(4_000), ..Thinking::default() };
    state(vec![
        user("Why does it end? שלום 日本語 👩‍👩‍👧 https://example.org/asked"),
        Body::Thinking(thinking),
        Body::Tool(Box::new(call("read", "src/main.rs", &numbered))),
        Body::Tool(Box::new(call("bash", "printf 'a very long command line' && cargo test --all-targets", &long))),
        Body::Tool(Box::new(change())),
        Body::Assistant(AssistantText { text: ANSWER.to_owned(), ..AssistantText::default() }),
    ])
}

/// Draws until nothing wants colours any more.
fn coloured(mut state: State, width: u16, height: u16) -> State {
    let mut painter = Painter::default();
    for _ in 0..5 {
        let (_, drawn) = draw(&state, width, height);
        for effect in lisle::app::update(&mut state, NOW, Msg::Drawn(Box::new(drawn.frame))) {
            if let Effect::Highlight { session, blocks } = effect {
                let blocks = blocks.iter().map(|block| painter.paint(block, &mut || false)).collect();
                lisle::app::update(&mut state, NOW, Msg::Highlighted { session, blocks });
            }
        }
    }
    state
}

fn chat(state: &mut State) -> &mut lisle::app::state::chat::Chat {
    &mut state.conversations.open.get_mut(&session()).unwrap().chat
}

#[test]
fn what_is_hard_to_show() {
    for (width, height) in SIZES {
        let mut state = coloured(nasty(), width, height);
        insta::assert_snapshot!(format!("nasty-{width}x{height}"), shot("nasty", &state, width, height));
        chat(&mut state).view = View::At { key: 0, line: 0 };
        let state = coloured(state, width, height);
        insta::assert_snapshot!(format!("nasty-top-{width}x{height}"), shot("nasty-top", &state, width, height));
    }
}

#[test]
fn the_three_densities() {
    for (name, density) in [("tails", Density::Tails), ("full", Density::Full)] {
        let mut state = nasty();
        chat(&mut state).density = density;
        chat(&mut state).view = View::At { key: 2, line: 0 };
        let state = coloured(state, 100, 30);
        insta::assert_snapshot!(format!("density-{name}-100x30"), shot(&format!("density-{name}"), &state, 100, 30));
    }
}

#[test]
fn a_change_stands_beside_itself_where_there_is_room() {
    let mut state = state(vec![user("change it"), Body::Tool(Box::new(change()))]);
    chat(&mut state).density = Density::Full;
    let state = coloured(state, 220, 20);
    insta::assert_snapshot!("beside-220x20", shot("beside", &state, 220, 20));
    let mut state = state;
    chat(&mut state).unified = true;
    insta::assert_snapshot!("below-180x20", shot("below", &coloured(state, 180, 20), 180, 20));
}

/// The styles of the cells of the first row that holds `text`, from its first letter on.
fn styles(state: &State, theme: &Theme, text: &str) -> Vec<(String, Color, Modifier)> {
    let (buf, _) = draw_with(state, theme, GlyphSet::Unicode, 140, 60);
    let width = usize::from(buf.area.width);
    for row in buf.content.chunks(width) {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        if let Some(at) = line.find(text) {
            let column = line[..at].chars().count();
            let cells = row[column..].iter().take(text.chars().count());
            return cells.map(|cell| (cell.symbol().to_owned(), cell.fg, cell.modifier)).collect();
        }
    }
    panic!("{text} is not on the screen");
}

#[test]
fn code_has_the_colours_of_the_theme_and_none_where_none_are_wanted() {
    let state = coloured(nasty(), 140, 60);
    let code = "fn count(lines";
    for colors in [Colors::True, Colors::C256, Colors::C16] {
        for name in ["lisle-dark", "lisle-light", "gruvbox", "solarized"] {
            let theme = lisle::theme::load(name, &[]).theme.for_terminal(colors);
            let shown = styles(&state, &theme, code);
            let of = |role: Role| theme.style(role).fg.unwrap_or(shown[8].1);
            assert_eq!(shown[0].1, of(Role::CodeKeyword), "{name}");
            assert_eq!(shown[3].1, of(Role::CodeFunction), "{name}");
            assert_ne!(shown[0].1, shown[9].1, "{name}: a keyword looks like a name");
        }
    }
    let mono = Theme::builtin(true).for_terminal(Colors::None);
    let shown = styles(&state, &mono, code);
    assert!(shown.iter().all(|(_, fg, _)| *fg == Color::Reset), "{shown:?}");
    assert!(shown[0].2.contains(Modifier::BOLD) && !shown[9].2.contains(Modifier::BOLD), "weight tells a keyword");
}

#[test]
fn links_are_where_they_stand_and_nowhere_under_an_overlay() {
    let mut state = coloured(nasty(), 140, 60);
    let (_, drawn) = draw(&state, 140, 60);
    let urls: Vec<&str> = drawn.links.iter().map(|link| link.url.as_ref()).collect();
    for want in ["https://example.org/manual", "https://example.org/bare", "https://example.org/asked"] {
        assert!(urls.contains(&want), "{want} is not among {urls:?}");
    }
    lisle::app::update(&mut state, NOW, Msg::Act { action: lisle::keymap::action::AppAction::Help.into(), key: None });
    let (buf, drawn) = draw(&state, 140, 60);
    for link in &drawn.links {
        let text: String = (link.x..link.x + link.width).map(|x| buf[(x, link.y)].symbol()).collect();
        assert!(text.contains("manual") || text.contains("example.org"), "{text:?} leads to {}", link.url);
    }
}

#[test]
fn hits_are_marked_in_code_too() {
    let mut state = coloured(nasty(), 140, 60);
    state.focus = Focus::Chat;
    let mut search = Search { query: lisle::app::state::edit::Line::new("count"), ..Search::default() };
    search.find(&state.conversations.open[&session()].chat);
    assert_eq!(search.hits, [5]);
    state.searches.conversation = Some(search);
    let theme = Theme::builtin(true);
    let shown = styles(&state, &theme, "fn count");
    assert_eq!(shown[3].1, theme.style(Role::Found).fg.unwrap());
    assert_eq!(shown[0].1, theme.style(Role::CodeKeyword).fg.unwrap());
}

/// The conversation with brackets around what is marked in it.
fn with_marks(state: &State, theme: &Theme, width: u16, height: u16) -> String {
    let (buf, _) = draw_with(state, theme, GlyphSet::Unicode, width, height);
    let style = theme.style(Role::Selected);
    let is_marked = |x: u16, y: u16| match style.bg {
        Some(ground) => buf[(x, y)].bg == ground,
        None => buf[(x, y)].modifier.contains(style.add_modifier),
    };
    let row = |y: u16| {
        let (mut out, mut inside, mut wide) = (String::new(), false, 0);
        for x in 0..width {
            if wide == 0 && is_marked(x, y) != inside {
                out.push(if inside { '⟧' } else { '⟦' });
                inside = !inside;
            }
            if wide == 0 {
                out.push_str(buf[(x, y)].symbol());
                wide = lisle::ui::text::width(buf[(x, y)].symbol()).max(1);
            }
            wide -= 1;
        }
        if inside {
            out.push('⟧');
        }
        out.trim_end().to_owned()
    };
    (0..height).map(row).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[test]
fn what_is_marked_is_seen_in_every_theme_and_handed_over_as_text() {
    let mut state = coloured(
        state(vec![
            user("Why does it end? שלום 日本語 👩‍👩‍👧 https://example.org/asked"),
            Body::Tool(Box::new(change())),
            Body::Assistant(AssistantText { text: ANSWER.to_owned(), ..AssistantText::default() }),
        ]),
        80,
        60,
    );
    chat(&mut state).density = Density::Full;
    state.screen.panes.only_chat = true;
    let place = |key, line, at| Place { key, line, at };
    let (from, to) = (place(0, 0, 4), place(2, 20, 6));
    let ends = |place: Place| (place, place);
    let mark = Mark { anchor: ends(from), head: ends(to), unit: Unit::Sign, by_keys: false, steps: 0, wanted: true };
    chat(&mut state).mark = Some(mark);
    let dark = with_marks(&state, &Theme::builtin(true), 80, 60);
    insta::assert_snapshot!("marked-80x60", dark);
    insta::assert_snapshot!("marked-40x70", with_marks(&state, &Theme::builtin(true), 40, 70));
    for colors in [Colors::C256, Colors::C16, Colors::None] {
        let theme = Theme::builtin(true).for_terminal(colors);
        // Where there is no ground for code, a line stands at its side.
        let bare = |text: &str| text.replace('│', " ");
        assert_eq!(bare(&with_marks(&state, &theme, 80, 60)), bare(&dark), "in {colors:?}");
    }
    let text = |width| {
        let Marked { text, .. } = draw(&state, width, 60).1.frame.marked;
        text.unwrap()
    };
    insta::assert_snapshot!("marked-text", text(80));
    assert_eq!(text(40), text(110), "whatever the width");
}

#[test]
fn the_fold_mark_of_a_short_change_closes_it_and_opens_it_again() {
    let mut state = state(vec![user("Do it."), Body::Tool(Box::new(change()))]);
    let shows = |state: &State| screen::text(&screen::terminal(&draw(state, 100, 30).0));
    let (mark, changed) = (|text: &str| text.contains("▾ edit"), |text: &str| text.contains("let more = 2"));
    let before = shows(&state);
    assert!(mark(&before) && changed(&before), "{before}");
    let key = chat(&mut state).entries[1].key;
    chat(&mut state).toggled.insert(key);
    let closed = shows(&state);
    assert!(closed.contains("▸ edit") && !changed(&closed), "{closed}");
    chat(&mut state).toggled.remove(&key);
    assert_eq!(shows(&state), before);
}
