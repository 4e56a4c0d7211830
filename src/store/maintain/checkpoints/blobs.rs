//! Contents by hash: written once under a temporary name and renamed, so that what has its name is whole.
//!
//! A death between the two leaves a temporary file, which `space` removes. What comes back is checked against its name.

use super::{Checkpoints, Sync};
use crate::store::StoreError;
use crate::store::format::{header, layout};
use crate::store::io::whole_file::{self, make_dirs};
use crate::store::io::{How, lines, trees};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Letters of a hash that name the folder.
const SHARD: usize = 2;

impl Checkpoints {
    pub(super) fn root(&self) -> PathBuf {
        self.store.inner.layout.checkpoints()
    }

    /// Path of a content; `None` for an invalid hash.
    fn place(&self, hash: &str) -> Option<PathBuf> {
        let sound = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        sound.then(|| self.root().join(&hash[..SHARD]).join(&hash[SHARD..]))
    }

    /// Keeps a content and gives its hash. What is kept already is not written again.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it has a name.
    pub fn keep(&self, bytes: &[u8], sync: Sync) -> Result<String, StoreError> {
        let hash = header::hash(bytes);
        let Some(path) = self.place(&hash) else { return Ok(hash) };
        let io = self.store.io();
        let error = |e| StoreError::io("keep a file's content in", &path, e);
        let synced = self.syncs(sync);
        if self.is_whole(&path, bytes, synced) {
            // It is wanted again: the oldest go first where space is short.
            if let Ok(file) = io.open(&path, How::Read) {
                let _ = io.touch(&file);
            }
            return Ok(hash);
        }
        let folder = path.parent().unwrap_or(&path).to_owned();
        make_dirs(io, &folder)?;
        let temp = layout::temp(&path);
        let written = io.open(&temp, How::New).and_then(|file| {
            io.append(&file, bytes)?;
            if synced { io.fsync(&file) } else { Ok(()) }
        });
        if let Err(e) = written.and_then(|()| io.rename(&temp, &path)) {
            let _ = io.remove(&temp);
            return Err(error(e));
        }
        if synced {
            io.fsync_dir(&folder).map_err(error)?;
        }
        self.store.inner.kept.add(bytes.len() as u64);
        Ok(hash)
    }

    /// True if exactly this content has the name already. A content that must survive a power loss
    /// is read and flushed: a writer without that need may have written it.
    fn is_whole(&self, path: &Path, bytes: &[u8], synced: bool) -> bool {
        let io = self.store.io();
        let Ok(stat) = io.stat(path) else { return false };
        if stat.is_dir || stat.len != bytes.len() as u64 {
            return false;
        }
        if !synced {
            return true;
        }
        let Ok(file) = io.open(path, How::Read) else { return false };
        lines::range(io, &file, 0, stat.len).is_ok_and(|there| there == bytes) && io.fsync(&file).is_ok()
    }

    /// True if a content is kept.
    #[must_use]
    pub fn has(&self, hash: &str) -> bool {
        self.place(hash).is_some_and(|path| self.store.io().stat(&path).is_ok_and(|stat| !stat.is_dir))
    }

    /// A kept content; `None` when it is not there (any more), or is not what its name says.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn content(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(path) = self.place(hash) else { return Ok(None) };
        let bytes = whole_file::read(self.store.io(), &path)?;
        Ok(bytes.filter(|bytes| header::hash(bytes) == hash))
    }

    /// All kept contents: hash, bytes, last use in milliseconds since the epoch.
    pub(super) fn all(&self) -> Result<Vec<(String, u64, i64)>, StoreError> {
        let io = self.store.io();
        let root = self.root();
        let entries = match io.stat(&root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            _ => trees::below(io, &root)?,
        };
        let hash = |path: &Path| path.to_str().map(|path| path.replace('/', ""));
        let known = entries.iter().filter(|entry| entry.kind == crate::store::io::PathKind::File);
        Ok(known
            .filter_map(|entry| Some((hash(&entry.path)?, entry.stat.len, entry.stat.modified)))
            .filter(|(hash, ..)| self.place(hash).is_some())
            .collect())
    }

    pub(super) fn forget(&self, hash: &str) -> Result<(), StoreError> {
        let Some(path) = self.place(hash) else { return Ok(()) };
        match self.store.io().remove(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", &path, error)),
            _ => Ok(()),
        }
    }
}
