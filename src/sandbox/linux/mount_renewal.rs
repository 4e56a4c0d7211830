//! Mounts of a running command that somebody outside took away. The kernel detaches a mount where its place is replaced by
//! another process: by an editor that saves a file, by git when it writes its settings. The command would then have the real
//! file, so its parent, who sees the same places from outside, enters its namespaces and mounts them again.

use super::covers;
use super::links::{protected_places, resolved};
use super::mounts::{self, SpaceFiles};
use super::root_fs;
use crate::sandbox::profile::Bounds;
use rustix::fs::AtFlags;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval of looking where the system tells nothing of changes.
const UNTOLD: Duration = Duration::from_millis(100);
/// The same where it does: for folders above that were replaced as a whole.
const TOLD: Duration = Duration::from_secs(1);

/// Protected and masked places of one command, as they were mounted.
#[derive(Debug)]
pub(in crate::sandbox) struct Renewal {
    places: Vec<Mounted>,
    /// Folders that hold them, whatever they are called by now.
    folders: HashMap<PathBuf, OwnedFd>,
    spaces: Option<SpaceFiles>,
    /// Changes in the folders of the places; `None` where these are not told.
    events: Option<OwnedFd>,
    looked: Instant,
}

#[derive(Debug)]
struct Mounted {
    path: PathBuf,
    masked: bool,
    /// Stamps at the path, and in the folder under the name: of two things where a folder was moved.
    seen: Both,
}

/// Stamps of a file at its path and in its folder; `None` where nothing is.
type Both = (Option<Stamp>, Option<Stamp>);
/// Device, number and time of change. The number of a file that was removed is given to the next one.
type Stamp = (u64, u64, i64, u64);

impl Renewal {
    /// Looks at the places before they are mounted.
    pub(in crate::sandbox) fn of(bounds: &Bounds) -> Self {
        let protected: HashSet<PathBuf> = protected_places(bounds).into_iter().collect();
        // What is held counts where it is by now.
        let now = |(number, path): (usize, &PathBuf)| match bounds.held.get(number) {
            Some((place, _)) => std::fs::read_link(format!("/proc/self/fd/{}", place.as_raw_fd())).ok(),
            None => resolved(path).ok(),
        };
        let masked = bounds.masked.iter().enumerate().filter_map(now);
        let all = protected.into_iter().map(|path| (path, false)).chain(masked.map(|path| (path, true)));
        let all: Vec<(PathBuf, bool)> = all.collect();
        let mut folders = HashMap::new();
        for folder in all.iter().filter_map(|(path, _)| path.parent()) {
            if !folders.contains_key(folder)
                && let Ok(place) = mounts::place(folder)
            {
                folders.insert(folder.to_owned(), place);
            }
        }
        let places: Vec<Mounted> = all
            .into_iter()
            .map(|(path, masked)| Mounted { seen: both(&path, &folders), path, masked })
            // What is not there gets no mount.
            .filter(|place| place.seen.0.is_some())
            .collect();
        let events = watched(&places);
        Self { places, folders, spaces: None, events, looked: Instant::now() }
    }

    /// Knows the namespaces of the command from here on; without them there is nothing to renew.
    pub(in crate::sandbox) fn enter(mut self, spaces: Option<SpaceFiles>) -> Option<Self> {
        self.spaces = spaces;
        (self.spaces.is_some() && !self.places.is_empty()).then_some(self)
    }

    /// Time of the next look, if nothing is told until then.
    pub(in crate::sandbox) fn due(&self) -> Instant {
        self.looked + if self.events.is_some() { TOLD } else { UNTOLD }
    }

