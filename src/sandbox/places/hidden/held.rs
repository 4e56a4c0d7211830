//! Hidden places that are held open without being read, so that the system says what they are called, and that they are covered
//! wherever they are.

use super::{HiddenName, Identity, hidden};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// So often the name of a place is asked for that is moved at this moment.
const TRIES: usize = 20;
/// End of the name of something that was removed.
const DELETED: &[u8] = b" (deleted)";

/// Hidden files and folders of a command, held while it runs.
#[derive(Debug, Default)]
pub struct HeldPlaces {
    places: Vec<(OwnedFd, PathBuf)>,
    /// So many come from another process.
    expected: usize,
}

/// Descriptors are no part of what a profile says.
impl PartialEq for HeldPlaces {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for HeldPlaces {}

/// A place whose name the system does not tell.
pub(super) struct LostPlace {
    pub(super) place: OwnedFd,
    /// Path at which it was held.
    pub(super) path: PathBuf,
}

/// Whereabouts of a place that is held.
pub(super) enum Whereabouts {
    At(HiddenName),
    /// It was removed, or nothing can be known of it.
    Gone,
    Unknown,
}

impl Whereabouts {
    pub(super) fn of(place: &OwnedFd) -> Self {
        let link = link(place);
        for _ in 0..TRIES {
            let Ok(meta) = std::fs::metadata(&link) else { return Whereabouts::Unknown };
            let Some(identity) = Identity::of(&meta).filter(|_| meta.nlink() > 0) else { return Whereabouts::Gone };
            let Ok(path) = std::fs::read_link(&link) else { return Whereabouts::Unknown };
            if Identity::at(&path) == Some(identity) {
                return Whereabouts::At(HiddenName { identity, path, facts: super::facts(&meta) });
            }
            if path.as_os_str().as_bytes().ends_with(DELETED) {
                return Whereabouts::Gone;
            }
        }
        Whereabouts::Unknown
    }
}

fn link(place: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()))
}

impl HeldPlaces {
    /// Of these paths those that are there. Blocks.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn of(paths: &[PathBuf]) -> Self {
        use rustix::fs::{CWD, Mode, OFlags};
        let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |path: &PathBuf| Some((rustix::fs::openat(CWD, path, how, Mode::empty()).ok()?, path.clone()));
        Self { places: paths.iter().filter_map(open).collect(), expected: 0 }
    }

    /// The same where nothing can be held without being read: what is moved is not known.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &[PathBuf]) -> Self {
        Self::default()
    }

    /// So many that come from another process.
    pub(in crate::sandbox) fn expected(count: usize) -> Self {
        Self { places: Vec::new(), expected: count }
    }

    /// Descriptors that came, of the first ones of these paths.
    pub(in crate::sandbox) fn filled(fds: Vec<OwnedFd>, paths: &[PathBuf]) -> Self {
        Self { places: fds.into_iter().zip(paths.iter().cloned()).collect(), expected: 0 }
    }

    /// Number of places.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len().max(self.expected)
    }

    /// Nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The paths at which they were found.
    pub(in crate::sandbox) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.places.iter().map(|(_, path)| path)
    }

    /// Their descriptors, in the same order.
    pub(in crate::sandbox) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.places.iter().map(|(place, _)| place.as_fd())
    }

    /// Numbers of the descriptors.
    #[cfg(target_os = "linux")]
    pub(in crate::sandbox) fn numbers(&self) -> Vec<RawFd> {
        self.places.iter().map(|(place, _)| place.as_raw_fd()).collect()
    }

    /// The place of this number, and the path at which it was found.
    #[cfg(target_os = "linux")]
    pub(in crate::sandbox) fn get(&self, number: usize) -> Option<(&OwnedFd, &Path)> {
        self.places.get(number).map(|(place, path)| (place, path.as_path()))
    }

    /// Notes what was moved since. Blocks.
    pub fn note_moves(&self) {
        for (place, path) in &self.places {
            if std::fs::read_link(link(place)).is_ok_and(|now| now == *path) {
                continue;
            }
            let mut hidden = hidden();
            let hidden = hidden.get_or_insert_default();
            match Whereabouts::of(place) {
                Whereabouts::At(name) => hidden.take_moved(path, name),
                Whereabouts::Gone => {}
                Whereabouts::Unknown => {
                    let known = |fd: &OwnedFd| std::fs::metadata(link(fd)).ok().map(|meta| (meta.dev(), meta.ino()));
                    let own = known(place);
                    if hidden.lost.iter().all(|lost| known(&lost.place) != own)
                        && let Ok(place) = place.try_clone()
                    {
                        hidden.lost.push(LostPlace { place, path: path.clone() });
                    }
                }
            }
        }
    }
}
