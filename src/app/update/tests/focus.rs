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

fn approved(markdown: &str, mode: Mode, compact: bool) -> UserAnswer {
    let marks = crate::domain::plan::Outline::parse(markdown).marks();
    UserAnswer::PlanApprove(PlanApproval { mode, compact, marks, covers: crate::domain::plan::hash(markdown) })
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
    screen.type_text("why").wait(5_000).keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("why")]);
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

fn kept() -> UserAnswer {
    UserAnswer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] }
}

#[test]
fn keys_select_and_enter_answers() {
    for (keys, answer) in [
        ("y", UserAnswer::Once),
        ("s", kept()),
        ("n", UserAnswer::No(None)),
        ("1", UserAnswer::Once),
        ("2", kept()),
        ("3", UserAnswer::No(None)),
        ("down", UserAnswer::Once),
        ("down down", kept()),
        ("up up up", UserAnswer::No(None)),
        ("n up y", UserAnswer::Once),
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
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::No(Some("not 1 y now".to_owned()))]);

    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("4 enter enter");
    assert_eq!(screen.acts(), vec![], "no words, no answer");
    screen.type_text("half").keys("esc");
    assert_eq!(screen.state.focus, Focus::Panel);
    screen.keys("r enter enter").wait(300).type_text(" way").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::No(Some("half way".to_owned()))], "words survive Esc");
}

#[test]
fn a_workspace_is_only_on_offer_where_the_engine_offers_it() {
    let mut wide = approval("r1");
    if let Ask::Approval(approval) = &mut wide.ask {
        approval.scopes.push(RuleScope::Workspace);
    }
    let mut screen = Screen::new();
    screen.ask(wide).keys("f3").wait(300).keys("w enter");
    let kept = UserAnswer::Remember { scope: RuleScope::Workspace, rules: vec![cargo_test()] };
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
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Instead("cargo test y1".to_owned())]);

    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("e enter").wait(300).keys("ctrl+u enter");
    assert_eq!(screen.acts(), vec![], "no command, no answer");
    assert!(screen.last_notice().contains("Esc"), "{}", screen.last_notice());
    screen.type_text("ls").keys("shift+enter").type_text("pwd").keys("esc");
    screen.keys("e enter").wait(300).keys("enter");
    assert_eq!(
        answered(&screen.acts()),
        vec![UserAnswer::Instead("ls\npwd".to_owned())],
        "what was begun survives Esc"
    );
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
    screen.ask(wide("r1")).keys("f3").wait(300).keys("down down down m");
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
    screen.wait(149).keys("enter");
    assert_eq!(screen.acts(), vec![], "it may be held down");
    screen.wait(150).keys("enter");
    let rules = vec![cargo_test(), rule("git", &["add", "./a b"])];
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Remember { scope: RuleScope::Workspace, rules }]);

    // Esc leaves them as they were; a line taken away is a rule less, and none at all is said.
    let mut screen = Screen::new();
    screen.ask(wide("r1")).keys("f3").wait(300).keys("m").wait(300).type_text("x").keys("esc");
    assert_eq!(screen.state.focus, Focus::Panel);
    screen.keys("m").wait(300).keys("ctrl+u backspace ctrl+u enter");
    assert!(matches!(screen.state.panel().map(|p| &p.0.stage), Some(Stage::Rules { problem: Some(_), .. })));
    screen.type_text("cargo test").keys("enter").wait(300).keys("s enter");
    let kept = UserAnswer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] };
    assert_eq!(answered(&screen.acts()), vec![kept]);

    // Another content forgets what was changed for the first.
    let mut screen = Screen::new();
    screen.ask(wide("r1")).keys("f3").wait(300).keys("m").wait(300).keys("ctrl+u").type_text("git *").keys("enter");
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

fn kept_once() -> UserAnswer {
    UserAnswer::Remember { scope: RuleScope::Session, rules: vec![cargo_test()] }
}

#[test]
fn to_its_ends_only_where_it_has_the_whole_screen() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("f G");
    assert_eq!(screen.state.panel().map(|p| p.0.scroll), Some(Some(20)));
    screen.keys("pageup");
    assert_eq!(screen.state.panel().map(|p| p.0.scroll), Some(Some(16)));
    screen.keys("g f").wait(150).keys("g");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "g"), "docked it is a letter");
}

