//! Notes of a process of lisle that the others read, and that outlive it: a file each, locked while its process lives.

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of this process, which no other one has.
static OWN: LazyLock<u64> = LazyLock::new(|| fastrand::u64(..));
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// The most bytes of a note that is read.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Note of this process. It is removed when this is dropped.
#[derive(Debug)]
pub(in crate::tools) struct Note {
    path: PathBuf,
    locked: File,
}

impl Note {
    /// Writes a note. Blocks.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn new(folder: &Path, text: &[u8]) -> std::io::Result<Self> {
        let name = format!("{:016x}-{}", *OWN, NUMBER.fetch_add(1, Ordering::Relaxed));
        let hidden = folder.join(format!(".{name}"));
        let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&hidden);
        let mut file = open().or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => std::fs::create_dir_all(folder).and_then(|()| open()),
            _ => Err(error),
        })?;
        // Others find it when it is locked and whole.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(text)?;
        let path = folder.join(name);
        std::fs::rename(&hidden, &path)?;
        Ok(Self { path, locked: file })
    }

    /// Adds to its end. Blocks.
    ///
    /// # Errors
    /// When it cannot be written; a part of it may be there.
    pub fn add(&mut self, more: &[u8]) -> std::io::Result<()> {
        self.locked.write_all(more)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Note of another process.
#[derive(Debug)]
pub(in crate::tools) struct OtherNote {
    pub text: Vec<u8>,
    /// Its process lives.
    pub lives: bool,
    path: PathBuf,
    /// The lock of one whose process is gone, so that one process alone takes care of it.
    _locked: File,
}

impl OtherNote {
    /// True if nobody wrote it for so long.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let written = self.path.symlink_metadata().and_then(|meta| meta.modified());
        written.ok().and_then(|at| at.elapsed().ok()).is_some_and(|since| since > age)
    }

    /// Removes it: it was taken care of.
    pub fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Notes of other processes. Blocks.
pub(in crate::tools) fn others(folder: &Path) -> Vec<OtherNote> {
    let own = format!("{:016x}-", *OWN);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_other = |name: &str| !name.starts_with('.') && !name.starts_with(&own);
    let names = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_other));
    names.filter_map(|entry| read(entry.path())).collect()
}

fn read(path: PathBuf) -> Option<OtherNote> {
    let file = crate::sandbox::plain_file::open(&path).ok()?;
    let lives = match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => false,
        Err(Errno::WOULDBLOCK) => true,
        Err(_) => return None,
    };
    let mut text = Vec::new();
    (&file).take(LONGEST).read_to_end(&mut text).ok()?;
    Some(OtherNote { text, lives, path, _locked: file })
}
