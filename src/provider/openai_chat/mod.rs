//! OpenAI's Chat Completions, and every server that speaks them: Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, Groq, Mistral,
//! DeepSeek and others.
//!
//! The shapes are those of OpenAI's reference "Chat Completions" and of its guides "Images and vision" and "PDF files" (parts of the kinds
//! `image_url` and `file`), and of the references of those servers.
//!
//! `wire` writes the request, `map` and `calls` read the stream; this file joins them to `http`, and learns which optional fields a
//! server refuses.

mod calls;
mod map;
mod models;
#[cfg(test)]
mod tests;
mod wire;

use models::names as model_names;
pub(super) use wire::efforts;

use super::azure::Place;
use super::figures::Figures;
use super::http::{Answer, Endpoint, Http};
use super::learning::{is_refusal, raise};
use super::levels;
use super::media::{Blind, Sight, learn_blind};
use super::reading::{Reading, say, whole};
use super::told::{Teller, Told, of_props};
use super::{Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use map::Mapper;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "openai-chat";

/// Header that tells OpenRouter the program's name.
const ATTRIBUTION: (&str, &str) = ("x-title", "lisle");

/// A server that speaks Chat Completions.
#[derive(Clone)]
pub struct OpenAiChat {
    http: Http,
    place: Place,
    learned: Arc<Mutex<Learned>>,
    told: Told,
}

/// Optional fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    /// Ask for usage.
    usage: bool,
    /// Index of the word for the effort; one past the last for none.
    effort: usize,
    /// Offer the tools; otherwise calls and results go as text.
    tools: bool,
    /// Each message with calls has thinking, an empty one where there is none.
    thought: bool,
    /// Media that the model can see.
    sight: Sight,
}

impl Default for Manner {
    fn default() -> Self {
        Self { usage: true, effort: 0, tools: true, thought: false, sight: Sight::default() }
    }
}

/// Refusals of a server so far.
#[derive(Debug, Default)]
struct Learned {
    no_usage: bool,
    /// Models that cannot use tools; the user was told.
    no_tools: BTreeSet<String>,
    /// Models that want the thinking of every call back.
    thought: BTreeSet<String>,
    /// Media that models cannot see.
    blind: Blind,
    /// Learned effort, by model and thinking level.
    effort: BTreeMap<(String, &'static str), usize>,
}

impl OpenAiChat {
    /// A provider for an endpoint. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ProviderError> {
        Self::at(endpoint, Place::Elsewhere)
    }

    /// The same for an endpoint that may be one of Azure's.
    ///
    /// # Errors
    /// As [`OpenAiChat::new`].
    pub fn at(mut endpoint: Endpoint, place: Place) -> Result<Self, ProviderError> {
        if endpoint.host() == "openrouter.ai" {
            let (name, value) = ATTRIBUTION;
            if !endpoint.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                endpoint.headers.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(Self { http: Http::new(endpoint)?, place, learned: Arc::default(), told: Told::default() })
    }

    /// Its settings.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    fn manner(&self, request: &ModelRequest) -> Manner {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let effort = learned.effort.get(&(request.model.clone(), request.thinking.word())).copied();
        // Few of the compatible servers take documents.
        let takes = Sight { pictures: true, documents: wire::takes_files(&self.endpoint().host(), self.place) };
        let known = || Sight::of(&self.told.known(self.endpoint(), &request.model), takes);
        Manner {
            sight: learned.blind.get(&request.model).copied().unwrap_or_else(known),
            usage: !learned.no_usage,
            effort: effort.unwrap_or(0),
            tools: !learned.no_tools.contains(&request.model),
            thought: learned.thought.contains(&request.model),
        }
    }

    /// True if a refused request can be sent in another form: by what its own refusal taught, or
    /// that of a concurrent request.
    fn changed(&self, request: &ModelRequest, manner: Manner, error: &ProviderError) -> bool {
        let taught = self.learn(request, manner, error) || error.code == "model_no_tool_support";
        taught && self.manner(request) != manner
    }

