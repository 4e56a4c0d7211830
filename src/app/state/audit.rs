//! Audit log of a session on the screen: which of its calls are shown, and which one is selected.

use crate::domain::SessionId;
use crate::domain::audit_log::{AuditEntry, AuditLog, Fate};
use crate::domain::permission::Authority;

/// Audit log on the screen.
#[derive(Clone, Debug)]
pub struct Audit {
    /// Session id.
    pub session: SessionId,
    /// Calls and decisions, once the engine has answered.
    pub log: Option<AuditLog>,
    /// Calls to show.
    pub shown: ShownCalls,
    /// The selected one among the shown, the latest being the last.
    pub selected: usize,
}

/// Calls to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownCalls {
    /// All of them.
    #[default]
    All,
    /// Refused calls.
    Refused,
    /// Calls that the mode did not decide: a person, a rule or an earlier answer did.
    Answered,
}

impl ShownCalls {
    /// The one after it, around.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            ShownCalls::All => ShownCalls::Refused,
            ShownCalls::Refused => ShownCalls::Answered,
            ShownCalls::Answered => ShownCalls::All,
        }
    }

    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ShownCalls::All => "all calls",
            ShownCalls::Refused => "refused",
            ShownCalls::Answered => "approved by you or a rule",
        }
    }

    fn has(self, entry: &AuditEntry) -> bool {
        match self {
            ShownCalls::All => true,
            ShownCalls::Refused => entry.fate() == Fate::Refused,
            ShownCalls::Answered => entry.decision.as_ref().is_some_and(|one| one.authority != Authority::Mode),
        }
    }
}

impl Audit {
    /// An audit log that is not there yet.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, log: None, shown: ShownCalls::default(), selected: 0 }
    }

    /// The calls that are shown, oldest first.
    #[must_use]
    pub fn entries(&self) -> Vec<&AuditEntry> {
        let all = self.log.iter().flat_map(|log| &log.entries);
        all.filter(|entry| self.shown.has(entry)).collect()
    }

    /// The engine sent it: the latest call is selected, or the one that was.
    pub fn fill(&mut self, log: AuditLog) {
        let was = self.entries().get(self.selected).map(|entry| entry.call.clone());
        self.log = Some(log);
        let entries = self.entries();
        let place = entries.iter().position(|entry| Some(&entry.call) == was.as_ref());
        self.selected = place.unwrap_or(entries.len().saturating_sub(1));
    }

    /// Moves the selection.
    pub fn step(&mut self, by: isize) {
        let last = self.entries().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Shows the next kind of calls, the latest of them selected.
    pub fn turn(&mut self) {
        self.shown = self.shown.next();
        self.selected = self.entries().len().saturating_sub(1);
    }
}
