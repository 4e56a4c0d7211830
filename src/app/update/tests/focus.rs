//! What the engine asks never takes a key that was meant for the composer.

use super::*;
use crate::app::state::Focus;
use crate::app::state::panel::{Choice, Stage};
use crate::domain::plan::PlanApproval;
use proptest::prelude::*;

fn waiting() -> Screen {
    let mut screen = Screen::new();
    screen.ask(approval("r1")).draw(true);
    screen
}

fn approved(markdown: &str, mode: Mode, compact: bool) -> Answer {
    let marks = crate::domain::plan::Outline::parse(markdown).marks();
    Answer::PlanApprove(PlanApproval { mode, compact, marks, covers: crate::domain::plan::hash(markdown) })
}

fn selected(screen: &Screen) -> Option<Choice> {
    screen.state.panel().and_then(|(panel, _)| panel.choice().cloned())
}

#[test]
fn it_never_takes_the_focus_by_itself() {
    for request in [approval("r1"), plan("r1", "# A"), question("r1", &["x", "y"])] {
        let mut screen = Screen::new();
        screen.type_text("hel");
        screen.ask(request).type_text("lo y1ns");
        assert_eq!(screen.state.focus, Focus::Composer);
        assert_eq!(screen.text(), "hello y1ns");
        assert!(screen.state.panel().is_some());
    }
}

#[test]
fn these_ways_give_it_the_focus_with_nothing_selected() {
    for keys in ["ctrl+x y", "f3"] {
        let mut screen = waiting();
        screen.keys(keys);
        assert_eq!((screen.state.focus, selected(&screen)), (Focus::Panel, None), "{keys}");
    }
    let mut screen = waiting();
    let press = crate::app::msg::Mouse { kind: crate::app::msg::MouseKind::Press, col: 50, row: 32 };
    screen.msg(Msg::Mouse(press));
    assert_eq!((screen.state.focus, selected(&screen)), (Focus::Panel, None));
    // A click selects once it has the focus and the time is over, and never answers.
    screen.msg(Msg::Mouse(press));
    assert_eq!(selected(&screen), None);
    screen.wait(300).msg(Msg::Mouse(press)).msg(Msg::Mouse(press));
    assert_eq!(selected(&screen), Some(Choice::Session));
    assert_eq!(screen.acts(), vec![]);
}

#[test]
fn enter_on_an_empty_draft_needs_a_pause() {
    let mut screen = waiting();
    screen.keys("x backspace").wait(1_499).keys("enter");
    assert_eq!(screen.state.focus, Focus::Composer);
    screen.wait(1_500).keys("enter");
    assert_eq!((screen.state.focus, selected(&screen)), (Focus::Panel, None));
    screen.wait(1_000).keys("enter");
    assert_eq!(screen.acts(), vec![], "Enter with nothing selected does nothing");

    let mut screen = waiting();
    screen.type_text("a").wait(5_000).keys("enter");
    assert_eq!(screen.acts(), vec![Act::Send { text: "a".to_owned() }]);
    assert_eq!(screen.state.focus, Focus::Composer);
}

#[test]
fn with_list_chat_or_overlay_focused_nothing_moves() {
    for keys in ["f6", "f6 f6", "ctrl+p"] {
        let mut screen = Screen::new();
        screen.keys(keys);
        let before = (screen.state.focus, screen.state.contexts());
        screen.wait(5_000).ask(approval("r1")).draw(true);
        assert_eq!((screen.state.focus, screen.state.contexts()), before, "{keys}");
        screen.keys("enter").wait(500).keys("y enter").wait(500).keys("y enter");
        assert_ne!(screen.state.focus, Focus::Panel, "{keys}");
        assert_eq!(answered(&screen.acts()), vec![], "{keys}");
    }
}

fn kept() -> Answer {
    Answer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] }
}

#[test]
fn keys_select_and_enter_answers() {
    for (keys, answer) in [
        ("y", Answer::Once),
        ("s", kept()),
        ("n", Answer::No(None)),
        ("1", Answer::Once),
        ("2", kept()),
        ("3", Answer::No(None)),
        ("down", Answer::Once),
        ("down down", kept()),
        ("up up up", Answer::No(None)),
        ("n y", Answer::Once),
    ] {
        let mut screen = waiting();
        screen.keys("f3").wait(300).keys(keys);
        assert_eq!(screen.acts(), vec![], "{keys} only selects");
        screen.keys("enter");
        assert_eq!(answered(&screen.acts()), vec![answer], "{keys}");
        assert_eq!(screen.state.focus, Focus::Composer);
        assert!(screen.state.panel().is_none());
    }
}

