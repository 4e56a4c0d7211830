//! A connection whose requests always name a model: where none was chosen, the only one that its server has; where the server has
//! several, nothing is sent, and the failure says which there are.

use super::figures::ModelFacts;
use super::{Chunks, ModelRequest, Provider, ProviderError};
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::sync::{Arc, Mutex, PoisonError};

/// The code of the failure when somebody has to choose a model.
pub const NO_MODEL: &str = "no_model";
/// Number of names in a sentence.
const NAMED: usize = 6;

/// A connection that sends no request without a model's name.
#[derive(Clone)]
pub struct NamedModelOnly {
    name: String,
    inner: Arc<dyn Provider>,
    /// The only model of its server, once that is known.
    only: Arc<Mutex<Option<String>>>,
}

impl NamedModelOnly {
    /// The connection of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, inner: Arc<dyn Provider>) -> Self {
        Self { name: name.into(), inner, only: Arc::default() }
    }

    fn learn(&self, models: &[String]) {
        *self.only.lock().unwrap_or_else(PoisonError::into_inner) = only(models);
    }

    /// The model that is meant: the one that was asked for, else the only one.
    fn meant(&self, model: &str) -> String {
        match model.trim() {
            "" => self.only().unwrap_or_default(),
            _ => model.to_owned(),
        }
    }

    /// Sends a request that names its model.
    fn ask(&self, mut request: ModelRequest, send: fn(&dyn Provider, ModelRequest) -> Chunks) -> Chunks {
        request.model = self.meant(&request.model);
        if !request.model.is_empty() {
            return send(&*self.inner, request);
        }
        let me = self.clone();
        let asked = async move {
            request.model = me.find().await?;
            Ok(send(&*me.inner, request))
        };
        stream::once(asked).try_flatten().boxed()
    }

    /// Asks the server for its only model.
    async fn find(&self) -> Result<String, ProviderError> {
        let models = self.inner.models().await?;
        self.learn(&models);
        self.only().ok_or_else(|| several(&self.name, &models))
    }
}

/// The only one that can be talked to; servers list models for embeddings beside it.
fn only(models: &[String]) -> Option<String> {
    let mut talks = models.iter().filter(|name| !name.trim().is_empty() && !name.to_lowercase().contains("embed"));
    talks.next().filter(|_| talks.next().is_none()).cloned()
}

fn several(connection: &str, models: &[String]) -> ProviderError {
    let text = match models {
        [] => format!("The server of {connection} lists no model."),
        models => {
            let mut names: Vec<&str> = models.iter().take(NAMED).map(String::as_str).collect();
            if models.len() > NAMED {
                names.push("…");
            }
            format!("The server of {connection} has {} models: {}.", models.len(), names.join(", "))
        }
    };
    ProviderError {
        code: NO_MODEL,
        title: "No model is chosen".to_owned(),
        text: text + " Choose one: /model or --model NAME.",
        detail: String::new(),
        retry: false,
        after: None,
    }
}

impl Provider for NamedModelOnly {
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
        let me = self.clone();
        async move {
            let models = me.inner.models().await?;
            me.learn(&models);
            Ok(models)
        }
        .boxed()
    }

    fn only(&self) -> Option<String> {
        self.only.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn figures(&self, model: &str, usage: RequestUsage) -> (Option<u64>, f64) {
        self.inner.figures(&self.meant(model), usage)
    }

    fn known(&self, model: &str) -> ModelFacts {
        self.inner.known(&self.meant(model))
    }

    fn level(&self, model: &str, level: ThinkingLevel) -> Result<String, String> {
        self.inner.level(&self.meant(model), level)
    }

    fn most_output(&self, model: &str) -> Option<u64> {
        self.inner.most_output(&self.meant(model))
    }

    fn knows_price(&self, model: &str) -> bool {
        self.inner.knows_price(&self.meant(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Chunk, Stop};

    /// Says which model it was asked for.
    struct Echo(Vec<&'static str>);

    impl Provider for Echo {
        fn wire(&self) -> &'static str {
            "test"
        }
        fn stream(&self, request: ModelRequest) -> Chunks {
            stream::iter([Ok(Chunk::Text(request.model)), Ok(Chunk::Stopped(Stop::Done))]).boxed()
        }
        fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
            let names = self.0.iter().map(|name| (*name).to_owned()).collect();
            Box::pin(async { Ok(names) })
        }
        fn figures(&self, model: &str, _: RequestUsage) -> (Option<u64>, f64) {
            ((model == "a").then_some(4_096), 0.0)
        }
    }

    async fn asked(models: &[&'static str], model: &str) -> Result<String, ProviderError> {
        let named = NamedModelOnly::new("near", Arc::new(Echo(models.to_vec())));
        let request = ModelRequest { model: model.into(), ..ModelRequest::default() };
        match named.stream(request).next().await {
            Some(Ok(Chunk::Text(model))) => Ok(model),
            Some(Err(error)) => Err(error),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn no_request_leaves_without_a_model() {
        for (models, model, expected) in [
            (&["a", "b"][..], "b", Some("b")),
            (&["a"], "", Some("a")),
            (&["a"], " ", Some("a")),
            (&["a", "nomic-embed-text"], "", Some("a")),
            (&["a", "b"], "", None),
            (&[], "", None),
            (&["a"], "unlisted", Some("unlisted")),
        ] {
            let sent = asked(models, model).await;
            assert_eq!(sent.as_ref().ok().map(String::as_str), expected, "{models:?} {model:?}");
            if let Err(error) = sent {
                assert_eq!((error.code, error.retry), (NO_MODEL, false));
                assert!(models.iter().all(|name| error.text.contains(name)), "{error}");
            }
        }
    }

    #[tokio::test]
    async fn what_is_known_of_no_name_is_what_is_known_of_the_only_model() {
        let named = NamedModelOnly::new("near", Arc::new(Echo(vec!["a"])));
        assert_eq!(named.figures("", RequestUsage::default()).0, None);
        named.models().await.unwrap();
        assert_eq!(named.only().as_deref(), Some("a"));
        assert_eq!(named.figures("", RequestUsage::default()).0, Some(4_096));
        assert_eq!(named.figures("b", RequestUsage::default()).0, None);
    }
}
