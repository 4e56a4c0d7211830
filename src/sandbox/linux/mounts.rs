//! Mount calls of the kernel in a safe form: cloning, attaching and making of mounts, entering of namespaces.
//!
//! `root_fs` decides what is mounted where.

#![allow(unsafe_code, reason = "the calls that clone and attach mounts have no safe form here")]

use libc::mount_attr;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Attributes that change nothing, to begin with.
const NOTHING: mount_attr = mount_attr { attr_set: 0, attr_clr: 0, propagation: 0, userns_fd: 0 };
/// Attributes of read-only mounts: no writes, no devices, no rights by a file's mode.
pub(in crate::sandbox) const READ_ONLY: mount_attr =
    mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID, ..NOTHING };
/// Attributes of device files: they open as they are, and their modes, owners and times are the host's alone to change.
pub(in crate::sandbox) const DEVICE: mount_attr =
    mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID, ..NOTHING };
/// Attributes of writable mounts: a device file there opens nothing.
pub(in crate::sandbox) const WRITABLE: mount_attr =
    mount_attr { attr_set: libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID, ..NOTHING };
/// Nothing of this is to reach the mounts of anybody else.
pub(in crate::sandbox) const PRIVATE: mount_attr = mount_attr { propagation: libc::MS_PRIVATE, ..NOTHING };

/// The network of a process in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Net {
    /// The network of the system.
    Shared,
    /// One of its own, in which there is nothing.
    Empty,
}

/// Namespaces that a process is started in.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Spaces {
    /// Flags for `clone`.
    pub(in crate::sandbox) flags: libc::c_int,
    pub(in crate::sandbox) net: Net,
    /// The user and group of whoever starts it.
    user: (u32, u32),
}

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

/// Files that stand for the namespaces of a process, by which another one enters them.
#[derive(Debug)]
pub(in crate::sandbox) struct SpaceFiles {
    users: Option<OwnedFd>,
    mounts: OwnedFd,
}

impl SpaceFiles {
    /// Namespaces of this process, which was started in `spaces`: those of the mounts first, then those of users if it has some.
    pub(in crate::sandbox) fn own(spaces: Spaces) -> Result<Vec<OwnedFd>, Errno> {
        let open = |path: &str| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let users = (spaces.flags & libc::CLONE_NEWUSER != 0).then(|| open("/proc/self/ns/user")).transpose()?;
        Ok(std::iter::once(open("/proc/self/ns/mnt")?).chain(users).collect())
    }

    /// The same as they arrive in another process; `None` where nothing did.
    pub(in crate::sandbox) fn arrived(fds: Vec<OwnedFd>) -> Option<Self> {
        let mut fds = fds.into_iter();
        Some(Self { mounts: fds.next()?, users: fds.next() })
    }

    /// Moves this process into them.
    pub(in crate::sandbox) fn enter(&self) -> Result<(), Errno> {
        for (file, kind) in [(self.users.as_ref(), libc::CLONE_NEWUSER), (Some(&self.mounts), libc::CLONE_NEWNS)] {
            let Some(file) = file else { continue };
            // SAFETY: takes numbers alone. This process has one thread.
            outcome(unsafe { libc::setns(file.as_raw_fd(), kind) }.into())?;
        }
        Ok(())
    }
}

fn unshare(flags: libc::c_int) -> Result<(), Errno> {
    // SAFETY: takes numbers alone. This process has one thread, so none is left behind in the old namespaces.
    outcome(unsafe { libc::unshare(flags) }.into()).map(|_| ())
}

/// Namespaces to try, the best first: a mount namespace with those that come cheap with it (System V's messages and
/// memory, the host's name), and with one for the network if there shall be one.
pub(in crate::sandbox) fn spaces(net: Net) -> Vec<Spaces> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    let base = libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    let kinds: &[(libc::c_int, Net)] = match net {
        Net::Shared => &[(base, Net::Shared), (libc::CLONE_NEWNS, Net::Shared)],
        Net::Empty => &[
            (base | libc::CLONE_NEWNET, Net::Empty),
            (libc::CLONE_NEWNS | libc::CLONE_NEWNET, Net::Empty),
            (base, Net::Shared),
            (libc::CLONE_NEWNS, Net::Shared),
        ],
    };
    let spaces = |users: libc::c_int| {
        kinds.iter().map(move |(flags, net)| Spaces {
            flags: flags | users,
            net: *net,
            user: (uid.as_raw(), gid.as_raw()),
        })
    };
    // Root without a user namespace keeps its rights over the owners of files, as programs that unpack need them.
    let as_root = uid.is_root().then(|| spaces(0));
    as_root.into_iter().flatten().chain(spaces(libc::CLONE_NEWUSER)).collect()
}

