//! Bodies of requests and responses, as JSON.

use crate::channels::{InboundAnswer, InboundMessage};
use crate::domain::ids::MessageId;
use crate::domain::message::Message;
use crate::domain::session::SessionMeta;
use crate::domain::workspace::Workspace;
use crate::gateway::frame::FrameError;
use crate::protocol::{Command, NewSession, Stamped};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Answer to `GET /v1/workspaces`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkspaceList {
    pub workspaces: Vec<Workspace>,
}

/// Answer to a `GET` of `sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionPage {
    /// Number of sessions on all pages.
    pub total: usize,
    /// Sessions, latest first.
    pub sessions: Vec<SessionMeta>,
}

/// Answer to a `POST` to `sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionMade {
    pub session: SessionMeta,
}

/// Answer to a `GET` of `messages`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessagePage {
    pub session: SessionMeta,
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// Cursor of the page before this one; null at the beginning.
    pub before: Option<u64>,
}

/// Body of a `POST` to `messages`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewMessage {
    /// Id that the client chose: a message of this id is taken once.
    pub id: MessageId,
    pub text: String,
    /// The turn may ask, and waits until a client answers. Otherwise what would be asked is refused.
    #[serde(default = "yes")]
    pub ask: bool,
}

fn yes() -> bool {
    true
}

/// Answer to a `POST` to `messages`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageTaken {
    pub id: MessageId,
    /// It waits for the turn that runs.
    pub queued: bool,
    /// It was taken before, and nothing was done now.
    pub duplicate: bool,
}

/// Body of a `POST` to `commands`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenCommand {
    /// Id that the client chose for a message: it is taken once.
    #[serde(default)]
    pub message: Option<MessageId>,
    pub command: Command,
}

/// Answer to a `POST` to `commands`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CommandEvents {
    pub events: Vec<Arc<Stamped>>,
}

/// Body of a request that was not done.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HttpError {
    pub error: FrameError,
}

/// One request over HTTP, for the schema: method and path, its body, and what answers it.
pub(in crate::gateway) struct HttpExchange {
    pub path: &'static str,
    pub body: Option<Schema>,
    pub answer: Schema,
}

/// Requests whose bodies are JSON of lisle's own.
pub(in crate::gateway) fn exchanges(generator: &mut SchemaGenerator) -> Vec<HttpExchange> {
    let exchange = |path, body, answer| HttpExchange { path, body, answer };
    vec![
        exchange("GET /v1/workspaces", None, generator.subschema_for::<WorkspaceList>()),
        exchange("GET /v1/workspaces/W/sessions", None, generator.subschema_for::<SessionPage>()),
        exchange(
            "POST /v1/workspaces/W/sessions",
            Some(generator.subschema_for::<NewSession>()),
            generator.subschema_for::<SessionMade>(),
        ),
        exchange(
            "POST /v1/workspaces/W/commands",
            Some(generator.subschema_for::<GivenCommand>()),
            generator.subschema_for::<CommandEvents>(),
        ),
        exchange("GET /v1/workspaces/W/sessions/ID/messages", None, generator.subschema_for::<MessagePage>()),
        exchange(
            "POST /v1/workspaces/W/sessions/ID/messages",
            Some(generator.subschema_for::<NewMessage>()),
            generator.subschema_for::<MessageTaken>(),
        ),
        exchange("GET /v1/workspaces/W/sessions/ID/events", None, generator.subschema_for::<Stamped>()),
        exchange(
            "POST /v1/inbound",
            Some(generator.subschema_for::<InboundMessage>()),
            generator.subschema_for::<InboundAnswer>(),
        ),
    ]
}

/// Body of every request that was not done.
pub(in crate::gateway) fn error_body(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<HttpError>()
}