#[test]
fn keys_after_an_answer_are_not_for_what_comes_next() {
    let mut screen = waiting();
    screen.type_text("draft").keys("f3").wait(300).keys("y enter enter").wait(299).keys("enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once]);
    assert_eq!(screen.text(), "draft", "it was not sent by the second Enter");
    screen.wait(149).keys("enter");
    assert_eq!(screen.text(), "draft", "it may be held down");
    screen.wait(150).keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("draft")]);
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
    screen
        .session("s", SessionEvent::Settled { request: RequestId::new("r1"), by: None })
        .keys("enter")
        .wait(299)
        .keys("1 enter");
    assert_eq!(screen.acts(), vec![]);
    screen.wait(300).keys("1 enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Reply("a".to_owned())]);

    // Gone with its turn: what was on its way is not sent as a message.
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y");
    screen.session("s", SessionEvent::Settled { request: RequestId::new("r1"), by: None }).keys("y enter");
    assert_eq!((screen.acts(), screen.text().as_str(), screen.state.focus), (vec![], "", Focus::Composer));
}

#[test]
fn a_second_request_behind_it_changes_nothing() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).keys("y").ask(approval("r2")).keys("enter");
    let acts = screen.acts();
    assert!(
        matches!(acts.as_slice(), [SessionCommand::Answer { request, .. }] if request.as_str() == "r1"),
        "{acts:?}"
    );
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
        ("down down enter", approved("# A\n1. b", Mode::Execute, false)),
        ("s enter", approved("# A\n1. b", Mode::Ask, true)),
        ("s down enter", approved("# A\n1. b", Mode::Execute, true)),
        ("n enter", UserAnswer::PlanDecline),
        ("3 enter", approved("# A\n1. b", Mode::Ask, true)),
    ] {
        let mut screen = Screen::new();
        screen.ask(plan("p", "# A\n1. b")).keys("ctrl+x p").wait(300).keys(keys);
        assert_eq!(answered(&screen.acts()), vec![answer], "{keys}");
    }
    let mut screen = Screen::new();
    screen.ask(plan("p", "# A")).keys("ctrl+x p").wait(300).keys("r enter").type_text("more 1 tests").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::PlanChanges("more 1 tests".to_owned())]);

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
    assert_eq!(screen.acts(), vec![SessionCommand::Mode { mode: Mode::Execute, drop_plan: true }]);
}

