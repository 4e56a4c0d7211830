//! Approvals of a change without some of its changed places.

use super::*;
use crate::domain::diff::FileDiff;

fn change() -> CallFacts {
    let old: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 2\n", "two\n").replace("line 20\n", "twenty\n");
    let diff = FileDiff::between("f", Some(&old), &new);
    CallFacts { proposal: Proposal::Change { diff, before: "1".into(), after: "2".into() }, ..write("/w/f") }
}

#[test]
fn a_change_runs_without_what_was_struck_and_only_then() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "write")]);
    b.found("a", change());
    let request = b.asked().id;
    // Places that are not there, or all of them, answer nothing.
    for places in [vec![2], vec![0, 1], vec![1, 0]] {
        let answer = UserAnswer::OnceWithout(places);
        let steps = b.act(SessionCommand::Answer { request: request.clone(), answer: answer.clone(), shown: None });
        assert!(runs(&steps).is_empty() && b.asked().id == request, "{answer:?}");
        assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Asked(_)))), "{answer:?}");
    }
}

#[test]
fn what_was_struck_goes_along_with_the_call() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "write")]);
    b.found("a", change());
    let request = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request, answer: UserAnswer::OnceWithout(vec![1]), shown: None });
    let Some(Step::Run(_, _, facts, _)) = steps.iter().find(|step| matches!(step, Step::Run(..))) else { panic!() };
    assert_eq!((&facts.left_out, &facts.proposal), (&vec![1], &change().proposal), "the whole is what was decided on");
    let call = b.call("a");
    let shown = call.figures.diff.expect("the change stands in the row");
    assert_eq!((shown.hunks.len(), shown.added, shown.removed), (1, 1, 1), "only what is left is shown");
    assert_eq!(call.decision.expect("it was decided").reason, "you skipped 1 of 2 changes");
}
