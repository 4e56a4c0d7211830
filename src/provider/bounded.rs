//! A connection that answers so many requests at a time and no more. The others wait, say so, and can be dropped while they do.

use super::figures::ModelFacts;
use super::{Chunk, Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A connection with a bound on its requests.
pub struct Bounded {
    name: String,
    inner: Arc<dyn Provider>,
    places: Arc<Semaphore>,
}

/// The places of a connection. They stay the same when it is opened anew.
#[derive(Clone, Debug)]
pub struct Places(Arc<Semaphore>);

impl Places {
    /// Limit of concurrent requests.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self(Arc::new(Semaphore::new(usize::try_from(most.max(1)).unwrap_or(Semaphore::MAX_PERMITS))))
    }
}

impl Bounded {
    /// A connection of this name that has these places.
    #[must_use]
    pub fn new(name: impl Into<String>, inner: Arc<dyn Provider>, places: &Places) -> Self {
        Self { name: name.into(), inner, places: places.0.clone() }
    }

    /// Sends a request as soon as there is a place for it.
    fn ask(&self, request: ModelRequest, send: fn(&dyn Provider, ModelRequest) -> Chunks) -> Chunks {
        let (name, inner, places) = (self.name.clone(), self.inner.clone(), self.places.clone());
        let state = (RequestStage::Asking, Some(request));
        let chunks = stream::unfold(state, move |(mut stage, mut request)| {
            let (name, inner, places) = (name.clone(), inner.clone(), places.clone());
            async move {
                loop {
                    match stage {
                        RequestStage::Asking => match places.clone().try_acquire_owned() {
                            Ok(place) => stage = RequestStage::Answered(send(&*inner, request.take()?), Some(place)),
                            Err(_) => return Some((Ok(Chunk::Waiting(Some(name))), (RequestStage::Waiting, request))),
                        },
                        RequestStage::Waiting => {
                            // The places are never closed; if they were, nothing would bound the requests.
                            let place = places.clone().acquire_owned().await.ok();
                            let stage = RequestStage::Answered(send(&*inner, request.take()?), place);
                            return Some((Ok(Chunk::Waiting(None)), (stage, request)));
                        }
                        RequestStage::Answered(mut chunks, place) => {
                            let chunk = chunks.next().await?;
                            return Some((chunk, (RequestStage::Answered(chunks, place), request)));
                        }
                    }
                }
            }
        });
        chunks.boxed()
    }
}

/// Stage of a request.
enum RequestStage {
    Asking,
    Waiting,
    Answered(Chunks, Option<OwnedSemaphorePermit>),
}

impl Provider for Bounded {
    fn wire(&self) -> &'static str {
        self.inner.wire()
    }

    fn stream(&self, request: ModelRequest) -> Chunks {
        self.ask(request, |inner, request| inner.stream(request))
    }

    fn stream_kept_long(&self, request: ModelRequest) -> Chunks {
        self.ask(request, |inner, request| inner.stream_kept_long(request))
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.inner.models()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        self.inner.figures(model, usage)
    }

    fn known(&self, model: &str) -> ModelFacts {
        self.inner.known(model)
    }

    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        self.inner.level(model, level)
    }

    fn only(&self) -> Option<String> {
        self.inner.only()
    }

    fn most_output(&self, model: &str) -> Option<u64> {
        self.inner.most_output(model)
    }

    fn knows_price(&self, model: &str) -> bool {
        self.inner.knows_price(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Answers with one word and then never ends.
    struct Endless(Arc<AtomicUsize>);

    impl Provider for Endless {
        fn wire(&self) -> &'static str {
            "test"
        }
        fn stream(&self, _: ModelRequest) -> Chunks {
            let asked = self.0.clone();
            let first = stream::once(async move {
                asked.fetch_add(1, Ordering::SeqCst);
                Ok(Chunk::Text("hi".into()))
            });
            first.chain(stream::pending()).boxed()
        }
        fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
            Box::pin(async { Ok(vec![]) })
        }
        fn figures(&self, _: &str, _: RequestUsage) -> (Option<u64>, f64) {
            (Some(7), 0.5)
        }
    }

    fn request() -> ModelRequest {
        ModelRequest {
            model: "m".into(),
            system: String::new(),
            items: vec![],
            tools: vec![],
            thinking: ThinkingLevel::Off,
        }
    }

    #[tokio::test]
    async fn the_third_of_two_waits_until_one_is_dropped_also_over_a_reopening() {
        let asked = Arc::new(AtomicUsize::new(0));
        let places = Places::new(2);
        let open = || Bounded::new("near", Arc::new(Endless(asked.clone())), &places);
        let text = Some(Ok(Chunk::Text("hi".into())));
        let (mut first, mut second) = (open().stream(request()), open().stream(request()));
        assert_eq!((first.next().await, second.next().await), (text.clone(), text.clone()));
        let mut third = open().stream(request());
        assert_eq!(third.next().await, Some(Ok(Chunk::Waiting(Some("near".into())))));
        let mut given_up = open().stream(request());
        assert_eq!(given_up.next().await, Some(Ok(Chunk::Waiting(Some("near".into())))));
        assert_eq!(asked.load(Ordering::SeqCst), 2, "nothing was sent");
        drop(given_up);
        drop(first);
        assert_eq!(third.next().await, Some(Ok(Chunk::Waiting(None))));
        assert_eq!(third.next().await, text);
        assert_eq!(asked.load(Ordering::SeqCst), 3);
    }
}
