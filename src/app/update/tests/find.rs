//! The search over all sessions: typing, results on their way, opening at a line, and the way through the hits.

use super::*;
use crate::app::effect::Effect;
use crate::app::state::Focus;
use crate::app::state::chat::View;
use crate::app::state::find::Phase;
use crate::app::state::overlay::Overlay;
use crate::domain::search_hit::{HitIn, RowHit, Searched, SessionHits};
use crate::domain::tool::{ToolCall, ToolFigures, ToolStatus};

fn hit(place: HitIn, row: &str, at: u64) -> RowHit {
    let row = (!row.is_empty()).then(|| MessageId::new(row));
    RowHit { place, row, at, when: At(NOON), line: "the needle in a line".to_owned(), marks: vec![(4, 10)] }
}

fn hits(name: &str, hits: Vec<RowHit>) -> SessionHits {
    let total = hits.len() as u64;
    SessionHits { session: id(name), title: format!("Title {name}"), last_message: At(NOON), hits, total }
}

/// Searches since the last call, with their numbers.
fn searches(screen: &mut Screen) -> Vec<(u64, String)> {
    screen
        .sent()
        .into_iter()
        .filter_map(|command| match command {
            Command::Engine(EngineCommand::Search { search, query }) => Some((search, query)),
            _ => None,
        })
        .collect()
}

fn found(screen: &mut Screen, search: u64, results: Vec<SessionHits>, end: bool) {
    let end = end.then(Searched::default);
    screen.whole(EngineEvent::Found { search, results, end });
}

/// The search for `needle` with a hit in `a` and two in `b`.
fn searched(screen: &mut Screen) {
    screen.keys("ctrl+f").type_text("needle").wait(100).msg(Msg::Timer(Timer::Search));
    let number = screen.state.searches.sessions.number;
    let a = hits("a", vec![hit(HitIn::User, "m5", 500)]);
    let b = hits("b", vec![hit(HitIn::Title, "", 0), hit(HitIn::Tool, "m7", 700), hit(HitIn::Tool, "m9", 900)]);
    found(screen, number, vec![a], false);
    found(screen, number, vec![b], true);
    screen.fx.clear();
}

#[test]
fn typing_searches_once_it_stops() {
    let mut screen = Screen::new();
    screen.keys("ctrl+f").type_text("nee");
    assert_eq!(searches(&mut screen), []);
    assert_eq!(screen.state.searches.sessions.phase, Phase::Typing);
    screen.msg(Msg::Timer(Timer::Search));
    assert_eq!(searches(&mut screen), [(1, "nee".to_owned())]);
    screen.type_text("d").msg(Msg::Timer(Timer::Search));
    assert_eq!(searches(&mut screen), [(2, "need".to_owned())]);
    // What the search before still sends is too late.
    found(&mut screen, 1, vec![hits("a", vec![hit(HitIn::User, "m1", 5)])], true);
    assert!(screen.state.searches.sessions.groups.is_empty());
    assert!(matches!(screen.state.searches.sessions.phase, Phase::Searching(_)));
    found(&mut screen, 2, vec![], true);
    assert!(matches!(screen.state.searches.sessions.phase, Phase::Done(_)));
    // An empty query asks for nothing.
    screen.keys("ctrl+u").msg(Msg::Timer(Timer::Search));
    assert_eq!((searches(&mut screen), &screen.state.searches.sessions.phase), (vec![], &Phase::Idle));
}

#[test]
fn what_was_found_stays_until_the_next_answer() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.type_text("s").msg(Msg::Timer(Timer::Search));
    assert_eq!(screen.state.searches.sessions.groups.len(), 2, "nothing flickers");
    screen.keys("enter");
    assert_eq!(screen.state.current_id(), Some(&id("s")), "results of another query are not opened");
    let number = screen.state.searches.sessions.number;
    found(&mut screen, number, vec![], true);
    assert!(screen.state.searches.sessions.groups.is_empty());
}

#[test]
fn a_query_that_is_wrong_is_not_sent() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.type_text(" after:x").msg(Msg::Timer(Timer::Search));
    assert_eq!(searches(&mut screen), []);
    let Phase::Wrong(wrong) = &screen.state.searches.sessions.phase else {
        panic!("{:?}", screen.state.searches.sessions.phase)
    };
    assert_eq!(wrong.at, 7, "{wrong}");
    assert_eq!(screen.state.searches.sessions.groups.len(), 2, "what was found before stays");
}

