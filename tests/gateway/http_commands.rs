//! Sessions made and commands sent over HTTP.

use crate::http::{Web, token};
use crate::place::{Place, err, out, shown, until};
use crate::support::model_server::Script;
use serde_json::{Value, json};

const SESSIONS: &str = "/v1/workspaces/default/sessions";
const COMMANDS: &str = "/v1/workspaces/default/commands";

fn of_session(id: &str, command: &str, with: Value) -> Value {
    json!({"command": {"to": "session", "session": id, "command": command, "with": with}})
}

#[test]
fn a_script_makes_a_session_sends_to_it_and_answers_what_it_asks() {
    let write = json!({"path": "new.txt", "content": "text\n"});
    let place = Place::new([Script::calls(&[("write", write)]), Script::says("Written.")], "");
    let web = Web::serve(&place, &[]);
    let (owner, writer) = (token(&place, &[]), token(&place, &["--name", "bot", "--scopes", "write"]));
    let cwd = place.project.path();
    let refused = web.post(SESSIONS, &writer, &json!({"title": "Mine", "cwd": cwd}));
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"), "a directory is the owner's to choose");
    assert_eq!(web.post(SESSIONS, &writer, &json!({"title": "Other"})).status, 201);
    let made = web.post(SESSIONS, &owner, &json!({"title": "Mine", "mode": "ask", "cwd": cwd}));
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let sent = web.post(&format!("{SESSIONS}/{id}/messages"), &owner, &json!({"id": "msg-0001", "text": "write it"}));
    assert_eq!(sent.status, 202, "{}", sent.body);
    let open = of_session(&id, "open", json!({"rows": 1}));
    let mut asked = Value::Null;
    until("it asks", || {
        let opened = web.post(COMMANDS, &owner, &open).json();
        asked = opened["events"][0]["with"]["requests"][0].clone();
        asked.is_object()
    });
    assert_eq!(asked["ask"]["subject"], "new.txt", "{asked:#}");
}

#[test]
fn a_session_without_a_title_waits_for_its_first_message() {
    let place = Place::new([Script::says("Hello.")], "");
    let web = Web::serve(&place, &[]);
    let owner = token(&place, &[]);
    let made = web.post(SESSIONS, &owner, &json!({}));
    let id = made.json()["session"]["id"].as_str().unwrap().to_owned();
    // The next request comes from another client, and that of the first one is gone.
    let listed = web.post(COMMANDS, &owner, &json!({"command": {"to": "engine", "command": "list"}}));
    assert_eq!(listed.status, 200, "{}", listed.body);
    let sent = web.post(&format!("{SESSIONS}/{id}/messages"), &owner, &json!({"id": "msg-0001", "text": "hello"}));
    assert_eq!(sent.status, 202, "{}", sent.body);
}

#[test]
fn commands_that_a_token_may_not_send_or_that_are_none_are_refused() {
    let place = Place::new([Script::says("The answer.")], "");
    let web = Web::serve(&place, &[]);
    let id = web.session(&place);
    let (owner, reader) = (token(&place, &[]), token(&place, &["--name", "reader", "--scopes", "read"]));
    let listed = web.post(COMMANDS, &reader, &json!({"command": {"to": "engine", "command": "list"}}));
    assert_eq!(listed.json()["events"][0]["with"]["sessions"][0]["id"], id.as_str(), "{}", listed.body);
    for (name, token, command, status) in [
        ("sending", &reader, of_session(&id, "send", json!({"text": "more"})), 403),
        ("Execute", &reader, of_session(&id, "mode", json!({"mode": "execute", "drop_plan": false})), 403),
        ("no session", &owner, of_session("261124-no-such", "rename", json!({"title": "x"})), 404),
        ("the end", &owner, json!({"command": {"to": "engine", "command": "shutdown"}}), 400),
        ("no command", &owner, json!({"command": {"to": "engine", "command": "no-such"}}), 400),
        ("no body", &owner, json!({}), 400),
    ] {
        let answer = web.post(COMMANDS, token, &command);
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
    }
    assert_eq!(place.server.asked().len(), 1, "nothing was sent");
    assert!(place.status().is_some(), "and the gateway goes on");
}

#[test]
fn a_session_with_a_key_is_made_once() {
    let place = Place::new([Script::says("Hello.")], "");
    let web = Web::serve(&place, &[]);
    let owner = token(&place, &[]);
    let id = |body: &Value| {
        let made = web.post(SESSIONS, &owner, body);
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()["session"]["id"].as_str().unwrap().to_owned()
    };
    let mine = json!({"title": "Mine", "key": "new-0001"});
    let first = id(&mine);
    assert_eq!(id(&mine), first, "sent again");
    let repeated: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| id(&json!({"key": "new-0002"})))).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(repeated.iter().all(|one| *one == repeated[0] && *one != first), "all at once: {repeated:?}");
    assert_ne!(id(&json!({})), id(&json!({})), "without a key");
    let headers = [("Authorization", format!("Bearer {owner}")), ("Idempotency-Key", "\"new-0001\"".to_owned())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(web.ask("POST", SESSIONS, &headers, "{}").json()["session"]["id"], first.as_str(), "as a header");
    for wrong in ["short", "with blanks in it", ""] {
        let refused = web.post(SESSIONS, &owner, &json!({"key": wrong}));
        assert_eq!(refused.status, 422, "{wrong:?}: {}", refused.body);
    }

    let sent = web.post(&format!("{SESSIONS}/{first}/messages"), &owner, &json!({"id": "msg-0001", "text": "hello"}));
    assert_eq!(sent.status, 202, "{}", sent.body);
    until("it is answered", || place.transcripts().contains("Hello."));
    drop(web);
    let web = Web::serve(&place, &[]);
    let made = web.post(SESSIONS, &owner, &mine);
    assert_eq!(made.json()["session"]["id"], first.as_str(), "by a later gateway: {}", made.body);
}

