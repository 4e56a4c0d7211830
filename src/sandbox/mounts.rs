//! A view of the file system of its own for a command that is about to begin: read-only but for the places of its profile,
//! protected ones below those read-only again, secret ones empty.
//!
//! It is an addition to the rules of Landlock, which cannot take anything out of a folder that may be written, and which do
//! not hold rights, owners and times. So what cannot be arranged is left as it is, where the process can still go on at all:
//! only a process that is half in a namespace cannot.

#![allow(unsafe_code, reason = "the calls that clone and attach mounts have no safe form here")]

use super::profile::Bounds;
use super::proxy::inside::{self, Way};
use libc::mount_attr;
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What becomes of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It can be written.
    Writable,
    /// It can be written, and is a mount even where that is not needed: such a folder cannot be moved or replaced.
    Pinned,
    /// It can be read.
    Protected,
}

/// Whether the command may use terminals of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminals {
    /// It may not.
    None,
    /// It gets a set of its own; those of the user are not among them.
    Own,
}

/// Which network the command sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Net {
    /// That of the system.
    Shared,
    /// None.
    Empty,
    /// One of its own, with this way out of it.
    Own(Way),
}

/// Gives this process its own view. `cwd` is where it goes on. What comes back are the terminals that it got.
///
/// # Errors
/// A sentence when the process is in a namespace that could not be made whole. It must not go on then.
pub(super) fn arrange(bounds: &Bounds, terminals: Terminals, net: Net, cwd: &Path) -> Result<Terminals, String> {
    if !enter(net)? {
        return match net {
            Net::Shared | Net::Empty => Ok(Terminals::None),
            Net::Own(_) => Err("the system does not allow a network of its own".to_owned()),
        };
    }
    if let Net::Own(way) = net {
        inside::begin(way)?;
    }
    let root = c"/";
    set(libc::AT_FDCWD, root, libc::AT_RECURSIVE, &PRIVATE)
        .map_err(|e| format!("the mounts could not be made private: {e}"))?;
    let plan = plan(bounds);
    // Cloned while everything is as it was, put into their places when the rest is read-only.
    let clones: Vec<(CString, Kind, OwnedFd)> = plan
        .iter()
        .filter_map(|(path, kind)| {
            let path = c_path(path)?;
            let clone = clone_of(&path).ok()?;
            Some((path, *kind, clone))
        })
        .collect();
    let nothing = clone_of(c"/dev/null");
    if !plan.iter().any(|(path, kind)| *kind != Kind::Protected && path.parent().is_none()) {
        let _ = set(libc::AT_FDCWD, root, libc::AT_RECURSIVE, &READ_ONLY);
    }
    for (path, kind, clone) in &clones {
        if *kind == Kind::Protected {
            let _ = set(clone.as_raw_fd(), c"", libc::AT_EMPTY_PATH | libc::AT_RECURSIVE, &READ_ONLY);
        }
        let _ = attach(clone, path);
    }
    drop(clones);
    for path in bounds.masked.iter().filter(|path| !cwd.starts_with(path)) {
        // What a link leads to is what has to be empty.
        let Ok(path) = path.canonicalize() else { continue };
        let (Ok(meta), Some(name)) = (path.symlink_metadata(), c_path(&path)) else { continue };
        if cwd.starts_with(&path) {
            continue;
        }
        if meta.is_dir() {
            let _ = empty_folder().and_then(|folder| attach(&folder, &name));
        } else if let Ok(nothing) = &nothing {
            // The clone can be attached once; the next one needs another.
            let again = clone_of(c"/dev/null");
            let _ = attach(again.as_ref().unwrap_or(nothing), &name);
        }
    }
    let got = match terminals {
        Terminals::Own if own_terminals().and_then(|set| attach(&set, c"/dev/pts")).is_ok() => Terminals::Own,
        _ => Terminals::None,
    };
    // The directory that this process is in is below the mounts that were there before.
    std::env::set_current_dir(cwd).map_err(|e| format!("the working directory is gone: {e}"))?;
    Ok(got)
}

