//! The keys of the composer, the list, the panes and the ways out.

use super::*;
use crate::app::effect::Keep;
use crate::app::msg::{Mouse, MouseKind};
use crate::app::state::overlay::{Help, HelpPage, Overlay};
use crate::app::state::{Focus, Quit};
use crate::domain::manual::TOPICS;
use crate::domain::prompt_text::PromptKind;
use crate::domain::session::Worktree;
use crate::protocol::{Command, EngineCommand, EngineEvent, NewSession, QueueEdit, SessionCommand, SessionEvent};

fn queued(id: &str, text: &str) -> Queued {
    Queued {
        id: MessageId::new(id),
        text: text.to_owned(),
        at: At(NOON),
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    }
}

fn overlay_name(screen: &Screen) -> &'static str {
    match screen.state.overlay() {
        None => "none",
        Some(Overlay::Help(_)) => "help",
        Some(Overlay::Picker(picker)) => picker.kind.title(),
        Some(Overlay::Inbox(_)) => "inbox",
        Some(Overlay::Rename(_)) => "rename",
        Some(Overlay::Find) => "find",
        Some(Overlay::Confirm(_)) => "confirm",
        Some(Overlay::Prompt(_)) => "prompt",
        Some(Overlay::Trash(_)) => "trash",
        Some(Overlay::Audit(_)) => "audit",
        Some(Overlay::Context(_)) => "context",
        Some(Overlay::Usage(_)) => "usage",
        Some(Overlay::Rules(_)) => "rules",
        Some(Overlay::Sources(_)) => "sources",
        Some(Overlay::Extensions(_)) => "extensions",
        Some(Overlay::Jobs(_)) => "jobs",
        Some(Overlay::Queue(_)) => "queue",
        Some(Overlay::Health(_)) => "health",
        Some(Overlay::Undo(_)) => "undo",
        Some(Overlay::Changes(_)) => "changes",
        Some(Overlay::ConfirmQuit) => "quit?",
    }
}

fn running(screen: &mut Screen) {
    let mut running = meta("s");
    running.activity = Activity::Running(At(NOON));
    screen
        .session("s", SessionEvent::Changed(Box::new(running)))
        .session("s", SessionEvent::TurnStarted { at: At(NOON) });
    screen.fx.clear();
}

#[test]
fn enter_sends_and_remembers() {
    let mut screen = Screen::new();
    screen.type_text("hello").keys("enter");
    let sent = screen.sent();
    assert!(sent.contains(&Command::Engine(EngineCommand::Remember { text: "hello".to_owned() })));
    assert!(sent.contains(&Command::Session { id: id("s"), command: SessionCommand::send("hello") }));
    assert!(screen.state.composer().is_empty());
    assert_eq!(screen.state.current_open().unwrap().chat.entries.len(), 0, "the engine tells what is shown");
    screen.keys("enter").type_text("  ").keys("enter");
    assert_eq!(screen.acts(), vec![]);
}

#[test]
fn lines_are_broken_by_many_keys_and_sent_by_none_of_them() {
    for keys in ["shift+enter", "alt+enter", "ctrl+j", "\\ enter"] {
        let mut screen = Screen::new();
        screen.type_text("a").keys(keys).type_text("b");
        assert_eq!((screen.text().as_str(), screen.acts()), ("a\nb", vec![]), "{keys}");
    }
    let mut screen = Screen::new();
    screen.msg(Msg::Paste("a\r\nb\rc\x1b[31m\n".to_owned()));
    assert_eq!((screen.text().as_str(), screen.acts()), ("a\nb\nc[31m\n", vec![]));
}

#[test]
fn ctrl_x_enter_steers_a_running_turn_only() {
    let mut screen = Screen::new();
    screen.type_text("a").keys("ctrl+x enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("a")]);
    running(&mut screen);
    screen.type_text("b").keys("ctrl+x enter").type_text("c").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::steer("b"), SessionCommand::send("c")]);
}

#[test]
fn up_takes_the_queue_back_then_walks_the_history() {
    let mut screen = Screen::new();
    screen.session(
        "s",
        SessionEvent::Queue { items: vec![queued("q1", "one"), queued("q2", "two")], held: false, steers: vec![] },
    );
    screen.keys("up");
    assert_eq!(screen.text(), "two");
    assert_eq!(screen.acts(), vec![SessionCommand::Queue(QueueEdit::Remove { id: MessageId::new("q2") })]);
    assert_eq!(screen.state.current_open().unwrap().queue.len(), 1);

    let mut screen = Screen::new();
    screen.type_text("draft").keys("up");
    assert_eq!(screen.text(), "second");
    screen.keys("up up up");
    assert_eq!(screen.text(), "first");
    screen.keys("down");
    assert_eq!(screen.text(), "second");
    screen.keys("down");
    assert_eq!(screen.text(), "draft");
    screen.keys("down");
    assert_eq!(screen.text(), "draft");
}

#[test]
fn in_a_text_of_several_lines_up_moves_first() {
    let mut screen = Screen::new();
    screen.type_text("a").keys("ctrl+j").type_text("b").keys("up");
    assert_eq!(screen.text(), "a\nb");
    screen.keys("up");
    assert_eq!(screen.text(), "second");
    screen.keys("down");
    assert_eq!(screen.text(), "a\nb");
}

#[test]
fn a_held_queue_is_let_go_by_enter() {
    let mut screen = Screen::new();
    screen
        .session("s", SessionEvent::Queue { items: vec![queued("q", "one")], held: true, steers: vec![] })
        .keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::Queue(QueueEdit::Release)]);
}

