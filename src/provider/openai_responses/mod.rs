//! OpenAI's Responses, without anything kept at the server: every request carries the whole conversation.
//!
//! `wire` writes the request, `map` and `output` read the stream; this file joins them to `http`, and learns which optional fields
//! a model refuses. The shapes are those of the API reference "Responses" and its "Streaming events" at platform.openai.com, of the
//! guides "Reasoning models", "Images and vision", "PDF files" and "Function calling" (whose results are texts or lists of `input_text`,
//! `input_image` and `input_file`), and of what llama.cpp's server sends.

mod map;
mod output;
#[cfg(test)]
mod tests;
mod wire;

use super::azure::Place;
use super::figures::Figures;
use super::http::{Answer, Endpoint, Http};
use super::learning::{is_refusal, raise};
use super::levels;
use super::media::{Blind, Sight, learn_blind};
use super::openai_chat::{efforts, list};
use super::reading::{Reading, say, whole};
use super::told::Told;
use super::{Chunks, Item, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use map::Mapper;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "openai-responses";

/// A server that speaks Responses.
#[derive(Clone)]
pub struct OpenAiResponses {
    http: Http,
    place: Place,
    learned: Arc<Mutex<Learned>>,
    told: Told,
    /// The prompt is to stay in the cache for a day.
    kept_long: bool,
}

/// A field that a model may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extra {
    /// Summaries of its thinking.
    Summary,
    /// Thinking in a form that can be sent back.
    Encrypted,
    /// A name for the prompt's cache.
    CacheKey,
    /// Several calls at once.
    Parallel,
    /// Retention time of the prompt in the cache.
    Retention,
}

impl Extra {
    const ALL: [Extra; 5] = [Self::Encrypted, Self::Summary, Self::CacheKey, Self::Parallel, Self::Retention];

    /// Phrases of its refusal, in lower case.
    fn phrases(self) -> &'static [&'static str] {
        match self {
            Self::Encrypted => &["encrypted content is not supported", "reasoning.encrypted_content", "\"include\""],
            Self::Summary => &["reasoning.summary", "reasoning summaries", "'reasoning'"],
            Self::CacheKey => &["prompt_cache_key"],
            Self::Parallel => &["parallel_tool_calls"],
            Self::Retention => &["prompt_cache_retention"],
        }
    }
}

/// Options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Manner {
    /// Fields that are left out.
    without: BTreeSet<Extra>,
    /// The prompt is to stay in the cache for a day.
    kept_long: bool,
    /// Index of the word for the effort; one past the last for none.
    effort: usize,
    /// Responses whose thinking the server can no longer read.
    stale: BTreeSet<String>,
    /// Media that the model can see.
    sight: Sight,
    /// Results may hold pictures: at OpenAI and Azure.
    rich_results: bool,
}

/// Refusals of a server so far.
#[derive(Debug, Default)]
struct Learned {
    /// Refused extras, by model.
    without: BTreeMap<String, BTreeSet<Extra>>,
    /// Learned effort, by model and thinking level.
    effort: BTreeMap<(String, &'static str), usize>,
    stale: BTreeSet<String>,
    /// Media that models cannot see.
    blind: Blind,
}

impl OpenAiResponses {
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
    /// As [`OpenAiResponses::new`].
    pub fn at(endpoint: Endpoint, place: Place) -> Result<Self, ProviderError> {
        let (http, learned, told) = (Http::new(endpoint)?, Arc::default(), Told::default());
        Ok(Self { http, place, learned, told, kept_long: false })
    }

    /// Its settings.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    fn manner(&self, request: &ModelRequest) -> Manner {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let mut without = learned.without.get(&request.model).cloned().unwrap_or_default();
        let mut effort = learned.effort.get(&(request.model.clone(), request.thinking.word())).copied().unwrap_or(0);
        if !wire::may_think(&request.model) {
            without.extend([Extra::Encrypted, Extra::Summary]);
            effort = usize::MAX;
        }
        let known = || Sight::of(&self.told.known(self.endpoint(), &request.model), Sight::default());
        Manner {
            without,
            kept_long: self.kept_long,
            effort,
            stale: learned.stale.clone(),
            sight: learned.blind.get(&request.model).copied().unwrap_or_else(known),
            rich_results: self.place != Place::Elsewhere || self.endpoint().host() == "api.openai.com",
        }
    }

