//! Folders that are watched for changes of their entries, so that what is known of a tree need not be looked up again
//! before each command. Linux (inotify); elsewhere nothing is watched.

use std::path::PathBuf;

/// Events since the last question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WatchEvents {
    /// The entries of these folders, or the contents of files in them, changed.
    Folders(Vec<PathBuf>),
    /// More than was written down.
    TooMuch,
}

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::Watch;

/// Nothing can be watched here.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct Watch;

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(super) fn new() -> Option<Self> {
        None
    }

    pub(super) fn add(&mut self, _: &std::path::Path) -> bool {
        false
    }

    pub(super) fn remove(&mut self, _: &std::path::Path) {}

    pub(super) fn news(&mut self) -> WatchEvents {
        WatchEvents::TooMuch
    }
}
