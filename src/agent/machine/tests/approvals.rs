//! Approvals: calls that ask, calls that an answer lets run, and changes of the mode meanwhile.

use super::*;

#[test]
fn asking_once_session_and_no() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "bash"), ("b", "bash"), ("c", "bash")]);
    let steps = b.found("a", command("cargo test"));
    assert!(runs(&steps).is_empty());
    assert_eq!(b.machine.meta.activity, Activity::NeedsYou("approve: bash cargo test".into()));
    let id = b.asked().id;
    let kept = vec![cargo_test()];
    let answer = UserAnswer::Remember { scope: RuleScope::Session, rules: kept.clone() };
    let steps = b.act(SessionCommand::Answer { request: id.clone(), answer, shown: None });
    assert_eq!(runs(&steps), ["a"]);
    assert_eq!(b.machine.own.rules, kept);
    assert!(matches!(b.call("a").decision.unwrap().authority, Authority::Grant(_)));
    b.ran("a", "ok");
    let steps = b.found("b", command("cargo test"));
    assert_eq!(runs(&steps), ["b"], "the grant covers the same command");
    b.ran("b", "ok");
    b.found("c", command("cargo test --release"));
    let id = b.asked().id;
    let steps = b.act(SessionCommand::Answer {
        request: id.clone(),
        answer: UserAnswer::No(Some("too slow".into())),
        shown: None,
    });
    assert!(runs(&steps).is_empty());
    let call = b.call("c");
    assert!(call.result.unwrap().contains("too slow"));
    let decision = call.decision.unwrap();
    assert!(!decision.allowed && decision.authority == Authority::Person);
    let steps = b.act(SessionCommand::Answer { request: id, answer: UserAnswer::Once, shown: None });
    assert!(runs(&steps).is_empty(), "the first answer counts");
}

/// A machine that asks about `cargo test`, and the request.
fn asks_about_a_command() -> (Bench, RequestId) {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.chunk(Chunk::Call(ProposedCall {
        id: CallId::new("a"),
        name: "bash".into(),
        // What is opened is for this command.
        input: json!({"command": "cargo test", "outside": true, "access": [{"path": "/x"}]}),
    }));
    b.stop_with(Stop::Calls);
    b.found("a", command("cargo test"));
    let id = b.asked().id;
    (b, id)
}

#[test]
fn a_command_that_the_user_changed_is_judged_anew() {
    let instead = |request: &RequestId, text: &str| SessionCommand::Answer {
        request: request.clone(),
        answer: UserAnswer::Instead(text.to_owned()),
        shown: None,
    };
    // (what the user writes, whether it runs without another question)
    for (text, runs_at_once) in [
        ("cargo test --lib", true),
        ("ls", true),
        ("rm -rf /", false),
        ("echo x > .git/hooks/pre-commit", false),
        ("cat ~/.ssh/id_ed25519", false),
        ("cargo test\u{200b}", false),
    ] {
        let (mut b, id) = asks_about_a_command();
        let steps = b.act(instead(&id, text));
        assert!(steps.contains(&Step::Emit(SessionEvent::Settled { request: id.clone(), by: None })), "{text}");
        let asked_for = steps.iter().find_map(|step| match step {
            Step::Inspect(_, call) => Some(call.input.clone()),
            _ => None,
        });
        assert_eq!(asked_for, Some(json!({"command": text})), "its facts are gathered");
        assert!(runs(&steps).is_empty(), "{text}: nothing runs before that");
        let on_disk = steps.iter().any(|step| match step {
            Step::KeepLive(row, Safety::Synced) => row.tool().is_some_and(|tool| tool.input["command"] == text),
            _ => false,
        });
        assert!(on_disk, "{text}");
        let steps = b.found("a", command(text));
        assert_eq!(!runs(&steps).is_empty(), runs_at_once, "{text}");
        if !runs_at_once {
            let again = b.asked().id;
            assert_ne!(again, id);
            b.act(SessionCommand::Answer { request: again, answer: UserAnswer::Once, shown: None });
        }
        let call = b.call("a");
        assert_eq!((call.subject.as_str(), &call.input["command"]), (text, &json!(text)));
        let decision = call.decision.unwrap();
        assert_eq!((decision.allowed, &decision.authority), (true, &Authority::Person), "{text}");
        assert!(decision.reason.contains("cargo test"), "{}", decision.reason);
        b.ran("a", "output");
        let result = b.call("a").result.unwrap();
        assert_eq!(
            result,
            format!("The user changed the command before it ran: {text}\nYou had proposed: cargo test\n\noutput")
        );
    }
}

