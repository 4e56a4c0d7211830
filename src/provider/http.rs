//! Talks HTTP with a server of models: one client, the key and who gets it, and a response as events or as JSON.
//!
//! Knows status codes and keys and no vendors. What went wrong is put into words by `fault`.

pub use super::endpoint::{Endpoint, Key, KeyIn};

use super::ProviderError;
use super::fault::Peer;
use super::json::parse_bytes;
use super::sse::{Event, SseReader};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, Response, Url, redirect};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Time limit for making a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// Connections to one server that stay open for later requests.
const IDLE: usize = 8;
/// Time limit for the body of an error.
const ERROR_BODY: Duration = Duration::from_secs(10);
/// The most bytes of an error's words.
const ERROR_BYTES: usize = 64 * 1024;
/// The most bytes of one response.
const MOST_BYTES: usize = 256 * 1024 * 1024;
/// The most redirects, all at the same host.
const REDIRECTS: usize = 5;

/// A server that can be asked. Cheap to clone.
#[derive(Clone)]
pub struct Http {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Endpoint,
    client: Client,
    peer: Peer,
    base: String,
    headers: HeaderMap,
}

/// Headers of one request: names in lower case, and values.
pub type More<'a> = &'a [(&'static str, String)];

/// A successful response.
pub enum HttpResponse {
    /// A stream of events.
    Events(Box<Events>),
    /// One JSON value.
    Json(Value),
}

impl Http {
    /// Makes the client. Nothing is sent.
    ///
    /// # Errors
    /// When the address, a header, the key or the proxy cannot be used, or the system's certificates cannot be read.
    pub fn new(endpoint: Endpoint) -> Result<Self, ProviderError> {
        let peer = endpoint.peer();
        let url = Url::parse(&endpoint.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            return Err(peer.misconfigured(
                &format!("Invalid server URL \"{}\"", peer.masked(&endpoint.base_url)),
                "Set base_url to something like https://api.openai.com/v1.",
            ));
        };
        let headers = headers(&endpoint, &peer)?;
        let mut builder = crate::http::client()
            .connect_timeout(CONNECT)
            // Each holds the buffer that its last answer grew to.
            .pool_max_idle_per_host(IDLE)
            .tcp_keepalive(Duration::from_secs(30))
            // A compressed event stream is often held back until a block is full.
            .gzip(false)
            .referer(false)
            .redirect(same_host_only());
        match endpoint.proxy.as_deref().map(str::trim) {
            _ if peer.loopback => builder = builder.no_proxy(),
            Some("none") => builder = builder.no_proxy(),
            Some(proxy) if !proxy.is_empty() => {
                let proxy = Proxy::all(proxy)
                    .map_err(|_| peer.misconfigured("Invalid proxy address", "Write it as http://HOST:PORT."))?;
                builder = builder.proxy(proxy);
            }
            _ => {}
        }
        if url.scheme() == "http" {
            // No certificates are needed, and a machine without any must still reach its own server.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| peer.transport(&error))?;
        let base = endpoint.base_url.trim().trim_end_matches('/');
        let whole = ["/chat/completions", "/responses"].into_iter().find_map(|end| base.strip_suffix(end));
        let base = whole.unwrap_or(base).to_owned();
        Ok(Self { inner: Arc::new(Inner { endpoint, client, peer, base, headers }) })
    }

    /// Its settings.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.inner.endpoint
    }

    /// The server as errors name it.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.inner.peer
    }

    /// Sends `body` to `path` below the base address, and waits until the response has begun.
    ///
    /// # Errors
    /// When there is no connection, no success, no beginning in time, or neither events nor JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<HttpResponse, ProviderError> {
        self.post_with(path, &[], body).await
    }

    /// [`Http::post`] with more headers, that hold nothing secret.
    ///
    /// # Errors
    /// As [`Http::post`].
    pub async fn post_with(&self, path: &str, more: More<'_>, body: &Value) -> Result<HttpResponse, ProviderError> {
        let me = &self.inner;
        let request = me.client.post(self.address(path)).headers(self.headers(more)?);
        let request = request.header(ACCEPT, "text/event-stream, application/json").json(body);
        let response = self.send(request).await?;
        let html = content_type(&response).contains("html");
        let mut events = Events::new(response, self.clone());
        let start = events.peek().await?;
        match start {
            Some(b'<') => Err(events.no_api().await),
            _ if html => Err(events.no_api().await),
            Some(b'{' | b'[') => events.json().await.map(HttpResponse::Json),
            _ => Ok(HttpResponse::Events(Box::new(events))),
        }
    }

    /// Asks for `path` below the base address.
    ///
    /// # Errors
    /// As [`Http::post`].
    pub async fn fetch(&self, path: &str) -> Result<Value, ProviderError> {
        self.fetch_with(path, &[]).await
    }

    /// [`Http::fetch`] with more headers, that hold nothing secret.
    ///
    /// # Errors
    /// As [`Http::post`].
    pub async fn fetch_with(&self, path: &str, more: More<'_>) -> Result<Value, ProviderError> {
        let me = &self.inner;
        let request = me.client.get(self.address(path)).headers(self.headers(more)?).header(ACCEPT, "application/json");
        let response = self.send(request).await?;
        let mut events = Events::new(response, self.clone());
        match events.peek().await? {
            Some(b'{' | b'[') => events.json().await,
            _ => Err(events.no_api().await),
        }
    }

    fn address(&self, path: &str) -> String {
        match self.inner.base.split_once('?') {
            Some((base, query)) => {
                let join = if path.contains('?') { '&' } else { '?' };
                format!("{}{path}{join}{query}", base.trim_end_matches('/'))
            }
            None => format!("{}{path}", self.inner.base),
        }
    }

    fn headers(&self, more: More<'_>) -> Result<HeaderMap, ProviderError> {
        let mut out = self.inner.headers.clone();
        for (name, value) in more {
            let value = HeaderValue::from_str(value).map_err(|_| {
                let what = format!("Invalid header \"{name}\"");
                self.inner.peer.misconfigured(&what, "Fix it in config.toml.")
            })?;
            out.insert(*name, value);
        }
        Ok(out)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, ProviderError> {
        let me = &self.inner;
        let sent = within(me.endpoint.first_byte, request.send()).await;
        let response = match sent {
            Some(Ok(response)) => response,
            Some(Err(error)) => return Err(me.peer.transport(&error)),
            None => return Err(me.peer.never_began(me.endpoint.first_byte.unwrap_or_default())),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = words_of(response).await;
        let now = jiff::Timestamp::now().as_second();
        Err(me.peer.status(status, &headers, &body, now))
    }
}

/// Waits for a future, for ever where no limit is set.
async fn within<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}

/// Body of an unsuccessful response, as far as it arrives in time.
async fn words_of(mut response: Response) -> String {
    let mut bytes = Vec::new();
    let end = Instant::now() + ERROR_BODY;
    while bytes.len() < ERROR_BYTES
        && let Ok(Ok(Some(chunk))) = timeout_at(end, response.chunk()).await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(ERROR_BYTES);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or("").to_ascii_lowercase()
}

fn headers(endpoint: &Endpoint, peer: &Peer) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &endpoint.key {
        let (name, value) = match endpoint.key_in {
            KeyIn::Bearer => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
            KeyIn::Header(name) => (HeaderName::from_static(name), key.reveal().to_owned()),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            peer.misconfigured("The key contains invalid characters", "Enter it again, without line breaks.")
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &endpoint.headers {
        let bad = || peer.misconfigured(&format!("Invalid header \"{name}\""), "Fix it in config.toml.");
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Follows a redirect that keeps the method and stays at the same place. Any other one ends as an error that names the new
/// address: neither a key nor a conversation goes to a server that the user has not named.
fn same_host_only() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let same = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
        let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
        if same && keeps_method && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
    })
}

/// The events of a response, as they come.
pub struct Events {
    response: Response,
    http: Http,
    reader: SseReader,
    ready: VecDeque<Event>,
    /// Bytes that were looked at before it was clear what they are.
    seen: Vec<u8>,
    /// Start of the response until the first event: it may be no event stream at all.
    start: Vec<u8>,
    /// An event has come.
    eventful: bool,
    total: usize,
    ended: bool,
}

impl Events {
    fn new(response: Response, http: Http) -> Self {
        let (reader, ready) = (SseReader::default(), VecDeque::new());
        Self {
            response,
            http,
            reader,
            ready,
            seen: Vec::new(),
            start: Vec::new(),
            eventful: false,
            total: 0,
            ended: false,
        }
    }

    /// The next event; `None` at the end of the response. `patience` is the longest silence, pings counted as sound.
    ///
    /// # Errors
    /// When the connection breaks, is silent for too long, or an event is too long.
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Event>, ProviderError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            let bytes = if self.seen.is_empty() {
                match self.read(Some(patience)).await? {
                    Some(bytes) => bytes,
                    None => {
                        self.ended = true;
                        self.ready.extend(self.reader.finish());
                        let kind = content_type(&self.response);
                        if self.ready.is_empty() && !self.start.is_empty() && !kind.contains("event-stream") {
                            let start = String::from_utf8_lossy(&self.start);
                            return Err(self.http.peer().no_api(&kind, &start));
                        }
                        continue;
                    }
                }
            } else {
                std::mem::take(&mut self.seen)
            };
            if let Err(error) = self.reader.push(&bytes, &mut self.ready) {
                return Err(self.http.peer().too_large(&error.to_string()));
            }
            if !self.ready.is_empty() {
                self.eventful = true;
                self.start.clear();
            } else if !self.eventful && self.start.len() < 4_000 {
                self.start.extend_from_slice(&bytes);
            }
        }
    }

    /// The response has ended; events that were given out since may be cut off.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The silence that the endpoint allows.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.http.endpoint().stall
    }

    async fn read(&mut self, patience: Option<Duration>) -> Result<Option<Vec<u8>>, ProviderError> {
        let peer = self.http.peer();
        let bytes = match within(patience, self.response.chunk()).await {
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => {
                let transport = peer.transport(&error);
                return Err(peer.broke_off(&transport.detail));
            }
            None => return Err(peer.stalled(patience.unwrap_or_default())),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        self.total += bytes.len();
        if self.total > MOST_BYTES {
            return Err(peer.too_large(&format!("more than {} MB", MOST_BYTES / 1024 / 1024)));
        }
        Ok(Some(bytes.to_vec()))
    }

    /// The first byte that is no white space; it stays to be read. Waits as long as a response may take to begin.
    async fn peek(&mut self) -> Result<Option<u8>, ProviderError> {
        let first_byte = self.http.endpoint().first_byte;
        loop {
            let text = self.seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.seen);
            if let Some(byte) = text.iter().find(|byte| !byte.is_ascii_whitespace()) {
                return Ok(Some(*byte));
            }
            match within(first_byte, self.read(None)).await {
                Some(bytes) => match bytes? {
                    Some(bytes) => self.seen.extend_from_slice(&bytes),
                    None => return Ok(None),
                },
                None => return Err(self.http.peer().never_began(first_byte.unwrap_or_default())),
            }
        }
    }

    /// The whole response as one JSON value.
    async fn json(mut self) -> Result<Value, ProviderError> {
        let patience = self.patience();
        while let Some(bytes) = self.read(Some(patience)).await? {
            self.seen.extend_from_slice(&bytes);
        }
        let bytes = self.seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.seen);
        parse_bytes(bytes).map_err(|error| {
            let start = String::from_utf8_lossy(bytes.get(..bytes.len().min(4_000)).unwrap_or(bytes)).into_owned();
            if error.is_eof() {
                self.http.peer().broke_off(&start)
            } else {
                self.http.peer().no_api(&content_type(&self.response), &start)
            }
        })
    }

    /// The error for a response that is neither events nor JSON, with its beginning.
    async fn no_api(mut self) -> ProviderError {
        let kind = content_type(&self.response);
        while self.seen.len() < 4_000
            && let Ok(Some(bytes)) = self.read(Some(ERROR_BODY)).await
        {
            self.seen.extend_from_slice(&bytes);
        }
        self.http.peer().no_api(&kind, &String::from_utf8_lossy(&self.seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_named() {
        for url in ["", "nonsense", "ftp://a.test", "api.test/v1"] {
            let error = Http::new(Endpoint::new("work", url)).err().unwrap();
            assert!(error.text.contains("base_url"), "{error}");
        }
        let mut endpoint = Endpoint::new("work", "http://127.0.0.1:1/v1");
        endpoint.headers = vec![("bad header".into(), "x".into())];
        assert!(Http::new(endpoint.clone()).err().unwrap().text.contains("\"bad header\""));
    }

    #[test]
    fn addresses() {
        let table = [
            ("http://127.0.0.1/v1", "http://127.0.0.1/v1/models"),
            ("http://127.0.0.1/v1/", "http://127.0.0.1/v1/models"),
            ("http://127.0.0.1/v1/chat/completions", "http://127.0.0.1/v1/models"),
            ("http://127.0.0.1/v1?api-version=1", "http://127.0.0.1/v1/models?api-version=1"),
        ];
        for (base, address) in table {
            assert_eq!(Http::new(Endpoint::new("x", base)).ok().unwrap().address("/models"), address);
        }
        let http = Http::new(Endpoint::new("x", "http://127.0.0.1/v1?api-version=1")).ok().unwrap();
        assert_eq!(http.address("/models?limit=5"), "http://127.0.0.1/v1/models?limit=5&api-version=1");
    }
}