#[test]
fn a_list_has_what_happens_here_at_once_and_what_others_made_soon() {
    let place = Place::new([Script::says("One."), Script::says("Two.")], "");
    let web = Web::serve(&place, &[]);
    let owner = token(&place, &[]);
    let titles = |query: &str| -> Vec<String> {
        let listed = web.get(&format!("{SESSIONS}{query}"), &owner).json();
        let all = listed["sessions"].as_array().unwrap();
        all.iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(""), Vec::<String>::new());
    let id = web.session(&place);
    assert_eq!(titles(""), ["Mine"]);
    let rename = of_session(&id, "rename", json!({"title": "Renamed"}));
    assert_eq!(web.post(COMMANDS, &owner, &rename).status, 200);
    assert_eq!(titles(""), ["Renamed"], "at once");
    let archive = json!({"command": {"to": "engine", "command": "change",
        "with": {"sessions": [id], "change": {"change": "archived", "to": true}}}});
    assert_eq!(web.post(COMMANDS, &owner, &archive).status, 200);
    assert_eq!((titles(""), titles("?all=1")), (vec![], vec!["Renamed".to_owned()]));

    let other = place.lisle(&["run", "--no-gateway", "--cwd", &place.project.path().to_string_lossy(), "hello"]);
    assert!(other.status.success(), "{}", err(&other));
    until("a session of another process is listed", || titles("").len() == 1);
    assert_eq!(
        (titles("?all=1&limit=1").len(), titles("?all=1&offset=1"), titles("?all=1&offset=2")),
        (1, vec!["Renamed".to_owned()], vec![])
    );
    let delete = json!({"command": {"to": "engine", "command": "delete", "with": {"sessions": [id], "now": false}}});
    assert_eq!(web.post(COMMANDS, &owner, &delete).status, 200);
    assert_eq!(titles("?all=1").len(), 1, "gone at once");
}

#[test]
fn the_audit_log_says_which_client_sent_and_which_answered() {
    let write = json!({"path": "new.txt", "content": "text\n"});
    let place = Place::new([Script::calls(&[("write", write)]), Script::says("Written.")], "");
    let web = Web::serve(&place, &[]);
    let (owner, bot) = (token(&place, &[]), token(&place, &["--name", "bot", "--scopes", "write"]));
    let made = web.post(SESSIONS, &owner, &json!({"mode": "ask", "cwd": place.project.path()}));
    let id = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let sent = web.post(&format!("{SESSIONS}/{id}/messages"), &bot, &json!({"id": "msg-0001", "text": "write it"}));
    assert_eq!(sent.status, 202, "{}", sent.body);

    let mut raw = place.raw();
    let mut connect = place.connect("desk");
    connect["workspace"] = json!("");
    raw.request(1, "connect", &connect);
    raw.reply(1);
    let mut number = 1;
    let mut opened = Value::Null;
    until("it asks", || {
        number += 1;
        let open = of_session(&id, "open", json!({"rows": 1}));
        raw.request(number, "lisle.command", &open);
        opened = raw.event("opened")["with"].clone();
        opened["requests"][0].is_object()
    });
    let request = &opened["requests"][0];
    let shown = shown(request);
    let answer =
        of_session(&id, "answer", json!({"request": request["id"], "answer": {"answer": "once"}, "shown": shown}));
    raw.request(number + 1, "lisle.command", &answer);
    raw.event("turn-ended");

    let printed = place.lisle(&["audit", &id, "--json"]);
    let lines: Vec<Value> = out(&printed).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (message, call) = (&lines[0], &lines[1]);
    assert_eq!(
        (&message["fate"], &message["message"], &message["subject"], &message["client"]),
        (&json!("sent"), &json!("msg-0001"), &json!("write it"), &json!("http (token bot at 127.0.0.1)")),
        "{lines:#?}"
    );
    assert_eq!((&call["fate"], &call["decision"]["client"]), (&json!("ran"), &json!("test")), "{lines:#?}");
    let words = out(&place.lisle(&["audit", &id]));
    assert!(words.contains("message write it  (by http (token bot at 127.0.0.1))"), "{words}");
    let rows = web.get(&format!("{SESSIONS}/{id}/messages"), &owner).json();
    assert_eq!(rows["messages"][0]["body"]["client"], "http (token bot at 127.0.0.1)", "{rows:#}");
}
