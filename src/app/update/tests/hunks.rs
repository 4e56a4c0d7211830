//! The panel of a change with several changed places: they are walked and struck out, and an answer leaves them out.

use super::*;
use crate::app::state::Focus;
use crate::domain::diff::FileDiff;

/// The approval of a change with so many places.
fn change(places: usize) -> Request {
    let old: String = (1..=20 * places).map(|n| format!("line {n}\n")).collect();
    let new = (0..places).fold(old.clone(), |text, n| text.replace(&format!("line {}\n", 20 * n + 5), "new\n"));
    let Request { id, ask: Ask::Approval(mut asked) } = approval("a") else { unreachable!() };
    let diff = FileDiff::between("f", Some(&old), &new);
    assert_eq!(diff.hunks.len(), places);
    asked.proposal = Proposal::Change { diff, before: "1".into(), after: "2".into() };
    Request { id, ask: Ask::Approval(asked) }
}

fn waiting(places: usize) -> Screen {
    let mut screen = Screen::new();
    screen.ask(change(places)).keys("f3").wait(300);
    screen
}

fn words(screen: &Screen) -> String {
    screen.state.panel().and_then(|(panel, _)| panel.hunks.as_ref()).map(|hunks| hunks.in_words()).unwrap_or_default()
}

#[test]
fn an_answer_leaves_out_what_is_struck() {
    let mut screen = waiting(3);
    screen.keys("j x").wait(200).keys("j j x k k x").wait(200);
    assert_eq!(words(&screen), "1 of 3 struck", "a strike is restored by the same key");
    screen.keys("j x").wait(200).keys("y").wait(200).keys("enter");
    assert_eq!(answered(&screen.acts()), [UserAnswer::OnceWithout(vec![1, 2])]);
}

#[test]
fn nothing_or_a_lasting_yes_is_not_given_with_strikes() {
    let mut screen = waiting(2);
    screen.keys("j x").wait(200).keys("down down enter");
    assert_eq!(answered(&screen.acts()), [], "a rule does not leave out parts");
    assert!(screen.last_notice().contains("this call only"), "{}", screen.last_notice());
    screen.keys("j x").wait(200).keys("up enter");
    assert_eq!(answered(&screen.acts()), []);
    assert!(screen.last_notice().contains("nothing to write"), "{}", screen.last_notice());
    assert_eq!(words(&screen), "2 of 2 struck", "and the marks stay");
    screen.keys("x").wait(200).keys("k x").wait(200).keys("up enter");
    assert_eq!(answered(&screen.acts()), [UserAnswer::Once], "all of it is restored");
}

#[test]
fn the_chord_gives_what_is_left() {
    for leave in ["j x", "j x esc"] {
        let mut screen = waiting(2);
        screen.keys(leave).wait(200).draw(true).wait(600).keys("f4");
        assert_eq!(answered(&screen.acts()), [UserAnswer::OnceWithout(vec![0])], "{leave}");
    }
}

#[test]
fn without_several_places_the_letters_go_to_the_composer() {
    for keys in ["j", "x", "k"] {
        let mut screen = waiting(1);
        screen.keys(keys);
        assert_eq!((screen.text().as_str(), screen.state.focus), (keys, Focus::Composer));
    }
    // With none looked at, nothing can be struck.
    let mut screen = waiting(2);
    screen.keys("x");
    assert_eq!((screen.text().as_str(), screen.state.focus), ("x", Focus::Composer));
}
