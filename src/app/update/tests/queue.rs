//! The list of what waits: selected, taken back, moved, deleted, let go; files opened.

use super::attach::file;
use super::*;
use crate::app::effect::Effect;
use crate::app::msg::{Mouse, MouseKind};
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::protocol::{QueueEdit, SessionCommand, SessionEvent};

fn queued(id: &str) -> Queued {
    Queued {
        id: MessageId::new(id),
        text: format!("text {id}"),
        at: At(NOON),
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    }
}

fn event(items: &[&str], held: bool, steers: &[&str]) -> SessionEvent {
    let of = |ids: &[&str]| ids.iter().map(|id| queued(id)).collect();
    SessionEvent::Queue { items: of(items), held, steers: of(steers) }
}

fn screen(items: &[&str], held: bool, steers: &[&str]) -> Screen {
    let mut screen = Screen::new();
    screen.session("s", event(items, held, steers));
    screen.type_text("/queue").keys("enter");
    screen.acts();
    screen
}

fn selected(screen: &Screen) -> Option<&str> {
    match screen.state.overlay() {
        Some(Overlay::Queue(card)) => card.selected.as_ref().map(MessageId::as_str),
        _ => None,
    }
}

fn order(screen: &Screen) -> String {
    let open = screen.state.current_open().unwrap();
    open.waiting().map(|item| item.id.as_str()).collect::<Vec<_>>().join(" ")
}

fn remove(id: &str) -> SessionCommand {
    SessionCommand::Queue(QueueEdit::Remove { id: MessageId::new(id) })
}

#[test]
fn it_opens_at_the_last_one_and_not_where_nothing_waits() {
    let mut screen = screen(&["a", "b"], false, &["s1"]);
    assert_eq!(selected(&screen), Some("b"));
    screen.keys("k");
    assert_eq!(selected(&screen), Some("a"));
    screen.keys("up up up");
    assert_eq!(selected(&screen), Some("s1"));
    screen.keys("j");
    assert_eq!(selected(&screen), Some("a"));
    screen.keys("esc");
    assert!(screen.state.overlay().is_none());
    screen.session("s", event(&[], false, &[])).keys("ctrl+x u");
    assert!(screen.state.overlay().is_none());
    assert!(screen.state.notices.iter().any(|n| n.text.contains("Queue empty")));
}

#[test]
fn enter_and_e_take_the_message_back() {
    for key in ["enter", "e"] {
        let mut screen = screen(&["a", "b"], false, &["s1"]);
        screen.keys("k").keys(key);
        assert_eq!((screen.text().as_str(), screen.acts()), ("text a", vec![remove("a")]), "{key}");
        assert!(screen.state.overlay().is_none());
        assert_eq!(order(&screen), "s1 b");
    }
    // One that would go into the turn as well.
    let mut screen = screen(&[], false, &["s1"]);
    screen.keys("enter");
    assert_eq!((screen.text().as_str(), screen.acts()), ("text s1", vec![remove("s1")]));
}

#[test]
fn messages_change_places_and_those_of_the_turn_do_not() {
    let shift = |id: &str, to| SessionCommand::Queue(QueueEdit::Move { id: MessageId::new(id), to });
    for (start, keys, acts, after) in [
        ("c", "K", vec![shift("c", 1)], "s1 a c b"),
        ("c", "[ [ [", vec![shift("c", 1), shift("c", 0)], "s1 c a b"),
        ("c", "J", vec![], "s1 a b c"),
        ("a", "]", vec![shift("a", 1)], "s1 b a c"),
        ("a", "shift+up", vec![], "s1 a b c"),
        ("a", "ctrl+down", vec![shift("a", 1)], "s1 b a c"),
        ("s1", "J", vec![], "s1 a b c"),
    ] {
        let mut screen = screen(&["a", "b", "c"], true, &["s1"]);
        while selected(&screen) != Some(start) {
            screen.keys("k");
        }
        screen.keys(keys);
        assert_eq!((screen.acts(), order(&screen).as_str()), (acts, after), "{start} {keys}");
        assert_eq!(selected(&screen), Some(start), "the selection goes along");
    }
}

