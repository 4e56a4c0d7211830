//! The pickers with columns, headings and details, at a usual and at a tiny size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::app::state::lobby::FoundHistory;
use lisle::app::{Effect, Msg, update};
use lisle::domain::diff::FileDiff;
use lisle::domain::finding::Finding;
use lisle::domain::message::{AssistantText, Body, UserText};
use lisle::domain::model::{LevelMeaning, ModelFigures, ModelPrice};
use lisle::domain::session::ThinkingLevel;
use lisle::domain::setting::{Setting, SettingGroup, SettingSource, TakesEffect};
use lisle::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{CallId, ConnectionName, Level, Message, MessageId, Notice};
use lisle::keymap::action::{Action, AppAction, ComposerAction, ModelAction, PickerAction, SessionAction};
use lisle::protocol::{Configured, ConnectionInfo, EngineEvent, Event, Stamped};
use screen::{NOW, one_session, shot};
use std::sync::atomic::{AtomicU64, Ordering};

const SIZES: [(u16, u16); 2] = [(100, 30), (40, 10)];

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), shot(name, state, width, height));
    }
}

/// The engine reports.
fn engine(state: &mut State, event: EngineEvent) {
    static SEQ: AtomicU64 = AtomicU64::new(1);
    let stamped = Stamped::new(SEQ.fetch_add(1, Ordering::Relaxed), Event::Engine(event));
    update(state, NOW, Msg::Engine(Box::new(stamped)));
}

fn act(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
    update(state, NOW, Msg::Act { action: action.into(), key: None })
}

fn connection(name: &str, host: &str, models: &[&str]) -> ConnectionInfo {
    ConnectionInfo {
        name: ConnectionName::new(name),
        provider: if host.is_empty() { "demo" } else { "openai-compatible" }.to_owned(),
        default_model: models.first().copied().unwrap_or_default().to_owned(),
        small_model: String::new(),
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        host: host.to_owned(),
        key_from: (!host.is_empty()).then(|| "from WORK_KEY".to_owned()),
        missing: None,
        offered: false,
    }
}

fn figures(model: &str, window: u64, price: Option<(f64, f64)>, thinks: bool, pictures: bool) -> ModelFigures {
    ModelFigures {
        model: model.to_owned(),
        window: Some(window),
        output: Some(64_000),
        thinks: Some(thinks),
        pictures: Some(pictures),
        price: price.map(|(input, output)| ModelPrice { input, output, cached: input / 10.0 }),
        ..ModelFigures::default()
    }
}

/// Four connections: one that answered, one that is asked, one without a key, the demo.
fn connected() -> State {
    let mut state = one_session();
    let mut local = connection("local", "http://127.0.0.1:11434", &[]);
    local.key_from = None;
    let connections = vec![
        connection("work", "https://models.example.com", &["sonnet-5", "haiku-5"]),
        local,
        connection("demo", "", &["demo"]),
    ];
    let vendor = ConnectionInfo {
        key_from: None,
        missing: Some("no key: run `lisle auth add openai`, set OPENAI_API_KEY".to_owned()),
        offered: true,
        ..connection("openai", "https://api.openai.com", &["gpt-5-mini"])
    };
    let configured = Configured { connections, vendors: vec![vendor], ..Configured::default() };
    engine(&mut state, EngineEvent::Configured(Box::new(configured)));
    state
}

fn told(state: &mut State) {
    let many = (1..=310).map(|n| format!("vendor/model-{n}"));
    let models: Vec<String> = ["sonnet-5", "haiku-5"].map(str::to_owned).into_iter().chain(many).collect();
    engine(state, EngineEvent::Models { connection: ConnectionName::new("work"), models: Ok(models) });
    let models = vec![
        figures("sonnet-5", 1_000_000, Some((3.0, 15.0)), true, true),
        figures("haiku-5", 200_000, Some((0.25, 1.25)), true, false),
        figures("vendor/model-12", 8_192, Some((0.0, 0.0)), false, false),
    ];
    engine(state, EngineEvent::Figures { connection: ConnectionName::new("work"), models });
}

