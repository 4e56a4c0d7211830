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

use super::azure::DeploymentNaming;
use super::client::{Client, Outgoing, Wire, WireRequest};
use super::figures::ModelFacts;
use super::http::{Endpoint, Http};
use super::learning::{is_refusal, raise};
use super::levels;
use super::media::{Blind, Sight, learn_blind};
use super::model_catalogue::ModelCatalogue;
use super::openai_chat::{efforts, list};
use super::{ConversationItem, ModelRequest, ProviderError};
use crate::domain::session::ThinkingLevel;
use map::ResponsesEvents;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "openai-responses";

/// A server that speaks Responses.
pub type OpenAiResponses = Client<Responses>;

/// OpenAI's Responses.
pub struct Responses {
    place: DeploymentNaming,
    learned: Mutex<ResponsesLearned>,
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
pub struct ResponsesOptions {
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
struct ResponsesLearned {
    /// Refused extras, by model.
    without: BTreeMap<String, BTreeSet<Extra>>,
    /// Learned effort, by model and thinking level.
    effort: BTreeMap<(String, &'static str), usize>,
    stale: BTreeSet<String>,
    /// Media that models cannot see.
    blind: Blind,
}

impl Client<Responses> {
    /// A provider for an endpoint. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ProviderError> {
        Self::at(endpoint, DeploymentNaming::Elsewhere)
    }

    /// The same for an endpoint that may be one of Azure's.
    ///
    /// # Errors
    /// As [`OpenAiResponses::new`].
    pub fn at(endpoint: Endpoint, place: DeploymentNaming) -> Result<Self, ProviderError> {
        Self::with(Responses { place, learned: Mutex::default() }, endpoint)
    }
}

impl Responses {
    /// Remembers what a refused request can go without. What is known only grows, so that asking again comes to an end. False where the
    /// failure is none of how the request was put.
    fn learn(&self, request: &ModelRequest, options: &ResponsesOptions, error: &ProviderError) -> bool {
        if let Some(sight) = options.sight.after(request, error) {
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
                .filter_map(|item| if let ConversationItem::Assistant(reply) = item { Some(reply) } else { None });
            learned.stale.extend(replies.flat_map(|reply| reply.native.iter()).filter_map(wire::response_of));
            return true;
        }
        let about_effort = ["reasoning.effort", "reasoning_effort"].iter().any(|words| said.contains(words));
        if about_effort && options.effort < efforts(request.thinking).len() {
            raise(&mut learned.effort, request, options.effort + 1);
            return true;
        }
        let refused = |extra: &Extra| extra.phrases().iter().any(|phrase| said.contains(phrase));
        let extra = Extra::ALL.into_iter().find(|extra| !options.without.contains(extra) && refused(extra));
        learned.without.entry(request.model.clone()).or_default().extend(extra);
        true
    }
}

impl Wire for Responses {
    const NAME: &'static str = WIRE;
    const CHANGES: usize = 16;
    type Options = ResponsesOptions;
    type Events = ResponsesEvents;

    fn options(&self, ask: &WireRequest<'_>) -> ResponsesOptions {
        let request = ask.request;
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let mut without = learned.without.get(&request.model).cloned().unwrap_or_default();
        let mut effort = learned.effort.get(&(request.model.clone(), request.thinking.word())).copied().unwrap_or(0);
        if !wire::may_think(&request.model) {
            without.extend([Extra::Encrypted, Extra::Summary]);
            effort = usize::MAX;
        }
        let known = || Sight::of(&ask.known, Sight::default());
        ResponsesOptions {
            without,
            kept_long: ask.kept_long,
            effort,
            stale: learned.stale.clone(),
            sight: learned.blind.get(&request.model).copied().unwrap_or_else(known),
            rich_results: self.place != DeploymentNaming::Elsewhere || ask.endpoint.host() == "api.openai.com",
        }
    }

    fn outgoing(&self, ask: &WireRequest<'_>, options: &ResponsesOptions) -> Outgoing {
        let extra = ask.endpoint.extra_body.as_ref();
        Outgoing {
            path: "/responses".to_owned(),
            headers: Vec::new(),
            body: wire::body(ask.request, options, &ask.endpoint.host(), extra),
        }
    }

    fn events(&self, ask: &WireRequest<'_>) -> ResponsesEvents {
        ResponsesEvents::new(&ask.endpoint.host(), &ask.request.model)
    }

    fn after_refusal(
        &self,
        ask: &WireRequest<'_>,
        options: &ResponsesOptions,
        error: &ProviderError,
    ) -> Option<ResponsesOptions> {
        self.learn(ask.request, options, error).then(|| self.options(ask))
    }

    async fn list(&self, http: &Http, catalogue: &ModelCatalogue) -> Result<Vec<String>, ProviderError> {
        list(http, catalogue, self.place).await
    }

    fn level(&self, known: &ModelFacts, model: &str, level: ThinkingLevel) -> Result<String, String> {
        if known.reasons == Some(false) || !wire::may_think(model) {
            return levels::never(level);
        }
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let place = learned.effort.get(&(model.to_owned(), level.word())).copied().unwrap_or(0);
        levels::by_words(efforts(level), place)
    }
}
