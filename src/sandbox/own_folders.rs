//! lisle's own folders, as far as a repository or a link may not lead there: commands write in some of them, and nobody looks
//! after what lies there.
//!
//! A session's folder may come from somebody else. What lisle keeps in it is therefore used only where no link stands, by
//! [`in_session`], which profiles and tools share; the store refuses such a session when it is opened.

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

/// lisle's folders with a workspace wherever it lies, as its real paths.
#[must_use]
pub fn of_workspace(own: &[PathBuf], workspace: &Path) -> Vec<PathBuf> {
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let parts = OF_WORKSPACE.iter().map(|name| workspace.join(name));
    own.iter().cloned().chain([workspace.clone()]).chain(parts).collect()
}

/// The same without those that the working directory lies in. Blocks.
#[must_use]
pub fn beside(own: &[PathBuf], session: &Path, cwd: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (cwd, session) = (real(cwd), real(session));
    with_workspace(own, &session).into_iter().map(|dir| real(&dir)).filter(|dir| !cwd.starts_with(dir)).collect()
}

/// Folder of this name in a session's, made where it is missing. No part of its path below the workspace is a link. Blocks.
///
/// # Errors
/// Half a sentence with the path that is in the way, or that cannot be made.
pub fn in_session(session: &Path, name: &str) -> Result<PathBuf, String> {
    if let Some(why) = fault(session) {
        return Err(why);
    }
    let (base, below) = parts(session);
    make(base, below.iter().copied().chain([OsStr::new(name)]))
        .map_err(|error| format!("{} can't be made: {error}", session.join(name).display()))?;
    Ok(session.join(name))
}

/// Why lisle's own files in a session's folder are not to be used: a link stands there, or it belongs to somebody else. A folder
/// that does not exist yet is in order, and one that every user may write is closed to them. Blocks.
#[must_use]
pub fn fault(session: &Path) -> Option<String> {
    let (base, below) = parts(session);
    let users = [Some(rustix::process::geteuid().as_raw()), base.metadata().ok().map(|meta| meta.uid())];
    let fault = |path: &Path, is_above: bool| {
        let meta = path.symlink_metadata().ok()?;
        // Who may write a folder may put a link in the place of what lies in it. Some file systems know no rights.
        if is_above && meta.is_dir() && meta.mode() & 0o1002 == 0o002 {
            let _ = std::fs::set_permissions(path, Permissions::from_mode(meta.mode() & 0o7775));
        }
        if meta.is_symlink() {
            Some(format!("{} is a link, and lisle follows none to its own files", path.display()))
        } else if is_above && !users.contains(&Some(meta.uid())) {
            // What lies at the top of the folder itself a command of root's may have given away.
            Some(format!("{} belongs to another user", path.display()))
        } else {
            None
        }
    };
    let mut path = base.to_owned();
    for name in below {
        path.push(name);
        if let Some(why) = fault(&path, true) {
            return Some(why);
        }
    }
    let entries = std::fs::read_dir(session).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find_map(|path| fault(&path, false))
}

/// The workspace of a session and the names below it, or the folder that the session's lies in.
fn parts(session: &Path) -> (&Path, Vec<&OsStr>) {
    let above = session.parent().unwrap_or(session);
    match above.parent().filter(|_| above.file_name() == Some(OsStr::new("sessions"))) {
        Some(workspace) => (workspace, above.file_name().into_iter().chain(session.file_name()).collect()),
        None => (above, session.file_name().into_iter().collect()),
    }
}

/// Makes folders below one another that are the user's alone, through no link.
fn make<'a>(base: &Path, names: impl Iterator<Item = &'a OsStr>) -> std::io::Result<()> {
    const USER: Mode = Mode::RWXU;
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = || rustix::fs::openat(CWD, base, how, Mode::empty());
    let mut dir = match top() {
        Err(Errno::NOENT) => {
            std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700).create(base)?;
            top()?
        }
        other => other?,
    };
    for name in names {
        match rustix::fs::mkdirat(&dir, name, USER) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        dir = rustix::fs::openat(&dir, name, how | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn folders_of_a_session_are_made_and_never_reached_by_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let elsewhere = root.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let session = root.join("new/ws/sessions/s1");
        assert_eq!(fault(&session), None);
        assert_eq!(in_session(&session, "tmp"), Ok(session.join("tmp")));
        assert_eq!(in_session(&session, "tmp"), Ok(session.join("tmp")));
        assert_eq!(session.metadata().unwrap().mode() & 0o777, 0o700);
        for (case, link) in
            [("one", "sessions/s1/tmp"), ("other", "sessions/s1/data"), ("session", "sessions/s1"), ("all", "sessions")]
        {
            let (session, link) = (root.join(case).join("sessions/s1"), root.join(case).join(link));
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&elsewhere, &link).unwrap();
            let why = in_session(&session, "tmp").unwrap_err();
            assert!(why.contains("is a link") && why.contains(&link.display().to_string()), "{case}: {why}");
        }
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
        // The workspace itself may be reached through one, and a command may open its own temporary folder to all.
        symlink(root.join("new/ws"), root.join("linked")).unwrap();
        std::fs::set_permissions(session.join("tmp"), PermissionsExt::from_mode(0o777)).unwrap();
        assert!(in_session(&root.join("linked/sessions/s1"), "data").is_ok());
        std::fs::set_permissions(&session, PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(fault(&session), None);
        assert_eq!(session.metadata().unwrap().mode() & 0o777, 0o775);
    }
}
