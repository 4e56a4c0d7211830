//! Plans: approved as they were shown, carried out step by step, and what was struck out holds.

use super::*;
use crate::agent::machine_io::PlanFile;
use crate::domain::message::{Info, Plan};
use crate::domain::plan::{Outline, PendingExecution, StepMark, StepStatus, hash};
use crate::domain::request::PlanOrigin;
use crate::protocol::{SessionCommand, SessionEvent};

const PLAN: &str = "# Tidy\n\n1. Read `a.rs`\n2. Rewrite `b.rs`\n3. Run `make install`\n";

fn waiting(change: impl Fn(&mut MachineConfig)) -> Bench {
    let mut b = Bench::with(Mode::Explore, change);
    b.send("plan it");
    b.calls(&[("p", "submit_plan")]);
    b.found("p", CallFacts { tool: "submit_plan".into(), touches: vec![Touch::Inner], ..read("/s/plans/p.md") });
    let mut outcome = Outcome::ok("with the user");
    outcome.then = Then::Plan { path: "/s/plans/p.md".into(), title: "Tidy".into(), markdown: PLAN.into() };
    let run = b.run();
    b.feed(Input::Ran(run, CallId::new("p"), Box::new(Ok(outcome))));
    b
}

fn marked(b: &Bench, mode: Mode, compact: bool, marks: &[(u32, bool, Option<&str>)]) -> UserAnswer {
    let UserAnswer::PlanApprove(mut approval) = approve(b, mode, compact) else { unreachable!() };
    for (number, struck, comment) in marks {
        let mark = StepMark { number: *number, struck: *struck, comment: comment.map(str::to_owned) };
        approval.marks.retain(|other| other.number != *number);
        approval.marks.push(mark);
    }
    UserAnswer::PlanApprove(approval)
}

fn answer(b: &mut Bench, answer: UserAnswer) -> Vec<Step> {
    let id = b.asked().id;
    let mut steps = b.act(SessionCommand::Answer { request: id, answer, shown: None });
    while b.machine.has_due() {
        steps.extend(b.feed(Input::CarryOut));
    }
    steps
}

fn told(steps: &[Step]) -> String {
    let text = |row: &Message| match &row.body {
        Body::User(user) => Some(user.text.clone()),
        _ => None,
    };
    kept(steps).iter().find_map(text).expect("a message was sent")
}

fn asks_again(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Asked(_))))
}

/// Reports a step, and gives what came back.
fn report(b: &mut Bench, number: u32, status: StepStatus) -> String {
    let id = format!("s{number}-{}", b.out.len());
    b.calls(&[(&id, "step")]);
    b.found(&id, CallFacts { tool: "step".into(), touches: vec![Touch::Inner], ..read("x") });
    let mut outcome = Outcome::ok("reported");
    outcome.then = Then::Step { number, status };
    let run = b.run();
    b.feed(Input::Ran(run, CallId::new(id.as_str()), Box::new(Ok(outcome))));
    b.call(&id).result.unwrap()
}

#[test]
fn the_message_names_what_was_struck_out_and_the_comments() {
    let mut b = waiting(|_| {});
    let yes = marked(&b, Mode::Ask, false, &[(3, true, None), (2, false, Some("keep\nthe tests"))]);
    let steps = answer(&mut b, yes);
    let text = told(&steps);
    for part in [
        "Plan approved. Carry it out now. Permission mode: Ask to Edit.",
        "File: /s/plans/p.md",
        "1. Read `a.rs`\n",
        "2. Rewrite `b.rs`\n   The user's comment: keep\n   the tests\n",
        "3. Not to be done, struck out by the user: Run `make install`",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // What was approved is what the file says.
    let written = steps.iter().find_map(|step| match step {
        Step::KeepPlan(path, text) => Some((path.clone(), text.clone())),
        _ => None,
    });
    let (path, written) = written.expect("the file is written");
    assert_eq!(path, std::path::Path::new("/s/plans/p.md"));
    assert!(Outline::parse(&written).steps[2].struck);
    let progress = b.machine.own.progress.clone().unwrap();
    assert_eq!((progress.figures(), progress.steps.len()), ((0, 2), 3));
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Plan(Some(_))))));
}

