//! Lock of a store: a file beside it that is created exclusively, as the reference has it, so that both programs wait for
//! each other. It names the process and its start.
//!
//! A lock whose process no longer runs is removed. One of a running process is never removed: two writers at once would
//! lose rows. Only locks without a start time, which cannot be told from those of a process that got the number again, go
//! by their age. Removing takes a kernel lock on the file, so that of two who remove it nobody removes the next one's.

use super::error::RouteStoreError;
use crate::domain::ids::At;
use crate::store::io::{How, Io};
use crate::store::{process_runs, process_start};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time that a change waits for the lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Age at which a lock goes whose process is unknown.
const STALE_MS: u64 = 30_000;
/// Longest text that is read.
const MOST_BYTES: usize = 4096;

/// Content of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockText {
    pid: Option<u32>,
    created_at: Option<String>,
    /// In clock ticks after the boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    starttime: Option<u64>,
}

/// Lock, until dropped.
#[derive(Debug)]
pub(super) struct StoreLock {
    io: Arc<dyn Io>,
    path: PathBuf,
    ino: u64,
}

impl StoreLock {
    /// Takes the lock of a store, with some patience.
    ///
    /// # Errors
    /// Fails if another process keeps it, or the file can't be written.
    pub(super) fn take(io: &Arc<dyn Io>, store: &Path, patience: Duration) -> Result<Self, RouteStoreError> {
        let path = path_of(store);
        let failed = |error: io::Error| RouteStoreError::io("lock", store, error);
        let began = Instant::now();
        let mut tries: u32 = 0;
        loop {
            match io.open(&path, How::New) {
                Ok(file) => return Self::named(io, path.clone(), &file).map_err(failed),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            if remove_stale(&**io, &path).map_err(failed)? {
                continue;
            }
            tries += 1;
            if began.elapsed() >= patience {
                return Err(RouteStoreError::Locked { path: store.to_owned(), holder: holder(&**io, &path) });
            }
            std::thread::sleep(Duration::from_millis(1000.min(u64::from(tries) * 50)));
        }
    }

    /// The new file with the process in it.
    fn named(io: &Arc<dyn Io>, path: PathBuf, file: &File) -> io::Result<Self> {
        let pid = std::process::id();
        let now = Timestamp::from_nanosecond(i128::from(io.now_ns())).unwrap_or_default();
        let text = LockText {
            pid: Some(pid),
            created_at: Some(format!("{now:.3}")),
            starttime: process_start(&pid.to_string()),
        };
        let bytes = serde_json::to_vec(&text)?;
        let written = io.append(file, &bytes).and_then(|()| io.stat_of(file));
        match written {
            Ok(stat) => Ok(Self { io: io.clone(), path, ino: stat.ino }),
            Err(error) => {
                // Best effort: without a process in it, it goes by its age.
                let _ = io.remove(&path);
                Err(error)
            }
        }
    }

    /// Tells if the lock is still ours. Another program may have found it too old.
    pub(super) fn is_held(&self) -> bool {
        self.io.stat(&self.path).is_ok_and(|stat| stat.ino == self.ino)
    }
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        if self.is_held()
            && let Err(error) = self.io.remove(&self.path)
        {
            tracing::warn!(%error, "can't remove the lock {}", self.path.display());
        }
    }
}

/// The lock's file.
pub(super) fn path_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    file.with_file_name(name)
}

/// Tells if a running process has the lock of a file.
pub(super) fn is_locked(io: &dyn Io, file: &Path) -> bool {
    io.open(&path_of(file), How::Read).is_ok_and(|lock| !is_stale(io, &lock))
}

fn read(io: &dyn Io, file: &File) -> Option<LockText> {
    let mut bytes = vec![0; MOST_BYTES];
    let got = io.read_at(file, 0, &mut bytes).ok()?;
    serde_json::from_slice(bytes.get(..got)?).ok()
}

/// Holder in words.
fn holder(io: &dyn Io, path: &Path) -> String {
    let text = io.open(path, How::Read).ok().and_then(|file| read(io, &file));
    match text.and_then(|text| text.pid) {
        Some(pid) => format!("process {pid}"),
        None => path.display().to_string(),
    }
}

fn is_stale(io: &dyn Io, file: &File) -> bool {
    let now = At(io.now_ns() / 1_000_000);
    let Some(text) = read(io, file) else {
        // It may be half written.
        return io.stat_of(file).is_ok_and(|stat| now.since(At(stat.modified)) > STALE_MS);
    };
    let created = text.created_at.and_then(|at| at.parse::<Timestamp>().ok()).map(|at| At(at.as_millisecond()));
    let aged = match created {
        Some(created) => now.since(created) > STALE_MS,
        None => io.stat_of(file).is_ok_and(|stat| now.since(At(stat.modified)) > STALE_MS),
    };
    match text.pid {
        Some(pid) if !process_runs(pid, text.starttime) => true,
        Some(_) if text.starttime.is_some() => false,
        Some(_) | None => aged,
    }
}

/// Removes the lock if nobody holds it. True if it is gone.
fn remove_stale(io: &dyn Io, path: &Path) -> io::Result<bool> {
    let gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let file = match io.open(path, How::Read) {
        Ok(file) => file,
        Err(error) => return if gone(&error) { Ok(true) } else { Err(error) },
    };
    if !is_stale(io, &file) || !io.try_lock(&file)? {
        return Ok(false);
    }
    let named = match io.stat(path) {
        Ok(stat) => stat.ino == io.stat_of(&file)?.ino,
        Err(error) => return if gone(&error) { Ok(true) } else { Err(error) },
    };
    if !named {
        return Ok(false);
    }
    match io.remove(path) {
        Err(error) if !gone(&error) => Err(error),
        _ => Ok(true),
    }
}
