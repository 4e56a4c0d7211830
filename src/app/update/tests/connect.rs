//! The way to a model: the first screen, a key, its check, and a conversation that goes on elsewhere.

use super::*;
use crate::app::state::Focus;
use crate::app::state::overlay::Overlay;
use crate::app::state::panel::Stage;
use crate::app::state::picker::Kind;
use crate::domain::ids::ConnectionName;
use crate::domain::request::KeyRequest;
use crate::domain::secret::Key;
use crate::protocol::{Command, ConnectionInfo, EngineCommand, EngineEvent, SessionCommand, SessionEvent};

const SECRET: &str = "sk-ant-api03-unique0123456789abcdefghijklmnop";

fn info(name: &str, missing: Option<&str>) -> ConnectionInfo {
    let rehearsal = name == "demo";
    ConnectionInfo {
        name: ConnectionName::new(name),
        provider: if rehearsal { "demo".into() } else { name.to_owned() },
        default_model: format!("{name}-usual"),
        small_model: String::new(),
        models: vec![],
        host: if rehearsal { String::new() } else { format!("https://api.{name}.test") },
        key_from: None,
        missing: missing.map(Into::into),
        offered: false,
    }
}

fn configured(connections: Vec<ConnectionInfo>) -> EngineEvent {
    let vendors = vec![info("anthropic", Some("no key")), info("openai", Some("no key"))];
    EngineEvent::Configured(Box::new(Configured { connections, vendors, ..Configured::default() }))
}

/// Nothing is configured but the demo, and nothing was said.
fn new_here() -> Screen {
    let mut screen = Screen::new();
    screen.whole(configured(vec![info("demo", None)]));
    screen.fx.clear();
    screen
}

fn wanted(why: &str) -> Request {
    let wanted = KeyRequest {
        connection: ConnectionName::new("anthropic"),
        host: "https://api.anthropic.test".into(),
        stored: "/c/credentials".into(),
        why: why.into(),
    };
    Request { id: RequestId::new("k1"), ask: Ask::Key(Box::new(wanted)) }
}

fn in_the_field(screen: &Screen) -> bool {
    let stage = screen.state.panel().map(|(panel, _)| &panel.stage);
    screen.state.focus == Focus::Panel && matches!(stage, Some(Stage::Secret { .. }))
}

#[test]
fn the_first_screen_is_a_choice_and_five_keys_lead_to_a_model() {
    let mut screen = new_here();
    let names =
        |screen: &Screen| screen.state.first_choice().map(|rows| rows.into_iter().map(|row| row.name).collect());
    assert_eq!(
        names(&screen),
        Some(vec!["Demo".to_owned(), "Anthropic".into(), "OpenAI".into(), "Other server".into()])
    );
    screen.keys("down enter");
    let asked = Command::Session {
        id: id("s"),
        command: SessionCommand::AskKey { connection: ConnectionName::new("anthropic") },
    };
    assert!(screen.sent().contains(&asked), "{:?}", screen.sent());
    screen.ask(wanted("No key yet."));
    assert!(in_the_field(&screen), "what is typed goes into the field at once");
    screen.type_text(SECRET).keys("enter");
    let given = SessionCommand::Answer {
        request: RequestId::new("k1"),
        answer: UserAnswer::Key(Key::new(SECRET).unwrap()),
        shown: None,
    };
    assert!(screen.acts().contains(&given));
    assert_eq!(screen.state.connecting.checking.as_ref().map(|check| check.connection.as_str()), Some("anthropic"));

    screen.ask(wanted("The server refused the key."));
    assert!(in_the_field(&screen) && screen.state.connecting.checking.is_none(), "a refused key is asked for again");
    screen.type_text(SECRET).keys("enter").wait(400);
    screen.session("s", SessionEvent::Settled { request: RequestId::new("k1"), by: None });
    screen.whole(EngineEvent::Connections(vec![info("anthropic", None), info("demo", None)]));
    screen.whole(EngineEvent::Models {
        connection: ConnectionName::new("anthropic"),
        models: Ok(vec!["claude-a".into()]),
    });
    assert!(format!("{:?}", screen.state.notices).contains("accepted"));
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Model));
    assert_eq!(names(&screen), None, "something is configured");
}

