//! From our request to the body of OpenAI's Responses.

use super::{Extra, ResponsesOptions, WIRE, efforts};
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::provider::arguments::is_same_call;
use crate::provider::endpoint::lay_over;
use crate::provider::media::{MediaForm, Sight, address, belongs_to, document_address, shown};
use crate::provider::{CallResult, ConversationItem, Media, ModelRequest, Reply, UserContent};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The longest id of a call that is taken.
const LONGEST_ID: usize = 64;

/// The model may think. Those that are known not to refuse every field about it; of others nothing is known.
pub(super) fn may_think(model: &str) -> bool {
    let bare = model.rsplit('/').next().unwrap_or(model);
    !["gpt-4", "gpt-3", "chatgpt-"].iter().any(|start| bare.starts_with(start))
}

/// The body of a request. `host` is the server's name: thinking goes back only to where it came from.
pub(super) fn body(request: &ModelRequest, options: &ResponsesOptions, host: &str, extra: Option<&Value>) -> Value {
    let with = |extra| !options.without.contains(&extra);
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    if !request.system.trim().is_empty() {
        body.insert("instructions".into(), json!(request.system));
    }
    body.insert("input".into(), Value::Array(input(request, options, host)));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            // `strict` would make the server refuse schemas with optional fields.
            json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema,
                   "strict": false})
        });
        body.insert("tools".into(), tools.collect());
        if with(Extra::Parallel) {
            body.insert("parallel_tool_calls".into(), json!(true));
        }
    }
    let mut reasoning = Map::new();
    if let Some(effort) = efforts(request.thinking).get(options.effort) {
        reasoning.insert("effort".into(), json!(effort));
    }
    if with(Extra::Summary) {
        reasoning.insert("summary".into(), json!("auto"));
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), Value::Object(reasoning));
    }
    if with(Extra::Encrypted) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if with(Extra::CacheKey) {
        body.extend(cache_key(request).map(|key| ("prompt_cache_key".to_owned(), json!(key))));
    }
    if options.kept_long && with(Extra::Retention) {
        body.insert("prompt_cache_retention".into(), json!("24h"));
    }
    body.insert("store".into(), json!(false));
    body.insert("stream".into(), json!(true));
    lay_over(&mut body, extra);
    Value::Object(body)
}

/// A name for the conversation that stays the same while it grows, so that its requests meet the same cache.
fn cache_key(request: &ModelRequest) -> Option<String> {
    let first = request
        .items
        .iter()
        .find_map(|item| if let ConversationItem::User(UserContent { text, .. }) = item { Some(text) } else { None })?;
    Some(format!("lisle-{}", digest(first, 24)))
}

fn input(request: &ModelRequest, options: &ResponsesOptions, host: &str) -> Vec<Value> {
    let mut out = Vec::new();
    for item in &request.items {
        match item {
            ConversationItem::User(said) if said.text.trim().is_empty() && said.media.is_empty() => {}
            ConversationItem::User(said) => say(&mut out, content(&said.text, &said.media, options.sight)),
            ConversationItem::Assistant(reply) => match native(reply, &request.model, options, host) {
                Some(items) => out.extend(items),
                None => out.extend(plain(reply)),
            },
            ConversationItem::Results(results) => {
                out.extend(results.iter().map(|one| result(one, options)));
                if !options.rich_results {
                    say(&mut out, beside(results, options.sight));
                }
            }
        }
    }
    out
}

/// Adds what the user says: what comes in a row is one message, as servers with templates want it.
fn say(out: &mut Vec<Value>, content: Vec<Value>) {
    if content.is_empty() {
        return;
    }
    let of_user = |last: &&mut Value| last.get("role").and_then(Value::as_str) == Some("user");
    match out.last_mut().filter(of_user).and_then(|last| last.get_mut("content")?.as_array_mut()) {
        Some(before) => before.extend(content),
        None => out.push(json!({"type": "message", "role": "user", "content": content})),
    }
}

