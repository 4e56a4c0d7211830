//! Operations on whole sessions: properties, branches, rewinding, the trash, health, and resent messages.

use super::*;
use crate::app::msg::ShareAnswer;
use crate::app::state::Focus;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::domain::export::{Format, Masked, SharedFile};
use crate::domain::property::{Definition, Label, Properties, ValueType};
use crate::domain::property_change::PropertyChange;
use crate::domain::session::ThinkingLevel;
use crate::domain::session_health::HealthReport;
use crate::domain::trash::{TrashId, Trashed};
use crate::domain::undo::UndoAim;
use crate::protocol::{Command, EngineCommand, EngineEvent, NewSession, QueueEdit, SessionCommand, SessionEvent};

fn label(id: &str, value_type: Option<ValueType>, children: Vec<Label>) -> Label {
    let name = format!("{}{}", id[..1].to_uppercase(), &id[1..]);
    Label { id: id.to_owned(), name, color: None, value_type, children, rules: vec![] }
}

fn properties() -> Properties {
    let mut properties = Properties::builtin();
    properties.labels = vec![
        label("bug", None, vec![label("crash", None, vec![])]),
        label("prio", Some(ValueType::Number), vec![]),
        label("due", Some(ValueType::Date), vec![]),
    ];
    properties
}

fn ready() -> Screen {
    let mut screen = Screen::new();
    screen.whole(EngineEvent::Properties(Box::new(properties())));
    screen
}

/// Properties that were changed since the last look.
fn changes(screen: &mut Screen) -> Vec<(Vec<SessionId>, PropertyChange)> {
    screen
        .sent()
        .into_iter()
        .filter_map(|command| match command {
            Command::Engine(EngineCommand::Change { sessions, change }) => Some((sessions, change)),
            _ => None,
        })
        .collect()
}

fn one(change: PropertyChange) -> Vec<(Vec<SessionId>, PropertyChange)> {
    vec![(vec![id("s")], change)]
}

fn command(screen: &mut Screen, text: &str) {
    screen.type_text(text).keys("enter");
}

/// The question that is open.
fn asked(screen: &Screen) -> String {
    match screen.state.overlay() {
        Some(Overlay::Confirm(asked)) => format!("{}\n{}", asked.title, asked.says.join("\n")),
        _ => String::new(),
    }
}

fn yes(screen: &mut Screen) {
    screen.wait(400).keys("enter").wait(800);
}

#[test]
fn marks_are_turned_on_and_off() {
    let mut screen = ready();
    for (text, on, off) in [
        ("/flag", PropertyChange::Flagged(true), PropertyChange::Flagged(false)),
        ("/archive", PropertyChange::Archived(true), PropertyChange::Archived(false)),
        ("/unread", PropertyChange::Unread(true), PropertyChange::Unread(false)),
    ] {
        command(&mut screen, text);
        assert_eq!(changes(&mut screen), one(on));
        let mut marked = meta("s");
        (marked.flagged, marked.archived, marked.unread) = (true, true, true);
        screen.state.sessions.put(marked, At(NOON), 0);
        command(&mut screen, text);
        assert_eq!(changes(&mut screen), one(off));
        screen.state.sessions.put(meta("s"), At(NOON), 0);
    }
}

#[test]
fn a_status_is_chosen_or_named() {
    let mut screen = ready();
    screen.msg(Msg::Act { action: crate::keymap::action::SessionAction::Status.into(), key: None });
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("a picker") };
    assert_eq!(picker.chosen().map(|item| item.label.as_str()), Some("Todo"), "the one of now is selected");
    screen.type_text("review").keys("enter");
    assert_eq!(changes(&mut screen), one(PropertyChange::Status("needs-review".to_owned())));
    command(&mut screen, "/status in_progress");
    assert_eq!(changes(&mut screen), one(PropertyChange::Status("in-progress".to_owned())));
    command(&mut screen, "/status dnoe");
    assert_eq!(changes(&mut screen), []);
    assert!(screen.last_notice().contains("Closest match: done"), "{}", screen.last_notice());
}

#[test]
fn labels_are_added_and_taken_away_one_after_another() {
    let mut screen = ready();
    command(&mut screen, "/label");
    screen.type_text("crash").keys("enter");
    assert_eq!(changes(&mut screen), one(PropertyChange::AddLabel("crash".to_owned())));
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(_))), "it stays open");
    let mut labelled = meta("s");
    labelled.labels = vec!["crash".to_owned()];
    screen.session("s", SessionEvent::Changed(Box::new(labelled)));
    screen.keys("enter");
    assert_eq!(changes(&mut screen), one(PropertyChange::RemoveLabel("crash".to_owned())));
}