    /// Descriptor that is readable when something changed.
    pub(in crate::sandbox) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    /// Mounts again what was replaced. False if that failed: the command has the real place.
    pub(in crate::sandbox) fn look(&mut self) -> bool {
        let told = self.events.as_ref().map(drain).unwrap_or_default();
        // Most of what is made beside a place has another name.
        if Instant::now() < self.due() && !self.places.iter().any(|place| told.has(&place.path)) {
            return true;
        }
        self.looked = Instant::now();
        let mut now: Vec<(usize, Both)> = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let seen = both(&place.path, &self.folders);
            if seen != place.seen || told.has(&place.path) {
                now.push((at, seen));
            }
        }
        let Some(spaces) = self.spaces.as_ref().filter(|_| !now.is_empty()) else { return true };
        let places = || now.iter().filter_map(|(at, _)| self.places.get(*at));
        let renewed = mounts::in_child(|| {
            spaces.enter()?;
            places().try_for_each(cover)
        });
        // A cover moves with its folder. What replaced the covered one there cannot be covered by the old path.
        let replaced = now.iter().filter_map(|(at, seen)| Some((self.places.get(*at)?, seen.1)));
        let bare =
            replaced.filter(|(place, inside)| *inside != place.seen.1).any(|(place, _)| self.is_moved(&place.path));
        if renewed.is_err() || bare {
            return false;
        }
        for (at, seen) in now {
            if let Some(place) = self.places.get_mut(at) {
                place.seen = seen;
            }
        }
        true
    }

    /// True if something of the name is in the folder that held it, and the folder is elsewhere by now.
    fn is_moved(&self, path: &Path) -> bool {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Some(folder) = self.folders.get(above) else { return false };
        let number = |place: &OwnedFd| rustix::fs::fstat(place).ok().map(|stat| (stat.st_dev, stat.st_ino));
        let now = mounts::place(above).ok().and_then(|place| number(&place));
        in_folder(folder, name).is_some() && now != number(folder)
    }
}

fn cover(place: &Mounted) -> Result<(), Errno> {
    // Another program may replace it at this moment.
    let mut done = covers::cover_again(&place.path, place.masked);
    for _ in 1..root_fs::TRIES {
        if done.is_ok() {
            break;
        }
        done = covers::cover_again(&place.path, place.masked);
    }
    done
}

fn both(path: &Path, folders: &HashMap<PathBuf, OwnedFd>) -> Both {
    let at = path.symlink_metadata().ok();
    let at =
        at.map(|meta| (meta.dev(), meta.ino(), meta.ctime(), u64::try_from(meta.ctime_nsec()).unwrap_or_default()));
    let folder = path.parent().and_then(|folder| folders.get(folder)).zip(path.file_name());
    (at, folder.and_then(|(folder, name)| in_folder(folder, name)))
}

#[allow(clippy::useless_conversion, clippy::unnecessary_fallible_conversions)]
fn in_folder(folder: &OwnedFd, name: &OsStr) -> Option<Stamp> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let nanoseconds = u64::try_from(stat.st_ctime_nsec).unwrap_or_default();
    Some((u64::from(stat.st_dev), u64::from(stat.st_ino), i64::from(stat.st_ctime), nanoseconds))
}

fn watched(places: &[Mounted]) -> Option<OwnedFd> {
    let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    let folders: HashSet<&Path> = places.iter().filter_map(|place| place.path.parent()).collect();
    let what = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
    folders.into_iter().try_for_each(|folder| inotify::add_watch(&queue, folder, what).map(drop)).ok()?;
    Some(queue)
}

/// Names that something was made or moved under since the last look.
#[derive(Default)]
struct ToldNames {
    names: HashSet<OsString>,
    /// More calls than the system keeps.
    any: bool,
}

impl ToldNames {
    fn has(&self, path: &Path) -> bool {
        self.any || path.file_name().is_some_and(|name| self.names.contains(name))
    }
}

fn drain(queue: &OwnedFd) -> ToldNames {
    let mut out = ToldNames::default();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(queue, &mut buffer);
    while let Ok(event) = reader.next() {
        out.any |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
        out.names.extend(event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned()));
    }
    out
}
