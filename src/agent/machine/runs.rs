//! Numbers of runs, so that late reports of a stopped one are known as such, and how turns ended.

use crate::agent::machine_io::RunNo;
use crate::domain::attention::Unfinished;
use crate::domain::message::CutBy;

/// Death of the program in the session's last turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// lisle ended.
    Restarted,
    /// Another lisle ran, from which the session was taken over.
    TakenOver,
}

/// Runs of a session.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    current: RunNo,
    /// A stopped run whose processes may not be gone yet.
    ending: Option<RunNo>,
    last_cut: Option<CutBy>,
    /// Error that ends the turn.
    failure: Option<Unfinished>,
    /// The program ends.
    closing: bool,
    /// The program ends with the turn: the queue stays where it is.
    one_turn: bool,
    /// The transcript and the model are told with the next turn.
    died: Option<Death>,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            current: RunNo(1),
            ending: None,
            last_cut: None,
            failure: None,
            closing: false,
            one_turn: false,
            died: None,
        }
    }
}

impl Runs {
    /// Runs of a program that ends with the first turn, or of one that stays.
    pub(super) fn of(one_turn: bool) -> Self {
        Self { one_turn, ..Self::default() }
    }

    /// True if the queue is sent when a turn ends.
    pub(super) fn go_on(&self) -> bool {
        !self.closing && !self.one_turn
    }

    pub(super) fn current(&self) -> RunNo {
        self.current
    }

    /// Begins a new run: reports of the one before are ignored from now on.
    pub(super) fn next(&mut self) {
        self.current = RunNo(self.current.0 + 1);
    }

    /// Ends the current run early and returns its number.
    pub(super) fn cut(&mut self, by: CutBy) -> RunNo {
        let stopped = self.current;
        self.next();
        self.ending = Some(stopped);
        self.last_cut = Some(by);
        stopped
    }

    /// Cause of the last early end of a turn.
    pub(super) fn last_cut(&self) -> Option<CutBy> {
        self.last_cut
    }

    /// The turn ends with this error.
    pub(super) fn set_failure(&mut self, failure: Unfinished) {
        self.failure = Some(failure);
    }

    pub(super) fn take_failure(&mut self) -> Option<Unfinished> {
        self.failure.take()
    }

    /// The processes of the runs up to this one are gone.
    pub(super) fn reaped(&mut self, upto: RunNo) {
        self.ending = self.ending.filter(|ending| *ending > upto);
    }

    /// The processes of a stopped run may still be there.
    pub(super) fn are_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// The program ends: no turn begins any more.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    pub(super) fn are_closing(&self) -> bool {
        self.closing
    }

    pub(super) fn set_died(&mut self, died: Option<Death>) {
        self.died = died;
    }

    /// The death that nobody was told of yet.
    pub(super) fn take_death(&mut self) -> Option<Death> {
        self.died.take()
    }
}
