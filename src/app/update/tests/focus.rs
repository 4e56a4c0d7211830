//! Requests of the engine never take a key that was meant for the composer.

use super::*;
use crate::app::state::Focus;
use crate::app::state::overlay::{Overlay, Reach};
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
    assert_eq!(screen.acts(), vec![Act::send("a")]);
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
    screen.keys("r enter enter").wait(300).type_text(" way").keys("enter");
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
    screen.keys("enter").wait(299).keys("enter");
    assert_eq!(screen.acts(), vec![], "Enter pressed twice does not run what stands there");
    screen.wait(300).type_text(" y1").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Instead("cargo test y1".to_owned())]);

    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("e enter").wait(300).keys("ctrl+u enter");
    assert_eq!(screen.acts(), vec![], "no command, no answer");
    assert!(screen.last_notice().contains("Esc"), "{}", screen.last_notice());
    screen.type_text("ls").keys("shift+enter").type_text("pwd").keys("esc");
    screen.keys("e enter").wait(300).keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Instead("ls\npwd".to_owned())], "what was begun survives Esc");
}

/// An approval that can be kept for the session and the workspace, by two rules.
fn wide(id: &str) -> Request {
    let mut request = approval(id);
    if let Ask::Approval(approval) = &mut request.ask {
        approval.scopes.push(RuleScope::Workspace);
        let commit =
            Rule { program: Some("git".into()), args: Some(vec!["add".into(), "./**".into()]), ..cargo_test() };
        approval.offers.push(Offer { rule: commit, harmless: None, worst: None });
    }
    request
}

fn rule(program: &str, args: &[&str]) -> Rule {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Rule { program: Some(program.to_owned()), args: Some(args), ..Rule::allow("bash") }
}

#[test]
fn what_is_remembered_can_be_changed() {
    let mut screen = Screen::new();
    screen.ask(wide("r1")).keys("f3").wait(300).keys("w m");
    let words = |screen: &Screen| match screen.state.panel().map(|p| &p.0.stage) {
        Some(Stage::Rules { text, .. }) => text.text(),
        other => panic!("{other:?}"),
    };
    assert_eq!(words(&screen), "cargo test\ngit add ./**");
    // A key pressed twice takes nothing over.
    screen.keys("m enter").wait(300);
    assert_eq!(words(&screen), "cargo test\ngit add ./**");
    screen.keys("ctrl+u").type_text("git add src/*").keys("enter");
    match screen.state.panel().map(|p| &p.0.stage) {
        Some(Stage::Rules { problem: Some(problem), .. }) => assert!(problem.contains("src/*"), "{problem}"),
        other => panic!("{other:?}"),
    }
    screen.keys("ctrl+u").type_text("git add './a b'").keys("enter");
    assert_eq!((screen.acts(), selected(&screen)), (vec![], Some(Choice::Workspace)), "that is no answer");
    screen.wait(299).keys("enter");
    assert_eq!(screen.acts(), vec![]);
    screen.wait(1).keys("enter");
    let rules = vec![cargo_test(), rule("git", &["add", "./a b"])];
    assert_eq!(answered(&screen.acts()), vec![Answer::Remember { scope: RuleScope::Workspace, rules }]);

    // Esc leaves them as they were; a line taken away is a rule less, and none at all is said.
    let mut screen = Screen::new();
    screen.ask(wide("r1")).keys("f3").wait(300).keys("s m").wait(300).type_text("x").keys("esc");
    assert_eq!(screen.state.focus, Focus::Panel);
    screen.keys("m").wait(300).keys("ctrl+u backspace ctrl+u enter");
    assert!(matches!(screen.state.panel().map(|p| &p.0.stage), Some(Stage::Rules { problem: Some(_), .. })));
    screen.type_text("cargo test").keys("enter").wait(300).keys("enter");
    let kept = Answer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] };
    assert_eq!(answered(&screen.acts()), vec![kept]);

    // Another content forgets what was changed for the first.
    let mut screen = Screen::new();
    screen.ask(wide("r1")).keys("f3").wait(300).keys("s m").wait(300).keys("ctrl+u").type_text("git *").keys("enter");
    screen.ask(approval("r1")).wait(300).keys("s enter");
    assert_eq!(answered(&screen.acts()), vec![kept_once()]);

    // Where nothing is remembered it is a letter.
    let mut never = approval("r1");
    if let Ask::Approval(approval) = &mut never.ask {
        approval.scopes.clear();
    }
    let mut screen = Screen::new();
    screen.ask(never).keys("f3").wait(300).keys("m");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "m"));
}

fn kept_once() -> Answer {
    Answer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] }
}

#[test]
fn to_its_ends_only_where_it_has_the_whole_screen() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("f G");
    assert_eq!(screen.state.panel().map(|p| p.0.scroll), Some(20));
    screen.keys("pageup");
    assert_eq!(screen.state.panel().map(|p| p.0.scroll), Some(16));
    screen.keys("g f g");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "g"), "docked it is a letter");
}