#[test]
fn questions_take_an_option_or_words() {
    let mut screen = Screen::new();
    screen.ask(question("q", &["red", "blue"])).keys("f3").wait(300).keys("2 enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Reply("blue".to_owned())]);
    let mut screen = Screen::new();
    screen.ask(question("q", &[])).keys("f3").wait(300).keys("r enter").type_text("green").keys("enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Reply("green".to_owned())]);
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
    screen.session("a", SessionEvent::Changed(Box::new(other.clone()))).keys("ctrl+x a");
    assert!(
        screen
            .sent()
            .contains(&Command::Session { id: id("a"), command: SessionCommand::Open { rows: session::ROWS } })
    );
    let mut opened = snapshot(other);
    opened.requests = vec![approval("ra")];
    screen.session("a", SessionEvent::Opened(Box::new(opened))).wait(300).keys("enter");
    assert_eq!(screen.state.contexts().first(), Some(&Context::Approval));
    screen.wait(299).keys("y enter");
    assert_eq!(screen.sent(), vec![]);
    screen.wait(1).keys("enter y enter");
    let sent = screen.sent();
    let expected = SessionCommand::Answer { request: RequestId::new("ra"), answer: UserAnswer::Once, shown: None };
    assert_eq!(sent, vec![Command::Session { id: id("a"), command: expected }]);
    assert_eq!(screen.state.conversations.current, Current::Session(id("s")), "without leaving the session");
}

#[test]
fn a_text_in_the_inbox_goes_to_the_composer_where_it_is_seen() {
    for keys in ["x", "y e", "y y", "9"] {
        let mut screen = equal_ones();
        screen.keys(keys);
        assert!(screen.state.overlays.is_empty(), "{keys}");
        assert_eq!((screen.text(), screen.state.focus), (keys.replace(' ', ""), Focus::Composer), "{keys}");
        assert_eq!(who_was_answered(&mut screen), Vec::<String>::new(), "{keys}");
    }
    let mut screen = equal_ones();
    screen.keys("y").msg(Msg::Paste("yes\n".to_owned()));
    assert_eq!((screen.text().as_str(), screen.state.overlays.len()), ("yes\n", 0));
    let mut screen = equal_ones();
    screen.msg(Msg::Typed("yes".to_owned())).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
}

#[test]
fn a_text_in_the_inbox_goes_to_the_session_that_asks() {
    for typed in ["hello there", "yes"] {
        let mut screen = equal_ones();
        screen.state.overlays.clear();
        screen.keys("ctrl+x 1").wait(300);
        let shown = screen.state.current_id().cloned();
        screen.keys("ctrl+x a").wait(300);
        let asks = match screen.state.overlays.last() {
            Some(Overlay::Inbox(inbox)) => inbox.rows.iter().position(|row| Some(&row.session) != shown.as_ref()),
            other => panic!("{other:?}"),
        };
        for _ in 0..asks.unwrap() {
            screen.keys("down");
        }
        let session = inbox(&screen).rows[inbox(&screen).selected].session.clone();
        screen.keys("enter").wait(300).msg(Msg::Typed(typed.to_owned()));
        assert_ne!(Some(&session), shown.as_ref());
        assert_eq!(screen.state.current_id(), Some(&session));
        assert_eq!((screen.text().as_str(), screen.state.focus), (typed, Focus::Composer));
        assert!(screen.state.panel().is_some(), "the key of the hint leads back to the question");
        assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
        let other = &screen.state.conversations.open[&shown.unwrap()].composer;
        assert!(other.is_empty());
    }
}

#[test]
fn two_letters_are_a_text_and_one_word_of_it_is_not_sent_unasked() {
    for (keys, typed) in [("y y", "yy"), ("y n", "yn"), ("s x", "sx"), ("1 2", "12"), ("y f", "yf"), ("n space", "n ")]
    {
        let mut screen = waiting();
        screen.keys("f3").wait(300).keys(keys);
        assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, typed));
        assert_eq!(selected(&screen), None, "{keys}");
        screen.wait(2_000).keys("enter");
        assert_eq!(screen.acts(), vec![], "{keys} looks like an answer");
        assert!(screen.last_notice().contains(typed.trim()), "{}", screen.last_notice());
        screen.keys("enter");
        assert_eq!(screen.acts(), vec![SessionCommand::send(typed)], "Enter again sends it");
    }
    let mut screen = waiting();
    screen.keys("f3").wait(300).type_text("yes, but only the tests").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("yes, but only the tests")], "a sentence is a message");
    let mut screen = waiting();
    screen.keys("f3").wait(300).msg(Msg::Typed("yes".to_owned()));
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "yes"), "one read is one text");
}

#[test]
fn nobody_trusts_what_is_below_the_edge() {
    use crate::domain::request::{TrustRequest, TrustWhat};
    let request = TrustRequest {
        what: TrustWhat::Sources,
        path: "/w/.mcp.json".into(),
        hash: "x".into(),
        text: "line\n".repeat(100),
        changed: false,
        starts: Vec::new(),
    };
    let mut screen = Screen::new();
    screen.ask(Request { id: RequestId::new("t"), ask: Ask::Trust(Box::new(request)) }).keys("f3").wait(300);
    let frame = &mut screen.state.screen.frame;
    (frame.panel_rows, frame.panel_scroll, frame.panel_hidden) = (5, 0, 6);
    screen.keys("down enter");
    assert_eq!(screen.acts(), vec![]);
    assert!(screen.last_notice().contains("more to read"), "{}", screen.last_notice());
    screen.state.screen.frame.panel_scroll = 4;
    screen.keys("enter");
    assert_eq!(screen.acts(), vec![]);
    screen.state.screen.frame.panel_scroll = 6;
    screen.keys("enter");
    assert_eq!(screen.acts().len(), 1, "all of it was on the screen");
}

