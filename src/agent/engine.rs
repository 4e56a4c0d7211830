//! What running calls ask of the engine: a model for a question apart, the sessions.

use super::desk::Shared;
use super::lane::ToLane;
use crate::domain::SessionMeta;
use crate::domain::session::ThinkingLevel;
use crate::provider::{Chunk, Item, ModelRequest, Provider, ProviderError};
use crate::tools::host::{Completion, Host, WhichModel};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A longer answer to a question apart is cut off here, in bytes.
const MOST_ANSWER: usize = 200_000;

/// The engine, as calls of one session see it.
pub(super) struct Engine {
    shared: Arc<Shared>,
    meta: SessionMeta,
    lane: mpsc::Sender<ToLane>,
}

impl Engine {
    /// For calls of this session.
    pub(super) fn of(shared: &Arc<Shared>, meta: &SessionMeta, lane: mpsc::Sender<ToLane>) -> Self {
        Self { shared: shared.clone(), meta: meta.clone(), lane }
    }

    /// The connection of the session and the name of the model that is meant.
    fn model(&self, which: &WhichModel) -> Result<(Arc<dyn Provider>, String), String> {
        let connections = &self.shared.setup.connections;
        let known = self.meta.connection.as_ref().and_then(|name| Some((connections.info(name)?, name)));
        let Some((info, name)) = known else { return Err("The session has no connection.".to_owned()) };
        if let Some(why) = &info.missing {
            return Err(format!("The connection {name} cannot be used: {why}."));
        }
        let Some(provider) = connections.provider(name) else {
            return Err(format!("The connection {name} cannot be used by this version."));
        };
        let own = || self.meta.model.clone().filter(|model| !model.is_empty());
        let model = match which {
            WhichModel::Named(model) => Some(model.clone()),
            WhichModel::Small => Some(info.small_model.clone()).filter(|model| !model.is_empty()).or_else(own),
            WhichModel::Session => own(),
        };
        Ok((provider, model.unwrap_or_else(|| info.default_model.clone())))
    }
}

impl Host for Engine {
    fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>> {
        let asked = self.model(&wanted.model);
        let lane = self.lane.clone();
        Box::pin(async move {
            let (provider, model) = asked?;
            let request = ModelRequest {
                model: model.clone(),
                system: wanted.system,
                items: vec![Item::User(wanted.text.into())],
                tools: Vec::new(),
                thinking: ThinkingLevel::Off,
            };
            let answer = answer(provider, request, &model, lane);
            match tokio::time::timeout(wanted.patience, answer).await {
                Ok(answer) => answer.map_err(|error| error.to_string()),
                Err(_) => Err(format!("{model} did not answer within {} s.", wanted.patience.as_secs())),
            }
        })
    }
}

/// The whole text of one answer; what it used is reported to the lane.
pub(super) async fn answer(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    model: &str,
    lane: mpsc::Sender<ToLane>,
) -> Result<String, ProviderError> {
    let mut chunks = provider.stream(request);
    let (mut text, mut used) = (String::new(), None);
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(add) => text.push_str(&add),
            Chunk::Usage(now) => used = Some(now),
            Chunk::Stopped(_) => break,
            _ => {}
        }
        if text.len() > MOST_ANSWER {
            break;
        }
    }
    if let Some(used) = used {
        let (_, cost) = provider.figures(model, used);
        // A lane that ended counts no more.
        let _ = lane.send(ToLane::Apart(used, cost)).await;
    }
    Ok(text.trim().to_owned())
}