#[test]
fn models() {
    let mut state = connected();
    act(&mut state, ModelAction::Pick);
    told(&mut state);
    shots("models", &state);
    for c in "mod12".chars() {
        update(&mut state, NOW, Msg::Paste(c.to_string()));
    }
    shots("models-filtered", &state);
}

#[test]
fn connections() {
    let mut state = connected();
    act(&mut state, ModelAction::Connection);
    told(&mut state);
    let local = ConnectionName::new("local");
    engine(
        &mut state,
        EngineEvent::Models { connection: local, models: Err("Nothing is listening at 127.0.0.1:11434.".into()) },
    );
    shots("connections", &state);
}

/// A conversation with changes of files behind its first and second message.
fn talk(state: &mut State) {
    let changed = |id: &str, path: &str| {
        let diff = Some(FileDiff::between(path, Some("a\n"), "b\n"));
        Body::Tool(Box::new(ToolCall {
            id: CallId::new(id),
            name: "edit".to_owned(),
            input: serde_json::Value::Null,
            subject: path.to_owned(),
            status: ToolStatus::Completed,
            result: None,
            millis: None,
            figures: ToolFigures { diff, ..ToolFigures::default() },
            decision: None,
        }))
    };
    let user = |text: &str| Body::User(UserText::with(text, vec![]));
    let said = |text: &str| Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() });
    let rows = [
        user("The redirect after login drops the query string. Fix it and add a test."),
        changed("c1", "src/auth/redirect.rs"),
        said("Fixed."),
        user("Now the logout path"),
        changed("c2", "src/auth/logout.rs"),
        changed("c3", "src/auth/mod.rs"),
        said("Done, both."),
        user("And the docs"),
        said("There are none."),
    ];
    for (n, body) in rows.into_iter().enumerate() {
        let message = Message::new(MessageId::new(format!("m{n}")), NOW, body);
        let key = i64::try_from(n).unwrap();
        let entry = Entry { key, revision: 0, message, live: false };
        state.current_open_mut().unwrap().chat.entries.push_back(entry);
    }
}

#[test]
fn going_back_and_branching_say_what_they_leave_out() {
    let mut state = one_session();
    talk(&mut state);
    act(&mut state, SessionAction::Rewind);
    shots("rewind", &state);
    act(&mut state, PickerAction::Down);
    act(&mut state, PickerAction::Accept);
    shots("rewind-confirm", &state);
    state.overlays.clear();
    act(&mut state, SessionAction::Branch);
    act(&mut state, PickerAction::Down);
    shots("branch", &state);
}

#[test]
fn thinking_levels_say_what_they_mean() {
    let mut state = connected();
    act(&mut state, ModelAction::Thinking);
    let level = |level, meaning: Result<&str, &str>| LevelMeaning {
        level,
        meaning: meaning.map(str::to_owned).map_err(str::to_owned),
    };
    let levels = vec![
        level(ThinkingLevel::Off, Ok("no thinking")),
        level(ThinkingLevel::Low, Ok("up to 4,000 tokens of thinking")),
        level(ThinkingLevel::Medium, Ok("model default")),
        level(ThinkingLevel::High, Ok("up to 20,000 tokens of thinking")),
        level(ThinkingLevel::Xhigh, Err("not supported by the server")),
        level(ThinkingLevel::Max, Err("not supported by the server")),
    ];
    let (connection, model) = (ConnectionName::new("work"), "sonnet-5".to_owned());
    engine(&mut state, EngineEvent::Levels { connection, model, levels });
    shots("thinking", &state);
}

fn setting(
    key: &str,
    group: SettingGroup,
    value: &str,
    said: SettingSource,
    choices: &[&str],
    holds: TakesEffect,
) -> Setting {
    Setting {
        key: key.to_owned(),
        group,
        about: format!("What {key} does."),
        value: value.to_owned(),
        said,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        takes_effect: holds,
        until_then: None,
    }
}

