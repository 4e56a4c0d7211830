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
        // No file of ours: what the kernel says about this process.
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let stat = read("/proc/self/stat");
        // The second field, the program's name, may hold blanks and parentheses.
        let started = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19)?.parse().ok());
        Self {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: read("/proc/sys/kernel/random/boot_id").trim().to_owned(),
            pid: std::process::id(),
            started: started.unwrap_or(0),
            epoch,
        }
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
/// When the file cannot be made, locked or written.
pub fn ask(io: &dyn Io, path: &Path) -> io::Result<Asked> {
    let file = io.open(path, How::Append)?;
    let granted = io.try_lock(&file)?;
    let text = tail::range(io, &file, 0, 4096)?;
    let there: Option<Holder> = serde_json::from_slice(&text).ok();
    if !granted {
        let words = there.map_or_else(|| "another program".to_owned(), |holder| holder.words());
        return Ok(Asked::Held(words));
    }
    let epoch = there.map_or(0, |holder| holder.epoch) + 1;
    let mut line = serde_json::to_vec(&Holder::me(epoch))?;
    line.push(b'\n');
    // Not through a temporary name: the file is the lock and must stay the same inode.
    io.truncate(&file, 0)?;
    io.append(&file, &line)?;
    Ok(Asked::Granted(Lock { _file: file, epoch }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::Disk;

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
}
