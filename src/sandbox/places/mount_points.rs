//! Mount points in folders that appear at other paths: what lies below such a path is mounted into it, and a command that
//! only reads cannot make the place for that.
//!
//! Commands write these folders, so no link in them is followed.

use crate::sandbox::profile::{Bounds, Replaced};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

const FOLDER: Mode = Mode::from_raw_mode(0o755);
const FILE: Mode = Mode::from_raw_mode(0o644);

/// Makes what is missing. What cannot be made is left to whoever mounts.
pub(super) fn make(bounds: &Bounds) {
    let lists = [&bounds.readable, &bounds.writable, &bounds.sockets];
    let replaced = bounds.replaced.iter().map(|one| &one.at);
    for path in lists.into_iter().flatten().chain(replaced) {
        let outer = bounds.replaced.iter().filter(|outer| path.starts_with(&outer.at) && **path != *outer.at);
        let Some(Replaced { at, with }) = outer.max_by_key(|outer| outer.at.as_os_str().len()) else { continue };
        let is_new = bounds.replaced.iter().any(|one| one.at == *path);
        let Some(is_folder) = path.metadata().ok().map(|meta| meta.is_dir()).or(is_new.then_some(true)) else {
            continue;
        };
        if let Ok(below) = path.strip_prefix(at) {
            let _ = point(with, below, is_folder);
        }
    }
}

fn point(top: &Path, below: &Path, is_folder: bool) -> Result<(), Errno> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir = rustix::fs::openat(CWD, top, how, Mode::empty())?;
    let names: Vec<&OsStr> = below.iter().collect();
    let Some((last, parents)) = names.split_last() else { return Ok(()) };
    for name in parents {
        dir = folder(&dir, name)?;
    }
    if is_folder {
        return folder(&dir, last).map(drop);
    }
    let there = rustix::fs::statat(&dir, *last, AtFlags::SYMLINK_NOFOLLOW);
    if there.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
        return Ok(());
    }
    let _ = rustix::fs::unlinkat(&dir, *last, AtFlags::empty());
    let how = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::openat(&dir, *last, how, FILE).map(drop)
}

fn folder(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, how, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => rustix::fs::unlinkat(dir, name, AtFlags::empty())?,
        Err(Errno::NOENT) => {}
        other => return other,
    }
    match rustix::fs::mkdirat(dir, name, FOLDER) {
        Ok(()) | Err(Errno::EXIST) => rustix::fs::openat(dir, name, how, Mode::empty()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_for_mounts_are_made_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for folder in ["host/work/sub", "session", "outside"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("host/file"), "x").unwrap();
        std::os::unix::fs::symlink(at("outside"), at("session/work")).unwrap();
        let bounds = Bounds {
            readable: vec![at("host/file"), at("host/missing"), at("elsewhere")],
            writable: vec![at("host/work/sub")],
            replaced: vec![Replaced { at: at("host"), with: at("session") }],
            ..Bounds::default()
        };
        make(&bounds);
        make(&bounds);
        assert!(at("session/work/sub").symlink_metadata().unwrap().is_dir() && at("session/file").is_file());
        assert!(!at("session/work").is_symlink() && !at("session/missing").exists());
        assert_eq!(std::fs::read_dir(at("outside")).unwrap().count(), 0);
    }
}
