//! Endpoints of Fabric's REST server, with its paths and field names: contexts, patterns, strategies, models, sessions, chat.
//!
//! Other than there: a token is needed (also as `X-API-Key`), names are checked, empty lists are `[]`, an unknown session is
//! not found, bodies are validated, and a session that is saved anew goes to the trash as it was.

mod asked;
mod chat;
mod saved_sessions;
mod texts;

use self::asked::Asked;
use super::guard::Guarding;
use super::problem::{Problem, json};
use crate::domain::prompt_text::PromptKind;
use crate::protocol::{EngineEvent, Event, Scope};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Extension, Router};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time for an engine to say what it has.
const BEGINS: Duration = Duration::from_secs(30);

/// Routes of Fabric. `names`, `exists` and `rename` are no names of things there.
pub(super) fn routes() -> Router<Arc<Guarding>> {
    let texts = |kind: PromptKind| {
        Router::new()
            .route("/names", get(texts::names))
            .route("/exists/{name}", get(texts::exists))
            .route("/rename/{old}/{new}", put(texts::rename))
            .route("/{name}", get(texts::show).post(texts::save).delete(texts::delete))
            .layer(Extension(kind))
    };
    let sessions = Router::new()
        .route("/names", get(saved_sessions::names))
        .route("/exists/{name}", get(saved_sessions::exists))
        .route("/rename/{old}/{new}", put(saved_sessions::rename))
        .route("/{name}", get(saved_sessions::show).post(saved_sessions::save).delete(saved_sessions::delete));
    Router::new()
        .nest("/contexts", texts(PromptKind::Context))
        .nest("/patterns", texts(PromptKind::Pattern))
        .nest("/sessions", sessions)
        .route("/chat", post(chat::chat))
        .route("/patterns/{name}/apply", post(texts::apply))
        .route("/strategies", get(texts::strategies))
        .route("/models/names", get(models))
}

/// `GET /models/names`: models that are known without asking servers, of the connections that can be used.
async fn models(asked: Asked) -> Result<Response, Problem> {
    let mut asking = asked.engine(Scope::Read).await?;
    let configured = async {
        loop {
            match asking.link.events.event().await.map(|stamped| stamped.event) {
                Some(Event::Engine(EngineEvent::Configured(configured))) => return Some(configured),
                Some(_) => {}
                None => return None,
            }
        }
    };
    let configured = tokio::time::timeout(BEGINS, configured).await.ok().flatten();
    let configured = configured.ok_or_else(|| Problem::unavailable("The engine did not answer in time."))?;
    let mut vendors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for connection in configured.connections.into_iter().filter(|one| one.missing.is_none() && !one.offered) {
        let mut models = connection.models;
        if !connection.default_model.is_empty() && !models.contains(&connection.default_model) {
            models.push(connection.default_model);
        }
        vendors.insert(connection.name.as_str().to_owned(), models);
    }
    let mut models: Vec<&String> = vendors.values().flatten().collect();
    models.sort();
    models.dedup();
    Ok(json(StatusCode::OK, &serde_json::json!({ "models": models, "vendors": vendors })))
}