#[test]
fn a_word_that_answers_elsewhere_is_not_sent_unasked_while_a_request_waits() {
    for typed in ["y", "n", "1", "Yes", "no", "OK", "approve", "y/diff", "sn/archive", "y/diff/undo"] {
        let mut screen = waiting();
        screen.wait(2_000).type_text(typed).keys("enter");
        assert_eq!((screen.acts(), screen.text().as_str()), (vec![], typed));
        assert!(screen.last_notice().contains("looks like an answer"), "{}", screen.last_notice());
        screen.keys("enter");
        assert_eq!(screen.acts(), vec![SessionCommand::send(typed)], "Enter again sends it");
    }
    for typed in ["yes please", "why", "2 + 2", "ja", "a/b", "s/old/new/", "src/help"] {
        let mut screen = waiting();
        screen.wait(2_000).type_text(typed).keys("enter");
        assert_eq!(screen.acts(), vec![SessionCommand::send(typed)]);
    }
}

#[test]
fn what_holds_the_turn_stands_before_a_plan_that_nobody_works_with() {
    let shown = |screen: &Screen| screen.state.current_open().unwrap().panel.as_ref().unwrap().request.clone();
    let steps = "# A\n1. b\n2. c";
    for (keys, first) in [("", "r1"), ("ctrl+x p", "p"), ("ctrl+x p j d esc", "p")] {
        let mut screen = Screen::new();
        screen.ask(plan("p", steps)).draw(true).wait(300);
        keys.split(' ').filter(|keys| !keys.is_empty()).fold(&mut screen, |screen, key| match key {
            "ctrl+x" => screen.key(Key::parse("ctrl+x").unwrap()),
            key => screen.key(Key::parse(key).unwrap()).wait(500),
        });
        screen.ask(approval("r1"));
        assert_eq!(shown(&screen), RequestId::new(first), "{keys}");
        screen.session("s", SessionEvent::Settled { request: RequestId::new("r1"), by: None });
        assert_eq!(shown(&screen), RequestId::new("p"), "{keys}");
    }
}

#[test]
fn a_notice_about_a_draft_and_a_request_goes_with_either() {
    let held = || {
        let mut screen = waiting();
        screen.keys("f3").wait(300).keys("y y").wait(2_000).keys("enter");
        assert!(screen.last_notice().starts_with("Not sent"), "{}", screen.last_notice());
        screen
    };
    let mut sent = held();
    sent.keys("enter");
    assert!(!sent.last_notice().starts_with("Not sent"));
    let mut changed = held();
    changed.type_text("es");
    assert!(!changed.last_notice().starts_with("Not sent"));
    let mut answered_elsewhere = held();
    answered_elsewhere.session("s", SessionEvent::Settled { request: RequestId::new("r1"), by: None });
    assert_eq!(answered_elsewhere.last_notice(), "");
    let mut left_alone = held();
    left_alone.wait(1_000);
    assert!(left_alone.last_notice().starts_with("Not sent"));
}

#[test]
fn enter_counts_a_while_after_the_mark() {
    let mut screen = waiting();
    screen.keys("f3").wait(300).key(Key::char('y')).wait(149).key(Key::plain(Code::Enter));
    assert_eq!(screen.acts(), vec![]);
    screen.wait(1).key(Key::plain(Code::Enter));
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once]);
}

#[test]
fn a_command_typed_a_while_after_a_mark_begins_with_its_slash() {
    for (apart, text) in [(100, "y/diff"), (500, "/diff")] {
        let mut screen = waiting();
        screen.keys("f3").wait(300).key(Key::char('y')).wait(apart).type_text("/diff");
        assert_eq!((screen.text().as_str(), answered(&screen.acts())), (text, vec![]), "{apart} ms");
    }
}

fn catastrophic(id: &str) -> Request {
    let mut request = approval(id);
    if let Ask::Approval(approval) = &mut request.ask {
        approval.irreversible = true;
    }
    request
}

