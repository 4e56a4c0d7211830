//! Import of a store of the reference: its rows become lisle's, their transcripts sessions of the workspaces of their
//! agents. The source is only read.
//!
//! A row is written after its session, so that a death in between leaves a session without a row. The same import again
//! finds the session of a transcript by its origin, and the row by its key: nothing is doubled.

use super::conversations::{NamedFile, named_file};
use super::error::RouteStoreError;
use super::places::{AgentStore, agent_of, agent_stores};
use super::rows::RouteRows;
use super::store_file::RouteStore;
use crate::domain::ids::{At, SessionId};
use crate::domain::permission::Mode;
use crate::domain::property_change::PropertyChange;
use crate::routes::key::{AgentId, KeyNames, SessionKey, Suffix, find_spellings};
use crate::routes::maintenance::{ArchiveReason, FileKind, STORE_FILE};
use crate::routes::row::{RunState, SessionRow, StoredRow};
use crate::store::io::{Io, PathKind};
use crate::store::{HistoryItem, HistoryKind, ImportRun, Imported, NotIncluded, Reimport, Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Import of one store of the reference.
pub struct StoreImport<'a> {
    /// File calls.
    pub io: Arc<dyn Io>,
    /// Store of the reference.
    pub from: &'a RouteStore,
    /// Agent of keys that name none.
    pub agent: &'a AgentId,
    /// Names that its keys are read with.
    pub names: &'a KeyNames,
    /// Opens the workspace of an agent.
    pub workspace: &'a dyn Fn(&AgentId) -> Result<Store, StoreError>,
    /// lisle's store of an agent.
    pub to: &'a dyn Fn(&AgentId) -> RouteStore,
    /// The loosest mode that the sessions may have.
    pub at_most: Mode,
    /// Time.
    pub now: At,
}

/// Row or transcript in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedRoute {
    /// Key, or path of a transcript without a row.
    pub source: String,
    /// Session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Reason, or what was not included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Report on imports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreImportReport {
    /// Rows that were written.
    pub rows: Vec<ImportedRoute>,
    /// Sessions of transcripts without a row: those of earlier conversations.
    pub earlier: Vec<ImportedRoute>,
    /// Rows and transcripts that were imported before.
    pub unchanged: usize,
    /// Rows and transcripts with nothing to import.
    pub skipped: Vec<ImportedRoute>,
    /// Rows and transcripts that could not be imported.
    pub failed: Vec<ImportedRoute>,
}

/// Row that has its session and is not written yet.
struct PendingRow {
    key: SessionKey,
    row: SessionRow,
    notes: Vec<String>,
    /// The session is new or grew.
    has_news: bool,
}