#[test]
fn settings() {
    let mut state = connected();
    state.theme.current = "nord".to_owned();
    let fx = act(&mut state, AppAction::Settings);
    assert!(fx.contains(&Effect::Settings));
    let settings = vec![
        setting("ui.theme", SettingGroup::Screen, "auto", SettingSource::Default, &[], TakesEffect::Now),
        setting(
            "ui.glyphs",
            SettingGroup::Screen,
            "auto",
            SettingSource::Line(4),
            &["auto", "ascii"],
            TakesEffect::Now,
        ),
        setting("sandbox", SettingGroup::Permissions, "workspace", SettingSource::Default, &[], TakesEffect::NextStart),
        setting("store.fsync", SettingGroup::Files, "normal", SettingSource::Line(9), &[], TakesEffect::NextStart),
    ];
    update(&mut state, NOW, Msg::Settings(settings));
    shots("settings", &state);
    update(&mut state, NOW, Msg::Paste("glyphs".to_owned()));
    let fx = act(&mut state, PickerAction::Accept);
    assert!(fx.contains(&Effect::Set { key: "ui.glyphs".to_owned(), value: "ascii".to_owned() }), "{fx:?}");
    assert_eq!(state.engine.settings[1].value, "ascii", "it is shown at once");
    update(&mut state, NOW, Msg::Act { action: AppAction::Back.into(), key: None });
    assert!(state.overlays.is_empty());
}

#[test]
fn the_doctor_and_what_was_said() {
    let mut state = one_session();
    let fx = act(&mut state, AppAction::Doctor);
    assert!(fx.contains(&Effect::Doctor));
    insta::assert_snapshot!("doctor-looking-100x30", shot("doctor-looking", &state, 100, 30));
    let findings = vec![
        Finding::ok("version", "lisle 0.1.0"),
        Finding::ok("terminal", "TERM=xterm-256color, true color, 100x30; set: TMUX, COLORTERM"),
        Finding::warn("clipboard", "in this order: tmux, terminal (OSC 52)", "Install wl-copy"),
        Finding::broken("data", "/home/me/data cannot be written (read-only)", "Check its owner and permissions"),
        Finding::ok("kernel", "Landlock 5, seccomp"),
    ];
    update(&mut state, NOW, Msg::Doctor(findings));
    shots("doctor", &state);
    state.overlays.clear();
    for (level, text) in [
        (Level::Info, "Copied 12 lines"),
        (Level::Warning, "The clipboard did not confirm."),
        (Level::Error, "can't write config.toml"),
    ] {
        update(&mut state, NOW, Msg::Notice(Notice::new(level, text).hint("check its permissions")));
    }
    act(&mut state, AppAction::Notices);
    shots("notices", &state);
}

#[test]
fn words_behind_commands_are_offered_with_the_one_in_force_marked() {
    let mut state = connected();
    told(&mut state);
    state.theme.names = ["auto", "nord", "gruvbox"].map(str::to_owned).to_vec();
    state.theme.current = "nord".to_owned();
    for (typed, name) in [("/theme ", "offer-theme"), ("/model ", "offer-model"), ("/connection ", "offer-connection")]
    {
        state.composer_mut().set("");
        update(&mut state, NOW, Msg::Paste(typed.to_owned()));
        shots(name, &state);
    }
    for (typed, want) in [
        ("/mode ", vec!["explore", "ask", "execute"]),
        ("/density ", vec!["lines", "tails", "full"]),
        ("/export x --format h", vec!["html"]),
        ("/thinking x", vec!["xhigh", "max"]),
    ] {
        state.composer_mut().set("");
        update(&mut state, NOW, Msg::Paste(typed.to_owned()));
        let menu = state.composer().menu.as_ref().unwrap_or_else(|| panic!("nothing is offered for {typed}"));
        let labels: Vec<&str> = menu.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, want, "{typed}");
    }
}

