//! Sessions by their names, as lists of messages. One without a name has its id.

use super::super::ask::Asking;
use super::super::problem::{Problem, json};
use super::super::rest;
use super::asked::Asked;
use crate::domain::SessionId;
use crate::domain::message::{Body as RowBody, Message};
use crate::domain::prompt_text::name_fault;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::gateway::frame::ErrorCode;
use crate::gateway::home::private_folder;
use crate::plain_file;
use crate::protocol::{Command, EngineCommand, EngineEvent, Event, Scope, SessionCommand, SessionEvent};
use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;

/// Bytes of a session that is saved at most.
const SAVED: usize = 16 << 20;
/// Bytes of texts in a session that is shown at most.
const SHOWN: usize = 64 << 20;
/// Rows that are read at once.
const ROWS: usize = 200;

/// A message as a chat API has it.
#[derive(Debug, Serialize, Deserialize)]
struct ChatMessage {
    role: String,
    content: String,
}

/// A session, with Fabric's field names.
#[derive(Debug, Serialize)]
struct SavedSession<'a> {
    #[serde(rename = "Name")]
    name: &'a str,
    #[serde(rename = "Messages")]
    messages: Vec<ChatMessage>,
}

fn name_of(meta: &SessionMeta) -> &str {
    meta.names.alias.as_deref().unwrap_or_else(|| meta.id.as_str())
}

/// The session of a name or an id, if there is one.
pub(super) async fn found(asking: &mut Asking, name: &str) -> Result<Option<SessionMeta>, Problem> {
    let all = asking.list().await?;
    let mut named: Vec<SessionMeta> =
        all.into_iter().filter(|meta| meta.id.as_str() == name || meta.names.alias.as_deref() == Some(name)).collect();
    // Of two with one name, as a restored one may have, the older one.
    named.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(named.into_iter().next())
}

async fn known(asking: &mut Asking, name: &str) -> Result<SessionMeta, Problem> {
    let found = found(asking, name).await?;
    found.ok_or_else(|| Problem::not_found(format!("No session {name:?}.")))
}

/// `GET /sessions/names`: latest first.
pub(super) async fn names(asked: Asked) -> Result<Response, Problem> {
    let all = asked.engine(Scope::Read).await?.list().await?;
    let names: Vec<&str> = all.iter().filter(|meta| !(meta.hidden || meta.archived)).map(name_of).collect();
    Ok(json(StatusCode::OK, &names))
}

/// `GET /sessions/exists/NAME`
pub(super) async fn exists(asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let found = found(&mut asked.engine(Scope::Read).await?, &name).await?;
    Ok(json(StatusCode::OK, &found.is_some()))
}

/// What the user and the model said in a row.
fn message(row: Message) -> Option<ChatMessage> {
    let (role, content) = match row.body {
        RowBody::User(said) => ("user", said.text),
        RowBody::Assistant(said) => ("assistant", said.text),
        RowBody::Thinking(_)
        | RowBody::Tool(_)
        | RowBody::Error(_)
        | RowBody::Info(_)
        | RowBody::Plan(_)
        | RowBody::Odd(_) => return None,
    };
    // Rows of a spawned session are a conversation of their own.
    (row.parent.is_none() && !content.trim().is_empty()).then(|| ChatMessage { role: role.to_owned(), content })
}