#[test]
fn what_cannot_be_taken_back_is_selected_by_arrows() {
    for keys in ["y", "1", "s", "2"] {
        let mut screen = Screen::new();
        screen.ask(catastrophic("r1")).draw(true).keys("f3").wait(300).keys(keys).wait(200).keys("enter enter");
        assert_eq!(answered(&screen.acts()), vec![], "{keys}");
    }
    let mut screen = Screen::new();
    screen.ask(catastrophic("r1")).draw(true).keys("f3").wait(300).keys("down enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once]);
    let mut screen = Screen::new();
    screen.ask(catastrophic("r1")).keys("f3").wait(300).keys("n enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::No(None)]);
    for keys in ["e", "2", "4"] {
        let mut screen = Screen::new();
        screen.ask(plan("p", "# A\n1. b")).keys("ctrl+x p").wait(300).keys(keys).wait(200).keys("enter");
        assert_eq!((answered(&screen.acts()), screen.text().as_str()), (vec![], ""));
        // With more of it the letter was the beginning of a text.
        screen.wait(400).keys(keys).type_text("xit");
        assert_eq!((answered(&screen.acts()), screen.text()), (vec![], format!("{keys}xit")));
    }
    // The arrows that the notice names go on working.
    let mut screen = Screen::new();
    screen.ask(catastrophic("r1")).draw(true).keys("f3").wait(300).keys("y").wait(200).keys("down enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once]);
}

#[test]
fn one_chord_says_yes_to_what_stood_on_the_screen() {
    for keys in ["f4", "ctrl+x ctrl+y"] {
        let mut screen = waiting();
        screen.type_text("draft").wait(440).keys(keys);
        assert_eq!(screen.acts(), vec![], "too soon after it appeared");
        screen.wait(10).keys(keys).type_text("ed");
        assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once], "{keys}");
        assert_eq!((screen.text().as_str(), screen.state.focus), ("drafted", Focus::Composer));
    }
    // Another content begins anew.
    let mut screen = waiting();
    screen.wait(500).ask(wide("r1")).keys("f4").draw(true).wait(499).keys("f4");
    assert_eq!(screen.acts(), vec![]);
    screen.wait(1).keys("f4");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Once]);
    for request in [catastrophic("r1"), plan("r1", "# A"), question("r1", &["a"])] {
        let mut screen = Screen::new();
        screen.ask(request).draw(true).wait(500).keys("f4").wait(500).keys("f4");
        assert_eq!((answered(&screen.acts()), screen.state.focus), (vec![], Focus::Panel));
    }
    for keys in ["f6", "f6 f6", "ctrl+p"] {
        let mut screen = waiting();
        screen.wait(500).keys(keys).keys("f4");
        assert_eq!(answered(&screen.acts()), vec![], "{keys}");
    }
    let mut screen = waiting();
    if let Some((_, whole)) = &mut screen.state.screen.frame.panel {
        *whole = false;
    }
    screen.wait(500).keys("f4");
    assert_eq!((answered(&screen.acts()), screen.state.focus), (vec![], Focus::Panel), "to be read first");
}

