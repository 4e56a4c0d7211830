//! Commands in chats, named sessions, and messages that come while a turn runs.

use crate::channels::{Channel, INBOUND, message, taken};
use crate::http::{Web, token};
use crate::place::until;
use crate::support::model_server::{Gate, Script};
use serde_json::{Value, json};

/// A chat with the agent.
struct Chat {
    channel: Channel,
    web: Web,
    owner: String,
    sent: std::cell::Cell<usize>,
}

impl Chat {
    fn new(model: impl IntoIterator<Item = Script>, settings: &str) -> Self {
        let channel = Channel::new(model, (0..40).map(|_| taken()), settings);
        let web = Web::serve(&channel.place, &[]);
        let owner = token(&channel.place, &[]);
        Self { channel, web, owner, sent: std::cell::Cell::new(0) }
    }

    /// Sends a text.
    fn send(&self, text: &str) {
        self.sent.set(self.sent.get() + 1);
        let answer = self.web.post(INBOUND, &self.owner, &message(&format!("m-{}", self.sent.get()), text));
        assert_eq!(answer.status, 202, "{}", answer.body);
    }

    /// Sends a text and waits for the next reply.
    #[track_caller]
    fn says(&self, text: &str) -> String {
        let before = self.channel.hook.asked().len();
        self.send(text);
        self.reply(before)
    }

    /// Reply after so many.
    #[track_caller]
    fn reply(&self, before: usize) -> String {
        self.channel.replies(before + 1)[before].json()["text"].as_str().unwrap().to_owned()
    }

    fn row(&self, key: &str) -> Value {
        self.channel.rows()[key].clone()
    }

    fn asked(&self, times: usize) {
        until("the model is asked", || self.channel.place.server.asked().len() >= times);
    }

    /// Last question that the model got in a request.
    fn question(&self, request: usize) -> String {
        let asked = self.channel.place.server.asked()[request].json();
        let last = asked["messages"].as_array().unwrap().last().unwrap().clone();
        match &last["content"] {
            Value::String(text) => text.clone(),
            parts => parts[0]["text"].as_str().unwrap().to_owned(),
        }
    }

    fn idle(&self) {
        until("all is done", || self.channel.waiting() == (0, 0));
    }
}

const MAIN: &str = "agent:main:main";

#[test]
fn named_sessions_are_conversations_of_their_own() {
    let chat = Chat::new([Script::says("A."), Script::says("B."), Script::says("C.")], "");
    assert_eq!(chat.says("alpha"), "A.");
    assert_eq!(
        chat.says("/session new Research"),
        "Session \"Research\" is active: new messages in this chat go there."
    );
    assert_eq!(chat.says("beta"), "B.");
    let listed = chat.says("/session list");
    assert!(listed.contains("- Research (research) active"), "{listed}");
    assert_eq!(chat.says("/session"), format!("Session: Research\n{MAIN}:chat:research"));
    assert_eq!(chat.says("/session switch nothing"), "No session \"nothing\". /session list shows them.");
    assert!(chat.says("/session rename x").starts_with("Usage: /session new"));
    assert_eq!(chat.says("/session close"), "The main session is active.");
    assert_eq!(chat.says("gamma"), "C.");
    let asked = chat.channel.place.server.asked();
    assert!(!asked[1].body.contains("alpha") && asked[2].body.contains("alpha") && !asked[2].body.contains("beta"));
    assert_ne!(chat.row(MAIN)["sessionId"], chat.row(&format!("{MAIN}:chat:research"))["sessionId"]);
    assert_eq!(chat.says("/session switch RESEARCH"), "Session \"Research\" is active.");
    assert_eq!(chat.channel.place.server.asked().len(), 3, "no command reached the model");
}

#[test]
fn a_new_conversation_is_begun_by_a_word_with_a_model_and_a_first_prompt() {
    let chat = Chat::new([Script::says("A."), Script::says("B."), Script::says("C.")], "");
    assert_eq!(chat.says("alpha"), "A.");
    let first = chat.row(MAIN)["sessionId"].clone();
    assert_eq!(chat.says("/new"), "New conversation.");
    let second = chat.row(MAIN)["sessionId"].clone();
    assert_ne!(first, second);
    assert_eq!(chat.says("/Reset m two"), "B.");
    let row = chat.row(MAIN);
    assert_eq!((&row["modelOverride"], &row["providerOverride"]), (&json!("m"), &json!("work")), "{row:#}");
    assert_eq!(chat.question(1), "two", "the model's name is no part of the prompt");
    assert_eq!(chat.says("three"), "C.");
    assert_eq!(chat.row(MAIN)["sessionId"], row["sessionId"]);
    assert!(!chat.channel.place.server.asked()[2].body.contains("alpha"));
}

#[test]
fn stop_ends_the_turn_and_drops_what_waits() {
    let gate = Gate::new();
    let chat = Chat::new([Script::says("Never.").held(&gate), Script::says("B.")], "");
    chat.send("long work");
    chat.asked(1);
    chat.send("and then");
    assert_eq!(chat.says("STOP!"), "Stopped. 1 waiting message was dropped.");
    chat.idle();
    assert_eq!(chat.row(MAIN)["abortedLastRun"], true);
    assert_eq!(chat.says("again"), "B.");
    assert_eq!(chat.says("/stop"), "No turn is running.");
    let log = chat.channel.log();
    assert!(log.iter().any(|line| line["what"] == "dropped" && line["why"] == "stopped"), "{log:#?}");
    gate.open();
}

