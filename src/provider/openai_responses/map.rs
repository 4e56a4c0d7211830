//! From the events of a Responses stream to our [`Chunk`]s. Pure: text of an event in, chunks out. Unknown events are left alone.

use super::WIRE;
use super::output::{OutputItems, OutputSlot, text, text_of, thinking_of};
use crate::domain::message::Native;
use crate::domain::usage::RequestUsage;
use crate::provider::json::parse;
use crate::provider::response_stream::{Broken, Mapping};
use crate::provider::sse::Event;
use crate::provider::{Chunk, Stop};
use serde_json::{Value, json};
use std::time::Duration;

/// Reads one response.
#[derive(Debug, Default)]
pub struct ResponsesEvents {
    host: String,
    model: String,
    id: String,
    started: bool,
    output: OutputItems,
    refused: bool,
    /// Text was given out, and thinking was: what comes from another item begins a new paragraph.
    said: bool,
    thought: bool,
    over: bool,
}

impl Mapping for ResponsesEvents {
    fn event(&mut self, event: &Event) -> Result<Vec<Chunk>, Broken> {
        let data = event.data.trim();
        if data == "[DONE]" {
            // A response whose items all came is whole without its last event.
            let items = &self.output.slots;
            let whole = !items.is_empty() && items.iter().all(|slot| slot.done);
            return if whole { Ok(self.finish(&json!({"status": "completed"}))) } else { Err(Broken::Short) };
        }
        if !data.starts_with('{') {
            // Some servers send a bare word as a sign of life.
            return if event.name == "error" { Err(Broken::of(event)) } else { Ok(Vec::new()) };
        }
        let value = parse(data).map_err(|_| Broken::Garbled(data.to_owned()))?;
        let kind = match text(&value, "type") {
            "" => event.name.clone(),
            kind => kind.to_owned(),
        };
        self.value(&kind, &value)
    }

    /// The last event says that a response is whole: without it another item may have been on its way.
    fn end(&mut self) -> Result<Vec<Chunk>, Broken> {
        Err(Broken::Short)
    }

    fn whole(&mut self, response: &Value) -> Result<Option<Vec<Chunk>>, Broken> {
        match text(response, "status") {
            "failed" | "cancelled" => return Err(failed(response)),
            _ if response.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(Broken::Error(response.clone()));
            }
            _ => {}
        }
        if response.get("output").and_then(Value::as_array).is_none() {
            return Ok(None);
        }
        Ok(Some(self.finish(response)))
    }
    fn over(&self) -> bool {
        self.over
    }

    fn formalities(&self) -> Option<Duration> {
        None
    }
}

impl ResponsesEvents {
    pub(super) fn new(host: &str, model: &str) -> Self {
        Self { host: host.to_owned(), model: model.to_owned(), ..Self::default() }
    }

