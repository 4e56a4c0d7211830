//! Puts back what stood under a path: what is there now is looked at once more right before, and nothing is followed.
//!
//! Each path is changed in one step. What is to be restored, and whether, was decided by somebody else.

use super::FileError;
use super::attributes;
use crate::domain::hex::hex;
use crate::domain::undo::{Attributes, KnownAttributes, PathEntry};
use crate::tools::files;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files up to this size are read to know them by their content.
pub const KNOWN: u64 = 1_000_000;

/// Entry under an absolute path without links, and the content of a file.
///
/// Files over `most` bytes are identified by size and time. A folder on the way that is missing, or none, means that nothing is
/// there.
///
/// # Errors
/// When something cannot be read.
pub fn look(path: &Path, most: u64) -> Result<(PathEntry, Option<Vec<u8>>), FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    match files::open_folder_of(parent) {
        Ok(folder) => {
            let mut bytes = Vec::new();
            let thing = look_in(&folder, name, path, most, Some(&mut bytes))?;
            let bytes = matches!(thing, PathEntry::File { .. }).then_some(bytes);
            Ok((thing, bytes))
        }
        // A link on the way is not followed, so there is nothing either.
        Err(FileError::Missing(_) | FileError::NoFolder(_)) => Ok((PathEntry::Absent, None)),
        Err(error) => Err(error),
    }
}

/// The same without the content, which is read piece by piece.
///
/// # Errors
/// As [`look`].
pub fn see(path: &Path, most: u64) -> Result<PathEntry, FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    match files::open_folder_of(parent) {
        Ok(folder) => look_in(&folder, name, path, most, None),
        Err(FileError::Missing(_) | FileError::NoFolder(_)) => Ok(PathEntry::Absent),
        Err(error) => Err(error),
    }
}

#[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
fn look_in(
    folder: &OwnedFd,
    name: &OsStr,
    path: &Path,
    most: u64,
    content: Option<&mut Vec<u8>>,
) -> Result<PathEntry, FileError> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(PathEntry::Absent),
        Err(errno) => return Err(files::from_errno(path, errno)),
    };
    let mode = stat.st_mode as u32 & 0o7777;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => PathEntry::Folder { mode, attributes: attributes::of_folder(folder, name) },
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new()).map_err(|e| files::from_errno(path, e))?;
            let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
            PathEntry::Link { target, attributes: attributes::of_link(&stat) }
        }
        FileType::RegularFile if stat.st_size.max(0) as u64 > most => {
            let modified =
                (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64);
            PathEntry::Large { bytes: stat.st_size.max(0) as u64, modified, mode }
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            let fd = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(|e| files::from_errno(path, e))?;
            let io = |source| FileError::Io { path: path.to_owned(), source };
            let attributes = attributes::of(&fd, &stat);
            let hash = match content {
                None => files::hash_of(File::from(fd), most).map_err(io)?,
                Some(bytes) => {
                    File::from(fd).take(most + 1).read_to_end(bytes).map_err(io)?;
                    (bytes.len() as u64 <= most).then(|| files::hash(bytes))
                }
            };
            let hash = hash.ok_or_else(|| FileError::Changed(path.to_owned()))?;
            PathEntry::File { hash: hex(&hash), mode, attributes }
        }
        _ => PathEntry::Special,
    })
}

/// The largest file that the thing `now` was read of: equal sizes make equal things.
fn most(now: &PathEntry) -> u64 {
    match now {
        PathEntry::Large { .. } => KNOWN,
        _ => files::LARGEST,
    }
}

/// Opens the folder of `path` and sees to it that `now` is what stands there.
fn at<'a>(path: &'a Path, now: &PathEntry) -> Result<(OwnedFd, &'a OsStr), FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    let folder = files::make_folder_of(parent)?;
    if look_in(&folder, name, path, most(now), None)? != *now {
        return Err(FileError::Changed(path.to_owned()));
    }
    Ok((folder, name))
}

/// Puts a file of these bytes and permission bits where `now` stands, which is nothing, a file or a link. A file that
/// stands there gives it its owner and its extended attributes; those that could not be kept are given back by name.
///
/// # Errors
/// [`FileError::Changed`] when something else is there; then, as after every error, nothing was changed.
pub fn file(path: &Path, bytes: &[u8], mode: u32, now: &PathEntry) -> Result<Vec<String>, FileError> {
    put(path, bytes, mode, now, FileSource::There)
}

/// The same with the owner and the attributes that a file had earlier. Where they are not known, as [`file()`].
///
/// # Errors
/// As [`file()`].
pub fn earlier(
    path: &Path,
    bytes: &[u8],
    (mode, attributes): (u32, &Attributes),
    now: &PathEntry,
) -> Result<Vec<String>, FileError> {
    put(path, bytes, mode, now, attributes.known().map_or(FileSource::There, FileSource::Known))
}

/// Puts a file under a free name that was another's before, with that one's owner and extended attributes.
///
/// # Errors
/// As [`file()`].
pub fn moved(path: &Path, bytes: &[u8], mode: u32, from: &Path) -> Result<Vec<String>, FileError> {
    put(path, bytes, mode, &PathEntry::Absent, FileSource::At(from))
}

