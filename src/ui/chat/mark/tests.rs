//! Logical text, whatever the width; what lies at a cell; what is marked, and what leads somewhere.

use super::*;
use crate::app::state::chat::{Chat, Density, Entry};
use crate::app::state::gallery::Gallery;
use crate::app::state::mark::Unit;
use crate::domain::diff::FileDiff;
use crate::domain::message::{AssistantText, Body, Message, Thinking, UserText};
use crate::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use crate::domain::{At, CallId, MessageId};
use crate::theme::Theme;
use crate::ui::chat::ChatKeys;
use crate::ui::chat::cache::{Cache, Laid};
use crate::ui::chat::picture::Sight;
use crate::ui::chat::text_position::word;
use crate::ui::chat::{ChatOpts, draw};
use crate::ui::glyphs::GlyphSet;
use proptest::prelude::*;

fn user(text: &str) -> Body {
    Body::User(UserText { text: text.to_owned(), ..UserText::default() })
}

fn assistant(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() })
}

fn call(name: &str, subject: &str, result: &str) -> ToolCall {
    ToolCall {
        id: CallId::new("c"),
        name: name.to_owned(),
        input: serde_json::Value::Null,
        subject: subject.to_owned(),
        status: ToolStatus::Completed,
        result: (!result.is_empty()).then(|| result.to_owned()),
        millis: None,
        figures: ToolFigures::default(),
        decision: None,
    }
}

fn chat(bodies: Vec<Body>) -> Chat {
    let row = |(key, body)| Entry {
        key,
        revision: 0,
        message: Message::new(MessageId::new(format!("m{key}")), At(key * 1000), body),
        live: false,
    };
    let entries = (0..).zip(bodies).map(row).collect();
    Chat { entries, density: Density::Full, thinking: true, unified: true, ..Chat::default() }
}

struct Shown {
    cache: Cache,
    buf: Buffer,
}

fn shown(chat: &Chat, width: u16, height: u16) -> Shown {
    let area = Rect::new(0, 0, width, height);
    let (mut buf, mut cache) = (Buffer::empty(area), Cache::default());
    let opts = ChatOpts {
        session: "s",
        now: At(100_000),
        utc_offset_s: 0,
        glyphs: GlyphSet::Unicode,
        focused: true,
        model: "m",
        asked_plan: None,
        plan: None,
        helps: &[],
        marker: None,
        keys: ChatKeys { to_end: "G", unfold_all: "ctrl+o" },
        running: false,
        spent: Default::default(),
        cwd: "/w/app",
        pictures: Sight { gallery: &Gallery::default(), screen_rows: 40 },
    };
    draw(chat, &opts, &Theme::builtin(true), &mut cache, area, &mut buf);
    Shown { cache, buf }
}