#[test]
fn a_reason_is_written_and_sent() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("r enter").type_text("not 1 y now").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::No(Some("not 1 y now".to_owned()))]);

    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("4 enter enter");
    assert_eq!(screen.acts(), vec![], "no words, no answer");
    screen.type_text("half").keys("esc");
    assert_eq!(screen.state.focus, Focus::Panel);
    screen.keys("r enter").type_text(" way").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::No(Some("half way".to_owned()))], "words survive Esc");
}

#[test]
fn a_workspace_is_only_on_offer_where_the_engine_offers_it() {
    let mut wide = approval("r1");
    if let Ask::Approval(approval) = &mut wide.ask {
        approval.scopes.push(RuleScope::Workspace);
    }
    let mut screen = Screen::new();
    screen.ask(wide).keys("f3").wait(300).keys("w enter");
    let kept = Answer::Remember { scope: RuleScope::Workspace, rules: vec![cargo_test()] };
    assert_eq!(answered(&screen.acts()), vec![kept]);
}

#[test]
fn what_is_not_shown_in_full_is_not_remembered() {
    let mut long = approval("r1");
    if let Ask::Approval(approval) = &mut long.ask {
        approval.proposal = Proposal::Command { command: "x".repeat(10_001), cwd: PathBuf::from("/w") };
    }
    let mut screen = Screen::new();
    screen.ask(long).keys("f3").wait(300).keys("s");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "s"));
}

#[test]
fn a_command_is_edited_first() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("e enter");
    assert_eq!(screen.acts(), vec![], "now it is being edited");
    screen.type_text(" y1").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Instead("cargo test y1".to_owned())]);

    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("e enter ctrl+u enter");
    assert_eq!(screen.acts(), vec![], "no command, no answer");
    assert!(screen.last_notice().contains("Esc"), "{}", screen.last_notice());
    screen.type_text("ls").keys("shift+enter").type_text("pwd").keys("esc");
    screen.keys("e enter enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Instead("ls\npwd".to_owned())], "what was begun survives Esc");
}

#[test]
fn an_unbound_printable_gives_the_focus_back_and_is_typed() {
    // `w` is not on offer here, 9 is no answer's number.
    for key in ["x", "w", "9", "?", "space", "ä", "Y"] {
        let mut screen = waiting();
        screen.keys("f3").wait(300).keys(key);
        assert_eq!(screen.state.focus, Focus::Composer, "{key}");
        assert_eq!(screen.text(), if key == "space" { " " } else { key });
        assert_eq!(screen.acts(), vec![]);
        assert!(screen.state.panel().is_some(), "the request waits on");
    }
    let mut never = approval("r1");
    if let Ask::Approval(approval) = &mut never.ask {
        approval.scopes.clear();
    }
    let mut screen = Screen::new();
    screen.ask(never).keys("f3").wait(300).keys("s");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "s"));
}

#[test]
fn for_300_ms_keys_are_dropped() {
    let mut screen = waiting();
    screen.keys("f3").wait(299).keys("y enter x esc");
    assert_eq!((screen.state.focus, selected(&screen)), (Focus::Panel, None));
    assert_eq!((screen.text().as_str(), screen.acts()), ("", vec![]));
    screen.wait(1).keys("y");
    assert_eq!(selected(&screen), Some(Choice::Once));
}

#[test]
fn a_change_of_content_drops_keys_and_the_selection() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y");
    let mut other = approval("r1");
    if let Ask::Approval(approval) = &mut other.ask {
        approval.subject = "rm -rf build".to_owned();
    }
    screen.ask(other).keys("enter").wait(299).keys("y enter");
    assert_eq!((screen.acts(), selected(&screen)), (vec![], None));
    assert_eq!(screen.state.focus, Focus::Panel);

    // Answered elsewhere: the next request stands there now.
    let mut screen = waiting();
    screen.ask(question("r2", &["a"])).keys("f3").wait(300).keys("y");
    screen.session("s", Event::Settled { request: RequestId::new("r1") }).keys("enter").wait(299).keys("1 enter");
    assert_eq!(screen.acts(), vec![]);
    screen.wait(300).keys("1 enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Reply("a".to_owned())]);

    // Gone with its turn: what was on its way is not sent as a message.
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y");
    screen.session("s", Event::Settled { request: RequestId::new("r1") }).keys("y enter");
    assert_eq!((screen.acts(), screen.text().as_str(), screen.state.focus), (vec![], "", Focus::Composer));
}

