//! Trees of files: looked through, copied, removed. Symbolic links are never followed. And files written line by line.
//!
//! The callers know the meaning of a tree.

use crate::store::StoreError;
use crate::store::io::{How, Io, PathKind, Stat, lines};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const CHUNK: u64 = 1 << 20;

/// Entry below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Path below the directory.
    pub path: PathBuf,
    /// Kind.
    pub kind: PathKind,
    /// Metadata.
    pub stat: Stat,
}

/// Everything below `dir`, directories before what is in them, names in order. Nothing, when there is no such directory.
///
/// # Errors
/// When a directory cannot be read.
pub fn below(io: &dyn Io, dir: &Path) -> Result<Vec<TreeEntry>, StoreError> {
    let mut out = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(inner) = waiting.pop() {
        let path = dir.join(&inner);
        let mut names = match io.list(&path) {
            Ok(names) => names,
            // Removed meanwhile, or never there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io("read", &path, error)),
        };
        names.sort();
        for name in names {
            let below = inner.join(name);
            let path = dir.join(&below);
            match io.lstat(&path) {
                Ok((kind, stat)) => {
                    if kind == PathKind::Dir {
                        waiting.push(below.clone());
                    }
                    out.push(TreeEntry { path: below, kind, stat });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("read", &path, error)),
            }
        }
    }
    Ok(out)
}

/// Copies a file to a name that is not taken, with mode 0600.
///
/// # Errors
/// When it cannot be read or written.
pub fn copy(io: &dyn Io, from: &Path, to: &Path, sync: bool) -> Result<(), StoreError> {
    let source = io.open(from, How::Read).map_err(|e| StoreError::io("read", from, e))?;
    let len = io.stat(from).map_err(|e| StoreError::io("read", from, e))?.len;
    let target = io.open(to, How::New).map_err(|e| StoreError::io("write", to, e))?;
    let mut at = 0;
    while at < len {
        let bytes =
            lines::range(io, &source, at, (at + CHUNK).min(len)).map_err(|e| StoreError::io("read", from, e))?;
        if bytes.is_empty() {
            break;
        }
        io.append(&target, &bytes).map_err(|e| StoreError::io("write", to, e))?;
        at += bytes.len() as u64;
    }
    if sync {
        io.fsync(&target).map_err(|e| StoreError::io("save", to, e))?;
    }
    Ok(())
}

/// Copies what [`below`] found in `from` into the empty directory `to`.
///
/// # Errors
/// When something cannot be copied, or is neither a file nor a directory.
pub fn copy_all(io: &dyn Io, from: &Path, entries: &[TreeEntry], to: &Path, sync: bool) -> Result<(), StoreError> {
    for entry in entries {
        let (source, target) = (from.join(&entry.path), to.join(&entry.path));
        match entry.kind {
            PathKind::Dir => io.mkdir(&target).map_err(|e| StoreError::io("make", &target, e))?,
            PathKind::File => copy(io, &source, &target, sync)?,
            PathKind::Link | PathKind::Other => {
                let error = io::Error::other("not a file or directory; move it out of the way first");
                return Err(StoreError::io("copy", &source, error));
            }
        }
    }
    if sync {
        for dir in entries.iter().filter(|entry| entry.kind == PathKind::Dir).map(|entry| to.join(&entry.path)) {
            io.fsync_dir(&dir).map_err(|e| StoreError::io("save", &dir, e))?;
        }
        io.fsync_dir(to).map_err(|e| StoreError::io("save", to, e))?;
    }
    Ok(())
}

/// Removes whatever `path` names, a directory with all that is in it. What is gone already is no error.
///
/// # Errors
/// When something cannot be removed; the rest may be gone.
pub fn remove_all(io: &dyn Io, path: &Path) -> Result<(), StoreError> {
    let gone = |path: &Path, done: io::Result<()>| match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, error)),
        _ => Ok(()),
    };
    if io.lstat(path).is_ok_and(|(kind, _)| kind == PathKind::Dir) {
        let entries = below(io, path)?;
        for entry in entries.iter().rev() {
            let inner = path.join(&entry.path);
            gone(&inner, io.remove(&inner))?;
        }
    }
    gone(path, io.remove(path))
}

/// A file that is written line by line, in large pieces.
#[derive(Debug)]
pub struct Lines<'a> {
    io: &'a dyn Io,
    file: File,
    waiting: Vec<u8>,
    written: u64,
}

const LARGE: usize = 1 << 20;

impl<'a> Lines<'a> {
    /// Writes to a new, empty file.
    pub fn new(io: &'a dyn Io, file: File) -> Self {
        Self { io, file, waiting: Vec::new(), written: 0 }
    }

    /// Adds a line, which comes without its newline.
    ///
    /// # Errors
    /// When it cannot be written; so for every call here.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(line);
        self.waiting.push(b'\n');
        if self.waiting.len() < LARGE { Ok(()) } else { self.flush() }
    }

    /// Adds a line that stands in another file.
    ///
    /// # Errors
    /// As above.
    pub fn copy(&mut self, from: &File, start: u64, end: u64) -> io::Result<()> {
        let mut at = start;
        while at < end {
            let bytes = lines::range(self.io, from, at, (at + LARGE as u64).min(end))?;
            if bytes.is_empty() {
                break;
            }
            at += bytes.len() as u64;
            self.waiting.extend_from_slice(&bytes);
            self.flush()?;
        }
        self.line(b"")
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.io.append(&self.file, &self.waiting)?;
            self.written += self.waiting.len() as u64;
            self.waiting.clear();
        }
        Ok(())
    }

    /// The file and its length.
    ///
    /// # Errors
    /// As above.
    pub fn end(mut self) -> io::Result<(File, u64)> {
        self.flush()?;
        Ok((self.file, self.written))
    }
}
