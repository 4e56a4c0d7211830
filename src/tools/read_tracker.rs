//! Files that a session has read: a file must have been read, and be unchanged since, before it is
//! edited. And hosts that turned out to be private when they were looked up: that is only known
//! once a call was allowed to ask for the name.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// SHA-256 of each file's bytes when it was last read or written by a tool.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<PathBuf, [u8; 32]>>, Mutex<HashSet<String>>);

impl Seen {
    /// Remembers that a host has a private address.
    pub fn note_private(&self, host: &str) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned());
    }

    /// True if it was found to have a private address.
    #[must_use]
    pub fn is_private(&self, host: &str) -> bool {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).contains(host)
    }

    /// Remembers the bytes' hash of a resolved path.
    pub fn note(&self, path: &Path, hash: [u8; 32]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), hash);
    }

    /// The hash when it was last seen; `None` when it was never read.
    #[must_use]
    pub fn hash(&self, path: &Path) -> Option<[u8; 32]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
    }
}