    fn value(&mut self, kind: &str, value: &Value) -> Result<Vec<Chunk>, Broken> {
        let mut out = Vec::new();
        let delta = text(value, "delta");
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.start(value.get("response").unwrap_or(&Value::Null), &mut out);
            }
            "response.output_item.added" => {
                let item = value.get("item").unwrap_or(&Value::Null);
                let slot = self.output.take(value, item, false);
                if slot.kind() == "function_call" && !text(item, "name").is_empty() {
                    out.push(Chunk::CallBegun(text(item, "name").to_owned()));
                }
            }
            "response.output_item.done" => {
                let item = value.get("item").unwrap_or(&Value::Null);
                self.output.take(value, item, true);
            }
            "response.output_text.delta" => self.say(value, delta, &mut out),
            "response.refusal.delta" => {
                self.refused = true;
                self.say(value, delta, &mut out);
            }
            "response.reasoning_summary_text.delta" => self.think(value, "summary_index", delta, &mut out),
            "response.reasoning_text.delta" => self.think(value, "content_index", delta, &mut out),
            "response.function_call_arguments.delta" => self.output.place(value).add_arguments(delta),
            "response.function_call_arguments.done" => {
                self.output.place(value).set_arguments(text(value, "arguments"));
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                out = self.finish(value.get("response").unwrap_or(&Value::Null));
            }
            "response.failed" | "response.cancelled" => {
                return Err(failed(value.get("response").unwrap_or(&Value::Null)));
            }
            "error" => return Err(Broken::Error(value.clone())),
            "" if value.get("error").is_some_and(|error| !error.is_null()) => return Err(Broken::Error(value.clone())),
            _ => {}
        }
        Ok(out)
    }

    fn start(&mut self, response: &Value, out: &mut Vec<Chunk>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        text(response, "id").clone_into(&mut self.id);
        out.push(Chunk::Started(Some(self.id.clone()).filter(|id| !id.is_empty())));
    }

    fn say(&mut self, event: &Value, delta: &str, out: &mut Vec<Chunk>) {
        if delta.is_empty() {
            return;
        }
        let slot = self.output.place(event);
        let anew = !std::mem::replace(&mut slot.heard, true);
        if anew && std::mem::replace(&mut self.said, true) {
            out.push(Chunk::Text("\n\n".to_owned()));
        }
        out.push(Chunk::Text(delta.to_owned()));
    }

    fn think(&mut self, event: &Value, part: &'static str, delta: &str, out: &mut Vec<Chunk>) {
        let slot = self.output.place(event);
        if delta.is_empty() || *slot.thinks_as.get_or_insert(part) != part {
            return;
        }
        let number = event.get(part).and_then(Value::as_u64).unwrap_or(0);
        let anew = !std::mem::replace(&mut slot.heard, true) || slot.part != number;
        slot.part = number;
        if anew && std::mem::replace(&mut self.thought, true) {
            out.push(Chunk::Thinking("\n\n".to_owned()));
        }
        out.push(Chunk::Thinking(delta.to_owned()));
    }

    /// The response is over: what is left to give out, in its order.
    fn finish(&mut self, response: &Value) -> Vec<Chunk> {
        let mut out = Vec::new();
        self.over = true;
        self.start(response, &mut out);
        self.output.fill(response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
        self.unheard(&mut out);
        let complete = text(response, "status") != "incomplete";
        let calls = self.output.calls(complete);
        if complete {
            out.extend(self.native());
        }
        let called = !calls.is_empty();
        out.extend(calls.into_iter().map(Chunk::Call));
        out.extend(response.get("usage").and_then(usage).map(Chunk::Usage));
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str).unwrap_or("");
        out.push(Chunk::Stopped(match reason {
            "max_output_tokens" | "max_tokens" | "length" => Stop::Length,
            "content_filter" => Stop::Filtered,
            _ if called => Stop::Calls,
            _ if self.refused => Stop::Filtered,
            _ if complete => Stop::Done,
            "" => Stop::Length,
            other => Stop::Other(other.to_owned()),
        }));
        out
    }

    /// Gives out what came without deltas.
    fn unheard(&mut self, out: &mut Vec<Chunk>) {
        for slot in self.output.slots.iter_mut().filter(|slot| !slot.heard) {
            let OutputSlot { item, .. } = slot;
            let parts = item.get("content").and_then(Value::as_array);
            self.refused |= parts.is_some_and(|parts| parts.iter().any(|part| text(part, "type") == "refusal"));
            add(Chunk::Thinking, thinking_of(item), &mut self.thought, out);
            add(Chunk::Text, text_of(item), &mut self.said, out);
            slot.heard = true;
        }
    }

    /// The items as the server sent them, where they hold more than our own fields do, and can be given back.
    fn native(&self) -> Option<Chunk> {
        let thinks = |slot: &OutputSlot| slot.kind() == "reasoning";
        let has = |item: &Value, key: &str| match item.get(key) {
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(list)) => !list.is_empty(),
            _ => false,
        };
        let slots = &self.output.slots;
        let worth = slots.iter().any(|slot| thinks(slot) || has(&slot.item, "phase"));
        // The server keeps nothing: an item of thinking that is a mere name cannot be found again.
        let whole =
            |slot: &OutputSlot| !thinks(slot) || has(&slot.item, "encrypted_content") || has(&slot.item, "content");
        if !worth || !slots.iter().all(whole) {
            return None;
        }
        let items: Vec<&Value> = slots.iter().map(|slot| &slot.item).collect();
        let kept = json!({"host": self.host, "model": self.model, "id": self.id, "items": items});
        Some(Chunk::Native(Native { wire: WIRE.to_owned(), json: kept.to_string() }))
    }
}

/// Gives out a paragraph; `before` tells whether there was one before.
fn add(kind: fn(String) -> Chunk, words: String, before: &mut bool, out: &mut Vec<Chunk>) {
    if words.is_empty() {
        return;
    }
    if std::mem::replace(before, true) {
        out.push(kind("\n\n".to_owned()));
    }
    out.push(kind(words));
}

/// The error of a response that failed.
fn failed(response: &Value) -> Broken {
    match response.get("error").filter(|error| !error.is_null()) {
        Some(error) => Broken::Error(json!({"error": error})),
        None => Broken::Error(json!({"error": {"message": "the response failed", "code": "server_error"}})),
    }
}

/// Reads a usage object; nothing where it holds no counts.
fn usage(value: &Value) -> Option<RequestUsage> {
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let (input, output) = (number("/input_tokens"), number("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(RequestUsage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: number("/input_tokens_details/cached_tokens").unwrap_or(0),
        cache_creation: number("/input_tokens_details/cache_write_tokens").unwrap_or(0),
        cache_hour: 0,
    })
}