impl StoreImport<'_> {
    /// Imports the rows with their transcripts, then the transcripts that no row names. Adds to `report`.
    ///
    /// # Errors
    /// Fails if the store can't be read. What goes wrong with one agent or one row is in the report.
    pub fn run(&self, report: &mut StoreImportReport) -> Result<(), RouteStoreError> {
        let rows = self.from.read()?;
        let mut taken = BTreeSet::new();
        let mut by_agent: BTreeMap<AgentId, Vec<(SessionKey, SessionRow)>> = BTreeMap::new();
        by_agent.entry(self.agent.clone()).or_default();
        for (text, row) in rows.iter() {
            let row = match row {
                StoredRow::Row(row) => *row,
                StoredRow::Unreadable(_) => {
                    report.skipped.push(noted(text, "the row is damaged"));
                    continue;
                }
            };
            match SessionKey::resolve(text, self.agent, self.names) {
                Ok(key) => {
                    let agent = key.agent().unwrap_or(self.agent).clone();
                    by_agent.entry(agent).or_default().push((key, row));
                }
                Err(error) => report.skipped.push(noted(text, error)),
            }
        }
        // Those of this agent last: by then it is known which transcripts have a row.
        let own = by_agent.remove(self.agent).unwrap_or_default();
        for (agent, rows) in by_agent.into_iter().chain([(self.agent.clone(), own)]) {
            if let Err(error) = self.agent_rows(&agent, rows, &mut taken, report) {
                report.failed.push(noted(&format!("agent {agent}"), error));
            }
        }
        Ok(())
    }

    fn agent_rows(
        &self,
        agent: &AgentId,
        rows: Vec<(SessionKey, SessionRow)>,
        taken: &mut BTreeSet<String>,
        report: &mut StoreImportReport,
    ) -> Result<(), RouteStoreError> {
        let workspace = (self.workspace)(agent)?;
        let run = workspace.import_run(self.at_most, self.now)?;
        let mut pending = Vec::new();
        for (key, row) in rows {
            let Some(file) = self.transcript(&key, &row) else {
                report.skipped.push(noted(key.as_str(), "its conversation does not exist"));
                continue;
            };
            let imported = run.import(&self.item(&file), Some(HistoryKind::Openclaw));
            taken.insert(file);
            if let Some(imported) = report.imported(key.as_str(), imported) {
                let path = workspace.session_file(&imported.meta.id);
                let (has_news, notes) = news(&imported);
                let row = of_lisle(&row, imported.meta.id, &path);
                pending.push(PendingRow { key, row, notes, has_news });
            }
        }
        self.write(agent, pending, report)?;
        if agent == self.agent { self.earlier(&workspace, &run, taken, report) } else { Ok(()) }
    }

    /// Writes rows. Of two rows of a key the one that changed last stays.
    fn write(
        &self,
        agent: &AgentId,
        pending: Vec<PendingRow>,
        report: &mut StoreImportReport,
    ) -> Result<(), RouteStoreError> {
        if pending.is_empty() {
            return Ok(());
        }
        let store = (self.to)(agent);
        store.change(self.now, |rows| {
            for PendingRow { key, row, notes, has_news } in pending {
                let session = Some(row.conversation.session_id.clone());
                let line = |notes| ImportedRoute { source: key.to_string(), session, notes };
                let written = set_later(rows, &key, &row, agent, self.names)
                    .map_err(|error| RouteStoreError::io("write", store.path(), error.into()))?;
                match written {
                    RowWritten::Yes => report.rows.push(line(notes)),
                    RowWritten::Same if has_news => report.rows.push(line(notes)),
                    RowWritten::Same => report.unchanged += 1,
                    RowWritten::Kept(why) => report.skipped.push(line(vec![why.to_owned()])),
                }
            }
            Ok(())
        })
    }

    /// Imports transcripts that no row names: those of conversations before a reset, as archived sessions.
    fn earlier(
        &self,
        workspace: &Store,
        run: &ImportRun<'_>,
        taken: &BTreeSet<String>,
        report: &mut StoreImportReport,
    ) -> Result<(), RouteStoreError> {
        let folder = self.from.folder();
        let names = self.io.list(folder).map_err(|error| RouteStoreError::io("read", folder, error))?;
        let mut names: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| is_conversation(name) && !taken.contains(name));
        names.sort();
        for name in names {
            let item = self.item(&name);
            let source = item.words();
            let imported = run.import(&item, Some(HistoryKind::Openclaw));
            let Some(imported) = report.imported(&source, imported) else { continue };
            let (has_news, mut notes) = news(&imported);
            if !has_news {
                report.unchanged += 1;
                continue;
            }
            let session = imported.meta.id;
            if let Err(error) = workspace.change(&session, &PropertyChange::Archived(true), self.now) {
                notes.push(format!("Not archived: {error}."));
            }
            report.earlier.push(ImportedRoute { source, session: Some(session), notes });
        }
        Ok(())
    }

    fn item(&self, file: &str) -> HistoryItem {
        let path = self.from.folder().join(file);
        let bytes = self.io.stat(&path).map_or(0, |stat| stat.len);
        HistoryItem { path, session: None, is_folder: false, bytes }
    }

    /// File of a row's transcript in the folder of the store, if it exists. Of a path that the row names only the name
    /// counts: the folder may have been moved, and files elsewhere are not read.
    fn transcript(&self, key: &SessionKey, row: &SessionRow) -> Option<String> {
        let folder = self.from.folder();
        let id = &row.conversation.session_id;
        let named = row.conversation.session_file.as_deref().and_then(|text| match named_file(text, folder) {
            NamedFile::Inside(name) => Some(name),
            NamedFile::Outside(path) => Some(path.file_name()?.to_str()?.to_owned()),
        });
        let topic = key.suffixes().iter().rev().find_map(|suffix| match suffix {
            Suffix::Thread(thread) | Suffix::Topic(thread) => Some(format!("{id}-topic-{thread}.jsonl")),
            Suffix::Chat(_) | Suffix::Subagent(_) => None,
        });
        let is_file = |name: &String| matches!(self.io.lstat(&folder.join(name)), Ok((PathKind::File, _)));
        named.into_iter().chain(topic).chain([format!("{id}.jsonl")]).find(is_file)
    }
}