#[test]
fn a_text_from_the_composer_answers_the_question_that_is_seen() {
    let mut screen = Screen::new();
    screen.type_text("green, and").ask(question("q", &["red"])).draw(true).wait(499).keys("enter");
    assert_eq!(screen.acts(), vec![], "it was begun as a message");
    screen.wait(1).keys("enter");
    assert_eq!(answered(&screen.acts()), vec![UserAnswer::Reply("green, and".to_owned())]);
    assert_eq!(screen.text(), "");
    // Behind an approval nobody sees it.
    let mut screen = waiting();
    screen.ask(question("q", &["red"])).draw(true).wait(500).type_text("hello there").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("hello there")]);
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
        screen.session(name, SessionEvent::Changed(Box::new(meta)));
        screen.keys(if name == "a" { "ctrl+x 1" } else { "ctrl+x 2" });
        screen.session(name, SessionEvent::Opened(Box::new(opened)));
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
        Command::Session { id: session, command: SessionCommand::Answer { request, .. } } => {
            Some(format!("{session} {}", request.as_str()))
        }
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
    screen.whole(EngineEvent::Deleted { session: id("s"), trash: None, pages: 0 });
    screen.keys("enter").wait(299).keys("enter");
    assert_eq!(who_was_answered(&mut screen), Vec::<String>::new());
    assert!(inbox(&screen).answering.is_none());
    let said: Vec<String> = screen.state.notices.iter().map(|n| n.text.clone()).collect();
    assert!(said.iter().any(|text| text.contains("No longer pending")), "{said:?}");

    // In the pane: what stands there then does not get the focus.
    let mut screen = waiting();
    let mut other = meta("a");
    other.activity = Activity::NeedsYou("approve".to_owned());
    screen.session("a", SessionEvent::Changed(Box::new(other.clone()))).keys("ctrl+x 1");
    screen.session("a", SessionEvent::Opened(Box::new(Opened { requests: vec![approval("ra")], ..snapshot(other) })));
    screen.keys("f3").wait(300).keys("y");
    screen.whole(EngineEvent::Deleted { session: id("a"), trash: None, pages: 0 });
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
    screen.session("s", SessionEvent::Opened(Box::new(opened))).keys("enter").wait(299).keys("enter");
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
        Step::Settle(request) => {
            screen.session("s", SessionEvent::Settled { request: RequestId::new(request), by: None })
        }
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
    /// Several characters in one read, or a paste.
    Text(String, bool, u64),
    /// One of the ways to the panel that are no plain key: by number.
    Way(u8, u64),
    Ask(Box<Request>, u64),
    Settle(String, u64),
    Draw(u64),
}

fn arb_move() -> impl Strategy<Value = Move> {
    let key = prop_oneof![
        6 => prop::sample::select("ysnwremafgj123459 abz".chars().collect::<Vec<_>>()).prop_map(Key::char),
        5 => Just(Key::plain(Code::Enter)),
        2 => prop::sample::select(vec!["up", "down", "esc", "shift+tab", "backspace", "ctrl+u", "pagedown", "f4"])
            .prop_map(|name| Key::parse(name).unwrap()),
    ];
    let pause = prop_oneof![4 => 0..200u64, 3 => 200..400u64, 2 => 400..3_000u64];
    // The same id with other bytes is another content.
    let request = (0u8..2, 0u8..4).prop_map(|(n, kind)| {
        let id = format!("r{n}");
        Box::new(match kind {
            0 => wide(&id),
            1 => catastrophic(&id),
            _ => approval(&id),
        })
    });
    prop_oneof![
        14 => (key, pause.clone()).prop_map(|(key, ms)| Move::Key(key, ms)),
        2 => ("[ynsw1 ]{2,4}", any::<bool>(), pause.clone()).prop_map(|(text, paste, ms)| Move::Text(text, paste, ms)),
        4 => (0u8..3, pause.clone()).prop_map(|(way, ms)| Move::Way(way, ms)),
        2 => (request, pause.clone()).prop_map(|(request, ms)| Move::Ask(request, ms)),
        1 => (0u8..2, pause.clone()).prop_map(|(n, ms)| Move::Settle(format!("r{n}"), ms)),
        2 => pause.prop_map(Move::Draw),
    ]
}

/// Request that has the keys, in the panel or in the inbox; else the one that the panel shows.
fn about(screen: &Screen) -> (bool, Option<Request>) {
    let state = &screen.state;
    let (session, panel) = match state.overlays.last() {
        Some(Overlay::Inbox(inbox)) => match &inbox.answering {
            Some((session, panel)) => (session.clone(), panel.clone()),
            None => return (false, None),
        },
        Some(_) => return (false, None),
        None => match (state.current_id(), state.panel()) {
            (Some(session), Some((panel, _))) => (session.clone(), panel.clone()),
            _ => return (false, None),
        },
    };
    let focused = !state.overlays.is_empty() || state.focus == Focus::Panel;
    (focused, state.request(&session, &panel.request).cloned())
}

/// The answer that is selected there.
fn chosen(screen: &Screen) -> Option<Choice> {
    match screen.state.overlays.last() {
        Some(Overlay::Inbox(inbox)) => inbox.answering.as_ref().and_then(|(_, panel)| panel.choice().cloned()),
        _ => selected(screen),
    }
}

/// True while text is written in it.
fn writes(screen: &Screen) -> bool {
    screen.state.contexts().first() == Some(&Context::Input)
}