#[test]
fn a_second_request_behind_it_changes_nothing() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y").ask(approval("r2")).keys("enter");
    let acts = screen.acts();
    assert!(matches!(acts.as_slice(), [Act::Answer { request, .. }] if request.as_str() == "r1"), "{acts:?}");
    // The next one waits for a deliberate act again.
    screen.wait(400).keys("y enter");
    assert_eq!(answered(&screen.acts()), vec![]);
}

#[test]
fn esc_gives_the_focus_back_and_leaves_it_waiting() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y esc");
    assert_eq!((screen.state.focus, screen.acts()), (Focus::Composer, vec![]));
    screen.keys("f3");
    assert_eq!(selected(&screen), None);
}

#[test]
fn tab_and_shift_tab_never_answer() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y shift+tab tab tab tab");
    assert_eq!(answered(&screen.acts()), vec![]);
    assert!(screen.state.panel().is_some());
}

#[test]
fn plans_are_answered_and_an_empty_one_is_not_approved() {
    for (keys, answer) in [
        ("y enter", approved("# A\n1. b", Mode::Ask, false)),
        ("e enter", approved("# A\n1. b", Mode::Execute, false)),
        ("s enter", approved("# A\n1. b", Mode::Ask, true)),
        ("s s enter", approved("# A\n1. b", Mode::Execute, true)),
        ("s s s enter", approved("# A\n1. b", Mode::Ask, true)),
        ("n enter", Answer::PlanDecline),
        ("2 enter", approved("# A\n1. b", Mode::Execute, false)),
    ] {
        let mut screen = Screen::new();
        screen.ask(plan("p", "# A\n1. b")).keys("ctrl+x p").wait(300).keys(keys);
        assert_eq!(answered(&screen.acts()), vec![answer], "{keys}");
    }
    let mut screen = Screen::new();
    screen.ask(plan("p", "# A")).keys("ctrl+x p").wait(300).keys("r enter").type_text("more 1 tests").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::PlanChanges("more 1 tests".to_owned())]);

    let mut screen = Screen::new();
    screen.ask(plan("p", " \n")).keys("ctrl+x p").wait(300).keys("y");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "y"));
}

#[test]
fn while_a_plan_waits_the_mode_stays() {
    let mut screen = Screen::new();
    screen.ask(plan("p", "# A")).keys("shift+tab ctrl+x m");
    assert_eq!(screen.acts(), vec![]);
    assert!(screen.last_notice().contains("ctrl+x p"), "{}", screen.last_notice());
    screen.type_text("/mode execute").keys("enter");
    assert_eq!(screen.acts(), vec![]);
    screen.type_text("/mode execute --drop-plan").keys("enter");
    assert_eq!(screen.acts(), vec![Act::Mode { mode: Mode::Execute, drop_plan: true }]);
}

#[test]
fn questions_take_an_option_or_words() {
    let mut screen = Screen::new();
    screen.ask(question("q", &["red", "blue"])).keys("f3").wait(300).keys("2 enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Reply("blue".to_owned())]);
    let mut screen = Screen::new();
    screen.ask(question("q", &[])).keys("f3").wait(300).keys("r enter").type_text("green").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Reply("green".to_owned())]);
}

#[test]
fn a_paste_never_answers() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y").msg(Msg::Paste("y\n\n".to_owned()));
    assert_eq!((screen.state.focus, screen.text().as_str(), screen.acts()), (Focus::Composer, "y\n\n", vec![]));
    // Into the words it goes as text.
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("r enter").msg(Msg::Paste("a\nb\n".to_owned()));
    assert_eq!(screen.acts(), vec![]);
    assert!(matches!(screen.state.panel().map(|p| &p.0.stage), Some(Stage::Writing { .. })));
}

#[test]
fn the_inbox_answers_under_the_same_rules() {
    let mut screen = Screen::new();
    let mut other = meta("a");
    other.activity = Activity::NeedsYou("approve: ls".to_owned());
    screen.session("a", Event::Changed(Box::new(other.clone()))).keys("ctrl+x a");
    assert!(screen.sent().contains(&Command::Open { session: id("a"), rows: session::ROWS }));
    let mut opened = snapshot(other);
    opened.requests = vec![approval("ra")];
    screen.session("a", Event::Opened(Box::new(opened))).wait(300).keys("enter");
    assert_eq!(screen.state.contexts().first(), Some(&Context::Approval));
    screen.wait(299).keys("y enter");
    assert_eq!(screen.sent(), vec![]);
    screen.wait(1).keys("enter x y enter");
    let sent = screen.sent();
    let expected = Act::Answer { request: RequestId::new("ra"), answer: Answer::Once };
    assert_eq!(sent, vec![Command::To { session: id("a"), act: expected }]);
    assert_eq!(screen.state.current, Current::Session(id("s")), "without leaving the session");
}

