//! Every file call of the store, as one small trait.
//!
//! [`Disk`] is the real one. [`Watched`] counts calls and can fail, tear or "die" at the n-th one, in the process or
//! for real (SIGKILL), so that tests can put an error or a death before and after every call. What the calls mean is
//! left to the callers.

pub(super) mod lines;
pub mod trees;
pub mod whole_file;

use crate::plain_file;
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io};

/// Mode of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Reading.
    Read,
    /// Reading, and writing at a position; it must exist.
    Change,
    /// Reading and appending; created with mode 0600 if it is missing.
    Append,
    /// Reading and appending; it must exist.
    Extend,
    /// Made with mode 0600, for appending; it must not exist.
    New,
}

/// Metadata of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// True for a directory.
    pub is_dir: bool,
    /// Bytes.
    pub len: u64,
    /// Inode number: another one means that the file was replaced.
    pub ino: u64,
    /// Last change of its content, milliseconds since the epoch.
    pub modified: i64,
    /// The same in nanoseconds.
    pub modified_ns: i64,
    /// Last change of its content, its names, its owner or its rights, nanoseconds since the epoch. Unlike the other
    /// one, nobody can set it back.
    pub changed_ns: i64,
}

impl From<fs::Metadata> for Stat {
    fn from(meta: fs::Metadata) -> Self {
        let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            is_dir: meta.is_dir(),
            len: meta.len(),
            ino: meta.ino(),
            modified: meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000),
            modified_ns: nanos(meta.mtime(), meta.mtime_nsec()),
            changed_ns: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// Kind of a path itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// The file calls of the store.
pub trait Io: Send + Sync + fmt::Debug {
    /// Opens a regular file, without waiting for anything; whatever else has the name is an error.
    ///
    /// # Errors
    /// The system's error; the same for every call here.
    fn open(&self, path: &Path, how: How) -> io::Result<File>;
    /// Reads up to `buffer.len()` bytes from `at`; less only at the end of the file.
    fn read_at(&self, file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Overwrites bytes at `at`. The file was opened with [`How::Change`].
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Adds bytes at the end with one write. After an error, some of them may be there.
    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to `len` bytes.
    fn truncate(&self, file: &File, len: u64) -> io::Result<()>;
    /// Returns when the file's content would survive a power loss.
    fn fsync(&self, file: &File) -> io::Result<()>;
    /// Returns when the names in the directory would survive a power loss.
    fn fsync_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames over whatever is there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes one directory with mode 0700; an existing one is an error.
    fn mkdir(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, in no order.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Facts of what a path names, symbolic links followed.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// Facts of an open file, whatever its name is by now.
    fn stat_of(&self, file: &File) -> io::Result<Stat> {
        file.metadata().map(Stat::from)
    }
    /// Kind and metadata of the path itself, symbolic links not followed.
    fn lstat(&self, path: &Path) -> io::Result<(PathKind, Stat)> {
        let meta = fs::symlink_metadata(path)?;
        let kind = match meta.file_type() {
            kind if kind.is_symlink() => PathKind::Link,
            kind if kind.is_dir() => PathKind::Dir,
            kind if kind.is_file() => PathKind::File,
            _ => PathKind::Other,
        };
        Ok((kind, Stat::from(meta)))
    }
    /// Gives a file a second name, which must not be taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }
    /// Removes a file or an empty directory.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Takes an exclusive lock on the open file; false when another one holds it.
    fn try_lock(&self, file: &File) -> io::Result<bool>;
    /// The clock that the times of files come from, nanoseconds since the epoch.
    fn now_ns(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }
    /// True if another process holds an exclusive lock on the open file. Ours must not be held through it.
    fn is_locked(&self, file: &File) -> io::Result<bool>;
    /// Gives two files each other's name, at once. Not every file system can.
    fn swap(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Bytes of the file system that are free for us, and all of its bytes.
    fn free(&self, path: &Path) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::statvfs(path)?;
        Ok((stat.f_bavail.saturating_mul(stat.f_frsize), stat.f_blocks.saturating_mul(stat.f_frsize)))
    }
    /// Sets the time of the last change of an open file to now.
    fn touch(&self, file: &File) -> io::Result<()> {
        file.set_modified(std::time::SystemTime::now())
    }
    /// The file system is on another machine, or may be: no news of changes come from it.
    fn is_remote(&self, path: &Path) -> io::Result<bool>;
}

/// File systems on other machines, by the number that statfs(2) gives them; all of FUSE may be one.
const REMOTE: [u64; 14] = [
    0x6969,      // NFS
    0x517B,      // SMB
    0xFF53_4D42, // CIFS
    0xFE53_4D42, // SMB2
    0x6573_5546, // FUSE
    0x0102_1997, // 9P
    0x00C3_6400, // Ceph
    0x5346_414F, // AFS (OpenAFS)
    0x6B41_4653, // AFS (the kernel's)
    0x0BD0_0BD0, // Lustre
    0x4750_4653, // GPFS
    0x7375_7245, // Coda
    0x564C,      // NCP
    0x786F_4256, // VirtualBox shared folders
];

/// The file system of this machine.
#[derive(Debug, Default)]
pub struct Disk;

impl Io for Disk {
    fn open(&self, path: &Path, how: How) -> io::Result<File> {
        let written = |more| plain_file::open_with(path, OFlags::RDWR | more);
        let made = || own_mode(written(OFlags::APPEND | OFlags::CREATE | OFlags::EXCL)?);
        match how {
            How::Read => plain_file::open_through_links(path),
            How::Change => written(OFlags::empty()),
            How::Extend => written(OFlags::APPEND),
            // Made first: only a file that we made gets its mode set, whatever the umask took from it.
            How::Append => match made() {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => written(OFlags::APPEND),
                other => other,
            },
            How::New => made(),
        }
    }

    fn read_at(&self, file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match file.read_at(&mut buffer[done..], at + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, at)
    }

    fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        use io::Write;
        file.write_all(bytes)
    }

    fn truncate(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn fsync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn fsync_dir(&self, path: &Path) -> io::Result<()> {
        plain_file::folder(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn mkdir(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| entry.map(|e| e.file_name())).collect()
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(Stat::from)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => fs::remove_dir(path),
            other => other,
        }
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn is_locked(&self, file: &File) -> io::Result<bool> {
        // A shared one: two who ask at once do not get into each other's way.
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map(|()| false),
            Err(fs::TryLockError::WouldBlock) => Ok(true),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn swap(&self, one: &Path, other: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }

    fn is_remote(&self, path: &Path) -> io::Result<bool> {
        // Numbers of 32 bits, which some machines hold in a signed word.
        #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, clippy::cast_possible_truncation)]
        let kind = u64::from(rustix::fs::statfs(path)?.f_type as u32);
        Ok(REMOTE.contains(&kind))
    }
}

fn own_mode(file: File) -> io::Result<File> {
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Fault at the n-th call (counted from 1) of a [`Watched`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing; calls are counted.
    None,
    /// `times` calls from `at` on are not made and fail with this errno (ENOSPC is 28, EIO 5, EROFS 30).
    Fail {
        /// The first call that fails.
        at: u64,
        /// Number of calls that fail.
        times: u64,
        /// The error.
        errno: i32,
    },
    /// A write makes half of its bytes and fails with this errno; any other call just fails.
    Tear {
        /// Number of the call.
        at: u64,
        /// The error.
        errno: i32,
    },
    /// As if the process died right before the call, which is right after the one before: it and all later ones do
    /// nothing and fail.
    DieBefore(u64),
    /// As if the machine died in the middle of a write: half of its bytes are there, nothing follows.
    DieAmid(u64),
    /// SIGKILL to this very process right before the call.
    KillBefore(u64),
}

/// Another [`Io`], counted and disturbed.
#[derive(Debug)]
pub struct Watched {
    inner: Arc<dyn Io>,
    fault: Fault,
    count: AtomicU64,
}

impl Watched {
    /// Disturbs `inner` as `fault` says.
    pub fn new(inner: Arc<dyn Io>, fault: Fault) -> Self {
        Self { inner, fault, count: AtomicU64::new(0) }
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    fn around<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.torn(act, || Ok(()))
    }

    /// `half` does the first half of a write.
    fn torn<T>(&self, act: impl FnOnce() -> io::Result<T>, half: impl FnOnce() -> io::Result<()>) -> io::Result<T> {
        let n = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let dead = || io::Error::other("the process is dead (simulated)");
        match self.fault {
            Fault::Fail { at, times, errno } if (at..at.saturating_add(times)).contains(&n) => {
                Err(io::Error::from_raw_os_error(errno))
            }
            Fault::Tear { at, errno } if n == at => {
                half()?;
                Err(io::Error::from_raw_os_error(errno))
            }
            Fault::DieBefore(at) if n >= at => Err(dead()),
            Fault::DieAmid(at) if n == at => half().and_then(|()| Err(dead())),
            Fault::DieAmid(at) if n > at => Err(dead()),
            Fault::KillBefore(at) if n == at => {
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
                Err(dead())
            }
            _ => act(),
        }
    }
}

impl Io for Watched {
    fn open(&self, path: &Path, how: How) -> io::Result<File> {
        self.around(|| self.inner.open(path, how))
    }
    fn read_at(&self, file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.around(|| self.inner.read_at(file, at, buffer))
    }
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.torn(|| self.inner.write_at(file, at, bytes), || self.inner.write_at(file, at, &bytes[..bytes.len() / 2]))
    }
    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        self.torn(|| self.inner.append(file, bytes), || self.inner.append(file, &bytes[..bytes.len() / 2]))
    }
    fn truncate(&self, file: &File, len: u64) -> io::Result<()> {
        self.around(|| self.inner.truncate(file, len))
    }
    fn fsync(&self, file: &File) -> io::Result<()> {
        self.around(|| self.inner.fsync(file))
    }
    fn fsync_dir(&self, path: &Path) -> io::Result<()> {
        self.around(|| self.inner.fsync_dir(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.around(|| self.inner.rename(from, to))
    }
    fn mkdir(&self, path: &Path) -> io::Result<()> {
        self.around(|| self.inner.mkdir(path))
    }
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.around(|| self.inner.list(path))
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.around(|| self.inner.stat(path))
    }
    fn stat_of(&self, file: &File) -> io::Result<Stat> {
        self.around(|| self.inner.stat_of(file))
    }
    fn lstat(&self, path: &Path) -> io::Result<(PathKind, Stat)> {
        self.around(|| self.inner.lstat(path))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.around(|| self.inner.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.around(|| self.inner.remove(path))
    }
    fn try_lock(&self, file: &File) -> io::Result<bool> {
        self.around(|| self.inner.try_lock(file))
    }
    fn now_ns(&self) -> i64 {
        self.inner.now_ns()
    }
    fn is_locked(&self, file: &File) -> io::Result<bool> {
        self.around(|| self.inner.is_locked(file))
    }
    fn swap(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.around(|| self.inner.swap(one, other))
    }
    fn free(&self, path: &Path) -> io::Result<(u64, u64)> {
        self.around(|| self.inner.free(path))
    }
    fn touch(&self, file: &File) -> io::Result<()> {
        self.around(|| self.inner.touch(file))
    }
    fn is_remote(&self, path: &Path) -> io::Result<bool> {
        self.around(|| self.inner.is_remote(path))
    }
}
