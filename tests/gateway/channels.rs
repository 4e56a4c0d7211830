//! Channels over real sockets: messages in by HTTP, answers out to a webhook, with the gateway killed in between.

use crate::http::{Answer, Web, token};
use crate::place::{Place, err, out, shown, until};
use crate::support::model_server::{Asked, Gate, ModelServer, Script};
use lisle::routes::allow::sign;
use rustix::process::Signal;
use serde_json::{Value, json};

pub const INBOUND: &str = "/v1/inbound";

/// A home with the channel `chat`, where Ana may write, and the server that its webhook is.
pub struct Channel {
    pub place: Place,
    pub hook: ModelServer,
}

impl Channel {
    pub fn new(
        model: impl IntoIterator<Item = Script>,
        hook: impl IntoIterator<Item = Script>,
        settings: &str,
    ) -> Self {
        let hook = ModelServer::for_program(hook);
        let settings = format!(
            "[channels.talk]\nallowFrom = [\"ana\"]\nwebhook = \"http://{}/replies\"\n{settings}",
            hook.address()
        );
        Self { place: Place::new(model, &settings), hook }
    }

    /// Replies that the webhook got, once there are so many.
    #[track_caller]
    pub fn replies(&self, count: usize) -> Vec<Asked> {
        until("the webhook got its replies", || self.hook.asked().len() >= count);
        self.hook.asked()
    }

    pub fn rows(&self) -> Value {
        let path = self.place.lisle_home().join("data/agents/main/sessions/sessions.json");
        std::fs::read(path).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
    }

    pub fn write_rows(&self, rows: &Value) {
        let path = self.place.lisle_home().join("data/agents/main/sessions/sessions.json");
        std::fs::write(path, rows.to_string()).unwrap();
    }

    pub fn secret(&self) -> String {
        out(&self.place.lisle(&["channel", "secret", "talk"])).trim().to_owned()
    }

    pub fn log(&self) -> Vec<Value> {
        let done = self.place.lisle(&["channel", "log", "--json"]);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", err(&done)))
    }

    /// Messages and replies that are not done.
    pub fn waiting(&self) -> (u64, u64) {
        let done = self.place.lisle(&["channel", "list", "--json"]);
        let listed: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let of = |name: &str| listed["gateway"][name].as_u64().unwrap_or(u64::MAX);
        (of("messages"), of("replies"))
    }

    /// User rows of all sessions of the agent.
    pub fn user_rows(&self) -> Vec<Value> {
        let folder = self.place.lisle_home().join("data/workspaces/main/sessions");
        let mut all = Vec::new();
        for session in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(session.path().join("session.jsonl")).unwrap_or_default();
            let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            all.extend(rows.filter(|row| row["type"] == "user"));
        }
        all
    }

    /// Text of all files of the agent's sessions.
    pub fn files(&self) -> String {
        let folder = self.place.lisle_home().join("data/workspaces/main/sessions");
        let sessions = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = sessions.flat_map(|session| std::fs::read_dir(session.path()).into_iter().flatten().flatten());
        files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).collect()
    }

    /// Texts of them.
    pub fn questions(&self) -> Vec<String> {
        let text = |row: &Value| row["content"].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<String> = self.user_rows().iter().map(text).collect();
        all.sort();
        all
    }
}

pub fn taken() -> Script {
    Script::json(200, &json!({}))
}

