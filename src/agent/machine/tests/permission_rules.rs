//! The rules of a session: answers that are kept, files that say something else, and what is asked to be trusted.

use super::*;
use crate::agent::machine::Answers;
use crate::agent::machine_io::FileRules;
use crate::domain::access::{Access, Extras};
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::domain::rule::{PermissionsFile, RuleEffect};
use crate::permit::{Ground, Rules as Kept};
use std::path::Path;

fn bash(program: &str, args: &[&str]) -> Rule {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Rule { program: Some(program.into()), args: Some(args), ..Rule::allow("bash") }
}

/// Input of files with these rules.
fn law(rules: Vec<Rule>, untrusted: Vec<TrustRequest>) -> Input {
    let mut kept = Kept::new(Ground { here: vec!["/w".into()], home: None });
    kept.scopes.push(RuleScope::Workspace);
    kept.add(
        &PermissionsFile { rules, ..PermissionsFile::default() },
        RuleScope::Workspace,
        Path::new("/ws/permissions.json"),
    );
    Input::FileRules(Box::new(FileRules { rules: kept, loosest: Mode::Execute, untrusted }))
}

fn asking(line: &str) -> (Bench, RequestId) {
    let mut b = Bench::new(Mode::Ask);
    b.feed(law(vec![], vec![]));
    b.send("go");
    b.calls(&[("a", "bash"), ("b", "bash")]);
    b.found("a", command(line));
    let id = b.asked().id;
    (b, id)
}

fn remember(scope: RuleScope, rules: Vec<Rule>) -> UserAnswer {
    UserAnswer::Remember { scope, rules }
}

fn repository(hash: &str) -> TrustRequest {
    TrustRequest {
        what: TrustWhat::Repository,
        path: "/w/.lisle/permissions.json".into(),
        hash: hash.into(),
        text: "{}".into(),
        changed: false,
        starts: Vec::new(),
    }
}

#[test]
fn an_answer_for_the_workspace_is_written_and_the_call_runs() {
    let (mut b, request) = asking("cargo test");
    let rule = bash("cargo", &["test"]);
    let steps = b.act(SessionCommand::Answer {
        request,
        answer: remember(RuleScope::Workspace, vec![rule.clone()]),
        shown: None,
    });
    assert!(steps.contains(&Step::KeepRules(RuleScope::Workspace, vec![rule.clone()])));
    assert_eq!(runs(&steps), ["a"]);
    assert_eq!(b.call("a").decision.unwrap().authority, Authority::Person);
    assert!(b.machine.own.rules.is_empty());
    // The file has it now, so the next one runs by it, and is counted.
    b.feed(law(vec![rule.clone()], vec![]));
    b.ran("a", "ok");
    assert_eq!(runs(&b.found("b", command("cargo test"))), ["b"]);
    assert_eq!(b.call("b").decision.unwrap().authority, Authority::Rule("cargo test (this workspace)".into()));
    let known = b.machine.in_force();
    assert_eq!((known.rules.len(), known.rules[0].hits, &known.rules[0].rule), (1, 1, &rule));
    assert!(known.rules[0].removable && known.rules[0].file.is_some());
}

#[test]
fn what_was_opened_for_the_session_goes_along_with_later_calls() {
    let mut b = Bench::new(Mode::Ask);
    b.feed(law(vec![], vec![]));
    b.send("go");
    b.calls(&[("a", "bash"), ("b", "bash")]);
    let mut facts = command("cargo test");
    facts.touches.push(Touch::Access(Access::Read { path: "/w/.env".into(), secret: true }));
    b.found("a", facts);
    let asked = b.asked();
    let Ask::Approval(approval) = &asked.ask else { panic!() };
    let rules: Vec<Rule> = approval.offers.iter().map(|offer| offer.rule.clone()).collect();
    assert_eq!((rules.len(), approval.scopes.as_slice()), (2, &[RuleScope::Session][..]));
    let answer = remember(RuleScope::Session, rules.clone());
    assert_eq!(runs(&b.act(SessionCommand::Answer { request: asked.id, answer, shown: None })), ["a"]);
    b.ran("a", "ok");
    assert_eq!(runs(&b.found("b", command("cargo test"))), ["b"]);
    let gets = |b: &Bench, mode| b.machine.extras(mode, &command("cargo test"));
    assert_eq!(gets(&b, Mode::Ask).readable, [Path::new("/w/.env")]);
    assert_eq!(gets(&b, Mode::Explore), Extras::default());
    for rule in rules {
        b.feed(Input::Forget(rule));
    }
    assert_eq!(gets(&b, Mode::Ask), Extras::default());
}

#[test]
fn what_cannot_be_kept_is_told_and_goes_on_waiting() {
    for (line, answer) in [
        ("cargo test", remember(RuleScope::Session, vec![])),
        ("cargo test", remember(RuleScope::Session, vec![bash("rm", &["./**"])])),
        ("cargo test", remember(RuleScope::Session, vec![Rule::allow("bash")])),
        ("cargo test", remember(RuleScope::User, vec![bash("cargo", &["test"])])),
        (
            "cargo test",
            remember(RuleScope::Session, vec![Rule { effect: RuleEffect::Deny, ..bash("cargo", &["test"]) }]),
        ),
        ("rm -rf /", remember(RuleScope::Session, vec![bash("rm", &["-rf", "/"])])),
        ("bash -c x", remember(RuleScope::Session, vec![bash("bash", &["-c", "x"])])),
    ] {
        let (mut b, request) = asking(line);
        let steps = b.act(SessionCommand::Answer { request: request.clone(), answer, shown: None });
        assert!(runs(&steps).is_empty(), "{line}");
        assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Notice(_)))), "{line}: {steps:?}");
        assert_eq!(b.asked().id, request);
        assert!(b.machine.own.rules.is_empty());
        assert_eq!(runs(&b.act(SessionCommand::Answer { request, answer: UserAnswer::Once, shown: None })), ["a"]);
    }
    // One that the user made wider covers what was asked, and is their word.
    let (mut b, request) = asking("cargo test");
    let wide = Rule { args: None, ..bash("cargo", &[]) };
    b.act(SessionCommand::Answer { request, answer: remember(RuleScope::Session, vec![wide.clone()]), shown: None });
    assert_eq!(b.machine.own.rules, [wide]);
}

