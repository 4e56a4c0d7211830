//! A conversation of another program while it is read, whichever program it is.

use super::parsed::{ImportFacts, ImportedLine, LogPosition, word};
use serde_json::Value;
use std::path::Path;

/// A conversation of another program while it is read: first all of it for what it is, then record by record.
pub(super) trait ForeignTranscript {
    /// Takes notice of a record, before any is read.
    fn first(&mut self, value: &Value, line: LinePosition<'_>);

    /// All records were noticed; this is their file.
    fn ready(&mut self, path: &Path);

    /// The records of the conversation in their order, where that is not the order of the lines.
    fn order(&mut self) -> Option<Vec<LogPosition>> {
        None
    }

    /// Meaning of a record.
    fn read(&mut self, value: &Value, line: LinePosition<'_>) -> Vec<ImportedLine>;

    /// Facts for the header.
    fn facts(&self) -> &ImportFacts;

    /// Messages of the user that were taken back.
    fn rewound(&self) -> usize {
        0
    }

    /// Name of a record in its conversation, the same at the next import: its `id`, where the program gives none other.
    fn row(&self, value: &Value, line: LinePosition<'_>) -> String {
        line.named(word(value, "id"))
    }

    /// The same, to be read from its beginning.
    fn again(&self) -> Box<dyn ForeignTranscript>;
}

impl LinePosition<'_> {
    /// Name of the record: its id, else its number.
    pub(super) fn named(self, id: &str) -> String {
        if id.is_empty() { self.number.to_string() } else { id.to_owned() }
    }
}

/// Position of a record in a conversation.
#[derive(Clone, Copy)]
pub(super) struct LinePosition<'p> {
    /// Ordinal of the record, or the number of records before it.
    pub(super) number: u64,
    /// Segment of its file, see [`super::parsed::ConversationFile::segment`].
    pub(super) segment: &'p str,
    /// Bytes of its line, in a file of lines.
    pub(super) bytes: (u64, u64),
}
