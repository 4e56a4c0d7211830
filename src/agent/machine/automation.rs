//! Automatic changes of a session: which the workspace allows, and messages that go by themselves.

use crate::agent::automatic_labels::AutoLabels;
use crate::domain::ids::At;
use crate::domain::property::Status;
use std::sync::Arc;

/// Delay before messages left by a crash are sent.
pub const REDELIVERED_AFTER_MS: u64 = 10_000;

/// Automatic changes that the workspace allows.
#[derive(Clone, Debug, Default)]
pub struct Automatic {
    /// The statuses that there are; none when a status is never changed by itself.
    pub statuses: Arc<[Status]>,
    /// The rules that give labels.
    pub labels: Arc<AutoLabels>,
}

/// State of what happens by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Automation {
    allowed: Automatic,
    /// The user set the status since the last message that began a turn.
    status_by_user: bool,
    /// What waits was left by a death, in a session that may go on by itself once somebody looks at it.
    redelivers: bool,
    redelivery: Option<At>,
}

impl Automation {
    pub(super) fn allowed(&self) -> &Automatic {
        &self.allowed
    }

    pub(super) fn set_allowed(&mut self, allowed: Automatic) {
        self.allowed = allowed;
    }

    pub(super) fn status_by_user(&self) -> bool {
        self.status_by_user
    }

    pub(super) fn set_status_by_user(&mut self, by_user: bool) {
        self.status_by_user = by_user;
    }

    pub(super) fn set_redelivers(&mut self, redelivers: bool) {
        self.redelivers = redelivers;
    }

    pub(super) fn take_redelivers(&mut self) -> bool {
        std::mem::take(&mut self.redelivers)
    }

    /// Time at which messages left by a death are sent.
    pub(super) fn redelivery(&self) -> Option<At> {
        self.redelivery
    }

    pub(super) fn plan_redelivery(&mut self, at: At) {
        self.redelivery = Some(at);
    }

    /// Nothing goes by itself any more. True if a time was set.
    pub(super) fn hold_redelivery(&mut self) -> bool {
        self.redelivers = false;
        self.redelivery.take().is_some()
    }
}