#[test]
fn esc_closes_then_stops() {
    let mut screen = Screen::new();
    running(&mut screen);
    screen.keys("ctrl+p esc");
    assert_eq!((overlay_name(&screen), screen.acts()), ("none", vec![]));
    screen.type_text("/").keys("esc");
    assert!(!screen.state.composer().offers());
    assert_eq!(screen.acts(), vec![]);
    screen.wait(799).keys("esc");
    assert_eq!(screen.acts(), vec![], "an Esc too many stops no turn");
    screen.wait(1).keys("esc");
    assert_eq!(screen.acts(), vec![SessionCommand::Stop]);
    assert_eq!(screen.text(), "/", "the draft stays");
    // Nothing of the turn is shown any more.
    screen.session("s", SessionEvent::Row(Box::new(assistant_row("m", "a"))));
    screen.session("s", SessionEvent::Delta { id: MessageId::new("m"), add: "b".to_owned() });
    let open = screen.state.current_open().unwrap();
    assert_eq!(crate::app::state::search::text_of(&open.chat.entries[0].message.body), vec!["a"]);
    screen.keys("esc");
    assert_eq!(screen.acts(), vec![], "it is stopped once");
}

#[test]
fn ctrl_c_keeps_stops_and_quits() {
    let mut screen = Screen::new();
    running(&mut screen);
    screen.type_text("draft").keys("ctrl+c");
    assert_eq!(screen.text(), "");
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Remember { text: "draft".to_owned() })));
    screen.keys("ctrl+c");
    assert_eq!(screen.acts(), vec![SessionCommand::Stop]);
    screen.session("s", SessionEvent::TurnEnded { end: crate::protocol::TurnEnd::Stopped });
    screen.session("s", SessionEvent::Changed(Box::new(meta("s")))).keys("ctrl+c");
    assert_eq!(screen.state.ending.quit, Quit::OnceMore(Key::parse("ctrl+c").unwrap()));
    screen.keys("x backspace ctrl+c");
    assert!(!screen.sent().contains(&Command::Engine(EngineCommand::Shutdown)), "another key starts it anew");
    screen.keys("ctrl+c");
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Shutdown)));
    screen.whole(EngineEvent::Ended);
    assert!(screen.fx.contains(&Effect::Quit { resume: None, workspace: None }));
}

#[test]
fn ctrl_d_deletes_in_a_draft_and_asks_while_turns_run() {
    let mut screen = Screen::new();
    screen.type_text("ab").keys("home ctrl+d");
    assert_eq!(screen.text(), "b");
    screen.keys("ctrl+u delete ctrl+d");
    screen.msg(Msg::Timer(Timer::Quit));
    assert_eq!(screen.state.ending.quit, Quit::No);
    running(&mut screen);
    screen.keys("end backspace ctrl+d ctrl+d");
    assert_eq!(overlay_name(&screen), "quit?");
    screen.keys("enter enter");
    assert!(!screen.sent().contains(&Command::Engine(EngineCommand::Shutdown)), "keys on their way are no answer");
    screen.wait(300).keys("y");
    assert_eq!((overlay_name(&screen), screen.sent()), ("quit?", vec![]), "a letter is no answer");
    screen.keys("enter");
    assert_eq!((overlay_name(&screen), screen.sent()), ("quit?", vec![]), "nor is Enter behind one");
    screen.keys("enter");
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Shutdown)));
}

#[test]
fn the_draft_is_saved_within_half_a_second() {
    let mut screen = Screen::new();
    screen.type_text("abc");
    let arms: Vec<u64> = screen
        .fx
        .iter()
        .filter_map(|effect| match effect {
            Effect::Arm { timer: Timer::Draft(_), ms } => Some(*ms),
            _ => None,
        })
        .collect();
    assert!(matches!(arms.as_slice(), [ms] if *ms <= 500), "{arms:?}");
    screen.fx.clear();
    screen.msg(Msg::Timer(Timer::Draft(id("s"))));
    assert_eq!(screen.sent(), vec![Command::Session { id: id("s"), command: SessionCommand::draft("abc") }]);
    screen.type_text("d").keys("ctrl+n");
    let saved = Command::Session { id: id("s"), command: SessionCommand::draft("abcd") };
    assert!(screen.sent().contains(&saved), "leaving the session saves at once");
}

#[test]
fn shift_tab_cycles_the_mode_also_faster_than_the_engine() {
    let mut screen = Screen::new();
    screen.keys("shift+tab ctrl+x m shift+tab");
    let modes: Vec<Mode> = screen
        .acts()
        .into_iter()
        .filter_map(|act| match act {
            SessionCommand::Mode { mode, drop_plan: false } => Some(mode),
            _ => None,
        })
        .collect();
    assert_eq!(modes, vec![Mode::Execute, Mode::Explore, Mode::Ask]);
}

fn modes(screen: &mut Screen) -> Vec<Mode> {
    let mode = |act| match act {
        SessionCommand::Mode { mode, drop_plan: false } => Some(mode),
        _ => None,
    };
    screen.acts().into_iter().filter_map(mode).collect()
}

