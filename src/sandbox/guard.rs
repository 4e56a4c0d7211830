//! Looks after a command whether it made or changed what configures or runs code, which it may do by asking alone.
//!
//! Before a command where such a file may not even have existed, nothing can be made read-only; and without namespaces
//! nothing can be taken out of a folder that may be written. So the known paths are looked at before and after: their
//! content, their rights, and the time of change that nobody can set back.

use super::places::{self, Moves, Site};
use super::repository::Repository;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Files of protected folders that are looked at, and how deep.
const MOST: usize = 2_000;
const DEPTH: usize = 5;
/// The most bytes of a file whose content is kept while the command runs, and of all of them.
const SMALL: u64 = 64 * 1024;
const ALL: u64 = 4 * 1024 * 1024;

/// What was there before a command.
#[derive(Debug)]
pub struct Guard {
    before: BTreeMap<PathBuf, State>,
    repository: Option<Repository>,
}

/// What a file was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    seen: Seen,
    mode: u32,
    content: Option<Arc<[u8]>>,
}

/// What a file cannot keep when it is changed: device, number, length, time of change.
type Seen = (u64, u64, u64, i64, i64);

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub what: What,
    /// Git did it, which was asked to move between states of the repository.
    pub by_git: bool,
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Made,
    /// It was changed; with what it held before, where that was kept.
    Changed(Option<Vec<u8>>),
    /// It is gone; with what it held.
    Gone(Option<Vec<u8>>),
}

impl Guard {
    /// Looks at what is there before a command runs at `site`. Blocks.
    #[must_use]
    pub fn before(site: &Site<'_>) -> Self {
        let repository = Repository::of(site.cwd);
        let before = look(&places::protected(site, repository.as_ref()), &BTreeMap::new());
        Self { before, repository }
    }

    /// What is different now, by path. Blocks.
    #[must_use]
    pub fn after(&self, site: &Site<'_>) -> Vec<Change> {
        // One that the command made counts, and the one of before also where its pointer was bent.
        let mut names = places::protected(site, Repository::of(site.cwd).as_ref());
        names.extend(places::protected(site, self.repository.as_ref()));
        // What was moved away with its folder is not among them any more.
        names.extend(self.before.keys().cloned());
        let mut seen = HashSet::new();
        names.retain(|path| seen.insert(path.clone()));
        let after = look(&names, &self.before);
        let mut out = Vec::new();
        for (path, now) in &after {
            let changed = |before: Option<&State>| {
                before.and_then(|before| before.content.as_ref()).map(|content| content.to_vec())
            };
            let what = match self.before.get(path) {
                // The examples that git lays down are never run.
                None if path.extension().is_some_and(|end| end == "sample") => continue,
                None => What::Made,
                Some(before) if before.seen == now.seen => continue,
                Some(before)
                    if before.mode == now.mode && before.content.is_some() && before.content == now.content =>
                {
                    continue;
                }
                before => What::Changed(changed(before)),
            };
            out.push(Change { path: path.clone(), what, by_git: false });
        }
        for (path, state) in self.before.iter().filter(|(path, _)| !after.contains_key(*path)) {
            let content = state.content.as_ref().map(|content| content.to_vec());
            out.push(Change { path: path.clone(), what: What::Gone(content), by_git: false });
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        self.tell_by_git(site, &mut out);
        out
    }

    /// Marks what git changed because it was asked to: files outside of its own folders that it has, or had.
    fn tell_by_git(&self, site: &Site<'_>, changes: &mut [Change]) {
        let (Moves::Repository, Some(repository)) = (site.moves, &self.repository) else { return };
        let outside = |path: &Path| !path.starts_with(&repository.common) && !path.starts_with(&repository.own);
        let paths: Vec<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
        let tracked = repository.tracked(&paths);
        for change in changes.iter_mut().filter(|change| outside(&change.path)) {
            change.by_git = matches!(change.what, What::Gone(_)) || tracked.contains(&change.path);
        }
    }
}

/// The files at and below these paths. What did not change since `before` is not read again.
fn look(paths: &[PathBuf], before: &BTreeMap<PathBuf, State>) -> BTreeMap<PathBuf, State> {
    let mut room = ALL;
    let mut out = BTreeMap::new();
    let mut open: Vec<(PathBuf, usize)> = paths.iter().map(|path| (path.clone(), 0)).collect();
    while let Some((path, depth)) = open.pop() {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            if depth < DEPTH {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.take(MOST).map(|entry| (entry.path(), depth + 1)));
            }
            continue;
        }
        if out.len() >= MOST {
            break;
        }
        let seen = seen(&meta);
        let state = match before.get(&path).filter(|before| before.seen == seen) {
            Some(known) => known.clone(),
            None => State { seen, mode: meta.mode(), content: content(&path, &meta, seen, &mut room) },
        };
        out.insert(path, state);
    }
    out
}

