//! Workspaces, sessions and messages.

use super::ask::{self, Asking};
use super::bodies::{
    CommandEvents, GivenCommand, MessagePage, MessageTaken, NewMessage, SessionMade, SessionPage, WorkspaceList,
};
use super::guard::{Caller, Guarding};
use super::problem::{Problem, json};
use crate::gateway::frame::ErrorCode;
use crate::gateway::session_lists::{ListPart, ListRange};
use crate::protocol::{self, Command, EngineCommand, Event, NewSession, Scope, SessionCommand, SessionEvent};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a body at most.
pub(super) const BODY: usize = 1 << 20;
/// Time for a body to come.
const BODY_COMES: Duration = Duration::from_secs(30);
/// Messages of a page, where the client says nothing.
const ROWS: usize = 50;
/// Messages of a page at most.
const MOST_ROWS: usize = 200;
/// Sessions of a page, where the client says nothing.
const SESSIONS: usize = 200;
/// Sessions of a page at most.
const MOST_SESSIONS: usize = 1_000;

/// Value of a parameter in a query; `None` if it is not there.
pub(super) fn parameter<T: FromStr>(query: Option<&str>, name: &str) -> Result<Option<T>, Problem> {
    let mut all = query.unwrap_or_default().split('&').filter_map(|one| one.split_once('='));
    let Some((_, value)) = all.find(|(found, _)| *found == name) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| Problem::invalid(format!("{name} in the query is a number.")))
}

/// Reads a body as JSON.
pub(super) async fn body<T: DeserializeOwned>(given: Body) -> Result<T, Problem> {
    body_of(given, BODY).await
}

/// Reads a body of at most so many bytes as JSON.
pub(super) async fn body_of<T: DeserializeOwned>(given: Body, most: usize) -> Result<T, Problem> {
    let bytes = bytes(given, most).await?;
    serde_json::from_slice(&bytes).map_err(|error| Problem::invalid(format!("Invalid body: {error}.")))
}

/// Reads a body of at most so many bytes.
pub(super) async fn bytes(given: Body, most: usize) -> Result<Vec<u8>, Problem> {
    let whole = tokio::time::timeout(BODY_COMES, Limited::new(given, most).collect()).await;
    let whole = whole.map_err(|_| {
        Problem::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::InvalidRequest, "The body did not come in time.")
    })?;
    let bytes = whole.map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => {
            let text = format!("A body has at most {most} bytes.");
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, text)
        }
        Err(error) => Problem::invalid(format!("Can't read the body: {error}.")),
    })?;
    Ok(bytes.to_bytes().into())
}

/// `GET /v1/workspaces`
pub(super) async fn workspaces(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    caller.needs(Scope::Read)?;
    let all = guarding.gateway.workspaces().await;
    Ok(json(StatusCode::OK, &WorkspaceList { workspaces: all }))
}

/// `GET /v1/workspaces/W/sessions`
pub(super) async fn sessions(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path(workspace): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?;
    let limit = parameter(query.as_deref(), "limit")?.unwrap_or(SESSIONS).clamp(1, MOST_SESSIONS);
    let offset = parameter(query.as_deref(), "offset")?.unwrap_or(0);
    let all = parameter::<u8>(query.as_deref(), "all")?.is_some_and(|all| all > 0);
    let range = ListRange { all, offset, limit };
    let ListPart { total, sessions } = Asking::of(&guarding, &workspace, grant, false).await?.sessions(range).await?;
    Ok(json(StatusCode::OK, &SessionPage { total, sessions }))
}