pub fn message(id: &str, text: &str) -> Value {
    json!({"id": id, "channel": "talk", "from": {"id": "ana", "name": "Ana"}, "text": text})
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn signed(web: &Web, secret: &str, time: i64, body: &str) -> Answer {
    let time = time.to_string();
    let signature = sign(secret.as_bytes(), &time, body.as_bytes()).unwrap();
    web.ask("POST", INBOUND, &[("X-Lisle-Timestamp", &time), ("X-Lisle-Signature", &signature)], body)
}

#[test]
fn a_message_is_answered_once_however_often_it_comes() {
    let channel = Channel::new([Script::says("The answer.")], [taken()], "");
    let web = Web::serve(&channel.place, &[]);
    let bot = token(&channel.place, &["--name", "bot", "--scopes", "write"]);
    let first = web.post(INBOUND, &bot, &message("m-1", "What is\u{1b}[2J it?"));
    assert_eq!(first.status, 202, "{}", first.body);
    assert_eq!(first.json(), json!({"status": "accepted", "id": "m-1", "key": "agent:main:main"}));
    let reply = &channel.replies(1)[0];
    let (time, signature) = (reply.header("x-lisle-timestamp").unwrap(), reply.header("x-lisle-signature").unwrap());
    let expected = sign(channel.secret().as_bytes(), time, reply.body.as_bytes()).unwrap();
    assert_eq!(signature, format!("sha256={expected}"));
    let body = reply.json();
    assert_eq!((&body["text"], &body["to"], &body["kind"]), (&json!("The answer."), &json!("ana"), &json!("answer")));
    assert_eq!((&body["inReplyTo"], &body["key"]), (&json!(["m-1"]), &json!("agent:main:main")));
    for _ in 0..3 {
        let again = web.post(INBOUND, &bot, &message("m-1", "What is it?"));
        assert_eq!((again.status, &again.json()["status"]), (200, &json!("duplicate")), "{}", again.body);
    }
    until("all is done", || channel.waiting() == (0, 0));
    assert_eq!((channel.place.server.asked().len(), channel.hook.asked().len()), (1, 1));
    assert_eq!(channel.questions(), ["What is it?"], "nothing of it acts on a terminal");
    let row = &channel.rows()["agent:main:main"];
    assert_eq!(
        (&row["origin"]["label"], &row["lastTo"], &row["channel"]),
        (&json!("Ana"), &json!("ana"), &json!("talk"))
    );
    assert_eq!((&row["inputTokens"], &row["outputTokens"], &row["model"]), (&json!(100), &json!(10), &json!("m")));
    let owner = token(&channel.place, &[]);
    let listed = web.get("/v1/workspaces/main/sessions", &owner).json();
    let session = &listed["sessions"][0];
    assert_eq!((&session["id"], &session["title"]), (&row["sessionId"], &json!("talk · Ana")));
    assert_eq!(session["mode"], "safe", "it reads only: {session:#}");
}

#[test]
fn requests_without_proof_or_with_a_wrong_one_do_nothing() {
    let channel = Channel::new([Script::says("Hello.")], [taken()], "");
    let web = Web::serve(&channel.place, &[]);
    let (secret, reader) = (channel.secret(), token(&channel.place, &["--name", "r", "--scopes", "read"]));
    let body = message("m-1", "hello").to_string();
    let other = json!({"id": "m-2", "channel": "nowhere", "from": {"id": "ana"}, "text": "x"}).to_string();
    for (what, answer, status) in [
        ("no proof", web.ask("POST", INBOUND, &[], &body), 401),
        ("half a proof", web.ask("POST", INBOUND, &[("X-Lisle-Timestamp", "1")], &body), 401),
        ("another secret", signed(&web, "lisle_hook_0", now(), &body), 401),
        ("too old", signed(&web, &secret, now() - 400, &body), 401),
        ("from the future", signed(&web, &secret, now() + 400, &body), 401),
        ("an unknown channel", signed(&web, &secret, now(), &other), 401),
        ("a reader", web.post(INBOUND, &reader, &message("m-1", "hello")), 403),
        (
            "no JSON",
            web.ask("POST", INBOUND, &[("Authorization", &format!("Bearer {}", token(&channel.place, &[])))], "{"),
            400,
        ),
        ("GET", web.get(INBOUND, &reader), 405),
    ] {
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
    }
    let time = now().to_string();
    let signature = sign(secret.as_bytes(), &time, body.as_bytes()).unwrap();
    let headers = [("X-Lisle-Timestamp", time.as_str()), ("X-Lisle-Signature", signature.as_str())];
    let changed = web.ask("POST", INBOUND, &headers, &body.replace("hello", "hullo"));
    assert_eq!(changed.status, 401, "{}", changed.body);
    let owner = token(&channel.place, &[]);
    let unknown = web.ask("POST", INBOUND, &[("Authorization", &format!("Bearer {owner}"))], &other);
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "NOT_FOUND"), "{}", unknown.body);
    let large = message("m-3", &"x".repeat(1 << 20));
    assert_eq!(web.post(INBOUND, &owner, &large).status, 413);
    let large = message("m-3", &"x".repeat((1 << 20) - 200));
    assert!(channel.place.server.asked().is_empty() && channel.questions().is_empty(), "nothing was taken");
    // The same request twice, as somebody on the way could send it.
    let first = web.ask("POST", INBOUND, &headers, &body);
    let replayed = web.ask("POST", INBOUND, &headers, &body);
    assert_eq!((first.status, replayed.status), (202, 200), "{}{}", first.body, replayed.body);
    channel.replies(1);
    channel.place.server.add(Script::says("Long."));
    channel.hook.add(taken());
    assert_eq!(web.post(INBOUND, &owner, &large).status, 202);
    channel.replies(2);
    assert_eq!(channel.place.server.asked().len(), 2);
}

