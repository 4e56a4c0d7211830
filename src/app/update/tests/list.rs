//! The list of sessions by its keys: folding, filters, marks, changes of many at once and the way back.

use super::*;
use crate::app::state::Focus;
use crate::app::state::overlay::Overlay;
use crate::app::state::sessions::{Facet, Grouping, Wish};
use crate::domain::property_change::PropertyChange;
use crate::domain::trash::TrashId;

/// A screen with the sessions `a` to `e` in the list besides the one that is shown; the list has the keys.
fn listed() -> Screen {
    let mut screen = Screen::new();
    let metas = ["a", "b", "c", "d", "e"].into_iter().enumerate().map(|(n, name)| {
        let mut meta = meta(name);
        meta.last_message = At(NOON - 1_000 * i64::try_from(n).unwrap());
        meta
    });
    screen.whole(EngineEvent::Listed { sessions: metas.collect() });
    screen.keys("f6 g");
    screen.state.sessions.select(&id("a"));
    screen.fx.clear();
    screen
}

impl Screen {
    /// Presses letters of the list, each long enough to act.
    fn press(&mut self, names: &str) -> &mut Self {
        for name in names.split(' ') {
            self.keys(name).wait(200);
            if self.state.input.letter.is_some() {
                self.msg(Msg::Timer(Timer::HeldLetter));
            }
        }
        self
    }

    fn cursor(&self) -> String {
        self.state.sessions.selected().map(ToString::to_string).unwrap_or_default()
    }

    fn deleted(&mut self, name: &str) -> &mut Self {
        self.whole(EngineEvent::Deleted { session: id(name), trash: Some(TrashId(format!("{name}-1"))), pages: 0 })
    }
}

fn change(names: &[&str], change: PropertyChange) -> Command {
    Command::Engine(EngineCommand::Change { sessions: names.iter().map(|name| id(name)).collect(), change })
}

#[test]
fn one_key_changes_what_is_chosen_and_another_takes_it_back() {
    for (key, there, back) in [
        ("f", PropertyChange::Flagged(true), PropertyChange::Flagged(false)),
        ("a", PropertyChange::Archived(true), PropertyChange::Archived(false)),
        ("u", PropertyChange::Unread(true), PropertyChange::Unread(false)),
    ] {
        let mut screen = listed();
        screen.press(key);
        assert_eq!(screen.sent(), [change(&["a"], there.clone())], "the selected one");
        assert!(screen.state.sessions.undo.as_ref().unwrap().what.contains("“Title a”"));
        screen.press("z");
        assert_eq!(screen.sent(), [change(&["a"], back.clone())]);
        screen.press("z");
        assert_eq!(screen.sent(), [], "once");
        screen.press("space space").press(key);
        assert_eq!(screen.sent(), [change(&["a", "b"], there)], "the marked ones");
        screen.keys("ctrl+x ctrl+u");
        assert_eq!(screen.sent(), [change(&["a", "b"], back)]);
        assert_eq!(screen.state.focus, Focus::List, "the list keeps the keys");
    }
}

#[test]
fn a_mixed_lot_becomes_one() {
    let mut screen = listed();
    let mut flagged = meta("b");
    flagged.flagged = true;
    screen.whole(EngineEvent::SessionChanged(Box::new(flagged)));
    screen.keys("ctrl+a").press("f");
    assert_eq!(screen.sent(), [change(&["s", "a", "c", "d", "e"], PropertyChange::Flagged(true))]);
    screen.press("z");
    assert_eq!(
        screen.sent(),
        [change(&["s", "a", "c", "d", "e"], PropertyChange::Flagged(false))],
        "not the one that was"
    );
}

#[test]
fn the_way_back_is_open_for_ten_seconds() {
    let mut screen = listed();
    screen.press("f");
    let timer = Effect::Arm { timer: Timer::Undo, ms: 10_000 };
    assert!(screen.fx.contains(&timer));
    screen.fx.clear();
    screen.wait(10_000).press("z");
    assert_eq!(screen.sent(), [], "never late, also when the timer is");
    screen.msg(Msg::Timer(Timer::Undo));
    assert_eq!(screen.state.sessions.undo, None);
}

#[test]
fn deleting_asks_and_comes_back_from_the_trash() {
    let mut screen = listed();
    screen.press("space space d");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Confirm(asked)) if asked.title.contains("2 sessions")));
    screen.wait(1_000).keys("esc");
    assert_eq!((screen.state.overlays.len(), screen.state.focus), (0, Focus::List));
    assert_eq!(screen.sent(), []);
    screen.press("d").wait(1_000).keys("enter");
    assert_eq!(
        screen.sent(),
        [Command::Engine(EngineCommand::Delete { sessions: vec![id("a"), id("b")], now: false })]
    );
    screen.press("z");
    assert_eq!(screen.sent(), [], "nothing is gone yet");
    screen.deleted("a").wait(2_000).deleted("b");
    assert_eq!(screen.cursor(), "c");
    screen.wait(9_000).press("z");
    let trash = vec![TrashId("a-1".to_owned()), TrashId("b-1".to_owned())];
    assert_eq!(screen.sent(), [Command::Engine(EngineCommand::Restore { trash })]);
}