#[test]
fn d_deletes_with_the_files() {
    let mut screen = Screen::new();
    let item = Queued { attachments: vec![file("a.png"), file("b.png")], ..queued("b") };
    screen.session("s", SessionEvent::Queue { items: vec![queued("a"), item], held: true, steers: vec![] });
    screen.keys("ctrl+x u d");
    let detach = |name: &str| SessionCommand::Detach { path: file(name).path };
    assert_eq!(screen.acts(), [remove("b"), detach("a.png"), detach("b.png")]);
    assert_eq!((selected(&screen), order(&screen).as_str()), (Some("a"), "a"));
    assert_eq!(screen.text(), "", "nothing is written");
    screen.keys("d");
    assert_eq!(screen.acts(), [remove("a")]);
    assert!(screen.state.overlay().is_none(), "with the last one it closes");
}

#[test]
fn space_lets_a_held_queue_go_once() {
    let mut screen = screen(&["a"], true, &[]);
    screen.keys("space space");
    assert_eq!(screen.acts(), [SessionCommand::Queue(QueueEdit::Release)]);
    // The message is sent: the list has nothing to show.
    screen.session("s", event(&[], false, &[]));
    assert!(screen.state.overlay().is_none());
}

#[test]
fn what_was_sent_meanwhile_leaves_the_selection_in_its_place() {
    let mut screen = screen(&["a", "b", "c"], false, &[]);
    screen.keys("k k");
    assert_eq!(selected(&screen), Some("a"));
    screen.session("s", event(&["b", "c"], false, &[]));
    assert_eq!(selected(&screen), Some("b"));
    screen.keys("j");
    screen.session("s", event(&["c"], false, &[]));
    assert_eq!(selected(&screen), Some("c"));
    // Another session's queue is none of it.
    screen.session("a", event(&[], false, &[]));
    assert_eq!(selected(&screen), Some("c"));
}

#[test]
fn a_click_on_a_row_above_the_draft_opens_the_list_at_it() {
    let mut screen = Screen::new();
    screen.session("s", event(&["a", "b"], false, &[]));
    let click = |screen: &mut Screen, target: Target| {
        let areas = vec![(Area { x: 0, y: 5, w: 80, h: 1 }, target)];
        screen.msg(Msg::Drawn(Box::new(Frame { areas, overlay_rows: 10, ..Frame::default() })));
        screen.msg(Msg::Mouse(Mouse { kind: MouseKind::Press, col: 3, row: 5 }));
    };
    click(&mut screen, Target::Queued(MessageId::new("a")));
    assert_eq!(screen.acts(), vec![]);
    assert_eq!(selected(&screen), Some("a"));
    // A first click on a row selects it, the second takes it back.
    click(&mut screen, Target::OverlayRow(1));
    assert_eq!(screen.acts(), vec![]);
    assert_eq!(selected(&screen), Some("b"));
    click(&mut screen, Target::OverlayRow(1));
    assert_eq!((screen.text().as_str(), screen.acts()), ("text b", vec![remove("b")]));
}

#[test]
fn files_are_opened_from_the_list_and_from_the_draft() {
    let mut screen = Screen::new();
    let item = Queued { attachments: vec![file("a.png"), file("b.png")], ..queued("a") };
    screen.session("s", SessionEvent::Queue { items: vec![item], held: false, steers: vec![] });
    // Of several one is chosen, and the list stays below.
    screen.keys("ctrl+x u o");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(picker)) if picker.kind == Kind::File));
    screen.keys("down enter");
    assert!(screen.fx.contains(&Effect::View(Box::new(file("b.png")))));
    assert_eq!(selected(&screen), Some("a"));
    screen.keys("e").fx.clear();
    screen.state.composer_mut().files_mut().pop();
    screen.keys("ctrl+x ctrl+o");
    assert!(screen.fx.contains(&Effect::View(Box::new(file("a.png")))));
}