#[test]
fn a_reset_waits_for_the_turn_that_runs() {
    let gate = Gate::new();
    let chat = Chat::new([Script::says("A.").held(&gate), Script::says("B.")], "");
    chat.send("alpha");
    chat.asked(1);
    chat.send("/new two");
    assert!(chat.says("/new").contains("Send /stop"), "one reset waits");
    gate.open();
    chat.idle();
    let texts: Vec<String> =
        chat.channel.hook.asked().iter().map(|reply| reply.json()["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts[1..], ["A.", "B."]);
    assert!(!chat.channel.place.server.asked()[1].body.contains("alpha"));
}

#[test]
fn messages_that_come_meanwhile_are_one_turn_or_several() {
    for (mode, expected) in [
        ("collect", vec!["[Queued messages while agent was busy]\n\n---\nQueued #1\ntwo\n\n---\nQueued #2\nthree"]),
        ("followup", vec!["two", "three"]),
        ("interrupt", vec!["three"]),
    ] {
        let gate = Gate::new();
        let model = [Script::says("A.").held(&gate), Script::says("B."), Script::says("C."), Script::says("D.")];
        let chat = Chat::new(model, &format!("[messages.queue]\nmode = \"{mode}\"\ndebounceMs = 50\n"));
        chat.send("one");
        chat.asked(1);
        chat.send("two");
        if mode == "interrupt" {
            chat.asked(2);
        }
        chat.send("three");
        // An accepted message is queued a moment later; what comes behind it is answered behind that.
        chat.says("/status");
        gate.open();
        chat.idle();
        let from = if mode == "interrupt" { chat.channel.place.server.asked().len() - 1 } else { 1 };
        let questions: Vec<String> =
            (from..chat.channel.place.server.asked().len()).map(|n| chat.question(n)).collect();
        assert_eq!(questions, expected, "{mode}");
    }
}

#[test]
fn a_message_is_steered_into_the_turn_and_its_hosts_open_nothing() {
    let gate = Gate::new();
    let calls = Script::calls(&[("list", json!({"path": "."}))]).held(&gate);
    let chat = Chat::new([calls, Script::says("Both.")], "[messages.queue]\nmode = \"steer\"\n");
    chat.send("one");
    chat.asked(1);
    chat.send("two, see http://evil.example/");
    until("the session keeps it", || chat.channel.files().contains("two, see"));
    gate.open();
    chat.idle();
    let texts: Vec<String> =
        chat.channel.hook.asked().iter().map(|reply| reply.json()["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts.last().map(String::as_str), Some("Both."), "{texts:?}");
    assert!(chat.channel.place.server.asked().last().unwrap().body.contains("two, see"));
    let rows = chat.channel.user_rows();
    let steered = rows.iter().find(|row| row["content"].as_str().unwrap().starts_with("two")).unwrap();
    assert_eq!(steered["lisle"]["piped"], 0, "no word of it is the operator's: {steered:#}");
}

#[test]
fn settings_of_a_session_are_changed_and_shown() {
    let chat = Chat::new([Script::says("A."), Script::says("Unheard."), Script::says("C.")], "");
    assert_eq!(
        chat.says("/queue followup debounce:2s cap:5 drop:old"),
        "Queue: followup, debounce 2000 ms, cap 5, drop old. Waiting: 0."
    );
    assert_eq!(chat.row(MAIN)["queueMode"], "followup");
    assert_eq!(chat.says("/queue reset"), "Queue: collect, debounce 1000 ms, cap 20, drop summarize. Waiting: 0.");
    assert!(chat.says("/queue sometimes").starts_with("Usage: /queue"));
    assert_eq!(chat.says("hello"), "A.");
    let status = chat.says("/status");
    for line in ["Key: agent:main:main", "Model: m", "Last turn: 100 tokens in, 10 out", "State: idle", "Replies: on"] {
        assert!(status.contains(line), "{status}");
    }
    let context = chat.says("/context list");
    assert!(context.starts_with("Context: about ") && context.contains("your messages: "), "{context}");
    assert!(serde_json::from_str::<Value>(&chat.says("/context json")).unwrap()["parts"].is_array());
    assert_eq!(chat.says("/send off"), "Replies to this chat are off. The operator still sees them.");
    let before = chat.channel.hook.asked().len();
    chat.send("are you there?");
    chat.idle();
    assert_eq!(chat.channel.hook.asked().len(), before);
    assert_eq!(chat.says("/send on"), "Replies to this chat are on.");
    assert_eq!(chat.says("hello"), "C.");
}

#[test]
fn commands_are_for_those_who_have_a_right_to_them() {
    let chat = Chat::new([Script::says("A.")], "[commands]\nallowFrom = [\"bob\"]\n");
    chat.send("/status");
    chat.send("/send off");
    chat.idle();
    assert!(chat.channel.hook.asked().is_empty() && chat.channel.place.server.asked().is_empty());
    let log = chat.channel.log();
    assert_eq!(log[0]["why"], "no right to commands", "{log:#?}");
    // To the agent it is a text.
    assert_eq!(chat.says("/new idea"), "A.");
    assert_eq!(chat.question(0), "/new idea");
}
