//! The walk that list, glob and grep share: ignore rules obeyed, links never followed, `.git` left out.

use super::ignore_rules;
use crate::domain::paths::is_device;
use ignore::WalkBuilder;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Time limit of a walk, after which it returns what it has.
pub const LONGEST: Duration = Duration::from_secs(30);

/// A walk below `root`, sorted by name. Hidden files are in it, what `.gitignore` and `.ignore` name is not, nor what belongs
/// to the kernel. Folders whose rules are no regular files are not entered; at the root or above it there are then no rules at all.
#[must_use]
pub fn below(root: &Path) -> WalkBuilder {
    filtered(root, |_| true)
}

/// The same without the folders that are not to be entered.
pub(super) fn filtered(root: &Path, enters: impl Fn(&Path) -> bool + Send + Sync + 'static) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    // Also without rules of the folders above their files are opened, unless there are no rules at all.
    if !ignore_rules::are_plain_from(root) {
        walk.standard_filters(false);
    }
    walk.hidden(false).require_git(false).follow_links(false).sort_by_file_name(std::ffi::OsStr::cmp).filter_entry(
        move |entry| {
            let is_folder = || entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || entry.file_name() != ".git"
                    && !is_device(entry.path())
                    && (!is_folder() || enters(entry.path()) && ignore_rules::are_plain(entry.path()))
        },
    );
    walk
}

/// Reason to end a walk early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The turn was stopped.
    Stopped,
    /// Longer than [`LONGEST`].
    TookTooLong,
}

/// Watches over the length of a walk.
#[derive(Debug)]
pub struct Patience {
    stop: CancellationToken,
    until: Instant,
}

impl Patience {
    /// Begins now.
    #[must_use]
    pub fn new(stop: CancellationToken) -> Self {
        Self { stop, until: Instant::now() + LONGEST }
    }

    /// Reason to end now, if any.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        if self.stop.is_cancelled() {
            Some(Cut::Stopped)
        } else if Instant::now() > self.until {
            Some(Cut::TookTooLong)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(at: &Path) {
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(at);
        rustix::fs::mkfifoat(rustix::fs::CWD, at, rustix::fs::Mode::RWXU).unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        let all = below(root).build().flatten().skip(1);
        all.map(|entry| entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn rules_that_are_pipes_hold_no_walk() {
        for rules in [".gitignore", ".ignore", ".git/info/exclude", "link/commondir", "common/info/exclude"] {
            for below in ["", "sub"] {
                let dir = tempfile::tempdir().unwrap();
                let root = dir.path().canonicalize().unwrap();
                let project = root.join(below);
                std::fs::create_dir_all(&project).unwrap();
                std::fs::write(root.join("a"), "").unwrap();
                std::fs::write(project.join("b"), "").unwrap();
                if !rules.starts_with('.') {
                    std::fs::write(project.join(".git"), "gitdir: link\n").unwrap();
                    std::fs::create_dir_all(project.join("link")).unwrap();
                    std::fs::write(project.join("link/commondir"), "../common\n").unwrap();
                }
                pipe(&project.join(rules));
                let found = names(&root);
                assert!(found.contains(&"a".to_owned()), "{rules} in {below:?}: {found:?}");
                assert!(!found.contains(&"sub/b".to_owned()), "{rules} in {below:?}: {found:?}");
                // A folder below such a one.
                std::fs::create_dir_all(project.join("deep")).unwrap();
                std::fs::write(project.join("deep/c"), "").unwrap();
                assert_eq!(names(&project.join("deep")), ["c"], "{rules} in {below:?}");
            }
        }
    }
}