#[test]
fn a_label_that_wants_a_value_asks_for_one_that_fits() {
    let mut screen = ready();
    command(&mut screen, "/label prio");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Prompt(_))));
    screen.type_text("high").keys("enter");
    let Some(Overlay::Prompt(prompt)) = screen.state.overlay() else { panic!("it asks again") };
    assert!(prompt.problem.as_deref().is_some_and(|why| why.contains("number")));
    screen.keys("ctrl+u").type_text("2").keys("enter");
    assert_eq!(changes(&mut screen), one(PropertyChange::AddLabel("prio::2".to_owned())));
    // In the picker the value can be written at once.
    command(&mut screen, "/label");
    screen.type_text("due::2026-13-01").keys("enter");
    assert_eq!(changes(&mut screen), [], "no such month");
    screen.keys("ctrl+u").type_text("due::2026-12-01").keys("enter");
    assert_eq!(changes(&mut screen), one(PropertyChange::AddLabel("due::2026-12-01".to_owned())));
    screen.keys("esc");
    for (text, want) in [("/label due::2026-12-01T14:00", true), ("/label due::soon", false), ("/label bug::3", false)]
    {
        command(&mut screen, text);
        assert_eq!(changes(&mut screen).len(), usize::from(want), "{text}");
        screen.keys("ctrl+c");
    }
}

#[test]
fn a_label_that_is_missing_is_made_and_then_given() {
    let mut screen = ready();
    command(&mut screen, "/label");
    screen.type_text("Needs Docs").keys("enter");
    let name = "Needs Docs".to_owned();
    let wanted =
        Command::Engine(EngineCommand::Define(Definition::Label { name: name.clone(), under: None, value_type: None }));
    assert_eq!(screen.sent(), [wanted]);
    let mut more = properties();
    more.labels.push(Label { name, ..label("needs-docs", None, vec![]) });
    screen.whole(EngineEvent::Properties(Box::new(more)));
    assert_eq!(changes(&mut screen), one(PropertyChange::AddLabel("needs-docs".to_owned())));
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("it stays open") };
    assert!(picker.items.iter().any(|item| item.label == "Needs Docs"));
}

#[test]
fn a_branch_is_made_at_the_chosen_entry_and_opened() {
    let mut screen = ready();
    for (row, text) in [("m1", "one"), ("m2", "two"), ("m3", "three")] {
        screen.session("s", SessionEvent::Row(Box::new(user_row(row, text))));
    }
    screen.draw(true);
    command(&mut screen, "/branch");
    screen.keys("enter");
    assert_eq!(
        screen.sent().last(),
        Some(&Command::Engine(EngineCommand::Branch { session: id("s"), at: None, title: None })),
        "all of it"
    );
    command(&mut screen, "/branch");
    screen.keys("down enter");
    let before = Some(MessageId::new("m2"));
    assert_eq!(
        screen.sent().last(),
        Some(&Command::Engine(EngineCommand::Branch { session: id("s"), at: before, title: None })),
        "before the last"
    );
    screen.keys("tab tab K K ctrl+x b");
    let at = Some(MessageId::new("m2"));
    assert_eq!(screen.sent(), [Command::Engine(EngineCommand::Branch { session: id("s"), at, title: None })]);
    let mut branch = meta("n");
    branch.branched_from =
        Some(crate::domain::session::BranchedFrom { session: id("s"), message: MessageId::new("m2") });
    screen.whole(EngineEvent::SessionChanged(Box::new(branch)));
    screen.whole(EngineEvent::Branched { from: id("s"), to: id("n"), rewound: false });
    assert_eq!(screen.state.current_id(), Some(&id("n")));
    screen.keys("ctrl+x ^");
    assert_eq!(screen.state.current_id(), Some(&id("s")), "back to where it came from");
    // One that was made elsewhere does not take the screen.
    screen.whole(EngineEvent::Branched { from: id("a"), to: id("n"), rewound: false });
    assert_eq!(screen.state.current_id(), Some(&id("s")));
}

#[test]
fn going_back_asks_and_gives_the_text_back() {
    let mut screen = ready();
    screen.session("s", SessionEvent::Row(Box::new(user_row("m1", "one"))));
    screen.session("s", SessionEvent::Row(Box::new(assistant_row("m2", "answered"))));
    screen.session("s", SessionEvent::Row(Box::new(user_row("m3", "do the wrong thing"))));
    screen.draw(true);
    screen.keys("esc").wait(100).keys("esc");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(_))), "Esc twice");
    screen.fx.clear();
    screen.keys("enter");
    assert!(asked(&screen).contains("“do the wrong thing”") && asked(&screen).contains("Left out: 1 message"));
    screen.fx.clear();
    screen.keys("enter");
    assert_eq!(screen.sent(), [], "keys on their way do not answer");
    yes(&mut screen);
    assert_eq!(
        screen.sent(),
        [Command::Engine(EngineCommand::Rewind { session: id("s"), at: MessageId::new("m2"), files: None })]
    );
    screen.whole(EngineEvent::Branched { from: id("s"), to: id("n"), rewound: true });
    assert_eq!((screen.state.current_id(), screen.text().as_str()), (Some(&id("n")), "do the wrong thing"));
}

