//! Files: opened, read and replaced without following a link and without blocking on what is no file.
//!
//! A path that a model gave is resolved by `paths` and classified by `classify`; its file is read and replaced here, its
//! bytes become text in `text`. What stood under a path is put back by `restore`, and `directory_table` tells what
//! changed in a folder between two looks.
//!
//! Every path here is already resolved (`paths`): a link met on the way means that something changed since, and ends
//! the call. A file is replaced by a new one under its name, so that other names of the old one (hard links) keep it.

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

pub mod attachments;
pub mod attributes;
pub mod classify;
pub mod directory_table;
mod ignore_rules;
pub mod name_search;
pub mod notebook;
pub mod paths;
pub mod reach;
pub mod restore;
pub mod text;
pub mod walk;

/// Files larger than this are not taken into memory.
pub const LARGEST: u64 = 50_000_000;

/// Error of reading or writing a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Nothing there.
    #[error("{0} does not exist")]
    Missing(PathBuf),
    /// A directory.
    #[error("{0} is a directory")]
    Directory(PathBuf),
    /// Not a regular file: reading it could block or never end.
    #[error("{0} is {1}, not a regular file")]
    Special(PathBuf, &'static str),
    /// Larger than [`LARGEST`].
    #[error("{0} has {size}, more than the {limit} that are read at once", size = crate::tools::files::text::size(*.1), limit = crate::tools::files::text::size(LARGEST))]
    TooLarge(PathBuf, u64),
    /// The file changed since it was looked at.
    #[error("{0} changed while it was worked on")]
    Changed(PathBuf),
    /// A folder on the way is a file.
    #[error("{0} lies below something that is not a folder")]
    NoFolder(PathBuf),
    /// The operating system's own reason.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

/// A file's content with what has to be kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// Bytes of the file.
    pub bytes: Vec<u8>,
    /// Their SHA-256.
    pub hash: [u8; 32],
    /// Permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Device and inode.
    pub id: (u64, u64),
    /// The names that it has, this one among them.
    pub names: u64,
}

/// The SHA-256 of `bytes`.
#[must_use]
pub fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The SHA-256 of what is left of a file, read piece by piece; `None` where that is more than `most` bytes.
///
/// # Errors
/// When it cannot be read.
pub fn hash_of(file: File, most: u64) -> std::io::Result<Option<[u8; 32]>> {
    let mut file = file.take(most.saturating_add(1));
    let (mut hasher, mut piece, mut length) = (Sha256::new(), vec![0; 64 * 1024], 0_u64);
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                hasher.update(piece.get(..n).unwrap_or_default());
                length += n as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((length <= most).then(|| hasher.finalize().into()))
}

/// Entry under a resolved path, without opening it.
///
/// # Errors
/// [`FileError::Missing`] and the operating system's reasons.
pub fn look(path: &Path) -> Result<std::fs::Metadata, FileError> {
    std::fs::symlink_metadata(path).map_err(|source| from_io(path, source))
}

