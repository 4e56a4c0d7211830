//! Unsent texts, one file a session, and texts sent earlier, one line each.
//!
//! Both lie in lisle's state directory and not in the workspace: another program has no use for them.

use super::io::{How, Io};
use super::{Store, StoreError, layout, session, tail};
use crate::domain::SessionId;
use std::io::ErrorKind;
use std::path::Path;

/// So many texts are offered again.
const REMEMBERED: usize = 1000;

impl Store {
    /// Keeps the unsent text of a session; an empty one is removed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_draft(&self, id: &SessionId, text: &str) -> Result<(), StoreError> {
        let path = self.inner.layout.draft(id);
        let io = self.io();
        if text.is_empty() {
            return match io.remove(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", &path, error)),
                _ => Ok(()),
            };
        }
        make_dirs(io, &self.inner.layout.drafts())?;
        let temp = layout::temp(&path);
        let write = || -> std::io::Result<()> {
            let file = io.open(&temp, How::New)?;
            io.append(&file, text.as_bytes())?;
            io.rename(&temp, &path)
        };
        write().map_err(|error| {
            // What is half written helps nobody; that removing it may fail too changes nothing.
            let _ = io.remove(&temp);
            StoreError::io("write", &path, error)
        })
    }

    /// The unsent text of a session; empty when there is none or it cannot be read.
    pub fn draft(&self, id: &SessionId) -> String {
        let bytes = session::whole(self.io(), &self.inner.layout.draft(id)).ok().flatten();
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Adds a text to the history.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remember(&self, text: &str) -> Result<(), StoreError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let path = self.inner.layout.history();
        if let Some(dir) = path.parent() {
            make_dirs(self.io(), dir)?;
        }
        let line = format!("{}\n", serde_json::Value::String(text.to_owned()));
        let append = || self.io().append(&self.io().open(&path, How::Append)?, line.as_bytes());
        append().map_err(|error| StoreError::io("write", &path, error))
    }

    /// The last 1,000 texts, oldest first; none when they cannot be read.
    pub fn history(&self) -> Vec<String> {
        let path = self.inner.layout.history();
        let read = || -> std::io::Result<Vec<String>> {
            let file = self.io().open(&path, How::Read)?;
            let len = self.io().stat(&path)?.len;
            let lines = tail::before(self.io(), &file, 0, len, REMEMBERED)?.lines;
            Ok(lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect())
        };
        read().unwrap_or_default()
    }
}

/// Makes a directory and what is missing above it.
///
/// # Errors
/// When one cannot be made.
pub fn make_dirs(io: &dyn Io, path: &Path) -> Result<(), StoreError> {
    match io.mkdir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) else {
                return Err(StoreError::io("make", path, error));
            };
            make_dirs(io, above)?;
            match io.mkdir(path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::io("make", path, error)),
                _ => Ok(()),
            }
        }
        Err(error) => Err(StoreError::io("make", path, error)),
    }
}
