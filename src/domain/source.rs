//! Sources as clients see them: which there are, what state they are in, what they offer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Beginning of the name of each tool of a source: `mcp__SOURCE__TOOL`.
pub const TOOL_PREFIX: &str = "mcp__";

/// One source of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceView {
    /// Name in tool names and commands.
    pub slug: String,
    /// Name for people. Not sanitised.
    pub name: String,
    /// Program or address. Not sanitised; no keys are in it.
    pub target: String,
    /// File that configures it.
    pub file: PathBuf,
    /// The session uses it.
    pub on: bool,
    /// State.
    pub state: SourceState,
    /// Its tools, once they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<SourceToolView>,
}

/// State of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum SourceState {
    /// Starts with the next message of a session that uses it.
    Idle,
    /// Starting.
    Starting,
    /// Its tools can be called.
    Ready,
    /// It does not run.
    Failed {
        /// Reason, a sentence. Not sanitised.
        why: String,
    },
    /// Its file is not trusted.
    NotTrusted,
    /// This version can't use it.
    Unsupported {
        /// Reason, a sentence.
        why: String,
    },
}

/// One tool of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceToolView {
    /// Name that models call.
    pub name: String,
    /// It is known to change nothing.
    pub read_only: bool,
    /// Tokens of its definition, estimated.
    pub tokens: u64,
}

impl SourceView {
    /// Tokens of all definitions, estimated.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }
}

impl SourceState {
    /// One or two words.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            SourceState::Idle => "not started",
            SourceState::Starting => "starting",
            SourceState::Ready => "ready",
            SourceState::Failed { .. } => "failed",
            SourceState::NotTrusted => "not trusted",
            SourceState::Unsupported { .. } => "not supported",
        }
    }

    /// Reason of a state that needs one.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            SourceState::Failed { why } | SourceState::Unsupported { why } => Some(why),
            SourceState::Idle | SourceState::Starting | SourceState::Ready | SourceState::NotTrusted => None,
        }
    }
}
