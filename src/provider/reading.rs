//! Reads a response that streams: the events go to the mapping of their wire, and what it makes of them comes out in order. Knows no
//! vendor.

use super::fault::Peer;
use super::http::{Events, Http};
use super::sse::Event;
use super::{Chunk, Chunks, ProviderError};
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;

/// How long usage and the end mark may take after the model has stopped. A server that sends neither costs no more.
const AFTERMATH: Duration = Duration::from_secs(3);

/// Why a stream cannot be read on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Broken {
    /// The server reports an error in it.
    Error(Value),
    /// An event that is neither JSON nor known.
    Garbled(String),
    /// It ended before the response did.
    Short,
}

impl Broken {
    /// The same in words.
    pub(super) fn say(self, peer: &Peer) -> ProviderError {
        match self {
            Self::Error(value) => peer.in_stream(&value),
            Self::Garbled(data) => peer.garbled("a part of its answer that is no JSON", &data),
            Self::Short => peer.broke_off(""),
        }
    }
}

/// What a wire makes of the events of one response. Pure.
pub(super) trait Mapping: Send + 'static {
    /// Takes the data of one event.
    fn data(&mut self, data: &str) -> Result<Vec<Chunk>, Broken>;

    /// The server has said why it stopped: what follows is formalities.
    fn finished(&self) -> bool;

    /// The server has said that this was all.
    fn over(&self) -> bool {
        false
    }

    /// The end of the stream. `marked` says that the server marked it.
    fn end(&mut self, marked: bool) -> Result<Vec<Chunk>, Broken>;
}

/// A response that is being read.
pub(super) struct Reading<M> {
    http: Http,
    events: Events,
    mapping: M,
    ready: VecDeque<Chunk>,
    ended: bool,
}

impl<M: Mapping> Reading<M> {
    pub(super) fn new(http: Http, events: Events, mapping: M) -> Self {
        Self { http, events, mapping, ready: VecDeque::new(), ended: false }
    }

    pub(super) fn chunks(self) -> Chunks {
        stream::unfold(self, |mut me| async move {
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
            if self.ended {
                return Ok(None);
            }
            let result = self.step().await;
            // Nothing follows an error.
            self.ended |= result.is_err();
            self.ready.extend(result?);
        }
    }

    /// Reads one event.
    async fn step(&mut self) -> Result<Vec<Chunk>, ProviderError> {
        let stall = self.events.patience();
        let patience = if self.mapping.finished() { stall.min(AFTERMATH) } else { stall };
        let event = match self.events.next(patience).await {
            Ok(event) => event,
            // The model had stopped: only the formalities are missing.
            Err(_) if self.mapping.finished() => None,
            Err(error) => return Err(error),
        };
        let chunks = match event {
            Some(event) => self.take(event),
            None => self.end(false),
        };
        chunks.map_err(|broken| broken.say(self.http.peer()))
    }

    fn take(&mut self, event: Event) -> Result<Vec<Chunk>, Broken> {
        if event.data.trim() == "[DONE]" {
            return self.end(true);
        }
        if event.name == "error" {
            let words = Value::String(event.data);
            let value = words.as_str().and_then(|data| serde_json::from_str(data).ok()).unwrap_or(words);
            return Err(Broken::Error(value));
        }
        match self.mapping.data(&event.data) {
            // The connection ended inside of this event.
            Err(Broken::Garbled(_)) if self.events.ended() => self.end(false),
            Ok(mut chunks) if self.mapping.over() => {
                chunks.extend(self.end(true)?);
                Ok(chunks)
            }
            chunks => chunks,
        }
    }

    fn end(&mut self, marked: bool) -> Result<Vec<Chunk>, Broken> {
        self.ended = true;
        self.mapping.end(marked)
    }
}
