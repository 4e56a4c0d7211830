//! Rows of an import on their way into the session.

use super::inline_files::InlineFile;
use super::parsed::{Answered, ImportedLine, made};
use crate::domain::diff::FileDiff;
use crate::domain::message::{Body, Info, InfoKind, Message};
use crate::domain::notice::Level;
use crate::domain::session::SessionMeta;
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::domain::{At, MessageId};
use crate::store::format::row;
use crate::store::io::Io;
use crate::store::{Durability, Journal, StoreError};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::Path;

/// Gives rows their ids, and an interruption its row, once.
#[derive(Default)]
pub(super) struct Sieve {
    pub(super) ids: Vec<MessageId>,
    pub(super) interrupted: bool,
}

impl Sieve {
    /// Rows of a record with their ids: `id` gives that of the row at an index.
    pub(super) fn record(&mut self, read: Vec<ImportedLine>, id: impl Fn(usize) -> MessageId) -> Vec<ImportedLine> {
        let mut count = 0;
        let named = read.into_iter().map(|read| {
            let mut rows = match read {
                ImportedLine::Rows(rows) => rows,
                ImportedLine::Interrupted(at) if !self.interrupted => vec![interruption(at)],
                other => return other,
            };
            for row in &mut rows {
                row.id = id(count);
                count += 1;
                self.interrupted = matches!(&row.body, Body::Info(info) if info.kind == InfoKind::Interrupted);
                self.ids.push(row.id.clone());
            }
            ImportedLine::Rows(rows)
        });
        named.collect()
    }
}

fn interruption(at: At) -> Message {
    let text = "Response interrupted".to_owned();
    made(at, Body::Info(Info { text, level: Level::Info, kind: InfoKind::Interrupted, carried: None }))
}

/// Rows on their way into the session. A call waits for its result, and what follows it waits too.
pub(super) struct Rows {
    pub(super) journal: Journal,
    pub(super) waiting: VecDeque<Message>,
    /// Rows that the session has already: they come first, and are passed over.
    pub(super) known: VecDeque<MessageId>,
    pub(super) last: At,
    /// Files of the message that comes next.
    pub(super) files: Vec<InlineFile>,
}

impl Rows {
    pub(super) fn new(journal: Journal, last: At, known: VecDeque<MessageId>) -> Self {
        Self { journal, waiting: VecDeque::new(), known, last, files: Vec::new() }
    }

    /// Takes a row, with the files that stood before it. Files of a row that is there already are there too. The number of
    /// files that could not be kept.
    pub(super) fn push_with_files(&mut self, mut row: Message, io: &dyn Io) -> Result<usize, StoreError> {
        let mut lost = 0;
        if let Body::User(said) = &mut row.body {
            let files = std::mem::take(&mut self.files);
            for file in files.iter().filter(|_| self.known.is_empty()) {
                match file.keep(io, self.journal.dir())? {
                    Some(kept) => said.attachments.push(kept),
                    None => lost += 1,
                }
            }
            if said.is_empty() {
                "(attached file not included)".clone_into(&mut said.text);
            }
        }
        self.push(row);
        Ok(lost)
    }

    pub(super) fn push(&mut self, mut row: Message) {
        if self.known.pop_front().is_some() {
            return;
        }
        if row.at == At(0) {
            row.at = self.last;
        }
        self.last = row.at;
        // What stands before a call is not the answer yet, and what was stopped is not all of it.
        if let Some(Body::Assistant(said)) = self.waiting.back_mut().map(|before| &mut before.body) {
            said.intermediate |= row.tool().is_some();
            said.partial |= matches!(&row.body, Body::Info(info) if info.kind == InfoKind::Interrupted);
        }
        self.waiting.push_back(row);
    }

    pub(super) fn open(&mut self, id: &str) -> Option<&mut ToolCall> {
        let row = self.waiting.iter_mut().rev().find(|row| row.tool().is_some_and(|call| call.id.as_str() == id))?;
        match &mut row.body {
            Body::Tool(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn know(&mut self, about: Answered) {
        let Some(call) = self.open(&about.call).filter(|call| call.result.is_none()) else { return };
        call.figures.exit = about.exit;
        call.millis = about.millis;
        put_diffs(call, about.diffs);
    }

    /// Puts a result to its call. The number of its files that could not be kept.
    pub(super) fn answer(&mut self, result: Answered, io: &dyn Io) -> Result<usize, StoreError> {
        let session = self.journal.dir().to_owned();
        let Some(call) = self.open(&result.call) else { return Ok(0) };
        call.status = if result.failed { ToolStatus::Error } else { ToolStatus::Completed };
        call.figures.exit = result.exit.or(call.figures.exit);
        call.millis = result.millis.or(call.millis);
        put_diffs(call, result.diffs);
        let lost = put_files(call, result.files, io, &session)?;
        call.result = Some(own_form(call, result.text));
        Ok(lost)
    }

    /// Writes what is whole, once there is so much of it.
    pub(super) fn write(&mut self, least: usize) -> Result<(), StoreError> {
        if self.waiting.len() < least.max(1) {
            return Ok(());
        }
        let whole = |row: &&Message| row.tool().is_none_or(|call| call.result.is_some());
        let count = self.waiting.iter().take_while(whole).count();
        // The last one may still be found to be no answer.
        let rows: Vec<Message> = self.waiting.drain(..count.saturating_sub(usize::from(least > 1))).collect();
        if rows.is_empty() { Ok(()) } else { self.journal.append(&rows, Durability::Written) }
    }

    pub(super) fn end(&mut self, meta: SessionMeta) -> Result<(), StoreError> {
        self.waiting.iter_mut().for_each(row::settle);
        self.write(1)?;
        let own = self.journal.header.own().clone();
        self.journal.set_meta(meta, own);
        self.journal.close()
    }
}

/// Keeps the files of a result. The number of those that could not be kept.
fn put_files(call: &mut ToolCall, files: Vec<InlineFile>, io: &dyn Io, session: &Path) -> Result<usize, StoreError> {
    // A tool that reads one file shows that file.
    let path = call.input.get("path").and_then(Value::as_str).filter(|_| files.len() == 1).unwrap_or_default();
    let (mut media, mut lost) = (Vec::new(), 0);
    for file in files {
        match file.named(path).keep(io, session)? {
            Some(kept) => media.push(kept),
            None => lost += 1,
        }
    }
    call.figures.media = media;
    Ok(lost)
}

/// A result in the form that lisle's own tools give it, for a model that goes on: never empty, and the last line of a
/// command's is its exit code.
fn own_form(call: &ToolCall, mut text: String) -> String {
    if let (true, Some(file)) = (text.trim().is_empty(), call.figures.media.first()) {
        text = format!("The file {} goes along with this.", file.name);
    }
    let Some(exit) = call.figures.exit.filter(|_| call.name == "bash") else { return text };
    if text.trim().is_empty() {
        "(no output)".clone_into(&mut text);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("exit {exit}"));
    text
}

pub(super) fn put_diffs(call: &mut ToolCall, mut diffs: Vec<FileDiff>) {
    match diffs.len() {
        0 => {}
        1 => call.figures.diff = diffs.pop(),
        _ => call.figures.diffs = diffs,
    }
}
