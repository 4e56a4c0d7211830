//! Shared conversations, on a socket of their own: `/s/ID` and nothing else, without tokens and cookies.

use super::access_log::LogLine;
use super::html::{html, page};
use super::options::{HttpOptions, Peer};
use crate::gateway::home::GatewayFiles;
use crate::gateway::shares::{SharedContent, SharedPages};
use crate::json_log::{self, JsonLog};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;
use std::time::Instant;

const HEADERS: &[(&str, &str)] = &[
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    (
        "content-security-policy",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         sandbox",
    ),
    ("x-robots-tag", "noindex, nofollow"),
];

struct Sharing {
    pages: SharedPages,
    behind_proxy: bool,
    log: JsonLog,
}

/// Its routes.
pub(super) fn app(options: &HttpOptions, files: &GatewayFiles) -> Router {
    let log = JsonLog::new(files.folder().join("shared.log"), json_log::USUAL);
    let sharing = Arc::new(Sharing { pages: SharedPages::of(files), behind_proxy: options.behind_proxy, log });
    Router::new()
        .route("/s/{id}", get(read))
        .fallback(nothing)
        .layer(axum::middleware::from_fn_with_state(sharing.clone(), note))
        .with_state(sharing)
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn words(status: StatusCode, text: &str) -> Response {
    html(status, page("lisle", &format!("<p>{text}</p>\n")))
}

async fn nothing() -> Response {
    words(StatusCode::NOT_FOUND, "No page at this address.")
}

async fn read(State(sharing): State<Arc<Sharing>>, Path(id): Path<String>) -> Response {
    let pages = sharing.pages.clone();
    let found = tokio::task::spawn_blocking(move || pages.read(&id, now())).await;
    match found.unwrap_or(SharedContent::Unknown) {
        SharedContent::Page(bytes) => html(StatusCode::OK, bytes),
        SharedContent::Expired => words(StatusCode::GONE, "This page is no longer shared."),
        SharedContent::Unknown => nothing().await,
    }
}

/// Adds the headers of every page, and a line to the log, in which no id stands.
async fn note(State(sharing): State<Arc<Sharing>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let peer = request.extensions().get::<Peer>();
    let address = peer.map(|peer| peer.client(request.headers(), sharing.behind_proxy).to_string()).unwrap_or_default();
    let method = request.method().clone();
    let path = if request.uri().path().starts_with("/s/") { "/s/" } else { "" };
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    sharing.log.add(&LogLine {
        at: now(),
        address,
        method: method.as_str(),
        path,
        status: response.status().as_u16(),
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        token: None,
    });
    response
}