#[test]
fn explore_is_passed_while_an_approval_waits_and_set_when_the_key_rests() {
    let executing = || {
        let mut screen = Screen::new();
        screen.session("s", SessionEvent::Changed(Box::new(SessionMeta { mode: Mode::Execute, ..meta("s") })));
        screen.ask(approval("r1")).draw(true);
        screen.fx.clear();
        screen
    };
    let mut screen = executing();
    screen.keys("shift+tab");
    assert_eq!(modes(&mut screen), [], "it would refuse what waits");
    assert!(screen.last_notice().contains("Next mode is Explore"), "{}", screen.last_notice());
    screen.wait(300).keys("ctrl+x m");
    assert_eq!(modes(&mut screen), [Mode::Ask]);
    screen.wait(2_000).msg(Msg::Timer(Timer::Mode));
    assert_eq!(modes(&mut screen), [], "it was passed");

    let mut screen = executing();
    screen.keys("shift+tab").wait(1_000).msg(Msg::Timer(Timer::Mode));
    assert_eq!(modes(&mut screen), [Mode::Explore]);

    for go_on in ["x", "f3", "f6"] {
        let mut screen = executing();
        screen.keys("shift+tab").wait(100).keys(go_on);
        assert_eq!(modes(&mut screen), [Mode::Explore], "{go_on}: the user goes on");
    }

    let mut screen = executing();
    screen.session("s", SessionEvent::Settled { request: RequestId::new("r1"), by: None });
    screen.keys("shift+tab");
    assert_eq!(modes(&mut screen), [Mode::Explore], "nothing pending");
}

#[test]
fn tab_changes_pane_only_with_an_empty_draft() {
    let mut screen = Screen::new();
    screen.keys("tab");
    assert_eq!(screen.state.focus, Focus::List);
    screen.keys("tab");
    assert_eq!(screen.state.focus, Focus::Chat);
    screen.keys("tab").type_text("a").keys("tab");
    assert_eq!(screen.state.focus, Focus::Composer);
    screen.keys("f6");
    assert_eq!(screen.state.focus, Focus::List);
    screen.keys("ctrl+x o");
    assert_eq!(screen.state.focus, Focus::Chat);
}

#[test]
fn a_letter_in_the_list_acts_after_a_while() {
    let mut screen = Screen::new();
    screen.keys("f6 r");
    assert_eq!(overlay_name(&screen), "none");
    screen.wait(220).msg(Msg::Timer(Timer::HeldLetter));
    assert_eq!(overlay_name(&screen), "rename");

    // A different letter follows: it was the start of a text.
    for (first, second) in [("r", "e"), ("n", "o"), ("r", "j"), ("n", "z")] {
        let mut screen = Screen::new();
        screen.keys("f6").keys(first).wait(219).keys(second).msg(Msg::Timer(Timer::HeldLetter));
        assert_eq!(screen.state.focus, Focus::Composer, "{first}{second}");
        assert_eq!((screen.text(), overlay_name(&screen)), (format!("{first}{second}"), "none"));
        assert_eq!(screen.state.current_id(), Some(&id("s")));
    }
    // The same letter is a key held down.
    let mut screen = Screen::new();
    screen.keys("f6 r r r").wait(220).msg(Msg::Timer(Timer::HeldLetter));
    assert_eq!((overlay_name(&screen), screen.text().as_str()), ("rename", ""));
    // Another key lets the letter act first; the late timer does nothing more.
    let mut screen = Screen::new();
    screen.keys("f6 r").wait(20).keys("enter").msg(Msg::Timer(Timer::HeldLetter));
    assert_eq!((overlay_name(&screen), screen.acts()), ("rename", vec![]));
}

#[test]
fn words_typed_while_the_conversation_has_the_keys_are_a_message() {
    let mut screen = Screen::new();
    screen.keys("f6 f6");
    assert_eq!(screen.state.focus, Focus::Chat);
    for c in "hold on".chars() {
        screen.key(Key::char(c)).wait(100);
    }
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Composer, "hold on"));
    // One alone acts; a key that moves does so at once.
    let mut screen = Screen::new();
    screen.keys("f6 f6").key(Key::char('o'));
    assert!(screen.state.input.letter.is_some());
    screen.wait(220).msg(Msg::Timer(Timer::HeldLetter));
    assert!(screen.state.input.letter.is_none());
    screen.keys("j n k");
    assert_eq!((screen.state.focus, screen.text().as_str()), (Focus::Chat, ""));
}

#[test]
fn list_keys_that_act_at_once() {
    let mut screen = Screen::new();
    screen.keys("f6 g");
    let first = screen.state.sessions.order().next().cloned();
    assert_eq!(screen.state.sessions.selected().cloned(), first);
    screen.keys("j");
    assert_eq!(screen.state.sessions.selected(), screen.state.sessions.order().nth(1));
    screen.keys("G");
    assert_eq!(screen.state.sessions.selected(), screen.state.sessions.order().last());
    screen.keys("k enter");
    assert_eq!(screen.state.focus, Focus::Composer, "opening gives the composer the focus");
    assert_eq!(screen.state.current_id(), screen.state.sessions.selected());
}

#[test]
fn unbound_letters_in_list_and_chat_do_nothing() {
    for keys in ["f6", "f6 f6"] {
        let mut screen = Screen::new();
        screen.keys(keys);
        let focus = screen.state.focus;
        screen.fx.clear();
        for letter in ["c", "q", "w"] {
            screen.keys(letter).wait(220).msg(Msg::Timer(Timer::HeldLetter));
        }
        assert_eq!((screen.state.focus, screen.text().as_str(), screen.sent()), (focus, "", vec![]));
    }
}

#[test]
fn the_filter_narrows_the_list() {
    let mut screen = Screen::new();
    screen.keys("f6 /").type_text("title b");
    assert_eq!(screen.state.sessions.order().collect::<Vec<_>>(), vec![&id("b")]);
    screen.keys("enter enter");
    assert_eq!(screen.state.current_id(), Some(&id("b")));
    screen.keys("f6 esc");
    assert_eq!(screen.state.sessions.order().count(), 3);
}

