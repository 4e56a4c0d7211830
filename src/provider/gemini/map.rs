//! From the parts of a Gemini stream to our [`Chunk`]s. Pure: text of an event in, chunks out.

use super::WIRE;
use crate::domain::ids::CallId;
use crate::domain::message::Native;
use crate::domain::usage::RequestUsage;
use crate::provider::arguments::{input, made_up_id};
use crate::provider::json::parse;
use crate::provider::response_stream::{Broken, Mapping};
use crate::provider::sse::Event;
use crate::provider::{Chunk, ProposedCall, Stop};
use serde_json::{Value, json};
use std::time::Duration;

/// Reads one response.
#[derive(Debug, Default)]
pub struct GeminiEvents {
    host: String,
    model: String,
    id: String,
    started: bool,
    /// The parts as they came, to be given back.
    parts: Vec<Value>,
    /// Some parts cannot be expressed in our own fields.
    special: bool,
    calls: Vec<ProposedCall>,
    usage: Option<RequestUsage>,
    finish: Option<String>,
    why: String,
    over: bool,
}

impl Mapping for GeminiEvents {
    fn event(&mut self, event: &Event) -> Result<Vec<Chunk>, Broken> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.over = true;
            return Mapping::end(self);
        }
        if event.name == "error" {
            return Err(Broken::of(event));
        }
        if !data.starts_with(['{', '[']) {
            return Ok(Vec::new());
        }
        let value = parse(data).map_err(|_| Broken::Garbled(data.to_owned()))?;
        self.value(&value)
    }

    fn end(&mut self) -> Result<Vec<Chunk>, Broken> {
        let finish = self.finish.take().ok_or(Broken::Short)?;
        self.finish(&finish)
    }

    fn whole(&mut self, value: &Value) -> Result<Option<Vec<Chunk>>, Broken> {
        let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let is_one =
            |value: &Value| ["candidates", "promptFeedback", "error"].iter().any(|key| value.get(key).is_some());
        if !list.iter().any(is_one) {
            return Ok(None);
        }
        let mut out = Vec::new();
        for value in list {
            out.extend(self.value(value)?);
        }
        out.extend(self.end()?);
        Ok(Some(out))
    }
    fn over(&self) -> bool {
        self.over
    }

    /// Old models give the reason in every event, so more may follow: the end of the connection is waited for as long as for any event.
    fn formalities(&self) -> Option<Duration> {
        self.finish.is_some().then_some(Duration::MAX)
    }
}

impl GeminiEvents {
    pub(super) fn new(host: &str, model: &str) -> Self {
        Self { host: host.to_owned(), model: model.to_owned(), ..Self::default() }
    }