#[test]
fn closing_stops_and_opening_again_shows_the_last() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.keys("esc");
    assert_eq!(searches(&mut screen), [], "it was over");
    screen.keys("ctrl+f");
    assert_eq!(
        (screen.state.searches.sessions.query.text(), screen.state.searches.sessions.groups.len()),
        ("needle", 2)
    );
    assert_eq!(searches(&mut screen), []);
    screen.keys("right").type_text("s").msg(Msg::Timer(Timer::Search));
    screen.fx.clear();
    screen.keys("esc");
    assert_eq!(searches(&mut screen), [(3, String::new())]);
    assert_eq!(screen.state.searches.sessions.phase, Phase::Stopped);
    screen.keys("ctrl+f");
    assert_eq!(searches(&mut screen), [(4, "needles".to_owned())], "it goes on where it was stopped");
    screen.type_text("new");
    assert_eq!(screen.state.searches.sessions.query.text(), "new", "what is typed begins another one");
}

#[test]
fn the_command_searches_at_once() {
    let mut screen = Screen::new();
    screen.type_text("/search two words").keys("enter");
    assert_eq!(searches(&mut screen), [(1, "two words".to_owned())]);
    assert!(matches!(screen.state.overlay(), Some(Overlay::Find)));
}

#[test]
fn enter_opens_the_session_at_the_line() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.keys("down down enter");
    assert!(screen.state.overlays.is_empty());
    assert_eq!((screen.state.current_id(), screen.state.focus), (Some(&id("b")), Focus::Chat));
    let rows = session::ROWS;
    assert!(
        screen.sent().contains(&Command::Session { id: id("b"), command: SessionCommand::OpenAt { at: 700, rows } })
    );

    let call = |id: &str| {
        let mut call = ToolCall {
            id: CallId::new(id),
            name: "bash".to_owned(),
            input: serde_json::Value::Null,
            subject: "cargo test".to_owned(),
            status: ToolStatus::Completed,
            result: Some("a needle".to_owned()),
            millis: None,
            figures: ToolFigures::default(),
            decision: None,
        };
        call.result = Some(format!("a needle of {id}"));
        row(id, Body::Tool(Box::new(call)))
    };
    let opened = Opened {
        rows: vec![user_row("m6", "go"), call("m7"), user_row("m8", "more")],
        earlier: Some(600),
        later: Some(850),
        ..snapshot(meta("b"))
    };
    screen.session("b", SessionEvent::Opened(Box::new(opened)));
    let chat = &screen.state.current_open().unwrap().chat;
    let key = chat.entries[1].key;
    assert_eq!((chat.view, chat.cursor), (View::Mark { key }, Some(key)));
    assert!(chat.toggled.contains(&key), "its output is unfolded: the words stand there");
    screen.draw(false);
    assert_eq!(screen.state.current_open().unwrap().chat.view, View::At { key: 0, line: 0 });

    // The next hit is not loaded yet.
    screen.fx.clear();
    screen.keys("n");
    assert!(
        screen.sent().contains(&Command::Session { id: id("b"), command: SessionCommand::OpenAt { at: 900, rows } })
    );
    let opened = Opened { rows: vec![call("m9")], earlier: Some(850), ..snapshot(meta("b")) };
    screen.session("b", SessionEvent::Opened(Box::new(opened)));
    assert!(matches!(screen.state.current_open().unwrap().chat.view, View::Mark { .. }));
    screen.keys("n");
    assert!(
        screen.sent().contains(&Command::Session { id: id("b"), command: SessionCommand::OpenAt { at: 700, rows } }),
        "around the end"
    );
    // Esc ends the way, and once more gives the composer the keys.
    screen.keys("esc");
    assert!(screen.state.searches.trail.is_none() && screen.state.focus == Focus::Chat);
    screen.keys("esc");
    assert_eq!(screen.state.focus, Focus::Composer);
}

#[test]
fn a_hit_in_the_title_opens_the_end() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.keys("down enter");
    assert!(
        screen
            .sent()
            .contains(&Command::Session { id: id("b"), command: SessionCommand::Open { rows: session::ROWS } })
    );
    assert_eq!(screen.state.focus, Focus::Composer);
    assert!(screen.state.searches.trail.is_none());
}

