//! Looks after a command whether it made or changed what configures or runs code, which it may do by asking alone.
//!
//! Before a command where such a file may not even have existed, nothing can be made read-only; and without namespaces
//! nothing can be taken out of a folder that may be written. So the known names are looked at before and after.

use super::places::{self, Site};
use super::profile::Namespaces;
use super::repository::Repository;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files of protected folders that are looked at, and how deep.
const MOST: usize = 1_000;
const DEPTH: usize = 5;
/// The most bytes of a file whose content is kept while the command runs, and of all of them.
const SMALL: u64 = 64 * 1024;
const ALL: u64 = 1024 * 1024;

/// What was there before a command.
#[derive(Debug)]
pub struct Guard {
    before: BTreeMap<PathBuf, State>,
    repository: Option<Repository>,
}

/// What a file was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Length, time of change, number, rights.
    seen: (u64, i64, i64, u64, u32),
    content: Option<Vec<u8>>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub what: What,
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
    /// Looks at what is there before a command runs at `site`.
    #[must_use]
    pub fn before(site: &Site<'_>) -> Self {
        let repository = Repository::of(site.cwd);
        // What is read-only for the command need not be kept.
        let mut room = if site.namespaces == Namespaces::With { 0 } else { ALL };
        let before = look(&places::protected(site, repository.as_ref()), &mut room);
        Self { before, repository }
    }

    /// What is different now, by path.
    #[must_use]
    pub fn after(&self, site: &Site<'_>) -> Vec<Change> {
        // One that the command made counts, and the one of before also where its pointer was bent.
        let mut names = places::protected(site, Repository::of(site.cwd).as_ref());
        names.extend(places::protected(site, self.repository.as_ref()));
        let mut room = ALL;
        let after = look(&names, &mut room);
        let mut out = Vec::new();
        for (path, now) in &after {
            match self.before.get(path) {
                // The examples that git lays down are never run.
                None if path.extension().is_some_and(|end| end == "sample") => {}
                None => out.push(Change { path: path.clone(), what: What::Made }),
                Some(before) if before.seen == now.seen => {}
                Some(before) if before.content.is_some() && before.content == now.content => {}
                Some(before) => {
                    out.push(Change { path: path.clone(), what: What::Changed(before.content.clone()) });
                }
            }
        }
        let gone = self.before.iter().filter(|(path, _)| !after.contains_key(*path));
        out.extend(gone.map(|(path, state)| Change { path: path.clone(), what: What::Gone(state.content.clone()) }));
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out
    }
}

/// The files at and below these paths.
fn look(paths: &[PathBuf], room: &mut u64) -> BTreeMap<PathBuf, State> {
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
        let content = content(&path, &meta, room);
        out.insert(path, State { seen: seen(&meta), content });
    }
    out
}

fn seen(meta: &Metadata) -> (u64, i64, i64, u64, u32) {
    (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino(), meta.mode())
}

fn content(path: &Path, meta: &Metadata, room: &mut u64) -> Option<Vec<u8>> {
    if !meta.is_file() || meta.len() > SMALL.min(*room) {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    *room = room.saturating_sub(bytes.len() as u64);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let site = Site {
            cwd: &cwd,
            session_dir: &session_dir,
            own_dirs: &[],
            caches: &[],
            home: None,
            namespaces: Namespaces::Without,
            network: &crate::sandbox::Network::Open,
        };
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
