//! Reads a response that streams in: the events of `http` go through the mapping of a wire and become our chunks. Knows no vendor.

use super::fault::Peer;
use super::http::{Events, Http};
use super::json::{Halves, mended, parse};
use super::sse::Event;
use super::{Chunk, Chunks, ProviderError};
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;

/// Time limit for usage and the end mark after the model has stopped. A server that sends neither costs no more.
pub(super) const AFTERMATH: Duration = Duration::from_secs(3);

/// Reason why a stream cannot be read on.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// The server reports an error in it.
    Error(Value),
    /// An event that is neither JSON nor known.
    Garbled(String),
    /// It ended before the response did.
    Short,
}

impl Broken {
    /// The error that an event named `error` reports.
    pub(super) fn of(event: &Event) -> Self {
        Self::Error(parse(&event.data).unwrap_or_else(|_| Value::String(event.data.clone())))
    }
}

/// Translation of the events of one response.
pub trait Mapping: Send + 'static {
    /// Takes one event.
    fn event(&mut self, event: &Event) -> Result<Vec<Chunk>, Broken>;

    /// Takes a response in one piece; `None` if the value is none.
    fn whole(&mut self, value: &Value) -> Result<Option<Vec<Chunk>>, Broken>;

    /// The connection has ended; what was missing for a whole response is [`Broken::Short`].
    fn end(&mut self) -> Result<Vec<Chunk>, Broken>;

    /// The response is complete: nothing more is read.
    fn over(&self) -> bool;

    /// The model has stopped, and what may follow is waited for no longer than this. `None` as long as it has not.
    fn formalities(&self) -> Option<Duration>;
}

/// The error for a stream that cannot be read on.
pub(super) fn say(peer: &Peer, broken: Broken) -> ProviderError {
    match broken {
        Broken::Error(value) => peer.in_stream(&mended(value)),
        Broken::Garbled(data) => peer.garbled("invalid JSON in its response", &data),
        Broken::Short => peer.broke_off(""),
    }
}

/// The chunks of a response that came in one piece.
pub(super) fn whole(chunks: impl IntoIterator<Item = Chunk>) -> Chunks {
    let (mut halves, mut out) = (Halves::default(), VecDeque::new());
    chunks.into_iter().for_each(|chunk| halves.take(chunk, &mut out));
    halves.end(&mut out);
    stream::iter(out.into_iter().map(Ok)).boxed()
}

/// A response that is being read.
pub(super) struct ResponseStream<M> {
    http: Http,
    events: Events,
    mapping: M,
    halves: Halves,
    ready: VecDeque<Chunk>,
    /// Error that ended the response, reported after the chunks before it.
    failure: Option<ProviderError>,
    ended: bool,
}

impl<M: Mapping> ResponseStream<M> {
    /// The chunks of a response.
    pub(super) fn chunks(http: &Http, events: Events, mapping: M) -> Chunks {
        let me = Self {
            http: http.clone(),
            events,
            mapping,
            halves: Halves::default(),
            ready: VecDeque::new(),
            failure: None,
            ended: false,
        };
        stream::unfold(me, |mut me| async move {
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
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.ended {
                return Ok(None);
            }
            match self.step().await {
                Ok(chunks) => {
                    self.ended |= self.mapping.over();
                    chunks.into_iter().for_each(|chunk| self.halves.take(chunk, &mut self.ready));
                }
                // Nothing follows an error.
                Err(error) => {
                    self.ended = true;
                    self.halves.end(&mut self.ready);
                    self.failure = Some(error);
                }
            }
        }
    }

    /// Reads one event.
    async fn step(&mut self) -> Result<Vec<Chunk>, ProviderError> {
        let stall = self.events.patience();
        let formalities = self.mapping.formalities();
        let event = match self.events.next(formalities.unwrap_or(stall).min(stall)).await {
            Ok(event) => event,
            // The model had stopped: only the formalities are missing.
            Err(_) if formalities.is_some() => None,
            Err(error) => return Err(error),
        };
        let chunks = match event {
            Some(event) => match self.mapping.event(&event) {
                // The connection ended inside of this event.
                Err(Broken::Garbled(_)) if self.events.ended() => self.end(),
                chunks => chunks,
            },
            None => self.end(),
        };
        chunks.map_err(|broken| say(self.http.peer(), broken))
    }

    fn end(&mut self) -> Result<Vec<Chunk>, Broken> {
        self.ended = true;
        self.mapping.end()
    }
}