#[test]
fn themes_show_their_roles() {
    let mut state = one_session();
    state.theme.names = ["auto", "nord", "gruvbox"].map(str::to_owned).to_vec();
    state.theme.current = "nord".to_owned();
    act(&mut state, AppAction::Theme);
    shots("themes", &state);
}

#[test]
fn sessions() {
    let mut state = one_session();
    talk(&mut state);
    let mut metas: Vec<_> = state.sessions.metas().cloned().collect();
    for (n, title) in [(3, "Port the parser"), (90, "Weekly report"), (4_000, "Data clean-up")] {
        let at = lisle::domain::At(NOW.0 - n * 60_000);
        let id = lisle::domain::SessionId::parse(format!("260902-calm-{n}")).unwrap();
        let mut meta = lisle::domain::SessionMeta::new(id, at, lisle::domain::Mode::Ask, "/home/me/src/other".into());
        meta.title = title.to_owned();
        meta.preview = format!("How {title} began");
        meta.archived = n == 4_000;
        metas.push(meta);
    }
    state.sessions.replace(metas, NOW, 0);
    act(&mut state, SessionAction::Switch);
    shots("sessions", &state);
    act(&mut state, PickerAction::Down);
    insta::assert_snapshot!("sessions-other-100x30", shot("sessions-other", &state, 100, 30));
}

#[test]
fn who_comes_for_the_first_time_is_offered_what_was_found() {
    let mut state = one_session();
    let offered = ConnectionInfo { offered: true, ..connection("anthropic", "https://api.example.com", &["sonnet-5"]) };
    let connections = vec![offered, connection("demo", "", &["demo"])];
    let configured = Configured { connections, ..Configured::default() };
    engine(&mut state, EngineEvent::Configured(Box::new(configured)));
    shots("welcome-found", &state);
    let vendor = ConnectionInfo { key_from: None, ..connection("openai", "https://api.openai.com", &["gpt-5-mini"]) };
    let configured = Configured {
        connections: vec![connection("demo", "", &["demo"])],
        vendors: vec![vendor],
        ..Configured::default()
    };
    engine(&mut state, EngineEvent::Configured(Box::new(configured)));
    shots("welcome-nothing", &state);
    let found = |word, program, sessions| FoundHistory { word, program, sessions };
    state.lobby.histories = vec![found("claude-code", "Claude Code", 120), found("codex", "Codex", 1)];
    let offered = shot("welcome-histories", &state, 100, 30);
    let told =
        offered.contains("120 sessions of Claude Code, 1 session of Codex.") && offered.contains("/import claude-code");
    assert!(told, "{offered}");
    state.lobby.histories.clear();
    update(&mut state, NOW, Msg::Paste("h".to_owned()));
    assert!(!shot("welcome-typing", &state, 100, 30).contains("a home for agent"), "it makes room at the first letter");
}

#[test]
fn a_low_first_screen_keeps_the_selected_model_in_sight_and_tells_of_the_others() {
    // More of them than rows: the selected one is in sight, and the rest is told.
    let vendor = |name: &str| ConnectionInfo { key_from: None, ..connection(name, "https://a.example.com", &["m"]) };
    let vendors = ["openai", "gemini", "openrouter", "groq", "mistral", "xai"].map(vendor).to_vec();
    let connections = vec![connection("demo", "", &["demo"])];
    let mut many = one_session();
    engine(&mut many, EngineEvent::Configured(Box::new(Configured { connections, vendors, ..Configured::default() })));
    let low = shot("welcome-many", &many, 40, 10);
    assert!(low.contains("Demo") && low.contains("↓ ") && low.contains("more") && low.contains("F1 keys"), "{low}");
    for _ in 0..6 {
        act(&mut many, ComposerAction::Down);
    }
    let low = shot("welcome-many", &many, 40, 10);
    assert!(low.contains("› ") && low.contains("↑ ") && !low.contains("Demo"), "{low}");
}
