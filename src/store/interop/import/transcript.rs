//! A conversation of another program while it is read, whichever program it is.

use super::claude::ClaudeTranscript;
use super::codex::CodexRollout;
use super::parsed::{ImportFacts, ImportedLine, row_id, word};
use crate::domain::MessageId;
use serde_json::Value;
use std::path::Path;

/// A conversation of another program while it is read: first all of it for what it is, then row by row.
#[derive(Clone)]
pub(super) enum ForeignTranscript {
    Claude(Box<ClaudeTranscript>),
    Codex(Box<CodexRollout>),
}

impl ForeignTranscript {
    /// The same, to be read from its beginning.
    pub(super) fn again(&self) -> Self {
        self.clone()
    }

    pub(super) fn first(&mut self, value: &Value, number: u64) {
        match self {
            ForeignTranscript::Claude(reading) => reading.first(value),
            ForeignTranscript::Codex(reading) => reading.first(value, number),
        }
    }

    pub(super) fn ready(&mut self, path: &Path) {
        match self {
            ForeignTranscript::Claude(reading) => reading.ready(),
            ForeignTranscript::Codex(reading) => reading.ready(path),
        }
    }

    pub(super) fn read(&mut self, value: &Value, number: u64) -> Vec<ImportedLine> {
        match self {
            ForeignTranscript::Claude(reading) => reading.read(value),
            ForeignTranscript::Codex(reading) => reading.read(value, number),
        }
    }

    pub(super) fn facts(&self) -> &ImportFacts {
        match self {
            ForeignTranscript::Claude(reading) => &reading.facts,
            ForeignTranscript::Codex(reading) => &reading.facts,
        }
    }

    pub(super) fn rewound(&self) -> usize {
        match self {
            ForeignTranscript::Claude(reading) => reading.rewound,
            ForeignTranscript::Codex(reading) => reading.rewound(),
        }
    }

    /// The id that the rows of a line get: the same at the next import.
    pub(super) fn row(&self, value: &Value, line: LinePosition<'_>, index: usize) -> MessageId {
        match self {
            ForeignTranscript::Claude(_) if !word(value, "uuid").is_empty() => row_id("cc", word(value, "uuid"), index),
            ForeignTranscript::Claude(_) => row_id("cc", &line.number.to_string(), index),
            ForeignTranscript::Codex(_) if line.segment.is_empty() => row_id("cx", &line.number.to_string(), index),
            ForeignTranscript::Codex(_) => row_id("cx", &format!("{}-{}", line.segment, line.number), index),
        }
    }
}

/// Position of a line in a conversation.
#[derive(Clone, Copy)]
pub(super) struct LinePosition<'p> {
    /// Ordinal of the line, or the number of lines before it.
    pub(super) number: u64,
    /// See [`ConversationFile::segment`].
    pub(super) segment: &'p str,
}
