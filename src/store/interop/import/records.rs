//! Records of a conversation, one at a time, from whatever form its files have.

use super::database;
use super::opencode_storage;
use super::parsed::{ConversationFile, LogPosition, RecordForm};
use super::programs::HistoryKind;
use super::transcript::LinePosition;
use crate::store::io::{How, PathKind, lines};
use crate::store::read::session;
use crate::store::{Store, StoreError};
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A function that takes a record with its position.
type RecordSink<'s> = dyn FnMut(Value, LinePosition<'_>) -> Result<(), StoreError> + 's;

/// Lines that are no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OddLines {
    /// No JSON objects.
    pub(super) broken: usize,
    /// Longer than a line may be.
    pub(super) too_long: usize,
    /// A last line without an end: its program may still write it.
    pub(super) half_written: usize,
}

impl Store {
    /// Refuses what is no regular file: a link would bring in what lies elsewhere, and a pipe has no end.
    pub(super) fn regular(&self, path: &Path) -> Result<(), StoreError> {
        let why = match self.io().lstat(path).map_err(|error| StoreError::io("import", path, error))?.0 {
            PathKind::File => return Ok(()),
            PathKind::Link => "it is a symlink. Choose its target",
            PathKind::Dir => "it is a directory, not a file",
            PathKind::Other => "it is a pipe, socket or device",
        };
        Err(StoreError::NoImport { path: path.to_owned(), why })
    }

    /// Shows every record of the files with where it stands. Gives how many are none.
    pub(super) fn each_record(
        &self,
        kind: HistoryKind,
        parts: &[ConversationFile],
        show: &mut RecordSink<'_>,
    ) -> Result<OddLines, StoreError> {
        let (mut odd, mut number) = (OddLines::default(), 0);
        for part in parts {
            let mut next = |value: Value, bytes| {
                let at = value.get("ordinal").and_then(Value::as_u64).unwrap_or(number);
                number = at + 1;
                let line = LinePosition { number: at, segment: &part.segment, bytes };
                if part.before.is_some_and(|end| at >= end) { Ok(()) } else { show(value, line) }
            };
            odd.broken += match &part.form {
                RecordForm::Lines => {
                    let of_part = self.objects(&part.path, next)?;
                    odd.half_written += of_part.half_written;
                    odd.too_long += of_part.too_long;
                    of_part.broken
                }
                RecordForm::Log(order) => self.ordered(&part.path, order, next)?,
                RecordForm::Document => {
                    let document = self.document(&part.path)?;
                    let records = document.and_then(|document| kind.records(document)).unwrap_or_default();
                    records.into_iter().try_for_each(|record| next(record, (0, 0)))?;
                    0
                }
                RecordForm::Storage => opencode_storage::each(&part.path, |value| next(value, (0, 0)))?,
                RecordForm::Database(session) => database::each(&part.path, session, |value| next(value, (0, 0)))?,
            };
        }
        Ok(odd)
    }

    /// Shows every line that is a JSON object, in order. Gives how many lines are none.
    fn objects(
        &self,
        path: &Path,
        mut show: impl FnMut(Value, (u64, u64)) -> Result<(), StoreError>,
    ) -> Result<OddLines, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        self.regular(path)?;
        let file = io.open(path, How::Read).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        let (mut odd, mut failed) = (OddLines::default(), None);
        let read = lines::each(io, &file, 0, len, |line| -> io::Result<()> {
            if session::blank(line.bytes) {
                return Ok(());
            }
            if line.len > line.bytes.len() as u64 {
                odd.too_long += 1;
                return Ok(());
            }
            match serde_json::from_slice::<Value>(line.bytes) {
                Ok(value) if value.is_object() => show(value, (line.at, line.at + line.len)).map_err(|error| {
                    failed = Some(error);
                    io::Error::from(ErrorKind::Interrupted)
                }),
                _ => {
                    if line.ended {
                        odd.broken += 1
                    } else {
                        odd.half_written += 1
                    }
                    Ok(())
                }
            }
        });
        match (failed, read) {
            (Some(failed), _) => Err(failed),
            (None, read) => read.map(|()| odd).map_err(error),
        }
    }

    /// Shows these records of a file of lines. Holds one line in memory.
    fn ordered(
        &self,
        path: &Path,
        order: &[LogPosition],
        mut show: impl FnMut(Value, (u64, u64)) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        let io = self.io();
        let error = |error| StoreError::io("import", path, error);
        self.regular(path)?;
        let file = io.open(path, How::Read).map_err(error)?;
        let (mut held, mut odd) = (((0, 0), Value::Null), 0);
        for position in order {
            if held.0 != position.line {
                let bytes = lines::range(io, &file, position.line.0, position.line.1).map_err(error)?;
                held = (position.line, serde_json::from_slice(&bytes).unwrap_or_default());
            }
            let record = match position.index {
                None => Some(&held.1),
                Some(index) => held.1.get("$set").and_then(|set| set.get("messages")?.get(index)),
            };
            match record.filter(|record| record.is_object()) {
                Some(record) => show(record.clone(), position.line)?,
                // The file changed since it was looked through.
                None => odd += 1,
            }
        }
        Ok(odd)
    }
}
