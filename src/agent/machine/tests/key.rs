//! Keys: the turn pauses for one, goes on with it, and ends as a failure without it.

use super::*;
use crate::domain::ids::ConnectionName;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;

fn wanted() -> KeyRequest {
    KeyRequest {
        connection: ConnectionName::new("work"),
        host: "https://a.test".into(),
        stored: "/c/credentials".into(),
        why: "No key yet.".into(),
    }
}

fn refused() -> ProviderError {
    ProviderError {
        code: "invalid_api_key",
        title: "Invalid key".into(),
        text: "a.test does not accept the key.".into(),
        detail: String::new(),
        retry: false,
        after: None,
    }
}

/// A turn that pauses for a key, and the request for it.
fn paused(bench: &mut Bench) -> RequestId {
    bench.send("hello");
    let steps = bench.feed(Input::NoKey(bench.run(), Box::new(wanted()), refused()));
    let asked = steps.iter().find_map(|step| match step {
        Step::Emit(SessionEvent::Asked(request)) => Some(request.id.clone()),
        _ => None,
    });
    assert!(!steps.iter().any(|step| matches!(step, Step::Append(..) | Step::Emit(SessionEvent::TurnEnded { .. }))));
    asked.expect("the key is asked for")
}

fn asks_the_model(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Ask(..)))
}

fn settled(steps: &[Step], id: &RequestId) -> bool {
    steps.iter().any(|step| matches!(step, Step::Emit(SessionEvent::Settled { request, .. }) if request == id))
}

#[test]
fn a_key_lets_the_turn_go_on() {
    let mut bench = Bench::new(Mode::Ask);
    let id = paused(&mut bench);
    assert_eq!(bench.machine.meta.activity, Activity::NeedsYou("key: work".into()));
    assert_eq!(bench.machine.requests().len(), 1);
    let key = Key::new("sk-unique").unwrap();
    let steps =
        bench.act(SessionCommand::Answer { request: id.clone(), answer: UserAnswer::Key(key.clone()), shown: None });
    assert_eq!(steps, [Step::StoreKey(ConnectionName::new("work"), key)]);
    assert!(!format!("{steps:?}").contains("sk-unique"));
    // A key of another connection is not this one.
    assert_eq!(bench.feed(Input::Keyed(ConnectionName::new("other"), Ok(()))), []);
    let steps = bench.feed(Input::Keyed(ConnectionName::new("work"), Ok(())));
    assert!(settled(&steps, &id) && asks_the_model(&steps), "{steps:?}");
    assert!(bench.machine.requests().is_empty());
    bench.text("hi");
    bench.stop_with(Stop::Done);
    assert!(!bench.machine.is_running());
}

#[test]
fn a_key_that_could_not_be_stored_is_asked_for_again() {
    let mut bench = Bench::new(Mode::Ask);
    let id = paused(&mut bench);
    let steps = bench.feed(Input::Keyed(ConnectionName::new("work"), Err("The disk is full.".into())));
    let why = steps.iter().find_map(|step| match step {
        Step::Emit(SessionEvent::Asked(request)) if request.id == id => match &request.ask {
            Ask::Key(wanted) => Some(wanted.why.as_str()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(why, Some("The disk is full."), "the field says why");
    assert!(bench.machine.is_running());
}

#[test]
fn without_a_key_the_turn_ends_as_the_failure_that_it_is() {
    let mut bench = Bench::new(Mode::Ask);
    let id = paused(&mut bench);
    let steps = bench.act(SessionCommand::Answer { request: id.clone(), answer: UserAnswer::No(None), shown: None });
    assert!(settled(&steps, &id));
    assert!(steps.contains(&Step::Emit(SessionEvent::TurnEnded { end: TurnEnd::Failed })));
    let row = bench.machine.rows().last().cloned().unwrap();
    let Body::Error(failure) = row.body else { panic!("{row:?}") };
    assert_eq!((failure.code.as_str(), failure.actions.len()), ("invalid_api_key", 3));
    // The same when the turn is stopped instead; and a late key starts nothing.
    let mut bench = Bench::new(Mode::Ask);
    let id = paused(&mut bench);
    let steps = bench.act(SessionCommand::Stop);
    assert!(settled(&steps, &id));
    assert!(steps.contains(&Step::Emit(SessionEvent::TurnEnded { end: TurnEnd::Stopped })));
    assert_eq!(bench.feed(Input::Keyed(ConnectionName::new("work"), Ok(()))), []);
}

#[test]
fn nobody_is_asked_headless_or_once_the_answer_has_begun() {
    let failed = |bench: &mut Bench| {
        let steps = bench.feed(Input::NoKey(bench.run(), Box::new(wanted()), refused()));
        assert!(steps.contains(&Step::Emit(SessionEvent::TurnEnded { end: TurnEnd::Failed })), "{steps:?}");
        assert!(bench.machine.requests().is_empty());
    };
    let mut bench = Bench::with(Mode::Ask, |rules| rules.headless = true);
    bench.send("hello");
    failed(&mut bench);
    let mut bench = Bench::new(Mode::Ask);
    bench.send("hello");
    bench.text("half an ans");
    failed(&mut bench);
}

#[test]
fn a_key_can_be_given_without_a_turn() {
    let mut bench = Bench::new(Mode::Ask);
    bench.feed(Input::GiveKey(Box::new(wanted())));
    let id = bench.machine.requests()[0].id.clone();
    let steps = bench.feed(Input::Keyed(ConnectionName::new("work"), Ok(())));
    assert!(settled(&steps, &id) && !asks_the_model(&steps));
    // It does not take the place of a question that a turn waits for.
    let id = paused(&mut bench);
    bench.feed(Input::GiveKey(Box::new(wanted())));
    assert_eq!(bench.machine.requests()[0].id, id);
}