#[test]
fn going_back_before_an_approval_takes_its_mode_back_and_types_nothing() {
    let mut screen = ready();
    screen.whole(EngineEvent::SessionChanged(Box::new(SessionMeta { mode: Mode::Execute, ..meta("s") })));
    screen.session("s", SessionEvent::Row(Box::new(assistant_row("m2", "a plan"))));
    let text = format!("{} Permission mode: Execute.", crate::domain::plan::APPROVED);
    screen.session("s", SessionEvent::Row(Box::new(user_row("m3", &text))));
    screen.draw(true);
    screen.keys("esc").wait(100).keys("esc enter");
    assert!(asked(&screen).contains("before the approval"), "{}", asked(&screen));
    screen.fx.clear();
    yes(&mut screen);
    screen.whole(EngineEvent::Branched { from: id("s"), to: id("n"), rewound: true });
    assert_eq!((screen.state.current_id(), screen.text().as_str()), (Some(&id("n")), ""));
    let mode = Command::Session { id: id("n"), command: SessionCommand::Mode { mode: Mode::Ask, drop_plan: false } };
    assert!(screen.sent().contains(&mode));
}

#[test]
fn esc_says_what_a_second_one_does_for_as_long_as_that_is_true() {
    let mut screen = ready();
    screen.keys("esc");
    assert!(screen.state.notices.last().is_none(), "there is no message to rewind to");
    screen.session("s", SessionEvent::Row(Box::new(user_row("m1", "one"))));
    screen.wait(5_000).keys("esc");
    assert_eq!(screen.last_notice().trim(), "Esc again rewinds to an earlier message");
    screen.keys("x");
    assert!(screen.state.notices.last().is_none(), "with a draft it does not");
    screen.keys("ctrl+u").wait(5_000).keys("esc").wait(1_600);
    screen.msg(Msg::Timer(Timer::Notice));
    assert!(screen.state.notices.last().is_none(), "too late");
    screen.keys("esc");
    assert!(screen.state.overlays.is_empty(), "two presses far apart are no two presses");
    screen.wait(1_000).keys("esc");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Rewind));
    assert!(screen.state.notices.last().is_none());
}

#[test]
fn before_the_first_message_a_new_session_begins_with_its_text() {
    let mut screen = ready();
    command(&mut screen, "/rewind");
    assert!(screen.last_notice().contains("No message to rewind to"), "{}", screen.last_notice());
    screen.session("s", SessionEvent::Row(Box::new(user_row("m1", "one"))));
    screen.wait(5_000).keys("esc").wait(100).keys("esc enter");
    assert!(asked(&screen).contains("Opens a new session with the same settings"), "{}", asked(&screen));
    let aim = UndoAim::Since(MessageId::new("m1"));
    let plan = Command::Session { id: id("s"), command: SessionCommand::PlanUndo { aim } };
    assert!(screen.sent().contains(&plan));
    screen.fx.clear();
    yes(&mut screen);
    let sent = screen.sent();
    let [Command::Engine(EngineCommand::Create(settings))] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(settings.cwd.as_deref(), screen.state.sessions.meta(&id("s")).map(|meta| meta.cwd.as_path()));
    assert_eq!((screen.state.current_id(), screen.text().as_str()), (None, "one"));
}

#[test]
fn what_cannot_be_taken_back_asks_first() {
    let mut screen = ready();
    let wanted = |now| Command::Engine(EngineCommand::Delete { sessions: vec![id("s")], now });
    for (text, says, want) in [
        (
            "/clear",
            "Title, status, labels and settings stay",
            Command::Session { id: id("s"), command: SessionCommand::Clear },
        ),
        ("/delete", "/trash keeps it for 30 days", wanted(false)),
        ("/delete --now", "deleted permanently", wanted(true)),
    ] {
        command(&mut screen, text);
        assert!(asked(&screen).contains(says), "{}", asked(&screen));
        screen.fx.clear();
        screen.wait(400).keys("n").wait(800);
        assert_eq!(screen.sent(), [], "{text}");
        command(&mut screen, text);
        screen.fx.clear();
        yes(&mut screen);
        assert_eq!(screen.sent(), [want], "{text}");
    }
    command(&mut screen, "/delete all");
    assert!(screen.last_notice().contains("--now"));
}

