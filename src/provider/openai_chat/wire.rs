//! From our request to the body of OpenAI's Chat Completions, as all compatible servers take it.

use super::{ChatOptions, WIRE};
use crate::domain::ids::CallId;
use crate::domain::session::ThinkingLevel;
use crate::provider::azure::DeploymentNaming;
use crate::provider::endpoint::lay_over;
use crate::provider::media::{MediaForm, Sight, address, belongs_to, document_address, shown, told as in_words};
use crate::provider::{CallResult, ConversationItem, Media, ModelRequest, Reply};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The fields of an assistant message that carry thinking, and that are given back as they came.
pub(super) const THINKING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// OpenAI takes ids of calls up to this length.
const LONGEST_ID: usize = 40;

/// The body of a request. `host` is the server's name: some servers want things their own way.
pub(super) fn body(request: &ModelRequest, options: ChatOptions, host: &str, extra: Option<&Value>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Array(messages(request, options, host)));
    body.insert("stream".into(), json!(true));
    if options.usage {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if options.tools && !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(effort) = efforts(request.thinking).get(options.effort) {
        body.insert("reasoning_effort".into(), json!(effort));
    }
    lay_over(&mut body, extra);
    Value::Object(body)
}

/// The words for a thinking level, the best one first. A server that knows none of them is asked without.
/// Medium is what a provider does by itself, so nothing is sent that an older server could refuse.
pub(in crate::provider) fn efforts(level: ThinkingLevel) -> &'static [&'static str] {
    match level {
        ThinkingLevel::Off => &["none", "minimal"],
        ThinkingLevel::Low => &["low"],
        ThinkingLevel::Medium => &[],
        ThinkingLevel::High => &["high"],
        ThinkingLevel::Xhigh => &["xhigh", "high"],
        ThinkingLevel::Max => &["max", "xhigh", "high"],
    }
}

fn messages(request: &ModelRequest, options: ChatOptions, host: &str) -> Vec<Value> {
    let mut out = Vec::new();
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    for item in &request.items {
        match item {
            // Servers refuse empty messages, and an empty one says nothing.
            ConversationItem::User(said) if said.text.trim().is_empty() && said.media.is_empty() => {}
            ConversationItem::User(said) => {
                out.push(json!({"role": "user", "content": content(&said.text, &said.media, options.sight)}));
            }
            ConversationItem::Assistant(reply) if !options.tools => out.extend(spoken(reply)),
            ConversationItem::Results(results) if !options.tools => out.push(told(results)),
            ConversationItem::Assistant(reply) => out.extend(assistant(reply, options, host)),
            ConversationItem::Results(results) => {
                out.extend(results.iter().map(|result| {
                    let text = if result.text.is_empty() { "(no output)" } else { &result.text };
                    // Mistral takes pictures in a result, and no user between a result and the next answer.
                    let content =
                        if is_mistral(host) { content(text, &result.media, options.sight) } else { json!(text) };
                    json!({"role": "tool", "tool_call_id": id(&result.id, host), "content": content})
                }));
                if !is_mistral(host) {
                    out.extend(beside(results, options.sight));
                }
            }
        }
    }
    alternating(out)
}

/// Merges consecutive messages of one side: many servers refuse two of the same side.
fn alternating(messages: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for message in messages {
        let role = |message: &Value| message.get("role").and_then(Value::as_str).map(str::to_owned);
        let next = role(&message);
        // Calls are answered by results, which are messages of their own.
        let goes_on = |last: &&mut Value| {
            matches!(next.as_deref(), Some("user" | "assistant"))
                && role(last) == next
                && last.get("tool_calls").is_none()
        };
        let Some(Value::Object(last)) = out.last_mut().filter(goes_on) else {
            out.push(message);
            continue;
        };
        let Value::Object(mut more) = message else { continue };
        let said = more.remove("content").unwrap_or_default();
        let before = last.remove("content").unwrap_or_default();
        last.insert("content".into(), both(before, said));
        last.extend(more);
    }
    out
}

/// Two contents as one: a text where both are one, else parts.
fn both(first: Value, second: Value) -> Value {
    let parts = |content: Value| match content {
        Value::Array(parts) => parts,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    };
    match (first, second) {
        (Value::Null, content) | (content, Value::Null) => content,
        (Value::String(first), Value::String(second)) => json!(format!("{first}\n\n{second}")),
        (first, second) => parts(first).into_iter().chain(parts(second)).collect(),
    }
}

/// The server takes PDF documents as parts of a message.
pub(super) fn takes_files(host: &str, place: DeploymentNaming) -> bool {
    place != DeploymentNaming::Elsewhere || matches!(host, "api.openai.com" | "openrouter.ai")
}

