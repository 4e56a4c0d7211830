//! Spawned sessions as the machines of both sides see them, titles, and messages that come by themselves.

use super::*;
use crate::domain::session::{Activity, SpawnedBy, TitleFrom};
use crate::domain::tool::Child;

fn child(waits: Option<&str>) -> Child {
    let session = SessionId::parse("c").unwrap();
    Child { session, calls: 2, tokens: 30, waits: waits.map(Into::into), background: false }
}

#[test]
fn no_mode_is_looser_than_the_ceiling_which_only_sinks_until_it_is_lifted() {
    let mut b = Bench::new(Mode::Execute);
    b.feed(Input::Ceiling(Some(Mode::Ask)));
    assert_eq!(b.machine.meta.mode, Mode::Ask);
    b.feed(Input::Ceiling(Some(Mode::Execute)));
    b.feed(Input::Command(SessionCommand::Mode { mode: Mode::Execute, drop_plan: false }));
    assert_eq!(b.machine.meta.mode, Mode::Ask, "the parent became looser, the child did not");
    b.feed(Input::Ceiling(Some(Mode::Explore)));
    assert_eq!(b.machine.meta.mode, Mode::Explore);
    b.feed(Input::Ceiling(None));
    assert_eq!(b.machine.meta.mode, Mode::Explore);
    b.feed(Input::Command(SessionCommand::Mode { mode: Mode::Ask, drop_plan: false }));
    assert_eq!(b.machine.meta.mode, Mode::Ask);
}

#[test]
fn titles_never_overwrite_the_users() {
    let titled = |wanted, was: &str| Input::Titled { title: "New".into(), was: was.into(), wanted };
    for (from, wanted, was, comes) in [
        (TitleFrom::Provisional, false, "old", true),
        (TitleFrom::User, false, "old", false),
        (TitleFrom::User, true, "old", true),
        // Somebody named it while the model was asked.
        (TitleFrom::Provisional, false, "older", false),
        (TitleFrom::User, true, "older", false),
    ] {
        let mut b = Bench::new(Mode::Ask);
        b.machine.meta.title = "old".into();
        b.machine.meta.title_from = from;
        b.feed(titled(wanted, was));
        let now = if comes { ("New", TitleFrom::Generated) } else { ("old", from) };
        assert_eq!((b.machine.meta.title.as_str(), b.machine.meta.title_from), now);
    }
}

#[test]
fn a_session_that_came_without_a_title_is_named_after_its_own_first_message() {
    for (preview, title) in [("asked long ago", "asked long ago"), ("", "and now?")] {
        let mut b = Bench::new(Mode::Ask);
        b.machine.meta.preview = preview.into();
        b.act(SessionCommand::send("and now?"));
        assert_eq!(b.machine.meta.title, title);
    }
}

#[test]
fn a_message_that_comes_by_itself_waits_where_the_user_holds_or_stopped() {
    let mut b = Bench::new(Mode::Ask);
    b.feed(Input::Deliver("answer".into()));
    assert!(b.machine.is_running());
    b.feed(Input::Deliver("another".into()));
    assert_eq!((b.machine.queue.items.len(), b.machine.queue.held), (1, false));
    b.feed(Input::Command(SessionCommand::Stop));
    assert!(b.machine.queue.held);

    let mut b = Bench::new(Mode::Ask);
    b.feed(Input::Command(SessionCommand::send("hi")));
    b.feed(Input::Command(SessionCommand::Stop));
    b.feed(Input::Deliver("answer".into()));
    assert!(!b.machine.is_running() && b.machine.queue.held, "nothing begins by itself after a stop");
}

#[test]
fn a_spawned_session_is_offered_no_spawn_and_told_what_it_is() {
    let mut b = Bench::with(Mode::Ask, |rules| rules.tools.push((spec("spawn"), true)));
    b.machine.meta.parent = Some(SpawnedBy { session: SessionId::parse("p").unwrap(), call: CallId::new("c") });
    let steps = b.feed(Input::Command(SessionCommand::send("hi")));
    let request = steps.iter().find_map(|step| if let Step::Ask(_, request) = step { Some(request) } else { None });
    let request = request.unwrap();
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(!names.contains(&"spawn") && !names.contains(&"submit_plan") && names.contains(&"read"), "{names:?}");
    assert!(request.system.contains("# You were spawned"));
}

#[test]
fn what_a_child_waits_for_is_the_parents_activity_and_the_way_to_it_stays() {
    let mut b = Bench::with(Mode::Ask, |rules| rules.tools.push((spec("spawn"), true)));
    b.feed(Input::Command(SessionCommand::send("hi")));
    let run = b.run();
    let call = ProposedCall { id: CallId::new("c"), name: "spawn".into(), input: json!({"title": "T"}) };
    b.feed(Input::Chunk(run, Chunk::Call(call)));
    b.feed(Input::Chunk(run, Chunk::Stopped(crate::provider::Stop::Calls)));
    let facts = CallFacts {
        tool: "spawn".into(),
        subject: "T".into(),
        touches: vec![crate::domain::tool::Touch::Inner],
        proposal: Proposal::Plain,
        secrets_here: false,
        left_out: Vec::new(),
    };
    b.feed(Input::Inspected(run, CallId::new("c"), Ok(facts)));
    assert_eq!(b.machine.decided_in(&CallId::new("c")), Some(Mode::Ask));
    let kept = |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::KeepLive(..))).count();
    let steps = b.feed(Input::Child(run, CallId::new("c"), Box::new(child(None)), "read x".into()));
    assert_eq!(kept(&steps), 1, "after a death the way to it is known");
    let steps = b.feed(Input::Child(run, CallId::new("c"), Box::new(child(Some("approve: write"))), "read x".into()));
    assert_eq!(kept(&steps), 0);
    assert_eq!(b.machine.meta.activity, Activity::NeedsYou("T: approve: write".into()));
    b.feed(Input::Command(SessionCommand::Stop));
    let call = b.machine.rows().iter().find_map(|row| row.tool()).unwrap();
    let child = call.figures.child.clone().unwrap();
    assert_eq!((child.session.as_str(), child.waits), ("c", None));
}