#[test]
fn a_session_that_is_deleted_leaves_the_screen() {
    let mut screen = ready();
    screen.whole(EngineEvent::Deleted { session: id("s"), trash: Some(TrashId("s-1".to_owned())), pages: 0 });
    assert!(screen.state.sessions.meta(&id("s")).is_none() && !screen.state.conversations.open.contains_key(&id("s")));
    assert!(screen.state.current_id().is_some_and(|shown| *shown != id("s")), "the next one is shown");
}

#[test]
fn the_trash_gives_back() {
    let mut screen = ready();
    command(&mut screen, "/trash");
    assert_eq!(screen.sent().last(), Some(&Command::Engine(EngineCommand::Trash)));
    let row = |name: &str| Trashed {
        trash: TrashId(name.to_owned()),
        session: id("x"),
        title: name.to_owned(),
        deleted: At(NOON),
        bytes: 5,
        cleared: false,
    };
    screen.keys("enter");
    assert_eq!(screen.sent(), [], "nothing is there yet");
    screen.whole(EngineEvent::Trash(vec![row("a"), row("b"), row("c")])).keys("j enter");
    assert_eq!(
        screen.sent(),
        [
            Command::Engine(EngineCommand::Restore { trash: vec![TrashId("b".to_owned())] }),
            Command::Engine(EngineCommand::Trash)
        ]
    );
    screen.whole(EngineEvent::Trash(vec![row("a"), row("c")]));
    let Some(Overlay::Trash(bin)) = screen.state.overlay() else { panic!("it stays open") };
    assert_eq!(bin.selected, 1);
}

#[test]
fn a_repair_says_what_it_does() {
    let mut screen = ready();
    command(&mut screen, "/health");
    assert_eq!(screen.sent().last(), Some(&Command::Engine(EngineCommand::Verify { session: id("s"), repair: false })));
    screen.keys("r");
    assert!(asked(&screen).is_empty(), "nothing is known yet");
    let mut report = HealthReport { session: "s".to_owned(), ..HealthReport::default() };
    screen.whole(EngineEvent::Health(Box::new(report.clone()))).keys("r");
    assert!(asked(&screen).is_empty(), "there is nothing to repair");
    report.repairs = vec!["Line 3 goes to the salvage file.".to_owned()];
    screen.whole(EngineEvent::Health(Box::new(report.clone()))).keys("r");
    assert!(asked(&screen).contains("Line 3 goes") && asked(&screen).contains("A backup"));
    yes(&mut screen);
    assert_eq!(screen.sent(), [Command::Engine(EngineCommand::Verify { session: id("s"), repair: true })]);
    report.repaired = true;
    screen.whole(EngineEvent::Health(Box::new(report))).wait(400).keys("r");
    assert!(asked(&screen).is_empty());
    screen.keys("esc");
    assert!(screen.state.overlays.is_empty());
}

#[test]
fn taking_over_asks() {
    let mut screen = ready();
    command(&mut screen, "/takeover");
    assert!(screen.last_notice().contains("No other process"));
    let mut held = meta("s");
    held.held_by = Some("lisle on host (process 7)".to_owned());
    screen.session("s", SessionEvent::Changed(Box::new(held)));
    screen.keys("ctrl+p");
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("a picker") };
    let first = &picker.items[picker.hits[picker.selected].item];
    assert_eq!(first.label, "/takeover", "first in the palette of what can only be read");
    screen.keys("esc");
    command(&mut screen, "/takeover");
    assert!(asked(&screen).contains("process 7"));
    screen.fx.clear();
    yes(&mut screen);
    assert_eq!(screen.acts(), [SessionCommand::TakeOver]);
}

#[test]
fn the_directory_is_changed() {
    let mut screen = ready();
    for (text, want) in [("/cwd sub/dir", "/w/sub/dir"), ("/cwd /else", "/else"), ("/cwd ~/x", "~/x")] {
        command(&mut screen, text);
        assert_eq!(screen.acts(), [SessionCommand::Cwd(PathBuf::from(want))]);
    }
    command(&mut screen, "/cwd");
    screen.type_text("/more").keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::Cwd(PathBuf::from("/w/more"))], "it begins with the one of now");
}

fn waiting(at: Option<i64>, held: bool) -> Opened {
    Opened {
        queue: vec![Queued {
            id: MessageId::new("q"),
            text: "again".to_owned(),
            at: At(NOON - 60_000),
            redelivered: true,
            attachments: Vec::new(),
            piped: None,
            client: None,
        }],
        queue_held: held,
        redelivery: at.map(At),
        ..snapshot(meta("s"))
    }
}

