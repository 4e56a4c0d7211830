//! News of a session's folder from the system, so that nobody has to look at a session at rest now and then.
//!
//! Events say only that something happened; [`crate::store::Follower`] finds out what.

use crate::domain::SessionId;
use crate::store::Store;
use std::os::fd::OwnedFd;

/// A descriptor that can be read when something in the folder changed.
#[derive(Debug)]
pub struct FolderWatch {
    fd: OwnedFd,
}

impl Store {
    /// News of a session from now on; `None` where the system has none to give.
    #[must_use]
    pub fn news(&self, id: &SessionId) -> Option<FolderWatch> {
        if self.is_remote() {
            return None;
        }
        watch(&self.session_dir(id), NameChanges::DoNot)
    }

    /// News of a session's lock from now on: somebody wrote their name into it, or removed it.
    #[must_use]
    pub fn lock_news(&self, id: &SessionId) -> Option<FolderWatch> {
        if self.is_remote() {
            return None;
        }
        watch(&self.session_dir(id).join(crate::store::format::layout::LOCK), NameChanges::Count)
    }
}

/// Changes of a name's rights and links: counted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameChanges {
    Count,
    DoNot,
}

#[cfg(target_os = "linux")]
fn watch(path: &std::path::Path, names: NameChanges) -> Option<FolderWatch> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    let fd = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
    let mut what = WatchFlags::MODIFY
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF;
    if names == NameChanges::Count {
        // An open file that is removed has one name less.
        what |= WatchFlags::ATTRIB;
    }
    add_watch(&fd, path, what).ok()?;
    Some(FolderWatch { fd })
}

#[cfg(not(target_os = "linux"))]
fn watch(_: &std::path::Path, _: NameChanges) -> Option<FolderWatch> {
    None
}

impl FolderWatch {
    /// Forgets what came so far.
    pub fn drain(&self) {
        let mut buffer = [0u8; 4096];
        while rustix::io::read(&self.fd, &mut buffer).is_ok_and(|got| got > 0) {}
    }
}

impl From<FolderWatch> for OwnedFd {
    fn from(news: FolderWatch) -> Self {
        news.fd
    }
}