#[test]
fn the_demo_is_chosen_by_enter_and_any_text_is_a_message() {
    let mut screen = new_here();
    screen.keys("enter");
    assert!(screen.state.first_choice().is_none() && screen.state.overlays.is_empty());
    screen.fx.clear();
    screen.type_text("list").keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::send("list")]);
    let mut screen = new_here();
    screen.type_text("list").keys("enter");
    assert_eq!(screen.acts(), [SessionCommand::send("list")], "without a choice the demo answers");
}

#[test]
fn a_draft_that_holds_a_key_is_asked_about_and_kept_nowhere() {
    let mut screen = new_here();
    screen.type_text(SECRET).wait(600).keys("enter");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Picker(picker)) if picker.kind == Kind::KeyText));
    assert!(!format!("{:?}", screen.fx).contains("unique"), "no message, no draft, no history");
    screen.wait(400).keys("enter");
    screen.ask(wanted("No key yet."));
    assert!(in_the_field(&screen) && screen.text().is_empty());
    screen.keys("enter");
    let given = SessionCommand::Answer {
        request: RequestId::new("k1"),
        answer: UserAnswer::Key(Key::new(SECRET).unwrap()),
        shown: None,
    };
    assert!(screen.acts().contains(&given), "it went into the field");

    let mut screen = Screen::new();
    screen.type_text(SECRET).keys("ctrl+c");
    assert!(!format!("{:?}", screen.fx).contains("unique"), "not into the history either");
    let mut screen = new_here();
    screen.type_text(&format!("use {SECRET} please")).keys("enter").wait(400).keys("down down enter");
    assert_eq!(
        screen.acts(),
        [SessionCommand::send(format!("use {SECRET} please"))],
        "the user said that it is a message"
    );
}

#[test]
fn a_session_that_stays_with_its_connection_goes_on_in_a_branch() {
    let mut screen = Screen::new();
    screen.whole(configured(vec![info("openai", None), info("demo", None)]));
    let mut locked = meta("s");
    (locked.connection, locked.connection_locked) = (Some(ConnectionName::new("rehearsal")), true);
    screen.session("s", SessionEvent::Changed(Box::new(locked)));
    screen.fx.clear();
    screen.type_text("/model openai-usual").keys("enter");
    assert!(matches!(screen.state.overlay(), Some(Overlay::Confirm(asked)) if asked.title.contains("new session")));
    screen.wait(400).keys("enter");
    assert_eq!(screen.sent(), [Command::Engine(EngineCommand::Branch { session: id("s"), at: None, title: None })]);
    screen.fx.clear();
    screen.whole(EngineEvent::SessionChanged(Box::new(meta("t"))));
    screen.whole(EngineEvent::Branched { from: id("s"), to: id("t"), rewound: false });
    let model = SessionCommand::Model { connection: Some(ConnectionName::new("openai")), model: "openai-usual".into() };
    assert!(screen.sent().contains(&Command::Session { id: id("t"), command: model }), "{:?}", screen.sent());
}

#[test]
fn enter_on_an_empty_draft_retries_and_continues() {
    use crate::domain::attention::{Broken, Unfinished};
    for how in [Broken::Failed, Broken::Interrupted] {
        let mut screen = Screen::new();
        let mut broken = meta("s");
        broken.unfinished = Some(Unfinished::new(how, "Server error (500)"));
        screen.session("s", SessionEvent::Changed(Box::new(broken.clone())));
        screen.fx.clear();
        screen.keys("enter");
        assert_eq!(screen.acts(), [SessionCommand::Retry]);
        broken.held_by = Some("process 7".into());
        screen.session("s", SessionEvent::Changed(Box::new(broken)));
        screen.fx.clear();
        screen.keys("enter");
        assert_eq!(screen.acts(), vec![], "another process writes it");
    }
}

