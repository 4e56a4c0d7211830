//! Paths that an answer lets a command make and that are not there yet. What is not there cannot be opened, and the folder
//! that it would lie in holds more than was asked about.
//!
//! So the command gets a folder of the session's in the place of that folder, with what it sees of it anyway mounted in. What
//! it made there under the name that was asked about moves to its real place when the command is over; the rest is not kept.
//! Without namespaces the path is made ahead, and removed again when nothing came of it.

use super::caches;
use crate::sandbox::own_folders;
use crate::sandbox::profile::{Bounds, Namespaces, Replaced};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of the drafts in the session's.
const FOLDER: &str = "drafts";
/// Entries of a folder that are mounted into its draft, and that are looked at afterwards.
const MOST: usize = 200;

/// A path that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftPath {
    /// The path that was asked about.
    path: PathBuf,
    /// The nearest folder above it that is there.
    folder: PathBuf,
}

impl DraftPath {
    /// `None` for a path that is there, or that lies where nothing may be made.
    fn of(path: &Path) -> Option<Self> {
        if path.symlink_metadata().is_ok() {
            return None;
        }
        let folder = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok())?.canonicalize().ok()?;
        (folder.is_dir() && folder.parent().is_some()).then(|| Self { path: path.to_owned(), folder })
    }

    /// The name in the folder that it begins with.
    fn name(&self) -> Option<&Path> {
        self.path.strip_prefix(&self.folder).ok()?.iter().next().map(Path::new)
    }
}

/// Paths among those that may be written that are to be made, outside of the working directory.
#[must_use]
pub fn of(writable: &[PathBuf], cwd: &Path) -> Vec<DraftPath> {
    let outside = writable.iter().filter(|path| !path.starts_with(cwd));
    outside.filter_map(|path| DraftPath::of(path)).collect()
}

/// Opens them to a command.
pub(super) fn open(drafts: &[DraftPath], session_dir: &Path, bounds: &mut Bounds) {
    for draft in drafts {
        let folder = &draft.folder;
        let written = bounds.writable.iter().any(|place| folder.starts_with(place));
        if written || bounds.replaced.iter().any(|one| one.at == *folder) {
            continue;
        }
        if bounds.namespaces == Namespaces::Without {
            // What it is to be is not known; most programs take an empty folder for one that is not there.
            let made = match draft.path.extension() {
                None => std::fs::create_dir_all(&draft.path),
                Some(_) => std::fs::File::create_new(&draft.path).map(drop),
            };
            // Where nothing can be made, the command says so.
            let _ = made;
            continue;
        }
        let Some(with) = empty(session_dir) else { continue };
        if bounds.readable.iter().any(|place| folder.starts_with(place)) {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
            bounds.readable.extend(entries.map(|entry| entry.path()));
        }
        // The real ones are out of reach, and shown they would be readable.
        let written: Vec<PathBuf> =
            bounds.writable.iter().chain(bounds.replaced.iter().map(|one| &one.at)).cloned().collect();
        let held = |path: &PathBuf| written.iter().any(|place| place.starts_with(folder) && path.starts_with(place));
        bounds.protected.retain(|path| !path.starts_with(folder) || held(path));
        bounds.replaced.push(Replaced { at: folder.clone(), with });
    }
}

/// A new folder in the session's.
fn empty(session_dir: &Path) -> Option<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let drafts = own_folders::in_session(session_dir, FOLDER).ok()?;
    let path = drafts.join(format!("{}-{number}", std::process::id()));
    caches::folder(&path).map(|()| path)
}

/// Moves what a command made to its place, and removes the rest. What is to be known comes back, a line each. Blocks.
#[must_use]
pub fn settle(drafts: &[DraftPath], bounds: &Bounds, session_dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let own = session_dir.join(FOLDER);
    for Replaced { at, with } in bounds.replaced.iter().filter(|one| one.with.starts_with(&own)) {
        let mut kept = false;
        for draft in drafts.iter().filter(|draft| draft.folder == *at) {
            let Some(name) = draft.name() else { continue };
            let (from, to) = (with.join(name), at.join(name));
            if from.symlink_metadata().is_err() {
                continue;
            }
            if let Err(why) = moved(&from, &to) {
                kept = true;
                out.push(format!("{} was not made: {why}; it lies in {}", to.display(), from.display()));
            }
        }
        let beside = std::fs::read_dir(with).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path());
        let asked = |path: &PathBuf| {
            drafts
                .iter()
                .any(|draft| draft.folder == *at && draft.name().map(|name| with.join(name)).as_ref() == Some(path))
        };
        for path in beside.filter(|path| !asked(path) && !is_point(path, at, bounds)) {
            let name = path.file_name().unwrap_or_default();
            out.push(format!("{} was not kept: it was not asked for", at.join(name).display()));
        }
        if !kept {
            // A draft that stays is a draft of a session, and goes with it.
            let _ = std::fs::remove_dir_all(with);
        }
    }
    for draft in drafts {
        // Made ahead, and nothing came of it.
        let empty = draft.path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0);
        if bounds.namespaces == Namespaces::Without && (empty && std::fs::remove_file(&draft.path).is_ok()) {
            continue;
        }
        if bounds.namespaces == Namespaces::Without {
            let above = draft.path.ancestors().take_while(|above| *above != draft.folder);
            // A folder that holds something stays.
            let _ = above.map(std::fs::remove_dir).take_while(Result::is_ok).count();
        }
    }
    out
}