#[test]
fn rows_after_a_place_far_from_the_end_come_when_they_are_scrolled_to() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.keys("enter");
    let opened =
        Opened { rows: vec![user_row("m5", "needle")], earlier: None, later: Some(600), ..snapshot(meta("a")) };
    screen.session("a", SessionEvent::Opened(Box::new(opened)));
    screen.fx.clear();
    // A row at the end has no place here yet.
    screen.session("a", SessionEvent::Row(Box::new(user_row("m99", "new"))));
    screen.session("a", SessionEvent::Delta { id: MessageId::new("m100"), add: "x".to_owned() });
    let chat = |screen: &Screen| screen.state.current_open().unwrap().chat.clone();
    assert_eq!((chat(&screen).entries.len(), chat(&screen).unseen.len()), (1, 1));
    assert_eq!(screen.sent(), [], "nothing was missed");
    screen.draw(true);
    let wanted = Command::Session { id: id("a"), command: SessionCommand::Later { cursor: 600, rows: session::ROWS } };
    assert_eq!(screen.sent(), [wanted]);
    assert!(matches!(chat(&screen).view, View::At { .. }), "the end of what is loaded is not followed");
    screen.draw(true);
    assert_eq!(screen.sent(), [], "one page at a time");
    screen
        .session("a", SessionEvent::LaterPage { rows: vec![user_row("m6", "b"), user_row("m99", "new")], later: None });
    assert_eq!((chat(&screen).entries.len(), chat(&screen).later), (3, None));
    screen.session("a", SessionEvent::Row(Box::new(user_row("m101", "live"))));
    assert_eq!(chat(&screen).entries.len(), 4, "live rows follow from here on");
}

#[test]
fn the_way_to_the_end_opens_it_anew() {
    let to_end = |leave: fn(&mut Screen)| {
        let mut screen = Screen::new();
        searched(&mut screen);
        screen.keys("enter");
        let opened = Opened { rows: vec![user_row("m5", "needle")], later: Some(600), ..snapshot(meta("a")) };
        screen.session("a", SessionEvent::Opened(Box::new(opened))).draw(false);
        screen.fx.clear();
        leave(&mut screen);
        assert!(
            screen
                .sent()
                .contains(&Command::Session { id: id("a"), command: SessionCommand::Open { rows: session::ROWS } })
        );
        let opened = Opened { rows: vec![user_row("m9", "last")], ..snapshot(meta("a")) };
        screen.session("a", SessionEvent::Opened(Box::new(opened)));
        let chat = &screen.state.current_open().unwrap().chat;
        assert_eq!((chat.view, chat.later), (View::End, None));
    };
    to_end(|screen| {
        screen.keys("G");
    });
    to_end(|screen| {
        screen.keys("esc esc").type_text("go on").keys("enter");
    });
}

#[test]
fn reading_far_from_the_end_is_not_reading_the_end() {
    let mut screen = Screen::new();
    searched(&mut screen);
    screen.keys("enter");
    let mut unread = meta("a");
    unread.unread = true;
    let opened = Opened { rows: vec![user_row("m5", "needle")], later: Some(600), ..snapshot(unread) };
    screen.session("a", SessionEvent::Opened(Box::new(opened)));
    screen.fx.clear();
    screen.draw(true);
    assert!(
        !screen.sent().iter().any(|command| matches!(command, Command::Session { command: SessionCommand::Read, .. }))
    );
}

#[test]
fn a_click_opens_a_hit() {
    let mut screen = Screen::new();
    searched(&mut screen);
    let areas = vec![(Area { x: 0, y: 5, w: 80, h: 1 }, Target::OverlayRow(4))];
    screen.msg(Msg::Drawn(Box::new(Frame { areas, overlay_rows: 10, ..Frame::default() })));
    let mouse = crate::app::msg::Mouse { kind: crate::app::msg::MouseKind::Press, col: 3, row: 5 };
    screen.msg(Msg::Mouse(mouse));
    assert!(
        screen.fx.iter().any(|fx| matches!(
            fx,
            Effect::Send(Command::Session { command: SessionCommand::OpenAt { at: 900, .. }, .. })
        )),
        "{:?}",
        screen.state.searches.sessions.rows
    );
}