    /// Remembers what a refused request can go without. What is known only grows, so that asking again comes to an end. False where the
    /// failure is none of how the request was put.
    fn learn(&self, request: &ModelRequest, manner: Manner, error: &ProviderError) -> bool {
        if let Some(sight) = manner.sight.after(request, error) {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learn_blind(&mut learned.blind, &request.model, sight);
            return true;
        }
        if !is_refusal(error) {
            return false;
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if manner.usage && (error.detail.contains("stream_options") || error.detail.contains("include_usage")) {
            learned.no_usage = true;
            return true;
        }
        if !manner.thought && error.detail.contains("reasoning_content") && error.detail.contains("passed back") {
            learned.thought.insert(request.model.clone());
            return true;
        }
        let words = wire::efforts(request.thinking);
        let about_effort = ["reasoning_effort", "reasoning.effort", "does not support thinking"];
        if manner.effort < words.len() && about_effort.iter().any(|words| error.detail.contains(words)) {
            raise(&mut learned.effort, request, manner.effort + 1);
        }
        true
    }

    /// The body of a request, as it is put at first.
    #[cfg(test)]
    pub(super) fn body(&self, request: &ModelRequest) -> Value {
        wire::body(request, self.manner(request), &self.endpoint().host(), None)
    }

    async fn open(self, request: ModelRequest) -> Result<Chunks, ProviderError> {
        let host = self.endpoint().host();
        loop {
            let manner = self.manner(&request);
            let body = wire::body(&request, manner, &host, self.endpoint().extra_body.as_ref());
            match self.http.post(&self.place.chat_path(&request.model), &body).await {
                Ok(Answer::Events(events)) => return Ok(Reading::chunks(&self.http, *events, Mapper::new(&host))),
                Ok(Answer::Json(value)) => return self.whole(&value, &host),
                Err(error) if self.changed(&request, manner, &error) => {}
                Err(error) => return Err(self.without_tools(&request, manner, error)),
            }
        }
    }

    /// Tells once that a model cannot use tools, and remembers it: the next request goes without.
    fn without_tools(&self, request: &ModelRequest, manner: Manner, mut error: ProviderError) -> ProviderError {
        if error.code == "model_no_tool_support" && manner.tools && !request.tools.is_empty() {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learned.no_tools.insert(request.model.clone());
            error.text.push_str(" If you try again it is asked without tools.");
        }
        error
    }

    /// A response in one piece, from a server that does not stream.
    fn whole(&self, value: &Value, host: &str) -> Result<Chunks, ProviderError> {
        let peer = self.http.peer();
        let mut mapper = Mapper::new(host);
        let mut chunks = mapper.value(value).map_err(|broken| say(peer, broken))?;
        if value.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Err(peer.no_api("application/json", &value.to_string()));
        }
        chunks.extend(mapper.end(true).map_err(|broken| say(peer, broken))?);
        Ok(whole(chunks))
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
        let (http, place, told) = (self.http.clone(), self.place, self.told.clone());
        async move {
            if place != Place::Elsewhere {
                // Azure lists what could be deployed, not what is.
                return Ok(http.endpoint().models.clone());
            }
            list(&http, &told).await
        }
        .boxed()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        let known = self.told.known(self.endpoint(), model);
        (known.window, known.price(usage))
    }

    fn known(&self, model: &str) -> Figures {
        self.told.known(self.endpoint(), model)
    }

    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        if self.known(model).reasons == Some(false) {
            return levels::never(level);
        }
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let place = learned.effort.get(&(model.to_owned(), level.word())).copied().unwrap_or(0);
        levels::by_words(efforts(level), place)
    }
}

/// The names of a server's models; what else it tells of them is remembered.
pub(super) async fn list(http: &Http, told: &Told) -> Result<Vec<String>, ProviderError> {
    let value = http.fetch("/models").await?;
    let names = model_names(&value).ok_or_else(|| http.peer().no_api("application/json", &value.to_string()))?;
    if let Some(teller) = Teller::of(&value)
        && let Ok(more) = http.fetch(teller.path()).await
    {
        match teller {
            Teller::LlamaCpp => names.iter().for_each(|name| told.learn_of(name, of_props(&more))),
            Teller::Ollama | Teller::LmStudio => told.learn(&more),
        }
    }
    // What is loaded was told first: what is possible does not take its place.
    told.learn_behind(&value);
    Ok(names)
}