/// Something of the profile is mounted there, or below.
fn is_point(path: &Path, at: &Path, bounds: &Bounds) -> bool {
    let lists = [&bounds.readable, &bounds.writable, &bounds.pinned, &bounds.protected, &bounds.sockets];
    let places = lists.into_iter().flatten().chain(bounds.replaced.iter().map(|one| &one.at));
    let mut first = places.filter_map(|place| place.strip_prefix(at).ok()?.iter().next());
    first.any(|name| Some(name) == path.file_name())
}

/// Moves a tree to a place that is free.
fn moved(from: &Path, to: &Path) -> Result<(), String> {
    if to.symlink_metadata().is_ok() {
        return Err("something else is there by now".to_owned());
    }
    match std::fs::rename(from, to) {
        Err(e) if e.kind() == std::io::ErrorKind::CrossesDevices => {
            copied(from, to).and_then(|()| removed(from)).map_err(|e| e.to_string())
        }
        other => other.map_err(|e| e.to_string()),
    }
}

fn removed(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

/// Copies a tree with its rights and times. What is neither file nor folder nor link is left out.
fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    let meta = from.symlink_metadata()?;
    if meta.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    if meta.is_dir() {
        std::fs::create_dir(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            copied(&entry.path(), &to.join(entry.file_name()))?;
        }
        return std::fs::set_permissions(to, meta.permissions());
    }
    if meta.is_file() {
        std::fs::copy(from, to)?;
        let times = std::fs::FileTimes::new().set_modified(meta.modified()?);
        // Times are a comfort for builds.
        let _ = std::fs::File::options().append(true).open(to).and_then(|file| file.set_times(times));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["w", "s", "there"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        (dir, root)
    }

    #[test]
    fn what_was_asked_for_moves_to_its_place_whole_and_the_rest_is_told() {
        let (_dir, root) = tree();
        let at = |name: &str| root.join(name);
        let wanted = ["new", "deep/er", "empty", "there", "w/own", "none"].map(at);
        let drafts = of(&wanted, &at("w"));
        assert_eq!(drafts.len(), 4);
        let mut bounds = Bounds {
            writable: vec![at("w")],
            protected: vec![at("w/.git"), at("own")],
            namespaces: Namespaces::With,
            ..Bounds::default()
        };
        open(&drafts, &at("s"), &mut bounds);
        let [Replaced { at: folder, with }] = bounds.replaced.as_slice() else { panic!("{bounds:?}") };
        assert_eq!((folder, bounds.protected.as_slice()), (&root, &[at("w/.git")][..]));
        for folder in ["new/sub", "deep/er", "empty", "w", "beside"] {
            std::fs::create_dir_all(with.join(folder)).unwrap();
        }
        std::fs::write(with.join("new/sub/a"), "x").unwrap();
        std::os::unix::fs::symlink("sub/a", with.join("new/link")).unwrap();
        // Another program was faster.
        std::fs::write(at("deep"), "y").unwrap();
        let said = settle(&drafts, &bounds, &at("s"));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].contains("something else is there")
                && said[1].ends_with("beside was not kept: it was not asked for")
        );
        assert_eq!(std::fs::read_to_string(at("new/link")).unwrap(), "x");
        assert!(at("empty").is_dir() && !at("beside").exists() && !at("none").exists());
        assert!(with.join("deep/er").is_dir(), "what could not be moved is not lost");
    }

    #[test]
    fn a_copy_to_another_disk_is_the_same_tree() {
        let (_dir, root) = tree();
        let from = root.join("w");
        std::fs::create_dir(from.join("d")).unwrap();
        std::fs::write(from.join("d/run"), "x").unwrap();
        std::fs::set_permissions(from.join("d/run"), std::os::unix::fs::PermissionsExt::from_mode(0o751)).unwrap();
        std::os::unix::fs::symlink("/nowhere", from.join("link")).unwrap();
        copied(&from, &root.join("copy")).unwrap();
        let (a, b) = (from.join("d/run").metadata().unwrap(), root.join("copy/d/run").metadata().unwrap());
        assert_eq!((a.permissions(), a.modified().unwrap()), (b.permissions(), b.modified().unwrap()));
        assert_eq!(std::fs::read_link(root.join("copy/link")).unwrap(), Path::new("/nowhere"));
    }

    #[test]
    fn without_namespaces_it_is_made_ahead_and_goes_when_nothing_came_of_it() {
        let (_dir, root) = tree();
        let at = |name: &str| root.join(name);
        let drafts = of(&["new", "file.txt", "deep/er", "kept"].map(at), &at("w"));
        let mut bounds = Bounds { writable: vec![at("w")], ..Bounds::default() };
        open(&drafts, &at("s"), &mut bounds);
        assert!(at("new").is_dir() && at("file.txt").is_file() && at("deep/er").is_dir() && bounds.replaced.is_empty());
        std::fs::write(at("kept/a"), "x").unwrap();
        assert_eq!(settle(&drafts, &bounds, &at("s")), [] as [String; 0]);
        assert!(!at("new").exists() && !at("file.txt").exists() && !at("deep").exists() && at("kept/a").exists());
    }
}
