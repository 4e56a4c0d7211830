//! The pane of details beside the conversation, on a wide screen. With `LISLE_PICTURES=DIR` each screen is also written there
//! as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::Msg;
use lisle::app::msg::{Mouse, MouseKind};
use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::domain::diff::FileDiff;
use lisle::domain::job::JobShown;
use lisle::domain::message::{AssistantText, Body, UserText};
use lisle::domain::session::{Activity, SpawnedBy};
use lisle::domain::tool::{TodoItem, TodoStatus, ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{At, CallId, Message, MessageId, Mode, SessionId, SessionMeta};
use screen::{NOW, one_session, session, shot};
use std::path::{Path, PathBuf};

const HOUR: i64 = 3_600_000;

/// Another session, so many hours ago.
fn other(state: &mut State, name: &str, title: &str, hours: i64, change: impl FnOnce(&mut SessionMeta)) {
    let at = At(NOW.0 - hours * HOUR);
    let mut meta = SessionMeta::new(SessionId::parse(name).unwrap(), at, Mode::Ask, PathBuf::from("/home/me/src/app"));
    (meta.title, meta.last_message, meta.messages) = (title.to_owned(), at, 12);
    change(&mut meta);
    state.sessions.put(meta, NOW, 0);
}

fn edit(path: &str, old: &str, new: &str) -> Body {
    Body::Tool(Box::new(ToolCall {
        id: CallId::new(path),
        name: "edit".to_owned(),
        input: serde_json::Value::Null,
        subject: path.to_owned(),
        status: ToolStatus::Completed,
        result: None,
        millis: Some(20),
        figures: ToolFigures { diff: Some(FileDiff::between(path, Some(old), new)), ..ToolFigures::default() },
        decision: None,
    }))
}

fn neighbours(state: &mut State) {
    other(state, "260902-red-leaf", "Weekly report 日本語", 3, |_| {});
    other(state, "260902-old-oak", "Why is the cache cold after a restart of the second server", 30, |_| {});
    other(state, "260901-else", "Somewhere else", 2, |meta| meta.cwd = PathBuf::from("/home/me/src/other"));
    other(state, "260901-never", "Never said anything", 1, |meta| meta.messages = 0);
}

#[test]
fn a_session_that_works_shows_what_goes_on() {
    let mut state = one_session();
    neighbours(&mut state);
    let mut meta = state.sessions.meta(&session()).unwrap().clone();
    (meta.usage.context_window, meta.usage.context_tokens, meta.usage.cost_usd) = (Some(200_000), 82_000, 0.32);
    state.sessions.put(meta, NOW, 0);
    for (name, title, activity) in [
        ("260902-child-1", "Look through the tests", Activity::Idle),
        ("260902-child-2", "Read the manual", Activity::Running(At(NOW.0 - 20_000))),
    ] {
        other(&mut state, name, title, 0, |meta| {
            (meta.parent, meta.activity) = (Some(SpawnedBy { session: session(), call: CallId::new(name) }), activity)
        });
    }
    let open = state.current_open_mut().unwrap();
    let bodies = [
        Body::User(UserText { text: "Fix it.".to_owned(), ..UserText::default() }),
        edit("src/auth/redirect.rs", "a\nb\nc\n", "a\nc\nd\ne\n"),
        edit("src/a/path/that/is/so/long/that/its/begin/is/cut/off/日本語.rs", "a\n", "b\n"),
        Body::Assistant(AssistantText { text: "Done.".to_owned(), ..AssistantText::default() }),
    ];
    let entry = |(key, body): (i64, Body)| {
        let message = Message::new(MessageId::new(format!("m{key}")), NOW, body);
        Entry { key, revision: 0, message, live: false }
    };
    open.chat.entries = (0..).zip(bodies).map(entry).collect();
    open.todo = vec![
        TodoItem { content: "Read the old parser".to_owned(), status: TodoStatus::Completed },
        TodoItem {
            content: "Write the new one, with all that belongs to it".to_owned(),
            status: TodoStatus::InProgress,
        },
        TodoItem { content: "Run the tests".to_owned(), status: TodoStatus::Pending },
    ];
    open.jobs = vec![JobShown {
        id: "job-1".to_owned(),
        command: "cargo watch -x 'test --all'".to_owned(),
        since: At(NOW.0 - 95_000),
        end: None,
        bytes: 5_000,
        last: "ok".to_owned(),
    }];
    insta::assert_snapshot!("works-200x50", shot("details-works", &state, 200, 50));
}

#[test]
fn an_empty_session_shows_what_was_done_here_and_a_click_opens_it() {
    let mut state = one_session();
    neighbours(&mut state);
    insta::assert_snapshot!("empty-200x50", shot("details-empty", &state, 200, 50));
    lisle::app::update(&mut state, NOW, Msg::Resize { width: 200, height: 50 });
    let (buf, drawn) = screen::draw(&state, 200, 50);
    let text = screen::text(&screen::terminal(&buf));
    let pane: Vec<&str> = text.lines().filter_map(|line| line.rsplit('│').next()).collect();
    assert!(pane.iter().any(|line| line.contains("Weekly report")), "{pane:?}");
    let elsewhere = |line: &&str| line.contains("Somewhere") || line.contains("Never said");
    assert!(!pane.iter().any(elsewhere), "{pane:?}");
    // The title stands in the list and in the pane of details.
    let (row, line) =
        text.lines().enumerate().find(|(_, line)| line.rsplit('│').next().unwrap().contains("Weekly")).unwrap();
    let column = line[..line.rfind("Weekly").unwrap()].chars().count();
    lisle::app::update(&mut state, NOW, Msg::Drawn(Box::new(drawn.frame)));
    let press = Mouse { kind: MouseKind::Press, col: u16::try_from(column).unwrap(), row: u16::try_from(row).unwrap() };
    lisle::app::update(&mut state, NOW, Msg::Mouse(press));
    assert_eq!(state.current_id().map(SessionId::as_str), Some("260902-red-leaf"));
}

#[test]
fn a_new_home_says_what_will_stand_there() {
    let mut state = one_session();
    let mut meta = state.sessions.meta(&session()).unwrap().clone();
    meta.cwd = Path::new("/").to_owned();
    state.sessions.put(meta, NOW, 0);
    let shown = shot("details-new", &state, 200, 50);
    assert!(shown.contains("appear here"), "{shown}");
}

#[test]
fn a_session_that_cannot_be_read_says_why_in_its_place() {
    let mut state = screen::one_session();
    let open = state.conversations.open.get_mut(&screen::session()).unwrap();
    open.loaded = false;
    open.unreadable = Some("can't read /home/me/.local/share/lisle/workspaces/default/sessions/260902-swift-river/session.jsonl: Permission denied. Check owner and permissions of the file and its parent directories.".to_owned());
    for (width, height) in screen::SIZES {
        insta::assert_snapshot!(
            format!("unreadable-{width}x{height}"),
            screen::shot("unreadable", &state, width, height)
        );
    }
}

#[test]
fn a_long_model_name_leaves_room_for_the_context_and_the_keys() {
    let mut state = one_session();
    let mut meta = SessionMeta::new(session(), NOW, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.model = Some("accounts/some-router/models/a-model-with-a-very-long-name-20260901-preview-v2".to_owned());
    meta.usage.context_window = Some(200_000);
    meta.usage.context_tokens = 82_000;
    state.sessions.replace(vec![meta], NOW, 0);
    for width in [100, 120, 140] {
        let text = shot("long-model", &state, width, 30);
        let line = text.lines().find(|line| line.contains("Ask to Edit")).unwrap();
        assert!(line.contains("41% of 200k") && line.contains("help"), "{width}: {line}");
        assert!(line.contains("20260901-preview-v2"), "what tells models apart stands at the end: {line}");
    }
}
