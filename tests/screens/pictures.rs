//! Files with pictures in the conversation: their described lines, and the rows that are kept for them. At several sizes,
//! through a terminal emulator.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::chat::{Density, Entry};
use lisle::app::{Msg, update};
use lisle::domain::attachment::{Attachment, AttachmentKind};
use lisle::domain::message::{AssistantText, UserText};
use lisle::domain::picture::{KnownPicture, Pixels};
use lisle::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{At, Body, CallId, Message, MessageId};
use lisle::ui::chat::picture::place;
use screen::{NOW, SIZES, draw, one_session, session, shot};
use std::path::PathBuf;

fn file(name: &str, bytes: u64) -> Attachment {
    let (path, mime) = (PathBuf::from(format!("/s/attachments/{name}")), "image/png".to_owned());
    Attachment { name: name.to_owned(), path, kind: AttachmentKind::Image, mime, bytes, text: None }
}

fn pictures() -> State {
    let mut state = one_session();
    let call = ToolCall {
        id: CallId::new("c"),
        name: "read".to_owned(),
        subject: "docs/chart.png".to_owned(),
        status: ToolStatus::Completed,
        result: Some("A picture of 300 by 100 pixels.".to_owned()),
        figures: ToolFigures { media: vec![file("chart.png", 9_000)], ..ToolFigures::default() },
        input: serde_json::Value::Null,
        millis: Some(30),
        decision: None,
    };
    let bodies = [
        Body::User(UserText::with(
            "The button is too far left 日本語",
            vec![file("login 画面.png", 24_000), file("cut\u{1b}[31m.png", 800)],
        )),
        Body::Tool(Box::new(call)),
        Body::Assistant(AssistantText { text: "It is.".to_owned(), ..AssistantText::default() }),
    ];
    let entries = bodies.into_iter().zip(0..).map(|(body, key)| {
        let message = Message::new(MessageId::new(format!("m{key}")), At(NOW.0 - 60_000 + key * 1_000), body);
        Entry { key, revision: 1, message, live: false }
    });
    state.conversations.open.get_mut(&session()).unwrap().chat.entries = entries.collect();
    let sized = |name: &str, width, height| {
        (PathBuf::from(format!("/s/attachments/{name}")), KnownPicture::Sized(Pixels { width, height }))
    };
    let cut = (PathBuf::from("/s/attachments/cut\u{1b}[31m.png"), KnownPicture::Broken("damaged image".to_owned()));
    let sizes = vec![sized("login 画面.png", 1280, 720), sized("chart.png", 300, 100), cut];
    update(&mut state, NOW, Msg::Measured(sizes));
    state.conversations.density = Density::Tails;
    state.conversations.open.get_mut(&session()).unwrap().chat.density = Density::Tails;
    state
}

fn resize(state: &mut State, width: u16, height: u16) {
    update(state, NOW, Msg::Resize { width, height });
}

#[test]
fn files_are_described_where_no_picture_is_drawn() {
    let mut state = pictures();
    for (width, height) in SIZES {
        resize(&mut state, width, height);
        insta::assert_snapshot!(format!("described-{width}x{height}"), shot("described", &state, width, height));
    }
}

#[test]
fn rows_are_kept_for_a_picture_and_hold_its_cells_when_it_is_ready() {
    let mut state = pictures();
    update(&mut state, NOW, Msg::Pictures(Some(Pixels { width: 10, height: 20 })));
    for (width, height) in SIZES {
        resize(&mut state, width, height);
        insta::assert_snapshot!(format!("kept-{width}x{height}"), shot("kept", &state, width, height));
    }
    resize(&mut state, 100, 40);
    let (before, drawn) = draw(&state, 100, 40);
    assert!(!drawn.pictures);
    let wants = drawn.frame.pictures.clone();
    assert_eq!(wants.len(), 2);
    update(&mut state, NOW, Msg::Drawn(Box::new(drawn.frame)));
    for (want, number) in wants.iter().zip(7..) {
        update(&mut state, NOW, Msg::Shrunk { session: session(), want: want.clone(), made: Ok(number) });
    }
    let (after, drawn) = draw(&state, 100, 40);
    assert!(drawn.pictures && drawn.frame.pictures.is_empty());
    let cells = after.content.iter().filter(|cell| place(cell.symbol()).is_some()).count();
    let all: u16 = wants.iter().map(|want| want.cells.cols * want.cells.rows).sum();
    assert_eq!(cells, usize::from(all), "both pictures are seen whole");
    // Nothing else moved.
    for (old, new) in before.content.iter().zip(&after.content) {
        assert!(place(new.symbol()).is_some() || old.symbol() == new.symbol(), "{old:?} {new:?}");
    }
}
