//! Marking with the mouse and with keys, blocks of code in focus, files that are named, and rows that are let go.

use super::*;
use crate::app::msg::{Mouse, MouseKind};
use crate::app::state::Focus;
use crate::app::state::chat::View;
use crate::app::state::mark::{Marked, Place, Spot, Unit};

const ANSWER: &str = "See src/a.rs:42.\n\n```rust\nfn one() {}\n```\n\nand\n\n```\ntwo\n```\n";

/// A session with a question, an answer and a call, drawn.
fn talk() -> Screen {
    let mut screen = Screen::new();
    let call = crate::domain::tool::ToolCall {
        id: CallId::new("c"),
        name: "read".to_owned(),
        input: serde_json::Value::Null,
        subject: "src/b.rs".to_owned(),
        status: crate::domain::tool::ToolStatus::Completed,
        result: Some("1\tx".to_owned()),
        millis: None,
        figures: Default::default(),
        decision: None,
    };
    let rows = vec![user_row("m0", "ask"), assistant_row("m1", ANSWER), row("m2", Body::Tool(Box::new(call)))];
    screen.session("s", SessionEvent::Opened(Box::new(Opened { rows, ..snapshot(meta("s")) })));
    screen.draw(true);
    screen.fx.clear();
    screen
}

fn keys(screen: &Screen) -> Vec<i64> {
    screen.state.current_open().unwrap().chat.entries.iter().map(|entry| entry.key).collect()
}

fn spot(key: i64, line: u32, at: u32) -> Spot {
    Spot { key, line, sign: (at, at + 1), word: (at, at + 4), len: 20 }
}

impl Screen {
    fn mouse(&mut self, kind: MouseKind, (col, row): (u16, u16), spot: Option<Spot>) -> &mut Self {
        self.msg(Msg::Spot(spot)).msg(Msg::Mouse(Mouse { kind, col, row }))
    }

    /// A frame as the drawing would give it.
    fn frame(&mut self, marked: Marked) -> &mut Self {
        let mut frame = self.state.screen.frame.clone();
        frame.marked = marked;
        self.msg(Msg::Drawn(Box::new(frame)))
    }

    fn mark(&self) -> Option<(Place, Place)> {
        self.state.current_open().unwrap().chat.mark.map(|mark| mark.range())
    }

    fn copied(&mut self) -> Vec<String> {
        let copied = |effect: Effect| if let Effect::Copy(text) = effect { Some(text) } else { None };
        std::mem::take(&mut self.fx).into_iter().filter_map(copied).collect()
    }
}

#[test]
fn a_drag_marks_and_its_release_copies() {
    let mut screen = talk();
    let key = keys(&screen)[1];
    screen.mouse(MouseKind::Press, (50, 5), Some(spot(key, 0, 2)));
    assert_eq!((screen.state.focus, screen.mark()), (Focus::Chat, None), "a press alone marks nothing");
    screen.mouse(MouseKind::Drag, (50, 5), Some(spot(key, 0, 2)));
    assert_eq!(screen.mark(), None, "nor does one that stays in its cell");
    screen.mouse(MouseKind::Drag, (60, 7), Some(spot(key, 2, 3)));
    let place = |line, at| Place { key, line, at };
    assert_eq!(screen.mark(), Some((place(0, 2), place(2, 4))));
    screen.mouse(MouseKind::Release, (60, 7), Some(spot(key, 2, 3)));
    assert!(screen.state.current_open().unwrap().chat.mark.unwrap().wanted);
    screen.frame(Marked { text: Some("marked text".to_owned()), ..Marked::default() });
    assert_eq!(screen.copied(), ["marked text"]);
    assert!(screen.mark().is_some(), "it stays on the screen");
    screen.draw(true);
    assert_eq!(screen.copied(), Vec::<String>::new(), "it is copied once");
    screen.keys("esc");
    assert_eq!((screen.mark(), screen.state.focus), (None, Focus::Chat), "Esc takes only the mark");
}

