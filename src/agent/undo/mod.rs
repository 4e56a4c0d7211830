//! Undo of what calls did to files: kept right before a call runs, recorded when it has run, restored when asked for.
//!
//! `recorder` is the hook around a call, `possible_changes` what the call can have changed, `history` what a session's list says, `chain` how
//! each path came to what stands there, `plan` what a restoration would do and what
//! the session changed, `restore` does it. A checkpoint that fails never holds up a call: it says that undo is incomplete.

mod chain;
mod history;
mod plan;
mod possible_changes;
mod recorder;
mod restore;
#[cfg(test)]
mod tests;

pub(super) use plan::{Known, Since, changes, plan};
pub(super) use recorder::{CallToRecord, UndoRecorder, UndoTarget};
pub(super) use restore::{Done, restore};

use crate::store::checkpoints::Bounds;
use crate::tools::files::directory_table::{Limits, Skip};
use std::path::PathBuf;

/// Settings of undo.
#[derive(Clone, Debug)]
pub struct UndoSettings {
    /// Files are kept at all.
    pub enabled: bool,
    /// Names and paths that commands may change without being kept.
    pub skip: Vec<String>,
    /// Limits of what is kept, and of the disk space that stays free.
    pub bounds: Bounds,
    /// Bytes of one file that is kept for commands.
    pub file: u64,
    /// Bytes of all files of a directory that are kept for commands.
    pub all: u64,
    /// Entries of a directory that are looked at.
    pub entries: usize,
}

/// Default exclusions: folders that programs rebuild by themselves.
pub const SKIPPED: &[&str] = &[
    "target",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".cache",
    ".direnv",
];

impl Default for UndoSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            skip: SKIPPED.iter().map(|name| (*name).to_owned()).collect(),
            bounds: Bounds::default(),
            file: crate::tools::files::restore::KNOWN,
            all: 500_000_000,
            entries: 100_000,
        }
    }
}

impl UndoSettings {
    /// The limits of a look at a directory. A pattern that is none was reported with the settings and leaves nothing out.
    fn limits(&self, own_dirs: &[PathBuf]) -> Limits {
        let skip = |patterns: &[String]| Skip::new(patterns, own_dirs.to_vec());
        let sound: Vec<String> =
            self.skip.iter().filter(|one| skip(std::slice::from_ref(one)).is_ok()).cloned().collect();
        let skip = skip(&sound).unwrap_or_default();
        Limits { file: self.file, all: self.all, entries: self.entries, skip }
    }
}
