//! Histories as today's versions of other programs write them, in small form.

use super::import::{asked, infos, left_of};
use super::lifecycle::quick;
use super::*;
use crate::domain::message::{Body, InfoKind};
use crate::store::{HistoryKind, histories_in};
use serde_json::{Value, json};

/// A file of lines.
fn write(path: &Path, records: &[Value]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
}

fn import(root: &Path, path: &Path) -> Imported {
    quick(root).import(path, Path::new(""), Mode::Ask, NOW).unwrap()
}

fn rows(root: &Path, imported: &Imported) -> Vec<Message> {
    quick(root).read(&imported.meta.id, 500).unwrap().rows
}

/// The session of a file of these records, and its rows.
fn imported(records: &[Value]) -> (tempfile::TempDir, Imported, Vec<Message>) {
    let root = folder();
    let path = root.path().join("session-x.jsonl");
    write(&path, records);
    let imported = import(root.path(), &path);
    let rows = rows(root.path(), &imported);
    (root, imported, rows)
}

// ---- Codex ----

fn codex(ordinal: u64, kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-11-28T01:13:36.000Z", "ordinal": ordinal, "type": kind, "payload": payload})
}

fn codex_said(ordinal: u64, role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    codex(ordinal, "response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

const PARENT: &str = "01a21fb6-ffb7-7893-860f-47f913050215";
const FORK: &str = "01a21fb7-03eb-7782-beb0-c26f69c44500";

fn parent_of_fork() -> Vec<Value> {
    let head = json!({"id": PARENT, "timestamp": "2026-11-28T01:13:36.450Z", "cwd": "/w"});
    vec![
        codex(0, "session_meta", head),
        codex_said(1, "user", "one"),
        codex_said(2, "assistant", "first"),
        codex_said(3, "user", "two"),
        codex_said(4, "assistant", "second"),
    ]
}

/// A fork before the second turn; `base` are further fields of its head.
fn fork(base: Value) -> Vec<Value> {
    let mut head = json!({
        "id": FORK, "forked_from_id": PARENT, "forked_from_ordinal_exclusive": 3,
        "timestamp": "2026-11-28T01:13:37.525Z", "cwd": "/w/fork",
    });
    head.as_object_mut().unwrap().extend(base.as_object().unwrap().clone());
    vec![codex(3, "session_meta", head), codex_said(4, "user", "forked"), codex_said(5, "assistant", "third")]
}

#[test]
fn a_fork_of_codex_is_a_session_of_its_own() {
    let base = json!({"history_base": {"thread_id": PARENT, "end_ordinal_exclusive": 3}});
    let copied = {
        let mut copied = fork(json!({}));
        copied.splice(1..1, parent_of_fork().into_iter().take(3));
        copied
    };
    for (name, forked) in [("base", fork(base)), ("ordinal", fork(json!({}))), ("copy", copied)] {
        let root = folder();
        let sessions = root.path().join("codex/sessions/2026/11/28");
        let one = sessions.join(format!("rollout-2026-11-28T01-13-36-{PARENT}.jsonl"));
        let other = sessions.join(format!("rollout-2026-11-28T01-13-37-{FORK}.jsonl"));
        write(&one, &parent_of_fork());
        write(&other, &forked);
        let (parent, fork) = (import(root.path(), &one), import(root.path(), &other));
        assert_ne!(parent.meta.id, fork.meta.id, "{name}");
        assert_eq!((fork.again.clone(), &fork.left), (None, &Vec::new()), "{name}");
        assert_eq!(asked(&rows(root.path(), &parent)), ["one", "two"], "{name}");
        assert_eq!(asked(&rows(root.path(), &fork)), ["one", "forked"], "{name}");
        assert_eq!(fork.meta.cwd, Path::new("/w/fork"), "{name}");
        // What comes later in the parent is the parent's alone.
        let mut more = parent_of_fork();
        more.push(codex_said(5, "user", "three"));
        write(&one, &more);
        let (parent_again, fork_again) = (import(root.path(), &one), import(root.path(), &other));
        assert_eq!(parent_again.again, Some(Reimport::Added(parent.meta.id.clone(), 1)), "{name}");
        assert_eq!(fork_again.again, Some(Reimport::Added(fork.meta.id.clone(), 0)), "{name}");
        assert_eq!(asked(&rows(root.path(), &parent)), ["one", "two", "three"], "{name}");
        assert_eq!(quick(root.path()).list().sessions.len(), 2, "{name}");
    }
}

#[test]
fn a_fork_of_codex_without_its_parent_says_what_it_lacks() {
    let root = folder();
    let path = root.path().join(format!("rollout-2026-11-28T01-13-37-{FORK}.jsonl"));
    write(&path, &fork(json!({})));
    let alone = import(root.path(), &path);
    assert_eq!(asked(&rows(root.path(), &alone)), ["forked"]);
    assert_eq!(left_of(&alone), ["Earlier records, of a file that is missing, not included: 3."]);
    // Once the parent is there the fork is whole, in a session of its own.
    write(&root.path().join(format!("rollout-2026-11-28T01-13-36-{PARENT}.jsonl")), &parent_of_fork());
    let whole = import(root.path(), &path);
    assert_eq!(asked(&rows(root.path(), &whole)), ["one", "forked"]);
    let Some(Reimport::Another(why)) = &whole.again else { panic!("{:?}", whole.again) };
    assert!(why.starts_with("Its beginning was missing at its import as session"), "{why}");
    let again = import(root.path(), &path);
    assert_eq!(again.again, Some(Reimport::Added(whole.meta.id, 0)));
}

#[test]
fn a_subagent_of_codex_comes_with_its_parent() {
    let root = folder();
    let sessions = root.path().join("sessions/2026/11/28");
    let (one, other) =
        (sessions.join(format!("rollout-a-{PARENT}.jsonl")), sessions.join(format!("rollout-b-{FORK}.jsonl")));
    let mut parent = parent_of_fork();
    let spawn =
        json!({"type": "function_call", "call_id": "c", "name": "spawn_agent", "arguments": "{\"message\":\"hi\"}"});
    parent.push(codex(5, "response_item", spawn));
    let told =
        json!({"type": "function_call_output", "call_id": "c", "output": format!("{{\"agent_id\":\"{FORK}\"}}")});
    parent.push(codex(6, "response_item", told));
    let ended = format!(
        "<subagent_notification>\n{{\"agent_path\":\"{FORK}\",\"status\":{{\"completed\":\"It is *done*.\"}}}}\n\
         </subagent_notification>"
    );
    parent.push(codex_said(7, "user", &ended));
    write(&one, &parent);
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}});
    let head = json!({"id": FORK, "forked_from_id": PARENT, "parent_thread_id": PARENT, "source": source, "cwd": "/w"});
    let mut records = vec![codex(0, "session_meta", head)];
    records.extend(parent_of_fork());
    write(&other, &records);
    let imported = import(root.path(), &one);
    assert_eq!(left_of(&imported), ["Subagent sessions not included: 1."]);
    let rows = rows(root.path(), &imported);
    assert_eq!(asked(&rows), ["one", "two"], "nobody typed how a subagent ended");
    assert_eq!(jobs(&rows), ["A subagent ended (completed): It is *done*."]);
    let error = quick(root.path()).import(&other, Path::new(""), Mode::Ask, NOW).unwrap_err().to_string();
    assert!(error.contains("a subagent's transcript"), "{error}");
}