/// Opens a regular file for reading; never blocks, never follows a link.
///
/// # Errors
/// [`FileError`], as the kind of thing under `path` demands.
pub fn open(path: &Path) -> Result<File, FileError> {
    // Opening a device can do things by itself, so it is looked at first; the open file is what counts.
    regular(path, kind_of(&look(path)?))?;
    let fd = open_without_links(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
        .map_err(|errno| from_errno(path, errno))?;
    let stat = rustix::fs::fstat(&fd).map_err(|errno| from_errno(path, errno))?;
    regular(path, FileType::from_raw_mode(stat.st_mode))?;
    Ok(File::from(fd))
}

/// Reads a whole regular file.
///
/// # Errors
/// [`FileError`]; [`FileError::TooLarge`] over [`LARGEST`].
pub fn load(path: &Path) -> Result<LoadedFile, FileError> {
    use std::os::unix::fs::MetadataExt;
    let file = open(path)?;
    let meta = file.metadata().map_err(|source| from_io(path, source))?;
    if meta.len() > LARGEST {
        return Err(FileError::TooLarge(path.to_owned(), meta.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|source| from_io(path, source))?;
    if bytes.len() as u64 > LARGEST {
        return Err(FileError::TooLarge(path.to_owned(), bytes.len() as u64));
    }
    let hash = hash(&bytes);
    Ok(LoadedFile {
        bytes,
        hash,
        mode: meta.mode() & 0o7777,
        owner: (meta.uid(), meta.gid()),
        id: (meta.dev(), meta.ino()),
        names: meta.nlink(),
    })
}

/// Puts `bytes` under `path` in one step: a new file beside it, on disk, then renamed.
///
/// `before` is what must be there: `None` for nothing. A replaced file's mode is kept, and its owner where that is
/// allowed, and so are its extended attributes, access lists and labels among them: those that could not be kept are given
/// back by name. A new one gets the usual mode. Missing folders are made.
///
/// # Errors
/// [`FileError::Changed`] when something else is there now; nothing is changed then.
pub fn replace(path: &Path, bytes: &[u8], before: Option<&LoadedFile>) -> Result<Vec<String>, FileError> {
    put(path, bytes, before, 0o666, 0o777)
}

/// Makes a new file that only its owner can read, in folders that only its owner can enter.
///
/// # Errors
/// [`FileError::Changed`] when the name is taken.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    put(path, bytes, None, 0o600, 0o700).map(drop)
}

fn put(
    path: &Path,
    bytes: &[u8],
    before: Option<&LoadedFile>,
    mode: u32,
    folder_mode: u32,
) -> Result<Vec<String>, FileError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FileError::Directory(path.to_owned()));
    };
    let errno = |errno| from_errno(path, errno);
    let folder = open_folder(parent, folder_mode).map_err(errno)?;
    let temp = format!(".lisle-{}-{:016x}.tmp", std::process::id(), fastrand::u64(..));
    // A file that replaces another is closed to everybody else until it has the other's mode.
    let first_mode = if before.is_some() { 0o600 } else { mode };
    let fd = rustix::fs::openat(
        &folder,
        temp.as_str(),
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::from_raw_mode(first_mode),
    )
    .map_err(errno)?;
    let lost = match before {
        Some(_) => attributes::carry(&folder, name, &fd),
        None => Vec::new(),
    };
    let done = fill(path, File::from(fd), bytes, before).and_then(|()| swap(path, &folder, &temp, name, before));
    if done.is_err() {
        // Best effort: the reason of the failure is what counts.
        let _ = rustix::fs::unlinkat(&folder, temp.as_str(), AtFlags::empty());
    } else {
        let _ = rustix::fs::fsync(&folder);
    }
    done.map(|()| lost)
}

fn fill(path: &Path, mut file: File, bytes: &[u8], before: Option<&LoadedFile>) -> Result<(), FileError> {
    let io = |source| from_io(path, source);
    file.write_all(bytes).map_err(io)?;
    if let Some(before) = before {
        let (uid, gid) = before.owner;
        let kept = std::os::unix::fs::fchown(&file, Some(uid), Some(gid)).is_ok();
        // Set-id bits only make sense with the owner they stood for.
        let mode = if kept { before.mode } else { before.mode & 0o777 };
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(|errno| from_errno(path, errno))?;
    }
    file.sync_all().map_err(io)
}