#[test]
fn slash_commands_run_complete_and_name_the_nearest() {
    let mut screen = Screen::new();
    screen.type_text("/rename A new name").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::Rename { title: "A new name".to_owned() }]);
    for (typed, opened) in [
        ("/rename", "rename"),
        ("/mode", "Permission mode"),
        ("/model", "Model"),
        ("/theme", "Theme"),
        ("/thinking", "Thinking level"),
        ("/help", "Commands"),
        ("/keys", "help"),
        ("/inbox", "inbox"),
    ] {
        let mut screen = Screen::new();
        screen.type_text(typed).keys("enter");
        assert_eq!(overlay_name(&screen), opened, "{typed}");
        assert_eq!((screen.text().as_str(), screen.acts()), ("", vec![]));
        screen.keys("esc");
        assert_eq!(screen.state.focus, Focus::Composer);
    }
    let mut screen = Screen::new();
    screen.type_text("/exp").keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Mode { mode: Mode::Explore, drop_plan: false }],
        "the selected one is run"
    );
    screen.type_text("/rena").keys("tab");
    assert_eq!(screen.text(), "/rename ");
    let mut screen = Screen::new();
    screen.type_text("/modle x").keys("enter");
    assert!(screen.last_notice().contains("/model"), "{}", screen.last_notice());
    assert_eq!((screen.text().as_str(), screen.acts()), ("/modle x", vec![]), "the text stays");
    let mut screen = Screen::new();
    screen.type_text("/etc/hosts is odd").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("/etc/hosts is odd")]);
    screen.type_text("/thinking hihg").keys("enter");
    assert_eq!((screen.text().as_str(), screen.acts()), ("/thinking hihg", vec![]));
}

#[test]
fn a_context_is_used_by_its_name() {
    let choose =
        |name: Option<&str>| SessionCommand::UsePrompt { kind: PromptKind::Context, name: name.map(str::to_owned) };
    for (typed, acts) in [
        ("/context use writer", vec![choose(Some("writer"))]),
        ("/context use none", vec![choose(None)]),
        ("/context none", vec![choose(None)]),
        ("/context list", vec![SessionCommand::Context]),
        ("/context use", vec![]),
        ("/context use a b", vec![]),
        ("/context writer", vec![]),
    ] {
        let mut screen = Screen::new();
        screen.type_text(typed).keys("esc enter");
        assert_eq!(screen.acts(), acts, "{typed}");
    }
}

#[test]
fn a_long_paste_is_a_chip_that_is_sent_whole() {
    let long: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let mut screen = Screen::new();
    screen.type_text("see ").msg(Msg::Paste(long.clone())).type_text("!");
    assert_eq!(screen.state.composer().editor().text(), "see [Pasted text #1 +30 lines]!");
    screen.keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send(format!("see {long}!"))]);
    screen.msg(Msg::Paste(long.clone())).keys("ctrl+x v");
    assert_eq!(screen.state.composer().editor().text(), long);
    screen.keys("ctrl+c").msg(Msg::Paste(long)).keys("backspace");
    assert!(screen.state.composer().is_empty(), "a chip goes as one");
}