#[test]
fn what_the_mouse_marked_goes_with_the_next_key_or_click() {
    for (last, stays) in [("j", false), ("y", true), ("x", false)] {
        let mut screen = talk();
        let key = keys(&screen)[1];
        screen.mouse(MouseKind::Press, (50, 5), Some(spot(key, 0, 2)));
        screen.mouse(MouseKind::Drag, (60, 7), Some(spot(key, 2, 3)));
        screen.mouse(MouseKind::Release, (60, 7), None).frame(Marked::default()).keys(last);
        assert_eq!(screen.mark().is_some(), stays, "{last}");
    }
    let mut screen = talk();
    let key = keys(&screen)[1];
    screen.mouse(MouseKind::Press, (50, 5), Some(spot(key, 0, 2)));
    screen.mouse(MouseKind::Drag, (60, 7), Some(spot(key, 2, 3))).mouse(MouseKind::Release, (60, 7), None);
    screen.mouse(MouseKind::Press, (50, 37), Some(spot(key, 3, 3)));
    assert_eq!((screen.mark(), screen.state.focus), (None, Focus::Composer));
    // A drag that begins in another place marks nothing here.
    screen.mouse(MouseKind::Drag, (60, 7), Some(spot(key, 2, 3))).mouse(MouseKind::Release, (60, 7), None);
    assert_eq!(screen.mark(), None);
}

#[test]
fn the_end_is_followed_again_when_the_mark_is_gone() {
    let view = |screen: &Screen| screen.state.current_open().unwrap().chat.view;
    for scrolls in [false, true] {
        let mut screen = talk();
        let key = keys(&screen)[1];
        screen.mouse(MouseKind::Press, (50, 5), Some(spot(key, 0, 2)));
        assert_eq!(view(&screen), View::End);
        screen.mouse(MouseKind::Drag, (60, 7), Some(spot(key, 2, 3))).mouse(MouseKind::Release, (60, 7), None);
        screen.draw(false);
        assert!(matches!(view(&screen), View::At { .. }), "what is marked stays while more comes in");
        if scrolls {
            screen.mouse(MouseKind::WheelUp, (60, 7), None);
        }
        screen.keys("esc");
        assert_eq!(view(&screen) == View::End, !scrolls, "scrolled: {scrolls}");
    }
}

#[test]
fn two_presses_mark_a_word_and_three_a_line() {
    let mut screen = talk();
    let key = keys(&screen)[1];
    let at = Some(spot(key, 0, 2));
    let click = |screen: &mut Screen| {
        screen.mouse(MouseKind::Press, (50, 5), at).mouse(MouseKind::Release, (50, 5), at);
    };
    click(&mut screen);
    assert_eq!(screen.mark(), None);
    click(&mut screen);
    let place = |at| Place { key, line: 0, at };
    assert_eq!(screen.mark(), Some((place(2), place(6))));
    screen.wait(100);
    click(&mut screen);
    assert_eq!(screen.mark(), Some((place(0), place(u32::MAX))));
    screen.wait(1_000);
    click(&mut screen);
    assert_eq!(screen.mark(), None, "much later it is a click again");
    // A drag after two presses goes by words.
    click(&mut screen);
    screen.wait(1_000).mouse(MouseKind::Press, (50, 5), at).mouse(MouseKind::Release, (50, 5), at);
    screen.mouse(MouseKind::Press, (50, 5), at).mouse(MouseKind::Drag, (58, 5), Some(spot(key, 0, 10)));
    assert_eq!(screen.mark(), Some((place(2), place(14))));
}

#[test]
fn over_an_edge_it_scrolls_on_while_the_button_is_down() {
    let mut screen = talk();
    let key = keys(&screen)[1];
    screen.mouse(MouseKind::Press, (50, 5), Some(spot(key, 0, 2)));
    screen.mouse(MouseKind::Drag, (50, 31), Some(spot(key, 4, 0)));
    assert!(screen.fx.contains(&Effect::Arm { timer: Timer::Pull, ms: 50 }), "{:?}", screen.fx);
    screen.fx.clear();
    let View::At { line: before, .. } = screen.state.current_open().unwrap().chat.view else {
        panic!("it is followed")
    };
    screen.msg(Msg::Timer(Timer::Pull));
    let View::At { line, .. } = screen.state.current_open().unwrap().chat.view else { panic!("it is followed") };
    assert!(line > before && screen.fx.contains(&Effect::Arm { timer: Timer::Pull, ms: 50 }));
    screen.frame(Marked { seen: Some((spot(key, 1, 0), spot(key, 6, 3))), ..Marked::default() });
    assert_eq!(screen.mark().unwrap().1, Place { key, line: 6, at: 4 }, "the mark goes to what came on the pane");
    screen.mouse(MouseKind::Release, (50, 31), None);
    assert!(screen.fx.contains(&Effect::Disarm(Timer::Pull)));
    screen.fx.clear();
    screen.msg(Msg::Timer(Timer::Pull));
    assert!(!screen.fx.iter().any(|fx| matches!(fx, Effect::Arm { timer: Timer::Pull, .. })), "a late beat");
}