#[test]
fn wrong_signatures_lock_an_address_out_and_right_ones_pass_all_the_same() {
    let channel = Channel::new([Script::says("Hello.")], [taken()], "");
    let web = Web::serve(&channel.place, &[]);
    let secret = channel.secret();
    let body = message("m-1", "hello").to_string();
    let statuses: Vec<u16> = (0..12).map(|_| signed(&web, "wrong", now(), &body).status).collect();
    assert_eq!((statuses[0], statuses[11]), (401, 429), "{statuses:?}");
    assert_eq!(signed(&web, &secret, now(), &body).status, 202);
    channel.replies(1);
}

#[test]
fn strangers_do_nothing_until_the_operator_lets_them_in() {
    let channel = Channel::new([Script::says("Welcome.")], [taken(), taken()], "");
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    let of = |id: &str, chat: Option<Value>| {
        let mut message =
            json!({"id": id, "channel": "talk", "from": {"id": "bob", "name": "B\no\u{202e}b"}, "text": "hi"});
        if let Some(chat) = chat {
            message["chat"] = chat;
        }
        web.post(INBOUND, &owner, &message)
    };
    let group = of("m-1", Some(json!({"type": "group", "id": "g"})));
    assert_eq!((group.status, &group.json()["status"]), (200, &json!("refused")), "{}", group.body);
    let paired = of("m-2", None).json();
    assert_eq!(paired["status"], "pairing", "{paired:#}");
    let reply = channel.replies(1)[0].json();
    assert_eq!((&reply["kind"], &reply["text"]), (&json!("pairing"), &paired["reply"]));
    assert_eq!(of("m-3", None).json()["reason"], "pairing code already sent");
    let code = reply["text"].as_str().unwrap().rsplit(": ").next().unwrap().to_owned();
    let wrong = channel.place.lisle(&["channel", "allow", "talk", "--code", "ABCD2345"]);
    assert!(!wrong.status.success() && err(&wrong).contains("no open request"), "{}", err(&wrong));
    let listed = out(&channel.place.lisle(&["channel", "list"]));
    assert!(listed.contains("asks     bob (B o⟦U+202E⟧b)"), "{listed}");
    assert!(channel.place.server.asked().is_empty() && channel.rows().is_null());
    let allowed = channel.place.lisle(&["channel", "allow", "talk", "--code", &code]);
    assert_eq!(out(&allowed), "bob may write on talk.\n", "{}", err(&allowed));
    assert_eq!(of("m-4", None).status, 202);
    assert_eq!(channel.replies(2)[1].json()["text"], "Welcome.");
    let what: Vec<String> = channel.log().iter().map(|line| line["what"].as_str().unwrap().to_owned()).collect();
    assert_eq!(what, ["refused", "pairing", "refused"]);
    assert!(channel.place.lisle(&["channel", "revoke", "talk", "bob"]).status.success());
    assert_eq!(of("m-5", Some(json!({"type": "group", "id": "g"}))).json()["status"], "refused");
}