#[test]
fn themes_are_looked_at_and_chosen() {
    let mut screen = Screen::new();
    screen.msg(Msg::Themes { names: vec!["dark".to_owned(), "light".to_owned()], current: "dark".to_owned() });
    screen.type_text("/theme").keys("enter down");
    // The runtime says which one is drawn with.
    screen.msg(Msg::Themes { names: vec!["dark".to_owned(), "light".to_owned()], current: "light".to_owned() });
    screen.keys("esc");
    assert_eq!(screen.state.theme.current, "dark", "looking at one does not choose it");
    let themes = |screen: &Screen| {
        let of = |effect: &Effect| match effect {
            Effect::Theme { name, keep } => Some((name.clone(), *keep)),
            _ => None,
        };
        screen.fx.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(themes(&screen), vec![("light".to_owned(), Keep::No), ("dark".to_owned(), Keep::No)]);
    screen.type_text("/theme").keys("enter down enter");
    assert_eq!(themes(&screen).last(), Some(&("light".to_owned(), Keep::Yes)));
    assert_eq!(screen.state.theme.current, "light");
    screen.fx.clear();
    screen.type_text("/theme").keys("enter").type_text("dark");
    assert_eq!(themes(&screen), vec![("dark".to_owned(), Keep::No)], "typing selects as well");
}

#[test]
fn a_chord_shows_what_can_follow_and_can_be_left() {
    let mut screen = Screen::new();
    screen.keys("ctrl+x");
    assert!(screen.fx.contains(&Effect::Arm { timer: Timer::Chord, ms: 400 }));
    screen.wait(400).msg(Msg::Timer(Timer::Chord));
    assert!(screen.state.input.chord.strip);
    screen.keys("esc");
    assert_eq!((screen.state.input.chord.keys.len(), screen.state.input.chord.strip), (0, false));
    screen.keys("ctrl+x %");
    assert_eq!(screen.text(), "", "the rest of a chord that is none is not typed");
}

#[test]
fn help_opens_with_a_question_mark_on_an_empty_draft_only() {
    let mut screen = Screen::new();
    screen.keys("?");
    assert_eq!(overlay_name(&screen), "help");
    screen.keys("esc").type_text("why?");
    assert_eq!((overlay_name(&screen), screen.text().as_str()), ("none", "why?"));
}

#[test]
fn topics_of_the_manual_open_by_name_and_from_the_palette() {
    let topic = |screen: &Screen| match screen.state.overlay() {
        Some(Overlay::Help(Help { page: HelpPage::Topic(topic), .. })) => Some(topic.name),
        _ => None,
    };
    let mut screen = Screen::new();
    screen.type_text("/help undo").keys("enter");
    assert_eq!((topic(&screen), screen.text().as_str()), (Some("undo"), ""));
    screen.keys("esc");
    assert_eq!((overlay_name(&screen), screen.state.focus), ("none", Focus::Composer));
    screen.type_text("/help").keys("enter").type_text("review and undo").keys("enter");
    assert_eq!(topic(&screen), Some("undo"), "the list of commands names the topics");
    let mut screen = Screen::new();
    screen.type_text("/help aprovlas").keys("enter");
    assert_eq!((topic(&screen), screen.text().as_str()), (None, "/help aprovlas"), "the text stays");
    assert!(screen.last_notice().starts_with("No help topic \"aprovlas\". Closest match: approvals"));
}

#[test]
fn help_over_the_conversation_leads_back_to_it() {
    let mut screen = Screen::new();
    screen.state.focus = Focus::Chat;
    screen.keys("? esc");
    assert_eq!((overlay_name(&screen), screen.state.focus), ("none", Focus::Chat));
}

#[test]
fn a_page_of_help_scrolls_to_its_ends_and_no_further() {
    let mut screen = Screen::new();
    screen.type_text("/help undo").keys("enter");
    (screen.state.screen.frame.overlay_rows, screen.state.screen.frame.overlay_lines) = (10, 35);
    let scroll = |screen: &Screen| match screen.state.overlay() {
        Some(Overlay::Help(help)) => help.scroll,
        _ => panic!("no help"),
    };
    for (key, at) in [("j", 1), ("space", 10), ("G", 25), ("j", 25), ("k", 24), ("g", 0), ("k", 0), ("end", 25)] {
        screen.keys(key);
        assert_eq!(scroll(&screen), at, "{key}");
    }
    screen.keys("q");
    assert_eq!(overlay_name(&screen), "none");
}

#[test]
fn a_new_session_can_be_written_in_before_the_engine_made_it() {
    let mut screen = Screen::new();
    screen.type_text("old draft").keys("ctrl+n").type_text("hello");
    assert_eq!((&screen.state.conversations.current, screen.text().as_str()), (&Current::New, "hello"));
    screen.keys("enter").type_text("more");
    screen.session("n", SessionEvent::Opened(Box::new(snapshot(meta("n")))));
    assert_eq!(screen.state.conversations.current, Current::Session(id("n")));
    assert_eq!(screen.text(), "more");
    let first = Command::Session { id: id("n"), command: SessionCommand::send("hello") };
    assert_eq!(screen.sent().iter().filter(|command| **command == first).count(), 1);
}

#[test]
fn a_session_with_a_worktree_is_shown_when_it_is_made_and_takes_no_others_place() {
    let mut screen = Screen::new();
    screen.type_text("/worktree").keys("enter");
    let asked = NewSession { worktree: true, ..NewSession::default() };
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Create(asked))));
    let shown = screen.state.current_id().cloned();
    assert!(shown.is_some(), "what was shown stays meanwhile");
    let mut made = meta("w");
    made.worktree = Some(Worktree { repository: "/r".into(), path: "/d/w".into(), branch: "lisle/w".into() });
    screen.session("w", SessionEvent::Opened(Box::new(snapshot(made.clone()))));
    assert_eq!(screen.state.current_id(), Some(&made.id));
}

#[test]
fn a_click_opens_a_session_with_the_composer_in_focus() {
    let mut screen = Screen::new();
    let mut frame = screen.state.screen.frame.clone();
    frame.areas.push((Area { x: 0, y: 3, w: 30, h: 1 }, Target::ListRow(id("b"))));
    screen.keys("f6").msg(Msg::Drawn(Box::new(frame)));
    screen.msg(Msg::Mouse(Mouse { kind: MouseKind::Press, col: 4, row: 3 }));
    assert_eq!((screen.state.current_id(), screen.state.focus), (Some(&id("b")), Focus::Composer));
}

#[test]
fn arrows_move_what_the_filter_found() {
    let mut screen = Screen::new();
    screen.keys("f6 /").type_text("title").keys("down");
    let order: Vec<SessionId> = screen.state.sessions.order().cloned().collect();
    assert_eq!(order.len(), 3);
    assert_eq!(screen.state.sessions.selected(), order.get(1));
}

#[test]
fn a_wish_from_outside_to_end_saves_and_shuts_down_once() {
    let mut screen = Screen::new();
    screen.type_text("abc").msg(Msg::Terminate).msg(Msg::Terminate);
    let sent = screen.sent();
    let draft = Command::Session { id: id("s"), command: SessionCommand::draft("abc") };
    assert_eq!(sent, vec![draft, Command::Engine(EngineCommand::Shutdown)]);
    screen.type_text("x").keys("enter");
    assert_eq!(screen.sent(), vec![], "nothing is begun any more");
    screen.msg(Msg::Timer(Timer::Quit));
    assert!(matches!(screen.fx.as_slice(), [.., Effect::Quit { .. }]));
}

#[test]
fn the_palette_runs_what_it_shows() {
    let mut screen = Screen::new();
    screen.keys("ctrl+p").type_text("choose the permission mode").keys("enter");
    assert_eq!(overlay_name(&screen), "Permission mode");
    let mut screen = Screen::new();
    screen.ask(approval("r1")).keys("ctrl+p").type_text("answer the request of this session").keys("enter");
    assert_eq!(screen.state.focus, Focus::Panel);
    assert_eq!(screen.state.panel().and_then(|(panel, _)| panel.selected), None);
    screen.keys("enter enter");
    assert_eq!(screen.acts(), vec![]);
}

