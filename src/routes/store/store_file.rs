//! A store's file: read as it is, changed under the lock.

use super::error::RouteStoreError;
use super::lock::{PATIENCE, StoreLock};
use super::rows::RouteRows;
use crate::domain::ids::At;
use crate::routes::maintenance::{FileKind, STORE_FILE, StoreFile, iso_name};
use crate::store::io::{Io, PathKind, whole_file};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Attempts to read a file that another program may be writing in place, and the time between them.
const READS: u32 = 3;
const BETWEEN_READS: Duration = Duration::from_millis(50);

/// Store of an agent's routes.
#[derive(Clone, Debug)]
pub struct RouteStore {
    io: Arc<dyn Io>,
    path: PathBuf,
}

impl RouteStore {
    /// Store in a file, which need not exist. Of a link, the file that it leads to is replaced and not the link.
    #[must_use]
    pub fn new(io: Arc<dyn Io>, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let path = match io.lstat(&path) {
            Ok((PathKind::Link, _)) => path.canonicalize().unwrap_or(path),
            _ => path,
        };
        Self { io, path }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Tells if the file exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.io.stat(&self.path).is_ok()
    }

    /// Rows; none without a file. Changes nothing.
    ///
    /// # Errors
    /// Fails if the file can't be read or is no store.
    pub fn read(&self) -> Result<RouteRows, RouteStoreError> {
        let mut tries = 1;
        loop {
            let Some(bytes) = whole_file::read(&*self.io, &self.path)? else { return Ok(RouteRows::default()) };
            match RouteRows::parse(&bytes) {
                Ok(rows) => return Ok(rows),
                Err(_) if tries < READS => tries += 1,
                Err(why) => return Err(RouteStoreError::Damaged { path: self.path.clone(), why, moved: None }),
            }
            std::thread::sleep(BETWEEN_READS);
        }
    }

    /// Changes the rows under the lock; they are read for it. Writes only what differs.
    ///
    /// # Errors
    /// Fails if `edit` does, the lock isn't to be had, or a file call fails: then the file is as it was. A file that is
    /// no store is moved aside, and the next change begins with none.
    pub fn change<T>(
        &self,
        now: At,
        edit: impl FnOnce(&mut RouteRows) -> Result<T, RouteStoreError>,
    ) -> Result<T, RouteStoreError> {
        let locked = self.lock()?;
        let before = locked.read(now)?;
        let mut rows = before.clone();
        let result = edit(&mut rows)?;
        if rows != before {
            locked.write(&rows)?;
        }
        Ok(result)
    }

    /// The file and its copies, by their names in the model of maintenance.
    pub(super) fn files(&self) -> Result<Vec<StoreFile>, RouteStoreError> {
        let names = match self.io.list(self.folder()) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RouteStoreError::io("read", self.folder(), error)),
        };
        let mut files = Vec::new();
        for name in names.iter().filter_map(|name| name.to_str()) {
            let Some(rest) = name.strip_prefix(&*self.name()) else { continue };
            let name = format!("{STORE_FILE}{rest}");
            let kind = FileKind::of_name(&name);
            if let FileKind::Store | FileKind::StoreBackup { .. } = kind
                && let Ok((PathKind::File, stat)) = self.io.lstat(&self.real(&name))
            {
                files.push(StoreFile { name, bytes: stat.len, modified: At(stat.modified), kind, keep: false });
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    fn name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Path of a copy by its name in the model, where the file is always called [`STORE_FILE`].
    fn real(&self, name: &str) -> PathBuf {
        let rest = name.strip_prefix(STORE_FILE).unwrap_or(name);
        self.path.with_file_name(format!("{}{rest}", self.name()))
    }

    /// Copies the file, whole or not at all.
    pub(super) fn copy_to(&self, copy: &str) -> Result<(), RouteStoreError> {
        if let Some(bytes) = whole_file::read(&*self.io, &self.path)? {
            whole_file::replace(&*self.io, &self.real(copy), &bytes, true)?;
        }
        Ok(())
    }

    /// Deletes a copy. One that is gone already is no error.
    pub(super) fn delete_copy(&self, copy: &str) -> Result<(), RouteStoreError> {
        match self.io.remove(&self.real(copy)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(RouteStoreError::io("delete", &self.real(copy), error))
            }
            _ => Ok(()),
        }
    }

    /// Removes what writers left that died, as far as it can.
    pub(super) fn remove_left_over(&self) {
        let names = self.io.list(self.folder()).unwrap_or_default();
        for name in names.iter().filter(|name| name.to_str().is_some_and(whole_file::is_left_over)) {
            if let Err(error) = self.io.remove(&self.folder().join(name)) {
                tracing::warn!(%error, "a temporary file of a dead process stays in {}", self.folder().display());
            }
        }
    }

    /// Takes the lock. The folder is made if it is missing.
    pub(super) fn lock(&self) -> Result<LockedStore<'_>, RouteStoreError> {
        whole_file::make_dirs(&*self.io, self.folder())?;
        Ok(LockedStore { lock: StoreLock::take(&self.io, &self.path, PATIENCE)?, store: self })
    }
}

/// Store whose lock is ours.
pub(super) struct LockedStore<'a> {
    lock: StoreLock,
    store: &'a RouteStore,
}

impl LockedStore<'_> {
    /// Rows. A file that is no store is moved aside.
    pub(super) fn read(&self, now: At) -> Result<RouteRows, RouteStoreError> {
        let store = self.store;
        store.read().or_else(|error| match error {
            RouteStoreError::Damaged { path, why, .. } => {
                let aside = self.set_aside(now)?;
                Err(RouteStoreError::Damaged { path, why, moved: Some(aside) })
            }
            other => Err(other),
        })
    }

    /// Moves the file to `<name>.corrupt.<time>`, which is not taken.
    fn set_aside(&self, now: At) -> Result<PathBuf, RouteStoreError> {
        let (io, path) = (&*self.store.io, &self.store.path);
        let name = self.store.name();
        let mut at = now;
        let aside = loop {
            let aside = path.with_file_name(format!("{name}.corrupt.{}", iso_name(at)));
            match io.lstat(&aside) {
                Err(error) if error.kind() == ErrorKind::NotFound => break aside,
                _ => at = at.plus(1),
            }
        };
        let moved = io.rename(path, &aside).and_then(|()| io.fsync_dir(self.store.folder()));
        moved.map_err(|error| RouteStoreError::io("move", path, error))?;
        Ok(aside)
    }

    pub(super) fn write(&self, rows: &RouteRows) -> Result<(), RouteStoreError> {
        let (io, path) = (&*self.store.io, &self.store.path);
        let failed = |error| RouteStoreError::io("write", path, error);
        let bytes = rows.to_bytes().map_err(|error| failed(error.into()))?;
        if !self.lock.is_held() {
            return Err(RouteStoreError::LockLost { path: path.clone() });
        }
        whole_file::replace(io, path, &bytes, true)?;
        io.fsync_dir(self.store.folder()).map_err(failed)
    }
}
