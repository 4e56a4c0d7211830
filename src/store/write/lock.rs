//! Write lock of a session: an exclusive flock on `lisle.lock`, with the holder's name written in it.
//!
//! The kernel lets go when the holder dies, so its name is only for people: a reader says who holds the session. The
//! epoch in it is for writers. One that takes a session over from a holder that does not answer cannot have the lock;
//! it writes a higher epoch, and a holder that finds a higher one than its own writes nothing more.

use crate::store::io::{How, Io, lines};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Holder of a lock.
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
    /// True if it writes without the lock, which the holder that was taken over from still has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
}

impl Holder {
    /// Holder entry of this process.
    pub fn me(epoch: u64) -> Self {
        Self {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: kernel("sys/kernel/random/boot_id").trim().to_owned(),
            pid: std::process::id(),
            started: process_start("self").unwrap_or(0),
            epoch,
            unlocked: false,
        }
    }

    /// The process still runs, so far as can be said without asking for the lock: one of another machine may.
    pub fn lives(&self) -> bool {
        let me = Self::me(0);
        self.host != me.host || (self.boot == me.boot && process_start(&self.pid.to_string()) == Some(self.started))
    }

    /// True for the same writer.
    fn is(&self, other: &Self) -> bool {
        let who = |h: &Self| (h.epoch, h.pid, h.started, h.boot.clone(), h.host.clone());
        who(self) == who(other)
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

/// Value from the kernel, not a file of ours.
fn kernel(name: &str) -> String {
    std::fs::read_to_string(Path::new("/proc").join(name)).unwrap_or_default()
}

/// Tells if a process runs; `start` guards against another one that got the same number.
#[must_use]
pub fn process_runs(pid: u32, start: Option<u64>) -> bool {
    let number = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // One of another user may not be asked, and runs.
    let there = number.is_some_and(|number| {
        matches!(rustix::process::test_kill_process(number), Ok(()) | Err(rustix::io::Errno::PERM))
    });
    let same = match (start, process_start(&pid.to_string())) {
        (Some(start), Some(now)) => start == now,
        (None, _) | (_, None) => true,
    };
    there && same
}

/// Start of a process, in clock ticks after the boot; `None` if it does not exist. `self` is this one.
#[must_use]
pub fn process_start(process: &str) -> Option<u64> {
    // The second field, the program's name, may hold blanks and parentheses.
    kernel(&format!("{process}/stat")).rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()
}

/// The last writer, in its own words; it may have let go since.
pub fn last_holder(io: &dyn Io, path: &Path) -> Option<Holder> {
    read(io, &io.open(path, How::Read).ok()?)
}

fn read(io: &dyn Io, file: &File) -> Option<Holder> {
    let text = lines::range(io, file, 0, 4096).ok()?;
    // Behind the first line may stand the rest of an older one.
    serde_json::from_slice(text.split(|byte| *byte == b'\n').next()?).ok()
}

/// The right to write a session, until dropped: the lock, or an epoch above that of whoever has it.
#[derive(Debug)]
pub struct Lock {
    file: Option<File>,
    path: PathBuf,
    io: Arc<dyn Io>,
    me: Holder,
    granted: bool,
    taken_from: Option<String>,
}

/// The outcome of asking for a lock.
#[derive(Debug)]
pub enum LockOutcome {
    /// Lock of ours.
    Granted(Lock),
    /// Held by another one, in words.
    Held(String),
}

/// Asks for the lock at `path`.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn ask(io: &Arc<dyn Io>, path: &Path) -> io::Result<LockOutcome> {
    let asked = ask_briefly(io, path)?;
    if let LockOutcome::Granted(lock) = &asked
        && let Err(error) = name(&**io, path, &lock.me)
    {
        // The lock is the kernel's; the text only tells others who we are.
        tracing::warn!(%error, "can't write the holder's name to {}", path.display());
    }
    Ok(asked)
}

/// Asks for the lock at `path` for one short piece of work. The name in the file stays that of the last writer, so that
/// nobody is told afterwards that we hold what we let go.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn ask_briefly(io: &Arc<dyn Io>, path: &Path) -> io::Result<LockOutcome> {
    let mut tries = 0;
    let (file, granted) = loop {
        let file = io.open(path, How::Append)?;
        let mut granted = io.try_lock(&file)?;
        if !granted {
            // Somebody who follows the session may have tried it right now, for some microseconds.
            std::thread::sleep(Duration::from_millis(1));
            granted = io.try_lock(&file)?;
        }
        tries += 1;
        // A lock on a file that was removed meanwhile keeps nobody out.
        let named = match (io.stat(path), io.stat_of(&file)) {
            (Ok(named), Ok(open)) => named.ino == open.ino,
            (Err(error), _) => error.kind() != io::ErrorKind::NotFound,
            (Ok(_), Err(_)) => true,
        };
        if !granted || tries > 3 || named {
            break (file, granted);
        }
    };
    let there = read(&**io, &file);
    Ok(match there {
        Some(holder) if !granted || (holder.unlocked && holder.lives()) => LockOutcome::Held(holder.words()),
        None if !granted => LockOutcome::Held("another program".to_owned()),
        there => {
            let me = Holder::me(there.map_or(0, |holder| holder.epoch) + 1);
            let (file, path, io) = (Some(file), path.to_owned(), io.clone());
            LockOutcome::Granted(Lock { file, path, io, me, granted, taken_from: None })
        }
    })
}

