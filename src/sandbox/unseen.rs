//! Folders and files that cannot be looked at. An error is not emptiness: such a folder may hold anything, and git gets there
//! all the same.

use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Looks at what could not be looked at before its owner got the right to: each shows what lies one folder deeper.
const LOOKS: usize = 16;
/// Pause before a look where the system had nothing left.
const PAUSE: Duration = Duration::from_millis(100);

/// Reason for which something could not be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unseen {
    /// Its rights, or its path, which is too long: git gets there all the same, step by step.
    Barred,
    /// The system had no descriptors or no memory left.
    Scarce,
}

/// True for an error that says nothing about what is there. A file system that is gone for everybody is no such case, nor is
/// a circle of links.
#[must_use]
pub fn is_in_the_way(error: &std::io::Error) -> bool {
    kind(error).is_some()
}

/// The same for one path: a name that no file can have is that of nothing.
#[must_use]
pub fn hides(path: &Path, error: &std::io::Error) -> bool {
    is_in_the_way(error) && path.iter().all(|part| part.len() <= LONGEST_NAME)
}

fn kind(error: &std::io::Error) -> Option<Unseen> {
    match Errno::from_io_error(error)? {
        Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG => Some(Unseen::Barred),
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO => Some(Unseen::Scarce),
        _ => None,
    }
}

/// Looks, gives the user the rights on what is theirs and could not be looked at, and looks again. With it what could not be
/// looked at even so. Blocks.
pub fn again<T>(mut look: impl FnMut() -> (T, Vec<PathBuf>)) -> (T, Vec<(PathBuf, Unseen)>) {
    let (mut out, mut unseen) = look();
    let mut left = Obstacles::of(&unseen);
    for _ in 0..LOOKS {
        // All of them: one more look shows what each of them holds.
        let opened = left.barred.iter().filter(|path| open_up(path)).count();
        if opened == 0 && left.scarce.is_empty() {
            break;
        }
        if opened == 0 {
            std::thread::sleep(PAUSE);
        }
        (out, unseen) = look();
        left = Obstacles::of(&unseen);
    }
    let barred = left.barred.into_iter().map(|path| (path, Unseen::Barred));
    let scarce = left.scarce.into_iter().map(|path| (path, Unseen::Scarce));
    (out, barred.chain(scarce).collect())
}

/// Obstacles to a look at some paths, the outer ones of those that lie in each other.
#[derive(Default)]
struct Obstacles {
    barred: BTreeSet<PathBuf>,
    scarce: BTreeSet<PathBuf>,
}

impl Obstacles {
    fn of(unseen: &[PathBuf]) -> Self {
        let mut out = Self::default();
        for path in unseen {
            match obstacle(path) {
                Some((place, Unseen::Barred)) => out.barred.insert(place),
                Some((place, Unseen::Scarce)) => out.scarce.insert(place),
                None => false,
            };
        }
        let outer = out.barred.clone();
        out.barred.retain(|path| !path.ancestors().skip(1).any(|above| outer.contains(above)));
        out
    }
}

/// The nearest thing at or above a path that can be told from nothing, and why no look goes beyond it. `None` for what is
/// somebody else's: a command of this user puts nothing there.
fn obstacle(path: &Path) -> Option<(PathBuf, Unseen)> {
    let mut error = None;
    for above in path.ancestors() {
        match above.symlink_metadata() {
            Ok(meta) => {
                if error.is_none() && meta.is_dir() {
                    error = std::fs::read_dir(above).err();
                }
                let is_length = |error: &std::io::Error| Errno::from_io_error(error) == Some(Errno::NAMETOOLONG);
                if is_too_long(above) || error.as_ref().is_some_and(is_length) {
                    return Some((above.to_owned(), Unseen::Barred));
                }
                // A look goes there by now, and has to be taken.
                let kind = error.as_ref().map_or(Some(Unseen::Scarce), kind)?;
                // Root looks at everything; where it cannot, no command does.
                let lacks = is_own(&meta) && meta.mode() & needed(&meta) != needed(&meta);
                return (kind == Unseen::Scarce || lacks).then(|| (above.to_owned(), kind));
            }
            Err(new) => error = Some(new),
        }
    }
    None
}

/// The most bytes of a name.
const LONGEST_NAME: usize = 255;
/// Bytes of a folder's path up to which all that git reads in it has a path that the system takes.
const LONGEST: usize = 3_000;

/// True for the path of a folder in which the system would not take every path that git reads there.
#[must_use]
pub fn is_too_long(folder: &Path) -> bool {
    folder.as_os_str().len() > LONGEST
}

fn is_own(meta: &Metadata) -> bool {
    let user = rustix::process::geteuid();
    !user.is_root() && meta.uid() == user.as_raw()
}

fn needed(meta: &Metadata) -> u32 {
    if meta.is_dir() { 0o700 } else { 0o600 }
}

/// Gives the user the rights of an owner on a file or folder of theirs. True if something was changed. No link is followed.
#[cfg(target_os = "linux")]
pub fn open_up(path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, chmodat, openat2};
    use std::os::fd::AsRawFd;
    let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(place) = openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS) else { return false };
    // By its descriptor: another thing may stand at the path a moment later.
    let named = PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()));
    let Ok(meta) = named.metadata() else { return false };
    let kind = meta.is_dir() || meta.is_file();
    if !kind || !is_own(&meta) || meta.mode() & needed(&meta) == needed(&meta) {
        return false;
    }
    let mode = Mode::from_raw_mode((meta.mode() & 0o7777) | needed(&meta));
    chmodat(CWD, &named, mode, rustix::fs::AtFlags::empty()).is_ok()
}

/// The same where a path is all that there is.
#[cfg(not(target_os = "linux"))]
pub fn open_up(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = path.symlink_metadata() else { return false };
    let kind = meta.is_dir() || meta.is_file();
    if !kind || !is_own(&meta) || meta.mode() & needed(&meta) == needed(&meta) {
        return false;
    }
    let mode = std::fs::Permissions::from_mode((meta.mode() & 0o7777) | needed(&meta));
    std::fs::set_permissions(path, mode).is_ok()
}