/// Origin of a file's owner and attributes.
#[derive(Clone, Copy, Debug)]
enum FileSource<'a> {
    /// The file that stands there.
    There,
    /// The file at this path.
    At(&'a Path),
    /// These.
    Known(&'a KnownAttributes),
}

fn put(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    now: &PathEntry,
    source: FileSource<'_>,
) -> Result<Vec<String>, FileError> {
    let (folder, name) = at(path, now)?;
    let errno = |errno| files::from_errno(path, errno);
    // Only the rights are other: the file itself stays.
    if let PathEntry::File { hash, .. } = now
        && *hash == hex(&files::hash(bytes))
    {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(errno)?;
        let lost = match source {
            FileSource::Known(known) => attributes::give(known, &fd),
            FileSource::There | FileSource::At(_) => Vec::new(),
        };
        return rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode)).map(|()| lost).map_err(errno);
    }
    let temp = temp();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(&folder, temp.as_str(), flags, Mode::from_raw_mode(0o600)).map_err(errno)?;
    let lost = match (source, now) {
        (FileSource::Known(known), _) => attributes::give(known, &fd),
        (FileSource::At(from), _) => from.parent().zip(from.file_name()).map_or_else(Vec::new, |(parent, name)| {
            files::open_folder_of(parent).map_or_else(|_| Vec::new(), |folder| attributes::carry(&folder, name, &fd))
        }),
        (FileSource::There, PathEntry::File { .. }) => attributes::carry(&folder, name, &fd),
        (FileSource::There, _) => Vec::new(),
    };
    // An owner that is not known does not come back with a file that is gone: its set-id bits would make it run as whoever
    // restores it. The same holds for one that could not be given.
    let keeps_owner = match source {
        FileSource::Known(known) => attributes::is_owner(known, &fd),
        FileSource::At(_) => true,
        FileSource::There => matches!(now, PathEntry::File { .. }),
    };
    let mode = if keeps_owner { mode } else { mode & 0o1777 };
    let mut written = File::from(fd);
    let io = |source| FileError::Io { path: path.to_owned(), source };
    let done = written
        .write_all(bytes)
        .map_err(io)
        .and_then(|()| rustix::fs::fchmod(&written, Mode::from_raw_mode(mode)).map_err(errno))
        .and_then(|()| written.sync_all().map_err(io))
        .and_then(|()| rename(&folder, &temp, name, now).map_err(errno));
    finish(&folder, &temp, done).map(|()| lost)
}

/// Puts a symbolic link where `now` stands, with the owner that it had, where that is known. An owner that it could not be
/// given comes back by name.
///
/// # Errors
/// As [`file()`].
pub fn link(path: &Path, target: &Path, attributes: &Attributes, now: &PathEntry) -> Result<Vec<String>, FileError> {
    let (folder, name) = at(path, now)?;
    let errno = |errno| files::from_errno(path, errno);
    let temp = temp();
    rustix::fs::symlinkat(target, &folder, temp.as_str()).map_err(errno)?;
    let lost = attributes.known().and_then(|known| attributes::give_link(known, &folder, OsStr::new(&temp)));
    let done = rename(&folder, &temp, name, now).map_err(errno);
    finish(&folder, &temp, done).map(|()| lost.into_iter().collect())
}

fn temp() -> String {
    format!(".lisle-{}-{:016x}.tmp", std::process::id(), fastrand::u64(..))
}

fn rename(folder: &OwnedFd, temp: &str, name: &OsStr, now: &PathEntry) -> Result<(), Errno> {
    if *now == PathEntry::Absent {
        files::rename_to_free_name(folder, temp, name)
    } else {
        rustix::fs::renameat(folder, temp, folder, name)
    }
}

fn finish(folder: &OwnedFd, temp: &str, done: Result<(), FileError>) -> Result<(), FileError> {
    if done.is_err() {
        // Best effort: the reason of the failure is what counts.
        let _ = rustix::fs::unlinkat(folder, temp, AtFlags::empty());
    } else {
        let _ = rustix::fs::fsync(folder);
    }
    done
}

/// Removes the file or the link that stands there as `now`.
///
/// # Errors
/// As [`file()`].
pub fn remove(path: &Path, now: &PathEntry) -> Result<(), FileError> {
    let (folder, name) = at(path, now)?;
    rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(|errno| files::from_errno(path, errno))
}

/// Removes the file or the link that stands there, whatever it is.
///
/// # Errors
/// When nothing is there, or a folder.
pub fn discard(path: &Path) -> Result<(), FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    let folder = files::open_folder_of(parent)?;
    rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(|errno| files::from_errno(path, errno))
}

/// Removes an empty folder; false when something is in it.
///
/// # Errors
/// When it cannot be removed for another reason.
pub fn remove_folder(path: &Path) -> Result<bool, FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    let folder = match files::open_folder_of(parent) {
        Err(FileError::Missing(_)) => return Ok(true),
        other => other?,
    };
    match rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(errno) => Err(files::from_errno(path, errno)),
    }
}

/// Makes a folder, or gives the one that is there these permission bits and attributes, where they are known. Attributes that
/// it could not be given come back by name.
///
/// # Errors
/// When something else is there.
pub fn folder(path: &Path, mode: u32, attributes: &Attributes) -> Result<Vec<String>, FileError> {
    let errno = |errno| files::from_errno(path, errno);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    let above = files::make_folder_of(parent)?;
    match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(errno(error)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = rustix::fs::openat(&above, name, flags, Mode::empty()).map_err(errno)?;
    let lost = attributes.known().map_or_else(Vec::new, |known| attributes::give(known, &inner));
    rustix::fs::fchmod(&inner, Mode::from_raw_mode(mode)).map_err(errno)?;
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_is_brought_back_runs_as_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        file(&path, b"x", 0o6755, &PathEntry::Absent).unwrap();
        assert_eq!(mode(), 0o755, "its owner is not known any more");
        let now = look(&path, 1_000).unwrap().0;
        file(&path, b"y", 0o4755, &now).unwrap();
        assert_eq!(mode(), 0o4755, "the owner of one that stands there stays");
    }
}
