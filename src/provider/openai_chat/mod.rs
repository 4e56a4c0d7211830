//! OpenAI's Chat Completions, and every server that speaks them: Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, Groq, Mistral,
//! DeepSeek and others.
//!
//! `wire` writes the request, `map` and `calls` read the stream; this file joins them to `http`, and learns which optional fields a
//! server refuses.

mod calls;
mod map;
#[cfg(test)]
mod tests;
mod wire;

use super::http::{Answer, Endpoint, Events, Http};
use super::{Chunk, Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use map::{Broken, Mapper};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "openai-chat";

/// How long usage and the end mark may take after the model has stopped. A server that sends neither costs no more.
const AFTERMATH: Duration = Duration::from_secs(3);

/// A server that speaks Chat Completions.
#[derive(Clone)]
pub struct OpenAiChat {
    http: Http,
    learned: Arc<Mutex<Learned>>,
}

/// Which optional fields go into a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    /// Ask for usage.
    usage: bool,
    /// Which word for the effort; one past the last for none.
    effort: usize,
}

/// What a server refused so far.
#[derive(Debug, Default)]
struct Learned {
    no_usage: bool,
    /// By model and thinking level.
    effort: BTreeMap<(String, &'static str), usize>,
}

impl OpenAiChat {
    /// A provider for an endpoint. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ProviderError> {
        Ok(Self { http: Http::new(endpoint)?, learned: Arc::default() })
    }

    /// Its settings.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    fn manner(&self, request: &ModelRequest) -> Manner {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let effort = learned.effort.get(&(request.model.clone(), request.thinking.word())).copied();
        Manner { usage: !learned.no_usage, effort: effort.unwrap_or(0) }
    }

    /// Remembers what a refused request can go without. False when there is nothing.
    fn learn(&self, request: &ModelRequest, manner: Manner, error: &ProviderError) -> bool {
        if error.retry || !matches!(error.code, "invalid_request" | "provider_error" | "unknown_error") {
            return false;
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if manner.usage && (error.detail.contains("stream_options") || error.detail.contains("include_usage")) {
            learned.no_usage = true;
            return true;
        }
        let words = wire::efforts(request.thinking);
        let about_effort = ["reasoning_effort", "reasoning.effort", "does not support thinking"];
        if manner.effort < words.len() && about_effort.iter().any(|words| error.detail.contains(words)) {
            learned.effort.insert((request.model.clone(), request.thinking.word()), manner.effort + 1);
            return true;
        }
        false
    }

    async fn open(self, request: ModelRequest) -> Result<Chunks, ProviderError> {
        let host = self.endpoint().host();
        loop {
            let manner = self.manner(&request);
            let body = wire::body(&request, manner, &host, self.endpoint().extra_body.as_ref());
            match self.http.post("/chat/completions", &body).await {
                Ok(Answer::Events(events)) => return Ok(Reading::new(self.http.clone(), *events, &host).chunks()),
                Ok(Answer::Json(value)) => return self.whole(&value, &host),
                // Each round takes one field out, so this ends.
                Err(error) if self.learn(&request, manner, &error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A response in one piece, from a server that does not stream.
    fn whole(&self, value: &Value, host: &str) -> Result<Chunks, ProviderError> {
        let peer = self.http.peer();
        let mut mapper = Mapper::new(host);
        let mut chunks = mapper.value(value).map_err(|broken| say(&self.http, broken))?;
        if value.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Err(peer.no_api("application/json", &value.to_string()));
        }
        chunks.extend(mapper.end(true).map_err(|broken| say(&self.http, broken))?);
        Ok(stream::iter(chunks.into_iter().map(Ok)).boxed())
    }
}

impl Provider for OpenAiChat {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn stream(&self, request: ModelRequest) -> Chunks {
        stream::once(self.clone().open(request)).try_flatten().boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let http = self.http.clone();
        async move {
            let value = http.fetch("/models").await?;
            model_names(&value).ok_or_else(|| http.peer().no_api("application/json", &value.to_string()))
        }
        .boxed()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        self.endpoint().figures(model, usage)
    }
}

/// The names in a list of models, sorted; `None` for something else.
fn model_names(value: &Value) -> Option<Vec<String>> {
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(value).as_array()?;
    let name = |model: &Value| -> Option<String> {
        let name = ["id", "name", "model"].iter().find_map(|key| model.get(key).and_then(Value::as_str));
        name.or_else(|| model.as_str()).map(str::to_owned)
    };
    let mut names: Vec<String> = list.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn say(http: &Http, broken: Broken) -> ProviderError {
    match broken {
        Broken::Error(value) => http.peer().in_stream(&value),
        Broken::Garbled(data) => http.peer().garbled("a part of its answer that is no JSON", &data),
        Broken::Short => http.peer().broke_off(""),
    }
}

/// A response that is being read.
struct Reading {
    http: Http,
    events: Events,
    mapper: Mapper,
    ready: VecDeque<Chunk>,
    ended: bool,
}

impl Reading {
    fn new(http: Http, events: Events, host: &str) -> Self {
        Self { http, events, mapper: Mapper::new(host), ready: VecDeque::new(), ended: false }
    }

    fn chunks(self) -> Chunks {
        stream::unfold(self, |mut me| async move {
            let chunk = me.next().await.transpose()?;
            Some((chunk, me))
        })
        .boxed()
    }

    async fn next(&mut self) -> Result<Option<Chunk>, ProviderError> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            if self.ended {
                return Ok(None);
            }
            let result = self.step().await;
            // Nothing follows an error.
            self.ended |= result.is_err();
            self.ready.extend(result?);
        }
    }

    /// Reads one event.
    async fn step(&mut self) -> Result<Vec<Chunk>, ProviderError> {
        let stall = self.events.patience();
        let patience = if self.mapper.finished() { stall.min(AFTERMATH) } else { stall };
        let event = match self.events.next(patience).await {
            Ok(event) => event,
            // The model had stopped: only the formalities are missing.
            Err(_) if self.mapper.finished() => None,
            Err(error) => return Err(error),
        };
        let chunks = match event {
            Some(event) if event.data.trim() == "[DONE]" => self.end(true),
            Some(event) if event.name == "error" => {
                let words = Value::String(event.data);
                let value = words.as_str().and_then(|data| serde_json::from_str(data).ok()).unwrap_or(words);
                Err(Broken::Error(value))
            }
            Some(event) => match self.mapper.data(&event.data) {
                // The connection ended inside of this event.
                Err(Broken::Garbled(_)) if self.events.ended() => self.end(false),
                chunks => chunks,
            },
            None => self.end(false),
        };
        chunks.map_err(|broken| say(&self.http, broken))
    }

    fn end(&mut self, marked: bool) -> Result<Vec<Chunk>, Broken> {
        self.ended = true;
        self.mapper.end(marked)
    }
}
