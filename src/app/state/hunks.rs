//! The changed places of a change that waits for its approval, as the user goes through them: which one is looked at, which
//! are struck out. Nothing of it is the engine's before the answer is given.

use crate::domain::count::count;
use crate::domain::diff::DiffKind;
use crate::domain::tool::Proposal;

/// Changed places in a panel; there are at least two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkView {
    /// The place that is looked at, counted over all files.
    pub at: Option<usize>,
    /// The places that are struck out.
    struck: Vec<bool>,
}

impl HunkView {
    /// The places of a change, where they can be struck out one by one.
    #[must_use]
    pub fn new(proposal: &Proposal) -> Option<Self> {
        let count = proposal.strikable();
        (count > 0).then(|| Self { at: None, struck: vec![false; count] })
    }

    /// The same marks in another panel of this request, with no place looked at.
    pub(crate) fn carried(self) -> Self {
        Self { at: None, ..self }
    }

    /// Goes to the next place or the one before.
    pub(crate) fn walk(&mut self, forward: bool) {
        let last = self.struck.len().saturating_sub(1);
        self.at = Some(match self.at {
            None if forward => 0,
            None => last,
            Some(at) if forward => (at + 1).min(last),
            Some(at) => at.saturating_sub(1),
        });
    }

    /// Strikes the place that is looked at, or restores it. False if none is.
    pub(crate) fn strike(&mut self) -> bool {
        let place = self.at.and_then(|at| self.struck.get_mut(at));
        place.map(|struck| *struck = !*struck).is_some()
    }

    /// Strikes these places and no others. False if one of them does not exist.
    pub(crate) fn strike_only(&mut self, places: &[usize]) -> bool {
        let known = places.iter().all(|at| *at < self.struck.len());
        if known {
            self.struck.iter_mut().enumerate().for_each(|(at, struck)| *struck = places.contains(&at));
        }
        known
    }

    /// True if this place is struck out.
    #[must_use]
    pub fn is_struck(&self, at: usize) -> bool {
        self.struck.get(at).is_some_and(|struck| *struck)
    }

    /// True if nothing is left.
    #[must_use]
    pub fn is_all_struck(&self) -> bool {
        self.struck.iter().all(|struck| *struck)
    }

    /// The places that are struck out, in order.
    #[must_use]
    pub fn left_out(&self) -> Vec<u32> {
        let struck = self.struck.iter().enumerate().filter(|(_, struck)| **struck);
        struck.filter_map(|(at, _)| u32::try_from(at).ok()).collect()
    }

    /// Lines that come and lines that go with what is left.
    #[must_use]
    pub fn counts(&self, proposal: &Proposal) -> (u32, u32) {
        let hunks = proposal.diffs().flat_map(|diff| &diff.hunks).enumerate();
        let left = hunks.filter(|(at, _)| !self.is_struck(*at));
        left.fold((0, 0), |(added, removed), (_, hunk)| {
            (added + hunk.count_of(DiffKind::Added), removed + hunk.count_of(DiffKind::Removed))
        })
    }

    /// `3 changes`, `1 of 3 struck`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.left_out().len() {
            0 => count(self.struck.len(), "change", "changes"),
            struck => format!("{struck} of {} struck", self.struck.len()),
        }
    }
}
