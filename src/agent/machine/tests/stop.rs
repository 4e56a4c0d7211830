//! Turns that end early while a file is being written: the call's own result says what became of it.

use super::history::requests;
use super::*;
use crate::domain::diff::FileDiff;

fn changed() -> ToolFigures {
    ToolFigures { diff: Some(FileDiff { added: 3, ..FileDiff::default() }), ..ToolFigures::default() }
}

/// A turn with a write that is being carried out, a read before it and one behind it, stopped so; the run that was stopped.
fn stopped(by: CutBy) -> (Bench, RunNo) {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    b.calls(&[("r", "read"), ("w", "write"), ("later", "read")]);
    b.found("r", read("/w/r"));
    b.ran("r", "text");
    b.found("w", write("/w/x"));
    let run = b.run();
    let steps = match by {
        CutBy::User => b.act(SessionCommand::Stop),
        CutBy::Restart => b.feed(Input::Shutdown),
        by => b.act(SessionCommand::Cut { by }),
    };
    assert_eq!(position(&steps, |step| matches!(step, Step::Cancel(_))), 0, "{by:?}");
    (b, run)
}

fn late(run: RunNo, ended: Result<Outcome, RunError>) -> Input {
    Input::Ran(run, CallId::new("w"), Box::new(ended))
}

fn results(b: &Bench) -> Vec<(String, ToolStatus, String)> {
    let calls = b.machine.rows().iter().filter_map(|row| row.tool());
    calls.map(|call| (call.id.to_string(), call.status, call.result.clone().unwrap_or_default())).collect()
}

#[test]
fn a_write_that_was_done_all_the_same_is_the_result_of_its_call() {
    for by in [CutBy::User, CutBy::Restart, CutBy::TimeLimit, CutBy::Signal] {
        let (mut b, run) = stopped(by);
        assert!(b.machine.is_running() && b.machine.meta.activity == Activity::Stopping, "{by:?}");
        let steps = b.feed(late(run, Ok(Outcome { figures: changed(), ..Outcome::ok("Changed x.") })));
        assert_eq!(ended(&steps), Some(TurnEnd::Stopped), "{by:?}");
        let got = results(&b);
        let ids: Vec<&str> = got.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["r", "w", "later"], "one result each, in order");
        assert_eq!((got[1].1, got[1].2.as_str()), (ToolStatus::Completed, "Changed x."), "{by:?}");
        assert!(got[2].2.starts_with("interrupted"), "{by:?}: {got:?}");
        let call = b.machine.rows().iter().filter_map(|row| row.tool()).find(|call| call.id.as_str() == "w").unwrap();
        assert_eq!(call.figures.changes().next().map(|diff| diff.added), Some(3));
        assert!(!b.machine.is_running());
        // What comes of the run afterwards is nobody's.
        assert_eq!(kept(&b.feed(Input::Reaped(run))), vec![]);
        assert!(b.machine.is_quiet());
    }
}

#[test]
fn a_write_that_was_stopped_in_time_or_failed_says_so() {
    for (ended_so, says, status) in [
        (Err(RunError::stopped("")), "interrupted: the user stopped the turn", ToolStatus::Error),
        (Err(RunError::FactsChanged(Box::new(write("/w/y")))), "interrupted: the user", ToolStatus::Error),
        (Ok(Outcome::error("x could not be written: full.")), "x could not be written: full.", ToolStatus::Error),
    ] {
        let (mut b, run) = stopped(CutBy::User);
        b.feed(late(run, ended_so));
        let got = results(&b);
        assert_eq!(got[1].1, status);
        assert!(got[1].2.starts_with(says), "{got:?}");
        assert!(!b.machine.is_running());
    }
}

