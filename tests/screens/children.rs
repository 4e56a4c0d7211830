//! Spawned sessions: below their own in the list, as rows of the conversation, and from the inside. At several sizes,
//! through a terminal emulator.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::chat::Entry as Row;
use lisle::app::state::open::{Enhancing, Open, Turn};
use lisle::app::state::{Current, Size, State};
use lisle::domain::message::{AssistantText, Body, UserText};
use lisle::domain::session::{Activity, SpawnedBy};
use lisle::domain::tool::{Child, ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{At, CallId, Message, MessageId, Mode, SessionId, SessionMeta};
use lisle::keymap;
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
const NOW: At = At(1_788_383_040_000);
const SIZES: [(u16, u16); 3] = [(140, 40), (80, 24), (40, 10)];

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn meta(name: &str, title: &str, minutes_ago: i64, activity: Activity) -> SessionMeta {
    let at = At(NOW.0 - minutes_ago * 60_000);
    let mut meta = SessionMeta::new(id(name), at, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.title = title.to_owned();
    meta.messages = 4;
    meta.activity = activity;
    meta.model = Some("claude-sonnet".to_owned());
    meta
}

fn child(name: &str, title: &str, activity: Activity) -> SessionMeta {
    let mut meta = meta(name, title, 1, activity);
    meta.hidden = true;
    meta.parent = Some(SpawnedBy { session: id("260902-swift-river"), call: CallId::new("c1") });
    meta.usage.cost_usd = 0.06;
    meta
}

fn spawn(n: u8, title: &str, status: ToolStatus, doing: &str, waits: Option<&str>) -> Body {
    let child = Child {
        session: id(&format!("260902-child-{n}")),
        calls: u64::from(n) * 3,
        tokens: u64::from(n) * 12_400,
        waits: waits.map(str::to_owned),
        background: false,
    };
    Body::Tool(Box::new(ToolCall {
        id: CallId::new(format!("c{n}")),
        name: "spawn".into(),
        input: serde_json::json!({"title": title}),
        subject: title.into(),
        status,
        result: Some(doing.into()),
        millis: status.ended().then_some(48_000),
        figures: ToolFigures { child: Some(Box::new(child)), ..ToolFigures::default() },
        decision: None,
    }))
}

fn state(shown: &str) -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    let since = At(NOW.0 - 75_000);
    let waits = "approve: write src/auth/redirect.rs";
    let mut parent =
        meta("260902-swift-river", "Fix login redirect", 2, Activity::NeedsYou(format!("Write the test: {waits}")));
    parent.usage.cost_usd = 0.32;
    let metas = vec![
        parent,
        child("260902-child-1", "Who calls the redirect", Activity::Idle),
        child("260902-child-2", "Read the router", Activity::Running(since)),
        child("260902-child-3", "Write the test", Activity::NeedsYou(waits.to_owned())),
        meta("260902-other", "Weekly report", 180, Activity::Idle),
    ];
    state.sessions.replace(metas, NOW, 0);
    let mut open = Open::default();
    open.loaded = true;
    open.turn = Turn { started: Some(since), ..Turn::default() };
    let bodies = if shown == "260902-swift-river" {
        vec![
            Body::User(UserText { text: "The redirect drops the query. Find out why.".into(), ..UserText::default() }),
            Body::Assistant(AssistantText {
                text: "I look at three sides of it at once.".into(),
                intermediate: true,
                ..AssistantText::default()
            }),
            spawn(
                1,
                "Who calls the redirect",
                ToolStatus::Completed,
                "Two callers: login.rs:40 and logout.rs:12.",
                None,
            ),
            spawn(2, "Read the router", ToolStatus::Executing, "grep decode_query", None),
            spawn(3, "Write the test", ToolStatus::Executing, "write tests/redirect.rs", Some(waits)),
        ]
    } else {
        vec![Body::User(UserText {
            text: "Read the router and say where the query is decoded.".into(),
            ..UserText::default()
        })]
    };
    for (n, body) in bodies.into_iter().enumerate() {
        let at = At(NOW.0 - 60_000);
        let message = Message::new(MessageId::new(format!("m{n}")), at, body);
        open.chat.entries.push_back(Row { key: n as i64, revision: 0, message, live: n > 2 });
    }
    state.conversations.open.insert(id(shown), open);
    state.conversations.current = Current::Session(id(shown));
    state.sessions.select(&id(shown));
    state.sessions.look_at(Some(&id(shown)), NOW, 0);
    state
}

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen::shot(name, state, width, height));
    }
}

#[test]
fn what_a_session_spawned_stands_below_it_and_in_its_conversation() {
    let state = state("260902-swift-river");
    assert_eq!(state.sessions.needing(), 1, "one question, though the parent waits with its child");
    assert_eq!(state.sessions.count(), 2);
    shots("parent", &state);
}

#[test]
fn a_spawned_session_says_whose_it_is() {
    shots("child", &state("260902-child-2"));
}

#[test]
fn a_draft_that_is_rewritten_says_so() {
    let mut state = state("260902-swift-river");
    let open = state.current_open_mut().unwrap();
    open.composer.set("why does keep_query drop it?");
    open.enhancing = Some(Enhancing { number: 1, revision: open.composer.revision() });
    insta::assert_snapshot!("rewriting-80x24", screen::shot("rewriting", &state, 80, 24));
}
