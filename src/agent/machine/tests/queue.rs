//! Operations on queued messages: moved, changed, removed, released; including those that go into
//! the running turn.

use super::*;

/// A turn that runs, with these messages behind it.
fn bench(texts: &[&str]) -> Bench {
    let mut b = Bench::new(Mode::Execute);
    b.send("go");
    for text in texts {
        b.send(text);
    }
    b
}

fn texts(items: &[Queued]) -> String {
    items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn id(b: &Bench, text: &str) -> MessageId {
    let waits = b.machine.waiting().into_iter().find(|item| item.text == text);
    waits.map_or_else(|| MessageId::new("unknown"), |item| item.id)
}

fn edit(b: &mut Bench, edit: QueueEdit) -> Vec<Step> {
    b.act(SessionCommand::Queue(edit))
}

/// Queue as the last of these steps reports it, as `queue | steers`.
fn told(steps: &[Step]) -> Option<String> {
    steps.iter().rev().find_map(|step| match step {
        Step::Emit(SessionEvent::Queue { items, steers, .. }) => Some(format!("{} | {}", texts(items), texts(steers))),
        _ => None,
    })
}

fn on_disk(steps: &[Step]) -> Option<String> {
    steps.iter().rev().find_map(|step| if let Step::KeepQueue(items) = step { Some(texts(items)) } else { None })
}

#[test]
fn a_message_is_moved_to_any_place() {
    for (text, to, after) in [
        ("a", 0, None),
        ("a", 1, Some("b a c")),
        ("a", 2, Some("b c a")),
        ("a", 99, Some("b c a")),
        ("b", 0, Some("b a c")),
        ("b", 2, Some("a c b")),
        ("c", 0, Some("c a b")),
        ("c", 1, Some("a c b")),
        ("c", usize::MAX, None),
        ("no such", 0, None),
    ] {
        for held in [false, true] {
            let mut b = bench(&["a", "b", "c"]);
            if held {
                b.act(SessionCommand::Stop);
            }
            let id = id(&b, text);
            let steps = edit(&mut b, QueueEdit::Move { id, to });
            assert_eq!(texts(&b.machine.queue.items), after.unwrap_or("a b c"), "{text} to {to}");
            // What changed nothing is neither written nor told.
            assert_eq!(on_disk(&steps).as_deref(), after, "{text} to {to}");
            assert_eq!(told(&steps), after.map(|after| format!("{after} | ")), "{text} to {to}");
            assert_eq!(b.machine.queue.held, held, "to move is not to let go");
            assert!(!steps.iter().any(|step| matches!(step, Step::Ask(..))));
        }
    }
}

#[test]
fn the_order_that_was_made_is_the_one_that_is_sent() {
    let mut b = bench(&["a", "b"]);
    let moved = id(&b, "b");
    edit(&mut b, QueueEdit::Move { id: moved, to: 0 });
    b.text("ok");
    let steps = b.stop_with(Stop::Done);
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!("{steps:#?}") };
    assert!(matches!(request.items.last(), Some(ConversationItem::User(said)) if said.text == "b"));
    assert_eq!(texts(&b.machine.queue.items), "a");
}

#[test]
fn a_held_queue_goes_on_in_its_new_order() {
    let mut b = bench(&["a", "b"]);
    b.act(SessionCommand::Stop);
    let moved = id(&b, "a");
    edit(&mut b, QueueEdit::Move { id: moved, to: 1 });
    let run = b.run();
    b.feed(Input::Reaped(run));
    let steps = edit(&mut b, QueueEdit::Release);
    assert!(b.machine.is_running());
    assert_eq!(told(&steps).as_deref(), Some("a | "));
    assert!(!b.machine.queue.held);
}

#[test]
fn the_last_one_taken_out_ends_the_holding() {
    let mut b = bench(&["a"]);
    b.act(SessionCommand::Stop);
    assert!(b.machine.queue.held);
    let gone = id(&b, "a");
    edit(&mut b, QueueEdit::Remove { id: gone });
    assert!(!b.machine.queue.held && b.machine.queue.items.is_empty());
}

#[test]
fn what_goes_into_the_turn_is_told_changed_and_taken_out() {
    let mut b = bench(&["later"]);
    b.calls(&[("a", "bash")]);
    b.found("a", command("make"));
    assert_eq!(told(&b.act(SessionCommand::steer("one"))).as_deref(), Some("later | one"));
    assert_eq!(told(&b.act(SessionCommand::steer("two"))).as_deref(), Some("later | one two"));
    assert_eq!(b.machine.steers().len(), 2);
    // Its order is not changed.
    let two = id(&b, "two");
    assert_eq!(told(&edit(&mut b, QueueEdit::Move { id: two.clone(), to: 0 })), None);
    let steps = edit(&mut b, QueueEdit::Replace { id: two, text: "zwei".into() });
    assert_eq!(
        (told(&steps).as_deref(), on_disk(&steps).as_deref()),
        (Some("later | one zwei"), Some("one zwei later"))
    );
    let one = id(&b, "one");
    let steps = edit(&mut b, QueueEdit::Remove { id: one });
    assert_eq!((told(&steps).as_deref(), on_disk(&steps).as_deref()), (Some("later | zwei"), Some("zwei later")));
    // With the results only what is left goes in, and the screen is told that nothing waits for them any more.
    let steps = b.ran("a", "done");
    let Some(Step::Ask(_, request)) = steps.iter().find(|s| matches!(s, Step::Ask(..))) else { panic!("{steps:#?}") };
    let said = |item: &&ConversationItem| matches!(item, ConversationItem::User(said) if said.text == "one" || said.text == "zwei");
    assert_eq!(request.items.iter().filter(said).count(), 1);
    assert_eq!(told(&steps).as_deref(), Some("later | "));
}

#[test]
fn what_did_not_go_in_any_more_waits_first_in_the_queue() {
    let mut b = bench(&["later"]);
    b.calls(&[("a", "bash")]);
    b.found("a", command("make"));
    b.act(SessionCommand::steer("one"));
    let steps = b.act(SessionCommand::Stop);
    assert_eq!(told(&steps).as_deref(), Some("one later | "));
    assert!(b.machine.queue.held && b.machine.steers().is_empty());
}