fn arb_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => any::<char>().prop_filter("printable", |c| !c.is_control()).prop_map(Key::char),
        8 => prop::sample::select("ysnwre123456789f ".chars().collect::<Vec<_>>()).prop_map(Key::char),
        2 => prop::sample::select(vec!["backspace", "left", "up", "down", "tab", "shift+tab", "ctrl+w", "esc"])
            .prop_map(|name| Key::parse(name).unwrap()),
    ]
}

fn arb_request() -> impl Strategy<Value = Request> {
    (0u8..3, 0u8..3).prop_map(|(kind, n)| match kind {
        0 => approval(&format!("r{n}")),
        1 => plan(&format!("p{n}"), "# A"),
        _ => question(&format!("q{n}"), &["a", "b"]),
    })
}

#[derive(Clone, Debug)]
enum Step {
    Key(Key, u64),
    Enter(u64),
    Ask(Box<Request>),
    Settle(String),
}

fn arb_step(pause: u64) -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (arb_key(), 0..10_000u64).prop_map(|(key, ms)| Step::Key(key, ms)),
        4 => (0..pause).prop_map(Step::Enter),
        2 => arb_request().prop_map(|request| Step::Ask(Box::new(request))),
        1 => (0u8..3).prop_map(|n| Step::Settle(format!("r{n}"))),
    ]
}

fn play(screen: &mut Screen, step: Step) {
    match step {
        Step::Key(key, ms) => screen.wait(ms).key(key),
        // Shortly after some key.
        Step::Enter(ms) => screen.key(Key::char('x')).key(Key::plain(Code::Backspace)).wait(ms).keys("enter"),
        Step::Ask(request) => screen.ask(*request),
        Step::Settle(request) => screen.session("s", Event::Settled { request: RequestId::new(request) }),
    };
}

use crate::keymap::key::Code;

proptest! {
    /// Whatever is typed into the composer, with a panel appearing, changing and going at any point: nothing is answered,
    /// and the panel never has the focus. Enter comes at any time but on a draft that was left alone for 1.5 s.
    #[test]
    fn typing_never_answers(steps in prop::collection::vec(arb_step(1_500), 1..80)) {
        let mut screen = Screen::new();
        for step in steps {
            play(&mut screen, step);
            prop_assert_ne!(screen.state.focus, Focus::Panel);
            prop_assert_eq!(answered(&screen.acts()), vec![]);
        }
    }

    /// The same with Enter after any pause: the panel may get the focus, and still nothing is answered by keys that come
    /// within 300 ms of anything that changes it.
    #[test]
    fn fast_keys_never_answer(steps in prop::collection::vec((arb_key(), 0..25u64), 1..12), request in arb_request()) {
        let mut screen = Screen::new();
        screen.ask(request).wait(2_000).keys("enter");
        prop_assert_eq!(screen.state.focus, Focus::Panel);
        for (key, ms) in steps {
            screen.wait(ms).key(key).keys("enter");
            prop_assert_eq!(answered(&screen.acts()), vec![]);
            prop_assert_eq!(screen.text(), "");
        }
    }

    /// No order of messages makes the update fail, and what is drawn from always fits together.
    #[test]
    fn any_order_of_messages_is_taken(keys in prop::collection::vec((arb_any_key(), 0..400u64), 1..120)) {
        let mut screen = Screen::new();
        screen.ask(approval("r1"));
        for (key, ms) in keys {
            screen.wait(ms).key(key);
            let state = &screen.state;
            prop_assert!(!state.contexts().is_empty());
            prop_assert!(state.focus != Focus::Panel || state.panel().is_some());
            if let Some((panel, _)) = state.panel() {
                prop_assert!(panel.selected.is_none_or(|at| at < panel.choices.len()));
            }
            screen.fx.clear();
        }
    }
}

fn arb_any_key() -> impl Strategy<Value = Key> {
    let bound: Vec<Key> = TABLE.bindings().iter().flat_map(|binding| binding.keys.clone()).collect();
    prop_oneof![3 => prop::sample::select(bound), 1 => arb_key()]
}