#[test]
fn a_new_rule_decides_on_what_waits_only_when_it_is_stricter() {
    let (mut b, request) = asking("cargo test");
    let rule = bash("cargo", &["test"]);
    let steps = b.feed(law(vec![rule.clone()], vec![]));
    assert!(runs(&steps).is_empty(), "a looser rule lets nothing go that waits");
    let Ask::Approval(approval) = b.asked().ask else { panic!() };
    assert!(approval.would_run_now);
    b.feed(law(vec![Rule { effect: RuleEffect::Deny, ..rule }], vec![]));
    assert!(b.machine.requests().iter().all(|waits| waits.id != request));
    let decision = b.call("a").decision.unwrap();
    assert!(!decision.allowed);
    assert_eq!(decision.authority, Authority::Rule("cargo test (this workspace)".into()));
}

#[test]
fn answers_of_a_session_come_back_unless_that_would_be_looser() {
    let (mut b, request) = asking("cargo test");
    let rule = bash("cargo", &["test"]);
    b.act(SessionCommand::Answer { request, answer: remember(RuleScope::Session, vec![rule.clone()]), shown: None });
    let stored = serde_json::to_value(&b.machine.own).unwrap();
    let own = HeaderExtension::read(stored);
    assert_eq!(own.rules.as_slice(), std::slice::from_ref(&rule));
    let again = |answers| {
        let fresh = Machine::new(b.machine.meta.clone(), own.clone(), Queue::default(), b.machine.config.clone());
        fresh.with_rules_of(&b.machine, answers).in_force().rules.len()
    };
    assert_eq!((again(Answers::Hold), again(Answers::Drop)), (1, 0));
    for (left_in, died, foreign, held) in [
        (Mode::Ask, false, false, Answers::Hold),
        (Mode::Ask, true, false, Answers::Hold),
        (Mode::Execute, true, false, Answers::Drop),
        (Mode::Execute, false, false, Answers::Hold),
        (Mode::Ask, false, true, Answers::Drop),
    ] {
        assert_eq!(Answers::after(left_in, died, foreign), held);
    }
    // Taken back, it is asked again; in another directory no answer holds.
    let mut other = Bench { machine: b.machine.clone(), now: b.now, out: Vec::new() };
    b.feed(Input::Forget(rule));
    assert!(b.machine.own.rules.is_empty() && b.machine.in_force().rules.is_empty());
    other.act(SessionCommand::Cwd("/elsewhere".into()));
    assert!(other.machine.own.rules.is_empty() && other.machine.in_force().rules.is_empty());
}

#[test]
fn rules_of_a_repository_are_asked_about_once_and_stop_nothing() {
    let mut b = Bench::new(Mode::Ask);
    let steps = b.feed(law(vec![], vec![repository("1")]));
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Asked(_)))));
    let request = b.asked();
    assert!(matches!(b.machine.meta.activity, Activity::NeedsYou(_)));
    assert!(
        b.feed(law(vec![], vec![repository("1")]))
            .iter()
            .all(|step| !matches!(step, Step::Emit(SessionEvent::Asked(_))))
    );
    // A turn runs all the same.
    assert!(sends(&b.send("go")));
    b.stop_with(Stop::Done);
    let steps = b.act(SessionCommand::Answer { request: request.id, answer: UserAnswer::Trust(false), shown: None });
    assert!(steps.iter().all(|step| !matches!(step, Step::Trust(_))));
    assert!(b.machine.requests().is_empty());
    assert_eq!(b.machine.own.not_trusted, ["1"]);
    b.feed(law(vec![], vec![repository("1")]));
    assert!(b.machine.requests().is_empty(), "not asked again");
    assert_eq!(b.machine.in_force().trust.len(), 1, "but /trust knows of it");
    // A change asks again.
    b.feed(law(vec![], vec![repository("2")]));
    let request = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request, answer: UserAnswer::Trust(true), shown: None });
    assert!(steps.contains(&Step::Trust(Box::new(repository("2")))));
    b.feed(law(vec![], vec![]));
    assert!(b.machine.requests().is_empty());
    // Without anybody to ask nothing is asked.
    let mut headless = Bench::with(Mode::Ask, |rules| rules.headless = true);
    headless.feed(law(vec![], vec![repository("1")]));
    assert!(headless.machine.requests().is_empty());
}

#[test]
fn a_workspace_that_is_not_trusted_is_capped() {
    let mut b = Bench::new(Mode::Execute);
    let Input::FileRules(mut law) = law(vec![], vec![]) else { panic!() };
    law.loosest = Mode::Ask;
    b.feed(Input::FileRules(law.clone()));
    assert_eq!(b.machine.meta.mode, Mode::Ask);
    b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    assert_eq!(b.machine.meta.mode, Mode::Ask);
    law.loosest = Mode::Execute;
    b.feed(Input::FileRules(law));
    assert_eq!(b.machine.meta.mode, Mode::Ask, "trust alone makes nothing looser");
    b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    assert_eq!(b.machine.meta.mode, Mode::Execute);
}
