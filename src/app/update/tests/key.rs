//! A key that is asked for is written where it is not shown, and gets nowhere else.

use super::*;
use crate::app::state::Focus;
use crate::app::state::panel::{Choice, Stage};
use crate::domain::ids::ConnectionName;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;

const SECRET: &str = "sk-unique-0123456789";

fn key_request() -> Request {
    let wanted = KeyRequest {
        connection: ConnectionName::new("work"),
        host: "https://a.test".into(),
        stored: "/c/credentials".into(),
        why: "No key yet.".into(),
    };
    Request { id: RequestId::new("k1"), ask: Ask::Key(Box::new(wanted)) }
}

/// The field for the key has the keys.
fn writing() -> Screen {
    let mut screen = Screen::new();
    screen.ask(key_request()).draw(true);
    screen.keys("f3").wait(300).keys("1 enter");
    assert!(matches!(screen.state.panel().unwrap().0.stage, Stage::Secret { .. }));
    screen
}

#[test]
fn it_is_written_or_pasted_and_given() {
    let given = vec![SessionCommand::Answer {
        request: RequestId::new("k1"),
        answer: UserAnswer::Key(Key::new(SECRET).unwrap()),
        shown: None,
    }];
    let mut screen = writing();
    screen.keys("x ctrl+u").msg(Msg::Paste(format!("{SECRET}\n")));
    assert!(!format!("{:?}", screen.state.panel().unwrap().0).contains("unique"));
    screen.keys("enter");
    assert_eq!(screen.acts(), given);
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Panel, ""), "the field stays while it is checked");
    screen.session("s", SessionEvent::Settled { request: RequestId::new("k1"), by: None });
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, ""));
    assert!(screen.state.checked_key().is_none());
    let mut screen = writing();
    screen.type_text(SECRET).keys("enter");
    assert_eq!(screen.acts(), given);
}

#[test]
fn nothing_is_kept_of_it_when_it_is_left() {
    let mut screen = writing();
    screen.type_text("sk-1").keys("esc");
    assert!(matches!(screen.state.panel().unwrap().0.stage, Stage::Choosing));
    assert_eq!(screen.state.panel().unwrap().0.begun, None);
    screen.keys("1 enter enter");
    assert_eq!(screen.acts(), vec![], "an empty field gives nothing");
    let Stage::Secret { key } = &screen.state.panel().unwrap().0.stage else { panic!() };
    assert!(key.is_empty());
    screen.keys("esc 2 enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Answer { request: RequestId::new("k1"), answer: UserAnswer::No(None), shown: None }]
    );
}

#[test]
fn it_never_takes_the_focus_and_a_lost_key_gets_into_no_draft() {
    let mut screen = Screen::new();
    screen.type_text("hel").ask(key_request()).type_text("lo");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "hello"));
    screen.msg(Msg::Paste(SECRET.to_owned()));
    assert_eq!(screen.text(), "hello", "it is pasted before the field has the focus");
    assert!(!format!("{:?}", screen.state.notices).contains("unique"));
    // What is no key is pasted as ever, and so is everything where none is asked for.
    screen.msg(Msg::Paste(" world".to_owned()));
    assert_eq!(screen.text(), "hello world");
    let mut screen = Screen::new();
    screen.msg(Msg::Paste(SECRET.to_owned()));
    assert_eq!(screen.text(), SECRET);
    // From the answers of the panel it gets nowhere either.
    let mut screen = Screen::new();
    screen.ask(key_request()).draw(true);
    screen.keys("f3").wait(300).msg(Msg::Paste(SECRET.to_owned()));
    assert_eq!(screen.text(), "");
    assert_eq!(screen.state.panel().unwrap().0.choices, [Choice::Key, Choice::NoKey]);
}

#[test]
fn the_command_asks_and_keeps_no_key_that_stands_behind_a_name() {
    let mut screen = Screen::new();
    screen.type_text("/connection work").keys("enter");
    let asked =
        Command::Session { id: id("s"), command: SessionCommand::AskKey { connection: ConnectionName::new("work") } };
    let sent = screen.sent();
    assert!(sent.contains(&asked), "{sent:?}");
    let mut screen = Screen::new();
    screen.type_text(&format!("/connection work {SECRET}")).keys("enter");
    assert_eq!(screen.text(), "");
    let sent = format!("{:?}", screen.sent());
    assert!(!sent.contains("unique"), "{sent}");
}