#[test]
fn a_write_whose_end_does_not_come_is_not_told_as_one_that_was_not_done() {
    for how in 0..3 {
        let (mut b, run) = stopped(CutBy::User);
        let steps = match how {
            0 => b.act(SessionCommand::Stop),
            1 => b.feed(Input::RetryNow(b.run())),
            _ => b.feed(Input::Reaped(run)),
        };
        assert_eq!(ended(&steps), Some(TurnEnd::Stopped), "{how}");
        let got = results(&b);
        assert!(got[1].2.contains("being written at that moment"), "{got:?}");
        // It is told behind it when it comes after all.
        let done = || Ok(Outcome { figures: changed(), ..Outcome::ok("Changed x.") });
        let rows = kept(&b.feed(late(run, done())));
        let Body::Info(info) = &rows[0].body else { panic!("{rows:?}") };
        assert!(info.kind == InfoKind::JobEnded && info.text.ends_with("already done: Changed x."), "{}", info.text);
        assert_eq!(kept(&b.feed(late(run, Ok(Outcome::ok("nothing"))))), vec![], "it changed nothing");
    }
}

#[test]
fn what_a_stopped_command_changed_of_what_runs_code_is_told_behind_it() {
    let (mut b, run) = stopped(CutBy::User);
    b.act(SessionCommand::Stop);
    let mut put_back = StoppedRun { text: String::new(), protected: vec![".envrc: moved aside".to_owned()] };
    let rows = kept(&b.feed(late(run, Err(RunError::Stopped(put_back.clone())))));
    let Body::Info(info) = &rows[0].body else { panic!("{rows:?}") };
    assert!(info.text.contains(".envrc: moved aside"), "{}", info.text);
    put_back.protected.clear();
    assert_eq!(kept(&b.feed(late(run, Err(RunError::Stopped(put_back))))), vec![]);
}

#[test]
fn a_message_that_comes_while_a_write_ends_is_sent_right_after_it() {
    let (mut b, run) = stopped(CutBy::User);
    let steps = b.send("and now this");
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Accepted { .. }))));
    let steps = b.feed(late(run, Ok(Outcome { figures: changed(), ..Outcome::ok("Changed x.") })));
    let Some(Step::Ask(_, request)) = steps.iter().find(|step| matches!(step, Step::Ask(..))) else {
        panic!("{steps:#?}")
    };
    let Some(ConversationItem::User(said)) = request.items.last() else { panic!("{request:?}") };
    assert!(said.text.ends_with("and now this"), "{}", said.text);
    assert!(b.machine.queue.items.is_empty() && !b.machine.queue.held);
}

#[test]
fn what_ended_a_turn_is_told_as_what_it_was() {
    for (by, hint, result) in [
        (CutBy::User, "[The user interrupted", "the user stopped the turn"),
        (CutBy::Restart, "[lisle was restarted", "lisle quit"),
        (CutBy::TimeLimit, "[Timeout: the turn was stopped", "the time limit of this run"),
        (CutBy::Signal, "[lisle was stopped by a signal", "a signal ended lisle"),
        (CutBy::TakenOver, "[Another lisle took over", "another lisle took the session over"),
    ] {
        let mut b = Bench::new(Mode::Ask);
        b.send("go");
        b.text("half");
        b.calls(&[("a", "read")]);
        b.found("a", read("/w/a"));
        match by {
            CutBy::User => b.act(SessionCommand::Stop),
            CutBy::Restart => b.feed(Input::Shutdown),
            by => b.act(SessionCommand::Cut { by }),
        };
        let told = b.call("a").result.unwrap();
        assert!(told.contains(result), "{told}");
        assert_eq!(told.contains("did not stop"), by != CutBy::User, "{told}");
        let mut again = Bench::new(Mode::Ask);
        again.machine.set_rows(b.machine.rows().to_vec());
        let request = requests(&again.send("go on")).remove(0);
        let Some(ConversationItem::User(said)) = request.items.last() else { panic!("{request:?}") };
        assert!(said.text.starts_with(hint), "{}", said.text);
    }
}
