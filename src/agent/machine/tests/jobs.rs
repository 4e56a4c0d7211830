//! Ended background jobs: reported with the next request, and never among the calls of a response.

use super::*;
use crate::domain::message::InfoKind;

const TOLD: &str = "Background job ab12 (`x`) is over after 2 s: exit 0. It wrote 3 bytes.";

fn ended(b: &mut Bench) -> Vec<Step> {
    b.feed(Input::JobEnded(TOLD.to_owned()))
}

fn rows(steps: &[Step]) -> usize {
    kept(steps).iter().filter(|row| matches!(&row.body, Body::Info(info) if info.kind == InfoKind::JobEnded)).count()
}

/// The items of the last request among these steps.
fn request(steps: &[Step]) -> String {
    let asked = steps.iter().rev().find_map(|step| if let Step::Ask(_, request) = step { Some(request) } else { None });
    format!("{:?}", asked.expect("a request").items)
}

#[test]
fn without_a_turn_its_row_comes_at_once_and_the_next_message_tells_the_model() {
    let mut b = Bench::new(Mode::Execute);
    assert_eq!(rows(&ended(&mut b)), 1);
    let steps = b.send("and now?");
    assert!(request(&steps).contains(&format!("[{TOLD}]\\n\\nand now?")), "{}", request(&steps));
}

#[test]
fn while_calls_run_it_waits_for_the_results() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    b.calls(&[("a", "read"), ("b", "read")]);
    b.found("a", read("/w/a"));
    b.found("b", read("/w/b"));
    b.ran("a", "first");
    assert_eq!(rows(&ended(&mut b)), 0);
    let steps = b.ran("b", "second");
    assert_eq!(rows(&steps), 1);
    let row = position(&steps, |step| matches!(step, Step::Append(rows, _) if matches!(&rows[0].body, Body::Info(_))));
    assert!(row < position(&steps, |step| matches!(step, Step::Ask(..))));
    assert!(request(&steps).contains(&format!("second\\n\\n[{TOLD}]")), "{}", request(&steps));
}

#[test]
fn at_the_end_of_a_turn_it_is_kept_for_the_next() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    assert_eq!(rows(&ended(&mut b)), 0);
    b.chunk(Chunk::Text("done".into()));
    assert_eq!(rows(&b.stop_with(Stop::Done)), 1);
    let steps = b.send("next");
    assert!(request(&steps).contains(&format!("[{TOLD}]\\n\\nnext")), "{}", request(&steps));
}

#[test]
fn to_ask_again_how_far_a_job_is_is_no_loop_and_other_words_for_a_call_are_no_other_call() {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    for (n, (name, expected)) in
        [("job_output", 0), ("job_output", 0), ("job_output", 0), ("job_output", 0)].iter().enumerate()
    {
        let id = format!("p{n}");
        b.chunk(Chunk::Call(ProposedCall {
            id: CallId::new(&id),
            name: (*name).into(),
            input: json!({"job": "ab12"}),
        }));
        b.stop_with(Stop::Calls);
        b.found(&id, CallFacts { touches: vec![Touch::Inner], ..read("x") });
        assert_eq!(b.machine.requests().len(), *expected, "{n}");
        b.ran(&id, "goes on");
    }
    for n in 0..3 {
        let id = format!("r{n}");
        let input = json!({"path": "a", "intent": format!("for the {n}. time")});
        b.chunk(Chunk::Call(ProposedCall { id: CallId::new(&id), name: "read".into(), input }));
        b.stop_with(Stop::Calls);
        b.found(&id, read("/w/a"));
        assert_eq!(b.machine.requests().len(), usize::from(n == 2), "{n}");
        if n < 2 {
            b.ran(&id, "x");
        }
    }
}

#[test]
fn an_approval_says_what_a_call_is_for_and_that_it_goes_on() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    let input = json!({"command": "npm run dev", "background": true, "intent": "Start\nthe server"});
    b.chunk(Chunk::Call(ProposedCall { id: CallId::new("a"), name: "bash".into(), input }));
    b.stop_with(Stop::Calls);
    b.found("a", command("npm run dev"));
    let approval = asked_approval(&b);
    assert_eq!(approval.intent.as_deref(), Some("Start the server"));
    assert!(approval.risks.iter().any(|risk| risk.contains("in the background")), "{:?}", approval.risks);
}
