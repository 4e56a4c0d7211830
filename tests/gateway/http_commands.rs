//! Sessions made and commands sent over HTTP.

use crate::http::{Web, token};
use crate::place::{Place, until};
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