#[test]
fn models_come_from_the_connections() {
    use crate::domain::ids::ConnectionName;
    use crate::protocol::ConnectionInfo;
    let info = |name: &str, offered| ConnectionInfo {
        name: ConnectionName::new(name),
        provider: "openai-compatible".to_owned(),
        default_model: "small".to_owned(),
        small_model: String::new(),
        models: vec!["small".to_owned(), "big".to_owned()],
        host: String::new(),
        key_from: None,
        missing: None,
        offered,
    };
    let mut screen = Screen::new();
    let connections = vec![info("one", false), info("two", true)];
    screen.whole(EngineEvent::Configured(Box::new(Configured { connections, ..Configured::default() })));
    screen.fx.clear();
    screen.keys("alt+p");
    let name = ConnectionName::new("one");
    let asked = |sent: Vec<Command>| -> Vec<Command> {
        sent.into_iter().filter(|command| matches!(command, Command::Engine(EngineCommand::Models { .. }))).collect()
    };
    let ask = vec![Command::Engine(EngineCommand::Models { connection: name.clone() })];
    assert_eq!(asked(screen.sent()), ask, "what was only found is not asked");
    screen.whole(EngineEvent::Models { connection: name.clone(), models: Ok(vec!["told".to_owned()]) });
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Figures {
        connection: name.clone(),
        models: ["small", "big", "told"].map(str::to_owned).to_vec(),
    })));
    screen.keys("tab");
    assert_eq!(asked(screen.sent()), ask, "once more, when the user says so");
    screen.type_text("told").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::Model { connection: Some(name), model: "told".to_owned() }]);
    let mut locked = meta("s");
    locked.connection = Some(ConnectionName::new("two"));
    locked.connection_locked = true;
    screen.session("s", SessionEvent::Changed(Box::new(locked))).type_text("/model big").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::Model { connection: None, model: "big".to_owned() }]);
}

#[test]
fn a_draft_that_begins_with_an_exclamation_mark_is_a_command() {
    let mut screen = Screen::new();
    screen.type_text("!ls -l").keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::Type { command: "ls -l".to_owned() }]);
    assert_eq!(screen.text(), "");
    let mut screen = Screen::new();
    screen.type_text("!").keys("enter");
    assert_eq!((screen.acts(), screen.text().as_str()), (vec![], "!"));
    let mut screen = Screen::new();
    running(&mut screen);
    screen.type_text("!ls").keys("enter");
    assert_eq!((screen.acts(), screen.text().as_str()), (vec![], "!ls"), "it waits in the composer");
    let mut screen = Screen::new();
    screen.type_text(" !ls").keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::send(" !ls")]);
}

#[test]
fn what_can_follow_a_command_is_offered() {
    let offered = |typed: &str| {
        let mut screen = Screen::new();
        screen.state.theme.names = vec!["nord".to_owned(), "mono".to_owned()];
        screen.type_text(typed);
        let menu = screen.state.composer().menu.clone();
        menu.map(|menu| menu.rows.into_iter().map(|row| row.label).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(offered("/theme "), ["nord", "mono"]);
    assert_eq!(offered("/theme no"), ["nord", "mono"]);
    assert_eq!(offered("/theme nord"), Vec::<String>::new(), "what is written out needs no offer");
    assert_eq!(offered("/density "), ["lines", "tails", "full"]);
    assert_eq!(offered("/mode e"), ["explore", "execute"]);
    assert_eq!(offered("/delete -"), ["--now"]);
    assert_eq!(offered("/help app"), ["approvals"]);
    assert_eq!(offered("/help ").len(), TOPICS.len());
    for none in ["/rename x", "/new x", "/zzz x", "a /mode e"] {
        assert_eq!(offered(none), Vec::<String>::new(), "{none}");
    }
    let mut screen = Screen::new();
    screen.type_text("/mode exp").keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Mode { mode: Mode::Explore, drop_plan: false }],
        "Enter completes and runs"
    );
    let mut screen = Screen::new();
    screen.type_text("/mode ").keys("down down tab");
    assert_eq!((screen.text().as_str(), screen.acts()), ("/mode execute", vec![]), "Tab only completes");
    let mut screen = Screen::new();
    screen.type_text("/mode ").keys("enter");
    assert_eq!(overlay_name(&screen), "Permission mode", "nothing typed and nothing chosen: as without the offer");
}

#[test]
fn own_commands_are_filled_and_those_of_a_repository_shown_before() {
    use crate::domain::command::OwnCommand;
    use crate::domain::extension::ExtensionOrigin;
    let own = |name: &str, origin| OwnCommand {
        name: name.to_owned(),
        description: "fix an issue".to_owned(),
        hint: "[ISSUE]".to_owned(),
        text: "Fix $1.".to_owned(),
        origin,
        path: format!("/r/.lisle/commands/{name}.md").into(),
        hash: format!("hash of {name}"),
        ..OwnCommand::default()
    };
    let mut screen = Screen::new();
    screen.state.drafts.commands = vec![own("fix", ExtensionOrigin::User), own("ship", ExtensionOrigin::Repository)];
    screen.type_text("/fi").keys("tab");
    assert_eq!(screen.text(), "/fix ");
    screen.type_text("12").keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Send { text: "Fix 12.".to_owned(), attachments: vec![], piped: None }]
    );
    screen.type_text("/ship 3").keys("enter");
    assert_eq!((overlay_name(&screen), screen.acts()), ("confirm", vec![]));
    assert!(matches!(screen.state.overlay(), Some(Overlay::Confirm(asked)) if asked.says.concat().contains("Fix 3.")));
    screen.wait(400).keys("esc").wait(800);
    assert_eq!(screen.acts(), vec![]);
    screen.keys("enter").wait(400).keys("enter").wait(800);
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Send { text: "Fix 3.".to_owned(), attachments: vec![], piped: Some(0) }]
    );
    screen.type_text("/ship 4").keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Send { text: "Fix 4.".to_owned(), attachments: vec![], piped: Some(0) }],
        "it was seen"
    );
    assert!(screen.state.kept().commands.contains(&"hash of ship".to_owned()));
    screen.type_text("/shpi").keys("enter");
    assert!(screen.last_notice().contains("/ship"), "{}", screen.last_notice());
}