#[test]
fn keys_after_an_answer_are_not_for_what_comes_next() {
    let mut screen = waiting();
    screen.type_text("draft").keys("f3").wait(300).keys("y enter enter").wait(299).keys("enter");
    assert_eq!(answered(&screen.acts()), vec![Answer::Once]);
    assert_eq!(screen.text(), "draft", "it was not sent by the second Enter");
    screen.wait(1).keys("enter");
    assert_eq!(screen.acts(), vec![Act::send("draft")]);
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

/// The inbox over `s` and `a`, both asking for the same, `b` for something else; the first row is being answered.
fn equal_ones() -> Screen {
    let mut screen = Screen::new();
    let mut other = approval("rb");
    if let Ask::Approval(approval) = &mut other.ask {
        approval.proposal = Proposal::Command { command: "cargo test".to_owned(), cwd: PathBuf::from("/elsewhere") };
    }
    for (name, request) in [("a", approval("ra")), ("b", other)] {
        let mut meta = meta(name);
        meta.activity = Activity::NeedsYou("approve".to_owned());
        let opened = Opened { requests: vec![request], ..snapshot(meta.clone()) };
        screen.session(name, Event::Changed(Box::new(meta)));
        screen.keys(if name == "a" { "ctrl+x 1" } else { "ctrl+x 2" });
        screen.session(name, Event::Opened(Box::new(opened)));
    }
    screen.ask(approval("rs"));
    screen.keys("ctrl+x a").wait(300);
    let place = match screen.state.overlays.last() {
        Some(Overlay::Inbox(inbox)) => inbox.rows.iter().position(|row| row.session == id("s")).unwrap(),
        other => panic!("{other:?}"),
    };
    for _ in 0..place {
        screen.keys("down");
    }
    screen.keys("enter").wait(300);
    screen.sent();
    screen
}

fn inbox(screen: &Screen) -> &crate::app::state::overlay::Inbox {
    match screen.state.overlays.last() {
        Some(Overlay::Inbox(inbox)) => inbox,
        other => panic!("{other:?}"),
    }
}

fn who_was_answered(screen: &mut Screen) -> Vec<String> {
    let answers = screen.sent().into_iter().filter_map(|command| match command {
        Command::To { session, act: Act::Answer { request, .. } } => Some(format!("{session} {}", request.as_str())),
        _ => None,
    });
    answers.collect()
}

#[test]
fn one_answer_can_go_to_all_equal_requests() {
    let mut screen = equal_ones();
    assert_eq!(inbox(&screen).equal, [(id("a"), RequestId::new("ra"))], "another directory is another matter");
    screen.keys("y enter");
    assert_eq!(who_was_answered(&mut screen), ["s rs"], "an answer goes to one");

    let mut screen = equal_ones();
    screen.keys("a y enter").wait(300).keys("y enter");
    assert_eq!(who_was_answered(&mut screen), ["s rs", "a ra"]);
    assert_eq!(inbox(&screen).rows.len(), 1);

    // Back to one.
    let mut screen = equal_ones();
    screen.keys("a").wait(300).keys("a").wait(300).keys("n enter");
    assert_eq!(who_was_answered(&mut screen), ["s rs"]);

    // Others than those that were counted: it has to be said anew.
    let mut screen = equal_ones();
    screen.keys("a").wait(300).keys("y");
    screen.ask(approval("rs2")).keys("enter").wait(299).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
    assert_eq!((inbox(&screen).reach, inbox(&screen).equal.len()), (Reach::This, 2));
}

#[test]
fn what_is_gone_while_it_is_answered_is_said() {
    let mut screen = equal_ones();
    screen.keys("y");
    screen.whole(Event::Deleted { session: id("s"), trash: None });
    screen.keys("enter").wait(299).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
    assert!(inbox(&screen).answering.is_none());
    let said: Vec<String> = screen.state.notices.iter().map(|n| n.text.clone()).collect();
    assert!(said.iter().any(|text| text.contains("waits no longer")), "{said:?}");

    // In the pane: what stands there then does not get the focus.
    let mut screen = waiting();
    let mut other = meta("a");
    other.activity = Activity::NeedsYou("approve".to_owned());
    screen.session("a", Event::Changed(Box::new(other.clone()))).keys("ctrl+x 1");
    screen.session("a", Event::Opened(Box::new(Opened { requests: vec![approval("ra")], ..snapshot(other) })));
    screen.keys("f3").wait(300).keys("y");
    screen.whole(Event::Deleted { session: id("a"), trash: None });
    assert_eq!(screen.state.focus, Focus::Composer);
    screen.keys("enter").wait(5_000);
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
}

#[test]
fn a_snapshot_with_other_bytes_begins_an_answer_anew() {
    let mut screen = equal_ones();
    screen.keys("y");
    let mut meta = meta("s");
    meta.activity = Activity::NeedsYou("approve".to_owned());
    let opened = Opened { requests: vec![wide("rs")], ..snapshot(meta) };
    screen.session("s", Event::Opened(Box::new(opened))).keys("enter").wait(299).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
    screen.wait(300).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new(), "nothing is selected any more");
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

/// Actions of the user and the engine, in any order and at any time.
#[derive(Clone, Debug)]
enum Move {
    /// A key, and the milliseconds since the event before.
    Key(Key, u64),
    /// One of the ways to the panel that are no plain key: by number.
    Way(u8, u64),
    Ask(Box<Request>, u64),
    Settle(String, u64),
}

fn arb_move() -> impl Strategy<Value = Move> {
    let key = prop_oneof![
        6 => prop::sample::select("ysnwremf123459 abz".chars().collect::<Vec<_>>()).prop_map(Key::char),
        5 => Just(Key::plain(Code::Enter)),
        2 => prop::sample::select(vec!["up", "down", "esc", "shift+tab", "backspace", "ctrl+u", "pagedown"])
            .prop_map(|name| Key::parse(name).unwrap()),
    ];
    let pause = prop_oneof![4 => 0..80u64, 3 => 200..400u64, 2 => 1_000..3_000u64];
    // The same id with other bytes is another content.
    let request = (0u8..2, any::<bool>()).prop_map(|(n, wider)| {
        let id = format!("r{n}");
        Box::new(if wider { wide(&id) } else { approval(&id) })
    });
    prop_oneof![
        14 => (key, pause.clone()).prop_map(|(key, ms)| Move::Key(key, ms)),
        4 => (0u8..3, pause.clone()).prop_map(|(way, ms)| Move::Way(way, ms)),
        2 => (request, pause.clone()).prop_map(|(request, ms)| Move::Ask(request, ms)),
        1 => (0u8..2, pause).prop_map(|(n, ms)| Move::Settle(format!("r{n}"), ms)),
    ]
}

/// Request that the panel of the shown session is about, and whether it has the focus.
fn about(screen: &Screen) -> (bool, Option<Request>) {
    (screen.state.focus == Focus::Panel, screen.state.panel().map(|(_, request)| request.clone()))
}

/// True while text is written in the panel.
fn writes(screen: &Screen) -> bool {
    screen.state.panel().is_some_and(|(panel, _)| !matches!(panel.stage, Stage::Choosing))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Any order of keys, clicks and requests at any times: the panel gets the focus in one of its four ways only; an
    /// answer is Enter on something selected, 300 ms after the focus or another content at the earliest; and what is
    /// printable lands in the composer, unless the panel had the focus or what had it has just changed.
    #[test]
    fn an_answer_is_always_deliberate(moves in prop::collection::vec(arb_move(), 1..60)) {
        let mut screen = Screen::new();
        let mut changed = At(i64::MIN / 2);
        for one in moves {
            let before = about(&screen);
            let (text, wrote, chosen) = (screen.text(), writes(&screen), selected(&screen));
            let (mut key, mut way) = (None, false);
            match one {
                Move::Key(pressed, ms) => {
                    key = Some(pressed);
                    let idle = screen.state.now.plus(ms).since(screen.state.last_key);
                    way = pressed.code == Code::Enter && idle >= 1_500 && text.is_empty();
                    screen.wait(ms).key(pressed);
                }
                Move::Way(n, ms) => {
                    way = true;
                    screen.wait(ms);
                    match n {
                        0 => screen.keys("f3"),
                        1 => screen.keys("ctrl+x y"),
                        _ => {
                            let press = crate::app::msg::MouseKind::Press;
                            screen.msg(Msg::Mouse(crate::app::msg::Mouse { kind: press, col: 50, row: 30 }))
                        }
                    };
                }
                Move::Ask(request, ms) => drop(screen.wait(ms).ask(*request)),
                Move::Settle(id, ms) => {
                    screen.wait(ms).session("s", Event::Settled { request: RequestId::new(id) });
                }
            }
            let (now, after) = (screen.state.now, about(&screen));
            let quiet = now.since(changed) >= 300;
            prop_assert!(before.0 || !after.0 || way, "the focus came by {key:?}");
            let acts = screen.acts();
            if !answered(&acts).is_empty() {
                prop_assert_eq!(key.map(|key| key.code), Some(Code::Enter));
                prop_assert!(before.0 && quiet && chosen.is_some(), "{:?} {:?}", before, chosen);
            }
            let lands = key.and_then(Key::printable).filter(|_| screen.state.overlays.is_empty());
            if lands.is_some() && !wrote && (!before.0 || !after.0) && quiet {
                prop_assert_eq!(screen.text().chars().count(), text.chars().count() + 1);
            }
            // Only what was looked at with the focus changes under the keys.
            if before != after && (before.0 || after.0) {
                changed = now;
            }
            // Two Escs lead elsewhere; that is another matter.
            while !screen.state.overlays.is_empty() {
                screen.keys("esc").wait(700);
            }
        }
    }
}
