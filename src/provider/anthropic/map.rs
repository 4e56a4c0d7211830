//! From the events of a Messages stream to our [`Chunk`]s. Pure: text of an event in, chunks out.
//!
//! The blocks are put together from their pieces as they come. Text and thinking go out at once, calls when the response is whole, so
//! that one which breaks off leaves no half of a batch.

use super::replay::{self, BlockAuthor, kind};
use crate::domain::ids::CallId;
use crate::domain::usage::RequestUsage;
use crate::provider::arguments::{input, made_up_id};
use crate::provider::json::parse;
use crate::provider::response_stream::{AFTERMATH, Broken, Mapping};
use crate::provider::sse::Event;
use crate::provider::{Chunk, ProposedCall, Stop};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads one response.
#[derive(Debug, Default)]
pub struct MessagesEvents {
    origin: BlockAuthor,
    /// Tools that go by another name there.
    renamed: BTreeMap<String, String>,
    started: bool,
    blocks: Vec<Block>,
    counts: Counts,
    counted: Option<RequestUsage>,
    stop: Option<String>,
    over: bool,
}

/// A block in the making.
#[derive(Debug, Default)]
struct Block {
    index: Option<u64>,
    fields: Map<String, Value>,
    /// The text of its input so far.
    json: String,
}

/// The server's own counts. They grow; a field that is left out or 0 says nothing.
#[derive(Debug, Default)]
struct Counts {
    fresh: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    /// The part of `written` that is kept for an hour.
    hour: Option<u64>,
    output: Option<u64>,
}

impl Mapping for MessagesEvents {
    fn event(&mut self, event: &Event) -> Result<Vec<Chunk>, Broken> {
        if event.name == "error" {
            return Err(Broken::of(event));
        }
        let mut out = self.data(&event.data)?;
        if self.over {
            out.extend(self.end(true)?);
        }
        Ok(out)
    }

    fn end(&mut self) -> Result<Vec<Chunk>, Broken> {
        self.end(false)
    }

    fn whole(&mut self, value: &Value) -> Result<Option<Vec<Chunk>>, Broken> {
        if is_error(value) {
            return Err(Broken::Error(value.clone()));
        }
        let Some(content) = value.get("content").and_then(Value::as_array) else { return Ok(None) };
        let mut out = Vec::new();
        self.start(value, &mut out);
        for block in content {
            self.open(None, block, &mut out);
        }
        self.stopped(value);
        self.count(value.get("usage"), &mut out);
        out.extend(self.end(true)?);
        Ok(Some(out))
    }

    fn over(&self) -> bool {
        self.over
    }

    fn formalities(&self) -> Option<Duration> {
        self.stop.is_some().then_some(AFTERMATH)
    }
}

impl MessagesEvents {
    pub(super) fn new(origin: BlockAuthor, renamed: BTreeMap<String, String>) -> Self {
        Self { origin, renamed, ..Self::default() }
    }

