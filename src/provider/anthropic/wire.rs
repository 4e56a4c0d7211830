//! From our request to the body of Anthropic's Messages.

use super::replay::{self, BlockAuthor, Thinking};
use super::request_options::{AnthropicOptions, budget, efforts, model};
use crate::domain::ids::CallId;
use crate::domain::session::ThinkingLevel;
use crate::provider::endpoint::lay_over;
use crate::provider::figures::Thinks;
use crate::provider::media::{MediaForm, Sight, shown};
use crate::provider::{CallResult, ConversationItem, Media, ModelRequest, ProposedCall, Reply};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The least that can be asked for as a budget.
const LEAST_BUDGET: u64 = 1_024;
/// Tokens of the answer's limit that a thinking budget leaves for the answer itself.
const ANSWER: u64 = 4_096;
/// Number of user messages marked as cache points; the tools and the system prompt are the other
/// two of the four that are allowed.
const CACHED_TURNS: usize = 2;
const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 128;

/// The body of a request.
pub(super) fn body(
    request: &ModelRequest,
    options: AnthropicOptions,
    origin: &BlockAuthor,
    extra: Option<&Value>,
) -> Value {
    let (model, _) = model(&request.model);
    let mut asked = thinking(request.thinking, options);
    let kept = if asked.thinks && options.replayed { Thinking::Kept } else { Thinking::Dropped };
    let mut messages = messages(request, origin, kept, options.sight);
    if asked.budget && !may_think(&messages) {
        asked = ThinkingFields::default();
        messages = self::messages(request, origin, Thinking::Dropped, options.sight);
    }
    if options.cached {
        let last = messages.iter_mut().rev().filter(|message| message.role == Role::User).take(CACHED_TURNS);
        last.filter_map(|message| message.content.last_mut()).for_each(|block| mark(block, options.long));
    }

    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("max_tokens".into(), json!(options.most));
    if !request.system.trim().is_empty() {
        let mut system = json!({"type": "text", "text": request.system});
        if options.cached {
            mark(&mut system, options.long);
        }
        body.insert("system".into(), json!([system]));
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": name(&tool.name), "description": tool.description, "input_schema": tool.schema}))
        .collect();
    if tools.is_empty() {
        tools = spoken_of(request);
        if !tools.is_empty() {
            body.insert("tool_choice".into(), json!({"type": "none"}));
        }
    }
    if !tools.is_empty() {
        if let Some(last) = tools.last_mut().filter(|_| options.cached) {
            mark(last, options.long);
        }
        body.insert("tools".into(), Value::Array(tools));
    }
    let messages = messages.into_iter().map(|one| json!({"role": one.role.word(), "content": one.content}));
    body.insert("messages".into(), messages.collect());
    if let Some(thinking) = asked.field {
        body.insert("thinking".into(), thinking);
    }
    if let Some(effort) = asked.effort {
        body.insert("output_config".into(), json!({"effort": effort}));
    }
    body.insert("stream".into(), json!(true));
    lay_over(&mut body, extra);
    Value::Object(body)
}

/// The API refuses a conversation with calls of tools that it was not told of, also where none is on offer any more.
fn spoken_of(request: &ModelRequest) -> Vec<Value> {
    let replies = request
        .items
        .iter()
        .filter_map(|item| if let ConversationItem::Assistant(reply) = item { Some(reply) } else { None });
    let names: BTreeSet<String> = replies.flat_map(|reply| &reply.calls).map(|call| name(&call.name)).collect();
    names.into_iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect()
}

/// Values of the header `anthropic-beta`.
pub(super) fn betas(request: &ModelRequest, options: AnthropicOptions) -> Vec<&'static str> {
    let mut out = Vec::new();
    if model(&request.model).1 {
        out.push("context-1m-2025-08-07");
    }
    if options.interleaved && thinking(request.thinking, options).budget && !request.tools.is_empty() {
        out.push("interleaved-thinking-2025-05-14");
    }
    out
}

/// The tools whose names the API does not take: from the name that is sent to their own.
pub(super) fn renamed(request: &ModelRequest) -> BTreeMap<String, String> {
    let names = request.tools.iter().map(|tool| (name(&tool.name), tool.name.clone()));
    names.filter(|(sent, own)| sent != own).collect()
}

/// Thinking fields of a request.
#[derive(Default)]
struct ThinkingFields {
    field: Option<Value>,
    effort: Option<&'static str>,
    /// The model may think.
    thinks: bool,
    /// Within a budget.
    budget: bool,
}

