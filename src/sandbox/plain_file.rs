//! Files of a project as lisle reads them while commands run: whatever stands at a path may be another thing a moment later.
//! A pipe would hold its reader for ever, a device may never end, and a link may lead anywhere.

use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Opens a regular file that is no link.
///
/// # Errors
/// Whatever the system says, and [`ErrorKind::InvalidInput`] for anything but a regular file.
pub fn open(path: &Path) -> std::io::Result<File> {
    open_with(path, OFlags::NOFOLLOW)
}

/// Opens the regular file that a path leads to, also by links: for the user's own settings.
///
/// # Errors
/// As [`open`].
pub fn open_through_links(path: &Path) -> std::io::Result<File> {
    open_with(path, OFlags::empty())
}

fn open_with(path: &Path, more: OFlags) -> std::io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let file = rustix::fs::openat(CWD, path, how, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file.into())
}

/// Path at which an open file lies now, which may be another than it was opened by. `None` where the system does not say.
#[must_use]
pub fn path_of(file: &File) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// All of a regular file of at most this length; `None` for a longer one and for anything else. Blocks for the disk alone.
#[must_use]
pub fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    all(open(path), most)
}

/// The same of the file that a path leads to, also by links.
#[must_use]
pub fn bytes_through_links(path: &Path, most: u64) -> Option<Vec<u8>> {
    all(open_through_links(path), most)
}

fn all(file: std::io::Result<File>, most: u64) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // It may grow while it is read.
    file.ok()?.take(most + 1).read_to_end(&mut out).ok()?;
    (out.len() as u64 <= most).then_some(out)
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
}