#[test]
fn any_key_holds_what_would_be_sent_again() {
    let hold = SessionCommand::Queue(QueueEdit::Hold);
    for (keys, does) in [("x", "x"), ("ctrl+x", ""), ("pageup", "")] {
        let mut screen = ready();
        screen.session("s", SessionEvent::Opened(Box::new(waiting(Some(NOON + 10_000), false))));
        assert!(screen.fx.contains(&Effect::Arm { timer: Timer::Countdown, ms: 1_000 }));
        screen.fx.clear();
        screen.keys(keys);
        assert_eq!(
            (screen.acts(), screen.text().as_str()),
            (vec![hold.clone()], does),
            "{keys} does its own thing too"
        );
        screen.keys("left");
        assert_eq!(screen.acts(), [], "once");
    }
    let mut screen = ready();
    screen.session("s", SessionEvent::Opened(Box::new(waiting(Some(NOON + 10_000), false))));
    screen.fx.clear();
    screen.msg(Msg::Paste("text".to_owned()));
    assert_eq!(screen.acts(), std::slice::from_ref(&hold), "a paste too");
    // Enter on nothing holds it and lets it go: that is what was meant.
    let mut screen = ready();
    screen.session("s", SessionEvent::Opened(Box::new(waiting(Some(NOON + 10_000), false))));
    screen.fx.clear();
    screen.keys("enter");
    assert_eq!(screen.acts(), [hold, SessionCommand::Queue(QueueEdit::Release)]);
}

#[test]
fn the_seconds_count_down_and_end() {
    let mut screen = ready();
    screen.session("s", SessionEvent::Opened(Box::new(waiting(Some(NOON + 2_500), false))));
    let arms = |screen: &mut Screen| {
        let found: Vec<u64> = screen
            .fx
            .iter()
            .filter_map(|fx| match fx {
                Effect::Arm { timer: Timer::Countdown, ms } => Some(*ms),
                _ => None,
            })
            .collect();
        screen.fx.clear();
        found
    };
    assert_eq!(arms(&mut screen), [500]);
    screen.wait(500).msg(Msg::Timer(Timer::Countdown));
    assert_eq!(arms(&mut screen), [1_000]);
    screen.wait(200).msg(Msg::Focus(true));
    assert!(arms(&mut screen).is_empty(), "it runs");
    screen.session("s", SessionEvent::Redelivering { at: None });
    assert!(screen.fx.contains(&Effect::Disarm(Timer::Countdown)));
    screen.fx.clear();
    screen.keys("x");
    assert_eq!(screen.acts(), [], "there is nothing to hold any more");
}

#[test]
fn in_execute_it_waits_for_enter() {
    let mut screen = ready();
    screen.session("s", SessionEvent::Opened(Box::new(waiting(None, true))));
    screen.fx.clear();
    screen.keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::Queue(QueueEdit::Release)]);
}

#[test]
fn a_branch_and_a_new_session_take_a_name() {
    let mut screen = ready();
    screen.session("s", SessionEvent::Row(Box::new(user_row("m1", "one")))).draw(true);
    command(&mut screen, "/branch  Another   way");
    let named =
        Command::Engine(EngineCommand::Branch { session: id("s"), at: None, title: Some("Another way".into()) });
    assert_eq!(screen.sent().last(), Some(&named));
    command(&mut screen, "/session new A new one");
    let settings = NewSession { title: Some("A new one".into()), ..NewSession::default() };
    assert!(screen.sent().contains(&Command::Engine(EngineCommand::Create(settings))));
    assert_eq!(screen.state.conversations.current, Current::New);
    // One is on its way already: it gets the name when it is there.
    command(&mut screen, "/session new Better");
    screen.session("n", SessionEvent::Opened(Box::new(snapshot(meta("n")))));
    let renamed = Command::Session { id: id("n"), command: SessionCommand::Rename { title: "Better".into() } };
    assert!(screen.sent().contains(&renamed));
}

#[test]
fn the_chosen_entry_is_meant_from_the_palette_too() {
    let mut screen = ready();
    for row in ["m1", "m2"] {
        screen.session("s", SessionEvent::Row(Box::new(user_row(row, row))));
    }
    screen.draw(true);
    screen.keys("tab tab K K ctrl+p").type_text("branch").keys("enter");
    let at = Some(MessageId::new("m1"));
    assert_eq!(
        screen.sent().last(),
        Some(&Command::Engine(EngineCommand::Branch { session: id("s"), at, title: None }))
    );
    assert_eq!(screen.state.focus, Focus::Composer);
}

