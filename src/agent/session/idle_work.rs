//! Work that waits until nothing runs in the session: releasing its files, restoring, clearing.

use crate::agent::mailbox::{ReleaseAnswer, Restore};

/// Work for the time when nothing runs.
#[derive(Debug, Default)]
pub(super) struct IdleWork {
    /// Waiting for the files to be released.
    releasing: Vec<ReleaseAnswer>,
    /// All messages go out as soon as the turn is over.
    clearing: bool,
    /// Restorations to run as soon as nothing else does.
    restoring: Vec<Restore>,
}

/// Work whose time has come.
pub(super) enum Due {
    /// Release the files.
    Yield,
    /// Restore what waits for it.
    Restore(Vec<Restore>),
    /// Take all messages out.
    Clear,
}

impl IdleWork {
    pub(super) fn release_to(&mut self, done: ReleaseAnswer) {
        self.releasing.push(done);
    }

    pub(super) fn clear(&mut self) {
        self.clearing = true;
    }

    pub(super) fn restore(&mut self, restore: Restore) {
        self.restoring.push(restore);
    }

    /// Somebody waits for the files to be released.
    pub(super) fn is_releasing(&self) -> bool {
        !self.releasing.is_empty()
    }

    /// Files or messages go away soon, so nothing new begins.
    pub(super) fn is_ending(&self) -> bool {
        self.clearing || self.is_releasing()
    }

    /// The next work, taken, but for those who wait for the files ([`IdleWork::take_releasing`]).
    pub(super) fn take_due(&mut self) -> Option<Due> {
        if self.is_releasing() {
            Some(Due::Yield)
        } else if !self.restoring.is_empty() {
            Some(Due::Restore(std::mem::take(&mut self.restoring)))
        } else {
            std::mem::take(&mut self.clearing).then_some(Due::Clear)
        }
    }

    /// Takes those who wait for the files.
    pub(super) fn take_releasing(&mut self) -> Vec<ReleaseAnswer> {
        std::mem::take(&mut self.releasing)
    }
}
