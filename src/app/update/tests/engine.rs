//! Events of the engine, and read marks.

use super::*;
use crate::app::state::Focus;
use crate::app::state::chat::View;
use crate::protocol::{Command, Event, SessionCommand, SessionEvent, TurnEnd};

fn texts(screen: &Screen) -> Vec<String> {
    let chat = &screen.state.current_open().unwrap().chat;
    chat.entries.iter().map(|e| crate::app::state::search::text_of(&e.message.body).concat()).collect()
}

fn keys(screen: &Screen) -> Vec<i64> {
    screen.state.current_open().unwrap().chat.entries.iter().map(|entry| entry.key).collect()
}

fn put(screen: &mut Screen, row: Message) {
    screen.session("s", SessionEvent::Row(Box::new(row)));
}

fn delta(id: &str, add: &str) -> SessionEvent {
    SessionEvent::Delta { id: MessageId::new(id), add: add.to_owned() }
}

#[test]
fn rows_come_grow_change_and_go() {
    let mut screen = Screen::new();
    screen.session("s", SessionEvent::TurnStarted { at: At(NOON) });
    put(&mut screen, user_row("u", "hi"));
    put(&mut screen, assistant_row("m", ""));
    screen.session("s", delta("m", "Hel")).session("s", delta("m", "lo"));
    assert_eq!(texts(&screen), vec!["hi", "Hello"]);
    let before: Vec<u64> = screen.state.current_open().unwrap().chat.entries.iter().map(|e| e.revision).collect();
    put(&mut screen, assistant_row("m", "Hello there"));
    let chat = &screen.state.current_open().unwrap().chat;
    assert_eq!(chat.entries[0].revision, before[0]);
    assert!(chat.entries[1].revision > before[1] && chat.entries[1].live && !chat.entries[0].live);
    assert_eq!(texts(&screen), vec!["hi", "Hello there"]);
    put(&mut screen, assistant_row("x", "half"));
    screen.session("s", SessionEvent::Dropped { id: MessageId::new("x") });
    assert_eq!(texts(&screen), vec!["hi", "Hello there"]);
    screen.session("s", SessionEvent::TurnEnded { end: TurnEnd::Done });
    assert!(screen.state.current_open().unwrap().chat.entries.iter().all(|entry| !entry.live));
    // An id that comes again in another turn is another row.
    put(&mut screen, user_row("u2", "again"));
    put(&mut screen, assistant_row("m", "new"));
    assert_eq!(texts(&screen), vec!["hi", "Hello there", "again", "new"]);
}

#[test]
fn a_session_that_is_not_shown_keeps_the_end_of_a_long_answer_and_asks_for_the_rest_when_it_is() {
    let mut screen = Screen::new();
    screen.session("s", SessionEvent::TurnStarted { at: At(NOON) });
    put(&mut screen, user_row("u", "hi"));
    put(&mut screen, assistant_row("m", "It begins. "));
    screen.session("other", SessionEvent::Opened(Box::new(snapshot(meta("other")))));
    let mut fx = Vec::new();
    session::open(&mut screen.state, &id("other"), &mut fx);
    let line = "words without an end, \u{1f600}\n";
    for _ in 0..10_000 {
        screen.session("s", delta("m", line));
    }
    screen.session("s", delta("m", "the last word"));
    let chat = &screen.state.conversations.open.get(&id("s")).unwrap().chat;
    let kept = crate::app::state::search::text_of(&chat.entries[1].message.body).concat();
    assert!(kept.len() <= 16_384 && kept.ends_with("the last word") && kept.starts_with("words without"), "{kept}");
    fx.clear();
    session::open(&mut screen.state, &id("s"), &mut fx);
    let asked = Effect::Send(Command::Session { id: id("s"), command: SessionCommand::Open { rows: session::ROWS } });
    assert!(fx.contains(&asked), "{fx:?}");
    // The snapshot makes it whole, and it grows on.
    let mut opened = snapshot(meta("s"));
    opened.rows = vec![user_row("u", "hi"), assistant_row("m", "all of it")];
    screen.session("s", SessionEvent::Opened(Box::new(opened))).session("s", delta("m", " and more"));
    assert_eq!(texts(&screen), vec!["hi", "all of it and more"]);
    session::open(&mut screen.state, &id("other"), &mut fx);
    // A row that came whole is not asked for.
    for _ in 0..1000 {
        screen.session("s", delta("m", line));
    }
    put(&mut screen, assistant_row("m", "the whole answer"));
    fx.clear();
    session::open(&mut screen.state, &id("s"), &mut fx);
    assert!(!fx.contains(&asked), "{fx:?}");
    assert_eq!(texts(&screen), vec!["hi", "the whole answer"]);
}

