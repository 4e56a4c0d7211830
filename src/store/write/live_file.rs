//! `live.jsonl` on disk: entries are added, and now and then it is written anew from memory.
//!
//! [`LiveFile`] holds what the file is to say ([`Live`]) and whether it does. That everything final is in
//! `session.jsonl` and forced to the disk before it leaves this file is the journal's duty.

use crate::store::format::layout;
use crate::store::format::live::Live;
use crate::store::io::{How, lines, whole_file};
use crate::store::{Durability, Fsync, Store, StoreError};
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Bytes from which a file that is mostly out of date is rewritten.
const LARGE: u64 = 4 << 20;

/// The live file of a session that we write.
#[derive(Debug)]
pub struct LiveFile {
    store: Store,
    dir: PathBuf,
    /// Content to write.
    pub content: Live,
    /// The file lacks some of the content: the next write rewrites it.
    pub stale: bool,
    file: Option<File>,
    len: u64,
    /// Inode and length as we left it.
    left: Option<(u64, u64)>,
}

impl LiveFile {
    /// The file in `dir`, which holds nothing so far.
    pub fn new(store: Store, dir: PathBuf) -> Self {
        Self { store, dir, content: Live::default(), stale: false, file: None, len: 0, left: None }
    }

    fn path(&self) -> PathBuf {
        self.dir.join(layout::LIVE)
    }

    /// True if the file is large and mostly out of date.
    pub fn overgrown(&self) -> bool {
        self.len > LARGE && self.len > 4 * (self.content.let_gone() + self.content.render(&self.dir).len()) as u64
    }

    /// True if another process wrote it since we did.
    pub fn is_changed(&self) -> bool {
        self.left.is_some() && self.left != self.there()
    }

    fn there(&self) -> Option<(u64, u64)> {
        self.store.io().stat(&self.path()).ok().map(|stat| (stat.ino, stat.len))
    }

    /// Adds lines at the end.
    ///
    /// # Errors
    /// When they could not be written, or not forced to the disk.
    pub fn append(&mut self, lines: &str, durability: Durability) -> Result<(), StoreError> {
        let path = self.path();
        let io = self.store.inner.io.clone();
        let error = |e| StoreError::io("write", &path, e);
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let new = io.stat(&path).is_err();
                let file = io.open(&path, How::Append).map_err(error)?;
                if new {
                    self.store.sync_dir(&self.dir)?;
                }
                file
            }
        };
        let file = self.file.insert(file);
        io.append(file, lines.as_bytes()).map_err(error)?;
        self.len += lines.len() as u64;
        let fsync = self.store.inner.fsync;
        let sync = durability == Durability::Synced || fsync == Fsync::Always;
        if sync && fsync != Fsync::Off {
            io.fsync(file).map_err(|e| StoreError::io("save", &path, e))?;
        }
        let left = self.left.map(|(ino, len)| (ino, len + lines.len() as u64));
        self.left = left.or_else(|| self.there());
        Ok(())
    }

    /// The file is open: what was written to it can be read back whatever becomes of its name.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Gets text back that is in the file only.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn restore(&mut self) -> Result<(), StoreError> {
        if self.content.let_gone() > 0 {
            let (path, io) = (self.path(), self.store.io());
            let error = |e| StoreError::io("read", &path, e);
            let bytes = match &self.file {
                Some(file) => {
                    let len = io.stat_of(file).map_err(error)?.len;
                    lines::range(io, file, 0, len).map_err(error)?
                }
                None => whole_file::read(io, &path)?.unwrap_or_default(),
            };
            self.content.restore(&Live::parse(&bytes, &self.dir));
        }
        Ok(())
    }

    /// Writes the file anew; an empty one is emptied in place.
    ///
    /// # Errors
    /// When it could not be written; it is then as it was.
    pub fn rewrite(&mut self) -> Result<(), StoreError> {
        let path = self.path();
        let io = self.store.inner.io.clone();
        self.restore()?;
        let text = self.content.render(&self.dir);
        self.file = None;
        if text.is_empty() {
            let len = match io.stat(&path) {
                Ok(stat) => stat.len,
                Err(error) if error.kind() == ErrorKind::NotFound => 0,
                Err(error) => return Err(StoreError::io("write", &path, error)),
            };
            if len > 0 {
                let empty = || io.open(&path, How::Change).and_then(|file| io.truncate(&file, 0));
                empty().map_err(|e| StoreError::io("write", &path, e))?;
            }
        } else {
            whole_file::replace(&*io, &path, text.as_bytes(), self.store.inner.fsync != Fsync::Off)?;
            self.store.sync_dir(&self.dir)?;
        }
        self.len = text.len() as u64;
        self.left = self.there();
        self.content.saved();
        self.stale = false;
        Ok(())
    }
}
