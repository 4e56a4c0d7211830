//! What tools can ask of the engine around them. The engine implements it; a tool knows no connection and no session.

use futures_util::future::BoxFuture;
use std::time::Duration;

/// The engine, for a running call of one session.
pub trait Host: Send + Sync {
    /// Asks a model once, without tools. The cost counts for the session.
    ///
    /// # Errors
    /// A sentence: there is no model to ask, it failed, or it took too long.
    fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>>;

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
        Box::pin(async { Err("There is no model to ask.".to_owned()) })
    }
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which model of the session's connection.
    pub model: WhichModel,
    /// What it is to do.
    pub system: String,
    /// What it is given.
    pub text: String,
    /// How long it may take.
    pub patience: Duration,
}

/// A model of the session's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichModel {
    /// The small one, or the session's where there is none.
    Small,
    /// The session's.
    Session,
    /// This one.
    Named(String),
}