fn jobs(rows: &[Message]) -> Vec<&str> {
    let ended = rows.iter().filter_map(|row| match &row.body {
        Body::Info(info) if info.kind == InfoKind::JobEnded => Some(info.text.as_str()),
        _ => None,
    });
    ended.collect()
}

// ---- pictures ----

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAYCAIAAAAUMWhjAAAAJklEQVR4nGO8IyLCQEvARFPTRy0YtWDUglELRi0YtWDUglELqAYAHw4BNEtbNJcAAAAASUVORK5CYII=";

/// Records of each program in which a tool read a picture.
fn picture_reads() -> Vec<(&'static str, Vec<Value>)> {
    let url = format!("data:image/png;base64,{PNG}");
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    let response = json!({"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "Binary content provided (1 item(s))."}}});
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": PNG}});
    let call = json!({"id": "c", "name": "read_file", "args": {"file_path": "/w/red.png"}, "status": "success", "result": [response, inline]});
    let oc = json!({"status": "completed", "input": {"filePath": "/w/red.png"}, "output": "Image read successfully", "attachments": [{"type": "file", "mime": "image/png", "url": url}]});
    vec![
        (
            "Claude Code",
            vec![
                claude(1, "user", json!("look")),
                claude(
                    2,
                    "assistant",
                    json!([{"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": "/w/red.png"}}]),
                ),
                claude(3, "user", json!([{"type": "tool_result", "tool_use_id": "c", "content": [image]}])),
            ],
        ),
        (
            "Codex",
            vec![
                codex(0, "session_meta", json!({"id": "t", "cwd": "/w"})),
                codex_said(1, "user", "look"),
                codex(
                    2,
                    "response_item",
                    json!({"type": "function_call", "call_id": "c", "name": "view_image", "arguments": "{\"path\":\"/w/red.png\"}"}),
                ),
                codex(
                    3,
                    "response_item",
                    json!({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": url}]}),
                ),
            ],
        ),
        (
            "Gemini CLI",
            vec![
                gemini_head(),
                gemini("a", "user", json!([{"text": "look"}])),
                with(gemini("b", "gemini", json!("")), json!({"toolCalls": [call]})),
                gemini("r", "user", json!([response, inline])),
            ],
        ),
        (
            "opencode",
            vec![
                json!({"info": {"id": "ses_1", "directory": "/w", "title": "t", "time": {"created": 1}}, "messages": [
                    {"info": {"id": "m1", "role": "user", "time": {"created": 2}}, "parts": [{"type": "text", "text": "look"}]},
                    {"info": {"id": "m2", "role": "assistant", "time": {"created": 3}}, "parts": [{"type": "tool", "tool": "read", "callID": "c", "state": oc}]},
                ]}),
            ],
        ),
        (
            "pi",
            vec![
                json!({"type": "session", "id": "s", "timestamp": "2026-11-28T01:02:45.701Z", "cwd": "/w"}),
                pi("a", None, json!({"role": "user", "content": "look"})),
                pi(
                    "b",
                    Some("a"),
                    json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "/w/red.png"}}]}),
                ),
                pi(
                    "d",
                    Some("b"),
                    json!({"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}),
                ),
            ],
        ),
    ]
}