/// Checks once more what is there and gives the new file its name.
fn swap(path: &Path, folder: &OwnedFd, temp: &str, name: &OsStr, before: Option<&LoadedFile>) -> Result<(), FileError> {
    let errno = |errno| from_errno(path, errno);
    let changed = || FileError::Changed(path.to_owned());
    if let Some(before) = before {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let now = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(|_| changed())?;
        let stat = rustix::fs::fstat(&now).map_err(errno)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(changed());
        }
        let now = hash_of(File::from(now), LARGEST).map_err(|source| from_io(path, source))?;
        if now != Some(before.hash) {
            return Err(changed());
        }
        return rustix::fs::renameat(folder, temp, folder, name).map_err(errno);
    }
    match rename_to_free_name(folder, temp, name) {
        Err(Errno::EXIST) => Err(changed()),
        other => other.map_err(errno),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn rename_to_free_name(folder: &OwnedFd, temp: &str, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(folder, temp, folder, name, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_to_free_name(folder, temp, name),
        other => other,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn rename_to_free_name(folder: &OwnedFd, temp: &str, name: &OsStr) -> Result<(), Errno> {
    link_to_free_name(folder, temp, name)
}

/// A link fails where the name is taken, as a plain rename does not.
fn link_to_free_name(folder: &OwnedFd, temp: &str, name: &OsStr) -> Result<(), Errno> {
    rustix::fs::linkat(folder, temp, folder, name, AtFlags::empty())?;
    rustix::fs::unlinkat(folder, temp, AtFlags::empty())
}

/// Flags to open a folder on the way: passing through needs no right to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const THROUGH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const THROUGH: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn root() -> Result<OwnedFd, Errno> {
    rustix::fs::openat(rustix::fs::CWD, "/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a resolved path; a link anywhere in it is an error.
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    let Ok(below) = path.strip_prefix("/") else { return Err(Errno::INVAL) };
    if below.as_os_str().is_empty() {
        return root();
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::ResolveFlags as R;
        let resolve = R::NO_SYMLINKS | R::NO_MAGICLINKS | R::BENEATH;
        let top = root()?;
        // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
        for _ in 0..8 {
            match rustix::fs::openat2(&top, below, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                // Old kernels, and filters that do not know the call.
                Err(Errno::NOSYS | Errno::PERM) => break,
                other => return other,
            }
        }
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return root() };
    let folder = walk_to(parent, None)?;
    rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
}

/// Opens a folder by its resolved path, so that what is in it can be looked at.
pub(super) fn open_folder_of(path: &Path) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    walk_to(path, None)
        .and_then(|folder| rustix::fs::openat(&folder, ".", flags, Mode::empty()))
        .map_err(|errno| from_errno(path, errno))
}

/// Opens a folder by its resolved path, making what is missing with the usual rights.
pub(super) fn make_folder_of(path: &Path) -> Result<OwnedFd, FileError> {
    open_folder(path, 0o777).map_err(|errno| from_errno(path, errno))
}

/// Opens the folder `path`, making what is missing with `mode`.
fn open_folder(path: &Path, mode: u32) -> Result<OwnedFd, Errno> {
    let folder = walk_to(path, Some(mode))?;
    // A descriptor that can be synced, where the folder may be read at all.
    rustix::fs::openat(&folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).or(Ok(folder))
}

fn walk_to(path: &Path, make: Option<u32>) -> Result<OwnedFd, Errno> {
    let mut folder = root()?;
    for part in path.components() {
        let name = match part {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL),
        };
        folder = match rustix::fs::openat(&folder, name, THROUGH, Mode::empty()) {
            Err(Errno::NOENT) if make.is_some() => {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(make.unwrap_or(0o777))) {
                    // Somebody else was faster; what is there is looked at by the next line.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                rustix::fs::openat(&folder, name, THROUGH, Mode::empty())?
            }
            other => other?,
        };
    }
    Ok(folder)
}

fn kind_of(meta: &std::fs::Metadata) -> FileType {
    use std::os::unix::fs::MetadataExt;
    FileType::from_raw_mode(meta.mode())
}

fn regular(path: &Path, kind: FileType) -> Result<(), FileError> {
    let what = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(FileError::Directory(path.to_owned())),
        FileType::Symlink => return Err(FileError::Changed(path.to_owned())),
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something special",
    };
    Err(FileError::Special(path.to_owned(), what))
}

pub(super) fn from_errno(path: &Path, errno: Errno) -> FileError {
    match errno {
        Errno::LOOP => FileError::Changed(path.to_owned()),
        other => from_io(path, other.into()),
    }
}

