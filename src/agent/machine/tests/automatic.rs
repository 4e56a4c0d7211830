//! Automatic changes: statuses and labels, and the message left by a crash.

use super::*;

fn status(id: &str, closed: bool) -> crate::domain::property::Status {
    use crate::domain::property::{Category, Status};
    let category = if closed { Category::Closed } else { Category::Open };
    Status {
        id: id.into(),
        label: id.into(),
        color: None,
        icon: None,
        category,
        order: 0,
        fixed: false,
        default: false,
    }
}

/// A status of this name; one with a `!` is closed.
pub(super) fn status_of(name: &str) -> crate::domain::property::Status {
    status(name.trim_end_matches('!'), name.ends_with('!'))
}

/// A bench whose workspace has these statuses; a name with a `!` is closed.
fn automatic(statuses: &[&str]) -> Bench {
    let mut b = Bench::new(Mode::Ask);
    let statuses = statuses.iter().map(|id| status(id.trim_end_matches('!'), id.ends_with('!'))).collect();
    let label = |id: &str| Label {
        id: id.into(),
        name: id.into(),
        color: None,
        value_type: None,
        children: vec![],
        rules: vec![AutoRule { pattern: format!(r"{id}-(\d+)"), flags: None, value_template: None, description: None }],
    };
    let labels = std::sync::Arc::new(AutoLabels::new(&[label("bug"), label("ticket")]));
    b.machine.set_automatic(Automatic { statuses, labels });
    b
}

const USUAL: [&str; 5] = ["todo", "in-progress", "needs-review", "done!", "cancelled!"];

#[test]
fn the_status_follows_the_work_only_where_it_may() {
    let by_user = |to: &str| Some(Input::Change(PropertyChange::Status(to.into())));
    for (statuses, first, during, answer, after) in [
        (&USUAL[..], "todo", None, "Done.", "in-progress"),
        (&USUAL, "todo", None, "Shall I go on?", "needs-review"),
        (&USUAL, "backlog", None, "Shall I?", "backlog"),
        (&USUAL, "done", None, "Shall I?", "done"),
        (&USUAL, "in-progress", None, "Shall I?", "needs-review"),
        (&USUAL, "todo", by_user("todo"), "Shall I?", "todo"),
        (&USUAL, "todo", by_user("done"), "Shall I?", "done"),
        (&["todo", "needs-review", "done!"], "todo", None, "Done.", "todo"),
        (&["todo", "needs-review", "done!"], "todo", None, "Shall I?", "needs-review"),
        (&["todo", "in-progress", "done!"], "todo", None, "Shall I?", "in-progress"),
        (&[], "todo", None, "Shall I?", "todo"),
    ] {
        let mut b = automatic(statuses);
        b.machine.meta.status = first.into();
        b.send("hello");
        if let Some(change) = during.clone() {
            b.feed(change);
        }
        b.text(answer);
        b.stop_with(Stop::Done);
        assert_eq!(b.machine.meta.status, after, "{statuses:?} {first} {during:?} {answer}");
    }
}

#[test]
fn what_the_user_set_counts_for_one_turn_and_later_messages_are_not_the_first() {
    let mut b = automatic(&USUAL);
    b.send("one");
    b.feed(Input::Change(PropertyChange::Status("todo".into())));
    b.text("ok?");
    b.stop_with(Stop::Done);
    assert_eq!(b.machine.meta.status, "todo");
    b.send("two");
    assert_eq!(b.machine.meta.status, "todo", "not the first message");
    b.text("And now?");
    let steps = b.stop_with(Stop::Done);
    assert_eq!(b.machine.meta.status, "needs-review");
    assert!(
        steps.iter().any(|s| matches!(s, Step::Emit(SessionEvent::Changed(meta)) if meta.status == "needs-review"))
    );
}

#[test]
fn a_plan_needs_review_and_a_stopped_turn_does_not() {
    let mut b = automatic(&USUAL);
    b.send("go");
    b.text("Shall I?");
    b.act(SessionCommand::Stop);
    assert_eq!(b.machine.meta.status, "in-progress");
    let mut b = automatic(&USUAL);
    b.send("go");
    b.calls(&[("p", "submit_plan")]);
    b.found("p", CallFacts { tool: "submit_plan".into(), ..read("/s/plans/p.md") });
    let mut outcome = Outcome::ok("submitted");
    outcome.then = Then::Plan { path: "/s/plans/p.md".into(), title: "P".into(), markdown: "# P".into() };
    let run = b.run();
    let steps = b.feed(Input::Ran(run, CallId::new("p"), Box::new(Ok(outcome))));
    assert_eq!(ended(&steps), Some(TurnEnd::Plan));
    assert_eq!(b.machine.meta.status, "needs-review");
}