fn with(mut record: Value, more: Value) -> Value {
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn claude(number: usize, role: &str, content: Value) -> Value {
    json!({
        "type": role, "uuid": format!("u{number}"), "parentUuid": (number > 1).then(|| format!("u{}", number - 1)),
        "sessionId": "s", "isSidechain": false, "cwd": "/w", "timestamp": format!("2026-01-02T03:04:0{number}.000Z"),
        "message": {"role": role, "content": content},
    })
}

fn gemini_head() -> Value {
    json!({"sessionId": "s1", "projectHash": "h", "startTime": "2026-11-28T01:14:12.654Z", "kind": "main"})
}

fn gemini(id: &str, kind: &str, content: Value) -> Value {
    json!({"id": id, "timestamp": "2026-11-28T01:14:12.675Z", "type": kind, "content": content})
}

fn pi(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-28T01:02:46.000Z", "message": message})
}

#[test]
fn pictures_in_results_stay_with_their_calls() {
    for (name, records) in picture_reads() {
        let (_root, imported, rows) = imported(&records);
        assert_eq!(imported.program, name);
        assert_eq!((asked(&rows), rows.len(), &imported.left), (vec!["look"], 2, &Vec::new()), "{name}: {rows:?}");
        let call = rows[1].tool().unwrap();
        let [media] = call.figures.media.as_slice() else { panic!("{name}: {call:?}") };
        assert_eq!((media.name.as_str(), media.mime.as_str(), media.bytes), ("red.png", "image/png", 95), "{name}");
        assert_eq!(std::fs::metadata(&media.path).unwrap().len(), 95, "{name}");
        assert!(!call.result.as_ref().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn a_picture_that_stands_elsewhere_is_counted() {
    let read = json!({"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": "/w/red.png"}});
    let image = json!({"type": "image", "source": {"type": "url", "url": "https://x/red.png"}});
    let (_root, imported, rows) = imported(&[
        claude(1, "user", json!("look")),
        claude(2, "assistant", json!([read])),
        claude(3, "user", json!([{"type": "tool_result", "tool_use_id": "c", "content": [image]}])),
    ]);
    assert_eq!(left_of(&imported), ["Attached files not included: 1."]);
    assert_eq!(rows[1].tool().unwrap().result.as_deref(), Some("[attached file not included]"));
}

// ---- results of commands ----

#[test]
fn the_result_of_a_command_ends_with_its_exit_code() {
    let said = |text: &str| json!({"type": "function_call_output", "call_id": "c", "output": text});
    let exec = json!({"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{\"cmd\":\"x\"}"});
    let codex_with = |output: &str| {
        vec![
            codex(0, "session_meta", json!({"id": "t", "cwd": "/w"})),
            codex_said(1, "user", "run"),
            codex(2, "response_item", exec.clone()),
            codex(3, "response_item", said(output)),
        ]
    };
    let bash = json!({"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "x"}});
    let failed = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": true, "content": "out\n\n\nCommand exited with code 3"});
    let output = "<untrusted_context>\nOutput: out\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>";
    let response = |id: &str, output: &str| json!({"functionResponse": {"id": id, "response": {"output": output}}});
    let call = json!({
        "id": "c", "name": "run_shell_command", "args": {"command": "x"}, "status": "success",
        "result": [response("b", "of another call"), response("c", output)],
    });
    let ran = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "x"}});
    let result = json!({"type": "tool_result", "tool_use_id": "c", "is_error": true, "content": "Exit code 3\nout"});
    for (name, records, exit, expected) in [
        (
            "codex",
            codex_with("Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 3\nOutput:\nout\n"),
            3,
            "out\nexit 3",
        ),
        ("codex, well", codex_with("Chunk ID: 1\nProcess exited with code 0\nOutput:\n"), 0, "(no output)\nexit 0"),
        (
            "pi",
            vec![
                json!({"type": "session", "id": "s", "timestamp": "2026-11-28T01:02:45.701Z", "cwd": "/w"}),
                pi("a", None, json!({"role": "user", "content": "run"})),
                pi("b", Some("a"), json!({"role": "assistant", "content": [bash]})),
                pi("d", Some("b"), failed),
            ],
            3,
            "out\nexit 3",
        ),
        (
            "gemini",
            vec![
                gemini_head(),
                gemini("a", "user", json!("run")),
                with(gemini("b", "gemini", json!("")), json!({"toolCalls": [call]})),
            ],
            3,
            "out\nexit 3",
        ),
        (
            "claude",
            vec![
                claude(1, "user", json!("run")),
                claude(2, "assistant", json!([ran])),
                claude(3, "user", json!([result])),
            ],
            3,
            "out\nexit 3",
        ),
    ] {
        let (_root, _, rows) = imported(&records);
        let call = rows[1].tool().unwrap();
        assert_eq!((call.figures.exit, call.result.as_deref()), (Some(exit), Some(expected)), "{name}");
    }
}

// ---- Gemini ----

/// A session of Gemini that was resumed within a minute, so that its file goes on.
fn resumed() -> Vec<Value> {
    let context = || gemini("ctx", "user", json!([{"text": "<session_context>\nhere\n</session_context>"}]));
    let error = "Path not in workspace";
    let response = json!({"functionResponse": {"id": "c", "name": "read_file", "response": {"error": error}}});
    let call = json!({"id": "c", "name": "read_file", "args": {"file_path": "/x"}});
    let done = with(call.clone(), json!({"status": "error", "result": [response]}));
    let later = |record: Value| with(record, json!({"timestamp": "2026-11-28T01:14:16.141Z"}));
    vec![
        gemini_head(),
        json!({"$set": {"messages": [context()]}}),
        gemini("a", "user", json!([{"text": "read"}])),
        with(gemini("b", "gemini", json!("Reading.")), json!({"toolCalls": [done]})),
        gemini("r", "user", json!([response])),
        gemini("d", "gemini", json!("Refused.")),
        with(gemini_head(), json!({"startTime": "2026-11-28T01:14:16.125Z"})),
        json!({"$set": {"messages": [later(context())]}}),
        json!({"$set": {"sessionId": "s1"}}),
        json!({"$set": {"messages": [
            later(context()),
            later(gemini("a", "user", json!([{"text": "read"}]))),
            later(gemini("b", "gemini", json!([{"text": "Reading."}, {"functionCall": call}]))),
            later(gemini("b_response", "user", json!([response]))),
            later(gemini("r", "user", json!([response]))),
            later(gemini("d", "gemini", json!([{"text": "Refused."}]))),
        ]}}),
        gemini("e", "user", json!([{"text": "next"}])),
    ]
}

#[test]
fn a_session_of_gemini_that_was_resumed_at_once_keeps_its_results_and_times() {
    let records = resumed();
    // Also where the file ends right behind the second head.
    for (count, said) in [(records.len(), vec!["read", "next"]), (8, vec!["read"])] {
        let (_root, imported, rows) = imported(&records[..count]);
        assert_eq!(asked(&rows), said, "{count}");
        let call = rows.iter().find_map(Message::tool).unwrap();
        assert_eq!(
            (call.status, call.result.as_deref()),
            (ToolStatus::Error, Some("Path not in workspace")),
            "{count}"
        );
        assert!(rows.iter().all(|row| row.at.0 % 60_000 == 12_675), "{count}: {rows:?}");
        assert_eq!((rows.len(), &imported.left), (if count == 8 { 4 } else { 5 }, &Vec::new()), "{count}");
    }
}

#[test]
fn a_list_of_gemini_alone_has_its_results_too() {
    let mut records = resumed();
    records.drain(1..9);
    let (_root, _, rows) = imported(&records);
    let call = rows.iter().find_map(Message::tool).unwrap();
    assert_eq!((call.status, call.result.as_deref()), (ToolStatus::Error, Some("Path not in workspace")));
    assert_eq!(asked(&rows), ["read", "next"]);
}

#[test]
fn files_that_a_message_of_gemini_names_are_attached() {
    let content = json!([
        {"text": "Look @red.png @a.txt"},
        {"text": "\n--- Content from referenced files ---"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"text": "\nContent from @a.txt:\n"},
        {"text": "all of it"},
        {"text": "\n--- End of content ---"},
    ]);
    let (_root, imported, rows) = imported(&[gemini_head(), gemini("a", "user", content)]);
    assert_eq!((asked(&rows), imported.left.len()), (vec!["Look @red.png @a.txt"], 0));
    assert_eq!(attached(&rows), [("red.png".to_owned(), None), ("a.txt".to_owned(), Some("all of it".to_owned()))]);
}

/// Names of the files that the user gave along, with their text.
fn attached(rows: &[Message]) -> Vec<(String, Option<String>)> {
    let files = rows.iter().filter_map(|row| match &row.body {
        Body::User(said) => Some(&said.attachments),
        _ => None,
    });
    files.flatten().map(|file| (file.name.clone(), std::fs::read_to_string(&file.path).ok())).collect()
}

// ---- Claude Code, pi, opencode ----

#[test]
fn what_claude_code_notes_for_itself_is_no_loss_and_its_cost_is_the_sessions() {
    let notes = ["api-request", "api-request-shape", "api-request-blob", "atis-latch", "tools-used"];
    let mut records = vec![claude(1, "user", json!("hi"))];
    records.extend(notes.map(|kind| json!({"type": kind, "sessionId": "s"})));
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let answer = json!({"id": "m", "role": "assistant", "model": "c", "usage": usage, "content": [{"type": "text", "text": "hello"}]});
    records.push(with(claude(2, "assistant", json!("")), json!({"message": answer})));
    records.extend([0.01, 0.02].map(|cost| json!({"type": "cost-state", "sessionId": "s", "totalCostUSD": cost})));
    let (_root, imported, _) = imported(&records);
    assert_eq!((left_of(&imported), imported.meta.usage.cost_usd), (Vec::<String>::new(), 0.02));
}

#[test]
fn a_notification_of_claude_code_is_nobodys_message() {
    let told = "<task-notification>\n<task-id>a</task-id>\n<status>completed</status>\n<summary>Agent \"x\" finished\
                </summary>\n<result>All <b>good</b>\n</result>\n</task-notification>";
    let origin = json!({"origin": {"kind": "task-notification"}});
    let other = json!({"origin": {"kind": "channel"}});
    let (_root, _, rows) = imported(&[
        claude(1, "user", json!("go")),
        with(claude(2, "user", json!(told)), origin),
        with(claude(3, "user", json!("the build is red")), other),
        with(claude(4, "user", json!("thanks")), json!({"origin": {"kind": "human"}})),
    ]);
    assert_eq!(asked(&rows), ["go", "thanks"]);
    assert_eq!(jobs(&rows), ["Agent \"x\" finished: All <b>good</b>", "the build is red"]);
}

#[test]
fn wrappers_of_pictures_name_them_and_are_nobodys_words() {
    let url = format!("data:image/png;base64,{PNG}");
    let codex_content = json!([
        {"type": "input_text", "text": "<image name=[Image #1] path=\"/w/red.png\">"},
        {"type": "input_image", "image_url": url},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "Look"},
    ]);
    let pi_content = json!([
        {"type": "text", "text": "<file name=\"/w/red.png\"></file>\n<file name=\"/w/a.txt\">\nall of it\n</file>\nLook"},
        {"type": "image", "mimeType": "image/png", "data": PNG},
    ]);
    let codex_records = [
        codex(0, "session_meta", json!({"id": "t", "cwd": "/w"})),
        codex(1, "response_item", json!({"type": "message", "role": "user", "content": codex_content})),
    ];
    let pi_records = [
        json!({"type": "session", "id": "s", "timestamp": "2026-11-28T01:02:45.701Z", "cwd": "/w"}),
        pi("a", None, json!({"role": "user", "content": pi_content})),
    ];
    let red = ("red.png".to_owned(), None);
    let text = ("a.txt".to_owned(), Some("all of it".to_owned()));
    for (records, files) in [(codex_records.to_vec(), vec![red.clone()]), (pi_records.to_vec(), vec![red, text])] {
        let (_root, _, rows) = imported(&records);
        assert_eq!((asked(&rows), attached(&rows)), (vec!["Look"], files));
    }
}

#[test]
fn the_text_of_a_file_that_opencode_read_for_the_user_is_attached() {
    let read = "<path>/w/note.txt</path>\n<content>\n1: héllo\n</content>";
    let parts = json!([
        {"type": "text", "text": "see"},
        {"type": "text", "synthetic": true, "text": "Called the Read tool with the following input: {\"filePath\":\"/w/note.txt\"}"},
        {"type": "text", "synthetic": true, "text": read},
        {"type": "file", "mime": "text/plain", "filename": "note.txt", "url": "file:///w/note.txt"},
        {"type": "file", "mime": "text/plain", "filename": "gone.txt", "url": "file:///w/gone.txt"},
    ]);
    let document = json!({"info": {"id": "ses_1", "directory": "/w", "title": "t", "time": {"created": 1}}, "messages": [
        {"info": {"id": "m1", "role": "user", "time": {"created": 2}}, "parts": parts},
    ]});
    let (_root, imported, rows) = imported(&[document]);
    assert_eq!((asked(&rows), left_of(&imported)), (vec!["see"], vec!["Attached files not included: 1.".to_owned()]));
    assert_eq!(attached(&rows), [("note.txt".to_owned(), Some(read.to_owned()))]);
}

#[test]
fn the_thinking_level_of_pi_is_the_sessions() {
    for (theirs, ours) in [("high", "high"), ("off", "off"), ("minimal", "low"), ("odd", "medium")] {
        let level = json!({"type": "thinking_level_change", "id": "l", "parentId": null, "thinkingLevel": theirs});
        let (_root, imported, _) = imported(&[
            json!({"type": "session", "id": "s", "timestamp": "2026-11-28T01:02:45.701Z", "cwd": "/w"}),
            level,
            pi("a", Some("l"), json!({"role": "user", "content": "hi"})),
        ]);
        assert_eq!(imported.meta.thinking.word(), ours, "{theirs}");
    }
}

// ---- any program ----

#[test]
fn a_line_that_is_written_to_its_end_later_leaves_no_note() {
    let root = folder();
    let path = root.path().join("s.jsonl");
    let (first, second) = (claude(1, "user", json!("one")).to_string(), claude(2, "user", json!("two")).to_string());
    std::fs::write(&path, format!("{first}\n{}", &second[..40])).unwrap();
    let half = import(root.path(), &path);
    assert_eq!(left_of(&half), ["Half-written last lines not included: 1."]);
    assert_eq!(infos(&rows(root.path(), &half), InfoKind::Remark), 0);
    std::fs::write(&path, format!("{first}\n{second}\n")).unwrap();
    let whole = import(root.path(), &path);
    assert_eq!((&whole.again, &whole.left), (&Some(Reimport::Added(half.meta.id.clone(), 1)), &Vec::new()));
    let rows = rows(root.path(), &whole);
    assert_eq!((asked(&rows), rows.len()), (vec!["one", "two"], 2));
}

#[test]
fn a_place_that_is_not_there_is_no_skipped_source_and_a_link_is_one() {
    let root = folder();
    let sessions = root.path().join("sessions");
    write(&sessions.join("rollout-x.jsonl"), &parent_of_fork());
    let elsewhere = root.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let places = [&sessions, &root.path().join("archived_sessions")].map(|place| (HistoryKind::Codex, place.clone()));
    let found = histories_in(&places, HistoryKind::Codex);
    assert_eq!((found.items.len(), found.passed.len()), (1, 0), "{found:?}");
    std::os::unix::fs::symlink(&elsewhere, sessions.join("2025")).unwrap();
    std::os::unix::fs::symlink(root.path().join("none"), sessions.join("notes")).unwrap();
    let found = histories_in(&places, HistoryKind::Codex);
    assert_eq!(found.passed, [(sessions.join("2025"), "a symlink: not followed".to_owned())]);
}

/// A session in the older storage of opencode; gives its file.
fn stored(root: &Path) -> std::path::PathBuf {
    let storage = root.join("opencode/storage");
    let put = |below: &str, value: Value| write(&storage.join(below), &[value]);
    put("message/ses_1/msg_1.json", json!({"id": "msg_1", "role": "user", "time": {"created": 1_000}}));
    put("part/msg_1/prt_1.json", json!({"id": "prt_1", "type": "text", "text": "one"}));
    let model = json!({"id": "msg_2", "role": "assistant", "modelID": "m", "time": {"created": 2_000}});
    put("message/ses_1/msg_2.json", model);
    put("part/msg_2/prt_2.json", json!({"id": "prt_2", "type": "text", "text": "first"}));
    std::fs::write(storage.join("part/msg_2/prt_3.json"), "{\"half").unwrap();
    let head = json!({"id": "ses_1", "directory": "/w", "title": "Old", "time": {"created": 1_000}});
    put("session/global/ses_1.json", head);
    put("session/global/ses_2.json", json!({"id": "../../x", "title": "No", "time": {"created": 1}}));
    storage.join("session/global/ses_1.json")
}

#[test]
fn the_older_storage_of_opencode_is_read() {
    let root = folder();
    let path = stored(root.path());
    let imported = import(root.path(), &path);
    assert_eq!((imported.program, imported.meta.title.as_str()), ("opencode", "Old"));
    assert_eq!(left_of(&imported), ["Lines that are not JSON not included: 1."]);
    let rows = rows(root.path(), &imported);
    assert_eq!(asked(&rows), ["one"]);
    assert!(matches!(&rows[1].body, Body::Assistant(said) if said.text == "first"), "{rows:?}");
    assert_eq!(import(root.path(), &path).again, Some(Reimport::Added(imported.meta.id, 0)));
    // It is found where the program has it, and another's path is no id.
    let env = |name: &str| (name == "XDG_DATA_HOME").then(|| root.path().to_string_lossy().into_owned());
    let places = HistoryKind::Opencode.places(root.path(), &env);
    let places: Vec<_> = places.into_iter().map(|place| (HistoryKind::Opencode, place)).collect();
    let found = histories_in(&places, HistoryKind::Opencode);
    let names: Vec<_> = found.items.iter().map(|item| item.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["ses_1.json", "ses_2.json"]);
    let hostile = path.with_file_name("ses_2.json");
    assert!(quick(root.path()).import(&hostile, Path::new(""), Mode::Ask, NOW).is_err());
}

#[test]
fn a_session_of_aichat_has_names_of_pictures_and_plain_results() {
    let root = folder();
    let path = root.path().join("trip.yaml");
    // As aichat 0.30 wrote it, without the answers.
    let text = r#"model: mock:m1
use_tools: get_weather
save_session: true
messages:
- role: system
  content: You translate into German.
- role: user
  content:
  - type: text
    text: what is this
  - type: image_url
    image_url:
      url: data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAYCAIAAAAUMWhjAAAAJklEQVR4nGO8IyLCQEvARFPTRy0YtWDUglELRi0YtWDUglELqAYAHw4BNEtbNJcAAAAASUVORK5CYII=
- role: tool
  content:
    tool_results:
    - call:
        name: get_weather
        arguments:
          location: Zürich
        id: call_1
      output:
        output: |
          grey
    text: ''
    sequence: false
data_urls:
  c80ae64566dfaeb20a877c160fe8ed38492b8c0aa7d9db17c6abe735859f9794: /opt/w/red.png
"#;
    std::fs::write(&path, text).unwrap();
    let imported = import(root.path(), &path);
    assert_eq!(left_of(&imported), Vec::<String>::new());
    let rows = rows(root.path(), &imported);
    let files: Vec<&str> = rows
        .iter()
        .filter_map(|row| match &row.body {
            Body::User(said) => said.attachments.first().map(|file| file.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(files, ["red.png"]);
    // Its name continues it here as well; another session of that name keeps it.
    assert_eq!(quick(root.path()).named("trip"), Some(imported.meta.id.clone()));
    std::fs::create_dir(root.path().join("other")).unwrap();
    let other = root.path().join("other/trip.yaml");
    std::fs::write(&other, text.replace("grey", "blue").replace("what is", "who is")).unwrap();
    let second = import(root.path(), &other);
    assert_ne!(second.meta.id, imported.meta.id);
    assert_eq!(quick(root.path()).named("trip"), Some(imported.meta.id.clone()));
    assert_eq!(rows.iter().find_map(Message::tool).unwrap().result.as_deref(), Some("grey\n"));
}