/// All messages of a session, oldest first.
async fn messages(asking: &mut Asking, id: &SessionId) -> Result<Vec<ChatMessage>, Problem> {
    let opened = asking.open(id, ROWS).await?;
    let said = |rows: Vec<Message>| rows.into_iter().filter_map(message).collect::<Vec<_>>();
    let (mut pages, mut earlier, mut bytes) = (vec![said(opened.rows)], opened.earlier, 0);
    while let Some(cursor) = earlier {
        let events = asking.session(id, SessionCommand::Earlier { cursor, rows: ROWS }, None).await?;
        let page = events.iter().find_map(|stamped| match &stamped.event {
            Event::Session { event: SessionEvent::Page { rows, earlier }, .. } => Some((rows.clone(), *earlier)),
            Event::Session { .. } | Event::Engine(_) => None,
        });
        let (rows, before) = page.ok_or_else(|| Problem::unavailable("The session changed; ask again."))?;
        let page = said(rows);
        bytes += page.iter().map(|one| one.content.len()).sum::<usize>();
        if bytes > SHOWN {
            return Err(Problem::invalid("The session is too long for one answer: read it page by page."));
        }
        pages.push(page);
        earlier = before;
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

/// `GET /sessions/NAME`
pub(super) async fn show(asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let mut asking = asked.engine(Scope::Read).await?;
    let meta = known(&mut asking, &name).await?;
    let messages = messages(&mut asking, &meta.id).await?;
    Ok(json(StatusCode::OK, &SavedSession { name: name_of(&meta), messages }))
}

/// `POST /sessions/NAME`: the body is the list of messages. What had the name goes to the trash.
pub(super) async fn save(asked: Asked, Path(name): Path<String>, given: Body) -> Result<Response, Problem> {
    let mut asking = asked.engine(Scope::Admin).await?;
    if let Some(fault) = name_fault(&name) {
        return Err(Problem::invalid(format!("Invalid name: {fault}.")));
    }
    let saved: Vec<ChatMessage> = rest::body_of(given, SAVED).await?;
    if saved.is_empty() {
        return Err(Problem::invalid("A session has at least one message."));
    }
    if let Some(other) = saved.iter().find(|one| !matches!(one.role.as_str(), "system" | "user" | "assistant" | "meta"))
    {
        return Err(Problem::invalid(format!("{:?} is no role: system, user, assistant, meta.", other.role)));
    }
    let old = found(&mut asking, &name).await?;
    if old.as_ref().is_some_and(|old| old.names.alias.as_deref() != Some(name.as_str())) {
        return Err(Problem::invalid("This is the id of a session, not a name."));
    }
    let made = import(&mut asking, asked.guarding.saving.join(random_name()), &name, &saved).await?;
    // Only now that the new one is on the disk.
    if let Some(old) = old {
        asking.ask(Command::Engine(EngineCommand::Delete { sessions: vec![old.id], now: false }), None).await?;
    }
    give_name(&mut asking, made, name).await?;
    Ok(Response::default())
}

fn random_name() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// Makes a session of these messages, by way of a file in a folder that is made for it.
async fn import(asking: &mut Asking, folder: PathBuf, name: &str, saved: &[ChatMessage]) -> Result<SessionId, Problem> {
    let text = serde_json::to_vec(saved).map_err(|error| Problem::invalid(format!("{error}.")))?;
    let (made, path) = (folder.clone(), folder.join(format!("{name}.json")));
    let file = path.clone();
    let write = move || private_folder(&made).and_then(|()| plain_file::create_new(&file)?.write_all(&text));
    let written = tokio::task::spawn_blocking(write).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    if let Err(error) = written {
        let text = format!("Can't write {}: {error}.", path.display());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Refused, text));
    }
    let events = asking.ask(Command::Engine(EngineCommand::Import { path, from: None }), None).await;
    let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(folder)).await;
    let made = events?.iter().find_map(|stamped| match &stamped.event {
        Event::Engine(EngineEvent::Imported { session, .. }) => Some(session.clone()),
        Event::Session { .. } | Event::Engine(_) => None,
    });
    made.ok_or_else(|| Problem::unavailable("The session was not made."))
}

async fn give_name(asking: &mut Asking, id: SessionId, name: String) -> Result<(), Problem> {
    let change = PropertyChange::Name(Some(name));
    asking.ask(Command::Engine(EngineCommand::Change { sessions: vec![id], change }), None).await.map(drop)
}

/// `DELETE /sessions/NAME`: to the trash.
pub(super) async fn delete(asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let mut asking = asked.engine(Scope::Write).await?;
    let meta = known(&mut asking, &name).await?;
    asking.ask(Command::Engine(EngineCommand::Delete { sessions: vec![meta.id], now: false }), None).await?;
    Ok(Response::default())
}

/// `PUT /sessions/rename/OLD/NEW`
pub(super) async fn rename(asked: Asked, Path((old, new)): Path<(String, String)>) -> Result<Response, Problem> {
    let mut asking = asked.engine(Scope::Write).await?;
    let meta = known(&mut asking, &old).await?;
    give_name(&mut asking, meta.id, new).await?;
    Ok(Response::default())
}