/// Whether commands can get a view of their own on this system: tries all of it in this process, which must end after it.
///
/// # Errors
/// What is not possible, a few words.
pub(super) fn try_all() -> Result<(), String> {
    // A network of its own is among what commands may need.
    if !enter(Net::Own(Way::None))? {
        return Err("the system does not allow namespaces".to_owned());
    }
    inside::begin(Way::None)?;
    let what = |what: &'static str| move |e: Errno| format!("{what}: {e}");
    set(libc::AT_FDCWD, c"/", libc::AT_RECURSIVE, &PRIVATE).map_err(what("private mounts are not possible"))?;
    let clone = clone_of(c"/tmp").map_err(what("mounts cannot be cloned"))?;
    set(libc::AT_FDCWD, c"/", libc::AT_RECURSIVE, &READ_ONLY).map_err(what("mounts cannot be made read-only"))?;
    attach(&clone, c"/tmp").map_err(what("mounts cannot be attached"))?;
    empty_folder().and_then(|folder| attach(&folder, c"/tmp")).map_err(what("folders cannot be emptied"))
}

/// Enters a mount namespace. False where the system does not let it and nothing has changed.
fn enter(net: Net) -> Result<bool, String> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    // An empty network as well where it can be had: calls about the network are refused anyway.
    let wanted = match net {
        Net::Shared => &[libc::CLONE_NEWNS][..],
        Net::Empty => &[libc::CLONE_NEWNS | libc::CLONE_NEWNET, libc::CLONE_NEWNS],
        Net::Own(_) => &[libc::CLONE_NEWNS | libc::CLONE_NEWNET],
    };
    // Root keeps its rights over the owners of files that way, as programs that unpack need them.
    if uid.is_root() && wanted.iter().any(|spaces| unshare(*spaces)) {
        return Ok(true);
    }
    if !wanted.iter().any(|spaces| unshare(libc::CLONE_NEWUSER | spaces)) {
        return Ok(false);
    }
    let write = |file: &str, text: String| {
        std::fs::write(file, text).map_err(|e| format!("a user namespace has no users ({file}): {e}"))
    };
    // A user's own groups can be kept only by giving up on changing them.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{0} {0} 1", uid.as_raw()))?;
    write("/proc/self/gid_map", format!("{0} {0} 1", gid.as_raw()))?;
    Ok(true)
}

/// The places in the order in which they are attached, outer ones first; those that change nothing are left out.
fn plan(bounds: &Bounds) -> Vec<(PathBuf, Kind)> {
    let real = |path: &PathBuf| path.canonicalize().ok();
    let mut all: Vec<(PathBuf, Kind)> = Vec::new();
    for (list, kind) in
        [(&bounds.writable, Kind::Writable), (&bounds.pinned, Kind::Pinned), (&bounds.protected, Kind::Protected)]
    {
        all.extend(list.iter().filter_map(real).map(|path| (path, kind)));
    }
    // By path, so that what lies above comes first; of the same path the strictest word is the last one and counts.
    all.sort();
    all.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = later.1;
        }
        same
    });
    let mut out: Vec<(PathBuf, Kind)> = Vec::new();
    for (path, kind) in all {
        let above = out.iter().rev().find(|(above, _)| path.starts_with(above)).map(|(_, kind)| *kind);
        let as_above = match kind {
            Kind::Writable => matches!(above, Some(Kind::Writable | Kind::Pinned)),
            Kind::Pinned => false,
            // Where nothing above is writable all is read-only anyway.
            Kind::Protected => matches!(above, None | Some(Kind::Protected)),
        };
        if !as_above {
            out.push((path, kind));
        }
    }
    out
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// What changes nothing, to begin with.
const NOTHING: mount_attr = mount_attr { attr_set: 0, attr_clr: 0, propagation: 0, userns_fd: 0 };
const READ_ONLY: mount_attr = mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, ..NOTHING };
/// Nothing of this is to reach the mounts of anybody else.
const PRIVATE: mount_attr = mount_attr { propagation: libc::MS_PRIVATE, ..NOTHING };

