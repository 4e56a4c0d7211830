//! From the chunks of a Chat Completions stream to our [`Chunk`]s. Pure: text of an event in, chunks out.
//!
//! Servers differ, and this takes what is known of them: calls without ids or indexes, whole calls in one piece, arguments as an
//! object, thinking under three names or inside of `<think>`, missing usage, finish reasons of their own.

use super::WIRE;
use super::calls::Calls;
use crate::domain::message::Native;
use crate::domain::usage::RequestUsage;
use crate::provider::json::parse;
use crate::provider::response_stream::{AFTERMATH, Broken, Mapping};
use crate::provider::sse::Event;
use crate::provider::{Chunk, Stop};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Reads one response.
#[derive(Debug, Default)]
pub struct ChatEvents {
    host: String,
    started: bool,
    calls: Calls,
    think: ThinkTags,
    /// Thinking as the server named it, to be given back with the calls.
    thinking: Map<String, Value>,
    usage: Option<RequestUsage>,
    /// A count of a server that reports times instead of usage.
    timings: Option<RequestUsage>,
    refused: bool,
    finish: Option<String>,
    /// The end mark has come.
    over: bool,
}

impl Mapping for ChatEvents {
    fn event(&mut self, event: &Event) -> Result<Vec<Chunk>, Broken> {
        if event.data.trim() == "[DONE]" {
            self.over = true;
            return self.end(true);
        }
        if event.name == "error" { Err(Broken::of(event)) } else { self.data(&event.data) }
    }

    fn end(&mut self) -> Result<Vec<Chunk>, Broken> {
        self.end(false)
    }

    fn whole(&mut self, value: &Value) -> Result<Option<Vec<Chunk>>, Broken> {
        let mut chunks = self.value(value)?;
        if value.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Ok(None);
        }
        chunks.extend(self.end(true)?);
        Ok(Some(chunks))
    }

    fn over(&self) -> bool {
        self.over
    }

    fn formalities(&self) -> Option<Duration> {
        self.finish.is_some().then_some(AFTERMATH)
    }
}