#[test]
fn the_approval_covers_what_was_shown() {
    // The file was changed: it is asked anew, and what was on its way approves nothing.
    let mut b = waiting(|_| {});
    let yes = approve(&b, Mode::Execute, false);
    let steps = b.feed(Input::PlanFile(PlanFile::Text("1. Delete everything\n".into())));
    assert!(asks_again(&steps));
    let id = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request: id, answer: yes, shown: None });
    assert!(asks_again(&steps) && !b.machine.is_running() && b.machine.meta.mode == Mode::Explore);
    let Ask::Plan(review) = b.asked().ask else { panic!() };
    assert_eq!((review.origin, review.markdown.as_str()), (PlanOrigin::ChangedOnDisk, "1. Delete everything\n"));
    let steps = answer_with(&mut b, Mode::Ask);
    assert!(told(&steps).contains("was changed since it was submitted; the plan now reads:\n\n1. Delete everything"));

    // The file is gone: it is written from what was shown, and the approval counts.
    let mut b = waiting(|_| {});
    let steps = b.feed(Input::PlanFile(PlanFile::Gone));
    assert!(steps.contains(&Step::KeepPlan("/s/plans/p.md".into(), PLAN.into())) && !asks_again(&steps));
    answer_with(&mut b, Mode::Ask);
    assert!(b.machine.is_running());
    // The same text changes nothing, and neither does a file when no plan waits.
    let mut b = waiting(|_| {});
    assert!(b.feed(Input::PlanFile(PlanFile::Text(PLAN.into()))).is_empty());
    assert!(Bench::new(Mode::Ask).feed(Input::PlanFile(PlanFile::Gone)).is_empty());
}

fn answer_with(b: &mut Bench, mode: Mode) -> Vec<Step> {
    let yes = approve(b, mode, false);
    answer(b, yes)
}

#[test]
fn an_edited_plan_is_asked_again_and_told() {
    let mut b = waiting(|_| {});
    let id = b.asked().id;
    let steps = b.act(SessionCommand::Answer {
        request: id.clone(),
        answer: UserAnswer::PlanEdited("1. Only this\n".into()),
        shown: None,
    });
    assert!(asks_again(&steps) && steps.contains(&Step::KeepPlan("/s/plans/p.md".into(), "1. Only this\n".into())));
    assert_eq!(b.asked().id, id, "it is the same request with another content");
    for nothing in ["", " \n", "1. Only this"] {
        let steps = b.act(SessionCommand::Answer {
            request: id.clone(),
            answer: UserAnswer::PlanEdited(nothing.into()),
            shown: None,
        });
        assert!(!steps.iter().any(|step| matches!(step, Step::KeepPlan(..))), "{nothing:?}");
    }
    let mut other = b.machine.clone();
    let steps = answer_with(&mut b, Mode::Ask);
    assert!(told(&steps).contains("The user edited the plan; the plan now reads:\n\n1. Only this\n"));
    let steps = other.step(
        At(90_000),
        Input::Command(SessionCommand::Answer {
            request: id,
            answer: UserAnswer::PlanChanges("more".into()),
            shown: None,
        }),
    );
    assert!(told(&steps).contains("Change the plan: more\n\nThe user edited the plan"));
}