fn is_mistral(host: &str) -> bool {
    host == "mistral.ai" || host.ends_with(".mistral.ai")
}

/// Content of a message: a text, which every server takes, and parts only where a text is not enough.
fn content(text: &str, media: &[Media], sight: Sight) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    if !text.trim().is_empty() {
        parts.push(json!({"type": "text", "text": text}));
    }
    parts.extend(media.iter().map(|media| part(media, sight)));
    if parts.iter().all(|part| part.get("text").is_some()) {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        return json!(texts.join("\n"));
    }
    Value::Array(parts)
}

fn part(media: &Media, sight: Sight) -> Value {
    match shown(media, sight) {
        MediaForm::Picture { mime, data } => json!({"type": "image_url", "image_url": {"url": address(mime, data)}}),
        MediaForm::Document { name, data } => {
            json!({"type": "file", "file": {"filename": name, "file_data": document_address(data)}})
        }
        MediaForm::Words(words) => json!({"type": "text", "text": words}),
    }
}

/// Media of results: a result is a text, so they follow as a message of the user.
fn beside(results: &[CallResult], sight: Sight) -> Option<Value> {
    let with = results.iter().flat_map(|result| result.media.iter().map(move |media| (result, media)));
    let parts: Vec<Value> = with
        .flat_map(|(result, media)| [json!({"type": "text", "text": belongs_to(result, media)}), part(media, sight)])
        .collect();
    if parts.is_empty() {
        return None;
    }
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let plain = texts.len() == parts.len();
    Some(json!({"role": "user", "content": if plain { json!(texts.join("\n")) } else { Value::Array(parts) }}))
}

/// The message of a reply; nothing for a reply without text and calls.
fn assistant(reply: &Reply, options: ChatOptions, host: &str) -> Option<Value> {
    let text = !reply.text.trim().is_empty();
    if !text && reply.calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), if text { json!(reply.text) } else { Value::Null });
    if !reply.calls.is_empty() {
        message.extend(thinking(reply, host));
        if options.thought {
            message.entry("reasoning_content").or_insert_with(|| json!(""));
        }
        let calls = reply.calls.iter().map(|call| {
            // Servers read the arguments to fill their templates, so they must be a JSON object even where the model's were not.
            let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
            let function = json!({"name": call.name, "arguments": arguments});
            json!({"id": id(&call.id, host), "type": "function", "function": function})
        });
        message.insert("tool_calls".into(), calls.collect());
    }
    Some(Value::Object(message))
}

/// A reply for a model that knows no calls: they are part of its text.
fn spoken(reply: &Reply) -> Option<Value> {
    let calls = reply.calls.iter().map(|call| format!("[call {} of {}: {}]", call.id, call.name, call.input));
    let text = Some(reply.text.clone()).filter(|text| !text.trim().is_empty());
    let parts: Vec<String> = text.into_iter().chain(calls).collect();
    (!parts.is_empty()).then(|| json!({"role": "assistant", "content": parts.join("\n\n")}))
}

/// Results for a model that knows no calls.
fn told(results: &[CallResult]) -> Value {
    let parts: Vec<String> = results
        .iter()
        .map(|result| format!("[result of call {}]\n{}", result.id, in_words(&result.text, &result.media)))
        .collect();
    json!({"role": "user", "content": parts.join("\n\n")})
}

/// Thinking that goes back with the calls it led to. It goes to the server that it came from and to no other one: others refuse
/// fields that they do not know.
fn thinking(reply: &Reply, host: &str) -> Map<String, Value> {
    let mut out = Map::new();
    for native in reply.native.iter().filter(|native| native.wire == WIRE) {
        let Ok(Value::Object(kept)) = serde_json::from_str(&native.json) else { continue };
        if kept.get("host").and_then(Value::as_str) == Some(host) {
            out.extend(kept.into_iter().filter(|(key, _)| THINKING_FIELDS.contains(&key.as_str())));
        }
    }
    out
}

/// The id of a call in a form that the server takes: Mistral wants nine letters and digits, others no more than
/// [`LONGEST_ID`] characters. A conversation may have begun at another provider.
fn id(id: &CallId, host: &str) -> String {
    let text = id.as_str();
    let most = if is_mistral(host) { 9 } else { LONGEST_ID };
    let fits = match most {
        9 => text.len() == 9 && text.bytes().all(|b| b.is_ascii_alphanumeric()),
        most => text.len() <= most,
    };
    if fits {
        return text.to_owned();
    }
    let hash = Sha256::digest(text.as_bytes());
    let digits = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.take(most.min(32)).filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
