//! Blocks of a response that the neutral form has no room for, kept as they came and given back as they came: thinking with its
//! signature, and blocks of kinds that are not known here.
//!
//! The place of text and calls between them is kept too, but a call's input only once, in its own row.

use crate::domain::message::Native;
use crate::provider::Reply;
use crate::provider::arguments::is_same_call;
use crate::provider::figures::{MILLION, claude_family};
use serde_json::{Map, Value, json};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "anthropic-messages";

/// Author of a block. Another server or model cannot read the thinking of this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockAuthor {
    host: String,
    model: String,
}

impl BlockAuthor {
    pub(super) fn new(host: &str, model: &str) -> Self {
        let family = claude_family(model).unwrap_or_else(|| model.trim_end_matches(MILLION).to_owned());
        Self { host: host.to_owned(), model: family }
    }
}

/// Replay of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It does.
    Kept,
    /// It is left out: none is asked for, or the server does not take it.
    Dropped,
}

/// The blocks of a response to keep, where the neutral form would lose something.
pub(super) fn keep(origin: &BlockAuthor, blocks: &[Map<String, Value>]) -> Option<Native> {
    if blocks.iter().all(|block| matches!(kind(block), "text" | "tool_use")) {
        return None;
    }
    let blocks: Vec<Value> = blocks
        .iter()
        .map(|block| match kind(block) {
            "tool_use" => json!({"type": "tool_use", "id": block.get("id")}),
            _ => Value::Object(block.clone()),
        })
        .collect();
    let json = json!({"host": origin.host, "model": origin.model, "blocks": blocks}).to_string();
    Some(Native { wire: WIRE.to_owned(), json })
}

/// The blocks of a reply as they came, its calls written by `call`; `None` where they are not known, are another model's, or do not
/// say what the reply says.
pub(super) fn blocks(
    reply: &Reply,
    origin: &BlockAuthor,
    thinking: Thinking,
    call: impl Fn(&crate::provider::ProposedCall) -> Value,
) -> Option<Vec<Value>> {
    if reply.native.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    let mut text = String::new();
    let mut calls = reply.calls.iter();
    for native in &reply.native {
        let kept: Value = serde_json::from_str(&native.json).ok().filter(|_| native.wire == WIRE)?;
        let says = |key: &str, expected: &str| kept.get(key).and_then(Value::as_str) == Some(expected);
        if !says("host", &origin.host) || !says("model", &origin.model) {
            return None;
        }
        for block in kept.get("blocks")?.as_array()? {
            match block.as_object().map_or("", kind) {
                "tool_use" => {
                    let next = calls.next().filter(|next| {
                        block.get("id").and_then(Value::as_str).is_some_and(|id| is_same_call(id, &next.id))
                    })?;
                    out.push(call(next));
                }
                "text" => {
                    let part = block.get("text").and_then(Value::as_str).unwrap_or("");
                    text.push_str(part);
                    if !part.trim().is_empty() {
                        out.push(block.clone());
                    }
                }
                "thinking" | "redacted_thinking" if thinking == Thinking::Dropped => {}
                _ => out.push(block.clone()),
            }
        }
    }
    let inked = |text: &str| text.split_whitespace().collect::<String>();
    (calls.next().is_none() && inked(&text) == inked(&reply.text)).then_some(out)
}

/// The kind of a block.
pub(super) fn kind(block: &Map<String, Value>) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or("")
}