    /// Takes the data of one event.
    pub(super) fn data(&mut self, data: &str) -> Result<Vec<Chunk>, Broken> {
        let data = data.trim();
        // Some servers send a bare word as a sign of life.
        if !data.starts_with(['{', '[']) {
            return Ok(Vec::new());
        }
        let value = parse(data).map_err(|_| Broken::Garbled(data.to_owned()))?;
        if is_error(&value) {
            return Err(Broken::Error(value));
        }
        let mut out = Vec::new();
        let index = value.get("index").and_then(Value::as_u64);
        match value.get("type").and_then(Value::as_str).unwrap_or("") {
            "message_start" => {
                let message = value.get("message").unwrap_or(&Value::Null);
                self.start(message, &mut out);
                self.stopped(message);
                self.count(message.get("usage"), &mut out);
            }
            "content_block_start" => {
                if let Some(block) = value.get("content_block") {
                    self.open(index, block, &mut out);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = value.get("delta") {
                    self.delta(index, delta, &mut out);
                }
            }
            "message_delta" => {
                self.stopped(value.get("delta").unwrap_or(&Value::Null));
                self.count(value.get("usage"), &mut out);
            }
            "message_stop" => self.over = true,
            // Pings, the ends of blocks, and what there will be one day.
            _ => {}
        }
        Ok(out)
    }

    /// The end of the stream. `marked` says that the server marked it.
    pub(super) fn end(&mut self, marked: bool) -> Result<Vec<Chunk>, Broken> {
        if self.stop.is_none() && !marked {
            return Err(Broken::Short);
        }
        let stop = self.stop.take().unwrap_or_default();
        if stop == "model_context_window_exceeded" {
            let message = "the response reached the end of the model's context window";
            return Err(Broken::Error(json!({"error": {"type": "context_window_exceeded", "message": message}})));
        }
        let mut out = Vec::new();
        self.start(&Value::Null, &mut out);
        self.settle();
        let cut_off = stop == "max_tokens";
        let calls = self.calls(cut_off);
        // Thinking that the limit cut off has no signature, and is not taken back without one.
        let unsigned = |block: &Block| {
            kind(&block.fields) == "thinking"
                && block.fields.get("signature").and_then(Value::as_str).unwrap_or("").is_empty()
        };
        let blocks = std::mem::take(&mut self.blocks).into_iter().filter(|block| !(cut_off && unsigned(block)));
        let blocks: Vec<Map<String, Value>> = blocks.map(|block| block.fields).collect();
        out.extend(replay::keep(&self.origin, &blocks).map(Chunk::Native));
        let called = !calls.is_empty();
        out.extend(calls.into_iter().map(Chunk::Call));
        out.push(Chunk::Stopped(match stop.as_str() {
            "max_tokens" => Stop::Length,
            "refusal" => Stop::Filtered,
            "pause_turn" => Stop::Paused,
            _ if called => Stop::Calls,
            "" | "end_turn" | "stop_sequence" | "tool_use" => Stop::Done,
            other => Stop::Other(other.to_owned()),
        }));
        Ok(out)
    }

    fn start(&mut self, message: &Value, out: &mut Vec<Chunk>) {
        if !std::mem::replace(&mut self.started, true) {
            let id = message.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            out.push(Chunk::Started(id.map(str::to_owned)));
        }
    }

    fn open(&mut self, index: Option<u64>, block: &Value, out: &mut Vec<Chunk>) {
        let Value::Object(fields) = block else { return };
        let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        match kind(fields) {
            "text" => out.extend(text("text").map(|text| Chunk::Text(text.to_owned()))),
            "thinking" => out.extend(text("thinking").map(|text| Chunk::Thinking(text.to_owned()))),
            "tool_use" => out.extend(text("name").map(|name| Chunk::CallBegun(self.own_name(name)))),
            _ => {}
        }
        self.blocks.push(Block { index, fields: fields.clone(), json: String::new() });
    }

    fn delta(&mut self, index: Option<u64>, delta: &Value, out: &mut Vec<Chunk>) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or("");
        let sort = text("type");
        let known = self.blocks.iter().rposition(|block| block.index == index);
        let at = match (known, sort) {
            (Some(at), _) => at,
            // A server that does not say when a block begins.
            (None, "text_delta") => self.begin(index, json!({"type": "text", "text": ""})),
            (None, "thinking_delta") => self.begin(index, json!({"type": "thinking", "thinking": ""})),
            (None, _) => return,
        };
        let Some(block) = self.blocks.get_mut(at) else { return };
        match sort {
            "text_delta" => grow(&mut block.fields, "text", text("text"), Chunk::Text, out),
            "thinking_delta" => grow(&mut block.fields, "thinking", text("thinking"), Chunk::Thinking, out),
            "signature_delta" => append(&mut block.fields, "signature", text("signature")),
            "input_json_delta" => block.json.push_str(text("partial_json")),
            "citations_delta" => {
                let list = block.fields.entry("citations").or_insert(Value::Null);
                if !list.is_array() {
                    *list = json!([]);
                }
                if let (Some(list), Some(citation)) = (list.as_array_mut(), delta.get("citation")) {
                    list.push(citation.clone());
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, index: Option<u64>, block: Value) -> usize {
        self.open(index, &block, &mut Vec::new());
        self.blocks.len() - 1
    }

    fn stopped(&mut self, message: &Value) {
        let reason = message.get("stop_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
        self.stop = reason.map(str::to_owned).or(self.stop.take());
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<Chunk>) {
        let number = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64);
        let counts = &mut self.counts;
        counts.fresh = number("input_tokens").max(counts.fresh);
        counts.read = number("cache_read_input_tokens").max(counts.read);
        counts.written = number("cache_creation_input_tokens").max(counts.written);
        let hour = usage.and_then(|usage| usage.pointer("/cache_creation/ephemeral_1h_input_tokens"));
        counts.hour = hour.and_then(Value::as_u64).max(counts.hour);
        counts.output = number("output_tokens").max(counts.output);
        if counts.fresh.is_none() && counts.output.is_none() {
            return;
        }
        let (read, written) = (counts.read.unwrap_or(0), counts.written.unwrap_or(0));
        let all = RequestUsage {
            input: counts.fresh.unwrap_or(0) + read + written,
            output: counts.output.unwrap_or(0),
            cache_read: read,
            cache_creation: written,
            cache_hour: counts.hour.unwrap_or(0),
        };
        if self.counted.replace(all) != Some(all) {
            out.push(Chunk::Usage(all));
        }
    }

    fn own_name(&self, name: &str) -> String {
        self.renamed.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// The calls, now that all pieces are here.
    fn calls(&self, cut_off: bool) -> Vec<ProposedCall> {
        let calls: Vec<&Block> = self.blocks.iter().filter(|block| kind(&block.fields) == "tool_use").collect();
        let last = calls.len().saturating_sub(1);
        let calls = calls.into_iter().enumerate().map(|(at, block)| {
            let text = |key: &str| block.fields.get(key).and_then(Value::as_str).unwrap_or("");
            let whole =
                block.fields.get("input").filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
            let given = match whole {
                Some(whole) if block.json.is_empty() => whole.clone(),
                // The output limit came before its first letter: not the same as a call without an input.
                None if block.json.is_empty() && cut_off && at == last => json!({"_raw": ""}),
                _ => input(&block.json),
            };
            ProposedCall { id: CallId::new(text("id")), name: self.own_name(text("name")), input: given }
        });
        calls.filter(|call| !call.name.is_empty()).collect()
    }

    /// Sees to it that every call has an id of its own, and that inputs of other blocks are whole.
    fn settle(&mut self) {
        let mut seen: Vec<String> = Vec::new();
        for block in &mut self.blocks {
            if kind(&block.fields) == "tool_use" {
                let id = block.fields.get("id").and_then(Value::as_str).unwrap_or("");
                let id =
                    if id.is_empty() || seen.iter().any(|other| other == id) { made_up_id() } else { id.to_owned() };
                block.fields.insert("id".into(), json!(id));
                seen.push(id);
            } else if !block.json.is_empty() {
                block.fields.insert("input".into(), input(&block.json));
            }
        }
        self.blocks
            .retain(|block| kind(&block.fields) != "tool_use" || block.fields.get("name").is_some_and(|n| n != ""));
    }
}

fn is_error(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("error")
        || value.get("error").is_some_and(|error| !error.is_null())
}

fn grow(fields: &mut Map<String, Value>, key: &str, text: &str, chunk: fn(String) -> Chunk, out: &mut Vec<Chunk>) {
    append(fields, key, text);
    if !text.is_empty() {
        out.push(chunk(text.to_owned()));
    }
}

fn append(fields: &mut Map<String, Value>, key: &str, text: &str) {
    match fields.get_mut(key) {
        Some(Value::String(kept)) => kept.push_str(text),
        _ => {
            fields.insert(key.to_owned(), json!(text));
        }
    }
}
