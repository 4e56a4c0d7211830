//! Looks at a history without importing it: whose it is, and whether an import would make a session of it.

use super::histories::HistoryItem;
use super::parsed::{ConversationFile, ImportedLine, RecordForm};
use super::programs::{FileFormat, HistoryKind};
use super::run::agreed;
use super::{EMPTY, ImportStop, SUBAGENT, Source, UNKNOWN};
use crate::domain::MessageId;
use crate::store::io::whole_file;
use crate::store::{Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A history that an import would make a session of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLook {
    /// Program by its content.
    pub kind: HistoryKind,
    /// Identity of the conversation; several files of one make one session.
    pub origin: Option<String>,
}

/// Conversations of the histories that a scan has seen.
#[derive(Debug, Default)]
pub struct SeenHistories {
    /// By their identity.
    conversations: HashMap<String, SeenConversation>,
}

/// Histories of one conversation.
#[derive(Debug)]
struct SeenConversation {
    /// The first one, until another one is compared with it.
    first: Option<(HistoryItem, HistoryKind)>,
    /// Ids of the rows of each way that the conversation went.
    ways: Vec<Vec<MessageId>>,
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

    /// True if an import would make a session of its own of a history, after those of `seen`. Files of one conversation
    /// make one session, unless it went another way in one of them.
    ///
    /// # Errors
    /// When a file of a conversation that was seen before is not readable.
    pub fn makes_session(
        &self,
        item: &HistoryItem,
        look: &HistoryLook,
        seen: &mut SeenHistories,
    ) -> Result<bool, StoreError> {
        let Some(origin) = &look.origin else { return Ok(true) };
        let Some(conversation) = seen.conversations.get_mut(origin) else {
            let first = Some((item.clone(), look.kind));
            seen.conversations.insert(origin.clone(), SeenConversation { first, ways: Vec::new() });
            return Ok(true);
        };
        if let Some((item, kind)) = conversation.first.take() {
            conversation.ways.push(self.ids_in_history(&item, kind)?);
        }
        let ids = self.ids_in_history(item, look.kind)?;
        let fits = |way: &&mut Vec<MessageId>| way.iter().zip(&ids).all(|(old, new)| old == new);
        match conversation.ways.iter_mut().rev().find(fits) {
            Some(way) if way.len() < ids.len() => *way = ids,
            Some(_) => {}
            None => {
                conversation.ways.push(ids);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ids of the rows in a history of this program.
    fn ids_in_history(&self, item: &HistoryItem, kind: HistoryKind) -> Result<Vec<MessageId>, StoreError> {
        let path = item.path.as_path();
        let form = match (&item.session, self.format_of(path)?) {
            (Some(session), _) => RecordForm::Database(session.clone()),
            (None, Some(FileFormat::One(_, form))) => form,
            (None, _) => return Ok(Vec::new()),
        };
        self.ids_in(path, kind, kind.parts(path, form), &ImportStop::default())
    }

    /// True if a history has rows, found as an import finds them.
    fn has_rows(&self, path: &Path, source: &Source) -> Result<bool, StoreError> {
        Ok(!self.ids_in(path, source.kind, source.parts.clone(), &source.stop)?.is_empty())
    }

    fn ids_in(
        &self,
        path: &Path,
        kind: HistoryKind,
        mut parts: Vec<ConversationFile>,
        stop: &ImportStop,
    ) -> Result<Vec<MessageId>, StoreError> {
        let Some(mut reading) = kind.reader() else { return Ok(Vec::new()) };
        self.each_record(kind, &parts, &mut |value, line| {
            reading.first(&value, line);
            Ok(())
        })?;
        reading.ready(path);
        if let (Some(order), [part]) = (reading.order(), parts.as_mut_slice()) {
            part.form = RecordForm::Log(order);
        }
        self.ids_of(&Source { parts, kind, reading, left: BTreeMap::new(), stop: stop.clone() })
    }
}