fn seen(meta: &Metadata) -> Seen {
    (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec())
}

type Contents = HashMap<Seen, Arc<[u8]>>;
/// Contents of files that were read before, so that they are not read before each command.
static READ: Mutex<Option<Contents>> = Mutex::new(None);
/// Files that are remembered so.
const REMEMBERED: usize = 4_000;

fn content(path: &Path, meta: &Metadata, seen: Seen, room: &mut u64) -> Option<Arc<[u8]>> {
    if meta.is_symlink() {
        // Where it leads is what counts.
        return std::fs::read_link(path).ok().map(|target| target.as_os_str().as_encoded_bytes().into());
    }
    if !meta.is_file() || meta.len() > SMALL.min(*room) {
        return None;
    }
    *room = room.saturating_sub(meta.len());
    let known = || READ.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(&seen).cloned();
    if let Some(known) = known() {
        return Some(known);
    }
    let bytes: Arc<[u8]> = straight(path)?.into();
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = read.get_or_insert_with(HashMap::new);
    if read.len() >= REMEMBERED {
        read.clear();
    }
    // A file that changed while it was read is read again the next time.
    if path.symlink_metadata().is_ok_and(|now| self::seen(&now) == seen) {
        read.insert(seen, Arc::clone(&bytes));
    }
    Some(bytes)
}

/// Reads a file with no link on the way to it: another command may lay one at this moment, to get at a file outside.
#[cfg(target_os = "linux")]
fn straight(path: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use std::io::Read;
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(SMALL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(target_os = "linux"))]
fn straight(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Allowances, Namespaces};

    fn site<'a>(cwd: &'a Path, session_dir: &'a Path, allowances: &'a Allowances) -> Site<'a> {
        Site {
            cwd,
            session_dir,
            own_dirs: &[],
            allowances,
            named: &[],
            approved: &[],
            moves: Moves::No,
            home: None,
            namespaces: Namespaces::Without,
        }
    }

    #[test]
    fn a_change_of_the_same_length_with_its_time_set_back_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, session_dir) = (root.join("p"), root.join("session"));
        std::fs::create_dir_all(cwd.join("sub")).unwrap();
        let file = cwd.join("sub/.envrc");
        std::fs::write(&file, "use flake").unwrap();
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let guard = Guard::before(&site);
        let times = std::fs::metadata(&file).unwrap().modified().unwrap();
        let change = |text: &str| {
            let open = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
            std::io::Write::write_all(&mut &open, text.as_bytes()).unwrap();
            open.set_modified(times).unwrap();
        };
        change("use evil!");
        let what = What::Changed(Some(b"use flake".to_vec()));
        assert_eq!(guard.after(&site), [Change { path: file.clone(), what, by_git: false }]);
        change("use flake");
        assert_eq!(guard.after(&site), []);
        // What was away with its folder is gone, and what came with another one is new.
        std::fs::rename(cwd.join("sub"), cwd.join("other")).unwrap();
        let found: Vec<PathBuf> = guard.after(&site).into_iter().map(|change| change.path).collect();
        assert_eq!(found, [cwd.join("other/.envrc"), file.clone()]);
    }

    #[test]
    fn what_is_made_changed_and_removed_is_found_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let cwd = root.join("p");
        for folder in [".git/objects", ".git/refs", ".git/hooks", ".vscode", "src"] {
            std::fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        let write = |name: &str, text: &str| std::fs::write(cwd.join(name), text).unwrap();
        write(".git/HEAD", "x");
        write(".git/config", "[core]\n");
        write(".envrc", "a");
        write(".vscode/tasks.json", "{}");
        let session_dir = root.join("session");
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let guard = Guard::before(&site);
        assert_eq!(guard.after(&site), []);
        write("src/main.rs", "fn main() {}");
        write(".git/index", "x");
        write(".git/hooks/pre-commit.sample", "x");
        // Written anew with the same text.
        write(".git/config", "[core]\n");
        assert_eq!(guard.after(&site), []);
        write(".git/hooks/pre-commit", "#!/bin/sh\n");
        write(".git/config", "[core]\nfsmonitor = x\n");
        std::fs::remove_file(cwd.join(".envrc")).unwrap();
        std::fs::create_dir_all(cwd.join(".github/workflows")).unwrap();
        write(".github/workflows/ci.yml", "x");
        let found: Vec<(String, What)> = guard
            .after(&site)
            .into_iter()
            .map(|change| (change.path.strip_prefix(&cwd).unwrap().display().to_string(), change.what))
            .collect();
        let expected = [
            (".envrc", What::Gone(Some(b"a".to_vec()))),
            (".git/config", What::Changed(Some(b"[core]\n".to_vec()))),
            (".git/hooks/pre-commit", What::Made),
            (".github/workflows/ci.yml", What::Made),
        ];
        assert_eq!(found, expected.map(|(path, what)| (path.to_owned(), what)));
    }
}
