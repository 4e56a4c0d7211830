//! Google's Gemini: `streamGenerateContent`.
//!
//! `wire` and `schema` write the request, `map` reads the stream; this file joins them to `http`, and learns what a model refuses.
//! The key goes into a header and never into an address. The shapes are those of the API reference "Generating content" and of the
//! guides "Function calling" (with "Multimodal function responses"), "Gemini thinking", "Thought signatures", "Image understanding" and
//! "Document understanding" at ai.google.dev.

mod map;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

use super::client::{Client, Outgoing, Wire, WireRequest};
use super::figures::ModelFacts;
use super::http::{Endpoint, Http, KeyIn};
use super::learning::raise;
use super::levels;
use super::media::{Blind, Sight, learn_blind};
use super::model_catalogue::ModelCatalogue;
use super::{ConversationItem, ModelRequest, ProviderError};
use crate::domain::session::ThinkingLevel;
use map::GeminiEvents;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "gemini";

/// The version of the interface where the address names none.
const VERSION: &str = "/v1beta";
/// The most pages of models that are asked for.
const PAGES: usize = 20;

/// A server that speaks Gemini.
pub type Gemini = Client<GenerateContent>;

/// Gemini's `streamGenerateContent`.
#[derive(Default)]
pub struct GenerateContent {
    learned: Mutex<GeminiLearned>,
}

/// Options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeminiOptions {
    /// Index of the form of the request for thinking; one past the last for its text alone, two
    /// past it for nothing.
    thinking: usize,
    /// Responses whose signatures the server refuses.
    stale: BTreeSet<String>,
    /// Media that the model can see.
    sight: Sight,
}

/// Refusals of a server so far.
#[derive(Debug, Default)]
struct GeminiLearned {
    /// Learned form of thinking, by model and thinking level.
    thinking: BTreeMap<(String, &'static str), usize>,
    stale: BTreeSet<String>,
    /// Media that models cannot see.
    blind: Blind,
}

impl Client<GenerateContent> {
    /// A provider for an endpoint. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub fn new(mut endpoint: Endpoint) -> Result<Self, ProviderError> {
        endpoint.key_in = KeyIn::Header("x-goog-api-key");
        Self::with(GenerateContent::default(), endpoint)
    }
}

impl GenerateContent {
    /// Remembers what a refused request can go without. What is known only grows, so that asking again comes to an end. False where the
    /// failure is none of how the request was put.
    fn learn(&self, request: &ModelRequest, options: &GeminiOptions, error: &ProviderError) -> bool {
        if let Some(sight) = options.sight.after(request, error) {
            let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
            learn_blind(&mut learned.blind, &request.model, sight);
            return true;
        }
        if error.retry || error.code != "invalid_request" {
            return false;
        }
        let said = error.detail.to_lowercase();
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if said.contains("thought_signature") || said.contains("thought signature") || said.contains("thoughtsignature")
        {
            let replies = request
                .items
                .iter()
                .filter_map(|item| if let ConversationItem::Assistant(reply) = item { Some(reply) } else { None });
            learned.stale.extend(replies.flat_map(|reply| reply.native.iter()).filter_map(wire::response_of));
            return true;
        }
        let ways = wire::thoughts(&request.model, request.thinking).map_or(0, |ways| ways.len() + 1);
        if said.contains("thinking") && options.thinking < ways {
            raise(&mut learned.thinking, request, options.thinking + 1);
        }
        true
    }
}

impl Wire for GenerateContent {
    const NAME: &'static str = WIRE;
    const CHANGES: usize = 16;
    type Options = GeminiOptions;
    type Events = GeminiEvents;

    fn options(&self, ask: &WireRequest<'_>) -> GeminiOptions {
        let request = ask.request;
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let thinking = learned.thinking.get(&(request.model.clone(), request.thinking.word())).copied().unwrap_or(0);
        let known = || Sight::of(&ask.known, Sight::default());
        let sight = learned.blind.get(&request.model).copied().unwrap_or_else(known);
        GeminiOptions { thinking, stale: learned.stale.clone(), sight }
    }