#[test]
fn keys_mark_lines() {
    let mut screen = talk();
    let key = keys(&screen)[1];
    screen.keys("f6 f6");
    screen.state.focus = Focus::Chat;
    screen.state.current_open_mut().unwrap().chat.cursor = Some(key);
    screen.frame(Marked { seen: Some((spot(key - 1, 0, 0), spot(key + 1, 1, 0))), ..Marked::default() }).keys("v j j");
    let mark = screen.state.current_open().unwrap().chat.mark.unwrap();
    assert_eq!(
        (mark.by_keys, mark.steps, mark.unit, mark.anchor.0),
        (true, 2, Unit::Line, Place { key, line: 0, at: 0 })
    );
    let head = Place { key, line: 2, at: 0 };
    screen.frame(Marked { head: Some(((head, head), 2)), ..Marked::default() });
    assert_eq!(screen.mark().unwrap().1, Place { key, line: 2, at: u32::MAX });
    screen.keys("y").frame(Marked { text: Some("two lines".to_owned()), ..Marked::default() });
    assert_eq!((screen.copied(), screen.mark()), (vec!["two lines".to_owned()], None), "what was copied is left");
    for leaves in ["esc", "v", "f6"] {
        screen.state.focus = Focus::Chat;
        screen.keys("v").keys(leaves);
        assert_eq!(screen.mark(), None, "{leaves}");
    }
}

#[test]
fn a_block_of_code_has_the_focus() {
    let mut screen = talk();
    screen.state.focus = Focus::Chat;
    let focus = |screen: &Screen| {
        let chat = &screen.state.current_open().unwrap().chat;
        (chat.cursor, chat.block)
    };
    let key = keys(&screen)[1];
    screen.keys("(");
    assert_eq!(focus(&screen), (Some(key), Some(1)), "the last one first, from the end");
    screen.keys("y");
    assert_eq!(screen.copied(), ["two\n"]);
    screen.keys("(").keys("y");
    assert_eq!(screen.copied(), ["fn one() {}\n"]);
    screen.keys("o");
    assert!(screen.fx.contains(&Effect::ShowCode { text: "fn one() {}\n".to_owned(), ending: "rs".to_owned() }));
    screen.keys("(");
    assert_eq!(focus(&screen), (Some(key), Some(0)), "there is none before it");
    assert!(screen.last_notice().contains("further up"), "{}", screen.last_notice());
    screen.keys(") J");
    assert_eq!(focus(&screen), (Some(key + 1), None), "another entry has no block in focus");
}

#[test]
fn the_file_that_an_entry_names_is_edited_at_its_line() {
    let mut screen = talk();
    screen.state.focus = Focus::Chat;
    let edited = |screen: &mut Screen| {
        let edited = |effect| if let Effect::EditFile { path, line } = effect { Some((path, line)) } else { None };
        std::mem::take(&mut screen.fx).into_iter().filter_map(edited).collect::<Vec<_>>()
    };
    screen.keys("e");
    assert_eq!(edited(&mut screen), [(PathBuf::from("/w/src/a.rs"), Some(42))]);
    screen.keys("K e");
    assert_eq!(edited(&mut screen), [(PathBuf::from("/w/src/b.rs"), None)], "the call's own");
    screen.keys("[ e");
    assert_eq!(edited(&mut screen), []);
    assert!(screen.last_notice().contains("No file of"), "{}", screen.last_notice());
}

#[test]
fn the_mouse_is_given_and_taken_back() {
    let mut screen = talk();
    screen.keys("ctrl+x x");
    assert!(screen.fx.contains(&Effect::Mouse { ours: false }) && screen.last_notice().contains("ctrl+x x"));
    screen.fx.clear();
    screen.keys("ctrl+x x");
    assert!(screen.fx.contains(&Effect::Mouse { ours: true }));
}

