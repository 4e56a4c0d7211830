//! Export of a store in the reference's layout: its rows, and their sessions as transcripts beside them.
//!
//! The transcripts are written first: a death in between leaves a folder without rows, never rows without transcripts.

use super::error::RouteStoreError;
use super::import::ImportedRoute;
use super::rows::RouteRows;
use super::store_file::RouteStore;
use crate::domain::attachment::Attachment;
use crate::domain::export::openclaw::transcript;
use crate::domain::ids::{At, SessionId};
use crate::domain::secret;
use crate::routes::key::{AgentId, KeyNames, SessionKey};
use crate::routes::row::{RunState, StoredRow};
use crate::store::io::{Io, whole_file};
use crate::store::{Store, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// Export of one store.
pub struct StoreExport<'a> {
    /// File calls.
    pub io: Arc<dyn Io>,
    /// lisle's store.
    pub from: &'a RouteStore,
    /// Agent of keys that name none.
    pub agent: &'a AgentId,
    /// Names that its keys are read with.
    pub names: &'a KeyNames,
    /// Opens the workspace of an agent.
    pub workspace: &'a dyn Fn(&AgentId) -> Result<Store, StoreError>,
    /// New store.
    pub to: &'a RouteStore,
    /// Time.
    pub now: At,
}

/// Report on exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreExportReport {
    /// Rows that were written.
    pub rows: Vec<ImportedRoute>,
    /// Rows that were left out.
    pub skipped: Vec<ImportedRoute>,
    /// Keys and passwords that were masked.
    pub masked: usize,
}

impl StoreExport<'_> {
    /// Writes the transcripts and the rows. Adds to `report`.
    ///
    /// # Errors
    /// Fails if the new store exists, or something can't be read or written.
    pub fn run(&self, report: &mut StoreExportReport) -> Result<(), RouteStoreError> {
        if self.to.exists() {
            return Err(RouteStoreError::io(
                "write",
                self.to.path(),
                io::Error::new(ErrorKind::AlreadyExists, "it exists. Name another folder"),
            ));
        }
        let mut rows = RouteRows::default();
        let mut written = BTreeSet::new();
        let mut workspaces: BTreeMap<AgentId, Store> = BTreeMap::new();
        whole_file::make_dirs(&*self.io, self.to.folder())?;
        for (text, row) in self.from.read()?.iter() {
            let mut skip = |why: &str| {
                let source = text.to_owned();
                report.skipped.push(ImportedRoute { source, session: None, notes: vec![why.to_owned()] });
            };
            let StoredRow::Row(mut row) = row else {
                skip("the row is damaged");
                continue;
            };
            let key = SessionKey::resolve(text, self.agent, self.names).ok();
            let agent = key.as_ref().and_then(SessionKey::agent).unwrap_or(self.agent);
            if !workspaces.contains_key(agent) {
                workspaces.insert(agent.clone(), (self.workspace)(agent)?);
            }
            let Some(workspace) = workspaces.get(agent) else { continue };
            let session = row.conversation.session_id.clone();
            if self.io.stat(&workspace.session_file(&session)).is_err() {
                skip("its conversation does not exist");
                continue;
            }
            let mut notes = Vec::new();
            if written.insert(session.clone()) {
                let left = self.write_transcript(workspace, &session, report)?;
                notes.extend((left > 0).then(|| format!("Rows and files not included: {left}.")));
            }
            row.conversation.session_file = None;
            row.conversation.run = RunState::default();
            let failed = |error: serde_json::Error| RouteStoreError::io("write", self.to.path(), error.into());
            rows.set(text, &row).map_err(failed)?;
            report.rows.push(ImportedRoute { source: text.to_owned(), session: Some(session), notes });
        }
        self.to.change(self.now, |new| {
            *new = rows;
            Ok(())
        })
    }

    /// Writes the transcript of a session and returns how much it lacks.
    fn write_transcript(
        &self,
        workspace: &Store,
        session: &SessionId,
        report: &mut StoreExportReport,
    ) -> Result<usize, RouteStoreError> {
        let read = workspace.read(session, usize::MAX)?;
        let out = transcript(&read.meta, &read.rows, &|picture| self.base64(picture));
        let mut text = String::new();
        for line in &out.lines {
            let line = line.to_string();
            match secret::masked_json(&line) {
                Some((safe, masked)) => {
                    report.masked += masked;
                    text.push_str(&safe);
                }
                None => text.push_str(&line),
            }
            text.push('\n');
        }
        let path = self.to.folder().join(format!("{session}.jsonl"));
        whole_file::replace(&*self.io, &path, text.as_bytes(), true)?;
        Ok(out.left)
    }

    fn base64(&self, picture: &Attachment) -> Option<String> {
        let path: &Path = &picture.path;
        let bytes = whole_file::read(&*self.io, path).ok()??;
        Some(STANDARD.encode(bytes))
    }
}
