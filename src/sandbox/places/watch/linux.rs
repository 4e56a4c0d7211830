//! Watched folders by inotify.

use super::WatchEvents;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Watched folders of one tree.
#[derive(Debug)]
pub(in super::super) struct Watch {
    queue: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    numbers: HashMap<PathBuf, i32>,
    most: usize,
}

/// Folders that all trees watch.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.fetch_sub(self.numbers.len(), Ordering::Relaxed);
    }
}

impl Watch {
    pub(in super::super) fn new() -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        // Editors need watches, too, and all of a user's programs share them.
        let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let most = (most.trim().parse::<usize>().ok()? / 4).min(100_000);
        Some(Self { queue, folders: HashMap::new(), numbers: HashMap::new(), most })
    }

    /// Watches a folder. False where that is not possible: it has to be looked at each time.
    pub(in super::super) fn add(&mut self, folder: &Path) -> bool {
        if WATCHED.load(Ordering::Relaxed) >= self.most {
            return false;
        }
        // A file that is written is told when it is closed: its content counts then. Rights decide what can be looked at.
        let wanted = WatchFlags::CREATE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        let Ok(number) = inotify::add_watch(&self.queue, folder, wanted) else { return false };
        // A folder that was moved keeps its number.
        if let Some(before) = self.folders.insert(number, folder.to_owned())
            && before != folder
            && self.numbers.remove(&before).is_some()
        {
            WATCHED.fetch_sub(1, Ordering::Relaxed);
        }
        if self.numbers.insert(folder.to_owned(), number).is_none() {
            WATCHED.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Forgets a folder that is gone from this path.
    pub(in super::super) fn remove(&mut self, folder: &Path) {
        let Some(number) = self.numbers.remove(folder) else { return };
        WATCHED.fetch_sub(1, Ordering::Relaxed);
        if self.folders.get(&number).is_some_and(|path| path == folder) {
            self.folders.remove(&number);
            // One that was deleted is not watched any more.
            let _ = inotify::remove_watch(&self.queue, number);
        }
    }

    /// Events since the last call.
    pub(in super::super) fn news(&mut self) -> WatchEvents {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        let mut found: HashSet<i32> = HashSet::new();
        let mut overflow = false;
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => overflow = true,
                Ok(event) => drop(found.insert(event.wd())),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    overflow = true;
                    break;
                }
            }
        }
        if overflow {
            return WatchEvents::TooMuch;
        }
        WatchEvents::Folders(found.iter().filter_map(|number| self.folders.get(number).cloned()).collect())
    }
}
