//! Progress of an approved plan that is kept in memory alone.

use crate::domain::plan::PlanApproval;

/// Approved plan between its approval and its end.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanState {
    /// Approved, to be carried out once what was kept for it is on disk.
    due: Option<PlanApproval>,
    /// The plan was carried out to its end in this turn: what was struck out holds until the next.
    ended: bool,
}

impl PlanState {
    pub(super) fn is_due(&self) -> bool {
        self.due.is_some()
    }

    pub(super) fn set_due(&mut self, approval: PlanApproval) {
        self.due = Some(approval);
    }

    pub(super) fn take_due(&mut self) -> Option<PlanApproval> {
        self.due.take()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn set_ended(&mut self, ended: bool) {
        self.ended = ended;
    }
}