/// Letters that an answer may rest on.
#[derive(Debug, Default)]
struct Deliberate {
    /// Time of each that came since the last arrow, the focus or another content.
    letters: Vec<At>,
    /// Time of the last of them, if it marked nothing: what may be irreversible is chosen by arrows.
    refused: Option<At>,
}

fn send(screen: &mut Screen, one: Move) -> (Option<Key>, bool) {
    match one {
        Move::Key(pressed, ms) => {
            screen.wait(ms).key(pressed);
            return (Some(pressed), false);
        }
        Move::Text(text, paste, ms) => {
            screen.wait(ms);
            if paste || super::chooses(&screen.state) {
                screen.msg(if paste { Msg::Paste(text) } else { Msg::Typed(text) });
            }
        }
        Move::Way(n, ms) => {
            screen.wait(ms);
            match n {
                0 => drop(screen.keys("f3")),
                1 => drop(screen.keys("ctrl+x y")),
                _ => {
                    let press = crate::app::msg::MouseKind::Press;
                    screen.msg(Msg::Mouse(crate::app::msg::Mouse { kind: press, col: 50, row: 30 }));
                }
            }
            return (None, true);
        }
        Move::Ask(request, ms) => drop(screen.wait(ms).ask(*request)),
        Move::Settle(id, ms) => {
            screen.wait(ms).session("s", SessionEvent::Settled { request: RequestId::new(id), by: None });
        }
        Move::Draw(ms) => drop(screen.wait(ms).draw(true)),
    }
    (None, false)
}

