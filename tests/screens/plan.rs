//! A plan that waits, with its steps marked, and one that is carried out: at several sizes, through a terminal emulator.
//! With `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::chat::Entry as Row;
use lisle::app::state::edit::Editor;
use lisle::app::state::open::Open;
use lisle::app::state::panel::{Choice, Panel, Stage};
use lisle::app::state::{Current, Focus, Size, State};
use lisle::domain::message::{Body, Info, InfoKind, Plan, UserText};
use lisle::domain::plan::{Outline, Progress, StepMark, StepStatus};
use lisle::domain::request::{Ask, PlanOrigin, PlanReview, Request};
use lisle::domain::{At, Level, Message, MessageId, Mode, RequestId, SessionId, SessionMeta};
use lisle::keymap;
use lisle::theme::{Colors, Theme};
use lisle::ui;
use ratatui::style::Modifier;
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
const NOW: At = At(1_788_383_040_000);
const SIZES: [(u16, u16); 4] = [(140, 40), (100, 30), (80, 24), (40, 10)];
const PATH: &str = "/x/plans/2026-09-02-keep-the-query.md";

fn plan() -> String {
    let mut text =
        "# Keep the query string\n\nThe query is decoded twice. Decode it once, and hold it by a test.\n\n".to_owned();
    text.push_str(
        "1. Read `redirect.rs`\n2. Decode once, in the caller:\n   ```rust\n   let query = decode(&raw);\n   ```\n",
    );
    text.push_str("3. クエリ文字列を一度だけデコードし、テストで確かめる。長い行は折り返される。\n");
    for n in 4..=30 {
        text.push_str(&format!("{n}. Look at caller number {n}\n"));
    }
    text.push_str("\n## Risks\n\nNone that are known.\n");
    text
}

fn state(bodies: Vec<Body>) -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    let id = SessionId::parse("260902-swift-river").unwrap();
    let mut meta = SessionMeta::new(id.clone(), NOW, Mode::Explore, PathBuf::from("/home/me/src/app"));
    meta.title = "Fix login redirect".to_owned();
    meta.messages = 12;
    state.sessions.replace(vec![meta], NOW, 0);
    let mut open = Open::default();
    open.loaded = true;
    for (n, body) in bodies.into_iter().enumerate() {
        let message = Message::new(MessageId::new(format!("m{n}")), NOW, body);
        open.chat.entries.push_back(Row { key: n as i64, revision: 0, message, live: false });
    }
    state.conversations.open.insert(id.clone(), open);
    state.conversations.current = Current::Session(id.clone());
    state.sessions.select(&id);
    state
}

fn user(text: &str) -> Body {
    Body::User(UserText { text: text.to_owned(), ..UserText::default() })
}

fn asked(change: impl FnOnce(&mut PlanReview)) -> State {
    let mut state = state(vec![user("The redirect after login drops the query string. Plan how to fix it.")]);
    let mut review = PlanReview {
        path: PATH.into(),
        title: "Keep the query string".to_owned(),
        markdown: plan(),
        ..PlanReview::default()
    };
    change(&mut review);
    let request = Request { id: RequestId::new("r"), ask: Ask::Plan(review) };
    let open = state.current_open_mut().unwrap();
    open.panel = Some(Panel::new(&request));
    open.requests = vec![request];
    state.focus = Focus::Panel;
    state
}

fn panel(state: &mut State) -> &mut Panel {
    state.current_open_mut().unwrap().panel.as_mut().unwrap()
}

fn mark(state: &mut State) {
    let plan = panel(state).plan.as_mut().unwrap();
    plan.outline.apply(&[
        StepMark { number: 2, struck: true, comment: None },
        StepMark { number: 3, struck: false, comment: Some("Only where it is decoded, not in the router.".into()) },
    ]);
    plan.at = Some(2);
}

fn shot(name: &str, state: &State, theme: &Theme, (width, height): (u16, u16)) -> String {
    let (buf, drawn) = screen::draw_with(state, theme, ui::glyphs::GlyphSet::Unicode, width, height);
    if let Ok(dir) = std::env::var("LISLE_PICTURES") {
        let dark = *theme == Theme::builtin(true);
        let file = format!("{dir}/{name}-{width}x{height}.svg");
        std::fs::write(file, screen::svg::picture(screen::terminal(&buf).screen(), dark)).unwrap();
    }
    let caret = drawn.cursor.map_or("hidden".to_owned(), |at| format!("column {} row {}", at.x, at.y));
    format!("{}\n\ncaret: {caret}", screen::text(&screen::terminal(&buf)))
}

fn shots(name: &str, state: &State) {
    for size in SIZES {
        let (width, height) = size;
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), shot(name, state, &Theme::builtin(true), size));
    }
}

#[test]
fn a_long_plan_waits() {
    let mut state = asked(|_| {});
    shots("waits", &state);
    mark(&mut state);
    panel(&mut state).selected = Some(2);
    shots("marked", &state);
    let text = Box::new(Editor::new("Only where it is decoded"));
    panel(&mut state).stage = Stage::Writing { purpose: Choice::StepComment(3), text };
    let size = (100, 30);
    insta::assert_snapshot!("comment-100x30", shot("comment", &state, &Theme::builtin(true), size));
    for dark in [true, false] {
        let name = if dark { "marked-dark" } else { "marked-light" };
        shot(name, &state, &Theme::builtin(dark), size);
    }
}