impl Shown {
    fn row(&self, y: u16) -> String {
        (0..self.buf.area.width).map(|x| self.buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned()
    }

    /// The row on which a text stands, and its first cell.
    fn find(&self, text: &str) -> (u16, u16) {
        let found = (0..self.buf.area.height).find_map(|y| {
            let row: Vec<&str> = (0..self.buf.area.width).map(|x| self.buf[(x, y)].symbol()).collect();
            let at = (0..row.len()).find(|at| row[*at..].concat().starts_with(text))?;
            Some((u16::try_from(at).unwrap(), y))
        });
        found.unwrap_or_else(|| panic!("{text:?} is not shown"))
    }

    /// Selected parts of the screen, row by row.
    fn marked(&self) -> Vec<String> {
        let style = Theme::builtin(true).style(Role::Selected);
        let rows = (0..self.buf.area.height).map(|y| {
            let cells = (0..self.buf.area.width).filter(|x| self.buf[(*x, y)].bg == style.bg.unwrap());
            cells.map(|x| self.buf[(x, y)].symbol()).collect::<String>()
        });
        rows.filter(|row| !row.is_empty()).collect()
    }
}

/// The logical text of one entry, at a width.
fn logical(body: &Body, width: u16) -> String {
    let shown = shown(&chat(vec![body.clone()]), width, 60);
    shown.cache.laid(0).unwrap().logical_text()
}

/// The text that is handed over for a mark from one place of the screen to another.
fn copied(
    chat: &Chat,
    (width, height): (u16, u16),
    from: (u16, u16),
    to: (u16, u16),
    unit: Unit,
) -> (String, Vec<String>) {
    let before = shown(chat, width, height);
    let spot = |(x, y)| before.cache.spot(x, y).unwrap();
    let mark = Mark { head: spot(to).ends(unit), wanted: true, ..Mark::at(spot(from), unit) };
    let mut marked = shown(&Chat { mark: Some(mark), ..chat.clone() }, width, height);
    (marked.cache.take_marked().text.unwrap(), marked.marked())
}

const LISTS: &str = "A paragraph that is long enough to be wrapped.

- one item that is long enough to be wrapped
  - 二つ目 with a [link](https://a.b)
1. first

> quoted words that are long enough to be wrapped";

#[test]
fn the_logical_text_does_not_depend_on_the_width() {
    let mut diff = call("edit", "src/a.rs", "");
    diff.figures.diff = Some(FileDiff::between("src/a.rs", Some("one\n\ttwo\nthree\n"), "one\n\t2\nthree\n"));
    for (name, body, want) in [
        ("user", user("Fix the\n\n  redirect, and\ttabs"), "Fix the\n\n  redirect, and\ttabs"),
        (
            "lists",
            assistant(LISTS),
            "A paragraph that is long enough to be wrapped.\n\n- one item that is long enough to be wrapped\n  - 二つ目 with \
             a link (https://a.b)\n1. first\n\nquoted words that are long enough to be wrapped",
        ),
        (
            "table",
            assistant("| name | what it does |\n|---|--:|\n| a b | one two three four five |\n| 日本 | 2 |"),
            "name\twhat it does\na b\tone two three four five\n日本\t2",
        ),
        (
            "code",
            assistant("```go\nif x {\n\tlong(one, two, three)\n\n\t}\n```"),
            "if x {\n\tlong(one, two, three)\n\n\t}",
        ),
        ("heading", assistant("# Title\n\ntext\n\n---\n\nmore"), "Title\ntext\n\n---\n\nmore"),
        (
            "read",
            tool(call("read", "src/a.rs", "1\tfn main() {\n2\t\tone_call(with, arguments);\n3\t}")),
            "read src/a.rs\nfn main() {\n\tone_call(with, arguments);\n}",
        ),
        (
            "bash",
            tool(call("bash", "cargo test", "one\n  two\n\nthree three three three")),
            "bash cargo test\none\n  two\n\nthree three three three",
        ),
        ("diff", tool(diff), "edit src/a.rs\none\n    two\n    2\nthree"),
        (
            "thinking",
            Body::Thinking(Thinking {
                text: "I will think about it for long".into(),
                millis: Some(3000),
                ..Thinking::default()
            }),
            "thought for 3s\nI will think about it for long",
        ),
    ] {
        for width in [100, 40, 24, 17] {
            // Where its line has no room, a command has lines of its own.
            let want = if width == 17 { want.replace("bash cargo", "bash\ncargo") } else { want.to_owned() };
            assert_eq!(logical(&body, width), want, "{name} in {width}");
        }
    }
}

fn tool(call: ToolCall) -> Body {
    Body::Tool(Box::new(call))
}

#[test]
fn a_mark_is_copied_without_gutter_padding_and_soft_breaks() {
    let chat = chat(vec![
        user("One two three four five six seven."),
        assistant("Yes.\n\n```rust\nfn one() {}\n```\nDone 日本語 👩‍👩‍👧 here."),
    ]);
    let size = (28, 20);
    let screen = shown(&chat, size.0, size.1);
    let (x, y) = screen.find("two");
    let (to, below) = screen.find("six");
    assert!(below > y, "it is wrapped");
    let (text, cells) = copied(&chat, size, (x, y), (to + 2, below), Unit::Sign);
    assert_eq!(text, "two three four five six");
    assert_eq!(cells.concat().replace(' ', ""), "twothreefourfivesix");
    // Backwards it is the same.
    assert_eq!(copied(&chat, size, (to + 2, below), (x, y), Unit::Sign).0, text);
    // Over entries, into a block of code: without heads and labels.
    let (x, y) = screen.find("seven");
    let (to, below) = screen.find("one()");
    assert_eq!(copied(&chat, size, (x, y), (to + 4, below), Unit::Sign).0, "seven.\n\nYes.\n\nfn one()");
    // Wide characters are marked as a whole, whichever of their cells is meant.
    let (x, y) = screen.find("本");
    for cell in [x, x + 1] {
        assert_eq!(copied(&chat, size, (cell, y), (cell, y), Unit::Sign).0, "本");
    }
    let (x, y) = screen.find("👩");
    assert_eq!(copied(&chat, size, (x, y), (x, y), Unit::Word).0, "👩‍👩‍👧");
    assert_eq!(copied(&chat, size, (x, y), (x, y), Unit::Line).0, "Done 日本語 👩‍👩‍👧 here.");
    // Beside the text the nearest of it is meant: from the gutter to behind the end it is all.
    let last = screen.find("here").1;
    let (_, first) = screen.find("One");
    assert_eq!(
        copied(&chat, size, (0, first), (27, last), Unit::Sign).0,
        "One two three four five six seven.\n\nYes.\n\nfn one() {}\nDone 日本語 👩‍👩‍👧 here."
    );
}

#[test]
fn a_table_is_copied_in_cells() {
    let chat = chat(vec![assistant("| name | text |\n|---|---|\n| one | some words that wrap here |\n| two | 2 |")]);
    let size = (30, 20);
    let screen = shown(&chat, size.0, size.1);
    let (x, y) = screen.find("one");
    let (to, below) = screen.find("two");
    let (text, cells) = copied(&chat, size, (x, y), (to + 2, below), Unit::Sign);
    assert_eq!(text, "one\tsome words that wrap here\ntwo");
    assert!(!cells.concat().contains(['│', '─']), "{cells:?}");
    assert_eq!(copied(&chat, size, (x, y), (x, y), Unit::Line).0, "one\tsome words that wrap here");
}

#[test]
fn words_are_what_one_would_want_to_copy() {
    let text = "see src/auth/a-b.rs:42, or `git_log` and (日本語) https://a.b/c?d=e. x";
    for (at, want) in [
        ("auth", "src/auth/a-b.rs:42"),
        ("git", "git_log"),
        ("本", "日本語"),
        ("a.b/c", "https://a.b/c?d=e"),
        ("or", "or"),
        (", or", ","),
    ] {
        let from = bytes(text.find(at).unwrap());
        let first = text[from as usize..].chars().next().unwrap().len_utf8();
        let (start, end) = word(text, (from, from + bytes(first)));
        assert_eq!(&text[start as usize..end as usize], want, "{at}");
    }
    assert_eq!(word("", (0, 0)), (0, 0));
}

#[test]
fn what_streams_in_or_another_size_does_not_move_a_mark() {
    let mut chat = chat(vec![user("first question"), assistant("one two three four five six"), user("last")]);
    let screen = shown(&chat, 60, 20);
    let (x, y) = screen.find("three");
    let spot = screen.cache.spot(x, y).unwrap();
    chat.mark = Some(Mark { wanted: true, ..Mark::at(spot, Unit::Word) });
    let Body::Assistant(text) = &mut chat.entries[1].message.body else { unreachable!() };
    text.text.push_str(" seven\n\neight");
    chat.entries[1].revision = 1;
    for width in [60, 26, 12] {
        let mut screen = shown(&chat, width, 20);
        assert_eq!(screen.marked(), ["three"], "in {width}");
        assert_eq!(screen.cache.take_marked().text.as_deref(), Some("three"));
    }
}

#[test]
fn keys_move_the_head_by_lines_through_entries() {
    let mut chat = chat(vec![user("a\nb"), assistant(""), assistant("c\n\nd")]);
    let place = |key, line| Place { key, line, at: 0 };
    let head = (place(0, 0), place(0, 0));
    let mark = |steps| Mark { anchor: head, head, unit: Unit::Line, by_keys: true, steps, wanted: true };
    for (steps, want) in
        [(0, "a"), (1, "a\nb"), (2, "a\nb\n\nc"), (4, "a\nb\n\nc\n\nd"), (99, "a\nb\n\nc\n\nd"), (-5, "a")]
    {
        chat.mark = Some(mark(steps));
        let marked = shown(&chat, 40, 20).cache.take_marked();
        assert_eq!(marked.text.as_deref(), Some(want), "{steps} steps");
        assert_eq!(marked.head.map(|head| head.1), (steps != 0).then_some(steps));
    }
}

#[test]
fn what_is_in_focus_comes_on_the_pane() {
    let code = |n: usize| format!("```rust\n{}```\n\n", format!("code_{n}\n").repeat(3));
    let long = (0..9).map(code).collect::<String>();
    let mut chat = chat(vec![user("ask"), assistant(&long)]);
    (chat.cursor, chat.reveal) = (Some(1), true);
    for block in [0, 4, 8] {
        chat.block = Some(block);
        let screen = shown(&chat, 40, 8);
        let (_, y) = screen.find(&format!("code_{block}"));
        assert!(screen.row(y).starts_with('▎'), "the block has the mark of the cursor: {}", screen.row(y));
        let other = (0..8).filter(|y| screen.row(*y).starts_with('▎')).count();
        assert_eq!(other, 3, "and nothing else has it");
    }
}

#[test]
fn links_are_links_wherever_they_stand() {
    let url = "https://example.org/a/very/long/way/to/go";
    for (name, text, size, want) in [
        ("heading", format!("# See [it]({url})"), (80, 10), vec![("it", url), ("(https", url)]),
        ("list", format!("- a [link]({url})"), (80, 10), vec![("link", url)]),
        ("quote", format!("> a [link]({url})"), (80, 10), vec![("link", url)]),
        (
            "table",
            format!("| a | b |\n|---|--:|\n| x | [link]({url}) |"),
            (80, 10),
            vec![("link", url), ("(https", url)],
        ),
        ("bare in a table", format!("| a | b |\n|---|---|\n| x | {url} |"), (80, 10), vec![("https", url)]),
        ("broken", format!("go to {url} now"), (24, 10), vec![("https", url), ("very/long", url)]),
        (
            "broken in a table",
            format!("| a | b |\n|---|---|\n| word | {url} |"),
            (30, 10),
            vec![("https", url), ("to/go", url)],
        ),
        ("file", "in src/a.rs:42 and `docs/b c.md`".into(), (80, 10), vec![("src", "file:///w/app/src/a.rs#42")]),
        ("file elsewhere", "in ../x/a.rs /etc/b.conf".into(), (80, 10), vec![]),
    ] {
        let mut screen = shown(&chat(vec![assistant(&text)]), size.0, size.1);
        let links = screen.cache.take_links();
        for (at, want) in &want {
            let (x, y) = screen.find(at);
            let found = links.iter().find(|(area, _)| area.contains((x, y).into()));
            assert_eq!(found.map(|(_, url)| url.as_ref()), Some(*want), "{name}: {at}");
        }
        if want.is_empty() {
            assert_eq!(links, [], "{name}");
        }
    }
    let mut screen = shown(&chat(vec![tool(call("read", "Cargo.toml", "x"))]), 60, 10);
    let (x, y) = screen.find("Cargo");
    let links = screen.cache.take_links();
    let found = links.iter().find(|(area, _)| area.contains((x, y).into())).map(|(_, url)| url.to_string());
    assert_eq!(found.as_deref(), Some("file:///w/app/Cargo.toml"), "{links:?}");
}

proptest! {
    #[test]
    fn the_cells_of_what_lies_at_a_cell_hold_it(
        text in prop_oneof![
            "([a-z]{1,9} ?|日本|👩\u{200d}👧|\t|\n|\n- |\\| |`|\\*){0,40}",
            Just("| a | b |\n|---|---|\n| one\ttwo three | 日本 👍🏽 four |\n".to_owned()),
            ".{0,60}",
        ],
        width in 8u16..50,
        as_user in any::<bool>(),
    ) {
        let body = if as_user { user(&text) } else { assistant(&text) };
        let screen = shown(&chat(vec![body]), width, 40);
        for at in &screen.cache.rows {
            let laid = screen.cache.laid(at.key).unwrap();
            let laid_line = laid.line(at.number).unwrap();
            for seg in &laid_line.segs {
                for cell in seg.x..seg.x + seg.width {
                    let spot = screen.cache.spot(at.x + cell, at.y).unwrap();
                    let (line, text) = laid.logical_at(at.number).unwrap();
                    prop_assert_eq!(spot.line, line);
                    prop_assert!(text.get(spot.sign.0 as usize..spot.sign.1 as usize).is_some_and(|sign| !sign.is_empty()));
                    prop_assert!(spot.word.0 <= spot.sign.0 && spot.word.1 >= spot.sign.1);
                    let cells = cells(laid_line, text, spot.sign.0..spot.sign.1);
                    let held = cells.iter().any(|(x, width)| (*x..x + width).contains(&cell));
                    prop_assert!(held, "cell {} of {:?}: {:?} is at {:?}", cell, laid_line.to_string(), spot, cells);
                }
            }
        }
    }

    #[test]
    fn all_of_an_entry_is_its_logical_text(
        text in "([a-z]{1,9} ?|日本|👩\u{200d}👧|\t|\n|\n\n|\n- |\n> |`|\n```\n|\\|){0,40}",
        width in 8u16..60,
        as_user in any::<bool>(),
    ) {
        let body = if as_user { user(&text) } else { assistant(&text) };
        let mut chat = chat(vec![body]);
        let before = shown(&chat, width, 200);
        let Some(laid) = before.cache.laid(0) else { return Ok(()) };
        let (whole, Some(top), Some(end)) = (laid.logical_text(), before.cache.spot(0, 0), before.cache.spot(u16::MAX, u16::MAX)) else {
            return Ok(());
        };
        chat.mark = Some(Mark { head: end.ends(Unit::Line), wanted: true, ..Mark::at(top, Unit::Line) });
        let text = shown(&chat, width, 200).cache.take_marked().text;
        prop_assert_eq!(text.as_deref(), Some(whole.as_str()));
        // Neither does it depend on the width.
        let other = shown(&chat, 99, 200).cache.laid(0).map(Laid::logical_text);
        prop_assert_eq!(other.as_deref(), Some(whole.as_str()));
        if as_user {
            let said = crate::domain::sanitise::clean(text_of(&chat));
            let said = said.trim_end().split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n");
            prop_assert_eq!(whole, said);
        }
    }
}

fn text_of(chat: &Chat) -> &str {
    match &chat.entries[0].message.body {
        Body::User(user) => &user.text,
        _ => "",
    }
}