#[test]
fn an_archived_session_comes_back_by_name() {
    let mut screen = ready();
    command(&mut screen, "/unarchive");
    assert_eq!(changes(&mut screen), []);
    assert!(screen.last_notice().contains("Not archived"), "{}", screen.last_notice());
    screen.state.sessions.put(SessionMeta { archived: true, ..meta("s") }, At(NOON), 0);
    command(&mut screen, "/unarchive");
    assert_eq!(changes(&mut screen), one(PropertyChange::Archived(false)));
}

#[test]
fn a_reset_archives_and_begins_anew_with_the_settings() {
    let mut screen = ready();
    command(&mut screen, "/reset");
    assert_eq!(screen.sent(), [], "an empty session is left as it is");
    let mut used = meta("s");
    used.messages = 3;
    used.mode = Mode::Explore;
    used.model = Some("m".to_owned());
    used.thinking = ThinkingLevel::High;
    used.labels = vec!["bug".to_owned()];
    used.activity = Activity::Running(At(NOON));
    screen.session("s", SessionEvent::Changed(Box::new(used)));
    command(&mut screen, "/reset");
    let sent = screen.sent();
    let wanted = NewSession {
        cwd: Some(PathBuf::from("/w")),
        mode: Some(Mode::Explore),
        model: Some("m".to_owned()),
        thinking: Some(ThinkingLevel::High),
        labels: vec!["bug".to_owned()],
        ..NewSession::default()
    };
    let place = |wanted: &dyn Fn(&Command) -> bool| sent.iter().position(wanted).unwrap_or(usize::MAX);
    let stopped = place(&|command| matches!(command, Command::Session { command: SessionCommand::Stop, .. }));
    let archived = place(&|command| {
        matches!(command, Command::Engine(EngineCommand::Change { change: PropertyChange::Archived(true), .. }))
    });
    let made = place(&|command| *command == Command::Engine(EngineCommand::Create(wanted.clone())));
    assert!(stopped < archived && archived < made && made < sent.len(), "{sent:?}");
    assert_eq!(screen.state.conversations.current, Current::New);
}

#[test]
fn sessions_are_gone_to_by_name() {
    let mut screen = ready();
    for (name, title) in [("260101-swift-river", "Fix the login"), ("b", "Fix the parser"), ("c", "Weekly report")] {
        screen.state.sessions.put(SessionMeta { title: title.to_owned(), ..meta(name) }, At(NOON), 0);
    }
    for (which, to) in [
        ("b", "b"),
        ("weekly report", "c"),
        ("login", "260101-swift-river"),
        ("wkrep", "c"),
        ("swift-r", "260101-swift-river"),
    ] {
        command(&mut screen, &format!("/session switch {which}"));
        assert_eq!(screen.state.current_id(), Some(&id(to)), "{which}");
    }
    command(&mut screen, "/session switch fix the");
    let Some(Overlay::Picker(picker)) = screen.state.overlay() else { panic!("two are meant") };
    assert_eq!((picker.query.text(), picker.hits.len()), ("fix the", 2));
    screen.keys("esc");
    for (text, why) in [("/session switch zzzz", "No session"), ("/session lsit", "Closest match: list")] {
        command(&mut screen, text);
        assert!(screen.last_notice().contains(why), "{text}: {}", screen.last_notice());
        screen.keys("ctrl+c");
    }
    command(&mut screen, "/session list");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(_))));
    screen.keys("esc");
    command(&mut screen, "/session new");
    assert_eq!(screen.state.conversations.current, Current::New);
}

