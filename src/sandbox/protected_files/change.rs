//! Change of a protected file: kind, author, and what it was before.

use super::look::FileState;
use crate::sandbox::unseen::Unseen;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Change of a protected file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GuardedChange {
    /// The file.
    pub path: PathBuf,
    /// Kind of change.
    pub what: What,
    /// Author of the change.
    pub by: ChangedBy,
}

/// Author of a change of a protected file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangedBy {
    /// The command, without having asked.
    Command,
    /// Git, which was asked to move between states of the repository, or to change its settings.
    Git,
    /// Git, with a repository or a working tree that the command brought: the files are those of its commits.
    NewRepository,
    /// The command, or somebody else: it could not be changed from there, or not all was known before.
    Unknown,
}

/// Kind of change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// New file.
    Made,
    /// Changed file; with what it was before, where that was kept.
    Changed(Option<Earlier>),
    /// A file as it was that got another name (a hard link): whoever writes through that one writes this one.
    Linked(Option<Earlier>),
    /// Removed file; with what it was.
    Gone(Option<Earlier>),
    /// It cannot be looked at, nor what is in it.
    Unseen(Unseen),
    /// Folder that other users of the machine may write since; with its rights before.
    Opened(FolderRights),
}

/// Who may write a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FolderRights {
    /// Kind and rights, as the system gives them.
    pub mode: u32,
    /// Owner and group.
    pub owners: (u32, u32),
}

impl FolderRights {
    /// Rights with which the group, or everybody, writes.
    const OTHERS: u32 = 0o022;

    /// Rights of a folder; `None` if it is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok().filter(Metadata::is_dir)?;
        Some(Self { mode: meta.mode(), owners: (meta.uid(), meta.gid()) })
    }

    /// True if somebody writes it now who did not before.
    pub(super) fn is_wider(&self, before: &Self) -> bool {
        self.mode & !before.mode & Self::OTHERS != 0 || self.owners != before.owners
    }
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Earlier {
    /// Content; of a link, its target.
    pub content: Vec<u8>,
    /// Kind and rights, as the system gives them.
    pub mode: u32,
}

impl Earlier {
    /// True for a symbolic link.
    #[must_use]
    pub fn is_link(&self) -> bool {
        is_link(self.mode)
    }
}

fn is_link(mode: u32) -> bool {
    mode & 0o170_000 == 0o120_000
}

impl FileState {
    pub(super) fn earlier(&self) -> Option<Earlier> {
        let content = self.content.as_ref().filter(|_| !self.doubtful)?;
        Some(Earlier { content: content.to_vec(), mode: self.mode })
    }
}

impl GuardedChange {
    /// Place in the order in which changes are taken back: first what could hide others, then what git runs.
    #[must_use]
    pub fn rank(&self) -> u8 {
        match self.what {
            What::Unseen(_) => 0,
            _ if is_of_git(&self.path) => 1,
            _ => 2,
        }
    }
}

pub(super) fn is_of_git(path: &Path) -> bool {
    path.iter().any(|part| part == ".git" || part == "hooks")
        || ["config", "config.worktree", "commondir", "gitdir", "attributes"].iter().any(|name| path.ends_with(name))
}
