//! Paths, and who answers them.

use super::guard::{self, Guarding};
use super::problem::{Problem, json};
use super::{events, fabric, inbound, page, rest, socket};
use crate::gateway::frame::ErrorCode;
use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use std::sync::Arc;

/// All routes, behind the guard.
pub(super) fn app(guarding: Arc<Guarding>) -> Router {
    const SESSIONS: &str = "/v1/workspaces/{workspace}/sessions";
    Router::new()
        .route("/healthz", get(healthz))
        .route(guard::SOCKET_PATH, get(socket::upgrade))
        .route(guard::INBOUND_PATH, post(inbound::receive))
        .route("/v1/workspaces", get(rest::workspaces))
        .route(SESSIONS, get(rest::sessions).post(rest::create))
        .route("/v1/workspaces/{workspace}/commands", post(rest::command))
        .route(&format!("{SESSIONS}/{{session}}/messages"), get(rest::messages).post(rest::send))
        .route(&format!("{SESSIONS}/{{session}}/events"), get(events::stream))
        .route("/", get(page::sessions))
        .route("/w/{workspace}/{session}", get(page::conversation))
        .route("/link/{link}", get(page::link))
        .merge(fabric::routes())
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(axum::middleware::from_fn_with_state(guarding.clone(), guard::guard))
        .with_state(guarding)
}

/// Says that the gateway answers, and nothing else: nobody needs a token for it.
async fn healthz() -> Response {
    json(StatusCode::OK, &serde_json::json!({ "ok": true }))
}

async fn no_such_path() -> Problem {
    Problem::not_found("No such path: see \"lisle help gateway\".")
}

async fn no_such_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::UnknownMethod, "This path does not take this method.")
}
