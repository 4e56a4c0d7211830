//! A request of Fabric's endpoints: its query, its workspace and the client that sent it.

use super::super::ask::{self, Asking};
use super::super::guard::{Caller, Guarding};
use super::super::problem::Problem;
use crate::domain::percent::percent_decoded;
use crate::protocol::Scope;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Query of a request, and the client that sent it.
pub(super) struct Asked {
    pub(super) guarding: Arc<Guarding>,
    pub(super) caller: Caller,
    query: Option<String>,
}

impl FromRequestParts<Arc<Guarding>> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<Guarding>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Problem::unavailable("The connection is not known."))?;
        Ok(Self { guarding: state.clone(), caller, query: parts.uri.query().map(str::to_owned) })
    }
}

impl Asked {
    /// Parameters of the query as text.
    pub(super) fn parameters(&self) -> BTreeMap<String, String> {
        let pairs = self.query.as_deref().unwrap_or_default().split('&').filter_map(|one| one.split_once('='));
        let word = |text: &str| percent_decoded(&text.replace('+', " "));
        pairs.map(|(name, value)| (word(name), word(value))).collect()
    }

    /// Folder of the workspace that the query names with `workspace`; without, of the one that was used last.
    pub(super) async fn folder(&self) -> Result<PathBuf, Problem> {
        match self.parameters().remove("workspace") {
            Some(name) => Ok(ask::workspace(&self.guarding, &name).await?.path),
            None => self.guarding.gateway.last_folder().await.map_err(Problem::unavailable),
        }
    }

    /// Client of the workspace's engine, for whoever has this scope.
    pub(super) async fn engine(&self, scope: Scope) -> Result<Asking, Problem> {
        let grant = self.caller.needs(scope)?;
        Asking::in_folder(&self.guarding, &self.folder().await?, grant, false).await
    }
}