/// Text of the field, if the keys go there.
fn field(screen: &Screen) -> Option<usize> {
    match &screen.state.panel()?.0.stage {
        Stage::Secret { key } if screen.state.focus == Focus::Panel => Some(key.len()),
        _ => None,
    }
}

fn refused_again(screen: &mut Screen) {
    let mut again = key_request();
    if let Ask::Key(wanted) = &mut again.ask {
        wanted.why = "a.test does not accept the key.".into();
    }
    screen.ask(again);
}

#[test]
fn no_key_is_lost_around_a_refusal_however_fast() {
    for (before, after) in [("", "sk-2"), ("sk-", "2"), ("sk-2", "")] {
        let mut screen = writing();
        screen.type_text(SECRET).keys("enter");
        screen.fx.clear();
        screen.type_text(before);
        refused_again(&mut screen);
        screen.type_text(after);
        assert_eq!(field(&screen), Some(4), "{before:?} {after:?}");
        assert_eq!(screen.text(), "", "and nothing of it is in the draft");
        screen.keys("enter");
        let acts = screen.acts();
        assert_eq!(answered(&acts), [UserAnswer::Key(Key::new("sk-2").unwrap())]);
    }
    // The next one with its Enter, before the first is refused.
    let mut screen = writing();
    screen.type_text(SECRET).keys("enter").type_text("sk-2").keys("enter");
    assert_eq!(answered(&screen.acts()).len(), 1, "one check at a time");
    refused_again(&mut screen);
    assert_eq!(answered(&screen.acts()), [UserAnswer::Key(Key::new("sk-2").unwrap())]);
    assert_eq!(field(&screen), Some(0));
}

#[test]
fn who_left_the_field_during_the_check_keeps_the_focus() {
    let mut screen = writing();
    screen.type_text(SECRET).keys("enter esc esc");
    screen.type_text("hello");
    refused_again(&mut screen);
    screen.type_text(" you");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "hello you"));
    assert!(screen.state.connecting.checking.is_none());
}

#[test]
fn a_key_that_comes_too_soon_says_so_and_text_is_never_dropped() {
    let mut screen = Screen::new();
    screen.ask(approval("r1")).draw(true).wait(2_000).keys("f3 y");
    assert!(screen.last_notice().contains("too soon"), "{}", screen.last_notice());
    let mut screen = Screen::new();
    screen.ask(approval("r1")).draw(true).wait(2_000).keys("f3").wait(300).keys("y enter");
    assert_eq!(answered(&screen.acts()), [UserAnswer::Once]);
    screen.type_text("next");
    assert_eq!(screen.text(), "next", "typed at once after the answer");
}

#[test]
fn a_sentence_is_no_key() {
    let mut screen = writing();
    screen.type_text("hello there").keys("enter");
    assert_eq!((screen.acts(), field(&screen)), (vec![], Some(0)));
    assert!(screen.last_notice().contains("a key has no spaces"), "{}", screen.last_notice());
    // Blanks around it are none of it.
    screen.msg(Msg::Paste(format!(" {SECRET} \n"))).keys("enter");
    assert!(matches!(screen.acts()[..], [SessionCommand::Answer { .. }]));
}

#[test]
fn a_key_that_no_turn_waits_for_can_be_left() {
    let no = SessionCommand::Answer { request: RequestId::new("k1"), answer: UserAnswer::No(None), shown: None };
    let mut screen = writing();
    screen.keys("esc esc");
    assert_eq!((screen.acts(), screen.state.focus), (vec![no], Focus::Composer));
    // A turn that waits for it goes on waiting.
    let mut screen = writing();
    screen.session("s", SessionEvent::TurnStarted { at: At(NOON) });
    screen.keys("esc esc");
    assert_eq!((screen.acts(), screen.state.focus), (vec![], Focus::Composer));
}
