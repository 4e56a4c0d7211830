//! The transcript in a buffer: what is on the screen, where it stands, and what a frame costs.

use super::*;
use crate::app::state::chat::{Density, View};
use crate::app::state::gallery::Gallery;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::diff::FileDiff;
use crate::domain::message::{
    AssistantText, Failure, FailureAction, Info, InfoKind, Message, Odd, Plan, Thinking, UserText,
};
use crate::domain::notice::Level;
use crate::domain::permission::{Authority, Decision, Mode, Sandbox};
use crate::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use crate::domain::{At, CallId, MessageId};
use proptest::prelude::*;
use std::sync::LazyLock;

/// 2026-11-21 20:04:00 UTC.
const START: i64 = 1_795_291_440_000;

fn attached(name: &str) -> Attachment {
    Attachment {
        name: name.to_owned(),
        path: "/s/attachments/1_a".into(),
        kind: AttachmentKind::Image,
        mime: "image/png".into(),
        bytes: 2_048,
        text: None,
    }
}

fn entry(key: i64, body: Body) -> Entry {
    let message = Message::new(MessageId::new(format!("msg-{key}")), At(START + key * 1000), body);
    Entry { key, revision: 0, message, live: false }
}

fn user(text: &str) -> Body {
    Body::User(UserText { text: text.to_owned(), ..UserText::default() })
}

fn assistant(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() })
}

fn call(name: &str, subject: &str) -> ToolCall {
    ToolCall {
        id: CallId::new("call-1"),
        name: name.to_owned(),
        input: serde_json::Value::Null,
        subject: subject.to_owned(),
        status: ToolStatus::Completed,
        result: None,
        millis: None,
        figures: ToolFigures::default(),
        decision: None,
    }
}

fn tool(call: ToolCall) -> Body {
    Body::Tool(Box::new(call))
}

fn chat(bodies: Vec<Body>) -> Chat {
    let entries = bodies.into_iter().enumerate().map(|(i, body)| entry(i as i64, body)).collect();
    Chat { entries, ..Chat::default() }
}

static NO_PICTURES: LazyLock<Gallery> = LazyLock::new(Gallery::default);

fn opts() -> ChatOpts<'static> {
    ChatOpts {
        asked_plan: None,
        plan: None,
        helps: &[],
        session: "261121-calm-river",
        now: At(START + 100_000),
        utc_offset_s: 3600,
        glyphs: GlyphSet::Unicode,
        focused: true,
        model: "sonnet",
        pictures: super::picture::Sight { gallery: &NO_PICTURES, screen_rows: 40 },
        marker: None,
        keys: ChatKeys { to_end: "G", unfold_all: "ctrl+o" },
        running: false,
        spent: Default::default(),
        cwd: "/w/app",
    }
}

struct Screen {
    cache: Cache,
    theme: Theme,
}

impl Screen {
    fn new() -> Self {
        Self { cache: Cache::default(), theme: Theme::plain() }
    }

