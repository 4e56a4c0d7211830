//! Transcripts of Claude Code: a JSON object a line, with `type`, `timestamp`, `cwd`, and the message as the API has it.
//! Results of calls come as messages of the user.

use super::{Answered, Facts, Read, call, made, text_of, time};
use crate::domain::At;
use crate::domain::message::{AssistantText, Body, Carried, Info, InfoKind, Message, Thinking, UserText};
use crate::domain::notice::Level;
use crate::domain::session::TitleFrom;
use serde_json::Value;

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Whether a line is one of it.
pub(super) fn is(value: &Value) -> bool {
    let spoken = matches!(word(value, "type"), "user" | "assistant");
    (spoken && value.get("message").is_some() && value.get("uuid").is_some())
        || (word(value, "type") == "summary" && value.get("leafUuid").is_some())
}

/// What a line says of the session as a whole.
pub(super) fn facts(value: &Value, facts: &mut Facts) {
    let at = time(value);
    if at > At(0) {
        facts.created = Some(facts.created.map_or(at, |known| known.min(at)));
    }
    let cwd = word(value, "cwd");
    if facts.cwd.is_none() && !cwd.is_empty() {
        facts.cwd = Some(cwd.into());
    }
    match word(value, "type") {
        "summary" if facts.title_from != TitleFrom::User => title(facts, word(value, "summary"), TitleFrom::Generated),
        "custom-title" => title(facts, word(value, "customTitle"), TitleFrom::User),
        _ => {}
    }
}

fn title(facts: &mut Facts, text: &str, from: TitleFrom) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        (facts.title, facts.title_from) = (Some(text), from);
    }
}

/// What a line is.
pub(super) fn read(value: &Value) -> Vec<Read> {
    if is_true(value, "isSidechain") {
        return vec![Read::Left("records of subagents")];
    }
    let at = time(value);
    let message = value.get("message").unwrap_or(&Value::Null);
    let content = message.get("content").unwrap_or(&Value::Null);
    match word(value, "type") {
        "user" if is_true(value, "isCompactSummary") => {
            let info = Info {
                text: "Older messages were summed up here.".to_owned(),
                level: Level::Info,
                kind: InfoKind::Compacted,
                carried: Some(Box::new(Carried::from(text_of(content)))),
            };
            vec![Read::Rows(vec![made(at, Body::Info(info))])]
        }
        "user" if is_true(value, "isMeta") => vec![Read::Nothing],
        "user" => user(at, content),
        "assistant" => assistant(at, message, content),
        "summary" | "custom-title" | "file-history-snapshot" | "queue-operation" | "progress" | "last-prompt" => {
            vec![Read::Nothing]
        }
        "system" => vec![Read::Left("remarks of the program")],
        _ => vec![Read::Left("records of a kind that lisle does not know")],
    }
}

fn user(at: At, content: &Value) -> Vec<Read> {
    let mut out = Vec::new();
    if let Value::Array(blocks) = content {
        let results = blocks.iter().filter(|block| word(block, "type") == "tool_result");
        let results: Vec<Answered> = results
            .map(|block| Answered {
                call: word(block, "tool_use_id").to_owned(),
                text: block.get("content").map(text_of).unwrap_or_default(),
                failed: is_true(block, "is_error"),
                exit: None,
            })
            .collect();
        if !results.is_empty() {
            out.push(Read::Results(results));
        }
        let pictures = blocks.iter().filter(|block| matches!(word(block, "type"), "image" | "document"));
        out.extend(pictures.map(|_| Read::Left("attached files")));
    }
    let text = text_of(content);
    if text.trim_start().starts_with("<local-command-") || text.trim_start().starts_with("<command-name>") {
        out.push(Read::Left("commands of the program"));
    } else if !text.trim().is_empty() {
        out.push(Read::Rows(vec![made(at, Body::User(UserText::from(text)))]));
    }
    out
}

fn assistant(at: At, message: &Value, content: &Value) -> Vec<Read> {
    let mut rows: Vec<Message> = Vec::new();
    let mut out = Vec::new();
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        Value::String(_) => std::slice::from_ref(content),
        _ => &[],
    };
    for block in blocks {
        let body = match (block, word(block, "type")) {
            (Value::String(text), _) => said(text),
            (_, "text") => said(word(block, "text")),
            (_, "thinking") => {
                let text = word(block, "thinking").to_owned();
                Body::Thinking(Thinking { text, ..Thinking::default() })
            }
            (_, "tool_use") => {
                call(word(block, "id"), word(block, "name"), block.get("input").cloned().unwrap_or_default())
            }
            (_, "redacted_thinking") => continue,
            _ => {
                out.push(Read::Left("parts of answers of a kind that lisle does not know"));
                continue;
            }
        };
        let mut row = made(at, body);
        row.turn = message.get("id").and_then(Value::as_str).map(str::to_owned);
        rows.push(row);
    }
    out.insert(0, Read::Rows(rows));
    out
}

fn said(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() })
}
