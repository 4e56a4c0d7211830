//! Looks that fail. What cannot be looked at is not empty: a command may reach it by its name, or give itself the right to.

use crate::sandbox::unseen::is_too_long;
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use std::fs::{File, Metadata, ReadDir};
use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Reasons why a folder was not looked at as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlooked {
    /// It holds more than is looked at.
    Count,
    /// Its path is so long that those in it may be longer than the system takes.
    Depth,
    /// It cannot be listed by its rights, which tell when that changes.
    Rights,
    /// It could not be listed this time.
    Failure,
}

/// Outcome of a look at a folder.
pub(super) enum FolderSight {
    Entries(ReadDir),
    /// Nothing is there any more, or nobody who runs a command can reach anything in it.
    Nothing,
    Cut(Unlooked),
}

impl FolderSight {
    /// Opens a folder.
    pub(super) fn of(dir: &Path, meta: &Metadata) -> Self {
        if is_too_long(dir) {
            return FolderSight::Cut(Unlooked::Depth);
        }
        let entries = std::fs::read_dir(dir);
        let entered = rustix::fs::accessat(CWD, dir, Access::EXEC_OK, AtFlags::empty());
        match (entries, entered) {
            (Ok(entries), Ok(())) => FolderSight::Entries(entries),
            (Err(error), _) if is_gone(&error) => FolderSight::Nothing,
            (Err(error), entered) if is_refused(&error) => match entered {
                Err(Errno::ACCESS) if !is_own(meta) => FolderSight::Nothing,
                _ => FolderSight::Cut(Unlooked::Rights),
            },
            (Err(_), _) => FolderSight::Cut(Unlooked::Failure),
            (_, Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => FolderSight::Nothing,
            (_, Err(Errno::ACCESS)) if !is_own(meta) => FolderSight::Nothing,
            (_, Err(Errno::ACCESS)) => FolderSight::Cut(Unlooked::Rights),
            (_, Err(_)) => FolderSight::Cut(Unlooked::Failure),
        }
    }
}

/// Nothing is at the path any more, or another thing: who put it there is told of it.
pub(super) fn is_gone(error: &Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO))
}

/// The rights say no.
pub(super) fn is_refused(error: &Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM))
}

/// Whoever runs commands can give himself every right to it.
pub(super) fn is_own(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// The first bytes of a file that is no link.
pub(super) fn beginning(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    open(path)?.take(most).read_to_end(&mut out)?;
    Ok(out)
}

/// The first and the last bytes.
pub(super) fn ends(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut out = Vec::new();
    file.by_ref().take(most).read_to_end(&mut out)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most).max(most)))?;
    file.take(most).read_to_end(&mut out)?;
    Ok(out)
}

fn open(path: &Path) -> Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
}