#[test]
fn a_session_that_cannot_be_read_says_so_and_is_asked_for_once_more() {
    let mut screen = Screen::new();
    let mut fx = Vec::new();
    let asked = SessionCommand::Open { rows: session::ROWS };
    let sent = Effect::Send(Command::Session { id: id("broken"), command: asked.clone() });
    session::open(&mut screen.state, &id("broken"), &mut fx);
    screen.session("broken", SessionEvent::Refused { command: Box::new(asked), why: "Gone.".into() });
    let why = |screen: &Screen| screen.state.current_open().unwrap().unreadable.clone();
    assert_eq!(why(&screen).as_deref(), Some("Gone."));
    fx.clear();
    session::open(&mut screen.state, &id("broken"), &mut fx);
    assert!(fx.contains(&sent), "{fx:?}");
    assert_eq!(why(&screen), None);
    fx.clear();
    session::open(&mut screen.state, &id("broken"), &mut fx);
    assert!(!fx.contains(&sent), "it is being read: {fx:?}");
    screen.session("broken", SessionEvent::Opened(Box::new(snapshot(meta("broken")))));
    assert!(screen.state.current_open().unwrap().loaded);
}

#[test]
fn where_somebody_reads_stays_as_it_was_while_another_session_is_shown() {
    let mut screen = Screen::new();
    screen.session("s", SessionEvent::TurnStarted { at: At(NOON) });
    put(&mut screen, user_row("u", "hi"));
    put(&mut screen, assistant_row("m", &"read so far\n".repeat(3000)));
    let key = keys(&screen)[1];
    screen.state.conversations.open.get_mut(&id("s")).unwrap().chat.view = View::At { key, line: 1500 };
    screen.session("other", SessionEvent::Opened(Box::new(snapshot(meta("other")))));
    let mut fx = Vec::new();
    session::open(&mut screen.state, &id("other"), &mut fx);
    screen.session("s", delta("m", "and more"));
    session::open(&mut screen.state, &id("s"), &mut fx);
    assert_eq!(texts(&screen)[1], "read so far\n".repeat(3000));
    assert!(
        fx.contains(&Effect::Send(Command::Session {
            id: id("s"),
            command: SessionCommand::Open { rows: session::ROWS }
        })),
        "{fx:?}"
    );
}

#[test]
fn a_page_before_keeps_the_place() {
    let mut screen = Screen::new();
    let mut opened = snapshot(meta("s"));
    opened.rows = vec![user_row("c", "c"), assistant_row("d", "d")];
    opened.earlier = Some(7);
    screen.session("s", SessionEvent::Opened(Box::new(opened))).draw(false);
    let before = keys(&screen);
    let mut frame = screen.state.screen.frame.clone();
    if let Some(chat) = &mut frame.chat {
        chat.at_top = true;
    }
    screen.keys("pageup").msg(Msg::Drawn(Box::new(frame.clone()))).msg(Msg::Drawn(Box::new(frame)));
    let asked = Command::Session { id: id("s"), command: SessionCommand::Earlier { cursor: 7, rows: session::ROWS } };
    assert_eq!(screen.sent().iter().filter(|command| **command == asked).count(), 1, "asked once");
    let view = screen.state.current_open().unwrap().chat.view;
    screen.session("s", SessionEvent::Page { rows: vec![user_row("a", "a"), assistant_row("b", "b")], earlier: None });
    assert_eq!(texts(&screen), vec!["a", "b", "c", "d"]);
    assert_eq!(keys(&screen)[2..], before[..]);
    assert!(keys(&screen).is_sorted_by(|a, b| a < b));
    assert_eq!(screen.state.current_open().unwrap().chat.view, view);
}

#[test]
fn a_missing_event_asks_for_a_snapshot_once() {
    let mut screen = Screen::new();
    put(&mut screen, user_row("u", "hi"));
    screen.type_text("draft").fx.clear();
    screen.lose("s");
    put(&mut screen, assistant_row("m", "lost before"));
    put(&mut screen, assistant_row("m2", "x"));
    let asked = Command::Session { id: id("s"), command: SessionCommand::Open { rows: session::ROWS } };
    assert_eq!(screen.sent(), vec![asked]);
    assert_eq!(texts(&screen), vec!["hi"]);
    let mut opened = snapshot(meta("s"));
    opened.rows = vec![user_row("u", "hi"), assistant_row("l", "lost"), assistant_row("m", "lost before")];
    opened.draft = "older".to_owned();
    screen.session("s", SessionEvent::Opened(Box::new(opened)));
    put(&mut screen, assistant_row("m3", "after"));
    assert_eq!(texts(&screen), vec!["hi", "lost", "lost before", "after"]);
    assert_eq!(screen.text(), "draft", "what is being written stays");
}

#[test]
fn an_event_seen_before_changes_nothing() {
    let mut screen = Screen::new();
    put(&mut screen, assistant_row("m", "a"));
    let seq = screen.state.current_open().unwrap().seq.unwrap();
    let event = Event::Session { id: id("s"), event: delta("m", "b") };
    let again = Stamped::new(seq, event);
    screen.msg(Msg::Engine(Box::new(again)));
    assert_eq!(texts(&screen), vec!["a"]);
}

#[test]
fn events_of_another_session_never_reach_the_shown_one() {
    let mut screen = Screen::new();
    screen.session("a", SessionEvent::Row(Box::new(user_row("u", "not yours"))));
    screen.session("a", SessionEvent::Asked(Box::new(approval("r"))));
    assert_eq!(texts(&screen), Vec::<String>::new());
    assert!(screen.state.panel().is_none());
}