    fn outgoing(&self, ask: &WireRequest<'_>, options: &GeminiOptions) -> Outgoing {
        let extra = ask.endpoint.extra_body.as_ref();
        Outgoing {
            path: path(&ask.endpoint.base_url, &ask.request.model),
            headers: Vec::new(),
            body: wire::body(ask.request, options, &ask.endpoint.host(), extra),
        }
    }

    fn events(&self, ask: &WireRequest<'_>) -> GeminiEvents {
        GeminiEvents::new(&ask.endpoint.host(), &ask.request.model)
    }

    fn after_refusal(
        &self,
        ask: &WireRequest<'_>,
        options: &GeminiOptions,
        error: &ProviderError,
    ) -> Option<GeminiOptions> {
        self.learn(ask.request, options, error).then(|| self.options(ask))
    }

    async fn list(&self, http: &Http, catalogue: &ModelCatalogue) -> Result<Vec<String>, ProviderError> {
        let version = version(&http.endpoint().base_url);
        let mut names = Vec::new();
        let mut page = String::new();
        for _ in 0..PAGES {
            let value = http.fetch(&format!("{version}/models?pageSize=1000{page}")).await?;
            let Some(more) = model_names(&value) else {
                return Err(http.peer().no_api("application/json", &value.to_string()));
            };
            names.extend(more);
            catalogue.learn(&value);
            match value.get("nextPageToken").and_then(Value::as_str).filter(|token| !token.is_empty()) {
                Some(token) => page = format!("&pageToken={}", encoded(token, "")),
                None => break,
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn level(&self, _: &ModelFacts, model: &str, level: ThinkingLevel) -> Result<String, String> {
        let Some(ways) = wire::thoughts(model, level) else { return levels::never(level) };
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let place = learned.thinking.get(&(model.to_owned(), level.word())).copied().unwrap_or(0);
        let Some(way) = ways.get(place) else {
            return if ways.is_empty() { Ok(levels::by_itself()) } else { levels::by_words(&["high"], 1) };
        };
        Ok(
            match (way.get("thinkingBudget").and_then(Value::as_u64), way.get("thinkingLevel").and_then(Value::as_str))
            {
                (Some(tokens), _) => levels::within(tokens),
                (None, Some(word)) => levels::by_word(word),
                (None, None) => levels::by_itself(),
            },
        )
    }

    fn listed(model: &str) -> &str {
        bare(model)
    }
}

/// A model's name as the list has it.
fn bare(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// The version that goes before a path; empty where the address ends in one.
fn version(base_url: &str) -> &'static str {
    let path = base_url.split(['?', '#']).next().unwrap_or("").trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or("").as_bytes();
    if matches!(last, [b'v', digit, ..] if digit.is_ascii_digit()) { "" } else { VERSION }
}

/// Path of a model. A bare name is one of `models/`; another kind (`tunedModels/x`) is named in full.
fn path(base_url: &str, model: &str) -> String {
    let (version, name) = (version(base_url), encoded(model, "/"));
    let kind = if model.contains('/') { "" } else { "models/" };
    format!("{version}/{kind}{name}:streamGenerateContent?alt=sse")
}

/// A text for an address: everything but letters, digits, `-._` and `keep` is written in hexadecimal.
fn encoded(text: &str, keep: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._".contains(c) || keep.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The models of a page that can be talked to, without `models/`; `None` for something else.
fn model_names(value: &Value) -> Option<Vec<String>> {
    let list = value.get("models").or_else(|| value.as_object().filter(|all| all.is_empty()).map(|_| &Value::Null))?;
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    let talks = |model: &&Value| {
        let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    };
    let name = |model: &Value| model.get("name").and_then(Value::as_str).map(str::to_owned);
    let names = list.iter().filter(talks).filter_map(name);
    Some(names.map(|name| name.strip_prefix("models/").map_or(name.clone(), str::to_owned)).collect())
}