impl StoreImportReport {
    /// The session, or `None` once the reason is in the report.
    fn imported(&mut self, source: &str, imported: Result<Imported, StoreError>) -> Option<Imported> {
        match imported {
            Ok(imported) => return Some(imported),
            Err(StoreError::NoImport { why, .. }) => self.skipped.push(noted(source, why)),
            Err(error @ StoreError::Trashed { .. }) => self.skipped.push(noted(source, error)),
            Err(error) => self.failed.push(noted(source, error)),
        }
        None
    }
}

fn noted(source: &str, why: impl ToString) -> ImportedRoute {
    ImportedRoute { source: source.to_owned(), session: None, notes: vec![why.to_string()] }
}

/// Tells if an import brought something, and what it says of itself.
fn news(imported: &Imported) -> (bool, Vec<String>) {
    let again = imported.again.as_ref();
    let has_news = !matches!(again, Some(Reimport::Added(_, 0)));
    (has_news, again.map(Reimport::words).into_iter().chain(imported.left.iter().map(NotIncluded::words)).collect())
}

/// Tells if a file has a conversation of its own: a transcript or what a reset left. Checkpoints are copies of others.
fn is_conversation(name: &str) -> bool {
    match FileKind::of_name(name) {
        FileKind::Conversation { .. } => !name.contains(".checkpoint."),
        FileKind::Archive { reason, .. } => reason == ArchiveReason::Reset,
        FileKind::Store | FileKind::StoreBackup { .. } | FileKind::Other => false,
    }
}

/// Row with a session of lisle. State of runs belongs to processes of the other program, checkpoints to its files.
fn of_lisle(row: &SessionRow, session: SessionId, file: &Path) -> SessionRow {
    let mut row = row.clone();
    row.conversation.session_id = session;
    row.conversation.session_file = Some(file.display().to_string());
    row.conversation.run = RunState::default();
    row.conversation.counters.compaction_checkpoints = None;
    row
}

/// Outcome of [`set_later`].
enum RowWritten {
    /// The row was written.
    Yes,
    /// It has this conversation already.
    Same,
    /// The other row stays, for this reason.
    Kept(&'static str),
}

/// Sets the row of a key unless the store's own changed later. Older spellings of the key go.
fn set_later(
    rows: &mut RouteRows,
    key: &SessionKey,
    row: &SessionRow,
    agent: &AgentId,
    names: &KeyNames,
) -> Result<RowWritten, serde_json::Error> {
    let updated: Vec<(String, Option<At>)> = rows
        .iter()
        .map(|(text, row)| match row {
            StoredRow::Row(row) => (text.to_owned(), row.updated_at),
            StoredRow::Unreadable(_) => (text.to_owned(), None),
        })
        .collect();
    let stored = updated.iter().map(|(text, updated)| (text.as_str(), *updated));
    let found = find_spellings(key, stored, agent, names);
    match found.found.as_deref().and_then(|text| rows.get(text)) {
        Some(StoredRow::Unreadable(_)) => return Ok(RowWritten::Kept("a damaged row has this key")),
        Some(StoredRow::Row(there)) if there.updated_at >= row.updated_at => {
            let same = there.conversation.session_id == row.conversation.session_id;
            return Ok(if same { RowWritten::Same } else { RowWritten::Kept("the row here changed later") });
        }
        Some(StoredRow::Row(_)) | None => {}
    }
    // A text that only looks like the key in lower case may be another room's.
    let is_key = |text: &str| SessionKey::resolve(text, agent, names).is_ok_and(|other| other == *key);
    for old in found.found.iter().chain(&found.stale).filter(|text| *text != key.as_str() && is_key(text)) {
        rows.remove(old);
    }
    rows.set(key.as_str(), row)?;
    Ok(RowWritten::Yes)
}

/// Stores of the reference below a path: a store's file, its folder, the folder of the agents, or a state directory.
#[must_use]
pub fn stores_below(io: &dyn Io, path: &Path) -> Vec<AgentStore> {
    let is_file = |path: &Path| io.stat(path).is_ok_and(|stat| !stat.is_dir);
    let inside = path.join(STORE_FILE);
    if let Some(path) = [path.to_owned(), inside].into_iter().find(|path| is_file(path)) {
        return vec![AgentStore { agent: agent_of(&path), path }];
    }
    let agents = path.join("agents");
    let root = if io.stat(&agents).is_ok_and(|stat| stat.is_dir) { agents } else { path.to_owned() };
    agent_stores(io, &root, None, Path::new("")).into_iter().filter(|store| is_file(&store.path)).collect()
}
