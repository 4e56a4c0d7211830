//! Imports of many sessions at once: what a session was imported from is looked up in the headers once, and not for each
//! of them. One import runs at a time, so that two of the same conversation make no doubles.

use super::histories::HistoryItem;
use super::parsed::RecordForm;
use super::programs::{FileFormat, HistoryKind};
use super::{ImportContext, ImportStop, Imported, KnownImports};
use crate::domain::{At, Mode, SessionId};
use crate::store::io::How;
use crate::store::{Store, StoreError};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

/// Lock that keeps other imports out.
const LOCK: &str = "import.lock";

/// An import of many sessions; its threads share it.
#[derive(Debug)]
pub struct ImportRun<'s> {
    store: &'s Store,
    at_most: Mode,
    now: At,
    stop: ImportStop,
    origins: Mutex<ImportOrigins>,
    /// A claim was given up.
    freed: Condvar,
    _lock: File,
}

#[derive(Debug, Default)]
struct ImportOrigins {
    known: HashMap<String, KnownImports>,
    /// Conversations that a thread is at.
    claimed: HashSet<String>,
}

impl Store {
    /// Begins an import of many sessions. `at_most` is the loosest mode that they may have.
    ///
    /// # Errors
    /// If another import runs, or the sessions cannot be listed.
    pub fn import_run(&self, at_most: Mode, now: At) -> Result<ImportRun<'_>, StoreError> {
        let lock = self.import_lock(Path::new("sessions"))?;
        let (known, stop) = (self.all_origins(), ImportStop::default());
        let origins = Mutex::new(ImportOrigins { known, claimed: HashSet::new() });
        Ok(ImportRun { store: self, at_most, now, stop, origins, freed: Condvar::new(), _lock: lock })
    }

    /// Keeps other imports out while it is held. `what`: what is to be imported.
    pub(super) fn import_lock(&self, what: &Path) -> Result<File, StoreError> {
        let state = &self.inner.layout.state;
        let path = state.join(LOCK);
        let error = |error| StoreError::io("lock", &path, error);
        DirBuilder::new().recursive(true).mode(0o700).create(state).map_err(error)?;
        let file = self.io().open(&path, How::Append).map_err(error)?;
        if self.io().try_lock(&file).map_err(error)? {
            self.remove_left_imports();
            return Ok(file);
        }
        let why = "another import is running. Try again when it has ended";
        Err(StoreError::NoImport { path: what.to_owned(), why })
    }
}

impl ImportRun<'_> {
    /// Stops this import from another thread.
    #[must_use]
    pub fn stop(&self) -> ImportStop {
        self.stop.clone()
    }

    /// Imports one of the sessions, or adds what came since an earlier import. `wanted`: only if it is of this kind.
    ///
    /// # Errors
    /// When it cannot be read, is none of the known sorts, or the session not be written: then nothing of it stays.
    pub fn import(&self, item: &HistoryItem, wanted: Option<HistoryKind>) -> Result<Imported, StoreError> {
        let claim = Claim { run: self, origin: RefCell::new(None) };
        let known = |origin: &str| claim.take(origin);
        let context = ImportContext { at_most: self.at_most, now: self.now, known: &known, stop: &self.stop };
        self.stop.check()?;
        let done = self.one(item, wanted, &context);
        let imported = done.map_err(|error| error.of_import(&self.store.inner.layout.sessions()))?;
        claim.made(&imported.meta.id);
        Ok(imported)
    }

    fn one(
        &self,
        item: &HistoryItem,
        wanted: Option<HistoryKind>,
        context: &ImportContext<'_>,
    ) -> Result<Imported, StoreError> {
        let (store, path) = (self.store, item.path.as_path());
        if let Some(session) = &item.session {
            let form = RecordForm::Database(session.clone());
            return store.import_records(path, HistoryKind::Opencode, form, context, None);
        }
        if item.is_folder {
            return store.import_folder(path, context);
        }
        store.regular(path)?;
        match store.format_of(path)? {
            Some(FileFormat::One(kind, form)) => {
                let kind = agreed(kind, wanted, path)?;
                store.import_records(path, kind, form, context, None)
            }
            Some(FileFormat::Database) | None => store.import_lines_of_ours(path, context),
        }
    }
}

/// The kind that a file is read as. OpenClaw's transcripts are pi's, so that only who asks can tell them apart elsewhere.
pub(super) fn agreed(found: HistoryKind, wanted: Option<HistoryKind>, path: &Path) -> Result<HistoryKind, StoreError> {
    let alike = |kind| matches!(kind, HistoryKind::Pi | HistoryKind::Openclaw);
    match wanted {
        None => Ok(found),
        Some(wanted) if wanted == found || (alike(wanted) && alike(found)) => Ok(wanted),
        Some(_) => Err(StoreError::NoImport { path: path.to_owned(), why: "a session of another program" }),
    }
}

/// Claim of a thread to a conversation.
struct Claim<'r, 's> {
    run: &'r ImportRun<'s>,
    origin: RefCell<Option<String>>,
}

impl Claim<'_, '_> {
    /// Takes a conversation, once no other thread is at it, and gives its sessions.
    fn take(&self, origin: &str) -> KnownImports {
        let mut origins = self.run.origins.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = self.origin.borrow().as_deref() == Some(origin);
        while !is_ours && origins.claimed.contains(origin) {
            origins = self.run.freed.wait(origins).unwrap_or_else(PoisonError::into_inner);
        }
        origins.claimed.insert(origin.to_owned());
        *self.origin.borrow_mut() = Some(origin.to_owned());
        origins.known.get(origin).cloned().unwrap_or_default()
    }

    /// The conversation is in this session now.
    fn made(&self, id: &SessionId) {
        let Some(origin) = self.origin.borrow().clone() else { return };
        let mut origins = self.run.origins.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = &mut origins.known.entry(origin).or_default().sessions;
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
}

impl Drop for Claim<'_, '_> {
    fn drop(&mut self) {
        let Some(origin) = self.origin.borrow_mut().take() else { return };
        self.run.origins.lock().unwrap_or_else(PoisonError::into_inner).claimed.remove(&origin);
        self.run.freed.notify_all();
    }
}
