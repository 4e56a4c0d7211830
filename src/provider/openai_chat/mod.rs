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

use super::azure::DeploymentNaming;
use super::client::{Client, Outgoing, Wire, WireRequest};
use super::figures::ModelFacts;
use super::http::{Endpoint, Http};
use super::learning::{is_refusal, raise};
use super::levels;
use super::media::{Blind, Sight, learn_blind};
use super::model_catalogue::{CatalogueSource, ModelCatalogue, of_props};
use super::{ModelRequest, ProviderError};
use crate::domain::session::ThinkingLevel;
use map::ChatEvents;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "openai-chat";

/// Header that tells OpenRouter the program's name.
const ATTRIBUTION: (&str, &str) = ("x-title", "lisle");

/// A server that speaks Chat Completions.
pub type OpenAiChat = Client<ChatCompletions>;

/// OpenAI's Chat Completions.
pub struct ChatCompletions {
    place: DeploymentNaming,
    learned: Mutex<ChatLearned>,
}

/// Optional fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatOptions {
    /// Request for usage.
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

impl Default for ChatOptions {
    fn default() -> Self {
        Self { usage: true, effort: 0, tools: true, thought: false, sight: Sight::default() }
    }
}

/// Refusals of a server so far.
#[derive(Debug, Default)]
struct ChatLearned {
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

impl Client<ChatCompletions> {
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
    /// As [`OpenAiChat::new`].
    pub fn at(mut endpoint: Endpoint, place: DeploymentNaming) -> Result<Self, ProviderError> {
        if endpoint.host() == "openrouter.ai" {
            let (name, value) = ATTRIBUTION;
            if !endpoint.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                endpoint.headers.push((name.to_owned(), value.to_owned()));
            }
        }
        Self::with(ChatCompletions { place, learned: Mutex::default() }, endpoint)
    }
}

impl ChatCompletions {
    /// Remembers what a refused request can go without. What is known only grows, so that asking again comes to an end. False where the
    /// failure is none of how the request was put.
    fn learn(&self, request: &ModelRequest, options: &ChatOptions, error: &ProviderError) -> bool {
        if let Some(sight) = options.sight.after(request, error) {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learn_blind(&mut learned.blind, &request.model, sight);
            return true;
        }
        if !is_refusal(error) {
            return false;
        }
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if options.usage && (error.detail.contains("stream_options") || error.detail.contains("include_usage")) {
            learned.no_usage = true;
            return true;
        }
        if !options.thought && error.detail.contains("reasoning_content") && error.detail.contains("passed back") {
            learned.thought.insert(request.model.clone());
            return true;
        }
        let words = wire::efforts(request.thinking);
        let about_effort = ["reasoning_effort", "reasoning.effort", "does not support thinking"];
        if options.effort < words.len() && about_effort.iter().any(|words| error.detail.contains(words)) {
            raise(&mut learned.effort, request, options.effort + 1);
        }
        true
    }
}

impl Wire for ChatCompletions {
    const NAME: &'static str = WIRE;
    const CHANGES: usize = 16;
    type Options = ChatOptions;
    type Events = ChatEvents;

    fn options(&self, ask: &WireRequest<'_>) -> ChatOptions {
        let request = ask.request;
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let effort = learned.effort.get(&(request.model.clone(), request.thinking.word())).copied();
        // Few of the compatible servers take documents.
        let takes = Sight { pictures: true, documents: wire::takes_files(&ask.endpoint.host(), self.place) };
        let known = || Sight::of(&ask.known, takes);
        ChatOptions {
            sight: learned.blind.get(&request.model).copied().unwrap_or_else(known),
            usage: !learned.no_usage,
            effort: effort.unwrap_or(0),
            tools: !learned.no_tools.contains(&request.model),
            thought: learned.thought.contains(&request.model),
        }
    }

    fn outgoing(&self, ask: &WireRequest<'_>, options: &ChatOptions) -> Outgoing {
        let extra = ask.endpoint.extra_body.as_ref();
        Outgoing {
            path: self.place.chat_path(&ask.request.model),
            headers: Vec::new(),
            body: wire::body(ask.request, *options, &ask.endpoint.host(), extra),
        }
    }

    fn events(&self, ask: &WireRequest<'_>) -> ChatEvents {
        ChatEvents::new(&ask.endpoint.host())
    }

    fn after_refusal(
        &self,
        ask: &WireRequest<'_>,
        options: &ChatOptions,
        error: &ProviderError,
    ) -> Option<ChatOptions> {
        let taught = self.learn(ask.request, options, error) || error.code == "model_no_tool_support";
        taught.then(|| self.options(ask))
    }

    /// Tells once that a model cannot use tools, and remembers it: the next request goes without.
    fn failure(&self, ask: &WireRequest<'_>, options: &ChatOptions, mut error: ProviderError) -> ProviderError {
        if error.code == "model_no_tool_support" && options.tools && !ask.request.tools.is_empty() {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learned.no_tools.insert(ask.request.model.clone());
            error.text.push_str(" Retry sends it without tools.");
        }
        error
    }

    async fn list(&self, http: &Http, catalogue: &ModelCatalogue) -> Result<Vec<String>, ProviderError> {
        list(http, catalogue, self.place).await
    }

    fn level(&self, known: &ModelFacts, model: &str, level: ThinkingLevel) -> Result<String, String> {
        if known.reasons == Some(false) {
            return levels::never(level);
        }
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let place = learned.effort.get(&(model.to_owned(), level.word())).copied().unwrap_or(0);
        levels::by_words(efforts(level), place)
    }
}

/// The names of a server's models; what else it tells of them is remembered.
pub(super) async fn list(
    http: &Http,
    catalogue: &ModelCatalogue,
    place: DeploymentNaming,
) -> Result<Vec<String>, ProviderError> {
    if place != DeploymentNaming::Elsewhere {
        // Azure lists what could be deployed, not what is.
        return Ok(http.endpoint().models.clone());
    }
    let value = http.fetch("/models").await?;
    let names = model_names(&value).ok_or_else(|| http.peer().no_api("application/json", &value.to_string()))?;
    if let Some(teller) = CatalogueSource::of(&value)
        && let Ok(more) = http.fetch(teller.path()).await
    {
        match teller {
            CatalogueSource::LlamaCpp => names.iter().for_each(|name| catalogue.learn_of(name, of_props(&more))),
            CatalogueSource::Ollama | CatalogueSource::LmStudio => catalogue.learn(&more),
        }
    }
    // What is loaded was told first: what is possible does not take its place.
    catalogue.learn_behind(&value);
    Ok(names)
}
