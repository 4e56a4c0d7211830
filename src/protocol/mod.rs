//! The protocol between the engine and its clients: [`Command`] goes to the engine or to one session, [`Event`] comes
//! back
//! from it.
//!
//! Both are serialisable, so that a client in another process or on another machine is the same client. A client never
//! reads the session files; what it needs comes in events. Events of a session carry its id and a number that rises
//! by one, so that a late or reconnected client knows what it missed and asks for a snapshot with
//! [`SessionCommand::Open`].
//!
//! As JSON, a command is `{"to":"engine","command":…,"with":…}` or
//! `{"to":"session","session":ID,"command":…,"with":…}`, and
//! an event `{"v":…,"seq":…,"from":"engine","event":…,"with":…}` or the same with `"from":"session","session":ID`.
//! `with` is
//! absent where there is nothing to say. A client numbers its commands ([`ClientRequest`]) and gets [`ToClient`].

mod client;
mod engine;
mod event;
mod session;
mod shown;

pub use client::{ClientRequest, CommandError, ErrorCode, Reply, Scope, Scopes, ToClient};
pub use engine::{EngineCommand, NewSession};
pub use event::{
    Configured, ConnectionInfo, EngineEvent, Enhanced, Event, InForce, Opened, SessionEvent, Stamped, TurnEnd, VERSION,
};
pub use session::{QueueEdit, Queued, SessionCommand};
pub use shown::ShownRequests;

use crate::domain::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Command of a client, by its addressee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "to")]
pub enum Command {
    /// To the engine.
    Engine(EngineCommand),
    /// To one session.
    Session {
        /// Session id.
        #[serde(rename = "session")]
        id: SessionId,
        /// Command.
        #[serde(flatten)]
        command: SessionCommand,
    },
}

#[cfg(test)]
mod tests;
