//! The panel of a plan: its steps are walked, struck out and commented, and the plan is edited.

use super::*;
use crate::app::effect::Effect;
use crate::app::state::Focus;
use crate::app::state::panel::Choice;
use crate::domain::plan::{PlanApproval, Progress, hash};

const PLAN: &str = "# A\n\n1. a\n2. b\n3. c\n";

fn waiting() -> Screen {
    let mut screen = Screen::new();
    screen.ask(plan("p", PLAN)).keys("ctrl+x p").wait(300);
    screen
}

fn approval(screen: &mut Screen) -> PlanApproval {
    match answers(screen).as_slice() {
        [UserAnswer::PlanApprove(approval)] => approval.clone(),
        other => panic!("{other:?}"),
    }
}

fn answers(screen: &mut Screen) -> Vec<UserAnswer> {
    let acts = screen.acts().into_iter();
    acts.filter_map(|act| if let SessionCommand::Answer { answer, .. } = act { Some(answer) } else { None }).collect()
}

fn words(screen: &Screen) -> String {
    screen
        .state
        .panel()
        .and_then(|(panel, _)| panel.plan.as_ref())
        .map(|plan| plan.outline.in_words())
        .unwrap_or_default()
}

#[test]
fn steps_are_struck_out_and_commented_before_the_approval() {
    let mut screen = waiting();
    screen.keys("j j x").keys("j c").type_text("only the tests, x and y").keys("enter");
    assert_eq!(words(&screen), "3 steps, 1 struck, 1 comment");
    screen.keys("k k c").type_text("never mind").keys("esc");
    assert_eq!(words(&screen), "3 steps, 1 struck, 1 comment", "what was left with Esc is not said");
    screen.keys("down down enter");
    let approval = approval(&mut screen);
    assert_eq!(
        (approval.mode, approval.compact, approval.covers.as_str()),
        (Mode::Execute, false, hash(PLAN).as_str())
    );
    let marks: Vec<_> = approval.marks.iter().map(|mark| (mark.struck, mark.comment.as_deref())).collect();
    assert_eq!(marks, [(false, None), (true, None), (false, Some("only the tests, x and y"))]);
}

#[test]
fn a_strike_and_a_comment_can_be_taken_back() {
    let mut screen = waiting();
    screen.keys("j x c").type_text("hm").keys("enter x c ctrl+u enter");
    assert_eq!(words(&screen), "3 steps");
    screen.keys("j x j x k k x").keys("y enter");
    assert_eq!(answers(&mut screen), vec![], "every step is struck out: there is nothing to approve");
    assert_eq!(words(&screen), "3 steps, 3 struck", "and the marks stay");
}

#[test]
fn without_a_step_the_letters_go_to_the_composer() {
    let mut screen = waiting();
    screen.keys("x");
    assert_eq!((screen.text().as_str(), screen.state.focus), ("x", Focus::Composer));
    let mut screen = Screen::new();
    screen.ask(plan("p", "# Only words")).keys("ctrl+x p").wait(300).keys("j");
    assert_eq!(screen.text(), "j");
}

#[test]
fn marks_stay_when_the_plan_is_left_for_later() {
    let mut screen = waiting();
    screen.keys("j x esc").type_text("hello").keys("ctrl+x p");
    assert_eq!(words(&screen), "3 steps, 1 struck");
    // Another text has none of them, and keys are dropped for a while.
    screen.ask(plan("p", "1. other\n")).keys("y enter");
    assert_eq!((answers(&mut screen), words(&screen).as_str()), (vec![], "1 step"));
}

#[test]
fn changes_carry_the_marks_along() {
    let mut screen = waiting();
    screen.keys("j x r enter").type_text("smaller").keys("enter");
    assert_eq!(answers(&mut screen), vec![UserAnswer::PlanChanges("smaller\nLeave out step 1: a".to_owned())]);
}

#[test]
fn the_plan_is_edited_and_asked_anew() {
    let mut screen = waiting();
    screen.keys("j x v enter");
    let edits = |screen: &mut Screen| -> Vec<String> {
        let fx = std::mem::take(&mut screen.fx).into_iter();
        fx.filter_map(|effect| if let Effect::Edit { text } = effect { Some(text) } else { None }).collect()
    };
    assert_eq!(edits(&mut screen), ["# A\n\n1. ~~a~~\n2. b\n3. c\n"]);
    screen.msg(Msg::Edited(Err("the editor ended with 1".into())));
    assert_eq!(answers(&mut screen), vec![]);
    assert_eq!(words(&screen), "3 steps, 1 struck", "nothing is lost");
    screen.keys("v enter");
    screen.msg(Msg::Edited(Ok("1. mine\n".into())));
    assert_eq!(answers(&mut screen), vec![UserAnswer::PlanEdited("1. mine\n".to_owned())]);
    // It was answered elsewhere while the editor was open: what was written is in the composer.
    screen.wait(300).keys("v enter");
    screen.session("s", SessionEvent::Settled { request: RequestId::new("p"), by: None });
    screen.msg(Msg::Edited(Ok("1. mine\n".into())));
    assert_eq!((answers(&mut screen), screen.text().as_str()), (vec![], "1. mine\n"));
}

#[test]
fn where_the_workspace_is_capped_execute_is_not_offered() {
    let mut screen = Screen::new();
    let mut request = plan("p", PLAN);
    if let Ask::Plan(review) = &mut request.ask {
        review.capped = true;
    }
    screen.ask(request).keys("ctrl+x p").wait(300).keys("s");
    let (panel, _) = screen.state.panel().unwrap();
    assert_eq!(panel.choice(), Some(&Choice::PlanCompactToAsk));
    assert!(!panel.choices.contains(&Choice::PlanToExecute));
    assert!(!panel.choices.contains(&Choice::PlanCompactToExecute));
    screen.keys("up e");
    assert_eq!(screen.text(), "e", "an answer that is not on offer is no answer");
}

#[test]
fn the_command_tells_of_a_plan_and_drops_it() {
    let mut screen = Screen::new();
    let steps = crate::domain::plan::Outline::parse(PLAN).steps;
    let progress = Progress { title: "A".into(), steps, ..Progress::default() };
    screen.session("s", SessionEvent::Plan(Some(Box::new(progress))));
    screen.type_text("/plan").keys("enter");
    let told = screen.state.notices.iter().any(|notice| notice.text.contains("0 of 3 steps done"));
    assert!(told, "{:?}", screen.state.notices);
    screen.type_text("/plan drop").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::DropPlan]);
}
