//! Reasons why a call ends early.

use crate::domain::tool::CallFacts;

/// Reason why a call has no outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The facts differ from those decided on: decide again.
    FactsChanged(Box<CallFacts>),
    /// Stopped before its end.
    Stopped(StoppedRun),
}

impl RunError {
    /// A call that was stopped, with its text so far.
    #[must_use]
    pub fn stopped(text: impl Into<String>) -> Self {
        Self::Stopped(StoppedRun { text: text.into(), protected: Vec::new() })
    }
}

/// Result of a call that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedRun {
    /// The text so far.
    pub text: String,
    /// Protected files that it made or changed, and what became of that, a line each.
    pub protected: Vec<String>,
}

/// Early end of a tool's work: a sentence for the model, or a message for the engine.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The call failed; the sentence is its result.
    Says(String),
    /// The engine has to act.
    Run(RunError),
}

impl From<String> for Halt {
    fn from(sentence: String) -> Self {
        Halt::Says(sentence)
    }
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        Halt::Run(error)
    }
}