    /// True if a refused request can be sent in another form: by what its own refusal taught, or
    /// that of a concurrent request.
    fn changed(&self, request: &ModelRequest, manner: &Manner, error: &ProviderError) -> bool {
        self.learn(request, manner, error) && self.manner(request) != *manner
    }

    /// Remembers what a refused request can go without. What is known only grows, so that asking again comes to an end. False where the
    /// failure is none of how the request was put.
    fn learn(&self, request: &ModelRequest, manner: &Manner, error: &ProviderError) -> bool {
        if let Some(sight) = manner.sight.after(request, error) {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learn_blind(&mut learned.blind, &request.model, sight);
            return true;
        }
        if !is_refusal(error) {
            return false;
        }
        let said = error.detail.to_lowercase();
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if said.contains("invalid_encrypted_content") || said.contains("could not be verified") {
            let replies = request
                .items
                .iter()
                .filter_map(|item| if let Item::Assistant(reply) = item { Some(reply) } else { None });
            learned.stale.extend(replies.flat_map(|reply| reply.native.iter()).filter_map(wire::response_of));
            return true;
        }
        let about_effort = ["reasoning.effort", "reasoning_effort"].iter().any(|words| said.contains(words));
        if about_effort && manner.effort < efforts(request.thinking).len() {
            raise(&mut learned.effort, request, manner.effort + 1);
            return true;
        }
        let refused = |extra: &Extra| extra.phrases().iter().any(|phrase| said.contains(phrase));
        let extra = Extra::ALL.into_iter().find(|extra| !manner.without.contains(extra) && refused(extra));
        learned.without.entry(request.model.clone()).or_default().extend(extra);
        true
    }

    /// The body of a request, as it is put at first.
    #[cfg(test)]
    pub(super) fn body(&self, request: &ModelRequest) -> Value {
        wire::body(request, &self.manner(request), &self.endpoint().host(), None)
    }

    async fn open(self, request: ModelRequest) -> Result<Chunks, ProviderError> {
        let host = self.endpoint().host();
        loop {
            let manner = self.manner(&request);
            let body = wire::body(&request, &manner, &host, self.endpoint().extra_body.as_ref());
            match self.http.post("/responses", &body).await {
                Ok(Answer::Events(events)) => {
                    return Ok(Reading::chunks(&self.http, *events, Mapper::new(&host, &request.model)));
                }
                Ok(Answer::Json(value)) => return self.whole(&value, &host, &request.model),
                Err(error) if self.changed(&request, &manner, &error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A response in one piece, from a server that does not stream.
    fn whole(&self, value: &Value, host: &str, model: &str) -> Result<Chunks, ProviderError> {
        let peer = self.http.peer();
        let chunks = Mapper::new(host, model).whole(value).map_err(|broken| say(peer, broken))?;
        let Some(chunks) = chunks else { return Err(peer.no_api("application/json", &value.to_string())) };
        Ok(whole(chunks))
    }
}

impl Provider for OpenAiResponses {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn stream(&self, request: ModelRequest) -> Chunks {
        stream::once(self.clone().open(request)).try_flatten().boxed()
    }

    fn stream_kept_long(&self, request: ModelRequest) -> Chunks {
        Self { kept_long: true, ..self.clone() }.stream(request)
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
        if self.known(model).reasons == Some(false) || !wire::may_think(model) {
            return levels::never(level);
        }
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let place = learned.effort.get(&(model.to_owned(), level.word())).copied().unwrap_or(0);
        levels::by_words(efforts(level), place)
    }
}