#[test]
fn a_conversation_is_written_to_a_file() {
    let mut screen = ready();
    let export = |to: Option<&str>, format| {
        Command::Engine(EngineCommand::Export { session: id("s"), to: to.map(PathBuf::from), format })
    };
    for (text, sent) in [
        ("/export", export(None, None)),
        ("/export ~/my notes.md", export(Some("~/my notes.md"), None)),
        ("/export --format html", export(None, Some(Format::Html))),
        ("/export \"a b\" --format=json", export(Some("a b"), Some(Format::Json))),
    ] {
        command(&mut screen, text);
        assert_eq!(screen.sent(), [sent], "{text}");
    }
    for (text, why) in
        [("/export --format htlm", "Closest match: html"), ("/export --formt md", "Unknown flag for /export: --formt")]
    {
        screen.fx.clear();
        command(&mut screen, text);
        assert_eq!(screen.sent(), [], "{text}");
        assert!(screen.last_notice().contains(why), "{}", screen.last_notice());
        assert_eq!(screen.state.composer().text(), text, "what was written stays");
        screen.keys("ctrl+c");
    }
    screen.fx.clear();
    command(&mut screen, "/share");
    assert!(screen.fx.contains(&Effect::Share { session: id("s") }));
    let masked = Masked { keys: 2, homes: 1 };
    let file = |path: &str| SharedFile { session: id("s"), path: path.into(), masked };
    let written = |path: &str, upload| {
        let shared = true;
        EngineEvent::Exported { session: id("s"), path: path.into(), masked, shared, upload }
    };
    screen.whole(written("/w/a.html", false));
    assert!(screen.fx.contains(&Effect::SharePage(file("/w/a.html"))));
    let shared = |address: Option<&str>| {
        Msg::Share(ShareAnswer::Done { file: file("/w/a.html"), address: address.map(str::to_owned) })
    };
    screen.msg(shared(None));
    assert!(screen.fx.contains(&Effect::Copy("/w/a.html".to_owned())));
    assert!(asked(&screen).contains("nothing was uploaded"), "{}", asked(&screen));
    screen.wait(400).keys("esc").msg(shared(Some("http://127.0.0.1:7789/s/abc")));
    assert!(screen.fx.contains(&Effect::Copy("http://127.0.0.1:7789/s/abc".to_owned())));
    assert!(asked(&screen).contains("until /unshare. Masked: 2 keys, 1 home path."), "{}", asked(&screen));
    screen.wait(400).keys("esc");
    // Nothing is uploaded before the user saw where to and what was masked.
    screen.whole(written("/w/a.jsonl", true));
    let lines = file("/w/a.jsonl");
    assert!(screen.fx.contains(&Effect::OfferUpload(lines.clone())));
    screen.msg(Msg::Share(ShareAnswer::Offered { file: lines.clone(), server: "https://share.example".to_owned() }));
    let question = asked(&screen);
    assert!(question.contains("To https://share.example") && question.contains("Masked: 2 keys"), "{question}");
    assert!(!screen.fx.contains(&Effect::Upload(lines.clone())));
    screen.wait(400).keys("enter");
    assert!(screen.fx.contains(&Effect::Upload(lines)));
    command(&mut screen, "/unshare");
    assert!(screen.fx.contains(&Effect::Unshare { session: id("s") }));
}

#[test]
fn a_session_of_another_program_is_asked_for_and_shown() {
    let mut screen = ready();
    let import = |path: &str| Command::Engine(EngineCommand::Import { path: path.into(), from: Some("/w".into()) });
    command(&mut screen, "/import ../a b.jsonl");
    assert!(screen.sent().contains(&import("../a b.jsonl")));
    command(&mut screen, "/import");
    screen.msg(Msg::Importable(Vec::new())).draw(true).wait(2_000);
    assert!(matches!(screen.state.overlay(), Some(Overlay::Prompt(_))));
    screen.type_text("~/x").keys("enter");
    assert!(screen.sent().contains(&import("~/x")));
    screen.whole(EngineEvent::SessionChanged(Box::new(meta("new"))));
    let left = vec!["Attached files not included: 3.".to_owned()];
    let imported = |left, again| EngineEvent::Imported { session: id("new"), program: "Codex".into(), left, again };
    screen.whole(imported(left, None));
    assert_eq!(screen.state.current_id(), Some(&id("new")));
    assert!(screen.last_notice().contains("left out"), "{}", screen.last_notice());
    // A later import says what it is to the first one.
    screen.whole(imported(Vec::new(), Some("It was imported before.".into())));
    assert!(screen.last_notice().contains("imported before"), "{}", screen.last_notice());
    assert!(!screen.last_notice().contains("not included"), "{}", screen.last_notice());
}

#[test]
fn what_was_said_is_copied_by_words() {
    let mut screen = Screen::new();
    screen.session("s", SessionEvent::Row(Box::new(user_row("u1", "ask"))));
    screen.session("s", SessionEvent::Row(Box::new(assistant_row("a1", "One:\n\n```\nx\n```\n\n```\ny\n```\n"))));
    let answer = "One:\n\n```\nx\n```\n\n```\ny\n```\n";
    for (text, copied) in [("/copy", answer), ("/copy last", answer), ("/copy code 2", "y\n"), ("/copy u1", "ask")] {
        screen.fx.clear();
        command(&mut screen, text);
        assert!(screen.fx.contains(&Effect::Copy(copied.to_owned())), "{text}: {:?}", screen.fx);
    }
    command(&mut screen, "/copy lsat");
    assert!(screen.last_notice().contains("Closest match: last"), "{}", screen.last_notice());
}

