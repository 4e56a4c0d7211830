//! One client for all wire formats: sends a request, puts it otherwise after a refusal, and reads the answer. A [`Wire`] says
//! how a request is written and what a refusal teaches; `http` knows addresses and keys.

use super::endpoint::Endpoint;
use super::figures::ModelFacts;
use super::http::{Http, HttpResponse};
use super::model_catalogue::ModelCatalogue;
use super::response_stream::{Mapping, ResponseStream, say, whole};
use super::{Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;

/// A request and what is known of its server.
pub struct WireRequest<'a> {
    pub(super) request: &'a ModelRequest,
    pub(super) endpoint: &'a Endpoint,
    pub(super) known: ModelFacts,
    /// The prompt is to stay in the server's cache for long.
    pub(super) kept_long: bool,
}

/// A request as it goes out.
pub struct Outgoing {
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

/// A wire format, with what its server has refused so far.
pub trait Wire: Sized + Send + Sync + 'static {
    /// Name of the format in [`crate::domain::message::Native`].
    const NAME: &'static str;
    /// Number of times a refused request is sent in another form.
    const CHANGES: usize;
    /// Optional parts of a request that a server may refuse.
    type Options: Clone + PartialEq + Send + Sync;
    /// Translation of the events of one response.
    type Events: Mapping;

    /// Options by what is known so far.
    fn options(&self, ask: &WireRequest<'_>) -> Self::Options;

    /// Writes the request.
    fn outgoing(&self, ask: &WireRequest<'_>, options: &Self::Options) -> Outgoing;

    /// The reader of the response.
    fn events(&self, ask: &WireRequest<'_>) -> Self::Events;

    /// Remembers what a refusal teaches, and returns the options for another try; `None` if the failure has nothing to do
    /// with how the request was put. Equal options end the tries as well: concurrent requests may teach the same.
    fn after_refusal(
        &self,
        ask: &WireRequest<'_>,
        options: &Self::Options,
        error: &ProviderError,
    ) -> Option<Self::Options>;

    /// The failure as the user sees it, after the last try.
    fn failure(&self, _ask: &WireRequest<'_>, _options: &Self::Options, error: ProviderError) -> ProviderError {
        error
    }

    /// Asks for the names of all models; `catalogue` takes what else the server tells of them.
    fn list(
        &self,
        http: &Http,
        catalogue: &ModelCatalogue,
    ) -> impl Future<Output = Result<Vec<String>, ProviderError>> + Send;

    /// Request that a thinking level makes, in words.
    ///
    /// # Errors
    /// The reason why it has no effect on this model, as a part of a sentence.
    fn level(&self, known: &ModelFacts, model: &str, level: ThinkingLevel) -> Result<String, String>;

    /// A model's name as the server's list has it.
    fn listed(model: &str) -> &str {
        model
    }
}

/// A server that is asked in the format `W`.
pub struct Client<W> {
    http: Http,
    catalogue: ModelCatalogue,
    wire: Arc<W>,
    kept_long: bool,
}

impl<W> Clone for Client<W> {
    fn clone(&self) -> Self {
        Self {
            http: self.http.clone(),
            catalogue: self.catalogue.clone(),
            wire: self.wire.clone(),
            kept_long: self.kept_long,
        }
    }
}

impl<W: Wire> Client<W> {
    /// A client of an endpoint. Nothing is sent.
    ///
    /// # Errors
    /// When the endpoint's settings cannot be used.
    pub(super) fn with(wire: W, endpoint: Endpoint) -> Result<Self, ProviderError> {
        let (http, catalogue) = (Http::new(endpoint)?, ModelCatalogue::default());
        Ok(Self { http, catalogue, wire: Arc::new(wire), kept_long: false })
    }

    /// Settings of the endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    pub(super) fn ask<'a>(&'a self, request: &'a ModelRequest) -> WireRequest<'a> {
        WireRequest { request, endpoint: self.endpoint(), known: self.known(&request.model), kept_long: self.kept_long }
    }

    async fn open(self, request: ModelRequest) -> Result<Chunks, ProviderError> {
        let ask = self.ask(&request);
        let mut options = self.wire.options(&ask);
        let mut changes = 0;
        loop {
            let out = self.wire.outgoing(&ask, &options);
            let error = match self.http.post_with(&out.path, &out.headers, &out.body).await {
                Ok(HttpResponse::Events(events)) => {
                    return Ok(ResponseStream::chunks(&self.http, *events, self.wire.events(&ask)));
                }
                Ok(HttpResponse::Json(value)) => return self.read_whole(&value, self.wire.events(&ask)),
                Err(error) => error,
            };
            match self.wire.after_refusal(&ask, &options, &error) {
                Some(next) if next != options && changes < W::CHANGES => options = next,
                _ => return Err(self.wire.failure(&ask, &options, error)),
            }
            changes += 1;
        }
    }

    /// Reads a response in one piece, from a server that does not stream.
    fn read_whole(&self, value: &Value, mut events: W::Events) -> Result<Chunks, ProviderError> {
        let peer = self.http.peer();
        let chunks = events.whole(value).map_err(|broken| say(peer, broken))?;
        chunks.map(whole).ok_or_else(|| peer.no_api("application/json", &value.to_string()))
    }

    /// The body of a request in its first form.
    #[cfg(test)]
    pub(super) fn body(&self, request: &ModelRequest) -> Value {
        let ask = self.ask(request);
        self.wire.outgoing(&ask, &self.wire.options(&ask)).body
    }

    /// Options of a request in its first form.
    #[cfg(test)]
    pub(super) fn options(&self, request: &ModelRequest) -> W::Options {
        self.wire.options(&self.ask(request))
    }

    /// Options after a refusal of the first form.
    #[cfg(test)]
    pub(super) fn after_refusal(&self, request: &ModelRequest, error: &ProviderError) -> Option<W::Options> {
        let ask = self.ask(request);
        self.wire.after_refusal(&ask, &self.wire.options(&ask), error)
    }

    #[cfg(test)]
    pub(super) fn peer(&self) -> &super::fault::Peer {
        self.http.peer()
    }
}

impl<W: Wire> Provider for Client<W> {
    fn wire(&self) -> &'static str {
        W::NAME
    }

    fn stream(&self, request: ModelRequest) -> Chunks {
        stream::once(self.clone().open(request)).try_flatten().boxed()
    }

    fn stream_kept_long(&self, request: ModelRequest) -> Chunks {
        Self { kept_long: true, ..self.clone() }.stream(request)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        let me = self.clone();
        async move { me.wire.list(&me.http, &me.catalogue).await }.boxed()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        let known = self.known(model);
        (known.window, known.price(usage))
    }

    fn known(&self, model: &str) -> ModelFacts {
        self.catalogue.known(self.endpoint(), W::listed(model))
    }

    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        self.wire.level(&self.known(model), model, level)
    }
}
