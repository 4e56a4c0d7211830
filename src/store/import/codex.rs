//! Rollouts of Codex: a JSON object a line, `{timestamp, type, payload}`; in older ones the payload alone.

use super::{Answered, Facts, Read, call, made, text_of, time};
use crate::domain::At;
use crate::domain::message::{AssistantText, Body, Carried, Info, InfoKind, Thinking, UserText};
use crate::domain::notice::Level;
use serde_json::{Value, json};

const ITEMS: [&str; 10] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "ghost_snapshot",
    "compaction",
];
/// What the program puts before the user's own words.
const OWN_WORDS: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
];

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a line is one of it.
pub(super) fn is(value: &Value) -> bool {
    let kinds = ["session_meta", "response_item", "event_msg", "turn_context"];
    let enveloped = kinds.contains(&word(value, "type")) && value.get("payload").is_some_and(Value::is_object);
    // The first line of an older one.
    let older = value.get("id").is_some() && value.get("instructions").is_some() && value.get("timestamp").is_some();
    enveloped || (older && value.get("type").is_none())
}

/// What a line says of the session as a whole.
pub(super) fn facts(value: &Value, facts: &mut Facts) {
    let at = time(value);
    if at > At(0) {
        facts.created = Some(facts.created.map_or(at, |known| known.min(at)));
    }
    let cwd = value.get("payload").map(|payload| word(payload, "cwd")).unwrap_or_default();
    if facts.cwd.is_none() && !cwd.is_empty() {
        facts.cwd = Some(cwd.into());
    }
}

/// What a line is.
pub(super) fn read(value: &Value) -> Vec<Read> {
    let at = time(value);
    let payload = value.get("payload").unwrap_or(&Value::Null);
    vec![match word(value, "type") {
        "response_item" => item(at, payload),
        // What the screen of that program was told: the items say the same.
        "session_meta" | "event_msg" | "turn_context" => Read::Nothing,
        "compacted" => {
            let info = Info {
                text: "Older messages were summed up here.".to_owned(),
                level: Level::Info,
                kind: InfoKind::Compacted,
                carried: Some(Box::new(Carried::from(word(payload, "message").to_owned()))),
            };
            Read::Rows(vec![made(at, Body::Info(info))])
        }
        older if ITEMS.contains(&older) => item(at, value),
        "" if is(value) || value.get("record_type").is_some() => Read::Nothing,
        _ => Read::Left("records of a kind that lisle does not know"),
    }]
}

fn item(at: At, item: &Value) -> Read {
    let one = |body| Read::Rows(vec![made(at, body)]);
    let id = word(item, "call_id");
    match word(item, "type") {
        "message" => message(at, item),
        "reasoning" => {
            let text = item.get("summary").map(text_of).unwrap_or_default();
            if text.trim().is_empty() {
                return Read::Nothing;
            }
            one(Body::Thinking(Thinking { text, ..Thinking::default() }))
        }
        "function_call" => {
            let written = word(item, "arguments");
            let input = serde_json::from_str(written).unwrap_or_else(|_| json!({"arguments": written}));
            one(shell(id, word(item, "name"), input))
        }
        "custom_tool_call" => one(call(id, word(item, "name"), json!({"input": word(item, "input")}))),
        "local_shell_call" => {
            let input = item.get("action").cloned().unwrap_or_default();
            one(shell(id, "shell", input))
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.get("output").unwrap_or(&Value::Null);
            Read::Results(vec![answered(id, output)])
        }
        "ghost_snapshot" => Read::Nothing,
        "web_search_call" => Read::Left("searches of the web"),
        _ => Read::Left("records of a kind that lisle does not know"),
    }
}

fn message(at: At, item: &Value) -> Read {
    let content = item.get("content").unwrap_or(&Value::Null);
    let text = text_of(content);
    match word(item, "role") {
        "user" if OWN_WORDS.iter().any(|own| text.trim_start().starts_with(own)) => Read::Nothing,
        "user" if text.trim().is_empty() => Read::Left("attached files"),
        "user" => Read::Rows(vec![made(at, Body::User(UserText::from(text)))]),
        "assistant" => {
            let said = AssistantText { text, ..AssistantText::default() };
            Read::Rows(vec![made(at, Body::Assistant(said))])
        }
        _ => Read::Nothing,
    }
}

/// A call; one of the shell as a command line.
fn shell(id: &str, name: &str, input: Value) -> Body {
    let command = match input.get("command").or_else(|| input.get("cmd")) {
        Some(Value::String(line)) => Some(line.clone()),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // `bash -lc LINE` is the line.
            match words.as_slice() {
                [_, flag, line] if flag.starts_with('-') && flag.ends_with('c') => Some((*line).to_owned()),
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    };
    match command {
        Some(command) if matches!(name, "shell" | "shell_command" | "exec_command" | "container.exec") => {
            call(id, "bash", json!({"command": command}))
        }
        _ => call(id, name, input),
    }
}

/// What a call gave: text, or an object with the text and the exit status, which may be written as text again.
fn answered(id: &str, output: &Value) -> Answered {
    let parsed;
    let object = match output {
        Value::String(text) => {
            parsed = serde_json::from_str::<Value>(text).ok().filter(|value| value.get("output").is_some());
            parsed.as_ref()
        }
        other => Some(other),
    };
    let exit = object.and_then(|object| object.get("metadata")?.get("exit_code")?.as_i64());
    let exit = exit.and_then(|exit| i32::try_from(exit).ok());
    let refused = object.and_then(|object| object.get("success")?.as_bool()) == Some(false);
    let text = match (object, output) {
        (Some(object), _) if object.get("output").is_some() => object.get("output").map(text_of).unwrap_or_default(),
        (Some(object), _) if object.get("content").is_some() => object.get("content").map(text_of).unwrap_or_default(),
        (_, output) => text_of(output),
    };
    Answered { call: id.to_owned(), text, failed: refused || exit.is_some_and(|exit| exit != 0), exit }
}
