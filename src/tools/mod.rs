//! The tools of an agent: each describes itself, says what a call would touch, and runs one call under limits.
//!
//! A tool never asks the user and never knows the permission mode. `inspect` gathers facts without changing anything;
//! `run` does the work and gathers the facts that matter once more. Results are cut to their limit here, once.

use crate::domain::ids::CallId;
use crate::domain::permission::Sandbox;
use crate::domain::tool::{CallFacts, FileChange, Outcome, Proposal, ToolSpec, Touch};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub use call_place::CallPlace;
pub(crate) use halt::Halt;
pub use halt::{RunError, StoppedRun};

/// Resources of a running call.
#[derive(Clone)]
pub struct RunContext {
    /// Working directory.
    pub place: CallPlace,
    /// The facts that were decided on. Facts that differ right before running end the call with
    /// [`RunError::FactsChanged`].
    pub facts: CallFacts,
    /// Sandbox profile of commands.
    pub sandbox: Sandbox,
    /// Files read in this session: path and hash, for the rule that a file must be read before it is edited.
    pub seen: Arc<read_tracker::Seen>,
    /// Cancelled when the turn is stopped: processes get SIGTERM, after 2 s SIGKILL, with all descendants.
    pub stop: CancellationToken,
    /// The provider's id of this call; a question carries it.
    pub call: CallId,
    /// Takes the output of a running command, for the screen: the last lines, whole, at most a few times a second.
    pub progress: tokio::sync::mpsc::Sender<String>,
    /// The commands of the session that go on in the background.
    pub jobs: Arc<crate::tools::command::jobs::Jobs>,
    /// The engine around the call.
    pub host: Arc<dyn host::Host>,
}

impl RunContext {
    /// Looks once more whether the turn was stopped: right before the first thing that a call changes. What is done after
    /// that is done whole, and the call says so.
    ///
    /// # Errors
    /// [`RunError::Stopped`]; nothing was changed.
    pub(crate) fn before_changing(&self) -> Result<(), RunError> {
        if self.stop.is_cancelled() { Err(RunError::stopped("")) } else { Ok(()) }
    }
}

/// A tool.
pub trait Tool: Send + Sync {
    /// Description for a model.
    fn spec(&self) -> ToolSpec;

    /// True if it changes nothing: calls of one response may run side by side.
    fn reads_only(&self) -> bool;

    /// True if its results may hold keys of this machine that nobody meant to show: they are masked. False for what comes
    /// from elsewhere, or from the user.
    fn masks_keys(&self) -> bool {
        true
    }

    /// Subject of a call on one line: the path, the command, the pattern. Works on any input, also
    /// an invalid one.
    fn subject(&self, input: &Value) -> String;

    /// Facts about the call. Changes nothing; may read files (blocking; called off the async threads).
    ///
    /// # Errors
    /// A sentence for the model when the input is wrong or the call cannot work: the nearest neighbours of a missing
    /// file, the closest text for an edit that does not match, "read the file first".
    fn inspect(&self, input: &Value, place: &CallPlace, seen: &read_tracker::Seen) -> Result<CallFacts, String>;

    /// Runs the call.
    fn run(&self, input: Value, with: RunContext) -> BoxFuture<'static, Result<Outcome, RunError>>;
}

/// Turns a halt into what [`Tool::run`] gives back.
pub(crate) fn settled(result: Result<Outcome, Halt>) -> Result<Outcome, RunError> {
    match result {
        Ok(outcome) => Ok(outcome),
        Err(Halt::Says(sentence)) => Ok(Outcome::error(sentence)),
        Err(Halt::Run(error)) => Err(error),
    }
}

/// Runs work that touches the disk off the async threads.
pub(crate) fn blocking(
    work: impl FnOnce() -> Result<Outcome, Halt> + Send + 'static,
) -> BoxFuture<'static, Result<Outcome, RunError>> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => settled(result),
            Err(e) => Ok(Outcome::error(format!("The tool crashed: {e}. Try another way."))),
        }
    })
}

/// The same for work that only reads and is left to itself when the turn was stopped: a file system may hold it for ever.
pub(crate) fn reading(
    stop: CancellationToken,
    work: impl FnOnce() -> Result<Outcome, Halt> + Send + 'static,
) -> BoxFuture<'static, Result<Outcome, RunError>> {
    Box::pin(async move {
        let stopped = async {
            stop.cancelled().await;
            tokio::time::sleep(LEFT_ALONE).await;
        };
        tokio::select! {
            result = blocking(work) => result,
            () = stopped => Err(RunError::Stopped(StoppedRun { text: String::new(), protected: Vec::new() })),
        }
    })
}

/// Time in which work that was stopped ends by itself.
const LEFT_ALONE: std::time::Duration = std::time::Duration::from_secs(2);

/// True if two gatherings of facts agree. A change counts by its hashes: the lines of a very large
/// diff are an approximation that may differ.
pub(crate) fn same_facts(a: &CallFacts, b: &CallFacts) -> bool {
    let proposal = match (&a.proposal, &b.proposal) {
        (Proposal::Change { before, after, .. }, Proposal::Change { before: b, after: a, .. }) => {
            (before, after) == (b, a)
        }
        (Proposal::Changes { changes: one }, Proposal::Changes { changes: other }) => {
            let known = |changes: &[FileChange]| -> Vec<(String, String, String, bool)> {
                let of =
                    |one: &FileChange| (one.diff.path.clone(), one.before.clone(), one.after.clone(), one.diff.is_gone);
                changes.iter().map(of).collect()
            };
            known(one) == known(other)
        }
        (one, other) => one == other,
    };
    proposal && a.tool == b.tool && a.subject == b.subject && a.touches == b.touches
}

/// Checks that a reading tool opens what was decided on: a link may lead elsewhere by now.
pub(crate) fn still(facts: CallFacts, with: &RunContext) -> Result<(), RunError> {
    if same_facts(&facts, &with.facts) { Ok(()) } else { Err(RunError::FactsChanged(Box::new(facts))) }
}

/// Facts of a call of `tool` that have no preview.
pub(crate) fn plain(tool: &str, subject: String, touch: Touch) -> CallFacts {
    CallFacts {
        tool: tool.to_owned(),
        subject,
        touches: vec![touch],
        proposal: Proposal::Plain,
        secrets_here: false,
        left_out: Vec::new(),
    }
}

// One file a tool.
pub mod ask_user;
pub mod bash;
pub mod call_llm;
pub mod edit;
pub mod fetch;
pub mod glob;
pub mod grep;
pub mod job_output;
mod left_out;
pub mod list;
pub mod patch;
pub mod properties;
pub mod read;
pub mod sessions;
pub mod spawn;
pub mod step;
pub mod submit_plan;
pub mod todo;
pub mod transform_data;
pub mod write;

// What several of them need.
pub mod command;
mod command_line;
pub mod files;
pub mod protected_files;
pub mod results;

// What all of them need.
mod call_place;
mod halt;
pub mod host;
pub mod input;
pub mod json_schema;
pub mod read_tracker;
pub mod registry;

#[cfg(test)]
pub(crate) mod bench;
