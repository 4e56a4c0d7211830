//! Regular files, opened so that nothing is waited for. Another program may have put anything at a path of a project or a
//! workspace: a pipe would hold its reader for ever, a device may never end, and a link may lead anywhere.
//!
//! Every open sets `O_NONBLOCK` and looks at what was opened before anything is read or written.

use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Opens a regular file that is no link.
///
/// # Errors
/// The system's error, and [`ErrorKind::InvalidInput`] for anything but a regular file.
pub fn open(path: &Path) -> Result<File> {
    open_with(path, OFlags::RDONLY | OFlags::NOFOLLOW)
}

/// Opens the regular file that a path leads to, also by links: for the user's own settings.
///
/// # Errors
/// As [`open`].
pub fn open_through_links(path: &Path) -> Result<File> {
    open_with(path, OFlags::RDONLY)
}

/// Opens a regular file for appending, which is made for its owner alone where there is none.
///
/// # Errors
/// As [`open`].
pub fn append(path: &Path) -> Result<File> {
    open_with(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
}

/// Makes a file for its owner alone, for appending. There must be nothing of this name.
///
/// # Errors
/// As [`open`].
pub fn create_new(path: &Path) -> Result<File> {
    open_with(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL)
}

/// Opens a regular file for writing at a position; it must exist.
///
/// # Errors
/// As [`open`].
pub fn change(path: &Path) -> Result<File> {
    open_with(path, OFlags::WRONLY)
}

/// Opens a folder, to lock or flush it.
///
/// # Errors
/// The system's error, also for anything but a folder.
pub fn folder(path: &Path) -> Result<File> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, how, Mode::empty())?.into())
}

/// Opens a regular file as the flags say. One that is made is its owner's alone.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, flags: OFlags) -> Result<File> {
    let odd = || Error::new(ErrorKind::InvalidInput, "not a regular file");
    let how = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(CWD, path, how, Mode::RUSR | Mode::WUSR) {
        // A pipe without a reader, a socket, a folder that would be written.
        Err(rustix::io::Errno::NXIO | rustix::io::Errno::ISDIR) => return Err(odd()),
        other => other?,
    };
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(odd());
    }
    Ok(file.into())
}

/// Path at which an open file lies now, which may be another than it was opened by. `None` where the system does not say.
#[must_use]
pub fn path_of(file: &File) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// All of the regular file that a path leads to, also by links.
///
/// # Errors
/// As [`open`], and [`ErrorKind::FileTooLarge`] for one that is longer than `most`.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    all(open_through_links(path)?, most)
}

/// All of a regular file of at most this length; `None` for a longer one and for anything else. Blocks for the disk alone.
#[must_use]
pub fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    open(path).and_then(|file| all(file, most)).ok()
}

/// The same of the file that a path leads to, also by links.
#[must_use]
pub fn bytes_through_links(path: &Path, most: u64) -> Option<Vec<u8>> {
    read(path, most).ok()
}

fn all(file: File, most: u64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut out)?;
    if out.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("larger than {} KiB", most.div_ceil(1024))));
    }
    Ok(out)
}

/// Content as text; `None` also where it is not UTF-8.
#[must_use]
pub fn text(path: &Path, most: u64) -> Option<String> {
    String::from_utf8(bytes(path, most)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_alone_are_read_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "four").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!((text(&at("file"), 4), text(&at("file"), 3)), (Some("four".to_owned()), None));
        for other in ["link", "pipe", "", "missing"] {
            assert_eq!(bytes(&at(other), 10), None, "{other}");
        }
        assert_eq!(bytes_through_links(&at("link"), 4).as_deref(), Some(&b"four"[..]));
        assert_eq!(bytes_through_links(&at("pipe"), 4), None);
        assert_eq!(bytes(Path::new("/dev/zero"), 10), None);
    }

    #[test]
    fn no_way_of_opening_waits_or_takes_anything_but_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for name in ["pipe", "socket", "folder"] {
            let flags = [OFlags::RDONLY, OFlags::RDWR, OFlags::RDWR | OFlags::APPEND];
            let opened = flags.into_iter().map(|flags| open_with(&at(name), flags)).chain([append(&at(name))]);
            for (n, refused) in opened.enumerate() {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput, "{name} {n}");
            }
            assert_eq!(read(&at(name), 10).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
            assert_eq!(create_new(&at(name)).unwrap_err().kind(), ErrorKind::AlreadyExists, "{name}");
            assert_eq!(folder(&at(name)).is_ok(), name == "folder", "{name}");
        }
        std::fs::write(at("file"), "four").unwrap();
        assert_eq!(read(&at("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(&at("none"), 3).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