impl ChatEvents {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), ..Self::default() }
    }

    /// Takes the data of one event.
    pub(super) fn data(&mut self, data: &str) -> Result<Vec<Chunk>, Broken> {
        let data = data.trim();
        // Some servers send a bare word as a sign of life.
        if !data.starts_with(['{', '[']) {
            return Ok(Vec::new());
        }
        let value = parse(data).map_err(|_| Broken::Garbled(data.to_owned()))?;
        self.value(&value)
    }

    /// Takes one chunk, or a whole response that was sent in one piece.
    pub(super) fn value(&mut self, value: &Value) -> Result<Vec<Chunk>, Broken> {
        if value.get("error").is_some_and(|error| !error.is_null()) || value.get("object") == Some(&json!("error")) {
            return Err(Broken::Error(value.clone()));
        }
        let mut out = Vec::new();
        if !self.started {
            self.started = true;
            let id = value.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            out.push(Chunk::Started(id.map(str::to_owned)));
        }
        let choices = value.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let first = choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        if let Some(choice) = first {
            if choice.get("error").is_some_and(|error| !error.is_null()) {
                return Err(Broken::Error(choice.clone()));
            }
            if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")).filter(|delta| delta.is_object())
            {
                self.delta(delta, &mut out);
            }
            if let Some(reason) =
                choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
            {
                self.finish = Some(reason.to_owned());
            }
        }
        self.count(value, &mut out);
        Ok(out)
    }

    /// The end of the stream. `marked` says that the server marked it with `[DONE]`.
    pub(super) fn end(&mut self, marked: bool) -> Result<Vec<Chunk>, Broken> {
        if self.finish.is_none() && !marked {
            return Err(Broken::Short);
        }
        let finish = self.finish.take().unwrap_or_default();
        if matches!(finish.as_str(), "error" | "insufficient_system_resource" | "network_error") {
            return Err(Broken::Error(
                json!({"error": {"message": format!("the server stopped with \"{finish}\""), "type": finish, "code": "server_error"}}),
            ));
        }
        let mut out = Vec::new();
        if !self.started {
            out.push(Chunk::Started(None));
        }
        self.think.finish(&mut out);
        let calls = self.calls.take();
        if !calls.is_empty() && !self.thinking.is_empty() {
            let mut kept = std::mem::take(&mut self.thinking);
            kept.insert("host".into(), json!(self.host));
            out.push(Chunk::Native(Native { wire: WIRE.to_owned(), json: Value::Object(kept).to_string() }));
        }
        let called = !calls.is_empty();
        out.extend(calls.into_iter().map(Chunk::Call));
        if self.usage.is_none() {
            out.extend(self.timings.map(Chunk::Usage));
        }
        out.push(Chunk::Stopped(match finish.as_str() {
            "length" | "max_tokens" | "model_length" => Stop::Length,
            "content_filter" | "sensitive" | "safety" => Stop::Filtered,
            _ if called => Stop::Calls,
            _ if self.refused => Stop::Filtered,
            "" | "stop" | "eos" | "end_turn" | "stop_sequence" | "tool_calls" | "function_call" => Stop::Done,
            other => Stop::Other(other.to_owned()),
        }));
        Ok(out)
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<Chunk>) {
        self.reasoning(delta, out);
        match delta.get("content") {
            Some(Value::String(text)) => self.think.push(text, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, out)),
            _ => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.refused = true;
            out.push(Chunk::Text(text.to_owned()));
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for call in calls {
            out.extend(self.calls.delta(call).map(Chunk::CallBegun));
        }
        // The form before there were tools.
        if let Some(function) = delta.get("function_call").filter(|call| call.is_object()) {
            out.extend(self.calls.delta(&json!({"index": 0, "function": function})).map(Chunk::CallBegun));
        }
    }

    /// A part of content that is a list, as Mistral sends it when it thinks.
    fn part(&mut self, part: &Value, out: &mut Vec<Chunk>) {
        match part.get("thinking") {
            Some(Value::Array(parts)) => parts.iter().for_each(|part| {
                if let Some(text) = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
                    out.push(Chunk::Thinking(text.to_owned()));
                }
            }),
            Some(Value::String(text)) if !text.is_empty() => out.push(Chunk::Thinking(text.clone())),
            _ => {
                if let Some(text) = part.get("text").and_then(Value::as_str) {
                    self.think.push(text, out);
                }
            }
        }
    }

    /// Thinking beside the content. A server that sends it under several names at once means it once.
    fn reasoning(&mut self, delta: &Value, out: &mut Vec<Chunk>) {
        let named = ["reasoning_content", "reasoning"].into_iter().find_map(|field| {
            let text = delta.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())?;
            Some((field, text))
        });
        if let Some((field, text)) = named {
            out.push(Chunk::Thinking(text.to_owned()));
            append(&mut self.thinking, field, text);
        }
        let Some(details) = delta.get("reasoning_details").and_then(Value::as_array) else { return };
        for detail in details {
            let text = ["text", "summary"].iter().find_map(|key| detail.get(key).and_then(Value::as_str));
            if named.is_none()
                && let Some(text) = text.filter(|text| !text.is_empty())
            {
                out.push(Chunk::Thinking(text.to_owned()));
            }
            self.keep_detail(detail);
        }
    }

    /// Puts a piece of a `reasoning_details` block to the block it belongs to.
    fn keep_detail(&mut self, detail: &Value) {
        let Value::Object(fields) = detail else { return };
        let kept = self.thinking.entry("reasoning_details").or_insert_with(|| json!([]));
        let Some(kept) = kept.as_array_mut() else { return };
        let same =
            |block: &&mut Value| block.get("type") == fields.get("type") && block.get("index") == fields.get("index");
        match kept.last_mut().filter(same).and_then(Value::as_object_mut) {
            Some(block) => {
                for (key, value) in fields {
                    match value {
                        Value::Null => {}
                        Value::String(text) if matches!(key.as_str(), "text" | "summary" | "data") => {
                            append(block, key, text)
                        }
                        _ => {
                            block.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            None => kept.push(detail.clone()),
        }
    }

    fn count(&mut self, value: &Value, out: &mut Vec<Chunk>) {
        let places = ["/usage", "/x_groq/usage", "/choices/0/usage"];
        let counted = places.iter().find_map(|place| value.pointer(place).and_then(usage));
        if counted.is_some() && counted != self.usage {
            self.usage = counted;
            out.extend(counted.map(Chunk::Usage));
        }
        let number = |key: &str| value.get("timings").and_then(|timings| timings.get(key)).and_then(Value::as_u64);
        if let (Some(prompt), Some(output)) = (number("prompt_n"), number("predicted_n")) {
            let cached = number("cache_n").unwrap_or(0);
            self.timings =
                Some(RequestUsage { input: prompt + cached, output, cache_read: cached, ..RequestUsage::default() });
        }
    }
}

/// Reads a usage object; nothing where it holds no counts.
fn usage(value: &Value) -> Option<RequestUsage> {
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let input = number("/prompt_tokens").or_else(|| number("/input_tokens"));
    let output = number("/completion_tokens").or_else(|| number("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = number("/prompt_tokens_details/cached_tokens").or_else(|| number("/prompt_cache_hit_tokens"));
    let written = number("/prompt_tokens_details/cache_write_tokens");
    Some(RequestUsage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: cached.unwrap_or(0),
        cache_creation: written.unwrap_or(0),
        cache_hour: 0,
    })
}

fn append(fields: &mut Map<String, Value>, key: &str, text: &str) {
    match fields.get_mut(key) {
        Some(Value::String(kept)) => kept.push_str(text),
        _ => {
            fields.insert(key.to_owned(), json!(text));
        }
    }
}

/// Takes `<think>…</think>` at the beginning of the content apart, as servers send it that leave it to us.
#[derive(Debug, Default)]
struct ThinkTags {
    place: ThoughtPlace,
    /// Text that may turn out to be a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThoughtPlace {
    #[default]
    Start,
    Inside,
    /// After the closing tag, before the first text.
    Gap,
    Outside,
}

impl ThinkTags {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";

    fn push(&mut self, text: &str, out: &mut Vec<Chunk>) {
        self.held.push_str(text);
        if self.place == ThoughtPlace::Start {
            let bare = self.held.trim_start();
            if let Some(rest) = bare.strip_prefix(Self::OPEN) {
                self.held = rest.trim_start_matches('\n').to_owned();
                self.place = ThoughtPlace::Inside;
            } else if !Self::OPEN.starts_with(bare) {
                self.place = ThoughtPlace::Outside;
            }
        }
        if self.place == ThoughtPlace::Inside {
            if let Some((thought, rest)) = self.held.split_once(Self::CLOSE) {
                say(out, Chunk::Thinking, thought.to_owned());
                self.held = rest.to_owned();
                self.place = ThoughtPlace::Gap;
            } else {
                let keep = overlap(&self.held, Self::CLOSE);
                let rest = self.held.split_off(self.held.len() - keep);
                say(out, Chunk::Thinking, std::mem::replace(&mut self.held, rest));
            }
        }
        if self.place == ThoughtPlace::Gap {
            self.held = self.held.trim_start().to_owned();
            if !self.held.is_empty() {
                self.place = ThoughtPlace::Outside;
            }
        }
        if self.place == ThoughtPlace::Outside {
            say(out, Chunk::Text, std::mem::take(&mut self.held));
        }
    }

    fn finish(&mut self, out: &mut Vec<Chunk>) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            ThoughtPlace::Inside => say(out, Chunk::Thinking, held),
            // White space alone, as many servers send it before a call, is no text.
            ThoughtPlace::Start if held.trim().is_empty() => {}
            _ => say(out, Chunk::Text, held),
        }
    }
}

fn say(out: &mut Vec<Chunk>, kind: fn(String) -> Chunk, text: String) {
    if !text.is_empty() {
        out.push(kind(text));
    }
}

/// Number of bytes at the end of `text` that are a beginning of `tag`.
fn overlap(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|&length| tag.get(..length).is_some_and(|start| text.ends_with(start))).unwrap_or(0)
}
