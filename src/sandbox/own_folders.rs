//! lisle's own folders, as far as a repository or a link may not lead there: commands write in some of them, and nobody looks
//! after what lies there.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// lisle's folders, whose sessions and caches commands write in part.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes note of lisle's own folders, before the first command.
pub fn note(folders: Vec<PathBuf>) {
    let real = folders.into_iter().map(|folder| folder.canonicalize().unwrap_or(folder)).collect();
    *OWN.lock().unwrap_or_else(PoisonError::into_inner) = real;
}

/// True for a path in one of lisle's folders, or in that of a session wherever it lies.
pub(super) fn holds(path: &Path) -> bool {
    OWN.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|own| path.starts_with(own))
        || path.ancestors().any(|above| above.join("session.jsonl").is_file())
}

/// Folders of a workspace, for whoever works in the workspace itself.
const OF_WORKSPACE: &[&str] = &["sessions", "checkpoints", "usage"];

/// lisle's folders with the workspace of a session, wherever that lies: one source for the sandbox and the file tools.
#[must_use]
pub fn with_workspace(own: &[PathBuf], session: &Path) -> Vec<PathBuf> {
    let workspace = session.ancestors().nth(2).filter(|dir| session.starts_with(dir.join("sessions")));
    let parts = workspace.into_iter().flat_map(|dir| OF_WORKSPACE.iter().map(move |name| dir.join(name)));
    own.iter().cloned().chain(workspace.map(Path::to_owned)).chain(parts).collect()
}
