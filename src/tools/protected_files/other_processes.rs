//! Commands of other processes of lisle that run in the same folders. What one of them made is no state to go back to for a
//! command of this process: nobody here knows what was there before it.
//!
//! A note names the protected files that were there before its command, so that whoever finds its process dead knows which of
//! them the command made: at its end nobody compared them.

use super::process_notes::{self, Note};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Notes of dead processes about folders in which nobody works are kept so long.
const FORGOTTEN: Duration = Duration::from_hours(30 * 24);

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

/// Adds the protected files that were there before a command to its notes. Blocks.
pub(in crate::tools) fn note_files<'a>(notes: &mut [Note], files: impl Iterator<Item = &'a Path>) {
    let text = written_files(files);
    for note in notes {
        if let Err(error) = note.add(&text) {
            tracing::warn!(%error, "the protected files before a command are not noted");
        }
    }
}

/// Command as its note has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct NotedCommand {
    pub began: SystemTime,
    /// Folders that it may change.
    pub scope: Vec<PathBuf>,
    /// Protected files that were there before it; `None` where they were not noted to the end.
    pub files: Option<HashSet<PathBuf>>,
}

impl NotedCommand {
    fn meets(&self, scope: &[PathBuf]) -> bool {
        let meets = |one: &PathBuf| scope.iter().any(|own| own.starts_with(one) || one.starts_with(own));
        self.scope.iter().any(meets)
    }
}

/// Time since which a command of another process may have changed what lies in these folders. Blocks.
pub(in crate::tools) fn since(scope: &[PathBuf]) -> Option<SystemTime> {
    let notes = folders().into_iter().flat_map(|folder| process_notes::others(&folder));
    let live = notes.filter(|other| other.lives).filter_map(|other| read(&other.text));
    live.filter(|one| one.meets(scope)).map(|one| one.began).min()
}

/// Commands that may have changed what lies in these folders, and whose processes ended before anybody compared that with what
/// was there before. They are the caller's from then on. Blocks.
pub(in crate::tools) fn take_left(scope: &[PathBuf]) -> Vec<NotedCommand> {
    let mut folders = folders().into_iter();
    let own = folders.next();
    // The shared folder may be one that commands write, without namespaces: what a note there says moves nothing.
    let shared = folders.flat_map(|folder| process_notes::others(&folder));
    shared.filter(|other| !other.lives).for_each(process_notes::OtherNote::remove);
    let mut out: Vec<NotedCommand> = Vec::new();
    let notes = own.into_iter().flat_map(|folder| process_notes::others(&folder));
    for other in notes.filter(|other| !other.lives) {
        match read(&other.text) {
            Some(command) if command.meets(scope) => {
                out.push(command);
                other.remove();
            }
            // For whoever works in its folder next, for a while.
            Some(_) if !other.is_older_than(FORGOTTEN) => {}
            _ => other.remove(),
        }
    }
    out
}

/// Time of the start, then folders, then, behind an empty path, the files, with an empty path at their end.
fn written(began: SystemTime, scope: &[PathBuf]) -> Vec<u8> {
    let nanos = began.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut out = nanos.to_string().into_bytes();
    for folder in scope {
        out.push(0);
        out.extend(folder.as_os_str().as_bytes());
    }
    out
}

fn written_files<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<u8> {
    let mut out = vec![0];
    for file in files {
        out.push(0);
        out.extend(file.as_os_str().as_bytes());
    }
    out.extend([0, 0]);
    out
}

fn read(text: &[u8]) -> Option<NotedCommand> {
    let mut parts = text.split(|byte| *byte == 0);
    let nanos: u64 = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let began = UNIX_EPOCH + Duration::from_nanos(nanos);
    let path = |part: &[u8]| PathBuf::from(OsStr::from_bytes(part));
    let scope = parts.by_ref().take_while(|part| !part.is_empty()).map(path).collect();
    let mut is_whole = false;
    let files = parts.by_ref().take_while(|part| {
        is_whole |= part.is_empty();
        !part.is_empty()
    });
    let files = files.map(path).collect();
    Some(NotedCommand { began, scope, files: is_whole.then_some(files) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_since_when_a_command_runs_and_where() {
        let began = UNIX_EPOCH + Duration::from_nanos(1_234_567_890_123);
        let scope = vec![PathBuf::from("/a b"), PathBuf::from(OsStr::from_bytes(b"/\xff"))];
        let noted = |files| NotedCommand { began, scope: scope.clone(), files };
        let text = written(began, &scope);
        assert_eq!(read(&text), Some(noted(None)));
        for files in [vec![], vec![Path::new("/a b/.envrc"), Path::new("/a b/.vscode/x")]] {
            let text = [&text[..], &written_files(files.iter().copied())].concat();
            let files = files.into_iter().map(Path::to_owned).collect();
            assert_eq!(read(&text), Some(noted(Some(files))));
            assert_eq!(read(&text[..text.len() - 2]).unwrap().files, None, "it breaks off");
        }
        assert_eq!(read(b"x"), None);
    }
}