#[test]
fn a_gateway_that_is_killed_in_a_turn_answers_after_its_next_start_once() {
    let gate = Gate::new();
    let held = Script::says("Never seen.").held(&gate);
    let channel = Channel::new([held, Script::says("The answer.")], [taken()], "");
    {
        let web = Web::serve(&channel.place, &[]);
        let owner = token(&channel.place, &[]);
        assert_eq!(web.post(INBOUND, &owner, &message("m-1", "What is it?")).status, 202);
        until("the model is asked", || channel.place.server.asked().len() == 1);
        web.kill();
    }
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    let session = channel.rows()["agent:main:main"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(web.get(&format!("/v1/workspaces/main/sessions/{session}/messages"), &owner).status, 200);
    assert_eq!(channel.replies(1)[0].json()["text"], "The answer.");
    let again = web.post(INBOUND, &owner, &message("m-1", "What is it?"));
    assert_eq!(again.json()["status"], "duplicate", "{}", again.body);
    until("all is done", || channel.waiting() == (0, 0));
    assert_eq!(channel.questions(), ["What is it?"]);
    assert_eq!((channel.place.server.asked().len(), channel.hook.asked().len()), (2, 1));
    gate.open();
}

#[test]
fn a_gateway_that_ends_leaves_its_turn_and_its_replies_to_the_next() {
    let gate = Gate::new();
    let model = [Script::says("First."), Script::says("Never seen.").held(&gate), Script::says("Second.")];
    let channel = Channel::new(model, [Script::json(503, &json!({}))], "");
    {
        let web = Web::serve(&channel.place, &[]);
        let owner = token(&channel.place, &[]);
        assert_eq!(web.post(INBOUND, &owner, &message("m-1", "one")).status, 202);
        channel.replies(1);
        assert_eq!(web.post(INBOUND, &owner, &message("m-2", "two")).status, 202);
        until("the model is asked", || channel.place.server.asked().len() == 2);
        assert!(channel.place.lisle(&["gateway", "stop"]).status.success());
    }
    channel.hook.add(taken());
    channel.hook.add(taken());
    let before = channel.hook.asked().len();
    let _web = Web::serve(&channel.place, &[]);
    let replies = channel.replies(before + 2);
    let texts: Vec<Value> = replies[before..].iter().map(|reply| reply.json()["text"].clone()).collect();
    assert_eq!(texts, ["First.", "Second."]);
    assert_eq!(replies[0].json()["id"], replies[before].json()["id"], "a receiver knows that it is the same");
    gate.open();
}

#[test]
fn a_reply_is_posted_again_where_that_may_help_and_is_a_dead_letter_where_it_never_does() {
    let model = [Script::says("One."), Script::says("Two."), Script::says("Three.")];
    let hook = [Script::json(500, &json!({})), taken(), Script::json(410, &json!({})), taken()];
    let channel = Channel::new(model, hook, "");
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    for (n, replies) in [(1, 2), (2, 3), (3, 4)] {
        assert_eq!(web.post(INBOUND, &owner, &message(&format!("m-{n}"), "hi")).status, 202);
        channel.replies(replies);
    }
    let replies = channel.hook.asked();
    assert_eq!(replies[0].json(), replies[1].json());
    assert_eq!(replies[3].json()["text"], "Three.", "the others go on");
    until("all is done", || channel.waiting() == (0, 0));
    let dead = channel.place.lisle_home().join("state/gateway/channels/dead-letters.jsonl");
    let dead: Value = serde_json::from_str(std::fs::read_to_string(dead).unwrap().trim()).unwrap();
    assert_eq!((&dead["reply"]["text"], &dead["attempts"]), (&json!("Two."), &json!(1)), "{dead:#}");
    assert_eq!(channel.log()[0]["what"], "dead");
}

#[test]
fn what_the_send_policy_withholds_stays_in_the_conversation() {
    let policy = "[session.sendPolicy]\nrules = [{ action = \"deny\", match = { chatType = \"group\" } }]\n";
    let channel = Channel::new([Script::says("Secret."), Script::says("Open.")], [taken()], policy);
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    let mut group = message("m-1", "hi");
    group["chat"] = json!({"type": "group", "id": "g-1", "name": "Team"});
    let answer = web.post(INBOUND, &owner, &group);
    assert_eq!(answer.json()["key"], "agent:main:talk:group:g-1");
    until("it is done", || channel.waiting() == (0, 0));
    assert_eq!(channel.log()[0]["what"], "withheld");
    assert_eq!(channel.questions(), ["Ana (ana): hi"]);
    assert_eq!(web.post(INBOUND, &owner, &message("m-2", "hi")).status, 202);
    assert_eq!(channel.replies(1)[0].json()["text"], "Open.");
    assert_eq!(channel.hook.asked().len(), 1);
}

#[test]
fn a_conversation_that_is_over_is_archived_and_the_next_message_begins_another() {
    let channel = Channel::new(
        [Script::says("One."), Script::says("Two."), Script::says("Three.")],
        [taken(), taken(), taken()],
        "",
    );
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    let say = |id: &str, replies: usize| {
        assert_eq!(web.post(INBOUND, &owner, &message(id, id)).status, 202);
        channel.replies(replies);
        until("it is done", || channel.waiting() == (0, 0));
        channel.rows()["agent:main:main"].clone()
    };
    let first = say("m-1", 1);
    assert_eq!(say("m-2", 2)["sessionId"], first["sessionId"]);
    let mut rows = channel.rows();
    let row = &mut rows["agent:main:main"];
    (row["sessionStartedAt"], row["label"], row["mine"]) = (json!(1), json!("Work"), json!({"a": 1}));
    channel.write_rows(&rows);
    let third = say("m-3", 3);
    assert_ne!(third["sessionId"], first["sessionId"]);
    assert_eq!((&third["label"], &third["mine"]), (&json!("Work"), &json!({"a": 1})), "names and unknown keys stay");
    let listed = web.get("/v1/workspaces/main/sessions?all=1", &owner).json();
    let of = |id: &Value| listed["sessions"].as_array().unwrap().iter().find(|meta| meta["id"] == *id).unwrap().clone();
    assert_eq!(
        (&of(&first["sessionId"])["archived"], &of(&third["sessionId"])["archived"]),
        (&json!(true), &json!(false))
    );
    let asked = channel.place.server.asked()[2].body.clone();
    assert!(asked.contains("m-3") && !asked.contains("m-2"), "the model sees nothing of before: {asked}");
}

#[test]
fn a_turn_that_asks_waits_for_the_operator() {
    let write = json!({"path": "new.txt", "content": "text\n"});
    let folder = tempfile::tempdir().unwrap();
    let agent = format!("[agents.main]\nmode = \"ask\"\ndirectory = {:?}\n", folder.path());
    let channel = Channel::new([Script::calls(&[("write", write)]), Script::says("Written.")], [taken()], &agent);
    let web = Web::serve(&channel.place, &[]);
    let owner = token(&channel.place, &[]);
    assert_eq!(web.post(INBOUND, &owner, &message("m-1", "write it")).status, 202);
    let status = channel.place.status_until("it waits", |status| status["waiting"][0].is_object());
    let session = status["waiting"][0]["session"].as_str().unwrap().to_owned();
    assert_eq!(session, channel.rows()["agent:main:main"]["sessionId"].as_str().unwrap());
    assert!(channel.hook.asked().is_empty(), "the channel is asked nothing");
    let mut raw = channel.place.raw();
    let mut connect = channel.place.connect("operator");
    connect["workspace"] = json!("main");
    raw.request(1, "connect", &connect);
    raw.reply(1);
    let of = |command: &str, with: Value| json!({"command": {"to": "session", "session": session, "command": command, "with": with}});
    raw.request(1, "lisle.command", &of("open", json!({"rows": 5})));
    let request = raw.event("opened")["with"]["requests"][0].clone();
    raw.request(
        2,
        "lisle.command",
        &of("answer", json!({"request": request["id"], "answer": {"answer": "once"}, "shown": shown(&request)})),
    );
    assert_eq!(channel.replies(1)[0].json()["text"], "Written.");
    assert_eq!(std::fs::read_to_string(folder.path().join("new.txt")).unwrap(), "text\n");
}

#[test]
fn a_script_sends_through_the_command_line() {
    let channel = Channel::new([Script::says("One.")], [taken()], "");
    let args = ["channel", "send", "--channel", "talk", "--from", "ana", "--id", "nightly-1", "check it"];
    let none = channel.place.lisle(&args);
    assert!(err(&none).contains("no gateway runs"), "{}", err(&none));
    let _serving = channel.place.serve();
    let sent = channel.place.lisle(&args);
    assert_eq!(out(&sent), "agent:main:main\n", "{}", err(&sent));
    assert_eq!(channel.replies(1)[0].json()["text"], "One.");
    assert_eq!(out(&channel.place.lisle(&args)), "Taken before; nothing was done.\n");
    let refused = channel.place.lisle(&["channel", "send", "--channel", "talk", "--from", "bob", "--group", "g", "x"]);
    assert!(!refused.status.success() && err(&refused).contains("not on the allow list"), "{}", err(&refused));
    let unknown = channel.place.lisle(&["channel", "send", "--channel", "nowhere", "--from", "bob", "x"]);
    assert!(!unknown.status.success() && err(&unknown).contains("nowhere"), "{}", err(&unknown));
}

#[test]
fn a_mistake_in_the_settings_closes_the_channels_and_loses_nothing() {
    let gate = Gate::new();
    let channel = Channel::new([Script::says("x").held(&gate), Script::says("The answer.")], [taken()], "");
    {
        let web = Web::serve(&channel.place, &[]);
        assert_eq!(web.post(INBOUND, &token(&channel.place, &[]), &message("m-1", "hi")).status, 202);
        until("the model is asked", || channel.place.server.asked().len() == 1);
        web.kill();
    }
    let config = channel.place.lisle_home().join("config/config.toml");
    let right = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{right}[commands]\nowner = 3\n")).unwrap();
    {
        let web = Web::serve(&channel.place, &[]);
        let answer = web.post(INBOUND, &token(&channel.place, &[]), &message("m-2", "hi"));
        assert_eq!(
            (answer.status, answer.json()["error"]["retryable"].as_bool()),
            (503, Some(true)),
            "{}",
            answer.body
        );
        web.kill();
    }
    std::fs::write(&config, right).unwrap();
    let _web = Web::serve(&channel.place, &[]);
    assert_eq!(channel.replies(1)[0].json()["text"], "The answer.");
    gate.open();
}

impl Web {
    /// As a power loss would.
    fn kill(&self) {
        self.signal(Signal::KILL);
    }
}

#[test]
fn a_message_that_was_steered_before_a_death_is_not_answered_again() {
    let gate = Gate::new();
    let calls = Script::calls(&[("list", json!({"path": "."}))]);
    let model = [calls.held(&gate), Script::says("Never.").held(&Gate::new()), Script::says("Both.")];
    let channel = Channel::new(model, [taken(), taken()], "[messages.queue]\nmode = \"steer\"\n");
    {
        let web = Web::serve(&channel.place, &[]);
        let owner = token(&channel.place, &[]);
        assert_eq!(web.post(INBOUND, &owner, &message("m-1", "alpha")).status, 202);
        until("the model is asked", || channel.place.server.asked().len() == 1);
        assert_eq!(web.post(INBOUND, &owner, &message("m-2", "beta")).status, 202);
        until("the session keeps it", || channel.files().contains("beta"));
        gate.open();
        until("it is steered", || channel.place.server.asked().iter().any(|asked| asked.body.contains("beta")));
        web.kill();
    }
    let _web = Web::serve(&channel.place, &[]);
    assert_eq!(channel.replies(1)[0].json()["text"], "Both.");
    until("all is done", || channel.waiting() == (0, 0));
    assert_eq!((channel.questions(), channel.hook.asked().len()), (vec!["alpha".to_owned(), "beta".to_owned()], 1));
}