#[test]
fn files_are_offered_behind_an_at_sign() {
    use crate::app::msg::{Found, Hit};
    let mut screen = Screen::new();
    screen.type_text("look at @ma");
    let asked = screen.fx.iter().rev().find_map(|effect| match effect {
        Effect::Find { ticket, query, folders: false, .. } => Some((*ticket, query.clone())),
        _ => None,
    });
    let (ticket, query) = asked.unwrap();
    assert_eq!(query, "ma");
    let hit = |path: &str| Hit { path: path.to_owned(), folder: path.ends_with('/'), marks: vec![0] };
    screen.msg(Msg::Found(Box::new(Found { ticket: ticket - 1, hits: vec![hit("old.rs")] })));
    assert!(!screen.state.composer().offers(), "an answer to an older question");
    screen.msg(Msg::Found(Box::new(Found { ticket, hits: vec![hit("src/main/"), hit("src/a b.rs"), hit("main.rs")] })));
    screen.keys("down enter");
    assert_eq!((screen.text().as_str(), screen.acts()), ("look at @\"src/a b.rs\" ", vec![]));
    screen.type_text("a@b").keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Send { text: "look at @\"src/a b.rs\" a@b".to_owned(), attachments: vec![], piped: None }]
    );
}

#[test]
fn a_name_that_begins_with_what_was_typed_stands_before_files() {
    use crate::app::msg::{Found, Hit};
    use crate::domain::command::OwnCommand;
    use crate::domain::extension::ExtensionKind;
    let first = |typed: &str| {
        let mut screen = Screen::new();
        let name = "main-reviewer".to_owned();
        screen.state.drafts.commands =
            vec![OwnCommand { name, kind: ExtensionKind::Agent, trusted: true, ..OwnCommand::default() }];
        screen.type_text(typed);
        let asked = screen.fx.iter().rev().find_map(|effect| match effect {
            Effect::Find { ticket, .. } => Some(*ticket),
            _ => None,
        });
        let hits = vec![Hit { path: "src/main.rs".to_owned(), folder: false, marks: vec![] }];
        screen.msg(Msg::Found(Box::new(Found { ticket: asked.unwrap(), hits })));
        let rows: Vec<String> =
            screen.state.composer().menu.iter().flat_map(|menu| &menu.rows).map(|row| row.label.clone()).collect();
        assert_eq!(rows.len(), 2, "{rows:?}");
        rows[0].clone()
    };
    assert_eq!(first("@ma"), "main-reviewer");
    assert_eq!(first("@rev"), "src/main.rs", "a part within a name says less");
}

#[test]
fn enter_goes_into_a_folder_and_then_means_it() {
    use crate::app::msg::{Found, Hit};
    let find = |screen: &Screen| {
        screen
            .fx
            .iter()
            .rev()
            .find_map(|effect| if let Effect::Find { ticket, .. } = effect { Some(*ticket) } else { None })
    };
    let hits = |screen: &mut Screen, paths: &[&str]| {
        let ticket = find(screen).unwrap();
        let hit = |path: &&str| Hit { path: (*path).to_owned(), folder: path.ends_with('/'), marks: vec![] };
        screen.msg(Msg::Found(Box::new(Found { ticket, hits: paths.iter().map(hit).collect() })));
    };
    let ready = |typed: &str| {
        let mut screen = Screen::new();
        screen.type_text(typed);
        screen
    };
    let cwd = |path: &str| vec![SessionCommand::Cwd(path.into())];
    // A part of a name: the first Enter writes it out, the second one means it.
    let mut screen = ready("/cwd sr");
    hits(&mut screen, &["src/", "src/agent/"]);
    screen.keys("enter");
    hits(&mut screen, &["src/agent/", "src/app/"]);
    assert_eq!((screen.text().as_str(), screen.acts()), ("/cwd src/", vec![]));
    screen.keys("enter");
    assert_eq!(screen.acts(), cwd("/w/src/"));
    // The arrows go on into it.
    let mut screen = ready("/cwd src/");
    hits(&mut screen, &["src/agent/", "src/app/"]);
    screen.keys("down enter");
    assert_eq!((screen.text().as_str(), screen.acts()), ("/cwd src/app/", vec![]));
    // A whole name needs one Enter.
    let mut screen = ready("/cwd src");
    hits(&mut screen, &["src/", "src/agent/"]);
    screen.keys("enter");
    assert_eq!(screen.acts(), cwd("/w/src"));
    let mut screen = ready("/import old/");
    hits(&mut screen, &["old/attachments/", "old/header.json"]);
    screen.keys("enter");
    assert!(
        matches!(screen.sent().as_slice(), [Command::Engine(EngineCommand::Import { path, .. })] if path.as_os_str() == "old/"),
        "{:?}",
        screen.sent()
    );
}

#[test]
fn modes_of_keys_in_the_composer() {
    let mut screen = Screen::new();
    screen.state.keys = std::sync::Arc::new(crate::keymap::load_style("vim").unwrap().table);
    running(&mut screen);
    screen.type_text("one two").keys("esc esc esc");
    assert_eq!(screen.acts(), vec![], "Esc never stops a turn here");
    screen.keys("b d w a X");
    assert_eq!(screen.text(), "one X");
    screen.keys("esc f x ? /");
    assert_eq!(screen.text(), "one X", "verbs type nothing");
    screen.keys("0 f X x");
    assert_eq!(screen.text(), "one ");
    screen.keys("u enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::Send { text: "one X".to_owned(), attachments: vec![], piped: None }]
    );
    screen.type_text("k").keys("esc k");
    assert_eq!(screen.text(), "one X", "at the edge the walk through what was sent begins");
    screen.keys("j");
    assert_eq!(screen.text(), "k");
}

