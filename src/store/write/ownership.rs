//! Ownership of a session: its lock, and what others are known to do to it.

use super::lock::Lock;
use crate::store::read::session::FoundSession;
use std::io::ErrorKind;
use std::time::{SystemTime, UNIX_EPOCH};

/// Another program that wrote the session so short a time ago has it open, most likely.
const RECENT_MS: i64 = 60_000;

/// Error when another program replaced a file each time that we tried.
pub(in crate::store) fn busy() -> std::io::Error {
    std::io::Error::new(ErrorKind::WouldBlock, "another program is writing it")
}

/// Actions of others on a session that we write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Elsewhere {
    /// Nothing that we know of.
    #[default]
    Quiet,
    /// Open elsewhere as well: where, in words.
    Also(String),
    /// Another program wrote the messages anew, for so many times since we opened it. Rows may have come, gone or
    /// changed.
    Rewritten(u64),
    /// File or directory gone. Unsaved content is kept in memory, and written if it comes back.
    Gone,
    /// Taken over: by whom, in words. Nothing more is written here.
    Lost(String),
}

/// Ownership of a session that we write.
#[derive(Debug)]
pub(in crate::store) struct Ownership {
    lock: Lock,
    elsewhere: Elsewhere,
    /// Process that took the session over.
    lost: Option<String>,
    /// Rows that were not written because of that.
    unwritten: usize,
    /// Times that another program wrote the messages anew.
    rewrites: u64,
}

impl Ownership {
    /// Ownership of a session that is opened, with what is known of others by then.
    pub(in crate::store) fn new(lock: Lock, found: &FoundSession) -> Self {
        let elsewhere = at_opening(&lock, found);
        Self { lock, elsewhere, lost: None, unwritten: 0, rewrites: 0 }
    }

    /// The session's lock.
    pub(in crate::store) fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Actions of others, as far as they were noticed.
    pub(in crate::store) fn elsewhere(&self) -> &Elsewhere {
        &self.elsewhere
    }

    /// Process that took the session over.
    pub(in crate::store) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// Rows that were not written because the session was taken over.
    pub(in crate::store) fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// Adds rows that were not written. Returns their number.
    pub(in crate::store) fn add_unwritten(&mut self, rows: usize) -> usize {
        self.unwritten += rows;
        self.unwritten
    }

    /// Times that another program wrote the messages anew.
    pub(in crate::store) fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Another program wrote the messages anew.
    pub(in crate::store) fn rewritten(&mut self) {
        self.rewrites += 1;
        self.elsewhere = Elsewhere::Rewritten(self.rewrites);
    }

    /// The file or its directory is gone.
    pub(in crate::store) fn gone(&mut self) {
        self.elsewhere = Elsewhere::Gone;
    }

    /// The file is there again, if it was gone.
    pub(in crate::store) fn back(&mut self) {
        if self.elsewhere == Elsewhere::Gone {
            self.elsewhere = Elsewhere::Quiet;
        }
    }

    /// Looks whether a process took the session over, and asks for a lock that was not granted yet. True if it was
    /// granted by this call.
    pub(in crate::store) fn check(&mut self) -> bool {
        if self.lost.is_some() {
            return false;
        }
        self.lost = self.lock.look();
        if let Some(who) = &self.lost {
            self.elsewhere = Elsewhere::Lost(who.clone());
            // The new writer can have it, and need not look before each row any more.
            self.lock.let_go();
            return false;
        }
        let claimed = !self.lock.granted() && self.lock.claim();
        if claimed {
            self.elsewhere = Elsewhere::Quiet;
        }
        claimed
    }
}

/// Findings about others when a session is opened.
fn at_opening(lock: &Lock, found: &FoundSession) -> Elsewhere {
    if let Some(holder) = lock.taken_from() {
        return Elsewhere::Also(format!("{holder}, the previous owner"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let age = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(found.modified);
    if found.ino != 0 && found.head.foreign && (0..RECENT_MS).contains(&age) {
        return Elsewhere::Also("another program, which wrote it recently".to_owned());
    }
    Elsewhere::Quiet
}