#[test]
fn when_the_shown_one_goes_its_neighbour_is_shown() {
    let mut screen = listed();
    screen.state.sessions.select(&id("b"));
    screen.keys("enter f6");
    screen.state.sessions.select(&id("b"));
    screen.press("space space d").wait(1_000).keys("enter");
    screen.fx.clear();
    screen.deleted("b");
    assert_eq!(screen.state.current_id(), Some(&id("d")), "not the one that goes with it");
    assert_eq!(screen.state.focus, Focus::List, "the keys stay where they are");
    screen.deleted("c");
    assert_eq!(screen.state.current_id(), Some(&id("d")));
    // One that was deleted elsewhere.
    screen.whole(EngineEvent::Deleted { session: id("d"), trash: None, pages: 0 });
    assert_eq!(screen.state.current_id(), Some(&id("e")));
    assert!(screen.last_notice().contains("Deleted: “Title d”"));
    for name in ["e", "a", "s"] {
        screen.whole(EngineEvent::Deleted { session: id(name), trash: None, pages: 0 });
    }
    assert_eq!(screen.state.conversations.current, Current::New);
}

#[test]
fn marks_are_made_with_and_without_shift() {
    for (keys, marked) in [
        ("space", vec!["a"]),
        ("v j j v j", vec!["a", "b", "c"]),
        ("shift+down shift+down", vec!["a", "b", "c"]),
        ("ctrl+down ctrl+down ctrl+up", vec!["a", "b"]),
        ("m", vec!["s", "a", "b", "c", "d", "e"]),
        ("m m", vec!["a"]),
        ("ctrl+a space", vec!["s", "b", "c", "d", "e"]),
    ] {
        let mut screen = listed();
        screen.press(keys);
        let chosen: Vec<String> = screen.state.chosen().iter().map(ToString::to_string).collect();
        assert_eq!(chosen, marked, "{keys}");
        let any = !screen.state.sessions.marks.is_empty();
        screen.keys("esc");
        assert!(screen.state.sessions.marks.is_empty());
        assert_eq!(screen.state.focus == Focus::List, any, "{keys}");
    }
}

#[test]
fn groups_fold_by_keys_and_clicks_and_are_kept() {
    let mut screen = listed();
    screen.press("left");
    assert_eq!(screen.state.sessions.order().count(), 0);
    let kept = |screen: &mut Screen| {
        let fx = std::mem::take(&mut screen.fx);
        fx.into_iter()
            .filter_map(|effect| if let Effect::KeepFace(kept) = effect { Some(*kept) } else { None })
            .next_back()
    };
    assert_eq!(kept(&mut screen).unwrap().folded[&Grouping::Date], ["today"]);
    screen.keys("enter");
    assert_eq!((screen.state.sessions.order().count(), screen.state.focus), (6, Focus::List));
    screen.press("left right - space o");
    assert_eq!(screen.state.sessions.order().count(), 6);
    assert_eq!(kept(&mut screen).unwrap().grouping, Grouping::Status);
    let group = screen.state.sessions.group_at_cursor().unwrap();
    screen.msg(Msg::Drawn(Box::new(Frame {
        areas: vec![(Area { x: 0, y: 1, w: 20, h: 1 }, Target::ListHeading(group))],
        list_rows: 30,
        ..Frame::default()
    })));
    let press = crate::app::msg::Mouse { kind: crate::app::msg::MouseKind::Press, col: 3, row: 1 };
    screen.msg(Msg::Mouse(press));
    assert_eq!(screen.state.sessions.order().count(), 0);
}

#[test]
fn filters_are_chosen_typed_and_left() {
    let mut screen = listed();
    let wish = |screen: &Screen| screen.state.sessions.facets().wish(&Facet::Flagged);
    let choose = |screen: &mut Screen| {
        screen.press("t").type_text("flagged").keys("enter");
        assert_eq!((screen.state.overlays.len(), screen.state.focus), (0, Focus::List));
    };
    choose(&mut screen);
    assert_eq!((wish(&screen), screen.state.sessions.count()), (Wish::Only, 0));
    choose(&mut screen);
    assert_eq!((wish(&screen), screen.state.sessions.count()), (Wish::Without, 6));
    choose(&mut screen);
    assert_eq!(wish(&screen), Wish::None);
    screen.press("/").type_text("is:flagged").keys("enter");
    assert_eq!((wish(&screen), screen.state.sessions.filter.is_none()), (Wish::Only, true));
    screen.keys("esc");
    assert_eq!(wish(&screen), Wish::None);
    screen.press("/").type_text("is:flaged").keys("enter");
    assert!(screen.last_notice().contains("is:flaged"), "{}", screen.last_notice());
    screen.keys("ctrl+x z");
    assert_eq!(screen.state.sessions.count(), 0, "none is archived");
    screen.press("x");
    assert_eq!(screen.state.sessions.count(), 6);
}

#[test]
fn the_list_is_asked_for_again_when_the_user_comes_back() {
    let mut screen = listed();
    screen.msg(Msg::Focus(false)).wait(4_000).msg(Msg::Focus(true));
    assert!(!screen.sent().contains(&Command::Engine(EngineCommand::List)), "it is fresh");
    screen.msg(Msg::Focus(false)).wait(2_000).msg(Msg::Focus(true)).msg(Msg::Focus(true));
    assert_eq!(screen.sent().iter().filter(|sent| **sent == Command::Engine(EngineCommand::List)).count(), 1);
    // It comes anew, and who moved about in it stays there.
    screen.state.sessions.select(&id("c"));
    let metas = screen.state.sessions.metas().cloned().collect();
    screen.whole(EngineEvent::Listed { sessions: metas });
    assert_eq!(screen.cursor(), "c");
}