/// Takes the right to write from whoever has it, who may not answer any more.
///
/// # Errors
/// When the epoch cannot be written: the other would not know.
pub fn take_over(io: &Arc<dyn Io>, path: &Path) -> io::Result<Lock> {
    let file = io.open(path, How::Append)?;
    let granted = io.try_lock(&file)?;
    let there = read(&**io, &file);
    let epoch = there.as_ref().map_or(0, |holder| holder.epoch) + 1;
    let taken_from = there.filter(|_| !granted).map(|holder| holder.words());
    let me = Holder { unlocked: !granted, ..Holder::me(epoch) };
    name(&**io, path, &me)?;
    Ok(Lock { file: Some(file), path: path.to_owned(), io: io.clone(), me, granted, taken_from })
}

/// True if no process writes the session and the lock at `path` can be had. False also if that is unknown.
pub fn is_free(io: &dyn Io, path: &Path) -> bool {
    let Ok(file) = io.open(path, How::Read) else { return false };
    matches!(io.is_locked(&file), Ok(false)) && !read(io, &file).is_some_and(|holder| holder.unlocked && holder.lives())
}

/// Writes the holder's name. Not through a temporary name: the file is the lock and must stay the same inode. Over the
/// old text, which takes no space on a full disk.
fn name(io: &dyn Io, path: &Path, holder: &Holder) -> io::Result<()> {
    let mut line = serde_json::to_vec(holder)?;
    line.push(b'\n');
    let text = io.open(path, How::Change)?;
    io.write_at(&text, 0, &line)?;
    io.truncate(&text, line.len() as u64)
}

impl Lock {
    /// Number of this writer among all writers of the session.
    pub fn epoch(&self) -> u64 {
        self.me.epoch
    }

    /// The lock itself is ours.
    pub fn granted(&self) -> bool {
        self.granted
    }

    /// Holder of the lock that was not granted, in words.
    pub fn taken_from(&self) -> Option<&str> {
        self.taken_from.as_deref()
    }

    /// Asks once more for a lock that was not granted. True when it is ours now.
    pub fn claim(&mut self) -> bool {
        if let Some(file) = self.file.as_ref().filter(|_| !self.granted) {
            self.granted = matches!(self.io.try_lock(file), Ok(true)) && self.lost().is_none();
            if self.granted {
                self.me.unlocked = false;
                if let Err(error) = name(&*self.io, &self.path, &self.me) {
                    tracing::warn!(%error, "can't write the holder's name to {}", self.path.display());
                }
            }
        }
        self.granted
    }

    /// Process that took the session over from us, in words. An unreadable name is ignored.
    pub fn lost(&self) -> Option<String> {
        let there = read(&*self.io, self.file.as_ref()?)?;
        (there.epoch >= self.me.epoch && !there.is(&self.me)).then(|| there.words())
    }