#[test]
fn a_change_of_a_command_that_is_none() {
    // The same text is a yes.
    let (mut b, id) = asks_about_a_command();
    let steps = b.act(SessionCommand::Answer {
        request: id.clone(),
        answer: UserAnswer::Instead("cargo test".into()),
        shown: None,
    });
    assert_eq!(runs(&steps), ["a"]);
    b.ran("a", "ok");
    assert_eq!(b.call("a").result.as_deref(), Some("ok"));
    // None is no answer, and the request waits on.
    let (mut b, id) = asks_about_a_command();
    let steps =
        b.act(SessionCommand::Answer { request: id.clone(), answer: UserAnswer::Instead(" \n".into()), shown: None });
    assert!(runs(&steps).is_empty());
    assert_eq!(b.asked().id, id);
    // What is no command has none.
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "write")]);
    b.found("a", write("/w/x"));
    let id = b.asked().id;
    b.act(SessionCommand::Answer { request: id.clone(), answer: UserAnswer::Instead("ls".into()), shown: None });
    assert_eq!(b.asked().id, id);
}

#[test]
fn a_line_is_shown_with_what_becomes_of_its_parts() {
    use crate::domain::request::PartState;
    let (mut b, id) = asks_about_a_command();
    let rules = asked_approval(&b).offers.into_iter().map(|offer| offer.rule).collect();
    b.act(SessionCommand::Answer {
        request: id,
        answer: UserAnswer::Remember { scope: RuleScope::Session, rules },
        shown: None,
    });
    b.ran("a", "ok");
    b.chunk(Chunk::Call(ProposedCall { id: CallId::new("b"), name: "bash".into(), input: json!({"command": "x"}) }));
    b.stop_with(Stop::Calls);
    b.found("b", command("ls && cargo test && git add x"));
    let parts: Vec<_> = asked_approval(&b).parts.into_iter().map(|part| (part.text, part.state)).collect();
    let part = |text: &str, state| (text.to_owned(), state);
    let states =
        [part("ls", PartState::Reads), part("cargo test", PartState::Allowed), part("git add x", PartState::Asked)];
    assert_eq!(parts, states);
}

#[test]
fn an_answer_that_is_not_taken_leaves_the_request_with_every_face() {
    let other = crate::domain::rule::Rule {
        program: Some("rm".into()),
        args: Some(vec!["./**".into()]),
        ..crate::domain::rule::Rule::allow("bash")
    };
    let answers = [
        UserAnswer::Instead(" ".into()),
        UserAnswer::Remember { scope: RuleScope::Session, rules: vec![other] },
        UserAnswer::Remember { scope: RuleScope::Session, rules: vec![] },
    ];
    for answer in answers {
        let (mut b, id) = asks_about_a_command();
        let steps = b.act(SessionCommand::Answer { request: id.clone(), answer: answer.clone(), shown: None });
        assert!(runs(&steps).is_empty(), "{answer:?}");
        let again =
            steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Asked(request)) if request.id == id));
        assert!(again, "{answer:?}: a face that took it for answered hears that it waits");
    }
}

#[test]
fn a_changed_command_runs_in_no_stricter_mode_and_not_when_its_facts_change() {
    let (mut b, id) = asks_about_a_command();
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::Instead("cargo test --lib".into()), shown: None });
    b.act(SessionCommand::Mode { mode: Mode::Explore, drop_plan: false });
    assert!(runs(&b.found("a", command("cargo test --lib"))).is_empty());
    let call = b.call("a");
    assert!(!call.decision.unwrap().allowed);
    assert!(call.result.unwrap().starts_with("The user changed the command"));

    let (mut b, id) = asks_about_a_command();
    b.act(SessionCommand::Answer { request: id, answer: UserAnswer::Instead("cargo test --lib".into()), shown: None });
    assert_eq!(runs(&b.found("a", command("cargo test --lib"))), ["a"]);
    let mut elsewhere = command("cargo test --lib");
    elsewhere.proposal = Proposal::Command { command: "cargo test --lib".into(), cwd: "/other".into() };
    let run = b.run();
    let steps = b.feed(Input::Ran(run, CallId::new("a"), Box::new(Err(RunError::FactsChanged(Box::new(elsewhere))))));
    assert!(runs(&steps).is_empty(), "writing it was the answer to what it was then");
    b.asked();
}