#[test]
fn what_cannot_be_approved() {
    let all = [(1, true, None), (2, true, None), (3, true, None)];
    let mut b = waiting(|_| {});
    let nothing = marked(&b, Mode::Ask, false, &all);
    answer(&mut b, nothing);
    assert!(!b.machine.is_running() && b.machine.own.plan.is_some());
    let explore = approve(&b, Mode::Explore, false);
    answer(&mut b, explore);
    assert!(!b.machine.is_running());
    // Where another program made the workspace, Execute is not offered and not given.
    let mut b = waiting(|rules| rules.loosest = Mode::Ask);
    assert!(matches!(b.asked().ask, Ask::Plan(review) if review.capped));
    answer_with(&mut b, Mode::Execute);
    assert_eq!(b.machine.meta.mode, Mode::Ask);
}

#[test]
fn steps_tick_off_to_the_end() {
    let mut b = waiting(|_| {});
    let yes = marked(&b, Mode::Execute, false, &[(3, true, None)]);
    answer(&mut b, yes);
    assert!(report(&mut b, 1, StepStatus::Running).contains("0 of 2 steps"));
    assert!(report(&mut b, 1, StepStatus::Done).contains("Next is step 2: Rewrite"));
    assert!(report(&mut b, 3, StepStatus::Running).contains("struck out step 3"));
    assert!(report(&mut b, 7, StepStatus::Done).contains("no step 7"));
    assert!(report(&mut b, 2, StepStatus::Failed).contains("No step is open"));
    assert!(report(&mut b, 2, StepStatus::Done).contains("That was the last step"));
    let progress = b.machine.own.progress.clone().unwrap();
    assert!(progress.over);
    assert!(report(&mut b, 2, StepStatus::Done).contains("No approved plan"));
    // It is kept: a restart finds it.
    let stored = serde_json::to_value(&b.machine.own).unwrap();
    assert_eq!(HeaderExtension::read(stored).progress, Some(progress));
}

#[test]
fn a_struck_step_holds_in_every_mode_until_the_plan_is_over() {
    let mut b = waiting(|_| {});
    let yes = marked(&b, Mode::Execute, false, &[(2, true, None), (3, true, None)]);
    answer(&mut b, yes);
    b.calls(&[("w", "write")]);
    assert!(runs(&b.found("w", write("/w/b.rs"))).is_empty());
    let Ask::Approval(approval) = b.asked().ask else { panic!() };
    assert!(approval.reasons[0].contains("Step 2 was struck"), "{:?}", approval.reasons);
    assert!(approval.scopes.is_empty() && approval.offers.is_empty(), "never remembered");
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::No(None), shown: None });
    b.calls(&[("c", "bash")]);
    assert!(runs(&b.found("c", command("cd x && sudo make install"))).is_empty());
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::No(None), shown: None });
    b.calls(&[("o", "write")]);
    assert_eq!(runs(&b.found("o", write("/w/c.rs"))), ["o"], "what no step names runs");
    b.ran("o", "ok");
    // The agent cannot end the hold by reporting the rest as done.
    report(&mut b, 1, StepStatus::Done);
    assert!(b.machine.own.progress.as_ref().is_some_and(|progress| progress.over));
    b.calls(&[("v", "write")]);
    assert!(runs(&b.found("v", write("/w/b.rs"))).is_empty());
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::No(None), shown: None });
    b.text("done");
    b.stop_with(Stop::Done);
    b.send("now do it after all");
    b.calls(&[("u", "write")]);
    assert_eq!(runs(&b.found("u", write("/w/b.rs"))), ["u"], "the user's next message is another matter");
}

#[test]
fn nobody_there_to_ask_means_no() {
    let mut b = waiting(|_| {});
    let yes = marked(&b, Mode::Execute, false, &[(2, true, None)]);
    answer(&mut b, yes);
    let own = b.machine.own.clone();
    let mut b = Bench::with(Mode::Execute, |rules| rules.headless = true);
    b.machine.own = own;
    b.send("go on");
    b.calls(&[("w", "write")]);
    b.found("w", write("/w/b.rs"));
    let call = b.call("w");
    assert!(!call.decision.unwrap().allowed && call.result.unwrap().contains("Step 2 was struck"));
}

