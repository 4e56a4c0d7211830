//! Scan of a working directory for paths that a command must not see or change: secrets and protected paths at any
//! depth.
//!
//! A tree is walked once and then kept: its folders are watched (`watch`), and a lookup lists those alone in which
//! something happened. Folders that cannot be watched are compared by their own times, which costs one call each. So a
//! lookup in a tree where nothing changed costs the same however large it is.
//!
//! Links are never followed. A file that git has with just this content is no secret: a command can add names to git's list,
//! but no content that it does not know. A file that was hidden once stays so under every name (`hidden`).

mod content;
#[cfg(test)]
mod tests;
mod tree;

use super::hidden;
use super::sight::Unlooked;
pub use content::is_key;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tree::Tree;

/// Entries of a working directory that are looked at; what lies deepest is left out of a larger one.
const MOST: usize = 1_000_000;
/// The same of a folder that is only read, and of one of the system.
const MOST_BESIDE: usize = 200_000;
const MOST_OF_SYSTEM: usize = 20_000;

/// Trees that are kept, the ones used last: those of several sessions, and of the system.
const TREES: usize = 16;

/// Findings below one directory, shallow paths first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanFindings {
    /// Files and folders that are to be masked.
    pub secrets: Vec<PathBuf>,
    /// Files and folders that configure or run code, those of the directory's own repository left out.
    pub protected: Vec<PathBuf>,
    /// Git folders of other repositories below the directory, also those that have no working tree.
    pub repositories: Vec<PathBuf>,
    /// Files that may name packages outside of the directory.
    pub manifests: Vec<PathBuf>,
    /// Sockets, each a way to whatever program listens there.
    pub sockets: Vec<PathBuf>,
    /// Folders of which not everything was looked at, and files that could not be read.
    pub cut: Vec<PathBuf>,
    /// True where the directory itself could not be looked at, or what was hidden in it cannot be found any more.
    pub unknown: bool,
    /// Folders that could not be listed.
    pub unlisted: Vec<PathBuf>,
    /// Everything was looked at.
    pub whole: bool,
    /// Number of these findings, which is another one after every change.
    pub state: u64,
}

impl ScanFindings {
    /// Paths that are hidden: the secrets, and folders that may hold others.
    #[must_use]
    pub fn masked(&self) -> Vec<PathBuf> {
        self.secrets.iter().chain(&self.cut).cloned().collect()
    }
}

/// Findings below `root`, which is absolute and resolved. `skip` are folders in it that are not looked into.
#[must_use]
pub fn look(root: &Path, skip: &[PathBuf]) -> Arc<ScanFindings> {
    look_at(root, skip, MOST, &HashSet::new())
}

/// The same where the files of these numbers (device, number) are secrets under any name.
#[must_use]
pub fn look_for(root: &Path, skip: &[PathBuf], elsewhere: &HashSet<(u64, u64)>) -> Arc<ScanFindings> {
    look_at(root, skip, MOST, elsewhere)
}

/// The same of a folder beside the working directory, which may be anything.
#[must_use]
pub fn look_beside(root: &Path) -> Arc<ScanFindings> {
    look_at(root, &[], MOST_BESIDE, &HashSet::new())
}

/// The same of a folder of the system: what lies deepest in a large one is other people's programs.
#[must_use]
pub fn look_at_system(root: &Path) -> Arc<ScanFindings> {
    look_at(root, &[], MOST_OF_SYSTEM, &HashSet::new())
}

fn look_at(root: &Path, skip: &[PathBuf], most: usize, elsewhere: &HashSet<(u64, u64)>) -> Arc<ScanFindings> {
    let tree = {
        let mut trees = TREES_KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let at = trees.iter().position(|(path, _)| path == root);
        let tree = at.map(|at| trees.remove(at)).unwrap_or_else(|| (root.to_owned(), Arc::default()));
        trees.push(tree.clone());
        if trees.len() > TREES {
            trees.remove(0);
        }
        tree.1
    };
    hidden::refresh();
    let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
    let tree = tree.get_or_insert_with(|| {
        let tree = Tree::new(root.to_owned(), skip, most);
        if tree.whole && tree.found.cut.is_empty() {
            hidden::tidy(root);
        }
        tree
    });
    if elsewhere.difference(&tree.wanted).next().is_some() {
        tree.wanted.extend(elsewhere);
        tree.list_all();
    }
    let found = tree.refresh();
    let mut moved = hidden::moved_below(root);
    moved.retain(|path| !found.secrets.iter().any(|secret| path.starts_with(secret)));
    // What lies too deep is masked with the folder there.
    let lost = hidden::is_lost_below(root) && !tree.folders.values().any(|folder| folder.cut == Some(Unlooked::Depth));
    if moved.is_empty() && !lost {
        return found;
    }
    let mut found = ScanFindings::clone(&found);
    found.secrets.extend(moved);
    found.unknown |= lost;
    found.into()
}

type Kept = Arc<Mutex<Option<Tree>>>;

static TREES_KEPT: Mutex<Vec<(PathBuf, Kept)>> = Mutex::new(Vec::new());