#[test]
fn steps_are_in_sight_where_a_plan_is_approved() {
    let summary = "The query is decoded twice, once by the router and once by the handler. ".repeat(6);
    let mut state = asked(|review| {
        review.markdown =
            plan().replace("The query is decoded twice.", &format!("{summary}\n\n- slower\n- more code\n\n"));
    });
    for selected in [None, Some(0), Some(1)] {
        panel(&mut state).selected = selected;
        for size in SIZES {
            let text = shot("steps-first", &state, &Theme::builtin(true), size);
            for part in ["30 steps", "Keep", "1. Read", "more lines"] {
                assert!(text.contains(part), "{part} at {size:?}\n{text}");
            }
        }
    }
    // What stands before the steps can be read below them.
    panel(&mut state).scroll = Some(u16::MAX);
    let text = shot("steps-first-end", &state, &Theme::builtin(true), (80, 24));
    assert!(text.contains("more code") || text.contains("saved as"), "{text}");
}

#[test]
fn no_row_of_a_plan_is_blank_while_steps_are_hidden() {
    let mut state = asked(|_| {});
    state.focus = Focus::Composer;
    for size in [(140, 40), (120, 36), (100, 30)] {
        let text = shot("plan-unfocused", &state, &Theme::builtin(true), size);
        let rows: Vec<&str> = text.lines().collect();
        let more = rows.iter().position(|row| row.contains("more line")).unwrap_or_else(|| panic!("{text}"));
        let right = |row: &str| row.rsplit('│').next().unwrap_or_default().trim().to_owned();
        let answers = rows[more + 1..].iter().take_while(|row| !row.contains("──"));
        assert!(answers.clone().count() > 0 && answers.clone().all(|row| !right(row).is_empty()), "{text}");
        // One blank row parts it from the conversation.
        let title = rows.iter().position(|row| row.contains("Approve this plan?")).unwrap();
        assert!(right(rows[title - 1]).is_empty() && !right(rows[title - 2]).is_empty(), "{text}");
    }
}

#[test]
fn what_speaks_for_care_is_said() {
    let state = asked(|review| {
        review.capped = true;
        review.resumes = true;
        review.origin = PlanOrigin::ChangedOnDisk;
        review.markdown = "1. a\n2. b\n".to_owned();
    });
    let text = shot("resumes", &state, &Theme::builtin(true), (100, 30));
    insta::assert_snapshot!("resumes-100x30", text);
    assert!(!text.contains("Execute"), "{text}");
    let empty = asked(|review| review.markdown = " \n".to_owned());
    let text = shot("empty", &empty, &Theme::builtin(true), (80, 24));
    assert!(text.contains("Empty plan") && !text.contains("approve,"), "{text}");
}

#[test]
fn a_struck_step_is_crossed_out() {
    let mut state = asked(|_| {});
    mark(&mut state);
    let (buf, _) = screen::draw_with(&state, &Theme::builtin(true), ui::glyphs::GlyphSet::Ascii, 140, 40);
    let crossed: String = buf
        .content
        .iter()
        .filter(|cell| cell.modifier.contains(Modifier::CROSSED_OUT))
        .map(|cell| cell.symbol())
        .collect();
    assert!(crossed.contains("Decode once, in the caller") && !crossed.contains("Read"), "{crossed}");
}

#[test]
fn a_plan_is_carried_out() {
    let compacted = Info {
        text: "compacted without a model: kept 1 of your messages and 0 files; full history above".to_owned(),
        level: Level::Info,
        kind: InfoKind::Compacted,
        carried: Some(Box::new("words".to_owned().into())),
    };
    let markdown = "# Keep it\n\nDecode once.\n\n1. Read\n2. Decode\n3. Publish\n4. Test\n5. Tell\n".to_owned();
    let row = Body::Plan(Plan { path: PATH.to_owned(), markdown: markdown.clone() });
    let mut state = state(vec![user("Plan it."), row, Body::Info(compacted), user("Plan approved. Carry it out now.")]);
    let mut steps = Outline::parse(&markdown).steps;
    steps[0].status = StepStatus::Done;
    steps[1].status = StepStatus::Running;
    steps[1].comment = Some("in the caller".to_owned());
    steps[2].struck = true;
    steps[3].status = StepStatus::Failed;
    let progress = Progress { title: "Keep it".to_owned(), path: PATH.into(), steps, over: false };
    state.current_open_mut().unwrap().plan = Some(Box::new(progress));
    shots("carried-out", &state);
    // In sixteen colours and in none nothing of it is lost.
    let plain = Theme::builtin(true).for_terminal(Colors::None);
    let text = shot("plain", &state, &plain, (140, 40));
    for part in
        ["☑ 1. Read", "◐ 2. Decode", "− 3. Publish", "! 4. Test", "☐ 5. Tell", "1 of 4 done, 1 failed", "step 2 of 4"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
