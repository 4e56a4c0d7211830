//! Masked places that a command opened. The process that builds the command's root has the kernel note each opening of
//! what lies over them; the command's parent reads the notes at the end.
//!
//! The notes are a queue of inotify's, made before the namespaces and so known on both sides of them. All masks lie in one
//! folder, each named by its number in the profile, so that one watch names them all. Looking at a file's size or owner
//! opens nothing. Where the system has no queue left nothing is known.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Queue of openings.
#[derive(Debug)]
pub(in crate::sandbox) struct Openings(OwnedFd);

impl Openings {
    /// An empty queue.
    pub(in crate::sandbox) fn new() -> Option<Self> {
        inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(Self)
    }

    /// Numbers of the masks that were opened since [`watch`].
    pub(in crate::sandbox) fn numbers(&self) -> Vec<u32> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut out = BTreeSet::new();
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::OPEN) {
                out.extend(event.file_name().and_then(|name| name.to_str().ok()?.parse::<u32>().ok()));
            }
        }
        out.into_iter().collect()
    }
}

impl AsFd for Openings {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Has the openings of what lies in this folder noted.
pub(in crate::sandbox) fn watch(queue: impl AsFd, masks: &Path) {
    // What cannot be watched is not told.
    let _ = inotify::add_watch(queue, masks, WatchFlags::OPEN | WatchFlags::ONLYDIR);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_named_by_number_and_looks_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["0", "1", "7", "other"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(dir.path().join("12")).unwrap();
        let openings = Openings::new().unwrap();
        watch(&openings, dir.path());
        assert!(dir.path().join("1").metadata().unwrap().is_file());
        assert_eq!(openings.numbers(), [] as [u32; 0]);
        for name in ["7", "other", "7", "0"] {
            std::fs::read(dir.path().join(name)).unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path().join("12")).unwrap().count(), 0);
        assert_eq!(openings.numbers(), [0, 7, 12]);
        assert_eq!(openings.numbers(), [] as [u32; 0]);
    }
}