#[test]
fn far_rows_are_let_go_and_asked_for_again() {
    let mut screen = Screen::new();
    let page = |from: usize| (from..from + 200).map(|n| user_row(&format!("m{n}"), "x")).collect::<Vec<_>>();
    let rows = page(99_800);
    screen.session("s", SessionEvent::Opened(Box::new(Opened { rows, earlier: Some(998), ..snapshot(meta("s")) })));
    for n in (900..998).rev() {
        // Who reads at the top of what is loaded gets what is before it.
        let chat = &mut screen.state.current_open_mut().unwrap().chat;
        let top = chat.entries.front().unwrap().key;
        chat.view = View::At { key: top, line: 0 };
        screen.session("s", SessionEvent::Page { rows: page(n * 100), earlier: Some(n as u64) });
        let chat = &screen.state.current_open().unwrap().chat;
        assert!(chat.entries.len() <= 2_600 && chat.place(top).is_some(), "{}", chat.entries.len());
    }
    let chat = &screen.state.current_open().unwrap().chat;
    let (last, later) = (chat.entries.back().unwrap().message.id.clone(), chat.later.unwrap());
    // The cursor is where the page after the last row began: a page of cursor n has the rows from n * 100 on.
    assert_eq!(last, MessageId::new(format!("m{}", (later - 1) * 100 + 199)));
    assert_eq!(chat.earlier, Some(900));
    // And down again.
    for _ in 0..30 {
        let chat = &mut screen.state.current_open_mut().unwrap().chat;
        let bottom = chat.entries.back().unwrap().key;
        chat.view = View::At { key: bottom, line: 0 };
        let later = chat.later.unwrap();
        screen.session("s", SessionEvent::LaterPage { rows: page(later as usize * 100), later: Some(later + 1) });
        let chat = &screen.state.current_open().unwrap().chat;
        assert!(chat.entries.len() <= 2_600 && chat.place(bottom).is_some());
    }
    let chat = &screen.state.current_open().unwrap().chat;
    let first = chat.entries.front().unwrap().message.id.clone();
    assert_eq!(first, MessageId::new(format!("m{}", chat.earlier.unwrap() * 100)));
}

#[test]
fn the_beginning_of_a_long_conversation_is_asked_for() {
    let mut screen = Screen::new();
    let rows = vec![user_row("m8", "x"), user_row("m9", "y")];
    screen.session("s", SessionEvent::Opened(Box::new(Opened { rows, earlier: Some(80), ..snapshot(meta("s")) })));
    screen.draw(true).fx.clear();
    screen.keys("ctrl+x <");
    let rows = super::session::ROWS;
    assert!(screen.sent().contains(&Command::Session { id: id("s"), command: SessionCommand::OpenAt { at: 0, rows } }));
    let rows = vec![user_row("m0", "a"), user_row("m1", "b")];
    screen.session("s", SessionEvent::Opened(Box::new(Opened { rows, later: Some(20), ..snapshot(meta("s")) })));
    let chat = &screen.state.current_open().unwrap().chat;
    assert_eq!(chat.view, View::At { key: chat.entries.front().unwrap().key, line: 0 });
}

#[test]
fn a_click_on_a_fold_mark_folds_and_one_on_a_link_opens_it() {
    use crate::app::msg::{Area, Target};
    let mut screen = talk();
    let key = keys(&screen)[2];
    let mut frame = screen.state.screen.frame.clone();
    let cells = |x, w| Area { x, y: 5, w, h: 1 };
    frame.areas.push((cells(50, 2), Target::Fold(key)));
    frame.areas.push((cells(60, 9), Target::Link("https://a.test/".to_owned())));
    screen.msg(Msg::Drawn(Box::new(frame)));
    let is_open = |screen: &Screen| screen.state.current_open().unwrap().chat.toggled.contains(&key);
    for open in [true, false] {
        screen.wait(5_000).mouse(MouseKind::Press, (50, 5), None).mouse(MouseKind::Release, (50, 5), None);
        assert_eq!(is_open(&screen), open, "one click is enough");
    }
    let opened = Effect::Browse("https://a.test/".to_owned());
    screen.wait(5_000).mouse(MouseKind::Press, (62, 5), None).mouse(MouseKind::Release, (62, 5), None);
    assert_eq!(screen.fx.iter().filter(|effect| **effect == opened).count(), 1);
    screen.fx.clear();
    screen.wait(5_000).mouse(MouseKind::Press, (55, 5), None).mouse(MouseKind::Release, (62, 5), None);
    assert!(!screen.fx.contains(&opened), "the press was elsewhere");
    screen.msg(Msg::NotBrowsed { url: "https://a.test/".to_owned(), why: "No desktop to open the link".to_owned() });
    assert!(screen.fx.contains(&Effect::Copy("https://a.test/".to_owned())));
}
