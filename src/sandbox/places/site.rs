//! Place of a command, as its profile is made from it.

use crate::sandbox::allowances::Allowances;
use crate::sandbox::profile::Namespaces;
use std::path::{Path, PathBuf};

/// Place of a command.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The working directory: absolute and resolved.
    pub cwd: &'a Path,
    /// The session's folder; commands write its `data/`.
    pub session_dir: &'a Path,
    /// lisle's own folders.
    pub own_dirs: &'a [PathBuf],
    /// Access that the user's settings and answers grant.
    pub allowances: &'a Allowances,
    /// Paths that the command line names literally.
    pub named: &'a [PathBuf],
    /// Secrets that it names and that the user agreed to; only the workspace profile shows them.
    pub approved: &'a [PathBuf],
    /// The command does nothing but move between states of the repository, which may change protected files that git
    /// has.
    pub moves: Moves,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// Namespaces that commands can get here.
    pub namespaces: Namespaces,
}

/// Changes of what configures or runs code that git was asked for. The line runs nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Files of its commits: `git switch`, `pull`, `merge` and the like, and nothing else.
    pub tree: bool,
    /// Settings that run nothing: which branch follows which, the user's name, a new remote.
    pub notes: bool,
    /// All of its settings and hooks, which the user was asked about.
    pub settings: bool,
}

impl Moves {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tree: self.tree || other.tree,
            notes: self.notes || other.notes,
            settings: self.settings || other.settings,
        }
    }
}