#[test]
fn a_session_with_another_id_is_the_same() {
    let mut screen = Screen::new();
    screen.type_text("draft").session("s", SessionEvent::Reidentified { to: id("t") });
    assert_eq!((screen.state.current_id(), screen.text().as_str()), (Some(&id("t")), "draft"));
    assert!(screen.state.current_meta().is_some());
    screen.fx.clear();
    screen.keys("enter");
    let sent = Command::Session { id: id("t"), command: SessionCommand::send("draft") };
    assert!(screen.sent().contains(&sent));
}

#[test]
fn the_end_is_followed_only_from_the_end() {
    let mut screen = Screen::new();
    put(&mut screen, user_row("u", "hi"));
    screen.draw(true).keys("pageup").draw(false);
    let view = screen.state.current_open().unwrap().chat.view;
    assert!(matches!(view, View::At { .. }));
    put(&mut screen, assistant_row("m", "long"));
    assert_eq!(screen.state.current_open().unwrap().chat.view, view);
    screen.keys("pagedown").draw(true);
    assert_eq!(screen.state.current_open().unwrap().chat.view, View::End);
    screen.keys("ctrl+x <").draw(false).type_text("x").keys("enter");
    assert_eq!(screen.state.current_open().unwrap().chat.view, View::End, "sending goes to the end");
}

#[test]
fn reading_means_the_end_on_a_screen_in_focus() {
    let mut unread = meta("s");
    unread.unread = true;
    let read = |screen: &mut Screen| screen.acts().contains(&SessionCommand::Read);
    let mut screen = Screen::new();
    screen.msg(Msg::Focus(false)).session("s", SessionEvent::Changed(Box::new(unread.clone()))).draw(true);
    assert!(!read(&mut screen));
    screen.msg(Msg::Focus(true));
    assert!(read(&mut screen));
    let mut screen = Screen::new();
    put(&mut screen, user_row("u", "hi"));
    screen.keys("pageup").draw(false).session("s", SessionEvent::Changed(Box::new(unread)));
    assert!(!read(&mut screen));
    screen.keys("ctrl+x >").draw(true);
    assert!(read(&mut screen));
}

#[test]
fn title_and_bell_only_on_change() {
    let mut screen = Screen::new();
    assert_eq!(screen.state.terminal.title, "lisle");
    let needing = |name: &str| {
        let mut meta = meta(name);
        meta.activity = Activity::NeedsYou("approve: ls".to_owned());
        SessionEvent::Changed(Box::new(meta))
    };
    screen.session("a", needing("a"));
    assert!(screen.fx.contains(&Effect::Title("Title a needs you · lisle".to_owned())));
    assert!(!screen.fx.iter().any(|effect| matches!(effect, Effect::Bell { .. })), "the user is looking");
    screen.msg(Msg::Focus(false)).fx.clear();
    screen.session("b", needing("b")).session("b", needing("b"));
    let titles = screen.fx.iter().filter(|effect| matches!(effect, Effect::Title(_))).count();
    let bells = screen.fx.iter().filter(|effect| matches!(effect, Effect::Bell { .. })).count();
    assert_eq!((titles, bells, screen.state.terminal.title.as_str()), (1, 1, "2 need you · lisle"));
}

#[test]
fn nothing_ticks_when_nothing_runs_and_nobody_looks() {
    let mut screen = Screen::new();
    screen.msg(Msg::Focus(false));
    assert!(screen.fx.contains(&Effect::Disarm(Timer::Tick)));
    screen.fx.clear();
    screen.msg(Msg::Timer(Timer::Notice)).draw(true);
    assert_eq!(screen.fx, vec![]);
}

#[test]
fn an_answer_in_the_conversation_stays_selected_by_jumps() {
    let mut screen = Screen::new();
    for row in [user_row("1", "a"), assistant_row("2", "b"), user_row("3", "c"), assistant_row("4", "d")] {
        put(&mut screen, row);
    }
    screen.draw(true).keys("f6 f6");
    assert_eq!(screen.state.focus, Focus::Chat);
    let at = |screen: &Screen| screen.state.current_open().unwrap().chat.cursor.map(|key| key as usize);
    let first = keys(&screen)[0] as usize;
    screen.keys("[");
    assert_eq!(at(&screen), Some(first + 2));
    screen.keys("[");
    assert_eq!(at(&screen), Some(first));
    screen.keys("] right y");
    assert_eq!(at(&screen), Some(first + 3));
    assert_eq!(screen.fx.last(), Some(&Effect::Copy("d".to_owned())));
    screen.keys("enter");
    assert_eq!(screen.state.current_open().unwrap().chat.toggled.len(), 1);
    screen.keys("/").type_text("A").keys("enter");
    assert_eq!(screen.state.searches.conversation.as_ref().map(|search| search.hits.len()), Some(1));
    assert_eq!(at(&screen), Some(first));
    screen.keys("esc");
    assert!(screen.state.searches.conversation.is_none());
}