/// `GET /v1/workspaces/W/sessions/ID/messages`
pub(super) async fn messages(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path((workspace, session)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?;
    let id = ask::session_id(&session)?;
    let rows = parameter(query.as_deref(), "limit")?.unwrap_or(ROWS).clamp(1, MOST_ROWS);
    let before: Option<u64> = parameter(query.as_deref(), "before")?;
    let mut asking = Asking::of(&guarding, &workspace, grant, false).await?;
    let Some(cursor) = before else {
        let opened = asking.open(&id, rows).await?;
        let page = MessagePage { session: opened.meta, messages: opened.rows, before: opened.earlier };
        return Ok(json(StatusCode::OK, &page));
    };
    let opened = asking.open(&id, 1).await?;
    let events = asking.session(&id, SessionCommand::Earlier { cursor, rows }, None).await?;
    let page = events.into_iter().find_map(|stamped| match Arc::unwrap_or_clone(stamped).event {
        Event::Session { event: SessionEvent::Page { rows, earlier }, .. } => Some((rows, earlier)),
        Event::Session { .. } | Event::Engine(_) => None,
    });
    let (rows, earlier) = page.ok_or_else(|| Problem::invalid("No messages at this position."))?;
    let page = MessagePage { session: opened.meta, messages: rows, before: earlier };
    Ok(json(StatusCode::OK, &page))
}

/// Header with the key of a new session, for clients that send one with every request that they may repeat.
const KEY: &str = "idempotency-key";

/// `POST /v1/workspaces/W/sessions`: the body is a [`NewSession`]. With a key that was used before it answers with the session
/// that was made.
pub(super) async fn create(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path(workspace): Path<String>,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Write)?;
    let mut new: NewSession = body(given).await?;
    if let Some(key) = headers.get(KEY) {
        let key = key.to_str().map_err(|_| Problem::invalid("Idempotency-Key is no text."))?;
        // Quoted as a structured header has it, or bare.
        new.key.get_or_insert_with(|| key.trim_matches('"').to_owned());
    }
    let mut asking = Asking::of(&guarding, &workspace, grant, false).await?;
    let made = asking.create(new).await?;
    Ok(json(StatusCode::CREATED, &SessionMade { session: made }))
}

/// `POST /v1/workspaces/W/commands`: any command, with the events that answer it.
pub(super) async fn command(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path(workspace): Path<String>,
    given: Body,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?;
    let GivenCommand { message, command } = body(given).await?;
    if command == Command::Engine(EngineCommand::Shutdown) {
        return Err(Problem::invalid("\"lisle gateway stop\" ends the gateway."));
    }
    let mut asking = Asking::of(&guarding, &workspace, grant, true).await?;
    if let Command::Session { id, .. } = &command {
        // Only who has seen a session may answer what it asks.
        asking.open(id, 1).await?;
    }
    let events = asking.ask(command, message).await?;
    Ok(json(StatusCode::OK, &CommandEvents { events }))
}

/// `POST /v1/workspaces/W/sessions/ID/messages`
pub(super) async fn send(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path((workspace, session)): Path<(String, String)>,
    given: Body,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Write)?;
    let id = ask::session_id(&session)?;
    let NewMessage { id: message, text, ask } = body(given).await?;
    if text.trim().is_empty() {
        return Err(Problem::invalid("A message has a text."));
    }
    let mut asking = Asking::of(&guarding, &workspace, grant, ask).await?;
    asking.open(&id, 1).await?;
    let done = asking.session(&id, SessionCommand::send(text), Some(message.clone())).await;
    let events = match done {
        Ok(events) => events,
        Err(problem) if problem.error.details == Some(protocol::ErrorCode::Duplicate) => {
            let taken = MessageTaken { id: message, queued: false, duplicate: true };
            return Ok(json(StatusCode::OK, &taken));
        }
        Err(problem) => return Err(problem),
    };
    let queued = events.iter().any(|stamped| {
        matches!(stamped.event, Event::Session { event: SessionEvent::Accepted { queued: true, .. }, .. })
    });
    Ok(json(StatusCode::ACCEPTED, &MessageTaken { id: message, queued, duplicate: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_query_are_numbers() {
        for (query, expected) in [
            (None, Some(None)),
            (Some(""), Some(None)),
            (Some("limit=7"), Some(Some(7))),
            (Some("a=b&limit=8&limit=9"), Some(Some(8))),
            (Some("limit"), Some(None)),
            (Some("limit="), None),
            (Some("limit=-1"), None),
            (Some("limit=99999999999999999999999"), None),
        ] {
            assert_eq!(parameter::<usize>(query, "limit").ok(), expected, "{query:?}");
        }
    }
}
