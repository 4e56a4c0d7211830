//! Anthropic's Messages API, and every server that speaks it: llama.cpp and several vendors beside Anthropic.
//!
//! `wire` writes the request, `replay` keeps and gives back thinking, `map` reads the stream, `manner` learns what a server refuses; this
//! file joins them to `http`.
//!
//! The shapes are those of Anthropic's reference "Messages" and of its guides "Streaming", "Extended thinking", "Vision", "PDF support"
//! and "Handle tool calls": pictures and documents are blocks with a source of `base64`, of the user or inside of a result.
//!
//! A model's name may end in `[1m]`: the context of a million tokens is asked for, with the header that models before 4.6 need for it.

mod manner;
mod map;
mod replay;
#[cfg(test)]
mod tests;
mod wire;

use super::figures::Figures;
use super::http::{Answer, Endpoint, Http, KeyIn};
use super::levels;
use super::reading::{Reading, say, whole};
use super::told::Told;
use super::{Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use manner::{Lasts, Manner};
use map::Mapper;
use replay::Origin;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The wire format, in [`crate::domain::message::Native`].
pub const WIRE: &str = "anthropic-messages";

const VERSION: &str = "anthropic-version";
const BETA: &str = "anthropic-beta";
/// Number of changes to a refused request before it fails.
const CHANGES: usize = 7;
/// The most pages of a list of models.
const PAGES: usize = 20;

/// A server that speaks Messages.
#[derive(Clone)]
pub struct Anthropic {
    http: Http,
    /// The configuration's own `anthropic-version`, or the one that is spoken here.
    version: String,
    /// The configuration's own `anthropic-beta`.
    betas: Vec<String>,
    /// Learned options, by model and thinking level.
    learned: Arc<Mutex<BTreeMap<(String, &'static str), Manner>>>,
    told: Told,
    /// The prompt is to stay in the cache for an hour.
    kept_long: bool,
}

impl Anthropic {
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
        let (http, learned, told) = (Http::new(endpoint)?, Arc::default(), Told::default());
        Ok(Self { http, version, betas, learned, told, kept_long: false })
    }

    /// Its settings.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    fn manner(&self, request: &ModelRequest) -> Manner {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let known = learned.get(&(request.model.clone(), request.thinking.word())).copied();
        known.unwrap_or_else(|| Manner::first(request, &self.told.known(self.endpoint(), &request.model)))
    }

    fn remember(&self, request: &ModelRequest, manner: Manner) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (request.model.clone(), request.thinking.word());
        learned.entry(key).and_modify(|known| *known = known.and(manner)).or_insert(manner);
    }

    fn headers(&self, betas: &[&str]) -> Vec<(&'static str, String)> {
        let mut out = vec![(VERSION, self.version.clone())];
        let betas: Vec<&str> = self.betas.iter().map(String::as_str).chain(betas.iter().copied()).collect();
        if !betas.is_empty() {
            out.push((BETA, betas.join(",")));
        }
        out
    }

    /// The body of a request, as it is put at first.
    #[cfg(test)]
    pub(super) fn body(&self, request: &ModelRequest) -> Value {
        let origin = Origin::new(&self.endpoint().host(), &request.model);
        wire::body(request, self.manner(request), &origin, None)
    }

    async fn open(self, request: ModelRequest) -> Result<Chunks, ProviderError> {
        let origin = Origin::new(&self.endpoint().host(), &request.model);
        let mut manner = self.manner(&request);
        for round in 0.. {
            let put = Manner { long: manner.long && self.kept_long, ..manner };
            let body = wire::body(&request, put, &origin, self.endpoint().extra_body.as_ref());
            let headers = self.headers(&wire::betas(&request, manner));
            let mapper = Mapper::new(origin.clone(), wire::renamed(&request));
            match self.http.post_with("/v1/messages", &headers, &body).await {
                Ok(Answer::Events(events)) => return Ok(Reading::chunks(&self.http, *events, mapper)),
                Ok(Answer::Json(value)) => return self.whole(&value, mapper),
                Err(error) => match manner.after(&request, &error).filter(|_| round < CHANGES) {
                    Some((next, lasts)) => {
                        manner = next;
                        if lasts == Lasts::FromNowOn {
                            self.remember(&request, next);
                        }
                    }
                    None => return Err(error),
                },
            }
        }
        Err(self.http.peer().broke_off(""))
    }

    /// A response in one piece, from a server that does not stream.
    fn whole(&self, value: &Value, mut mapper: Mapper) -> Result<Chunks, ProviderError> {
        let peer = self.http.peer();
        let chunks = mapper.whole(value).map_err(|broken| say(peer, broken))?;
        let mut chunks = chunks.ok_or_else(|| peer.no_api("application/json", &value.to_string()))?;
        chunks.extend(mapper.end(true).map_err(|broken| say(peer, broken))?);
        Ok(whole(chunks))
    }

    async fn list(self) -> Result<Vec<String>, ProviderError> {
        let headers = self.headers(&[]);
        let mut names: Vec<String> = Vec::new();
        let mut path = "/v1/models?limit=1000".to_owned();
        for _ in 0..PAGES {
            let page = self.http.fetch_with(&path, &headers).await?;
            let Some(list) = page.get("data").and_then(Value::as_array) else {
                return Err(self.http.peer().no_api("application/json", &page.to_string()));
            };
            self.told.learn(&page);
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
}

impl Provider for Anthropic {
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
        self.clone().list().boxed()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        let known = self.told.known(self.endpoint(), model);
        (known.window, known.price(usage))
    }

    fn known(&self, model: &str) -> Figures {
        self.told.known(self.endpoint(), model)
    }

    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        let known = self.known(model);
        Ok(match manner::asked(model, level, &known) {
            manner::Wanted::Nothing => levels::by_itself(),
            manner::Wanted::Off => levels::within(0),
            manner::Wanted::Tokens(tokens) => levels::within(tokens),
            manner::Wanted::Word(word) if level == ThinkingLevel::Off => {
                format!("{}; this model always thinks", levels::by_word(word))
            }
            manner::Wanted::Word(word) => levels::by_word(word),
        })
    }
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
