//! Requests of tools to the engine around them. The engine implements it; a tool knows no
//! connection and no files of sessions.

use crate::domain::ids::{CallId, SessionId};
use crate::domain::message::Message;
use crate::domain::permission::Mode;
use crate::domain::property::Properties;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::domain::tool::{CallFacts, Child};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The engine, for a running call of one session. By default there is none behind it.
pub trait Host: Send + Sync {
    /// Asks a model once, without tools. The cost counts for the session.
    ///
    /// # Errors
    /// A sentence: there is no model to ask, it failed, or it took too long.
    fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>>;

    /// The session that the call belongs to.
    fn own(&self) -> Option<SessionMeta> {
        None
    }

    /// Statuses, labels and views of the workspace.
    fn properties(&self) -> Arc<Properties> {
        Arc::default()
    }

    /// All sessions of the workspace, in no order.
    fn sessions(&self) -> BoxFuture<'static, Result<Vec<SessionMeta>, String>> {
        Box::pin(async { Err("No sessions.".to_owned()) })
    }

    /// The last rows of a session, oldest first.
    ///
    /// # Errors
    /// A sentence: there is no such session, or it cannot be read.
    fn said(&self, session: SessionId, rows: usize) -> BoxFuture<'static, Result<Vec<Message>, String>> {
        let _ = (session, rows);
        Box::pin(async { Err("No sessions.".to_owned()) })
    }

    /// Changes properties of a session.
    ///
    /// # Errors
    /// A sentence: there is no such session, or it cannot be changed.
    fn change(&self, session: SessionId, change: PropertyChange) -> BoxFuture<'static, Result<(), String>> {
        let _ = (session, change);
        Box::pin(async { Err("No sessions.".to_owned()) })
    }

    /// Spawns a session that does a task, and waits for what it says at its end, unless it is to go on in the background.
    ///
    /// # Errors
    /// Reason why it was not begun, or ended without an answer.
    fn spawn(&self, task: Task) -> BoxFuture<'static, Result<Spawned, NotDone>> {
        let _ = task;
        Box::pin(async { Err(NotDone::Failed { text: "No session can be spawned here.".to_owned(), child: None }) })
    }

    /// Asks if a command of this call may connect to the host in the facts; may wait for the user.
    /// Dropping the future withdraws the question.
    ///
    /// # Errors
    /// A sentence why not.
    fn may_reach(&self, call: CallId, facts: CallFacts) -> BoxFuture<'static, Result<(), String>> {
        let _ = (call, facts);
        Box::pin(async { Err("This run is non-interactive.".to_owned()) })
    }

    /// The small model of the session's connection, where it has one of its own.
    fn small_model(&self) -> Option<String> {
        None
    }
}

/// No engine: whatever is asked fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Host for Alone {
    fn complete(&self, _: Completion) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(async { Err("No model available.".to_owned()) })
    }
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Model of the session's connection.
    pub model: WhichModel,
    /// Instructions.
    pub system: String,
    /// Input text.
    pub text: String,
    /// Time limit.
    pub patience: Duration,
}

/// A model of the session's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichModel {
    /// The small one, or the session's where there is none.
    Small,
    /// The session's.
    Session,
    /// The session of the call.
    Named(String),
}

/// A task for a session of its own.
#[derive(Clone, Debug)]
pub struct Task {
    /// The call that spawns it.
    pub call: CallId,
    /// Title in the list.
    pub title: String,
    /// First message.
    pub prompt: String,
    /// A mode that is not looser than the parent's; `None` for the parent's.
    pub mode: Option<Mode>,
    /// Connection; `None` for the parent's.
    pub connection: Option<String>,
    /// Agent of the user's own that it is, by its name.
    pub agent: Option<String>,
    /// Model.
    pub model: WhichModel,
    /// The call does not wait: the answer comes as a message when it is there.
    pub background: bool,
    /// Stops it with the call.
    pub stop: CancellationToken,
}

/// Result of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// Last answer; of one in the background a word that it began.
    pub text: String,
    /// The session, and what it did.
    pub child: Child,
}

/// Reason why a task has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// The call was stopped; what the session had said.
    Stopped(String),
    /// A sentence, and the session where one was begun.
    Failed {
        /// The sentence.
        text: String,
        /// The session.
        child: Option<Child>,
    },
}