fn thinking(level: ThinkingLevel, options: AnthropicOptions) -> ThinkingFields {
    let Some(thinks) = options.thinks else {
        // What it did by itself before goes back to it.
        return ThinkingFields { thinks: level != ThinkingLevel::Off, ..ThinkingFields::default() };
    };
    match (thinks, level) {
        (Thinks::Budget | Thinks::SmallBudget, _) => {
            let tokens = budget(level, thinks).min(options.most.saturating_sub(ANSWER));
            if tokens < LEAST_BUDGET {
                return ThinkingFields::default();
            }
            let field = json!({"type": "enabled", "budget_tokens": tokens});
            ThinkingFields { field: Some(field), effort: None, thinks: true, budget: true }
        }
        (Thinks::Adaptive, ThinkingLevel::Off) => {
            ThinkingFields { field: Some(json!({"type": "disabled"})), ..ThinkingFields::default() }
        }
        (Thinks::Adaptive | Thinks::Always, _) => {
            let mut field = json!({"type": "adaptive"});
            if options.shown {
                field["display"] = json!("summarized");
            }
            let effort = efforts(level).get(options.effort).copied();
            ThinkingFields { field: Some(field), effort, thinks: true, budget: false }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

struct Message {
    role: Role,
    content: Vec<Value>,
}

/// The conversation in strict alternation: what comes from one side in a row is one message.
fn messages(request: &ModelRequest, origin: &BlockAuthor, thinking: Thinking, sight: Sight) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for item in &request.items {
        let (role, content) = match item {
            ConversationItem::User(said) => {
                // What is asked about comes before the question, as the guides want it.
                let shown = said.media.iter().map(|media| block(media, sight));
                (Role::User, shown.chain(text(&said.text)).collect())
            }
            ConversationItem::Assistant(reply) => (Role::Assistant, assistant(reply, origin, thinking)),
            ConversationItem::Results(results) => {
                (Role::User, results.iter().map(|one| result(one, sight)).collect::<Vec<_>>())
            }
        };
        match out.last_mut().filter(|last| last.role == role) {
            _ if content.is_empty() => {}
            Some(last) => last.content.extend(content),
            None => out.push(Message { role, content }),
        }
    }
    if out.first().is_some_and(|first| first.role == Role::Assistant) {
        let left_out = text("[The beginning of the conversation was left out.]").into_iter().collect();
        out.insert(0, Message { role: Role::User, content: left_out });
    }
    // The last word is the user's, except where a server's own tool was underway: the server goes on with it by itself.
    let ends = out.last().is_none_or(|last| {
        let kind = last.content.last().and_then(Value::as_object).map_or("", replay::kind);
        last.role == Role::Assistant && matches!(kind, "text" | "thinking" | "redacted_thinking")
    });
    if ends {
        out.push(Message { role: Role::User, content: text("Go on.").into_iter().collect() });
    }
    out
}

/// A block of text; nothing for one without ink, which the API refuses.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn assistant(reply: &Reply, origin: &BlockAuthor, thinking: Thinking) -> Vec<Value> {
    replay::blocks(reply, origin, thinking, call)
        .unwrap_or_else(|| text(&reply.text).into_iter().chain(reply.calls.iter().map(call)).collect())
}

fn call(call: &ProposedCall) -> Value {
    let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
    json!({"type": "tool_use", "id": id(&call.id), "name": name(&call.name), "input": input})
}

/// A picture or document, or the words for it.
fn block(media: &Media, sight: Sight) -> Value {
    let source = |mime: &str, data: &str| json!({"type": "base64", "media_type": mime, "data": data});
    match shown(media, sight) {
        MediaForm::Picture { mime, data } => json!({"type": "image", "source": source(mime, data)}),
        MediaForm::Document { name, data } => {
            json!({"type": "document", "source": source("application/pdf", data), "title": name})
        }
        MediaForm::Words(words) => json!({"type": "text", "text": words}),
    }
}

fn result(result: &CallResult, sight: Sight) -> Value {
    let said = if result.text.trim().is_empty() { "(no output)" } else { &result.text };
    let content = match result.media.as_slice() {
        [] => json!(said),
        media => text(said).into_iter().chain(media.iter().map(|media| block(media, sight))).collect(),
    };
    let mut out = json!({"type": "tool_result", "tool_use_id": id(&result.id), "content": content});
    if result.failed {
        out["is_error"] = json!(true);
    }
    out
}

/// Within a budget, the answer to the user's last message must begin with thinking as soon as it has calls. One that began at another
/// model, or without thinking, goes on without.
fn may_think(messages: &[Message]) -> bool {
    let is =
        |block: &Value, kinds: &[&str]| block.as_object().is_some_and(|block| kinds.contains(&replay::kind(block)));
    let asked = messages.iter().rposition(|message| {
        message.role == Role::User && !message.content.iter().any(|block| is(block, &["tool_result"]))
    });
    let answer = messages.get(asked.map_or(0, |at| at + 1)).filter(|answer| answer.role == Role::Assistant);
    answer.and_then(|answer| answer.content.first()).is_none_or(|first| is(first, &["thinking", "redacted_thinking"]))
}

/// Marks a place up to which the server may cache.
fn mark(block: &mut Value, long: bool) {
    block["cache_control"] = match long {
        true => json!({"type": "ephemeral", "ttl": "1h"}),
        false => json!({"type": "ephemeral"}),
    };
}

/// The id of a call in a form that the API takes. A conversation may have begun at another provider.
fn id(id: &CallId) -> String {
    let text = id.as_str();
    if !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(may_be_in_a_name) {
        return text.to_owned();
    }
    let hash = Sha256::digest(text.as_bytes());
    let digits = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.take(32).filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// The name of a tool in a form that the API takes: models of other providers call tools by names that it refuses.
fn name(name: &str) -> String {
    let name: String = name.chars().take(LONGEST_NAME).map(|c| if may_be_in_a_name(c) { c } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn may_be_in_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
