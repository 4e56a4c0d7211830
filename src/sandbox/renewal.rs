//! Mounts of a running command that somebody outside took away. The kernel detaches a mount where its place is replaced by
//! another process: by an editor that saves a file, by git when it writes its settings. The command would then have the real
//! file, so its parent, who sees the same places from outside, enters its namespaces and mounts them again.

use super::mounts::{self, SpaceFiles};
use super::profile::Bounds;
use super::root;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval of looking where the system tells nothing of changes.
const UNTOLD: Duration = Duration::from_millis(100);
/// The same where it does: for folders above that were replaced as a whole.
const TOLD: Duration = Duration::from_secs(1);

/// Protected and masked places of one command, as they were mounted.
#[derive(Debug)]
pub(super) struct Renewal {
    places: Vec<Mounted>,
    spaces: Option<SpaceFiles>,
    /// Changes in the folders of the places; `None` where these are not told.
    events: Option<OwnedFd>,
    looked: Instant,
}

#[derive(Debug)]
struct Mounted {
    path: PathBuf,
    masked: bool,
    /// Device and number of what was there.
    seen: Option<(u64, u64)>,
}

impl Renewal {
    /// Looks at the places before they are mounted.
    pub(super) fn of(bounds: &Bounds) -> Self {
        let links = bounds
            .protected
            .iter()
            .filter_map(|path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)));
        let protected: HashSet<PathBuf> =
            bounds.protected.iter().filter_map(|path| path.canonicalize().ok()).chain(links).collect();
        let masked = bounds.masked.iter().filter_map(|path| path.canonicalize().ok());
        let all = protected.into_iter().map(|path| (path, false)).chain(masked.map(|path| (path, true)));
        let places: Vec<Mounted> = all
            .map(|(path, masked)| Mounted { seen: number(&path), path, masked })
            // What is not there gets no mount.
            .filter(|place| place.seen.is_some())
            .collect();
        let events = watched(&places);
        Self { places, spaces: None, events, looked: Instant::now() }
    }

    /// Knows the namespaces of the command from here on; without them there is nothing to renew.
    pub(super) fn enter(mut self, spaces: Option<SpaceFiles>) -> Option<Self> {
        self.spaces = spaces;
        (self.spaces.is_some() && !self.places.is_empty()).then_some(self)
    }

    /// Time of the next look, if nothing is told until then.
    pub(super) fn due(&self) -> Instant {
        self.looked + if self.events.is_some() { TOLD } else { UNTOLD }
    }

    /// Descriptor that is readable when something changed.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    /// Mounts again what was replaced. False if that failed: the command has the real place.
    pub(super) fn look(&mut self) -> bool {
        self.looked = Instant::now();
        if let Some(events) = &self.events {
            drain(events);
        }
        let now: Vec<(usize, (u64, u64))> = self
            .places
            .iter()
            .enumerate()
            .filter_map(|(at, place)| number(&place.path).map(|now| (at, now)))
            .filter(|(at, now)| self.places.get(*at).is_some_and(|place| place.seen != Some(*now)))
            .collect();
        let Some(spaces) = self.spaces.as_ref().filter(|_| !now.is_empty()) else { return true };
        let places = || now.iter().filter_map(|(at, _)| self.places.get(*at));
        let renewed = mounts::in_child(|| {
            spaces.enter()?;
            places().try_for_each(cover)
        });
        if renewed.is_err() {
            return false;
        }
        for (at, seen) in now {
            if let Some(place) = self.places.get_mut(at) {
                place.seen = Some(seen);
            }
        }
        true
    }
}

fn cover(place: &Mounted) -> Result<(), Errno> {
    // Another program may replace it at this moment.
    let mut done = root::cover_again(&place.path, place.masked);
    for _ in 1..root::TRIES {
        if done.is_ok() {
            break;
        }
        done = root::cover_again(&place.path, place.masked);
    }
    done
}

fn number(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

fn watched(places: &[Mounted]) -> Option<OwnedFd> {
    let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    let folders: HashSet<&Path> = places.iter().filter_map(|place| place.path.parent()).collect();
    let what = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
    folders.into_iter().try_for_each(|folder| inotify::add_watch(&queue, folder, what).map(drop)).ok()?;
    Some(queue)
}

fn drain(queue: &OwnedFd) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(queue, &mut buffer);
    while let Ok(event) = reader.next() {
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            return;
        }
    }
}
