//! The pickers with columns, headings and details, at a usual and at a tiny size.

mod screen;

use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::app::{Effect, Msg, update};
use lisle::domain::contract::{Configured, ConnectionInfo};
use lisle::domain::diff::FileDiff;
use lisle::domain::message::{AssistantText, Body, UserText};
use lisle::domain::model::{ModelFigures, ModelPrice};
use lisle::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{CallId, ConnectionName, Event, Message, MessageId, Stamped};
use lisle::keymap::action::{Action, ModelAction, PickerAction, SessionAction};
use screen::{NOW, one_session, shot};
use std::sync::atomic::{AtomicU64, Ordering};

const SIZES: [(u16, u16); 2] = [(100, 30), (40, 10)];

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), shot(name, state, width, height));
    }
}

/// The engine reports.
fn engine(state: &mut State, event: Event) {
    static SEQ: AtomicU64 = AtomicU64::new(1);
    let stamped = Stamped { v: 1, session: None, seq: SEQ.fetch_add(1, Ordering::Relaxed), event };
    update(state, NOW, Msg::Engine(Box::new(stamped)));
}

fn act(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
    update(state, NOW, Msg::Act { action: action.into(), key: None })
}

fn connection(name: &str, host: &str, models: &[&str]) -> ConnectionInfo {
    ConnectionInfo {
        name: ConnectionName::new(name),
        provider: if host.is_empty() { "rehearsal" } else { "openai-compatible" }.to_owned(),
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

/// Four connections: one that answered, one that is asked, one without a key, the rehearsal.
fn connected() -> State {
    let mut state = one_session();
    let mut local = connection("local", "http://127.0.0.1:11434", &[]);
    local.key_from = None;
    let connections = vec![
        connection("work", "https://models.example.com", &["sonnet-5", "haiku-5"]),
        local,
        connection("rehearsal", "", &["rehearsal"]),
    ];
    let vendor = ConnectionInfo {
        key_from: None,
        missing: Some("no key: store it with `lisle auth add openai`, set OPENAI_API_KEY".to_owned()),
        offered: true,
        ..connection("openai", "https://api.openai.com", &["gpt-5-mini"])
    };
    let configured = Configured { connections, vendors: vec![vendor], ..Configured::default() };
    engine(&mut state, Event::Configured(Box::new(configured)));
    state
}

fn told(state: &mut State) {
    let many = (1..=310).map(|n| format!("vendor/model-{n}"));
    let models: Vec<String> = ["sonnet-5", "haiku-5"].map(str::to_owned).into_iter().chain(many).collect();
    engine(state, Event::Models { connection: ConnectionName::new("work"), models: Ok(models) });
    let models = vec![
        figures("sonnet-5", 1_000_000, Some((3.0, 15.0)), true, true),
        figures("haiku-5", 200_000, Some((0.25, 1.25)), true, false),
        figures("vendor/model-12", 8_192, Some((0.0, 0.0)), false, false),
    ];
    engine(state, Event::Figures { connection: ConnectionName::new("work"), models });
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
    engine(&mut state, Event::Models { connection: local, models: Err("Nothing answers at 127.0.0.1:11434.".into()) });
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