/// Plays the moves from here and holds each answer against the rule.
fn only_deliberate(screen: &mut Screen, moves: Vec<Move>) -> Result<(), TestCaseError> {
    let mut changed = At(i64::MIN / 2);
    let mut held = Deliberate::default();
    for one in moves {
        let before = about(screen);
        let (text, wrote, choice) = (screen.text(), writes(screen), chosen(screen));
        let seen = screen.state.input.moments.panel_seen;
        let idle = screen.state.input.last_key;
        let context = screen.state.contexts().first().copied();
        let deaf = screen.state.input.quiet_until;
        let (key, way) = send(screen, one.clone());
        let (now, after) = (screen.state.clock.now, about(screen));
        let dropped = now < deaf;
        let rested = key.is_some_and(|key| key.code == Code::Enter) && now.since(idle) >= 1_500 && text.is_empty();
        let f4 = key == Key::parse("f4").ok();
        let in_list = context == Some(Context::Inbox) && key.is_some_and(|key| key.code == Code::Enter);
        let way = way || rested || f4 || in_list;
        let quiet = now.since(changed) >= 300;
        prop_assert!(before.0 || !after.0 || way, "the focus came by {:?}", one);
        let sent = screen.sent();
        let answers = sent
            .iter()
            .filter(|command| matches!(command, Command::Session { command: SessionCommand::Answer { .. }, .. }));
        let answers = answers.count();
        if answers > 0 && f4 {
            prop_assert!(now.since(seen) >= 500 && before.1.is_some());
            let grave = matches!(&before.1, Some(Request { ask: Ask::Approval(a), .. }) if a.irreversible);
            prop_assert!(!grave, "a chord said yes to what cannot be taken back");
        } else if answers > 0 {
            prop_assert_eq!(key.map(|key| key.code), Some(Code::Enter));
            prop_assert!(before.0 && quiet && choice.is_some(), "{:?} {:?}", before, choice);
            if !wrote {
                prop_assert!(held.letters.len() <= 1, "{:?} is text", held);
                prop_assert!(held.letters.iter().all(|at| now.since(*at) >= 150));
                let grave = matches!(&before.1, Some(Request { ask: Ask::Approval(a), .. }) if a.irreversible);
                let yes = matches!(choice, Some(Choice::Once | Choice::Session | Choice::Workspace));
                prop_assert!(!(grave && yes) || held.letters.is_empty());
            }
        }
        // What is printable is seen where it lands, unless what had the keys has just changed, or it moved an answer.
        let lands = key.and_then(Key::printable).filter(|_| screen.state.overlays.is_empty());
        if let Some(c) = lands.filter(|_| !wrote && (!before.0 || !after.0) && quiet) {
            prop_assert!(screen.text().ends_with(c), "{:?} is not in {:?}", c, screen.text());
            prop_assert_eq!(screen.state.focus, Focus::Composer);
        }
        match key {
            _ if before != after || !after.0 || matches!(one, Move::Way(..)) => held = Deliberate::default(),
            Some(key) if writes(screen) || matches!(key.code, Code::Up | Code::Down) => held = Deliberate::default(),
            // A letter that scrolls, opens or counts marks nothing.
            Some(key) if matches!(key.code, Code::Char('m' | 'a' | 'f' | 'g' | 'j')) => {}
            Some(key) if key.printable().is_some() && quiet && !dropped => {
                if held.refused.is_some_and(|at| now.since(at) >= 400) {
                    held.letters.clear();
                }
                held.letters.push(now);
                held.refused = chosen(screen).is_none().then_some(now);
            }
            _ => {}
        }
        // Only what was looked at with the focus changes under the keys.
        if (matches!(one, Move::Way(0 | 1, _)) && !dropped) || (before != after && (before.0 || after.0)) {
            changed = now;
        }
        // Two Escs lead elsewhere; that is another matter.
        if screen.state.overlays.iter().any(|one| !matches!(one, Overlay::Inbox(_))) {
            while !screen.state.overlays.is_empty() {
                screen.keys("esc").wait(700);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Any order of keys, pastes, clicks, frames and requests at any times: the panel gets the focus in one of its ways only;
    /// an answer is Enter on what arrows or exactly one letter selected, 300 ms after the focus or another content and
    /// 150 ms after the letter at the earliest, or the chord on what stood there for 500 ms; and what is printable lands in
    /// the composer, unless the panel had the focus or what had it has just changed.
    #[test]
    fn an_answer_is_always_deliberate(moves in prop::collection::vec(arb_move(), 1..60)) {
        only_deliberate(&mut Screen::new(), moves)?;
    }

    /// The same from the inbox.
    #[test]
    fn an_answer_in_the_inbox_is_always_deliberate(moves in prop::collection::vec(arb_move(), 1..40)) {
        only_deliberate(&mut equal_ones(), moves)?;
    }
}

#[test]
fn a_letter_that_marks_nothing_is_text_with_the_next_one_unless_that_comes_late() {
    for (apart, answers) in [(0, false), (100, false), (500, true)] {
        let mut screen = Screen::new();
        screen.ask(catastrophic("r1")).draw(true).keys("f3").wait(300);
        screen.keys("1").wait(apart).keys("3").wait(150);
        screen.fx.clear();
        screen.keys("enter");
        assert_eq!(!screen.acts().is_empty(), answers, "{apart} ms: {:?}", screen.acts());
        assert!(answers || screen.text() == "13", "{apart} ms: {:?}", screen.text());
    }
}

#[test]
fn a_click_on_a_hint_is_its_key_but_not_at_once() {
    use crate::app::msg::{Mouse, MouseKind};
    use crate::keymap::action::{Action, AppAction, PickerAction};
    for (action, sends) in [(Action::App(AppAction::Back), false), (Action::Picker(PickerAction::Accept), true)] {
        let mut screen = Screen::new();
        screen.session("s", SessionEvent::Changed(Box::new(SessionMeta { activity: Activity::Idle, ..meta("s") })));
        screen.type_text("/clear").keys("enter");
        assert!(matches!(screen.state.overlay(), Some(Overlay::Confirm(_))), "{:?}", screen.state.overlays);
        let areas = vec![(Area { x: 0, y: 0, w: 10, h: 1 }, Target::Act(action))];
        screen.msg(Msg::Drawn(Box::new(Frame { areas, ..Frame::default() })));
        screen.fx.clear();
        let press = Mouse { kind: MouseKind::Press, col: 2, row: 0 };
        screen.msg(Msg::Mouse(press));
        assert!(screen.state.overlay().is_some(), "a click on its way was meant for what stood there before");
        screen.wait(300).msg(Msg::Mouse(press));
        assert!(screen.state.overlay().is_none());
        assert_eq!(!screen.acts().is_empty(), sends, "{action:?}");
    }
}