#[test]
fn compacting_first_keeps_the_plan_until_it_was_told() {
    let mut b = waiting(|_| {});
    let id = b.asked().id;
    let yes = marked(&b, Mode::Execute, true, &[(3, true, None)]);
    let mut steps = b.act(SessionCommand::Answer { request: id, answer: yes, shown: None });
    assert!(
        !b.machine.has_due() && kept(&steps).is_empty() && steps.iter().any(|step| matches!(step, Step::Summarise(..)))
    );
    let run = b.run();
    steps.extend(b.feed(Input::Summarised(run, Ok("what was found".into()))));
    // Until all of this is on disk the plan waits, with its marks, and nothing is looser.
    let waiting_still = b.machine.own.plan.clone().expect("it waits on");
    assert!(waiting_still.review.markdown.contains("~~Run `make install`~~"));
    assert_eq!(b.machine.meta.mode, Mode::Explore);
    let pending =
        PendingExecution { plan_path: "/s/plans/p.md".into(), awaiting_compaction: true, ..Default::default() };
    assert_eq!(b.machine.meta.pending_execution, Some(pending));
    let meta = steps.iter().position(|step| matches!(step, Step::KeepMeta(_))).unwrap();
    let row = steps.iter().position(|step| matches!(step, Step::Append(..))).unwrap();
    assert!(meta < row);
    let rows = kept(&steps);
    let Body::Info(Info { kind: InfoKind::Compacted, carried: Some(carried), .. }) = &rows[0].body else { panic!() };
    let carried = &carried.text;
    assert!(carried.contains("plan it") && carried.contains("~~Run `make install`~~"), "{carried}");
    assert!(carried.contains("what was found"), "{carried}");
    assert!(b.machine.has_due() && b.machine.own.plan.is_some());

    let died = b.machine.clone();
    let steps = b.feed(Input::CarryOut);
    assert!(told(&steps).starts_with("Plan approved"));
    assert_eq!((b.machine.meta.mode, b.machine.meta.pending_execution.clone()), (Mode::Execute, None));
    let Some(Step::Ask(_, request)) = steps.iter().find(|step| matches!(step, Step::Ask(..))) else { panic!() };
    assert!(
        matches!(&request.items[0], ConversationItem::User(said) if said.text == *carried),
        "the model's conversation begins here"
    );
    assert_eq!(request.items.len(), 2);

    // Died in between: it is asked once more, and nothing is compacted twice.
    let own = HeaderExtension::read(serde_json::to_value(&died.own).unwrap());
    let mut c = Bench::new(Mode::Explore);
    let rules = c.machine.config.clone();
    c.machine = Machine::new(died.meta.clone(), own, Queue::default(), rules);
    c.machine.set_rows(rows.clone());
    c.machine.resume_plan(At(1), &rows);
    assert!(matches!(c.asked().ask, Ask::Plan(review) if review.resumes));
    let again = approve(&c, Mode::Ask, true);
    let steps = answer(&mut c, again);
    assert!(kept(&steps).iter().all(|row| !matches!(row.body, Body::Info(Info { kind: InfoKind::Compacted, .. }))));
    assert!(c.machine.is_running() && c.machine.meta.pending_execution.is_none());
}

