//! Looks at a history without importing it: whose it is, and whether an import would make a session of it.

use super::histories::HistoryItem;
use super::parsed::{ImportedLine, RecordForm};
use super::programs::{FileFormat, HistoryKind};
use super::run::agreed;
use super::{EMPTY, ImportStop, SUBAGENT, Source, UNKNOWN};
use crate::store::io::whole_file;
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::path::Path;

/// A history that an import would make a session of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLook {
    /// Program by its content.
    pub kind: HistoryKind,
    /// Identity of the conversation; several files of one make one session.
    pub origin: Option<String>,
}

impl Store {
    /// Looks at a history by its content. Reads as much as tells.
    ///
    /// # Errors
    /// Reason for which an import would fail or skip it.
    pub fn look_at_history(&self, item: &HistoryItem, wanted: Option<HistoryKind>) -> Result<HistoryLook, StoreError> {
        let path = item.path.as_path();
        if let Some(session) = &item.session {
            let origin = Some(format!("{}:{session}", HistoryKind::Opencode.name()));
            return Ok(HistoryLook { kind: HistoryKind::Opencode, origin });
        }
        if item.is_folder {
            return Ok(HistoryLook { kind: wanted.unwrap_or(HistoryKind::Craft), origin: None });
        }
        self.regular(path)?;
        match self.format_of(path)? {
            Some(FileFormat::One(kind, form)) => self.look_at_records(path, agreed(kind, wanted, path)?, form),
            Some(FileFormat::Database) => Err(StoreError::NoImport { path: path.to_owned(), why: UNKNOWN }),
            None => Err(StoreError::NoImport { path: path.to_owned(), why: self.unknown_format(path) }),
        }
    }

    /// Reason why a file is of no known format.
    pub(super) fn unknown_format(&self, path: &Path) -> &'static str {
        let Ok(Some(bytes)) = whole_file::read(self.io(), path) else { return UNKNOWN };
        let text = bytes.trim_ascii();
        let is_json = |text: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
        match text.first() {
            None => "empty file",
            // Lines of JSON begin with one that is whole.
            Some(b'{' | b'[') if !is_json(text) && !text.split(|byte| *byte == b'\n').next().is_some_and(is_json) => {
                "truncated or broken JSON"
            }
            Some(_) => UNKNOWN,
        }
    }

    fn look_at_records(&self, path: &Path, kind: HistoryKind, form: RecordForm) -> Result<HistoryLook, StoreError> {
        let no_import = |why| StoreError::NoImport { path: path.to_owned(), why };
        let mut reading = kind.reader().ok_or_else(|| no_import(UNKNOWN))?;
        let parts = kind.parts(path, form);
        let mut has_row = false;
        let read = self.each_record(kind, &parts, &mut |value, line| {
            reading.first(&value, line);
            let read = reading.read(&value, line);
            has_row = read.iter().any(|read| matches!(read, ImportedLine::Rows(rows) if !rows.is_empty()));
            // The rest of it tells nothing more.
            if has_row { Err(StoreError::Stopped) } else { Ok(()) }
        });
        match read {
            Ok(_) | Err(StoreError::Stopped) => {}
            Err(error) => return Err(error),
        }
        if reading.facts().subagent {
            return Err(no_import(SUBAGENT));
        }
        let source = Source { parts, kind, reading, left: BTreeMap::new(), stop: ImportStop::default() };
        // Some formats tell their rows only after a look at all records.
        if has_row || self.has_rows(path, &source)? {
            return Ok(HistoryLook { kind, origin: source.origin() });
        }
        Err(no_import(EMPTY))
    }

    /// True if a history has rows, found as an import finds them.
    fn has_rows(&self, path: &Path, source: &Source) -> Result<bool, StoreError> {
        let Some(mut reading) = source.kind.reader() else { return Ok(false) };
        let mut parts = source.parts.clone();
        self.each_record(source.kind, &parts, &mut |value, line| {
            reading.first(&value, line);
            Ok(())
        })?;
        reading.ready(path);
        if let (Some(order), [part]) = (reading.order(), parts.as_mut_slice()) {
            part.form = RecordForm::Log(order);
        }
        let whole = Source { parts, kind: source.kind, reading, left: BTreeMap::new(), stop: source.stop.clone() };
        Ok(!self.ids_of(&whole)?.is_empty())
    }
}
