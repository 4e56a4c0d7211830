//! Commands of other processes of lisle that run in the same folders. What one of them made is no state to go back to for a
//! command of this process: nobody here knows what was there before it.

use super::process_notes::{self, Note};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes commands that run in this folder from now on, and in the one that all of the user's processes of lisle share. Without
/// it no other process knows of them.
pub fn keep_in(folder: PathBuf) {
    let all = std::iter::once(folder).chain(user_folder().map(|shared| shared.join("commands")));
    *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner) = all.collect();
}

fn folders() -> Vec<PathBuf> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Folder that every lisle of this user finds, wherever it keeps its sessions. `None` where others than the user could write.
#[must_use]
pub fn user_folder() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = match runtime.filter(|dir| dir.is_absolute() && is_private(dir)) {
        Some(dir) => dir.join("lisle"),
        None => PathBuf::from(format!("/tmp/lisle-{}", rustix::process::geteuid().as_raw())),
    };
    // One that is there is looked at like a new one.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
    is_private(&folder).then_some(folder)
}

fn is_private(dir: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    dir.symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0)
}

/// Notes that a command runs that may change what lies in these folders. Blocks.
pub(in crate::tools) fn note(began: SystemTime, scope: &[PathBuf]) -> Vec<Note> {
    let text = written(began, scope);
    let note = |folder: PathBuf| {
        let note = Note::new(&folder, &text);
        note.inspect_err(|error| tracing::warn!(%error, "a command is not noted for other processes")).ok()
    };
    folders().into_iter().filter_map(note).collect()
}

/// Time since which a command of another process may have changed what lies in these folders. Blocks.
pub(in crate::tools) fn since(scope: &[PathBuf]) -> Option<SystemTime> {
    let mut first = None;
    for other in folders().iter().flat_map(|folder| process_notes::others(folder)) {
        if !other.lives {
            other.remove();
            continue;
        }
        let Some((began, theirs)) = read(&other.text) else { continue };
        let meets = |one: &Path| scope.iter().any(|own| own.starts_with(one) || one.starts_with(own));
        if theirs.iter().any(|one| meets(one)) {
            first = Some(first.map_or(began, |first: SystemTime| first.min(began)));
        }
    }
    first
}

fn written(began: SystemTime, scope: &[PathBuf]) -> Vec<u8> {
    let nanos = began.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut out = nanos.to_string().into_bytes();
    for folder in scope {
        out.push(0);
        out.extend(folder.as_os_str().as_bytes());
    }
    out
}

fn read(text: &[u8]) -> Option<(SystemTime, Vec<PathBuf>)> {
    let mut parts = text.split(|byte| *byte == 0);
    let nanos: u64 = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let began = UNIX_EPOCH + Duration::from_nanos(nanos);
    Some((began, parts.map(|part| PathBuf::from(OsStr::from_bytes(part))).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_since_when_a_command_runs_and_where() {
        let began = UNIX_EPOCH + Duration::from_nanos(1_234_567_890_123);
        let scope = vec![PathBuf::from("/a b"), PathBuf::from(OsStr::from_bytes(b"/\xff"))];
        assert_eq!(read(&written(began, &scope)), Some((began, scope)));
        assert_eq!(read(b"x"), None);
    }
}
