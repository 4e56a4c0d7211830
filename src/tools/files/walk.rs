//! The walk that list, glob and grep share: ignore rules obeyed, links never followed, `.git` left out.

use crate::domain::paths::is_device;
use ignore::WalkBuilder;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Time limit of a walk, after which it returns what it has.
pub const LONGEST: Duration = Duration::from_secs(30);

/// A walk below `root`, sorted by name. Hidden files are in it, what `.gitignore` and `.ignore` name is not, nor what belongs
/// to the kernel.
#[must_use]
pub fn below(root: &Path) -> WalkBuilder {
    filtered(root, |_| true)
}

/// The same without the folders that are not to be entered.
pub(super) fn filtered(root: &Path, enters: impl Fn(&Path) -> bool + Send + Sync + 'static) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).require_git(false).follow_links(false).sort_by_file_name(std::ffi::OsStr::cmp).filter_entry(
        move |entry| {
            let is_folder = || entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || entry.file_name() != ".git" && !is_device(entry.path()) && (!is_folder() || enters(entry.path()))
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