#[test]
fn what_changed_since_the_answer_asks_again() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "write")]);
    b.found("a", write("/w/x"));
    let first = b.asked().id;
    b.act(SessionCommand::Answer { request: first.clone(), answer: UserAnswer::Once, shown: None });
    let mut other = write("/w/x");
    other.proposal = Proposal::Change { diff: Default::default(), before: "9".into(), after: "2".into() };
    let run = b.run();
    b.feed(Input::Ran(run, CallId::new("a"), Box::new(Err(RunError::FactsChanged(Box::new(other))))));
    assert_ne!(b.asked().id, first);
}

#[test]
fn a_stricter_mode_decides_at_once_and_a_looser_one_releases_nothing() {
    let mut b = Bench::new(Mode::Ask);
    b.send("go");
    b.calls(&[("a", "bash")]);
    b.found("a", command("make"));
    let steps = b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    assert!(runs(&steps).is_empty());
    assert!(matches!(b.asked().ask, Ask::Approval(a) if a.would_run_now));
    let steps = b.act(SessionCommand::Mode { mode: Mode::Explore, drop_plan: false });
    assert!(runs(&steps).is_empty());
    assert!(b.machine.requests().is_empty());
    assert_eq!(b.call("a").status, ToolStatus::Error);
}

#[test]
fn passing_through_execute_lets_nothing_run() {
    let mut b = Bench::new(Mode::Ask);
    b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    b.send("go");
    b.calls(&[("a", "bash")]);
    assert!(runs(&b.found("a", command("make"))).is_empty(), "proposed within a second");
    assert!(matches!(b.asked().ask, Ask::Approval(a) if a.would_run_now), "and the question says why");
    b.act(SessionCommand::Stop);
    let run = b.run();
    b.feed(Input::Reaped(run));
    b.now = b.now.plus(2000);
    b.send("again");
    b.calls(&[("b", "bash")]);
    assert_eq!(runs(&b.found("b", command("make"))), ["b"]);
}

#[test]
fn a_row_from_the_future_does_not_make_execute_old() {
    let mut b = Bench::new(Mode::Ask);
    // A clock that was wrong, or another program's: what comes later is dated behind it.
    let ahead = b.now.plus(86_400_000);
    let text = Body::User(UserText { text: "tomorrow".into(), ..UserText::default() });
    b.machine.set_rows(vec![Message::new(MessageId::new("msg-ahead"), ahead, text)]);
    b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    b.send("go");
    b.calls(&[("a", "bash")]);
    assert!(runs(&b.found("a", command("make"))).is_empty(), "proposed within a second");
}

#[test]
fn the_mode_is_written_once_and_with_what_happens_next() {
    let mut b = Bench::new(Mode::Ask);
    for mode in [Mode::Execute, Mode::Explore, Mode::Ask, Mode::Explore] {
        b.act(SessionCommand::Mode { mode, drop_plan: false });
    }
    let steps = b.send("go");
    let rows = kept(&steps);
    assert!(
        matches!(&rows[0].body, Body::Info(info) if info.kind == InfoKind::ModeChanged && info.text.contains("Explore"))
    );
    assert_eq!(rows.len(), 2);
}

#[test]
fn what_the_user_types_is_said_once_to_be_closed_in() {
    let told = |b: &mut Bench| {
        let steps = b.act(SessionCommand::Type { command: "ls".into() });
        let said = steps.iter().any(
            |step| matches!(step, Step::Emit(SessionEvent::Notice(notice)) if notice.text.contains("run in the sandbox")),
        );
        b.act(SessionCommand::Stop);
        said
    };
    let closed = crate::domain::permission::Sandbox::Workspace;
    let mut b = Bench::with(Mode::Ask, |rules| rules.policy.sandbox = closed);
    assert_eq!([told(&mut b), told(&mut b)], [true, false]);
    assert!(!told(&mut Bench::new(Mode::Ask)), "nothing closes it in");
}
