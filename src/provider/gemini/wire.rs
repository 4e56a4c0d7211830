//! From our request to the body of Gemini's `generateContent`.

use super::schema::subset;
use super::{GeminiOptions, WIRE};
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::session::ThinkingLevel;
use crate::provider::arguments::is_same_call;
use crate::provider::endpoint::lay_over;
use crate::provider::media::{MediaForm, Sight, belongs_to, shown};
use crate::provider::{CallResult, ConversationItem, Media, ModelRequest, Reply};
use serde_json::{Map, Value, json};

/// Placeholder for the signature of a call that another model made, from the guide "Thought signatures".
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Families of models by their request for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Not at all: it cannot.
    Never,
    /// Within a number of tokens, from the first to the second; zero is for not at all.
    Budget(u64, u64),
    /// A word for the level.
    Level,
}

/// The family of a model by its name. What has no number is one of the newest.
fn family(model: &str) -> Family {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let Some(rest) = bare.strip_prefix("gemini-") else {
        return if bare.starts_with("gemma") || bare.starts_with("learnlm") { Family::Never } else { Family::Level };
    };
    if rest.starts_with("1.") || rest.starts_with("2.0") || rest.contains("image") || rest.contains("-tts") {
        Family::Never
    } else if rest.starts_with("2.5") {
        match (rest.contains("lite"), rest.contains("pro")) {
            (true, _) => Family::Budget(0, 24_576),
            (_, true) => Family::Budget(128, 32_768),
            _ => Family::Budget(0, 24_576),
        }
    } else {
        Family::Level
    }
}

/// The ways to ask for a thinking level, the best one first; `None` for a model that does not think. Medium is what the model does
/// by itself.
pub(super) fn thoughts(model: &str, level: ThinkingLevel) -> Option<Vec<Value>> {
    let word = |word: &str| json!({"thinkingLevel": word});
    Some(match (family(model), level) {
        (Family::Never, _) => return None,
        (_, ThinkingLevel::Medium) => Vec::new(),
        (Family::Budget(least, most), level) => {
            let tokens: u64 = match level {
                ThinkingLevel::Off => least,
                ThinkingLevel::Low => 4_000,
                ThinkingLevel::Medium | ThinkingLevel::High => 20_000,
                ThinkingLevel::Xhigh => 26_000,
                ThinkingLevel::Max => 32_000,
            };
            vec![json!({"thinkingBudget": tokens.min(most)})]
        }
        (Family::Level, ThinkingLevel::Off) => vec![word("minimal"), word("low")],
        (Family::Level, ThinkingLevel::Low) => vec![word("low")],
        (Family::Level, _) => vec![word("high")],
    })
}

/// The body of a request. `host` is the server's name: signatures go back only to where they came from.
pub(super) fn body(request: &ModelRequest, options: &GeminiOptions, host: &str, extra: Option<&Value>) -> Value {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    body.insert("contents".into(), Value::Array(contents(request, options, host)));
    if !request.tools.is_empty() {
        let declarations = request.tools.iter().map(|tool| {
            let mut out = Map::new();
            out.insert("name".into(), json!(tool.name));
            out.insert("description".into(), json!(tool.description));
            out.extend(subset(&tool.schema).map(|schema| ("parameters".to_owned(), schema)));
            Value::Object(out)
        });
        body.insert("tools".into(), json!([{"functionDeclarations": declarations.collect::<Vec<_>>()}]));
    }
    if let Some(ways) = thoughts(&request.model, request.thinking).filter(|ways| options.thinking <= ways.len()) {
        let mut config = json!({"includeThoughts": true});
        if let (Some(Value::Object(way)), Some(config)) = (ways.get(options.thinking), config.as_object_mut()) {
            config.extend(way.clone());
        }
        body.insert("generationConfig".into(), json!({"thinkingConfig": config}));
    }
    lay_over(&mut body, extra);
    Value::Object(body)
}

/// A call that was sent, for its result: our id, the tool's name, the server's own id.
struct SentCall {
    id: CallId,
    name: String,
    own: Option<String>,
}

fn contents(request: &ModelRequest, options: &GeminiOptions, host: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let mut sent: Vec<SentCall> = Vec::new();
    for item in &request.items {
        match item {
            ConversationItem::User(said) if said.text.trim().is_empty() && said.media.is_empty() => {}
            ConversationItem::User(said) => {
                let text = Some(&said.text).filter(|text| !text.trim().is_empty()).map(|text| json!({"text": text}));
                let media = said.media.iter().map(|media| part(media, options.sight));
                say(&mut out, "user", media.chain(text).collect());
            }
            ConversationItem::Assistant(reply) => {
                let parts = native(reply, &request.model, options, host);
                let own = |at: usize| {
                    let mut calls = parts.iter().flatten().filter_map(|part| part.get("functionCall"));
                    calls.nth(at)?.get("id").and_then(Value::as_str).map(str::to_owned)
                };
                sent = (reply.calls.iter().enumerate())
                    .map(|(at, call)| SentCall { id: call.id.clone(), name: call.name.clone(), own: own(at) })
                    .collect();
                let parts = parts.unwrap_or_else(|| plain(reply, &request.model));
                say(&mut out, "model", parts);
            }
            ConversationItem::Results(results) => {
                let rich = family(&request.model) == Family::Level;
                let sight = Some(options.sight).filter(|_| rich);
                let parts: Vec<Value> = results.iter().map(|one| result(one, &sent, sight)).collect();
                if !parts.is_empty() {
                    out.push(json!({"role": "user", "parts": parts}));
                }
                let beside = if rich { Vec::new() } else { beside(results, options.sight) };
                say(&mut out, "user", beside);
            }
        }
    }
    out
}

