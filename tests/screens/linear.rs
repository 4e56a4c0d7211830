//! Linear mode: the lines of a turn, however its events fall into frames.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::app::state::open::Open;
use lisle::domain::message::{AssistantText, Body, CutBy, Failure, Info, InfoKind, Thinking};
use lisle::domain::{At, Level, Message, MessageId};
use lisle::protocol::TurnEnd;
use lisle::ui::linear::{LineSource, Printer};
use screen::{NOW, call, one_session, session};

fn open(state: &mut State) -> &mut Open {
    state.conversations.open.get_mut(&session()).unwrap()
}

fn put(state: &mut State, id: &str, body: Body) {
    let live = matches!(body, Body::Assistant(_) | Body::Thinking(_));
    let message = Message::new(MessageId::new(id), NOW, body);
    let entries = &mut open(state).chat.entries;
    let key = entries.back().map_or(0, |entry| entry.key + 1);
    match entries.iter_mut().find(|entry| entry.message.id == message.id) {
        Some(entry) => entry.message = message,
        None => entries.push_back(Entry { key, revision: 0, message, live }),
    }
}

fn said(text: &str, cut_by: Option<CutBy>) -> Body {
    Body::Assistant(AssistantText { text: text.into(), partial: cut_by.is_some(), cut_by, ..AssistantText::default() })
}

fn ended(state: &mut State, end: TurnEnd) {
    let open = open(state);
    open.turn.started = None;
    open.ended = Some(end);
    open.chat.entries.iter_mut().for_each(|entry| entry.live = false);
}

/// Every event of a turn that breaks off.
fn event(state: &mut State, number: usize, by: CutBy) {
    match (number, by) {
        (0, _) => put(state, "a", said("Beginning.\n\nAnd", None)),
        (1, _) => put(state, "a", said("Beginning.\n\nAnd", Some(by))),
        (2, CutBy::Error) => {
            let failure = Failure {
                code: "provider_error".into(),
                title: "Broken".into(),
                text: "It broke off.".into(),
                detail: String::new(),
                actions: vec![],
            };
            put(state, "e", Body::Error(failure));
        }
        (2, _) => {
            let info = Info {
                level: Level::Info,
                kind: InfoKind::Interrupted,
                text: "You stopped the turn.".into(),
                carried: None,
            };
            put(state, "i", Body::Info(info));
        }
        (_, CutBy::Error) => ended(state, TurnEnd::Failed),
        _ => ended(state, TurnEnd::Stopped),
    }
}

#[test]
fn the_rest_of_an_answer_that_is_cut_off_stands_before_what_cut_it_off_in_any_frames() {
    for by in [CutBy::User, CutBy::TimeLimit, CutBy::TakenOver, CutBy::Error] {
        // Bit n of the frames: one is drawn behind event n.
        for frames in 0_u32..8 {
            let mut state = one_session();
            open(&mut state).chat.entries.clear();
            open(&mut state).turn.started = Some(At(NOW.0 - 1_000));
            let mut printer = Printer::new(LineSource::Program, "/home/you");
            printer.news(&state);
            let mut lines = Vec::new();
            for number in 0..4 {
                event(&mut state, number, by);
                if frames & (1 << number) != 0 || number == 3 {
                    lines.extend(printer.news(&state).lines);
                }
            }
            let at = |line: &str| lines.iter().position(|it| it.starts_with(line)).unwrap_or(usize::MAX);
            let places = [
                at("assistant: Beginning."),
                at("  And"),
                at("(interrupted"),
                at(match by {
                    CutBy::Error => "error: Broken",
                    _ => "stopped: ",
                }),
            ];
            assert!(places.is_sorted() && places[3] < usize::MAX, "{by:?}, frames {frames:b}: {lines:#?}");
        }
    }
}

#[test]
fn thinking_ends_before_what_follows_it() {
    for frames in 0_u32..16 {
        let mut state = one_session();
        open(&mut state).chat.entries.clear();
        open(&mut state).turn.started = Some(At(NOW.0 - 1_000));
        let mut printer = Printer::new(LineSource::Program, "/home/you");
        printer.news(&state);
        let thinking = |millis| Body::Thinking(Thinking { text: "Hm.".into(), millis, ..Thinking::default() });
        let mut lines = Vec::new();
        for number in 0..5 {
            match number {
                0 => put(&mut state, "t", thinking(None)),
                1 => put(&mut state, "t", thinking(Some(3_000))),
                2 => put(&mut state, "c", Body::Tool(Box::new(call("read", "a.rs", "text")))),
                3 => put(&mut state, "a", said("Done.", None)),
                _ => ended(&mut state, TurnEnd::Done),
            }
            if frames & (1 << number) != 0 || number == 4 {
                lines.extend(printer.news(&state).lines);
            }
        }
        let at = |line: &str| lines.iter().position(|it| it.starts_with(line)).unwrap_or(usize::MAX);
        let places = [at("thinking: 3 seconds"), at("tool"), at("assistant: Done.")];
        assert!(places.is_sorted() && places[2] < usize::MAX, "frames {frames:b}: {lines:#?}");
    }
}
