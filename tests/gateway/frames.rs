//! Frames of a connection, and errors for all else.

use crate::place::{Place, paused, until};
use crate::support::model_server::{Gate, Script};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;

fn code(frame: &Value) -> &str {
    frame["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn the_first_frame_is_a_handshake_that_fits() {
    let place = Place::new([], "");
    let _gateway = place.serve();
    let mut wrong = place.connect("a");
    wrong["secret"] = json!("0".repeat(64));
    let mut without = place.connect("a");
    without.as_object_mut().unwrap().remove("secret");
    let mut newer = place.connect("a");
    newer["minProtocol"] = json!(90);
    let mut older = place.connect("a");
    (older["minProtocol"], older["maxProtocol"]) = (json!(0), json!(0));
    let mut nowhere = place.connect("a");
    nowhere["workspace"] = json!("../up");
    for (method, params, expected, words) in [
        ("connect", wrong, "UNAUTHORIZED", "secret"),
        ("connect", without, "UNAUTHORIZED", "secret"),
        ("connect", newer, "PROTOCOL_MISMATCH", "The gateway is older"),
        ("connect", older, "PROTOCOL_MISMATCH", "This lisle is older"),
        ("connect", nowhere, "UNAVAILABLE", "is no workspace"),
        ("connect", json!({}), "INVALID_REQUEST", "Invalid"),
        ("lisle.command", json!({}), "INVALID_REQUEST", "first request"),
    ] {
        let mut raw = place.raw();
        raw.request(7, method, &params);
        let frame = raw.frame().unwrap();
        assert_eq!(
            (code(&frame), frame["id"].as_u64(), frame["ok"].as_bool()),
            (expected, Some(7), Some(false)),
            "{frame}"
        );
        assert!(frame["error"]["message"].as_str().unwrap().contains(words), "{frame}");
        assert_eq!(raw.frame(), None, "the connection ends");
    }
    for bytes in ["\u{0}\u{1}\u{2}\n", "GET / HTTP/1.1\r\n\r\n", "[1,2]\n", &("x".repeat(70_000) + "\n")] {
        let mut raw = place.raw();
        raw.send(bytes.as_bytes());
        assert_eq!(code(&raw.frame().unwrap()), "INVALID_REQUEST");
    }
    assert!(place.status().is_some(), "the gateway goes on");
}

#[test]
fn frames_that_are_not_understood_get_an_error_and_the_connection_goes_on() {
    let place = Place::new([], "");
    let _gateway = place.serve();
    let mut raw = place.raw();
    let mut connect = place.connect("a");
    connect["later"] = json!("a field of a later version");
    let mut hello = json!({"type": "req", "id": 1, "method": "connect", "params": connect}).to_string().into_bytes();
    hello.push(b'\n');
    // Torn at every byte.
    hello.chunks(1).for_each(|byte| raw.send(byte));
    let reply = raw.reply(1);
    assert!(reply["payload"]["instance"].is_string() && reply["payload"]["protocol"].is_u64(), "{reply}");
    for (line, expected) in [
        ("nonsense", "INVALID_REQUEST"),
        (r#"{"type":"req","id":2,"method":"no.such","params":1}"#, "UNKNOWN_METHOD"),
        (r#"{"type":"hello","id":3}"#, "INVALID_REQUEST"),
        (r#"{"type":"req","id":4,"method":"lisle.command","params":{"command":{"to":"nobody"}}}"#, "INVALID_REQUEST"),
        (
            r#"{"type":"req","id":5,"method":"lisle.command","params":{"command":{"to":"engine","command":"list"}}}"#,
            "INVALID_REQUEST",
        ),
        (r#"{"type":"req","id":6,"method":"gateway.detach","params":{"client":"nobody"}}"#, "UNAVAILABLE"),
        (r#"{"type":"req","id":7,"method":"connect","params":{}}"#, "INVALID_REQUEST"),
    ] {
        raw.send(format!("{line}\n").as_bytes());
        let frame = raw.frame().unwrap();
        assert_eq!(code(&frame), expected, "{line}: {frame}");
    }
    raw.request(8, "ping", &json!({"seen": 0}));
    assert_eq!(raw.reply(8)["ok"], true);
}

#[test]
fn a_client_whose_line_was_lost_gets_each_event_once_and_nothing_is_done_twice() {
    let gate = Gate::new();
    let script = paused("one two three", &gate, "rest");
    let place = Place::new([script], "");
    let _gateway = place.serve();
    let mut connect = place.connect("mine");
    connect["workspace"] = json!("");
    connect["cwd"] = json!(place.project.path());
    let mut raw = place.raw();
    raw.request(1, "connect", &connect);
    let hello = raw.reply(1)["payload"].clone();
    assert!(Path::new(hello["workspace"].as_str().unwrap()).ends_with("default"), "{hello}");
    raw.request(1, "lisle.command", &json!({"command": {"to": "engine", "command": "create", "with": {}}}));
    let opened = raw.event("opened");
    assert_eq!(
        opened["with"]["meta"]["cwd"].as_str().map(Path::new),
        Some(place.project.path().canonicalize().unwrap().as_path())
    );
    let session = opened["session"].clone();
    let send = json!({"command": {"to": "session", "session": session, "command": "send", "with": {"text": "hello"}}});
    raw.request(2, "lisle.command", &send);
    let mut seen = 0;
    let mut begun = false;
    while !begun {
        let frame = raw.frame().unwrap();
        if let Some(seq) = frame["seq"].as_u64() {
            seen = seq;
        }
        begun = frame["payload"]["stamped"]["event"] == "delta";
    }
    // The line is lost in mid-turn, and what was sent last is sent again over the next one.
    drop(raw);
    gate.open();
    connect["resume"] = json!({"instance": hello["instance"], "seq": seen});
    let mut raw = place.raw();
    raw.request(1, "connect", &connect);
    let again = raw.reply(1)["payload"].clone();
    assert_eq!((again["resumed"].as_bool(), again["taken"].as_u64()), (Some(true), Some(2)), "{again}");
    raw.request(2, "lisle.command", &send);
    let (mut next, mut ended) = (seen, false);
    while !ended {
        let frame = raw.frame().unwrap();
        if let Some(seq) = frame["seq"].as_u64() {
            assert!(seq > next, "{seq} after {next}");
            next = seq;
        }
        ended = frame["payload"]["stamped"]["event"] == "turn-ended";
    }
    assert_eq!(place.server.asked().len(), 1, "the message was sent once");
    until("the row is on disk", || place.transcripts().contains("one two three"));
    assert_eq!(place.transcripts().matches("\"content\":\"hello\"").count(), 1, "{}", place.transcripts());
}

#[test]
fn a_message_with_an_id_is_taken_once_also_by_a_later_gateway() {
    let place = Place::new([Script::says("The answer."), Script::says("Asked twice.")], "");
    let mut gateway = place.serve();
    let mut connect = place.connect("mine");
    connect["workspace"] = json!("");
    connect["cwd"] = json!(place.project.path());
    let mut raw = place.raw();
    raw.request(1, "connect", &connect);
    raw.reply(1);
    raw.request(1, "lisle.command", &json!({"command": {"to": "engine", "command": "create", "with": {}}}));
    let session = raw.event("opened")["session"].clone();
    let command = json!({"to": "session", "session": session, "command": "send", "with": {"text": "hello"}});
    let send = json!({"message": "msg-1764000000000-mine01", "command": command});
    raw.request(2, "lisle.command", &send);
    raw.event("turn-ended");
    gateway.signal(Signal::KILL);
    gateway.child.wait().unwrap();
    let _gateway = place.serve();
    connect["secret"] = json!(place.secret());
    let mut raw = place.raw();
    raw.request(1, "connect", &connect);
    raw.reply(1);
    raw.request(1, "lisle.command", &send);
    let refused = raw.reply(1);
    assert_eq!(refused["error"]["details"], "duplicate", "{refused}");
    assert_eq!(place.server.asked().len(), 1);
    assert_eq!(place.transcripts().matches("\"msg-1764000000000-mine01\"").count(), 1, "{}", place.transcripts());
}

#[test]
fn examples_of_the_page_are_frames() {
    use lisle::gateway::frame::{LinkFrame, parse};
    use lisle::gateway::handshake::{Connect, Hello};
    use lisle::gateway::methods::CommandParams;
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gateway.md")).unwrap();
    let blocks = text.split("```jsonl\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut seen = 0;
    for line in blocks.flat_map(str::lines) {
        match parse(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}")) {
            LinkFrame::Request { method, params, .. } if method == "connect" => {
                serde_json::from_str::<Connect>(params.get()).unwrap();
            }
            LinkFrame::Request { method, params, .. } if method == "lisle.command" => {
                serde_json::from_str::<CommandParams>(params.get()).unwrap();
            }
            LinkFrame::Reply { id: 1, result } => drop(serde_json::from_str::<Hello>(result.unwrap().get()).unwrap()),
            LinkFrame::Request { .. } | LinkFrame::Reply { .. } | LinkFrame::Event { .. } => {}
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}

/// True if `now` has all that `then` had, of the same types. Values may differ, but for those that say what it is.
fn still_says(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => then.iter().all(|(key, value)| {
            let fixed = ["type", "ok", "code", "id"].contains(&key.as_str()) && !value.is_object();
            now.get(key).is_some_and(|now| if fixed && value != "" { now == value } else { still_says(now, value) })
        }),
        _ => std::mem::discriminant(now) == std::mem::discriminant(then),
    }
}

/// Clients of versions that were once current get what they expect, or are told that they are too old.
#[test]
fn recorded_conversations_of_earlier_versions_still_work() {
    let place = Place::new([], "");
    let _gateway = place.serve();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway/conversations");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let mut raw = place.raw();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let step: Value = serde_json::from_str(&line.replace("SECRET", place.secret().trim())).unwrap();
            raw.send(format!("{}\n", step["send"]).as_bytes());
            let answer = raw.reply(step["send"]["id"].as_u64().unwrap());
            if code(&answer) == "PROTOCOL_MISMATCH" {
                assert!(answer["error"]["message"].as_str().unwrap().starts_with("This lisle is older"), "{answer}");
                break;
            }
            assert!(still_says(&answer, &step["answer"]), "{}: {line}\n{answer}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 0, "no recorded version is spoken any more");
}
