//! Covers over the hidden places of a command: a comment over every file, an empty folder over every folder.
//!
//! A place that is held is covered wherever it is by now, and the cover is seen at the path that the system tells for it: another
//! command may move the folders around it at any time. A cover moves with them.

use super::links::resolved;
use super::mounts::{self, attach, clone_of, place, place_in, set};
use super::opened_masks;
use super::root_fs::{FOLDER, TRIES, below, is_folder, is_gone};
use crate::sandbox::profile::Bounds;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Content of a masked file.
const HIDDEN: &[u8] = b"# hidden by lisle\n";
/// Folder of what lies over masked places, each named by its number in the profile.
const MASKS: &str = "masks";
/// The same folder, mounted read-only: what is cloned of it is so from the start.
const FIXED_MASKS: &str = "fixed-masks";
/// End of the name of something that was removed.
const DELETED: &[u8] = b" (deleted)";

/// Place that the root shows.
pub(in crate::sandbox) struct ShownPlace<'a> {
    pub(in crate::sandbox) at: &'a Path,
    /// False where something else is shown than what lies at this path.
    pub(in crate::sandbox) is_own: bool,
}

/// The root of a command that is being made, as far as places in it are covered.
pub(in crate::sandbox) struct Covers<'a> {
    top: &'a OwnedFd,
    masks: OwnedFd,
    fixed_masks: OwnedFd,
    /// Device of the masks.
    device: u64,
    /// The system's folder of this process's descriptors, which is covered itself by now.
    names: Option<OwnedFd>,
    /// Places that the root shows, and if each is what lies at its path.
    places: HashMap<&'a Path, bool>,
    cwd: &'a Path,
}

fn not_hidden(path: &Path) -> impl Fn(Errno) -> String {
    move |e| format!("can't hide {}: {e}", path.display())
}

impl<'a> Covers<'a> {
    /// Folder in which the names of held places can be read; it is opened first.
    pub(in crate::sandbox) fn names(bounds: &Bounds) -> Result<Option<OwnedFd>, String> {
        if bounds.held.is_empty() {
            return Ok(None);
        }
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let names = rustix::fs::openat(CWD, "/proc/self/fd", how, Mode::empty());
        names.map(Some).map_err(not_hidden(Path::new("a secret")))
    }

    pub(in crate::sandbox) fn new(
        stage: &OwnedFd,
        top: &'a OwnedFd,
        names: Option<OwnedFd>,
        places: &[ShownPlace<'a>],
        cwd: &'a Path,
    ) -> Result<Self, String> {
        let why = not_hidden(Path::new("a secret"));
        let folder = |name| rustix::fs::mkdirat(stage, name, FOLDER).and_then(|()| place_in(stage, Path::new(name)));
        let (masks, point) = folder(MASKS).and_then(|masks| Ok((masks, folder(FIXED_MASKS)?))).map_err(&why)?;
        let (device, _) = identity(&masks).map_err(&why)?;
        let fixed_masks = clone_of(&masks).map_err(&why)?;
        set(&fixed_masks, &mounts::READ_ONLY).map_err(&why)?;
        // Older kernels clone nothing of a mount that is attached nowhere.
        attach(&fixed_masks, point).map_err(&why)?;
        let places = places.iter().map(|place| (place.at, place.is_own)).collect();
        Ok(Self { top, masks, fixed_masks, device, names, places, cwd })
    }

    /// Covers everything that is hidden, and has the openings noted where there is a queue.
    pub(in crate::sandbox) fn hide(&self, bounds: &Bounds, queue: Option<&OwnedFd>) -> Result<(), String> {
        for (number, path) in bounds.masked.iter().enumerate() {
            if path == self.cwd {
                return Err(format!(
                    "in {} something cannot be looked at, or is moved all the time, so secrets there could not be hidden",
                    path.display()
                ));
            }
            if number >= bounds.held.len() {
                self.hide_path(number, path)?;
                continue;
            }
            let held = bounds.held.get(number).ok_or("the hidden places did not arrive")?;
            if !self.cwd.starts_with(held.1) {
                self.hide_held(number, held.0).map_err(not_hidden(path))?;
            }
        }
        if let Some(queue) = queue {
            // The staged memory lies over `/proc`.
            opened_masks::watch(queue, &Path::new("/proc").join(MASKS));
        }
        Ok(())
    }

    /// Covers what is at a path now.
    fn hide_path(&self, number: usize, path: &Path) -> Result<(), String> {
        // What a link leads to is what has to be empty. The staged memory lies over `/proc` alone.
        let real = match resolved(path) {
            Ok(real) => real,
            Err(error) => {
                return match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
                    error if is_gone(error) => Ok(()),
                    error => Err(not_hidden(path)(error)),
                };
            }
        };
        if self.cwd.starts_with(&real) || !self.is_shown(&real) {
            return Ok(());
        }
        let cover = || match place_in(self.top, below(&real)) {
            Ok(point) => self.cover(number, &point),
            // It is not shown, or has gone.
            Err(e) if is_gone(e) => Ok(()),
            Err(e) => Err(e),
        };
        // Another program may replace it at this moment.
        let mut done = cover();
        for _ in 1..TRIES {
            if done.is_ok() {
                break;
            }
            done = cover();
        }
        done.map_err(not_hidden(&real))
    }

