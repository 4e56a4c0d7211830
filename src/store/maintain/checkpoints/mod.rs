//! Storage of undo: contents by their hash, once for all sessions of the workspace, and each
//! session's list of changes.
//!
//! `blobs` are the contents (`WORKSPACE/checkpoints/ab/cdef…`), `list` is a session's own list
//! (`SESSION/checkpoints/list.jsonl`), `space` keeps both within their bounds. Which files are kept when, and what is
//! restored, is the agent's business.

mod blobs;
mod list;
mod space;
#[cfg(test)]
mod tests;

pub use list::Record;
pub use space::{Bounds, Freed, NoRoom};

use crate::domain::SessionId;
use crate::store::format::layout;
use crate::store::{Fsync, Store};
use std::path::PathBuf;

/// The checkpoints of one session. Cheap to clone; blocking throughout.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    store: Store,
    dir: PathBuf,
}

/// Durability of a write: with or without a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Forced to the disk, where the store does that at all.
    Yes,
    /// Written: survives the death of lisle.
    No,
}

impl Store {
    /// The checkpoints of a session, whether or not it exists.
    pub fn checkpoints(&self, id: &SessionId) -> Checkpoints {
        Checkpoints { store: self.clone(), dir: self.session_dir(id).join(layout::CHECKPOINTS) }
    }
}

impl Checkpoints {
    fn syncs(&self, sync: Sync) -> bool {
        match self.store.inner.fsync {
            Fsync::Always => true,
            Fsync::Normal => sync == Sync::Yes,
            Fsync::Off => false,
        }
    }
}
