//! Transcripts of the reference from conversations of lisle.

use super::*;
use crate::domain::message::{AssistantText, Info, InfoKind, Thinking};
use crate::domain::notice::Level;
use crate::domain::{MessageId, Mode, SessionId};

fn meta() -> SessionMeta {
    let id = SessionId::parse("261128-quiet-lake").unwrap();
    SessionMeta { title: "Trains".to_owned(), ..SessionMeta::new(id, At(0), Mode::Ask, "/home/ann".into()) }
}

fn row(id: &str, turn: Option<&str>, body: Body) -> Message {
    Message { turn: turn.map(str::to_owned), ..Message::new(MessageId::new(id), At(1000), body) }
}

fn said(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() })
}

fn user(text: &str) -> Body {
    Body::User(UserText::with(text, Vec::new()))
}

fn compacted(keeps: Option<&str>) -> Body {
    let carried = Carried { text: "So far.".to_owned(), keeps: keeps.map(MessageId::new), ..Carried::default() };
    let carried = Some(Box::new(carried));
    Body::Info(Info { text: "Summarized.".to_owned(), level: Level::Info, kind: InfoKind::Compacted, carried })
}

fn call(id: &str, result: Option<&str>) -> Body {
    let call = json!({
        "id": id, "name": "bash", "input": {"command": "date"}, "subject": "date", "status": "completed",
        "result": result, "millis": 20,
    });
    Body::Tool(Box::new(serde_json::from_value(call).unwrap()))
}

fn written(rows: &[Message]) -> ReferenceTranscript {
    transcript(&meta(), rows, &|_| Some("aGVsbG8=".to_owned()))
}

/// Role or type of each entry.
fn kinds(transcript: &ReferenceTranscript) -> Vec<&str> {
    let kind = |line: &'_ Value| line["message"]["role"].as_str().or(line["type"].as_str()).unwrap().to_owned();
    transcript.lines.iter().map(|line| kind(line).leak() as &str).collect()
}

#[test]
fn rows_become_entries_in_one_chain() {
    let thought = Body::Thinking(Thinking { text: "Hm.".to_owned(), ..Thinking::default() });
    let out = written(&[
        row("u1", None, user("When?")),
        row("t1", Some("r1"), thought),
        row("c1", Some("r1"), call("call_1", Some("Friday"))),
        row("c2", Some("r1"), call("call_2", None)),
        row("a1", Some("r1"), said("At nine.")),
        row("a2", Some("r2"), said("Or ten.")),
    ]);
    let wanted = ["session", "user", "assistant", "toolResult", "toolResult", "assistant", "assistant", "session_info"];
    assert_eq!((kinds(&out), out.messages, out.left), (wanted.to_vec(), 6, 0));
    let header = &out.lines[0];
    assert_eq!((header["version"].as_u64(), header["timestamp"].as_str()), (Some(3), Some("1970-01-01T00:00:00.000Z")));
    assert!(header.get("parentId").is_none());
    assert_eq!(out.lines[1]["parentId"], Value::Null);
    for (before, entry) in out.lines[1..].iter().zip(&out.lines[2..]) {
        assert_eq!(before["id"], entry["parentId"]);
        assert_eq!(entry["id"].as_str().unwrap().len(), 8);
    }
    let (asked, failed) = (&out.lines[2]["message"], &out.lines[4]["message"]);
    assert_eq!((asked["stopReason"].as_str(), asked["content"][1]["name"].as_str()), (Some("toolUse"), Some("bash")));
    assert_eq!((failed["toolCallId"].as_str(), failed["isError"].as_bool()), (Some("call_2"), Some(true)));
    assert_eq!(out.lines[3]["message"]["timestamp"], 1020);
}

#[test]
fn a_compaction_names_the_first_entry_that_it_keeps() {
    let rows = |keeps| [row("u1", None, user("a")), row("a1", Some("r"), said("b")), row("i", None, compacted(keeps))];
    for (keeps, first) in [(Some("a1"), "00000002"), (Some("gone"), "00000003"), (None, "00000003")] {
        let out = written(&rows(keeps));
        assert_eq!(out.lines[3]["firstKeptEntryId"], first, "{keeps:?}");
        assert_eq!(out.lines[3]["summary"], "So far.");
    }
}

#[test]
fn what_has_no_place_is_counted() {
    let file = |mime: &str| {
        let value = json!({"name": "a", "path": "/a", "kind": "text", "mime": mime, "bytes": 1});
        serde_json::from_value::<Attachment>(value).unwrap()
    };
    let with_files = UserText::with("look", vec![file("image/png"), file("text/plain")]);
    let mut below = row("s", None, said("a subagent"));
    below.parent = Some(serde_json::from_value(json!("call_1")).unwrap());
    let out = written(&[row("u", None, Body::User(with_files)), below]);
    assert_eq!((kinds(&out), out.left), (vec!["session", "user", "session_info"], 2));
    let picture = json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"});
    assert_eq!(out.lines[1]["message"]["content"][1], picture);
}
