//! Files that git has with just their content. Lists and hashes are kept until something of them changes.

use super::git_index;
use crate::sandbox::repository::Repository;
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Stamp of a file or folder, which changes with it: number, length, time of change. Nobody can set that time back.
pub(super) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

pub(super) fn stamp(meta: &Metadata) -> Stamp {
    (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec(), meta.mtime(), meta.mtime_nsec())
}

fn index_stamp(path: &Path) -> Option<Stamp> {
    path.metadata().ok().map(|meta| stamp(&meta))
}

/// What git's lists say of some files.
#[derive(Debug, Default)]
pub(super) struct TrackedFiles {
    /// Hashes of files that the lists name, with what tells whether they changed.
    hashed: HashMap<PathBuf, (Stamp, Option<git_index::Blob>)>,
    /// Lists that were asked, with what tells whether they changed.
    indexes: HashMap<PathBuf, Option<Stamp>>,
}

impl TrackedFiles {
    /// True if a list that was asked is another one by now.
    pub(super) fn changed(&self) -> bool {
        self.indexes.iter().any(|(path, before)| index_stamp(path) != *before)
    }

    /// Candidates that git does not have as they are. Blocks.
    pub(super) fn without(&mut self, mut candidates: Vec<PathBuf>) -> Vec<PathBuf> {
        let asked = asked(&candidates);
        self.indexes.clear();
        let mut tracked: HashSet<PathBuf> = HashSet::new();
        let mut hashed = HashMap::new();
        for (list, (top, wanted)) in asked {
            self.indexes.insert(list.clone(), index_stamp(&list));
            for (below, blob) in git_index::tracked(&list, &wanted) {
                let path = top.join(below);
                // Of a folder each file counts by itself. Of a file that is no folder a made-up list alone says so.
                let Some(blob) = blob else {
                    tracked.extend(path.symlink_metadata().is_ok_and(|meta| meta.is_dir()).then_some(path));
                    continue;
                };
                let Ok(stamp) = path.symlink_metadata().map(|meta| stamp(&meta)) else { continue };
                let known = self.hashed.get(&path).filter(|(before, _)| *before == stamp).map(|(_, own)| *own);
                let own = known.unwrap_or_else(|| git_index::blob(&path));
                hashed.insert(path.clone(), (stamp, own));
                if own == Some(blob) {
                    tracked.insert(path);
                }
            }
        }
        self.hashed = hashed;
        candidates.retain(|path| !tracked.contains(path));
        candidates
    }
}

/// Lists to ask, each with the top of its working tree and the files in question, given from there.
fn asked(candidates: &[PathBuf]) -> HashMap<PathBuf, (PathBuf, HashSet<PathBuf>)> {
    let mut asked: HashMap<PathBuf, (PathBuf, HashSet<PathBuf>)> = HashMap::new();
    let mut repositories: HashMap<&Path, Option<Repository>> = HashMap::new();
    for path in candidates {
        let Some(dir) = path.parent() else { continue };
        let repository = repositories.entry(dir).or_insert_with(|| Repository::of(dir)).as_ref();
        if let Some(repository) = repository
            && let Ok(below) = path.strip_prefix(&repository.top)
        {
            let list = asked.entry(repository.own.join("index"));
            let (_, wanted) = list.or_insert_with(|| (repository.top.clone(), HashSet::new()));
            wanted.insert(below.to_owned());
        }
    }
    asked
}
