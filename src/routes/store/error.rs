//! Errors of a store of routes, with the path and what to do.

use crate::store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// Error of reading or changing a store of routes.
#[derive(Debug, thiserror::Error)]
pub enum RouteStoreError {
    /// A file call failed.
    #[error("can't {doing} {}: {source}", .path.display())]
    Io {
        /// Operation: `read`, `write` …
        doing: &'static str,
        /// Path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A session of a workspace can't be moved.
    #[error(transparent)]
    Session(StoreError),
    /// The sessions of a workspace can't be listed.
    #[error("{0}")]
    Unlisted(String),
    /// Another process has the lock.
    #[error("can't change {}: locked by {holder}. Try again in a moment", .path.display())]
    Locked {
        /// The store.
        path: PathBuf,
        /// Process, or the lock's file where it names none.
        holder: String,
    },
    /// Another process replaced the lock while it was held.
    #[error("{} not changed: another program took its lock. Try again in a moment", .path.display())]
    LockLost {
        /// The store.
        path: PathBuf,
    },
    /// The content is no store.
    #[error("{} is damaged: {why}{}", .path.display(), moved_words(.moved.as_deref()))]
    Damaged {
        /// The store.
        path: PathBuf,
        /// Error of the reader.
        why: String,
        /// Path that the file has now; `None` where it stays, because it was only read.
        moved: Option<PathBuf>,
    },
}

fn moved_words(moved: Option<&Path>) -> String {
    moved.map_or_else(
        || ". Nothing was changed".to_owned(),
        |path| {
            format!(". It was moved to {}; repair it and move it back, or start with an empty store", path.display())
        },
    )
}

impl RouteStoreError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}

impl From<StoreError> for RouteStoreError {
    /// Without the advice for sessions, whose unsaved rows stay in memory: nothing does here.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io { doing, path, source } => Self::Io { doing, path, source },
            other => Self::Session(other),
        }
    }
}