    fn draw(&mut self, chat: &Chat, opts: &ChatOpts<'_>, width: u16, height: u16) -> (String, Drawn) {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let drawn = draw(chat, opts, &self.theme, &mut self.cache, area, &mut buf);
        let mut text = String::new();
        for y in 0..height {
            let mut line = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buf[(x, y)].symbol();
                line.push_str(symbol);
                x += u16::try_from(text::width(symbol).max(1)).unwrap();
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        (text, drawn)
    }
}

#[test]
fn an_answer_is_signed_by_the_model_that_wrote_it() {
    let mut chat = chat(vec![user("one"), assistant("first"), user("two"), assistant("second")]);
    chat.entries[1].message.model = Some("vendor/opus".to_owned());
    let (drawn, _) = Screen::new().draw(&chat, &opts(), 60, 20);
    let heads: Vec<&str> = drawn.lines().filter(|line| line.contains("assistant · ")).collect();
    assert!(heads.len() == 2 && heads[0].contains("· opus") && heads[1].contains("· sonnet"), "{drawn}");
}

use crate::ui::text;

fn drawing() -> Chat {
    let mut read = call("read", "src/auth/redirect.rs");
    read.figures.lines = Some(212);
    let mut edit = call("edit", "src/auth/redirect.rs");
    edit.figures.diff =
        Some(FileDiff { path: "src/auth/redirect.rs".into(), added: 14, removed: 3, ..FileDiff::default() });
    let mut bash = call("bash", "cargo test redirect");
    bash.status = ToolStatus::Error;
    bash.figures.exit = Some(101);
    bash.millis = Some(6200);
    bash.result = Some("running 1 test\nthread 'redirect::keeps_query' panicked at src/lib.rs\n".into());
    let mut chat = chat(vec![
        user("The redirect after login drops the query string. Fix it and add a test."),
        assistant("I will look at the redirect first."),
        tool(read),
        tool(edit),
        tool(bash),
        assistant("The test shows that `next` is decoded twice."),
    ]);
    chat.toggled.insert(4);
    chat.cursor = Some(4);
    chat
}

#[test]
fn looks_like_its_drawing() {
    insta::assert_snapshot!("drawing", Screen::new().draw(&drawing(), &opts(), 72, 16).0);
    insta::assert_snapshot!("drawing_narrow", Screen::new().draw(&drawing(), &opts(), 36, 20).0);
}

#[test]
fn verbs_stand_in_one_column() {
    let names = ["bash", "write", "submit_plan", "ask_user", "todo"];
    let chat = chat(names.map(|name| tool(call(name, "SUBJECT"))).to_vec());
    let (text, _) = Screen::new().draw(&chat, &opts(), 60, 8);
    let columns: Vec<_> = text.lines().filter_map(|line| Some(text::width(line.split_once("SUBJECT")?.0))).collect();
    assert_eq!(columns, [11; 5], "{text}");
    assert!(text.contains("▸ plan   SUBJECT") && text.contains("▸ ask    SUBJECT"), "{text}");
}

#[test]
fn a_refusal_says_who_refused() {
    let line = |authority: Authority, reason: &str| {
        let mut call = call("bash", "make");
        call.status = ToolStatus::Error;
        let reason = reason.to_owned();
        call.decision =
            Some(Decision { allowed: false, mode: Mode::Ask, authority, reason, sandbox: Sandbox::None, client: None });
        Screen::new().draw(&chat(vec![tool(call)]), &opts(), 70, 4).0
    };
    assert!(line(Authority::Mode, "Explore only reads").contains("  refused: Explore only reads"));
    // The words for the agent are not repeated to the user, those of the user are.
    let silent = line(Authority::Person, "The user refused this call. Do not try it in another form.");
    assert!(silent.contains("  denied by you\n"), "{silent}");
    assert!(line(Authority::Person, "The user refused this call: too slow").contains("  denied by you: too slow"));
}

#[test]
fn a_command_that_the_user_changed_is_told_as_such() {
    let line = |reason: &str| {
        let mut call = call("bash", "make");
        call.figures.exit = Some(0);
        let (reason, authority) = (reason.to_owned(), Authority::Person);
        call.decision =
            Some(Decision { allowed: true, mode: Mode::Ask, authority, reason, sandbox: Sandbox::None, client: None });
        Screen::new().draw(&chat(vec![tool(call)]), &opts(), 70, 4).0
    };
    assert!(line("the user changed the command; proposed was: make all").contains("changed by you"));
    assert!(!line("").contains("changed by you"));
}

#[test]
fn after_a_failure_the_user_has_a_head_again() {
    let failure = Body::Error(Failure {
        code: "key".into(),
        title: "Invalid key".into(),
        text: String::new(),
        detail: String::new(),
        actions: Vec::new(),
    });
    let chat = chat(vec![user("one"), failure, user("two")]);
    let (text, _) = Screen::new().draw(&chat, &opts(), 60, 12);
    assert_eq!(text.matches("you · ").count(), 2, "{text}");
}

fn everything() -> Chat {
    let mut refused = call("bash", "rm -rf /tmp/x");
    refused.status = ToolStatus::Error;
    refused.decision = Some(Decision {
        allowed: false,
        mode: Mode::Explore,
        authority: Authority::Mode,
        reason: "Explore does not run commands that write".into(),
        sandbox: Sandbox::None,
        client: None,
    });
    let mut running = call("bash", "cargo build --release\necho done");
    running.status = ToolStatus::Executing;
    running.result = Some((0..30).map(|i| format!("Compiling crate {i}\n")).collect());
    let mut written = call("write", "notes/a.md");
    written.figures.diff = Some(FileDiff::between("notes/a.md", Some("one\ntwo\n"), "one\n2\u{202e}\nthree\n"));
    let mut failed = call("read", "missing.txt");
    failed.status = ToolStatus::Error;
    failed.result = Some("no such file: missing.txt".into());
    let mut chat = chat(vec![
        user("Do it\n\tnow \x1b[31mred"),
        Body::Thinking(Thinking { text: "Let me think.".into(), millis: Some(4200), native: None }),
        tool(refused),
        tool(running),
        tool(written),
        tool(failed),
        Body::Info(Info {
            text: "Mode: Ask to Edit → Execute".into(),
            level: Level::Info,
            kind: InfoKind::ModeChanged,
            carried: None,
        }),
        assistant("Nearly"),
        Body::Info(Info {
            text: "You stopped the turn".into(),
            level: Level::Warning,
            kind: InfoKind::Interrupted,
            carried: None,
        }),
        Body::Info(Info {
            text: "12 messages summed up".into(),
            level: Level::Info,
            kind: InfoKind::Compacted,
            carried: None,
        }),
        Body::Plan(Plan { path: "plans/one.md".into(), markdown: "# Plan\n1. look\n2. change".into() }),
        Body::User(UserText {
            text: "Faster".into(),
            attachments: vec![attached("a.png")],
            steer: true,
            piped: None,
            client: None,
        }),
        Body::Odd(Odd { what: "a row of type \"hologram\"".into(), line: 12, raw: "{\"type\":\"hologram\"}".into() }),
        Body::Error(Failure {
            code: "rate_limited".into(),
            title: "Too many requests".into(),
            text: "rate limited by the server 20 s.".into(),
            detail: "429\nmore\nand more".into(),
            actions: vec![FailureAction::Retry, FailureAction::Model],
        }),
    ]);
    if let Body::Assistant(text) = &mut chat.entries[7].message.body {
        text.partial = true;
    }
    chat.entries[5].message.parent = Some(CallId::new("call-1"));
    chat
}

#[test]
fn every_row_in_every_density() {
    let mut chat = everything();
    let helps = [(FailureAction::Retry, "ctrl+x i".to_owned()), (FailureAction::Settings, "F9".to_owned())];
    let opts = || ChatOpts { helps: &helps, ..opts() };
    insta::assert_snapshot!("rows_lines", Screen::new().draw(&chat, &opts(), 70, 46).0);
    chat.density = Density::Full;
    chat.thinking = true;
    insta::assert_snapshot!("rows_full", Screen::new().draw(&chat, &opts(), 70, 100).0);
    chat.density = Density::Tails;
    let (text, _) = Screen::new().draw(&chat, &opts(), 70, 100);
    assert!(text.contains("… 22 more lines (enter)"), "{text}");
    let ascii = ChatOpts { glyphs: GlyphSet::Ascii, ..opts() };
    chat.entries[4].message.body = assistant("plain");
    chat.entries[6].message.body = assistant("plain");
    let (text, _) = Screen::new().draw(&chat, &ascii, 60, 100);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn a_subject_outlives_the_figures() {
    let mut bash = call("bash", "cargo test");
    bash.figures.exit = Some(101);
    bash.status = ToolStatus::Error;
    bash.millis = Some(61_000);
    let chat = chat(vec![tool(bash)]);
    for (width, want) in [
        (60, "  ▸ bash   cargo test                      exit 101 · 1m 01s"),
        (36, "  ▸ bash   cargo test       exit 101"),
        (25, "  ▸ bash   cargo test"),
        (18, "▸ bash   cargo te…"),
    ] {
        let (text, _) = Screen::new().draw(&chat, &opts(), width, 4);
        let line = text.lines().find(|l| l.contains("bash")).unwrap().to_owned();
        assert_eq!(line, want, "at {width}");
    }
}

#[test]
fn the_place_one_reads_stays() {
    let long =
        (0..40).map(|i| format!("Line {i} of a text that is wrapped when the pane is narrow.\n\n")).collect::<String>();
    let mut chat = chat((0..20).map(|i| if i % 2 == 0 { user("q") } else { assistant(&long) }).collect());
    let mut screen = Screen::new();
    let (_, end) = screen.draw(&chat, &opts(), 80, 10);
    assert!(end.at_end && !end.at_top && end.below == 0);

    // Ten lines up, past the begin of the row.
    let (key, line) = end.top.unwrap();
    chat.view = View::At { key, line: line - 75 };
    let (_, up) = screen.draw(&chat, &opts(), 80, 10);
    assert_eq!(up.below, 75);
    let top = up.top.unwrap();
    assert!(top.0 < key && top.1 >= 0, "{top:?}");

    // New rows below do not move it.
    chat.view = View::At { key: top.0, line: top.1 };
    let (before, _) = screen.draw(&chat, &opts(), 80, 10);
    chat.entries.push_back(entry(20, user("new\n\nmore")));
    let (after, drawn) = screen.draw(&chat, &opts(), 80, 10);
    assert_eq!(before.lines().take(9).collect::<Vec<_>>(), after.lines().take(9).collect::<Vec<_>>());
    assert_eq!(screen.cache.below().map(|(words, _)| words), Some("↓ 5 new lines"), "{after}");
    assert!(!drawn.at_end);

    // Another width shows the same text at the top, whether the program takes over what was reported or not.
    chat.view = View::At { key: 9, line: 42 };
    let (wide, _) = screen.draw(&chat, &opts(), 80, 10);
    let number = |text: &str| {
        let at = text.find("Line ").unwrap() + 5;
        text[at..].split(' ').next().unwrap().parse::<i32>().unwrap()
    };
    let (narrow, drawn) = screen.draw(&chat, &opts(), 30, 10);
    assert!((number(&wide) - number(&narrow)).abs() <= 1, "{wide}\n{narrow}");
    assert_eq!(screen.draw(&chat, &opts(), 30, 10).1, drawn, "and stays there");

    // Far beyond the end is the end.
    chat.view = View::At { key: 19, line: 1_000_000 };
    assert!(screen.draw(&chat, &opts(), 80, 10).1.at_end);
    // And far before the begin the begin.
    chat.view = View::At { key: 0, line: -1_000_000 };
    assert!(screen.draw(&chat, &opts(), 80, 10).1.at_top);
}

#[test]
fn few_rows_stand_at_the_top_and_none_is_no_trouble() {
    let mut screen = Screen::new();
    let (text, drawn) = screen.draw(&chat(vec![user("hi")]), &opts(), 40, 5);
    assert_eq!(text, "you · 21:04\n  hi\n\n\n\n");
    assert_eq!(drawn, Drawn { top: Some((0, 0)), at_end: true, below: 0, height: 5, at_top: true });
    let (_, drawn) = screen.draw(&chat(vec![]), &opts(), 40, 5);
    assert_eq!(drawn, Drawn { top: None, at_end: true, below: 0, height: 5, at_top: true });
    for (width, height) in [(0, 0), (1, 1), (2, 3), (5, 1)] {
        screen.draw(&everything(), &opts(), width, height);
    }
}

#[test]
fn a_long_conversation_costs_what_is_seen() {
    let mut chat =
        chat((0..200_000).map(|i| if i % 2 == 0 { user("question") } else { assistant("an *answer*") }).collect());
    let mut screen = Screen::new();
    let (_, drawn) = screen.draw(&chat, &opts(), 80, 40);
    assert!(drawn.at_end);
    assert!(screen.cache.len() < 60, "{}", screen.cache.len());
    chat.view = View::At { key: 100_000, line: 0 };
    let (_, drawn) = screen.draw(&chat, &opts(), 80, 40);
    assert_eq!(drawn.top, Some((100_000, 0)));
    assert!(drawn.below > 100_000);
    assert!(screen.cache.len() < 160, "{}", screen.cache.len());
    for key in (0..200_000).step_by(500) {
        chat.view = View::At { key, line: 0 };
        screen.draw(&chat, &opts(), 80, 40);
    }
    assert!(screen.cache.len() < 4_000, "{}", screen.cache.len());
}

#[test]
fn another_conversation_does_not_get_the_lines_of_this() {
    let mut screen = Screen::new();
    screen.draw(&chat(vec![user("mine")]), &opts(), 40, 3);
    let other = ChatOpts { session: "other", ..opts() };
    let (text, _) = screen.draw(&chat(vec![user("yours")]), &other, 40, 3);
    assert!(text.contains("yours") && !text.contains("mine"));
}

#[test]
fn a_growing_answer_is_drawn_like_the_whole() {
    let text = "# Title\n\nSome **text** here.\n\n- a\n- b\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.";
    let mut grown = chat(vec![user("go"), assistant("")]);
    let mut screen = Screen::new();
    for end in 0..=text.len() {
        grown.entries[1].message.body = assistant(&text[..end]);
        grown.entries[1].revision += 1;
        grown.entries[1].live = end < text.len();
        screen.draw(&grown, &opts(), 40, 30);
    }
    let whole = chat(vec![user("go"), assistant(text)]);
    assert_eq!(screen.draw(&grown, &opts(), 40, 30).0, Screen::new().draw(&whole, &opts(), 40, 30).0);
}

#[test]
fn copying_gives_the_logical_text() {
    let long = "word ".repeat(40);
    assert_eq!(plain_text(&entry(0, user(&format!("{long}\n\tx\x1b[1m")))), format!("{long}\n\tx"));
    let mut bash = call("bash", "ls");
    bash.result = Some("a\nb\n".into());
    assert_eq!(plain_text(&entry(0, tool(bash))), "bash ls\na\nb");
}

#[test]
fn days_and_times() {
    let mut chat = chat(vec![user("hi")]);
    let mut screen = Screen::new();
    for (now, want) in [
        (START + 1000, "you · 21:04"),
        (START + 86_400_000, "you · 21 Nov 21:04"),
        (START + 400 * 86_400_000, "you · 2026-11-21 21:04"),
    ] {
        let opts = ChatOpts { now: At(now), ..opts() };
        assert_eq!(screen.draw(&chat, &opts, 40, 2).0.lines().next(), Some(want));
    }
    chat.entries[0].message.at = At(i64::MAX);
    screen.draw(&chat, &opts(), 40, 2);
}

fn outside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\x1b[31m",
            "\x1b]0;x\x07",
            "\x1b",
            "\u{9b}2J",
            "\x08",
            "\r",
            "\n",
            "\t",
            "\u{202e}",
            "👩\u{200d}👩\u{200d}👧",
            "日本語",
            "e\u{301}",
            "# ",
            "```\n",
            "| a |\n|---|\n",
            "&#27;[2J",
            "\u{feff}",
            "क्षि",
            "🇩🇪",
        ])
        .prop_map(str::to_owned),
        "[a-z ]{1,30}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_from_outside_acts_on_the_terminal(text in outside(), width in 1u16..120, density in 0usize..3, line in -50i64..50) {
        let mut weird = call(&text, &text);
        weird.result = Some(text.clone());
        weird.figures.exit = Some(1);
        let mut edit = call("edit", &text);
        edit.figures.diff = Some(FileDiff::between(&text, Some("old\n"), &text));
        let mut refused = call("bash", &text);
        refused.status = ToolStatus::Error;
        refused.decision = Some(Decision {
            allowed: false, mode: Mode::Ask, authority: Authority::Rule(text.clone()), reason: text.clone(), sandbox: Sandbox::None,
 client: None,
        });
        let info = |kind| Body::Info(Info { text: text.clone(), level: Level::Warning, kind, carried: None });
        let mut chat = chat(vec![
            Body::User(UserText { text: text.clone(), attachments: vec![attached(&text)], steer: true, piped: None, client: None }),
            assistant(&text),
            Body::Thinking(Thinking { text: text.clone(), millis: None, native: None }),
            tool(weird), tool(edit), tool(refused),
            info(InfoKind::ModeChanged), info(InfoKind::Interrupted), info(InfoKind::Compacted), info(InfoKind::Remark),
            Body::Plan(Plan { path: text.clone(), markdown: text.clone() }),
            Body::Odd(Odd { what: text.clone(), line: 1, raw: text.clone() }),
            Body::Error(Failure {
                code: text.clone(), title: text.clone(), text: text.clone(), detail: text.clone(),
                actions: vec![FailureAction::Retry, FailureAction::Settings],
            }),
        ]);
        chat.density = [Density::Lines, Density::Tails, Density::Full][density];
        chat.thinking = true;
        chat.toggled = [10, 11, 12].into();
        let model = text.clone();
        let opts = ChatOpts { model: &model, ..opts() };
        let mut screen = Screen::new();
        for view in [View::End, View::At { key: 5, line }, View::At { key: 0, line: 0 }] {
            chat.view = view;
            let (drawn, _) = screen.draw(&chat, &opts, width, 60);
            prop_assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()), "{drawn:?}");
            prop_assert!(!drawn.contains('\u{202e}'), "an override was drawn");
        }
        for entry in &chat.entries {
            prop_assert!(plain_text(entry).chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
        }
    }
}