#[test]
fn messages_that_begin_a_turn_give_labels_once_and_steering_gives_none() {
    let mut b = automatic(&USUAL);
    b.machine.meta.labels = vec!["bug::7".into()];
    b.send("fix BUG-7, bug-8 and ticket-12, not `bug-9`");
    assert_eq!(b.machine.meta.labels, ["bug::7", "bug::8", "ticket::12"]);
    b.send("then ticket-13");
    assert_eq!(b.machine.meta.labels.len(), 3, "it waits");
    b.act(SessionCommand::steer("and bug-99"));
    b.text("ok");
    b.stop_with(Stop::Done);
    b.text("ok");
    b.stop_with(Stop::Done);
    assert_eq!(b.machine.meta.labels, ["bug::7", "bug::8", "ticket::12", "ticket::13"]);
    let mut b = automatic(&USUAL);
    b.machine.meta.labels = vec!["x".repeat(1990)];
    b.send("bug-1 bug-22222222");
    assert_eq!(b.machine.meta.labels[1..], ["bug::1"], "the header has only so much room");
}

#[test]
fn a_change_by_the_user_is_kept_at_once_and_no_change_is_not_kept() {
    let mut b = automatic(&USUAL);
    let steps = b.feed(Input::Change(PropertyChange::Flagged(true)));
    assert_eq!(position(&steps, |s| matches!(s, Step::KeepMeta(Safety::Synced))), 0);
    assert!(matches!(&steps[1], Step::Emit(SessionEvent::Changed(meta)) if meta.flagged));
    assert_eq!(b.feed(Input::Change(PropertyChange::Flagged(true))), vec![]);
    b.send("hi");
    b.text("yes");
    b.stop_with(Stop::Done);
    let last = b.machine.rows().last().unwrap().id.clone();
    assert_eq!((b.machine.meta.unread, &b.machine.meta.last_read), (true, &None));
    b.act(SessionCommand::Read);
    assert_eq!((b.machine.meta.unread, b.machine.meta.last_read.clone()), (false, Some(last.clone())));
    b.feed(Input::Change(PropertyChange::Unread(true)));
    b.feed(Input::Change(PropertyChange::Unread(false)));
    assert_eq!((b.machine.meta.unread, b.machine.meta.last_read.clone()), (false, Some(last)));
}

/// A machine whose program died while this waited, and at which somebody looks: what it did then.
fn died(change: impl Fn(&mut Machine)) -> (Bench, Vec<Step>) {
    let mut b = Bench::new(Mode::Ask);
    b.machine.queue.items = vec![Queued {
        id: MessageId::new("q"),
        text: "waited".into(),
        at: At(5),
        redelivered: true,
        attachments: Vec::new(),
        piped: None,
        client: None,
    }];
    b.machine.queue.held = true;
    b.machine.automation.set_redelivers(true);
    change(&mut b.machine);
    let steps = b.feed(Input::Look);
    (b, steps)
}

#[test]
fn what_a_death_left_is_sent_after_a_visible_while() {
    let (mut b, steps) = died(|_| {});
    let at = b.now.plus(REDELIVERED_AFTER_MS);
    assert_eq!(steps, [Step::RedeliverAt(at), Step::Emit(SessionEvent::Redelivering { at: Some(at) })]);
    assert_eq!(b.machine.redelivery(), Some(at));
    assert_eq!(b.feed(Input::Look), vec![], "looking again begins nothing anew");
    b.act(SessionCommand::Read);
    assert_eq!(b.feed(Input::Redeliver(at.plus(1))), vec![], "not this time");
    let steps = b.feed(Input::Redeliver(at));
    assert_eq!(steps[0], Step::Emit(SessionEvent::Redelivering { at: None }));
    assert!(sends(&steps) && matches!(&kept(&steps)[0].body, Body::User(said) if said.text == "waited"));
    assert_eq!(b.machine.rows()[0].id.as_str(), "q");
}

#[test]
fn whatever_the_user_does_holds_what_a_death_left() {
    for act in [
        SessionCommand::draft("x"),
        SessionCommand::Queue(QueueEdit::Hold),
        SessionCommand::Queue(QueueEdit::Replace { id: MessageId::new("q"), text: "other".into() }),
        SessionCommand::Stop,
        SessionCommand::Thinking(crate::domain::session::ThinkingLevel::High),
    ] {
        let (mut b, _) = died(|_| {});
        let at = b.machine.redelivery().unwrap();
        let steps = b.act(act.clone());
        assert_eq!(steps[0], Step::Emit(SessionEvent::Redelivering { at: None }), "{act:?}");
        assert!(!sends(&b.feed(Input::Redeliver(at))), "{act:?}");
        assert!(b.machine.queue.held && b.machine.queue.items.len() == 1, "{act:?}");
        assert_eq!(b.feed(Input::Look), vec![], "{act:?}: held stays held");
        assert!(sends(&b.act(SessionCommand::Queue(QueueEdit::Release))), "{act:?}");
    }
    let (mut b, _) = died(|_| {});
    let steps = b.send("first this");
    assert!(matches!(&kept(&steps)[0].body, Body::User(said) if said.text == "first this"));
    assert_eq!((b.machine.redelivery(), b.machine.queue.items.len()), (None, 1));
}

#[test]
fn nothing_goes_by_itself_that_may_not() {
    for (why, steps) in [
        ("it may not", died(|m| m.automation.set_redelivers(false)).1),
        ("nothing pending", died(|m| m.queue = Queue::default()).1),
        ("nobody looks", died(|m| m.config.headless = true).1),
    ] {
        assert_eq!(steps, vec![], "{why}");
    }
}