/// Says who is who in a user namespace that this process has just begun in, where there is one.
///
/// # Errors
/// A sentence. The process must not go on then.
pub(in crate::sandbox) fn name_users(spaces: Spaces) -> Result<(), String> {
    if spaces.flags & libc::CLONE_NEWUSER == 0 {
        return Ok(());
    }
    let write = |file: &str, text: String| {
        std::fs::write(file, text).map_err(|e| format!("a user namespace has no users ({file}): {e}"))
    };
    let (uid, gid) = spaces.user;
    // A user's own groups can be kept only by giving up on changing them.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

/// Reports each namespace that this system allows by itself: its name, and the error if it is refused.
pub(in crate::sandbox) fn try_each(report: &mut dyn FnMut(&str, Result<(), Errno>)) {
    let root = rustix::process::geteuid().is_root();
    let user = if root { 0 } else { libc::CLONE_NEWUSER };
    for (name, flags) in [
        ("user", libc::CLONE_NEWUSER),
        ("mount", user | libc::CLONE_NEWNS),
        ("pid", user | libc::CLONE_NEWPID),
        ("network", user | libc::CLONE_NEWNET),
    ] {
        report(name, in_child(|| unshare(flags)));
    }
}

/// Runs something that changes the process in a child; its error comes back as the exit status.
pub(in crate::sandbox) fn in_child(attempt: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    // SAFETY: this process has one thread; the child ends without returning.
    match unsafe { libc::fork() } {
        0 => {
            let status = attempt().err().map_or(0, Errno::raw_os_error);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(status) }
        }
        child if child > 0 => {
            let pid = rustix::process::Pid::from_raw(child);
            let status = rustix::process::waitpid(pid, rustix::process::WaitOptions::empty())?;
            match status.and_then(|(_, status)| status.exit_status()) {
                Some(0) => Ok(()),
                Some(number) => Err(Errno::from_raw_os_error(number)),
                None => Err(Errno::CHILD),
            }
        }
        _ => Err(Errno::AGAIN),
    }
}

/// Changes the attributes of the mount behind `fd` and of all below it.
pub(in crate::sandbox) fn set(fd: impl AsFd, attributes: &mount_attr) -> Result<(), Errno> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    let attributes: *const mount_attr = attributes;
    let path = c"";
    // SAFETY: path and attributes live through the call; the size is that of the attributes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            attributes,
            size_of::<mount_attr>(),
        )
    };
    outcome(result).map(|_| ())
}

/// The place at an absolute path in which no part is a link: what was resolved before cannot lead elsewhere by now.
pub(in crate::sandbox) fn place(path: &Path) -> Result<OwnedFd, Errno> {
    let how = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(rustix::fs::CWD, path, how, Mode::empty(), links)
}

/// Descriptor of an absolute path of which no part is a link, the last one included; [`Errno::LOOP`] where one is.
pub(in crate::sandbox) fn straight(path: &Path) -> Result<OwnedFd, Errno> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(rustix::fs::CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), links)
}

/// The same below a folder.
pub(in crate::sandbox) fn place_in(dir: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let how = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    rustix::fs::openat2(dir, path, how, Mode::empty(), links)
}

/// The tree at a place as it is mounted now, attached nowhere.
pub(in crate::sandbox) fn clone_of(place: impl AsFd) -> Result<OwnedFd, Errno> {
    let flags =
        libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | (libc::AT_RECURSIVE | libc::AT_EMPTY_PATH).cast_unsigned();
    let path = c"";
    // SAFETY: the path lives through the call.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, place.as_fd().as_raw_fd(), path.as_ptr(), flags) })
}

/// Attaches a mount over a place.
pub(in crate::sandbox) fn attach(mount: impl AsFd, place: impl AsFd) -> Result<(), Errno> {
    let empty = c"";
    // SAFETY: the paths live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_fd().as_raw_fd(),
            empty.as_ptr(),
            place.as_fd().as_raw_fd(),
            empty.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH,
        )
    };
    outcome(result).map(|_| ())
}

/// Makes the mount behind `root` the root of this process's file system; what was there before is gone.
pub(in crate::sandbox) fn become_root(root: impl AsFd) -> Result<(), Errno> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(".", ".")?;
    // The old root lies over the new one now.
    // SAFETY: the path lives through the call.
    outcome(unsafe { libc::umount2(c".".as_ptr(), libc::MNT_DETACH) }.into())?;
    rustix::process::chdir("/")
}

/// A file system of its own, attached nowhere.
fn made(kind: &CStr, options: &[(&CStr, &CStr)], attributes: u64) -> Result<OwnedFd, Errno> {
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
    // SAFETY: takes numbers alone.
    descriptor(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, attributes) })
}

/// Files in memory, for everything that is made for a command.
pub(in crate::sandbox) fn memory() -> Result<OwnedFd, Errno> {
    made(c"tmpfs", &[(c"mode", c"0755")], libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)
}

/// A set of terminals in which none of the user's is.
pub(in crate::sandbox) fn terminals() -> Result<OwnedFd, Errno> {
    let options = [(c"ptmxmode", c"0666"), (c"mode", c"0620")];
    made(c"devpts", &options, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)
}

/// The processes of this process's own namespace.
pub(in crate::sandbox) fn processes() -> Result<OwnedFd, Errno> {
    let attributes =
        libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_NODEV;
    made(c"proc", &[], attributes)
}