#[test]
fn own_commands_are_in_the_palette_and_tell_their_usage() {
    let mut screen = ready();
    let own = |name: &str, hint: &str| crate::domain::command::OwnCommand {
        name: name.to_owned(),
        description: format!("does {name}"),
        hint: hint.to_owned(),
        text: "Review $ARGUMENTS".to_owned(),
        origin: crate::domain::extension::ExtensionOrigin::User,
        path: "/c/review.md".into(),
        hash: "00".to_owned(),
        ..crate::domain::command::OwnCommand::default()
    };
    screen.msg(Msg::Commands(vec![own("review", "BRANCH"), own("tidy", "")]));
    screen.keys("ctrl+p").type_text("does review").keys("enter");
    assert_eq!(screen.state.composer().text(), "/review ");
    let hint = screen.state.hint().unwrap();
    assert_eq!((hint.name.as_str(), hint.usage.as_str(), hint.bare), ("/review", "BRANCH", true));
    screen.type_text("main");
    assert!(!screen.state.hint().unwrap().bare);
    screen.keys("ctrl+c").keys("ctrl+p").type_text("does tidy").keys("enter");
    assert_eq!(screen.acts(), vec![SessionCommand::send("Review ")]);
    screen.type_text("/rename ");
    assert_eq!(screen.state.hint().map(|hint| (hint.usage, hint.bare)), Some(("[TITLE]".to_owned(), true)));
    screen.keys("ctrl+c").type_text("!");
    assert_eq!(screen.state.hint().map(|hint| hint.usage), Some("COMMAND".to_owned()));
    screen.keys("enter");
    assert!(screen.last_notice().contains("Type a command"), "{}", screen.last_notice());
}

#[test]
fn a_draft_outlives_the_session_that_somebody_else_deletes() {
    let mut screen = ready();
    screen.type_text("hello");
    screen.whole(EngineEvent::Deleted { session: id("s"), trash: None, pages: 0 });
    assert_eq!(screen.state.composer().text(), "hello");
    assert_eq!(screen.state.conversations.current, Current::New);
}

#[test]
fn a_notice_goes_when_it_is_not_true_any_more() {
    let shown = |screen: &Screen| screen.state.notices.last().map(|notice| notice.text.clone());
    // That a turn runs.
    let mut screen = ready();
    let activity = |screen: &mut Screen, activity: Activity| {
        let mut now = meta("s");
        now.activity = activity;
        screen.session("s", SessionEvent::Changed(Box::new(now)));
    };
    activity(&mut screen, Activity::Running(At(NOON)));
    command(&mut screen, "/undo");
    assert!(shown(&screen).is_some_and(|text| text.starts_with("Turn running")), "{:?}", shown(&screen));
    activity(&mut screen, Activity::Idle);
    assert_eq!(shown(&screen), None, "the turn ended");
    // That a plan waits in the session on the screen.
    let mut pending = meta("s");
    pending.plan_pending = true;
    screen.session("s", SessionEvent::Changed(Box::new(pending)));
    command(&mut screen, "/mode ask");
    assert_eq!(shown(&screen).as_deref(), Some("Answer the pending plan first"));
    screen.keys("alt+down");
    if screen.state.current_id() == Some(&id("s")) {
        screen.keys("alt+up");
    }
    assert_eq!(shown(&screen), None, "another session is shown");
}

/// No letter answers a question of lisle's own, nor does Enter behind words that were meant for something else.
#[test]
fn no_text_answers_a_question_and_nothing_is_agreed_to_unseen() {
    let deletes = |screen: &mut Screen| {
        screen.sent().iter().any(|command| matches!(command, Command::Engine(EngineCommand::Delete { .. })))
    };
    let open = || {
        let mut screen = ready();
        command(&mut screen, "/delete");
        assert!(asked(&screen).contains("Delete"), "{}", asked(&screen));
        screen.fx.clear();
        screen.wait(400);
        screen
    };
    for letter in ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(" /!?.".chars()) {
        let mut screen = open();
        screen.type_text(&letter.to_string());
        assert!(!deletes(&mut screen) && !asked(&screen).is_empty(), "{letter:?}");
    }
    let mut screen = open();
    screen.type_text("my next message").keys("enter");
    assert!(!deletes(&mut screen) && !asked(&screen).is_empty());
    assert!(screen.last_notice().contains("takes no text"), "{}", screen.last_notice());
    screen.wait(400).keys("enter");
    assert!(deletes(&mut screen));
    // More than the sheet shows is read to its end before.
    let mut screen = open();
    (screen.state.screen.frame.overlay_rows, screen.state.screen.frame.overlay_lines) = (4, 11);
    for _ in 0..3 {
        screen.keys("enter");
        assert!(!deletes(&mut screen));
    }
    screen.keys("enter");
    assert!(deletes(&mut screen));
}