    /// Covers what is held, until it is seen to be covered.
    fn hide_held(&self, number: usize, held: &OwnedFd) -> Result<(), Errno> {
        let own = identity(held)?;
        let mut error = Errno::AGAIN;
        for _ in 0..TRIES {
            let Some(path) = self.name(held)? else { return Ok(()) };
            if !self.is_own(&path) {
                return Ok(());
            }
            let point = match place_in(self.top, below(&path)) {
                Ok(point) => point,
                Err(e) if is_gone(e) && self.is_below_a_cover(&path) => return Ok(()),
                Err(e) if is_gone(e) => continue,
                Err(e) => return Err(e),
            };
            if identity(&point)? == own {
                // Seen from the path in the next round.
                error = self.cover(number, &point).err().unwrap_or(Errno::AGAIN);
            } else if self.is_cover(&point)? && self.name(held)?.as_deref() == Some(&*path) {
                return Ok(());
            }
        }
        Err(error)
    }

    /// Path of something that is held; `None` where it was removed.
    fn name(&self, held: &OwnedFd) -> Result<Option<PathBuf>, Errno> {
        if rustix::fs::fstat(held)?.st_nlink == 0 {
            return Ok(None);
        }
        let names = self.names.as_ref().ok_or(Errno::BADF)?;
        let name = rustix::fs::readlinkat(names, held.as_raw_fd().to_string(), Vec::new())?;
        let name = name.as_bytes();
        let is_gone = name.ends_with(DELETED) && place_in(self.top, below(Path::new(OsStr::from_bytes(name)))).is_err();
        Ok((!is_gone).then(|| PathBuf::from(OsStr::from_bytes(name))))
    }

    /// True if something is shown at the path.
    fn is_shown(&self, path: &Path) -> bool {
        self.innermost(path).is_some()
    }

    /// True if what lies at the path is shown there, and nothing in its stead.
    fn is_own(&self, path: &Path) -> bool {
        self.innermost(path) == Some(true)
    }

    fn innermost(&self, path: &Path) -> Option<bool> {
        path.ancestors().find_map(|path| self.places.get(path)).copied()
    }

    /// A folder around the path is covered.
    fn is_below_a_cover(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1).filter(|above| above.parent().is_some());
        let point = above.filter_map(|above| place_in(self.top, below(above)).ok()).next();
        point.is_some_and(|point| self.is_cover(&point) == Ok(true))
    }

    /// True for the root of a mount of the masks.
    fn is_cover(&self, point: &OwnedFd) -> Result<bool, Errno> {
        Ok(is_mounted(point)? && identity(point)?.0 == self.device)
    }

    fn cover(&self, number: usize, point: &OwnedFd) -> Result<(), Errno> {
        let what = self.mask(number, is_folder(point)?)?;
        attach(clone_of(what)?, point)
    }

    /// Cover of a masked place.
    fn mask(&self, number: usize, is_folder: bool) -> Result<OwnedFd, Errno> {
        let name = PathBuf::from(number.to_string());
        match self.make_mask(&name, is_folder) {
            Err(Errno::EXIST) => {
                // What an earlier attempt left may be of the other kind.
                let _ = rustix::fs::unlinkat(&self.masks, &name, AtFlags::empty());
                let _ = rustix::fs::unlinkat(&self.masks, &name, AtFlags::REMOVEDIR);
                self.make_mask(&name, is_folder)?;
            }
            done => done?,
        }
        place_in(&self.fixed_masks, &name)
    }

    fn make_mask(&self, name: &Path, is_folder: bool) -> Result<(), Errno> {
        if is_folder {
            return rustix::fs::mkdirat(&self.masks, name, FOLDER);
        }
        let how = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.masks, name, how, Mode::from_raw_mode(0o444))?;
        rustix::io::write(file, HIDDEN).map(drop)
    }
}

/// Device and number.
#[allow(clippy::useless_conversion)]
fn identity(place: &OwnedFd) -> Result<(u64, u64), Errno> {
    let stat = rustix::fs::fstat(place)?;
    Ok((u64::from(stat.st_dev), u64::from(stat.st_ino)))
}

/// Covers a place of a root that was made before, in its namespace: read-only, or so that nothing of it can be opened. What
/// is not there is left out.
pub(in crate::sandbox) fn cover_again(path: &Path, masked: bool) -> Result<(), Errno> {
    let point = match place(path) {
        Ok(point) => point,
        Err(e) if is_gone(e) => return Ok(()),
        Err(e) => return Err(e),
    };
    if is_mounted(&point)? {
        return Ok(());
    }
    let what = match (masked, is_folder(&point)?) {
        (false, _) => clone_of(&point)?,
        (true, true) => mounts::memory()?,
        // A device that cannot be opened.
        (true, false) => clone_of(place(Path::new("/dev/null"))?)?,
    };
    set(&what, &mounts::READ_ONLY)?;
    attach(&what, &point)
}

/// True if the place is the root of a mount: nobody but lisle makes one in the namespace of a command.
fn is_mounted(place: &OwnedFd) -> Result<bool, Errno> {
    let facts = rustix::fs::statx(place, "", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    Ok(facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
