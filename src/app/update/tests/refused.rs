//! Input that the engine refuses comes back to where the user can see it, whatever it was and
//! whatever was written since.

use super::*;
use crate::app::msg::ShareAnswer;
use crate::app::state::panel::Stage;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::export::{Masked, SharedFile};
use proptest::prelude::*;

fn refused(screen: &mut Screen, act: SessionCommand) {
    screen.session("s", SessionEvent::Refused { command: Box::new(act), why: "w".into() });
}

fn held(screen: &mut Screen) {
    let mut meta = meta("s");
    meta.held_by = Some("another lisle (process 7)".into());
    screen.session("s", SessionEvent::Changed(Box::new(meta)));
}

fn file(name: &str) -> Attachment {
    Attachment {
        kind: AttachmentKind::Text,
        name: name.into(),
        path: format!("/s/attachments/{name}").into(),
        mime: "text/plain".into(),
        bytes: 3,
        text: None,
    }
}

/// All that is on the screen of what the user wrote.
fn shown(screen: &Screen) -> String {
    let mut out = screen.text();
    if let Some((panel, _)) = screen.state.panel() {
        if let Stage::Writing { text, .. } = &panel.stage {
            out.push_str(&text.text());
        }
        if let Some(plan) = &panel.plan {
            out.push_str(&plan.wish(""));
        }
    }
    out
}

#[test]
fn a_message_comes_back_with_its_chips_and_files() {
    let mut screen = Screen::new();
    let long = "line\n".repeat(30);
    screen.type_text("look: ").msg(Msg::Paste(long.clone()));
    screen.state.composer_mut().files_mut().add(vec![file("a.txt")]);
    let before = screen.state.composer().clone();
    screen.keys("enter");
    assert!(screen.state.composer().is_empty());
    let acts = screen.acts();
    let [SessionCommand::Send { text, attachments, .. }] = acts.as_slice() else { panic!("{acts:?}") };
    assert_eq!((text, attachments.len()), (&format!("look: {}", long), 1));
    refused(&mut screen, acts[0].clone());
    let after = screen.state.composer();
    assert_eq!(after.editor().text(), before.editor().text(), "folded as it was");
    assert_eq!((after.text(), after.files()), (before.text(), before.files()));
    screen.wait(500).msg(Msg::Timer(crate::app::msg::Timer::Draft(id("s"))));
    let kept = screen.sent().into_iter().any(|command| {
        matches!(command, Command::Session { command: SessionCommand::Draft { text: draft, attachments }, .. } if draft == *text && attachments.len() == 1)
    });
    assert!(kept, "and it is a draft again");
}

#[test]
fn where_another_process_writes_nothing_leaves_the_composer() {
    for text in ["a message", "/steer now", "!ls"] {
        let mut screen = Screen::new();
        held(&mut screen);
        screen.type_text(text).keys("enter");
        assert_eq!((screen.text().as_str(), screen.acts()), (text, vec![]), "{text}");
        assert!(screen.last_notice().contains("process 7"), "{}", screen.last_notice());
    }
}

#[test]
fn a_plan_that_is_held_elsewhere_says_so_before_it_takes_an_answer() {
    let mut screen = Screen::new();
    screen.ask(super::plan("p", "# A\n\n1. a\n2. b\n"));
    held(&mut screen);
    screen.keys("ctrl+x p").wait(300).keys("j c").type_text("only this").keys("enter");
    for answer in ["y enter", "down enter", "r enter", "v enter"] {
        screen.wait(300).keys(answer);
        assert_eq!(screen.acts(), vec![], "{answer}");
        assert!(screen.last_notice().contains("process 7"));
    }
    assert!(shown(&screen).contains("only this"));
}

#[test]
fn an_answer_that_did_not_count_is_as_it_was_and_one_that_nobody_waits_for_is_in_the_composer() {
    let mut screen = Screen::new();
    screen.ask(question("q", &[])).keys("f3").wait(300).keys("r enter").type_text("my words").keys("enter");
    let act = screen.acts().remove(0);
    assert!(screen.state.panel().is_none());
    refused(&mut screen, act.clone());
    assert_eq!(shown(&screen), "my words", "the question is there again, with the words");
    screen.wait(400).keys("f3").wait(400).keys("r enter").wait(400).keys("enter");
    let act = screen.acts().pop().unwrap();
    screen.session("s", SessionEvent::Settled { request: RequestId::new("q"), by: None });
    refused(&mut screen, act);
    assert_eq!(screen.text(), "my words");
    // A plan that reads otherwise now keeps what was said to the one before.
    let mut screen = Screen::new();
    screen.ask(super::plan("p", "1. a\n2. b\n")).keys("ctrl+x p").wait(300);
    screen.keys("j c").type_text("careful").keys("enter y enter");
    let act = screen.acts().pop().unwrap();
    screen.ask(super::plan("p", "1. other\n2. b\n"));
    refused(&mut screen, act);
    screen.wait(400).keys("ctrl+x p").wait(400).keys("r enter");
    assert!(shown(&screen).contains("Step 1: careful"), "{}", shown(&screen));
}