    fn value(&mut self, value: &Value) -> Result<Vec<Chunk>, Broken> {
        if let Some(list) = value.as_array() {
            let mut out = Vec::new();
            for value in list {
                out.extend(self.value(value)?);
            }
            return Ok(out);
        }
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Broken::Error(value.clone()));
        }
        let mut out = Vec::new();
        self.start(value, &mut out);
        let candidate = value.pointer("/candidates/0").unwrap_or(&Value::Null);
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for part in parts {
            self.part(part, &mut out);
        }
        let word = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        // A prompt that was refused has no candidates.
        if let Some(reason) = word(value, "/promptFeedback/blockReason") {
            self.finish = Some(if reason == "OTHER" { "PROHIBITED_CONTENT".to_owned() } else { reason });
        }
        if let Some(reason) = word(candidate, "/finishReason").filter(|reason| reason != "FINISH_REASON_UNSPECIFIED") {
            self.finish = Some(reason);
            self.why = word(candidate, "/finishMessage").unwrap_or_default();
        }
        let counted = value.get("usageMetadata").and_then(usage);
        if counted.is_some() && counted != self.usage {
            self.usage = counted;
            out.extend(counted.map(Chunk::Usage));
        }
        Ok(out)
    }

    fn start(&mut self, value: &Value, out: &mut Vec<Chunk>) {
        if !std::mem::replace(&mut self.started, true) {
            self.id = value.get("responseId").and_then(Value::as_str).unwrap_or("").to_owned();
            out.push(Chunk::Started(Some(self.id.clone()).filter(|id| !id.is_empty())));
        }
    }

    fn part(&mut self, part: &Value, out: &mut Vec<Chunk>) {
        self.special |= part.get("thoughtSignature").is_some();
        if let Some(call) = part.get("functionCall") {
            let name = call.get("name").and_then(Value::as_str).unwrap_or("").to_owned();
            if name.is_empty() {
                return;
            }
            let own = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            self.special |= own.is_some();
            let input = match call.get("args") {
                Some(Value::String(text)) => input(text),
                Some(args) if args.is_object() => args.clone(),
                None | Some(Value::Null) => json!({}),
                Some(other) => json!({"_raw": other.to_string()}),
            };
            let id = CallId::new(self.call_id(own));
            out.push(Chunk::CallBegun(name.clone()));
            self.calls.push(ProposedCall { id, name, input });
        } else if let Some(text) = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            let kind = if is_thought(part) { Chunk::Thinking } else { Chunk::Text };
            out.push(kind(text.to_owned()));
        }
        self.keep(part);
    }

    /// The server's own id of a call, or one that the same response always leads to.
    fn call_id(&self, own: Option<&str>) -> String {
        let taken = |id: &str| self.calls.iter().any(|call| call.id.as_str() == id);
        if let Some(id) = own.filter(|id| !taken(id)) {
            return id.to_owned();
        }
        if self.id.is_empty() { made_up_id() } else { format!("{}-{}", self.id, self.calls.len()) }
    }

    /// Keeps a part as it is. Pieces of one text are joined; thoughts without a signature are not wanted back.
    fn keep(&mut self, part: &Value) {
        let plain =
            |part: &Value| part.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key("text"));
        if is_thought(part) && part.get("thoughtSignature").is_none() {
            return;
        }
        if plain(part)
            && let Some(last) = self.parts.last_mut().filter(|last| plain(last))
            && let (Some(before), Some(more)) = (text_of(last), text_of(part))
        {
            let joined = format!("{before}{more}");
            *last = json!({"text": joined});
            return;
        }
        self.parts.push(part.clone());
    }

    fn finish(&mut self, reason: &str) -> Result<Vec<Chunk>, Broken> {
        let calls = std::mem::take(&mut self.calls);
        let called = !calls.is_empty();
        let stop = match reason {
            "STOP" if called => Stop::Calls,
            "STOP" => Stop::Done,
            "MAX_TOKENS" => Stop::Length,
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY"
            | "MODEL_ARMOR" => Stop::Filtered,
            // The model wrote something that is no call; another try may go well.
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE" => {
                let why = if self.why.is_empty() { String::new() } else { format!(": {}", self.why) };
                let message = format!("the model stopped with \"{reason}\"{why}");
                return Err(Broken::Error(json!({"error": {"message": message, "status": "INTERNAL"}})));
            }
            _ if called => Stop::Calls,
            other => Stop::Other(other.to_owned()),
        };
        let mut out = Vec::new();
        if self.special && !self.parts.is_empty() {
            let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            let kept =
                json!({"host": self.host, "model": self.model, "id": self.id, "calls": ids, "parts": self.parts});
            out.push(Chunk::Native(Native { wire: WIRE.to_owned(), json: kept.to_string() }));
        }
        out.extend(calls.into_iter().map(Chunk::Call));
        out.push(Chunk::Stopped(stop));
        Ok(out)
    }
}

fn text_of(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}

/// The part is a thought.
pub(super) fn is_thought(part: &Value) -> bool {
    part.get("thought").and_then(Value::as_bool).unwrap_or(false)
}

/// Reads usage; nothing where it holds no counts.
fn usage(value: &Value) -> Option<RequestUsage> {
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    let prompt = number("promptTokenCount")?;
    Some(RequestUsage {
        input: prompt + number("toolUsePromptTokenCount").unwrap_or(0),
        output: number("candidatesTokenCount").unwrap_or(0) + number("thoughtsTokenCount").unwrap_or(0),
        cache_read: number("cachedContentTokenCount").unwrap_or(0),
        cache_creation: 0,
        cache_hour: 0,
    })
}
