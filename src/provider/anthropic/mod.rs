//! Anthropic's Messages API, and every server that speaks it: llama.cpp and several vendors beside Anthropic.
//!
//! `wire` writes the request, `replay` keeps and gives back thinking, `map` reads the stream, `request_options` learns what a server refuses; this
//! file joins them to `http`.
//!
//! The shapes are those of Anthropic's reference "Messages" and of its guides "Streaming", "Extended thinking", "Vision", "PDF support"
//! and "Handle tool calls": pictures and documents are blocks with a source of `base64`, of the user or inside of a result.
//!
//! A model's name may end in `[1m]`: the context of a million tokens is asked for, with the header that models before 4.6 need for it.

mod map;
mod replay;
mod request_options;
#[cfg(test)]
mod tests;
mod wire;

pub use replay::WIRE;

use super::client::{Client, Outgoing, Wire, WireRequest};
use super::figures::ModelFacts;
use super::http::{Endpoint, Http, KeyIn};
use super::model_catalogue::ModelCatalogue;
use super::{ModelRequest, ProviderError, levels};
use crate::domain::session::ThinkingLevel;
use map::MessagesEvents;
use replay::BlockAuthor;
use request_options::{AnthropicOptions, Lasts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const VERSION: &str = "anthropic-version";
const BETA: &str = "anthropic-beta";
/// The most pages of a list of models.
const PAGES: usize = 20;

/// A server that speaks Messages.
pub type Anthropic = Client<Messages>;

/// Anthropic's Messages.
pub struct Messages {
    /// The configuration's own `anthropic-version`, or the one that is spoken here.
    version: String,
    /// The configuration's own `anthropic-beta`.
    betas: Vec<String>,
    /// Learned options, by model and thinking level.
    learned: Mutex<BTreeMap<(String, &'static str), AnthropicOptions>>,
}

impl Client<Messages> {
    /// A provider for an endpoint, whose address may end before or behind `/v1`. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub fn new(mut endpoint: Endpoint) -> Result<Self, ProviderError> {
        endpoint.key_in = KeyIn::Header("x-api-key");
        endpoint.base_url = bare(&endpoint.base_url);
        let own = |name: &str| {
            let found = endpoint.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().to_owned()).collect::<Vec<_>>()
        };
        let version = own(VERSION).pop().unwrap_or_else(|| "2023-06-01".to_owned());
        let betas = own(BETA);
        endpoint.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(VERSION) && !key.eq_ignore_ascii_case(BETA));
        Self::with(Messages { version, betas, learned: Mutex::default() }, endpoint)
    }
}

impl Messages {
    fn remember(&self, request: &ModelRequest, options: AnthropicOptions) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (request.model.clone(), request.thinking.word());
        learned.entry(key).and_modify(|known| *known = known.and(options)).or_insert(options);
    }

    fn headers(&self, betas: &[&str]) -> Vec<(&'static str, String)> {
        let mut out = vec![(VERSION, self.version.clone())];
        let betas: Vec<&str> = self.betas.iter().map(String::as_str).chain(betas.iter().copied()).collect();
        if !betas.is_empty() {
            out.push((BETA, betas.join(",")));
        }
        out
    }
}

impl Wire for Messages {
    const NAME: &'static str = WIRE;
    const CHANGES: usize = 7;
    type Options = AnthropicOptions;
    type Events = MessagesEvents;

    fn options(&self, ask: &WireRequest<'_>) -> AnthropicOptions {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let known = learned.get(&(ask.request.model.clone(), ask.request.thinking.word())).copied();
        known.unwrap_or_else(|| AnthropicOptions::first(ask.request, &ask.known))
    }

    fn outgoing(&self, ask: &WireRequest<'_>, options: &AnthropicOptions) -> Outgoing {
        let put = AnthropicOptions { long: options.long && ask.kept_long, ..*options };
        Outgoing {
            path: "/v1/messages".to_owned(),
            headers: self.headers(&wire::betas(ask.request, *options)),
            body: wire::body(ask.request, put, &origin(ask), ask.endpoint.extra_body.as_ref()),
        }
    }

    fn events(&self, ask: &WireRequest<'_>) -> MessagesEvents {
        MessagesEvents::new(origin(ask), wire::renamed(ask.request))
    }

    fn after_refusal(
        &self,
        ask: &WireRequest<'_>,
        options: &AnthropicOptions,
        error: &ProviderError,
    ) -> Option<AnthropicOptions> {
        let (next, lasts) = options.after(ask.request, error)?;
        if lasts == Lasts::FromNowOn {
            self.remember(ask.request, next);
        }
        Some(next)
    }

    async fn list(&self, http: &Http, catalogue: &ModelCatalogue) -> Result<Vec<String>, ProviderError> {
        let headers = self.headers(&[]);
        let mut names: Vec<String> = Vec::new();
        let mut path = "/v1/models?limit=1000".to_owned();
        for _ in 0..PAGES {
            let page = http.fetch_with(&path, &headers).await?;
            let Some(list) = page.get("data").and_then(Value::as_array) else {
                return Err(http.peer().no_api("application/json", &page.to_string()));
            };
            catalogue.learn(&page);
            let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            let new: Vec<String> =
                list.iter().filter_map(|model| text(model, "id")).filter(|name| !names.contains(name)).collect();
            let more = page.get("has_more").and_then(Value::as_bool).unwrap_or(false) && !new.is_empty();
            names.extend(new);
            match text(&page, "last_id")
                .filter(|id| more && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)))
            {
                Some(last) => path = format!("/v1/models?limit=1000&after_id={last}"),
                None => break,
            }
        }
        Ok(names)
    }

    fn level(&self, known: &ModelFacts, model: &str, level: ThinkingLevel) -> Result<String, String> {
        Ok(match request_options::asked(model, level, known) {
            request_options::ThinkingRequest::Nothing => levels::by_itself(),
            request_options::ThinkingRequest::Off => levels::within(0),
            request_options::ThinkingRequest::Tokens(tokens) => levels::within(tokens),
            request_options::ThinkingRequest::Word(word) if level == ThinkingLevel::Off => {
                format!("{}; this model always thinks", levels::by_word(word))
            }
            request_options::ThinkingRequest::Word(word) => levels::by_word(word),
        })
    }
}

/// The model and server whose thinking can be replayed.
fn origin(ask: &WireRequest<'_>) -> BlockAuthor {
    BlockAuthor::new(&ask.endpoint.host(), &ask.request.model)
}

/// An address without the `/v1` or `/v1/messages` at its end, which people copy with it.
fn bare(base_url: &str) -> String {
    let (address, query) = match base_url.trim().split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (base_url.trim(), String::new()),
    };
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix("/messages").unwrap_or(address);
    let address = address.strip_suffix("/v1").unwrap_or(address);
    format!("{address}{query}")
}
