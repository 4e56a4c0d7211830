//! The bounds of undo: how much is kept over the workspace, and how much of the disk must be free.
//!
//! Contents that no list names are removed first, then the least recently used. Sessions in the
//! trash name nothing.

use super::Checkpoints;
use super::list::{self, LIST};
use crate::domain::undo::PathEntry;
use crate::store::StoreError;
use crate::store::format::layout;
use crate::store::io::{trees, whole_file};
use std::collections::HashMap;

/// Age below which a content may belong to a change that is under way.
const YOUNG_MS: i64 = 10 * 60 * 1000;
/// Time for which an unnamed content is kept beside the rest: the first copy of a directory that is
/// still worked in.
const WORKED_IN_MS: i64 = 24 * 60 * 60 * 1000;

/// The bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes that are kept over the workspace.
    pub most: u64,
    /// Bytes of the disk that stay free, or
    pub free: u64,
    /// percent of it, whichever is less.
    pub free_percent: u64,
}

impl Default for Bounds {
    /// A gigabyte is kept; 2 GB stay free, of a smaller disk 5 %.
    fn default() -> Self {
        Self { most: 1_000_000_000, free: 2_000_000_000, free_percent: 5 }
    }
}

/// The disk is too full to keep anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Bytes that are free.
    pub free: u64,
}

/// Removed contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Contents.
    pub contents: usize,
    /// Bytes.
    pub bytes: u64,
}

impl Checkpoints {
    /// Checks that there is room on the disk to begin copying. Where the disk does not report its
    /// space, there is.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn room(&self, bounds: Bounds) -> Result<(), NoRoom> {
        let io = self.store.io();
        let root = self.root();
        let Some((free, all)) = root.ancestors().find_map(|path| io.free(path).ok()) else { return Ok(()) };
        // Of a large disk a few percent are more than anybody needs, of a small one so many bytes may be all of it.
        let least = bounds.free.min((all / 100).saturating_mul(bounds.free_percent));
        if free < least { Err(NoRoom { free }) } else { Ok(()) }
    }

    /// Removes the oldest contents until no more than [`Bounds::most`] is kept; then a tenth less, so that this is not
    /// done every time. Nothing is done while less is kept.
    ///
    /// # Errors
    /// When the contents cannot be listed, or one not be removed.
    pub fn bound(&self, bounds: Bounds) -> Result<Freed, StoreError> {
        let known = self.store.inner.kept.known();
        if known.is_some_and(|kept| kept <= bounds.most) {
            return Ok(Freed::default());
        }
        let all = self.all()?;
        let mut kept: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        let mut freed = Freed::default();
        if kept > bounds.most {
            self.remove_left_over();
            let named = self.named()?;
            let now = self.store.io().now_ns() / 1_000_000;
            let mut order: Vec<(bool, i64, String, u64)> = all
                .into_iter()
                .filter_map(|(hash, bytes, used)| {
                    let age = now.saturating_sub(used);
                    match named.get(&hash) {
                        Some(at) => Some((true, (*at).max(used), hash, bytes)),
                        None if age < YOUNG_MS => None,
                        None => Some((age < WORKED_IN_MS, used, hash, bytes)),
                    }
                })
                .collect();
            order.sort();
            for (_, _, hash, bytes) in order {
                if kept <= bounds.most / 10 * 9 {
                    break;
                }
                self.forget(&hash)?;
                kept -= bytes;
                freed.contents += 1;
                freed.bytes += bytes;
            }
        }
        self.store.inner.kept.set(kept);
        Ok(freed)
    }

    /// The contents that lists of sessions name, with the time of the last change that names them.
    fn named(&self) -> Result<HashMap<String, i64>, StoreError> {
        let io = self.store.io();
        let sessions = self.store.inner.layout.sessions();
        let mut out: HashMap<String, i64> = HashMap::new();
        for name in io.list(&sessions).map_err(|e| StoreError::io("read", &sessions, e))? {
            if name.to_str().is_none_or(layout::is_temp) {
                continue;
            }
            let path = sessions.join(name).join(layout::CHECKPOINTS).join(LIST);
            let Ok(Some(bytes)) = whole_file::read(io, &path) else { continue };
            let mut at = 0;
            for record in list::parse(&bytes) {
                if let list::Record::Begun { at: now, .. } | list::Record::Restoring { at: now, .. } = &record {
                    at = now.0;
                }
                for entry in record.entries() {
                    for thing in [&entry.before, &entry.after] {
                        if let PathEntry::File { hash, .. } = thing {
                            let latest = out.entry(hash.clone()).or_insert(at);
                            *latest = (*latest).max(at);
                        }
                    }
                }
            }
        }
        Ok(out)
    }

    /// Temporary files that a death left.
    fn remove_left_over(&self) {
        let io = self.store.io();
        let now = io.now_ns() / 1_000_000;
        let root = self.root();
        for entry in trees::below(io, &root).unwrap_or_default() {
            let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if layout::is_temp(name) && now.saturating_sub(entry.stat.modified) > YOUNG_MS {
                let _ = io.remove(&root.join(&entry.path));
            }
        }
    }
}