#[test]
fn a_choice_before_the_session_is_there_is_kept() {
    let mut state = State::new(Arc::clone(&TABLE), Size { width: 120, height: 40 }, At(NOON), 0);
    let fx = start(&mut state, None);
    let mut screen = Screen { state, fx, seqs: Default::default() };
    screen.whole(configured(vec![info("demo", None)]));
    screen.whole(EngineEvent::Listed { sessions: vec![] });
    screen.keys("down enter");
    let command = SessionCommand::AskKey { connection: ConnectionName::new("anthropic") };
    let asked = Command::Session { id: id("s"), command };
    assert!(!screen.sent().contains(&asked), "there is no session yet");
    screen.session("s", SessionEvent::Opened(Box::new(snapshot(meta("s")))));
    assert!(screen.sent().contains(&asked));
}

/// The key was given with Enter, and `ms` later the list of models is there.
fn accepted(ms: u64) -> Screen {
    let mut screen = new_here();
    screen.keys("down enter").ask(wanted("No key yet."));
    screen.type_text(SECRET).keys("enter").wait(ms);
    screen.session("s", SessionEvent::Settled { request: RequestId::new("k1"), by: None });
    screen.whole(EngineEvent::Connections(vec![info("anthropic", None), info("demo", None)]));
    let models = Ok(vec!["claude-a".into(), "claude-b".into()]);
    screen.whole(EngineEvent::Models { connection: ConnectionName::new("anthropic"), models });
    assert!(choosing(&screen));
    screen.fx.clear();
    screen
}