#[test]
fn the_pages_of_the_strip_are_turned_within_the_chord() {
    let mut screen = Screen::new();
    screen.keys("ctrl+x").msg(Msg::Timer(Timer::Chord));
    assert!(screen.state.input.chord.strip);
    screen.keys("tab").keys("space");
    assert_eq!((screen.state.input.chord.page, screen.state.input.chord.keys.len()), (2, 1));
    screen.keys("l");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(_))), "the chord went on");
    assert_eq!(screen.state.input.chord.page, 0);
    screen.keys("esc").keys("ctrl+x").keys("tab");
    assert!(screen.state.input.chord.keys.is_empty(), "without the strip it is a slip");
}

#[test]
fn a_program_that_takes_the_terminal_is_not_begun() {
    for (typed, starts) in [
        ("!vim notes.md", false),
        ("!EDITOR=x sudo /usr/bin/nano a", false),
        ("!top", false),
        ("!top -bn1", true),
        ("!vim -es -c q", true),
        ("!tmux ls", true),
        ("!ls vim", true),
        ("!git log", true),
    ] {
        let mut screen = Screen::new();
        screen.type_text(typed).keys("enter");
        assert_eq!(!screen.acts().is_empty(), starts, "{typed}");
        let told = screen.last_notice().contains("needs a terminal");
        assert_eq!((told, screen.text().is_empty()), (!starts, starts), "{typed}: the line stays to be changed");
    }
}

#[test]
fn skills_and_trusted_commands_are_sent_by_name_and_offered_with_agents() {
    use crate::domain::command::OwnCommand;
    use crate::domain::extension::{ExtensionKind, ExtensionOrigin};
    let own = |kind, name: &str, text: &str, trusted| OwnCommand {
        kind,
        name: name.to_owned(),
        description: format!("does {name}"),
        text: text.to_owned(),
        origin: ExtensionOrigin::Repository,
        hash: format!("hash of {name}"),
        trusted,
        ..OwnCommand::default()
    };
    let mut screen = Screen::new();
    screen.state.drafts.commands = vec![
        own(ExtensionKind::Command, "deploy", "Now: !`make`", false),
        own(ExtensionKind::Skill, "deploy", "", true),
        own(ExtensionKind::Skill, "pdf", "", true),
        own(ExtensionKind::Skill, "plan", "", true),
        own(ExtensionKind::Skill, "ship", "", false),
        own(ExtensionKind::Agent, "revoked", "", false),
        own(ExtensionKind::Agent, "reviewer", "", true),
        own(ExtensionKind::Command, "state", "Now: !`git status`", true),
    ];
    let sent = |text: &str| vec![SessionCommand::Send { text: text.to_owned(), attachments: vec![], piped: None }];
    for (typed, expected) in [("/pdf fill it", "/pdf fill it"), ("/state", "/state")] {
        screen.type_text(typed).keys("enter").wait(800);
        assert_eq!(screen.acts(), sent(expected), "{typed}");
    }
    // A command of the same name comes first, and runs nothing before it is trusted; an agent is no command.
    screen.type_text("/deploy now").keys("enter");
    assert!(
        screen.acts().is_empty() && screen.last_notice().contains("/deploy is not trusted"),
        "{}",
        screen.last_notice()
    );
    screen.keys("ctrl+c").type_text("/ship now").keys("enter");
    assert!(
        screen.acts().is_empty() && screen.last_notice().contains("/ship is not trusted"),
        "{}",
        screen.last_notice()
    );
    screen.keys("ctrl+c").type_text("/reviewer x").keys("enter");
    assert!(
        screen.acts().is_empty() && screen.last_notice().contains("No command /reviewer"),
        "{}",
        screen.last_notice()
    );
    screen.keys("ctrl+c").type_text("ask @rev").keys("tab");
    assert_eq!(screen.text(), "ask @reviewer ", "one that is not trusted is not offered");
    screen.keys("ctrl+c").type_text("use @pla").keys("tab");
    assert_eq!(screen.text(), "use @plan ");
}

#[test]
fn extensions_are_listed_and_used() {
    use crate::domain::extension::{ExtensionKind, ExtensionOrigin, ExtensionState, ExtensionView};
    let view = |kind, name: &str, state| ExtensionView {
        kind,
        name: name.to_owned(),
        description: String::new(),
        origin: ExtensionOrigin::Home,
        file: "/f".into(),
        state,
        tokens: 3,
        notes: Vec::new(),
    };
    let mut screen = Screen::new();
    screen.type_text("/extensions").keys("enter");
    assert_eq!((overlay_name(&screen), screen.acts()), ("extensions", vec![SessionCommand::Extensions]));
    let known = vec![
        view(ExtensionKind::Source, "files", ExtensionState::On),
        view(ExtensionKind::Agent, "reviewer", ExtensionState::On),
        view(ExtensionKind::Command, "ship", ExtensionState::NotTrusted),
    ];
    screen.session("s", SessionEvent::Extensions(known));
    screen.keys("enter");
    assert_eq!(
        screen.acts(),
        vec![SessionCommand::UseSource { source: "files".into(), on: false }, SessionCommand::Extensions]
    );
    screen.keys("down").keys("enter");
    assert_eq!((overlay_name(&screen), screen.text().as_str()), ("none", "@reviewer "));
}
