//! Connections of running commands: decided, asked about, taken back.

use super::*;
use crate::domain::rule::{NETWORK, RuleEffect};

fn connect(host: &str, private: bool, known: bool) -> CallFacts {
    let to = format!("{host}:443");
    CallFacts {
        tool: NETWORK.into(),
        subject: to.clone(),
        touches: vec![Touch::Connect { host: host.into(), private, known: known.then(|| "package registry x".into()) }],
        proposal: Proposal::Connect { to, command: "curl x".into() },
        secrets_here: false,
        left_out: Vec::new(),
    }
}

impl Bench {
    fn wants(&mut self, number: u64, facts: CallFacts) -> Vec<Step> {
        self.feed(Input::MayReach(number, CallId::new("a"), Box::new(facts)))
    }
}

/// Answers to the commands of these numbers.
fn reached(steps: &[Step]) -> Vec<(u64, bool)> {
    let told = steps.iter().filter_map(|step| match step {
        Step::Reached(number, answer) => Some((*number, answer.is_ok())),
        _ => None,
    });
    told.collect()
}

#[test]
fn what_is_not_asked_is_answered_at_once() {
    for (mode, headless, facts, told) in [
        (Mode::Ask, false, connect("a.example", false, true), true),
        (Mode::Execute, false, connect("a.example", false, true), true),
        (Mode::Execute, true, connect("a.example", false, false), false),
        (Mode::Explore, false, connect("a.example", false, true), false),
        (Mode::Ask, true, connect("a.example", false, false), false),
        (Mode::Ask, true, connect("a.example", false, true), true),
        (Mode::Execute, true, connect("localhost", true, false), false),
        (Mode::Execute, true, connect("localhost", true, true), true),
    ] {
        let mut b = Bench::with(mode, |rules| rules.headless = headless);
        assert_eq!(reached(&b.wants(1, facts.clone())), [(1, told)], "{mode:?} {facts:?}");
        assert!(b.machine.requests().is_empty());
    }
}

#[test]
fn a_host_is_asked_about_while_the_command_waits_with_or_without_a_turn() {
    let mut b = Bench::new(Mode::Ask);
    assert_eq!(reached(&b.wants(1, connect("a.example", false, false))), []);
    assert!(matches!(&b.machine.meta.activity, Activity::NeedsYou(what) if what.contains("a.example")));
    let request = b.asked().id;
    let steps = b.act(SessionCommand::Answer { request: request.clone(), answer: UserAnswer::Once, shown: None });
    assert_eq!(reached(&steps), [(1, true)]);
    assert!(steps.contains(&Step::Emit(SessionEvent::Settled { request: request.clone(), by: None })));
    assert_eq!(b.machine.meta.activity, Activity::Idle);
    // A late answer changes nothing.
    assert_eq!(reached(&b.act(SessionCommand::Answer { request, answer: UserAnswer::Once, shown: None })), []);

    b.wants(2, connect("a.example", false, false));
    let request = b.asked().id;
    let steps =
        b.act(SessionCommand::Answer { request, answer: UserAnswer::No(Some("not that one".into())), shown: None });
    assert!(steps.iter().any(|step| matches!(step, Step::Reached(2, Err(why)) if why.contains("not that one"))));
}

#[test]
fn an_answer_that_is_kept_lets_all_through_that_wait_for_the_host() {
    let mut b = Bench::new(Mode::Ask);
    b.wants(1, connect("a.example", false, false));
    b.wants(2, connect("a.example", false, false));
    b.wants(3, connect("b.example", false, false));
    let rule = Rule { host: Some("a.example".into()), ..Rule::allow(NETWORK) };
    let answer = UserAnswer::Remember { scope: RuleScope::Session, rules: vec![rule.clone()] };
    let steps = b.act(SessionCommand::Answer { request: b.asked().id, answer, shown: None });
    assert_eq!(reached(&steps), [(1, true), (2, true)]);
    assert_eq!(b.machine.own.rules, [rule]);
    assert_eq!(b.machine.requests().len(), 1);
    assert_eq!(reached(&b.wants(4, connect("a.example", false, false))), [(4, true)]);
    // Of another port nothing was said.
    assert_eq!(reached(&b.wants(5, connect("a.example:25", false, false))), []);
    // And never of where a name leads inside.
    b.wants(6, connect("a.example", true, false));
    let Some(Ask::Approval(approval)) = b.machine.requests().pop().map(|request| request.ask) else { panic!() };
    assert!(approval.offers.is_empty());
}

#[test]
fn a_stricter_mode_and_the_end_of_the_command_take_questions_back() {
    let mut b = Bench::new(Mode::Ask);
    b.wants(1, connect("a.example", false, false));
    b.wants(2, connect("b.example", false, false));
    let steps = b.feed(Input::NoLongerReaches(1));
    assert!(steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Settled { .. }))));
    assert_eq!(b.machine.requests().len(), 1);
    let steps = b.act(SessionCommand::Mode { mode: Mode::Explore, drop_plan: false });
    assert_eq!(reached(&steps), [(2, false)]);
    assert!(b.machine.requests().is_empty());
    b.act(SessionCommand::Mode { mode: Mode::Ask, drop_plan: false });
    b.wants(3, connect("c.example", false, false));
    // A looser mode releases nothing; it says that it would run now.
    let steps = b.act(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false });
    assert_eq!(reached(&steps), []);
    let deny = Rule { effect: RuleEffect::Deny, host: Some("c.example".into()), ..Rule::allow("fetch") };
    let mut rules = permit::Rules::new(permit::Ground { here: vec!["/w".into()], home: None });
    rules.add_answer(deny);
    let law = crate::agent::machine_io::FileRules { rules, loosest: Mode::Execute, untrusted: vec![] };
    assert_eq!(reached(&b.feed(Input::FileRules(Box::new(law)))), [(3, false)]);
}