#[test]
fn a_plan_of_another_program_that_awaits_its_compaction_is_asked_for() {
    let plan = Message::new(
        MessageId::new("p"),
        At(5),
        Body::Plan(Plan { path: "/s/plans/theirs.md".into(), markdown: "# Theirs\n\n1. a\n".into() }),
    );
    let pending = PendingExecution {
        plan_path: "/s/plans/theirs.md".into(),
        draft_input_snapshot: Some("and tag it".into()),
        awaiting_compaction: true,
        execution_dispatched: Some(false),
    };
    let with = |pending: &PendingExecution, rows: &[Message]| {
        let mut b = Bench::new(Mode::Explore);
        b.machine.meta.pending_execution = Some(pending.clone());
        b.machine.set_rows(rows.to_vec());
        b.machine.resume_plan(At(9), rows);
        b
    };
    let mut b = with(&pending, std::slice::from_ref(&plan));
    let Ask::Plan(review) = b.asked().ask else { panic!() };
    assert_eq!((review.title.as_str(), review.resumes), ("Theirs", true));
    let yes = approve(&b, Mode::Ask, true);
    let steps = answer(&mut b, yes);
    assert!(told(&steps).contains("Additional user context:\nand tag it"));

    let user =
        Message::new(MessageId::new("u"), At(6), Body::User(UserText { text: "no".into(), ..Default::default() }));
    let done = PendingExecution { execution_dispatched: Some(true), ..pending.clone() };
    let other = PendingExecution { plan_path: "/s/plans/x.md".into(), ..pending.clone() };
    let ready = PendingExecution { awaiting_compaction: false, ..pending.clone() };
    for (pending, rows) in [
        (&pending, vec![plan.clone(), user]),
        (&done, vec![plan.clone()]),
        (&other, vec![plan.clone()]),
        (&ready, vec![plan.clone()]),
    ] {
        assert!(with(pending, &rows).machine.requests().is_empty(), "{pending:?}");
    }
}

#[test]
fn a_plan_can_be_dropped_and_another_one_takes_its_place() {
    let mut b = waiting(|_| {});
    b.act(SessionCommand::DropPlan);
    assert!(b.machine.requests().is_empty() && !b.machine.meta.plan_pending);
    let mut b = waiting(|_| {});
    answer_with(&mut b, Mode::Ask);
    b.text("ok");
    b.stop_with(Stop::Done);
    let steps = b.act(SessionCommand::DropPlan);
    assert!(steps.contains(&Step::Emit(SessionEvent::Plan(None))) && b.machine.own.progress.is_none());
    let mut b = waiting(|_| {});
    answer_with(&mut b, Mode::Ask);
    b.calls(&[("p2", "submit_plan")]);
    b.found("p2", CallFacts { tool: "submit_plan".into(), touches: vec![Touch::Inner], ..read("/s/plans/q.md") });
    let mut outcome = Outcome::ok("x");
    outcome.then = Then::Plan { path: "/s/plans/q.md".into(), title: "Q".into(), markdown: "1. q".into() };
    let run = b.run();
    b.feed(Input::Ran(run, CallId::new("p2"), Box::new(Ok(outcome))));
    assert!(b.machine.own.progress.is_none() && b.machine.own.plan.is_some());
    assert_eq!(hash("1. q"), hash(&b.machine.own.plan.as_ref().unwrap().review.markdown));
}

#[test]
fn an_approval_takes_the_session_back_to_work() {
    for (status, after) in [("needs-review", "in-progress"), ("todo", "todo"), ("done", "done")] {
        let mut b = waiting(|_| {});
        let statuses = ["todo", "in-progress", "needs-review", "done!"].map(super::automatic::status_of);
        b.machine.set_automatic(Automatic { statuses: statuses.to_vec().into(), ..Automatic::default() });
        b.machine.meta.status = status.into();
        let approval = marked(&b, Mode::Ask, false, &[]);
        answer(&mut b, approval);
        assert_eq!(b.machine.meta.status, after, "{status}");
    }
    // What the user set while it waited stays.
    let mut b = waiting(|_| {});
    let statuses = ["in-progress", "needs-review"].map(super::automatic::status_of);
    b.machine.set_automatic(Automatic { statuses: statuses.to_vec().into(), ..Automatic::default() });
    b.feed(Input::Change(PropertyChange::Status("needs-review".into())));
    let approval = marked(&b, Mode::Ask, false, &[]);
    answer(&mut b, approval);
    assert_eq!(b.machine.meta.status, "needs-review");
}
