//! Secrets that commands of a session made themselves, such as a `.env` copied from its example: no secret to the session
//! while nobody else changed them since.
//!
//! A path says nothing about who made the file: a command can move one of the user's there. A file is the command's own if it
//! is the one that was so before, or was born while the command ran, as far as the file system keeps times of birth.
//!
//! Kept in memory. After a restart they are hidden like any other.

use crate::sandbox::places::hidden;
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Stamp of a file, which changes with it: device, number, length, time of change.
type Stamp = (u64, u64, u64, i64, i64);

/// By the session's folder.
static MADE: LazyLock<Mutex<HashMap<PathBuf, HashMap<PathBuf, Stamp>>>> = LazyLock::new(Mutex::default);

/// Files of one session that are remembered.
const MOST: usize = 100;

/// Times of files lag behind the clock by a tick of the kernel, at most this.
const TICK: Duration = Duration::from_millis(10);

fn stamp_of(meta: &Metadata) -> Stamp {
    (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec())
}

/// `None` for what is no file, and for a file that was hidden at another path.
fn file(path: &Path) -> Option<Metadata> {
    path.symlink_metadata().ok().filter(|meta| meta.is_file() && !hidden::is_moved(path))
}

/// A command ended that began at `since` and made these files. `shown`: files that it was shown, which it may have changed.
pub(in crate::tools) fn note(
    session: &Path,
    since: SystemTime,
    new: impl Iterator<Item = PathBuf>,
    shown: Option<&[PathBuf]>,
) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let of = made.entry(session.to_owned()).or_default();
    let is_born_since = |meta: &Metadata| meta.created().is_ok_and(|born| born + TICK >= since);
    for path in shown.into_iter().flatten() {
        // It was as the last command left it when this one began.
        let Some(left) = of.remove(path) else { continue };
        let is_same = |meta: &Metadata| (meta.dev(), meta.ino()) == (left.0, left.1);
        if let Some(meta) = file(path).filter(|meta| is_same(meta) || is_born_since(meta)) {
            of.insert(path.clone(), stamp_of(&meta));
        }
    }
    for path in new {
        if let Some(meta) = file(&path).filter(|meta| of.len() < MOST && is_born_since(meta)) {
            of.insert(path, stamp_of(&meta));
        }
    }
}

/// Files that are as the last command left them.
pub(in crate::tools) fn unchanged(session: &Path) -> Vec<PathBuf> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(of) = made.get_mut(session) else { return Vec::new() };
    of.retain(|path, left| file(path).is_some_and(|meta| stamp_of(&meta) == *left));
    of.keys().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_else_changed_is_a_secret_again() {
        let dir = tempfile::tempdir().unwrap();
        let (session, file) = (dir.path().join("s"), dir.path().join(".env"));
        let since = SystemTime::now();
        std::fs::write(&file, "A=example").unwrap();
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
        note(&session, since, [file.clone()].into_iter(), None);
        assert_eq!(unchanged(&session), [file.as_path()]);
        // A command that was shown it goes on with it.
        std::fs::write(&file, "A=example, longer").unwrap();
        note(&session, since, [].into_iter(), Some(std::slice::from_ref(&file)));
        assert_eq!(unchanged(&session), [file.as_path()]);
        // The user writes the real key.
        std::fs::write(&file, "A=the real key").unwrap();
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
        note(&session, since, [].into_iter(), Some(std::slice::from_ref(&file)));
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_file_of_the_user_that_a_command_moves_there_is_none_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (session, own, other) = (dir.path().join("s"), dir.path().join(".env"), dir.path().join("users"));
        std::fs::write(&other, "KEY=real").unwrap();
        if other.metadata().unwrap().created().is_err() {
            return eprintln!("not tested: no time of birth");
        }
        let since = other.metadata().unwrap().created().unwrap() + Duration::from_secs(1);
        // Not made: it was born before the command began.
        note(&session, since, [other.clone()].into_iter(), None);
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
        let since = SystemTime::now();
        std::fs::write(&own, "A=example").unwrap();
        note(&session, since, [own.clone()].into_iter(), None);
        // One that is written anew and renamed, as editors do, is its own.
        std::fs::write(dir.path().join("new"), "A=more").unwrap();
        std::fs::rename(dir.path().join("new"), &own).unwrap();
        note(&session, since, [].into_iter(), Some(std::slice::from_ref(&own)));
        assert_eq!(unchanged(&session), [own.as_path()]);
        std::fs::rename(&other, &own).unwrap();
        let late = SystemTime::now() + Duration::from_secs(1);
        note(&session, late, [].into_iter(), Some(std::slice::from_ref(&own)));
        assert_eq!(unchanged(&session), [] as [PathBuf; 0]);
    }
}