fn content(text: &str, media: &[Media], sight: Sight) -> Vec<Value> {
    let text = Some(text).filter(|text| !text.trim().is_empty());
    let text = text.map(|text| json!({"type": "input_text", "text": text}));
    text.into_iter().chain(media.iter().map(|media| part(media, sight))).collect()
}

fn part(media: &Media, sight: Sight) -> Value {
    match shown(media, sight) {
        MediaForm::Picture { mime, data } => json!({"type": "input_image", "image_url": address(mime, data)}),
        MediaForm::Document { name, data } => {
            json!({"type": "input_file", "filename": name, "file_data": document_address(data)})
        }
        MediaForm::Words(words) => json!({"type": "input_text", "text": words}),
    }
}

fn result(result: &CallResult, options: &ResponsesOptions) -> Value {
    let text = if result.text.is_empty() { "(no output)" } else { &result.text };
    let output = match result.media.as_slice() {
        media @ [_, ..] if options.rich_results => Value::Array(content(text, media, options.sight)),
        _ => json!(text),
    };
    json!({"type": "function_call_output", "call_id": id(&result.id), "output": output})
}

/// Media of results, for servers whose results are texts: they follow as a message of the user.
fn beside(results: &[CallResult], sight: Sight) -> Vec<Value> {
    let with = results.iter().flat_map(|result| result.media.iter().map(move |media| (result, media)));
    let parts = with.flat_map(|(result, media)| {
        [json!({"type": "input_text", "text": belongs_to(result, media)}), part(media, sight)]
    });
    parts.collect()
}

/// A reply in neutral items.
fn plain(reply: &Reply) -> Vec<Value> {
    let mut out = Vec::new();
    if !reply.text.trim().is_empty() {
        let content = json!([{"type": "output_text", "text": reply.text}]);
        out.push(json!({"type": "message", "role": "assistant", "content": content}));
    }
    out.extend(reply.calls.iter().map(|call| {
        let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
        json!({"type": "function_call", "call_id": id(&call.id), "name": call.name, "arguments": arguments})
    }));
    out
}

/// The server's own items of a reply, as it sent them. Only for the server and the model that they came from, and only when they
/// say the same as the reply: an item of thinking without what followed it is refused.
fn native(reply: &Reply, model: &str, options: &ResponsesOptions, host: &str) -> Option<Vec<Value>> {
    let mut items = Vec::new();
    for native in reply.native.iter().filter(|native| native.wire == WIRE) {
        let kept: Value = serde_json::from_str(&native.json).ok()?;
        let is = |key: &str, value: &str| kept.get(key).and_then(Value::as_str) == Some(value);
        let stale = kept.get("id").and_then(Value::as_str).is_some_and(|id| options.stale.contains(id));
        if stale || !is("host", host) || !is("model", model) {
            return None;
        }
        items.extend(kept.get("items")?.as_array()?.iter().cloned());
    }
    let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let said: String = items.iter().map(super::output::text_of).collect();
    let mut ours = reply.calls.iter();
    for item in items.iter_mut().filter(|item| text(item, "type") == "function_call") {
        // Our id is the one that the result names.
        let call = ours.next().filter(|call| is_same_call(&text(item, "call_id"), &call.id))?;
        item["call_id"] = json!(id(&call.id));
    }
    let same = ours.next().is_none() && squeezed(&said) == squeezed(&reply.text);
    (same && !items.is_empty()).then_some(items)
}

/// The id of the response that blocks came from.
pub(super) fn response_of(native: &Native) -> Option<String> {
    let kept: Value = serde_json::from_str(&native.json).ok().filter(|_| native.wire == WIRE)?;
    kept.get("id").and_then(Value::as_str).map(str::to_owned)
}

/// A text without what showing it may change.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect()
}

/// The id of a call in a form that is taken: a conversation may have begun at another provider.
fn id(id: &CallId) -> String {
    let text = id.as_str();
    if !text.is_empty() && text.len() <= LONGEST_ID { text.to_owned() } else { digest(text, 32) }
}

/// The first hexadecimal digits of a text's hash.
fn digest(text: &str, digits: usize) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let all = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    all.take(digits).filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