fn outcome(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    Err(Errno::from_raw_os_error(number))
}

fn descriptor(result: libc::c_long) -> Result<OwnedFd, Errno> {
    let fd = RawFd::try_from(outcome(result)?).map_err(|_| Errno::BADF)?;
    // SAFETY: the kernel has just made this descriptor, and nobody else has its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn unshare(flags: libc::c_int) -> bool {
    // SAFETY: takes numbers alone. This process has one thread, so none is left behind in the old namespaces.
    unsafe { libc::unshare(flags) == 0 }
}

fn set(dir: RawFd, path: &CStr, flags: libc::c_int, attributes: &mount_attr) -> Result<(), Errno> {
    let attributes: *const mount_attr = attributes;
    // SAFETY: path and attributes live through the call; the size is that of the attributes.
    let result = unsafe {
        libc::syscall(libc::SYS_mount_setattr, dir, path.as_ptr(), flags, attributes, size_of::<mount_attr>())
    };
    outcome(result).map(|_| ())
}

/// The tree below `path` as it is mounted now, attached nowhere.
fn clone_of(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE.cast_unsigned();
    // SAFETY: the path lives through the call.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })
}

fn attach(mount: &OwnedFd, path: &CStr) -> Result<(), Errno> {
    let from = c"";
    // SAFETY: both paths live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            from.as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    outcome(result).map(|_| ())
}

/// A file system of its own, attached nowhere.
fn made(kind: &CStr, options: &[(&CStr, &CStr)]) -> Result<OwnedFd, Errno> {
    const CLOEXEC: libc::c_uint = 1;
    const SET_STRING: libc::c_uint = 1;
    const CREATE: libc::c_uint = 6;
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: the name lives through the call.
    let context = descriptor(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC) })?;
    for (key, value) in options {
        // SAFETY: both texts live through the call.
        let result = unsafe {
            libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), SET_STRING, key.as_ptr(), value.as_ptr(), 0)
        };
        outcome(result)?;
    }
    // SAFETY: this command takes no texts.
    outcome(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, none, none, 0) })?;
    let attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
    // SAFETY: takes numbers alone.
    descriptor(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, attributes) })
}

fn empty_folder() -> Result<OwnedFd, Errno> {
    made(c"tmpfs", &[(c"mode", c"0700"), (c"size", c"1m")])
}

fn own_terminals() -> Result<OwnedFd, Errno> {
    made(c"devpts", &[(c"ptmxmode", c"0666"), (c"mode", c"0620")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_places_come_first_and_what_changes_nothing_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for folder in ["w/.git/hooks", "w/sub", "other/hooks", "w/keep/data"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let bounds = Bounds {
            writable: vec![at("w/sub"), at("w"), at("gone"), at("w/keep/data"), at("w/.git")],
            protected: vec![at("w/.git/hooks"), at("other/hooks"), at("w/keep"), at("w/gone")],
            pinned: vec![at("w/.git")],
            ..Bounds::default()
        };
        let expected = [
            (at("w"), Kind::Writable),
            (at("w/.git"), Kind::Pinned),
            (at("w/.git/hooks"), Kind::Protected),
            (at("w/keep"), Kind::Protected),
            (at("w/keep/data"), Kind::Writable),
        ];
        assert_eq!(plan(&bounds), expected);
        // The same place by both words is protected.
        let both = Bounds { writable: vec![at("w"), at("w/sub")], protected: vec![at("w/sub")], ..Bounds::default() };
        assert_eq!(plan(&both), [(at("w"), Kind::Writable), (at("w/sub"), Kind::Protected)]);
    }
}
