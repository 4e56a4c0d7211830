//! Who may write a session: an exclusive flock on `lisle.lock`, with the holder's name written in it.
//!
//! The kernel lets go when the holder dies, so the text is only for people: a reader says who holds the session.

use super::io::{How, Io};
use super::tail;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::Path;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Name of the machine.
    pub host: String,
    /// Names one run of the machine, so that a pid of an earlier one is not believed.
    pub boot: String,
    /// The process.
    pub pid: u32,
    /// When the process started, in clock ticks after the boot.
    pub started: u64,
    /// Rises by one with each writer.
    pub epoch: u64,
}

impl Holder {
    /// This process.
    pub fn me(epoch: u64) -> Self {
        Self {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: kernel("sys/kernel/random/boot_id").trim().to_owned(),
            pid: std::process::id(),
            started: started("self").unwrap_or(0),
            epoch,
        }
    }

    /// The process still runs, so far as can be said without asking for the lock: one of another machine may.
    pub fn lives(&self) -> bool {
        let me = Self::me(0);
        self.host != me.host || (self.boot == me.boot && started(&self.pid.to_string()) == Some(self.started))
    }

    /// The holder in words.
    pub fn words(&self) -> String {
        let me = Self::me(0);
        if self.host != me.host {
            format!("lisle on {} (process {})", self.host, self.pid)
        } else if self.pid == me.pid && self.started == me.started {
            format!("this lisle (process {})", self.pid)
        } else {
            format!("another lisle (process {})", self.pid)
        }
    }
}

/// What the kernel says; no file of ours.
fn kernel(name: &str) -> String {
    std::fs::read_to_string(Path::new("/proc").join(name)).unwrap_or_default()
}

/// When a process started, in clock ticks after the boot; `None` when there is none.
fn started(process: &str) -> Option<u64> {
    // The second field, the program's name, may hold blanks and parentheses.
    kernel(&format!("{process}/stat")).rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()
}

/// The last writer, in its own words; it may have let go since.
pub fn last_holder(io: &dyn Io, path: &Path) -> Option<Holder> {
    read(io, &io.open(path, How::Read).ok()?)
}

fn read(io: &dyn Io, file: &File) -> Option<Holder> {
    let text = tail::range(io, file, 0, 4096).ok()?;
    // Behind the first line may stand the rest of an older one.
    serde_json::from_slice(text.split(|byte| *byte == b'\n').next()?).ok()
}

/// The lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// Its number among all writers of this session.
    pub epoch: u64,
}

/// The outcome of asking for a lock.
#[derive(Debug)]
pub enum Asked {
    /// It is ours.
    Granted(Lock),
    /// It is another's, in words.
    Held(String),
}

/// Asks for the lock at `path`.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn ask(io: &dyn Io, path: &Path) -> io::Result<Asked> {
    let file = io.open(path, How::Append)?;
    let granted = io.try_lock(&file)?;
    let there = read(io, &file);
    if !granted {
        let words = there.map_or_else(|| "another program".to_owned(), |holder| holder.words());
        return Ok(Asked::Held(words));
    }
    let epoch = there.map_or(0, |holder| holder.epoch) + 1;
    let name = || -> io::Result<()> {
        let mut line = serde_json::to_vec(&Holder::me(epoch))?;
        line.push(b'\n');
        // Not through a temporary name: the file is the lock and must stay the same inode. Over the old text, which
        // takes no space on a full disk.
        let text = io.open(path, How::Change)?;
        io.write_at(&text, 0, &line)?;
        io.truncate(&text, line.len() as u64)
    };
    if let Err(error) = name() {
        // The lock is the kernel's; the text only tells others who we are.
        tracing::warn!(%error, "cannot write the holder's name to {}", path.display());
    }
    Ok(Asked::Granted(Lock { _file: file, epoch }))
}

/// Asks for the lock at `path` for one short piece of work. The name in the file stays that of the last writer, so that
/// nobody is told afterwards that we hold what we let go.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn ask_briefly(io: &dyn Io, path: &Path) -> io::Result<Asked> {
    let file = io.open(path, How::Append)?;
    let granted = io.try_lock(&file)?;
    let there = read(io, &file);
    if !granted {
        return Ok(Asked::Held(there.map_or_else(|| "another program".to_owned(), |holder| holder.words())));
    }
    Ok(Asked::Granted(Lock { _file: file, epoch: there.map_or(0, |holder| holder.epoch) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::{Disk, Fault, Watched};
    use std::sync::Arc;

    #[test]
    fn the_second_is_told_who_the_first_is_and_the_epoch_rises() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lisle.lock");
        let Asked::Granted(first) = ask(&Disk, &path).unwrap() else { panic!("free") };
        let Asked::Held(words) = ask(&Disk, &path).unwrap() else { panic!("held") };
        assert!(words.contains(&std::process::id().to_string()), "{words}");
        drop(first);
        let Asked::Granted(second) = ask(&Disk, &path).unwrap() else { panic!("free again") };
        assert_eq!(second.epoch, 2);
    }

    #[test]
    fn a_lock_that_was_granted_is_ours_though_the_name_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lisle.lock");
        drop(ask(&Disk, &path).unwrap());
        let calls = Watched::new(Arc::new(Disk), Fault::None);
        drop(ask(&calls, &path).unwrap());
        for at in 3..=calls.calls() {
            let before = std::fs::read_to_string(&path).unwrap();
            let full = Watched::new(Arc::new(Disk), Fault::Fail { at, times: u64::MAX, errno: 28 });
            assert!(matches!(ask(&full, &path).unwrap(), Asked::Granted(_)), "call {at}");
            let after = std::fs::read_to_string(&path).unwrap();
            assert!(after == before || after.contains("epoch"), "call {at}: {after:?}");
        }
        let Asked::Granted(next) = ask(&Disk, &path).unwrap() else { panic!("free") };
        assert!(next.epoch > 2);
    }
}