fn from_io(path: &Path, source: std::io::Error) -> FileError {
    match source.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing(path.to_owned()),
        std::io::ErrorKind::NotADirectory => FileError::NoFolder(path.to_owned()),
        std::io::ErrorKind::IsADirectory => FileError::Directory(path.to_owned()),
        _ => FileError::Io { path: path.to_owned(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::hex::hex;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn root_dir() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        (dir, root)
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_no_file_is_refused_without_blocking() {
        let (_dir, root) = root_dir();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        assert!(matches!(load(&root.join("pipe")), Err(FileError::Special(_, "a named pipe"))));
        assert!(matches!(load(&root.join("socket")), Err(FileError::Special(_, "a socket"))));
        assert!(matches!(load(Path::new("/dev/zero")), Err(FileError::Special(_, "a device"))));
        assert!(matches!(load(&root), Err(FileError::Directory(_))));
        assert!(matches!(load(&root.join("none")), Err(FileError::Missing(_))));
        assert!(matches!(load(&root.join("pipe/x")), Err(FileError::NoFolder(_))));
    }

    #[test]
    fn no_link_is_followed() {
        let (_dir, root) = root_dir();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/f"), "x").unwrap();
        symlink(root.join("real"), root.join("dir-link")).unwrap();
        symlink(root.join("real/f"), root.join("file-link")).unwrap();
        assert!(matches!(load(&root.join("file-link")), Err(FileError::Changed(_))));
        assert!(load(&root.join("dir-link/f")).is_err());
        assert!(replace(&root.join("dir-link/new"), b"y", None).is_err());
        assert_eq!(names(&root.join("real")), ["f"], "nothing was made behind the link");
        // The walk that old kernels need does the same.
        assert!(walk_to(&root.join("dir-link"), None).is_err());
        assert!(walk_to(&root.join("real"), None).is_ok());
    }

    #[test]
    fn a_folder_swapped_for_a_link_does_not_lead_out() {
        let (_dir, root) = root_dir();
        std::fs::create_dir_all(root.join("work/sub")).unwrap();
        std::fs::create_dir(root.join("out")).unwrap();
        std::fs::write(root.join("work/sub/f"), "same").unwrap();
        std::fs::write(root.join("out/f"), "same").unwrap();
        let path = root.join("work/sub/f");
        let before = load(&path).unwrap();
        std::fs::rename(root.join("work/sub"), root.join("work/old")).unwrap();
        symlink(root.join("out"), root.join("work/sub")).unwrap();
        assert!(replace(&path, b"new", Some(&before)).is_err());
        assert_eq!(std::fs::read(root.join("out/f")).unwrap(), b"same");
        assert_eq!(names(&root.join("out")), ["f"]);
    }

    #[test]
    fn a_change_in_between_is_noticed_and_nothing_is_left() {
        let (_dir, root) = root_dir();
        let path = root.join("f");
        std::fs::write(&path, "one").unwrap();
        let before = load(&path).unwrap();
        std::fs::write(&path, "two").unwrap();
        assert!(matches!(replace(&path, b"three", Some(&before)), Err(FileError::Changed(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert!(matches!(replace(&path, b"three", None), Err(FileError::Changed(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        std::fs::remove_file(&path).unwrap();
        symlink("elsewhere", &path).unwrap();
        assert!(matches!(replace(&path, b"three", Some(&before)), Err(FileError::Changed(_))));
        assert!(matches!(replace(&path, b"three", None), Err(FileError::Changed(_))));
        assert_eq!(names(&root), ["f"]);
    }

    #[test]
    fn mode_is_kept_and_other_names_keep_the_old_file() {
        let (_dir, root) = root_dir();
        let path = root.join("f");
        std::fs::write(&path, "one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        std::fs::hard_link(&path, root.join("other")).unwrap();
        replace(&path, b"two", Some(&load(&path).unwrap())).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
        assert_eq!(std::fs::read(root.join("other")).unwrap(), b"one");
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn folders_are_made_and_private_files_are_private() {
        let (_dir, root) = root_dir();
        replace(&root.join("a/b/c"), b"x", None).unwrap();
        assert_eq!(std::fs::read(root.join("a/b/c")).unwrap(), b"x");
        create_private(&root.join("p/q/secret"), b"x").unwrap();
        assert_eq!(std::fs::metadata(root.join("p/q/secret")).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(root.join("p/q")).unwrap().mode() & 0o777, 0o700);
        assert!(create_private(&root.join("p/q/secret"), b"y").is_err());
    }

    #[test]
    fn hex_is_hex() {
        assert!(hex(&hash(b"")).starts_with("e3b0c44298fc1c14"));
    }
}
