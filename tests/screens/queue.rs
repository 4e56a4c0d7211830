//! The messages that wait, above the draft and in their list: at several sizes, through a terminal emulator. With
//! `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::open::Open;
use lisle::app::state::overlay::{Overlay, QueueCard};
use lisle::domain::attachment::{Attachment, AttachmentKind};
use lisle::domain::{At, MessageId};
use lisle::protocol::{Queued, TurnEnd};
use screen::{NOW, SIZES, one_session, session};
use std::path::PathBuf;

fn open(state: &mut State) -> &mut Open {
    state.conversations.open.get_mut(&session()).unwrap()
}

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen::shot(name, state, width, height));
    }
}

fn ago(seconds: i64) -> At {
    At(NOW.0 - 1_000 * seconds)
}

fn file(name: &str, bytes: u64) -> Attachment {
    let (path, mime) = (PathBuf::from(format!("/s/attachments/{name}")), "image/png".to_owned());
    Attachment { name: name.to_owned(), path, kind: AttachmentKind::Image, mime, bytes, text: None }
}

fn message(id: &str, text: &str, since: i64, attachments: Vec<Attachment>) -> Queued {
    Queued {
        id: MessageId::new(id),
        text: text.to_owned(),
        at: ago(since),
        redelivered: false,
        attachments,
        piped: None,
        client: None,
    }
}

fn waiting() -> Vec<Queued> {
    vec![
        message("a", "also check the logout path", 400, vec![]),
        message(
            "b",
            "ログイン画面の文言も直してください 🙏 and compare it with the picture\n\n- the button\u{1b}[31m is too far left\n- 日本語の見出しが切れている",
            95,
            vec![
                file("login 画面.png", 24_000),
                file("a very long name of a picture of the page that nobody can read.png", 1_300_000),
            ],
        ),
        message("c", "", 20, vec![file("👩‍👩‍👧 team.png", 8_000)]),
        message("d", "then commit", 4, vec![]),
    ]
}

fn card(id: &str) -> Overlay {
    Overlay::Queue(QueueCard { session: session(), selected: Some(MessageId::new(id)), at: 0 })
}

#[test]
fn what_waits_while_a_turn_runs() {
    let mut state = one_session();
    let open = open(&mut state);
    open.turn.started = Some(ago(12));
    open.steers = vec![message("s", "use ninja, not make 🛠", 3, vec![])];
    open.queue = waiting();
    shots("queue-above-the-draft", &state);
    state.overlays = vec![card("b")];
    shots("queue", &state);
    state.overlays = vec![card("s")];
    shots("queue-into-the-turn", &state);
    state.overlays = vec![card("c")];
    shots("queue-only-a-file", &state);
}

#[test]
fn a_held_queue_says_why_and_how_it_goes_on() {
    let mut state = one_session();
    let one = open(&mut state);
    one.queue = waiting();
    one.queue_held = true;
    one.ended = Some(TurnEnd::Stopped);
    state.overlays = vec![card("d")];
    shots("queue-held", &state);
    for (ended, word) in [
        (Some(TurnEnd::Failed), "the turn failed"),
        (Some(TurnEnd::Limit), "reached a limit"),
        (Some(TurnEnd::Done), "ended first"),
        (None, "ended first"),
    ] {
        open(&mut state).ended = ended;
        let shown = screen::shot("queue-held", &state, 100, 30);
        assert!(shown.contains(word) && shown.contains("space sends them"), "{ended:?}\n{shown}");
    }
    open(&mut state).queue.iter_mut().for_each(|item| item.redelivered = true);
    assert!(screen::shot("queue-held", &state, 100, 30).contains("lisle quit before sending"));
}

#[test]
fn a_long_queue_keeps_the_selected_one_in_sight() {
    let mut state = one_session();
    let many = (0..40).map(|n| message(&format!("m{n}"), &format!("message number {n}"), 100 - n, vec![]));
    open(&mut state).queue = many.collect();
    for chosen in [0, 17, 39] {
        state.overlays = vec![card(&format!("m{chosen}"))];
        for (width, height) in [(140, 40), (80, 24), (40, 10), (20, 6), (1, 1)] {
            let shown = screen::shot("queue-long", &state, width, height);
            if width >= 40 {
                assert!(shown.contains(&format!("message number {chosen}")), "{width}x{height}\n{shown}");
            }
        }
    }
}