fn choosing(screen: &Screen) -> bool {
    matches!(screen.state.overlay(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Model)
}

#[test]
fn the_enter_that_gave_a_key_chooses_no_model() {
    for (name, appeared, presses, chooses) in [
        ("twice in one go", 20, &[0][..], false),
        ("twice, slowly", 100, &[190], false),
        ("held, with the longest delay before the first repeat", 20, &[640, 30, 30, 30, 30, 30], false),
        ("held, and the server is slow", 600, &[60, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30], false),
        ("meant", 20, &[700], true),
        ("too soon, and again", 20, &[200, 400], true),
        ("after a slow server", 2_000, &[320], true),
    ] {
        let mut screen = accepted(appeared);
        for wait in presses {
            screen.wait(*wait).keys("enter");
        }
        assert_eq!(!choosing(&screen), chooses, "{name}");
        let chosen = screen.acts().iter().any(|act| matches!(act, SessionCommand::Model { .. }));
        assert_eq!(chosen, chooses, "{name}");
    }
    let mut screen = accepted(20);
    screen.wait(50).keys("enter");
    assert!(screen.last_notice().contains("too soon"), "{}", screen.last_notice());
}

#[test]
fn a_key_that_repeats_chooses_nothing_where_a_dialog_is_open() {
    let enter = crate::keymap::key::Key::parse("enter").unwrap();
    let down = crate::keymap::key::Key::parse("down").unwrap();
    let screen = accepted(20);
    assert!(!repeats(&screen.state, enter) && repeats(&screen.state, down));
    assert!(repeats(&new_here().state, enter));
}

fn add_server(screen: &mut Screen) -> Vec<String> {
    let address = |command: Command| match command {
        Command::Engine(EngineCommand::AddServer { address }) => Some(address),
        _ => None,
    };
    screen.sent().into_iter().filter_map(address).collect()
}

#[test]
fn another_server_is_added_by_its_address() {
    let mut screen = new_here();
    screen.keys("down down down enter");
    assert!(matches!(screen.state.overlays.last(), Some(Overlay::Prompt(_))));
    screen.type_text("127.0.0.1:8080").keys("enter");
    assert_eq!(add_server(&mut screen), ["127.0.0.1:8080"]);
    let local = ConnectionName::new("local-8080");
    let server = ConnectionInfo {
        host: "http://127.0.0.1:8080".into(),
        default_model: String::new(),
        ..info("local-8080", None)
    };
    screen.whole(EngineEvent::Connections(vec![server, info("demo", None)]));
    screen.whole(EngineEvent::ServerAdded { connection: local.clone(), wants_key: false });
    assert!(matches!(screen.state.overlays.last(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Model));
    // One that answers no one without a key is asked for it.
    screen.keys("esc esc");
    screen.whole(EngineEvent::ServerAdded { connection: local.clone(), wants_key: true });
    assert!(screen.acts().contains(&SessionCommand::AskKey { connection: local }));
}

#[test]
fn a_refused_address_stands_in_its_prompt_again_and_nowhere_else() {
    let refused = || EngineEvent::ServerNotAdded { address: "127.0.0.1:9".into(), why: "Nothing is listening.".into() };
    let mut screen = new_here();
    screen.keys("down down down enter").type_text("127.0.0.1:9").keys("enter");
    screen.whole(refused());
    let Some(Overlay::Prompt(prompt)) = screen.state.overlays.last() else { panic!("no prompt") };
    assert_eq!((prompt.line.text(), prompt.problem.as_deref()), ("127.0.0.1:9", Some("Nothing is listening.")));
    // Behind a command the next line of a script is a message.
    let mut screen = new_here();
    screen.type_text("/connect http://127.0.0.1:9").keys("enter");
    screen.whole(refused());
    assert!(screen.state.overlays.is_empty());
    assert!(screen.last_notice().contains("127.0.0.1:9 not added: Nothing is listening."), "{}", screen.last_notice());
}

#[test]
fn the_list_of_connections_leads_to_another_server_whatever_is_looked_for() {
    let mut screen = new_here();
    screen.type_text("/connect").keys("enter");
    screen.type_text("llama.box:9000");
    screen.keys("enter");
    let Some(Overlay::Prompt(prompt)) = screen.state.overlays.last() else { panic!("no address is asked for") };
    assert_eq!(prompt.line.text(), "llama.box:9000");
    screen.keys("enter");
    assert_eq!(add_server(&mut screen), ["llama.box:9000"]);
    screen.type_text("/connect https://api.groq.test/openai/v1").keys("enter");
    assert_eq!(add_server(&mut screen).last().map(String::as_str), Some("https://api.groq.test/openai/v1"));
}

#[test]
fn a_key_in_the_filter_of_connections_is_that_of_the_one_chosen() {
    let mut screen = new_here();
    screen.type_text("/connect").keys("enter");
    screen.type_text(SECRET);
    let Some(Overlay::Picker(picker)) = screen.state.overlays.last() else { panic!("no list") };
    assert_eq!(picker.chosen().map(|item| item.label.as_str()), Some("anthropic"));
    screen.keys("enter");
    assert!(screen.acts().contains(&SessionCommand::AskKey { connection: ConnectionName::new("anthropic") }));
    screen.ask(wanted("No key yet."));
    assert!(in_the_field(&screen));
    screen.keys("enter");
    let given = |act: &SessionCommand| matches!(act, SessionCommand::Answer { answer: UserAnswer::Key(key), .. } if key.reveal() == SECRET);
    assert!(screen.acts().iter().any(given));
}

#[test]
fn an_import_offers_the_programs_that_have_sessions_here() {
    let mut screen = Screen::new();
    screen.type_text("/import").keys("enter");
    assert!(screen.fx.contains(&Effect::Histories));
    let found = crate::app::state::lobby::FoundHistory { word: "codex", program: "Codex", sessions: 3 };
    screen.msg(Msg::Importable(vec![found])).draw(true).wait(2_000);
    assert!(matches!(screen.state.overlays.last(), Some(Overlay::Picker(picker)) if picker.kind == Kind::Import));
    screen.keys("enter");
    let imports = |command: &Command| match command {
        Command::Engine(EngineCommand::Import { path, .. }) => Some(path.display().to_string()),
        _ => None,
    };
    assert_eq!(screen.sent().iter().filter_map(imports).collect::<Vec<_>>(), ["codex"]);
    // Anything else is asked for, also where no program has sessions.
    screen.msg(Msg::Importable(Vec::new()));
    assert!(matches!(screen.state.overlays.last(), Some(Overlay::Prompt(_))));
}
