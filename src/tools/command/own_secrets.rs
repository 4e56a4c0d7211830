//! Secrets that commands of a session made themselves, such as a `.env` copied from its example: no secret to the session
//! while nobody else changed them since.
//!
//! Kept in memory. After a restart they are hidden like any other.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Stamp of a file, which changes with it: device, number, length, time of change.
type Stamp = (u64, u64, u64, i64, i64);

/// By the session's folder.
static MADE: LazyLock<Mutex<HashMap<PathBuf, HashMap<PathBuf, Stamp>>>> = LazyLock::new(Mutex::default);

/// Files of one session that are remembered.
const MOST: usize = 100;

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = path.symlink_metadata().ok()?;
    meta.is_file().then(|| (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
}

/// A command ended that made these files. `shown`: files that it was shown, which it may have changed.
pub(in crate::tools) fn note(session: &Path, new: impl Iterator<Item = PathBuf>, shown: Option<&[PathBuf]>) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let of = made.entry(session.to_owned()).or_default();
    for path in shown.into_iter().flatten().filter(|path| of.contains_key(*path)).cloned().collect::<Vec<_>>() {
        // It was as the last command left it when this one began.
        match stamp(&path) {
            Some(stamp) => of.insert(path, stamp),
            None => of.remove(&path),
        };
    }
    for path in new {
        if let Some(stamp) = stamp(&path).filter(|_| of.len() < MOST) {
            of.insert(path, stamp);
        }
    }
}

/// Files that are as the last command left them.
pub(in crate::tools) fn unchanged(session: &Path) -> Vec<PathBuf> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(of) = made.get_mut(session) else { return Vec::new() };
    of.retain(|path, left| stamp(path).as_ref() == Some(left));
    of.keys().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_else_changed_is_a_secret_again() {
        let dir = tempfile::tempdir().unwrap();
        let (session, file) = (dir.path().join("s"), dir.path().join(".env"));
        std::fs::write(&file, "A=example").unwrap();
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
        note(&session, [file.clone()].into_iter(), None);
        assert_eq!(unchanged(&session), [file.as_path()]);
        // A command that was shown it goes on with it.
        std::fs::write(&file, "A=example, longer").unwrap();
        note(&session, [].into_iter(), Some(std::slice::from_ref(&file)));
        assert_eq!(unchanged(&session), [file.as_path()]);
        // The user writes the real key.
        std::fs::write(&file, "A=the real key").unwrap();
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
        note(&session, [].into_iter(), Some(std::slice::from_ref(&file)));
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
    }
}