#[test]
fn what_was_typed_over_a_window_is_sent_by_nobody_but_the_user() {
    let file = || SharedFile { session: id("s"), path: "/s/share.html".into(), masked: Masked::default() };
    let exported = || Msg::Share(ShareAnswer::Done { file: file(), address: None });
    for text in ["any questions?", "hello", "yes please"] {
        let mut screen = Screen::new();
        screen.msg(exported());
        screen.wait(400).type_text(text).wait(10).keys("enter").type_text("more").keys("enter");
        assert_eq!((screen.acts(), screen.text().as_str()), (vec![], ""), "{text}");
        assert!(!screen.state.overlays.is_empty(), "text is no answer to it");
        screen.wait(2_000).keys("esc").wait(2_000).type_text("hello").keys("enter");
        assert_eq!(screen.acts(), vec![SessionCommand::send("hello")], "{text}");
    }
    let mut screen = Screen::new();
    screen.msg(exported());
    screen.wait(400).keys("esc").type_text("hello").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("hello")], "who closed it sees where they write");
}

fn any_act() -> impl Strategy<Value = SessionCommand> {
    let text = "[a-z!/ é]{1,30}[a-z]";
    let answer = |answer| SessionCommand::Answer { request: RequestId::new("gone"), answer, shown: None };
    prop_oneof![
        text.prop_map(SessionCommand::send),
        text.prop_map(SessionCommand::steer),
        text.prop_map(|command| SessionCommand::Type { command }),
        text.prop_map(|wish| SessionCommand::Compact { wish }),
        text.prop_map(|title| SessionCommand::Rename { title }),
        text.prop_map(|text| {
            SessionCommand::Queue(crate::protocol::QueueEdit::Replace { id: MessageId::new("m"), text })
        }),
        text.prop_map(move |text| answer(UserAnswer::Reply(text))),
        text.prop_map(move |text| answer(UserAnswer::No(Some(text)))),
        text.prop_map(move |text| answer(UserAnswer::Instead(text))),
        text.prop_map(move |text| answer(UserAnswer::PlanChanges(text))),
        text.prop_map(move |text| answer(UserAnswer::PlanEdited(text))),
        text.prop_map(move |text| {
            answer(UserAnswer::PlanApprove(crate::domain::plan::PlanApproval {
                mode: Mode::Ask,
                compact: false,
                marks: vec![crate::domain::plan::StepMark { number: 2, struck: false, comment: Some(text) }],
                covers: String::new(),
            }))
        }),
    ]
}

proptest! {
    #[test]
    fn no_words_of_the_user_are_lost(acts in proptest::collection::vec(any_act(), 1..4), since in "[a-z ]{0,12}") {
        let mut screen = Screen::new();
        screen.state.composer_mut().set(&since);
        for act in &acts {
            refused(&mut screen, act.clone());
        }
        let text = shown(&screen);
        prop_assert!(text.contains(since.trim_end()), "{text:?}");
        for act in &acts {
            let said = act.said().unwrap();
            prop_assert!(text.contains(said.text.trim_end_matches('\n')), "{:?} in {text:?}", said.text);
        }
    }

    #[test]
    fn what_was_typed_and_refused_stands_as_it_was(text in "[a-z!é][a-z é\\\\]{0,30}[a-z]", since in "[a-z ]{0,12}") {
        let mut screen = Screen::new();
        screen.type_text(&text).keys("enter");
        let acts = screen.acts();
        // A program that takes the whole terminal is not begun: what was typed stays.
        if acts.is_empty() && text.starts_with('!') {
            prop_assert_eq!(screen.text(), text);
            return Ok(());
        }
        prop_assert_eq!(acts.len(), 1, "{:?}", acts);
        screen.type_text(&since);
        refused(&mut screen, acts[0].clone());
        let shown = screen.text();
        prop_assert!(shown.starts_with(&text) && shown.ends_with(&since), "{shown:?}");
    }
}