/// Adds what one side says: what comes in a row is one message, so that the sides alternate. A message of results holds as many parts
/// as there were calls, and stays apart.
fn say(out: &mut Vec<Value>, role: &str, parts: Vec<Value>) {
    if parts.is_empty() {
        return;
    }
    let holds = |message: &Value, key: &str| {
        let parts = message.get("parts").and_then(Value::as_array);
        parts.is_some_and(|parts| parts.iter().any(|part| part.get(key).is_some()))
    };
    let goes_on = |last: &&mut Value| {
        last.get("role").and_then(Value::as_str) == Some(role)
            && !holds(last, "functionResponse")
            && !holds(last, "functionCall")
    };
    match out.last_mut().filter(goes_on).and_then(|last| last.get_mut("parts")?.as_array_mut()) {
        Some(before) => before.extend(parts),
        None => out.push(json!({"role": role, "parts": parts})),
    }
}

fn part(media: &Media, sight: Sight) -> Value {
    match shown(media, sight) {
        MediaForm::Picture { mime, data } => inline(mime, data),
        MediaForm::Document { data, .. } => inline("application/pdf", data),
        MediaForm::Words(words) => json!({"text": words}),
    }
}

fn inline(mime: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime, "data": data}})
}

/// Media of results, for models whose results are texts: a message of its own, because a message of
/// results holds as many parts as there were calls.
fn beside(results: &[CallResult], sight: Sight) -> Vec<Value> {
    let with = results.iter().flat_map(|result| result.media.iter().map(move |media| (result, media)));
    with.flat_map(|(result, media)| [json!({"text": belongs_to(result, media)}), part(media, sight)]).collect()
}

/// A result; with its media if `sight` says that the model can see them inside of one.
fn result(result: &CallResult, sent: &[SentCall], sight: Option<Sight>) -> Value {
    let call = sent.iter().find(|call| call.id == result.id);
    let mut text = if result.text.is_empty() { "(no output)".to_owned() } else { result.text.clone() };
    let mut parts = Vec::new();
    for part in sight.iter().flat_map(|sight| result.media.iter().map(|media| part(media, *sight))) {
        match part.get("text").and_then(Value::as_str) {
            Some(words) => text = format!("{text}\n{words}"),
            None => parts.push(part),
        }
    }
    let mut out = Map::new();
    out.extend(call.and_then(|call| call.own.clone()).map(|id| ("id".to_owned(), json!(id))));
    out.insert("name".into(), json!(call.map_or("", |call| &call.name)));
    out.insert("response".into(), json!({if result.failed { "error" } else { "output" }: text}));
    if !parts.is_empty() {
        out.insert("parts".into(), Value::Array(parts));
    }
    json!({"functionResponse": out})
}

/// A reply in neutral parts. Models that sign their calls want a signature at the first one, also where another model made it.
fn plain(reply: &Reply, model: &str) -> Vec<Value> {
    let mut out = Vec::new();
    if !reply.text.trim().is_empty() {
        out.push(json!({"text": reply.text}));
    }
    for (at, call) in reply.calls.iter().enumerate() {
        let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
        let mut part = json!({"functionCall": {"name": call.name, "args": input}});
        if at == 0
            && family(model) == Family::Level
            && let Some(part) = part.as_object_mut()
        {
            part.insert("thoughtSignature".into(), json!(NO_SIGNATURE));
        }
        out.push(part);
    }
    out
}

/// The server's own parts of a reply, as it sent them. Only for the server and the model that they came from, and only when they say
/// the same as the reply.
fn native(reply: &Reply, model: &str, options: &GeminiOptions, host: &str) -> Option<Vec<Value>> {
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for native in reply.native.iter().filter(|native| native.wire == WIRE) {
        let kept: Value = serde_json::from_str(&native.json).ok()?;
        let is = |key: &str, value: &str| kept.get(key).and_then(Value::as_str) == Some(value);
        let stale = kept.get("id").and_then(Value::as_str).is_some_and(|id| options.stale.contains(id));
        if stale || !is("host", host) || !is("model", model) {
            return None;
        }
        parts.extend(kept.get("parts")?.as_array()?.iter().cloned());
        calls.extend(kept.get("calls")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    let said: String =
        parts.iter().filter(|part| !super::map::is_thought(part)).filter_map(|p| p.get("text")?.as_str()).collect();
    let same_calls = reply.calls.len() == calls.len()
        && calls.iter().zip(&reply.calls).all(|(kept, call)| is_same_call(kept, &call.id));
    (!parts.is_empty() && same_calls && squeezed(&said) == squeezed(&reply.text)).then_some(parts)
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