    /// Looks whether the lock still has its name, and who took the session over, in words. Somebody may have removed the
    /// file: then the next one to ask would lock another one. It is made again, and is ours unless somebody was faster.
    pub fn look(&mut self) -> Option<String> {
        if let Some(who) = self.lost() {
            return Some(who);
        }
        let mine = self.io.stat_of(self.file.as_ref()?).ok()?.ino;
        let file = match self.io.stat(&self.path) {
            Ok(stat) if stat.ino == mine => return None,
            Ok(_) => self.io.open(&self.path, How::Append).ok()?,
            // With all of its files the session goes: nothing is put in the way of that.
            Err(_) if self.io.stat(&self.path.with_file_name(crate::store::format::layout::SESSION)).is_err() => {
                return None;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match self.io.open(&self.path, How::New) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.io.open(&self.path, How::Append).ok()?
                }
                made => made.ok()?,
            },
            Err(_) => return None,
        };
        if !matches!(self.io.try_lock(&file), Ok(true)) {
            let there = read(&*self.io, &file);
            return Some(there.map_or_else(|| "another lisle".to_owned(), |holder| holder.words()));
        }
        let there = read(&*self.io, &file);
        if let Some(other) = there.as_ref().filter(|there| there.unlocked && there.lives() && !there.is(&self.me)) {
            return Some(other.words());
        }
        self.me.epoch = self.me.epoch.max(there.map_or(0, |holder| holder.epoch + 1));
        self.me.unlocked = false;
        if let Err(error) = name(&*self.io, &self.path, &self.me) {
            tracing::warn!(%error, "can't write the holder's name to {}", self.path.display());
        }
        (self.file, self.granted) = (Some(file), true);
        // Whoever removes it once more is found out the next time.
        None
    }

    /// Lets the lock go, for the one who took the session over.
    pub fn let_go(&mut self) {
        self.unlock();
        self.file = None;
        self.granted = false;
    }

    /// Closing the file is not enough: the lock belongs to the open file, which a process that is being started shares until
    /// it runs its own program.
    fn unlock(&self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.granted) {
            // Where it fails, the lock goes with the last one who has the file.
            let _ = file.unlock();
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Who never had the lock must say that it is done; otherwise nobody could have it while this process lives.
        if self.file.is_some() && !self.granted && self.lost().is_none() {
            self.me.unlocked = false;
            if let Err(error) = name(&*self.io, &self.path, &self.me) {
                tracing::warn!(%error, "can't write the holder's name to {}", self.path.display());
            }
        }
        self.unlock();
    }
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
        let io: Arc<dyn Io> = Arc::new(Disk);
        let LockOutcome::Granted(first) = ask(&io, &path).unwrap() else { panic!("free") };
        let LockOutcome::Held(words) = ask(&io, &path).unwrap() else { panic!("held") };
        assert!(words.contains(&std::process::id().to_string()), "{words}");
        assert!(!is_free(&Disk, &path) && first.lost().is_none());
        drop(first);
        assert!(is_free(&Disk, &path));
        let LockOutcome::Granted(second) = ask(&io, &path).unwrap() else { panic!("free again") };
        assert_eq!(second.epoch(), 2);
    }

    #[test]
    fn who_is_taken_over_knows_and_the_taker_has_the_lock_once_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lisle.lock");
        let io: Arc<dyn Io> = Arc::new(Disk);
        let LockOutcome::Granted(mut old) = ask(&io, &path).unwrap() else { panic!("free") };
        let mut new = take_over(&io, &path).unwrap();
        assert_eq!((new.epoch(), new.granted(), new.claim()), (2, false, false));
        assert!(old.lost().is_some() && new.lost().is_none());
        old.let_go();
        // The lock can be had now, but somebody writes.
        assert!(!is_free(&Disk, &path));
        assert!(matches!(ask(&io, &path).unwrap(), LockOutcome::Held(_)));
        assert!(new.claim());
        drop(new);
        // One that was done before it was granted does not stand in the way either.
        let LockOutcome::Granted(old) = ask(&io, &path).unwrap() else { panic!("free") };
        let (third, fourth) = (take_over(&io, &path).unwrap(), take_over(&io, &path).unwrap());
        assert!(third.lost().is_some() && fourth.lost().is_none());
        drop((third, fourth, old));
        let LockOutcome::Granted(last) = ask(&io, &path).unwrap() else { panic!("free") };
        assert_eq!(last.epoch(), 6);
    }

    #[test]
    fn a_lock_goes_though_a_process_that_is_being_started_still_has_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lisle.lock");
        let io: Arc<dyn Io> = Arc::new(Disk);
        let granted = || match ask(&io, &path).unwrap() {
            LockOutcome::Granted(lock) => lock,
            LockOutcome::Held(words) => panic!("{words}"),
        };
        let first = granted();
        // What a fork has until its exec.
        let shared = first.file.as_ref().unwrap().try_clone().unwrap();
        drop(first);
        assert!(is_free(&Disk, &path));
        let mut second = granted();
        let also_shared = second.file.as_ref().unwrap().try_clone().unwrap();
        let mut taker = take_over(&io, &path).unwrap();
        second.let_go();
        assert!(taker.claim());
        drop((shared, also_shared));
    }

    #[test]
    fn a_lock_that_was_granted_is_ours_though_the_name_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lisle.lock");
        let disk: Arc<dyn Io> = Arc::new(Disk);
        drop(ask(&disk, &path).unwrap());
        let calls = Arc::new(Watched::new(Arc::new(Disk), Fault::None));
        let counted: Arc<dyn Io> = calls.clone();
        drop(ask(&counted, &path).unwrap());
        for at in 3..=calls.calls() {
            let before = std::fs::read_to_string(&path).unwrap();
            let full: Arc<dyn Io> =
                Arc::new(Watched::new(Arc::new(Disk), Fault::Fail { at, times: u64::MAX, errno: 28 }));
            assert!(matches!(ask(&full, &path).unwrap(), LockOutcome::Granted(_)), "call {at}");
            let after = std::fs::read_to_string(&path).unwrap();
            assert!(after == before || after.contains("epoch"), "call {at}: {after:?}");
        }
        let LockOutcome::Granted(next) = ask(&disk, &path).unwrap() else { panic!("free") };
        assert!(next.epoch() > 2);
    }
}
