//! A compaction that runs: its parts, and how many are summed up.

use crate::domain::plan::PlanApproval;
use crate::protocol::SessionEvent;
use std::collections::VecDeque;

/// Reason of the compaction, which decides what follows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    /// The user asked for it.
    Wished,
    /// The window is nearly full; the turn goes on.
    Full,
    /// The request before did not fit; it is sent again.
    Overflow,
    /// A plan was approved so; it is carried out.
    Plan(PlanApproval),
}

/// A compaction on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compacting {
    pub(super) why: Why,
    /// The rows before this one are summed up.
    pub(super) cut: usize,
    /// The user's instructions for the summary.
    pub(super) wish: String,
    /// Parts that are not summarised yet; the request for the first is on its way.
    pub(super) parts: VecDeque<String>,
    /// Number of summarised parts.
    pub(super) done: usize,
    pub(super) so_far: String,
    pub(super) failures: u32,
    /// The session's own model is asked: the small one could not.
    pub(super) by_own: bool,
}

impl Compacting {
    pub(super) fn event(&self) -> SessionEvent {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SessionEvent::Compacting { part: count(self.done + 1), of: count(self.done + self.parts.len()) }
    }

    /// It is all that its turn was for.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.why, Why::Wished | Why::Plan(_))
    }
}
