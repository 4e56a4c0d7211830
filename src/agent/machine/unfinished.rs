//! Note of the turn that is not done: written while it runs, so that it tells the truth after any death.

use super::state::Machine;
use crate::domain::attention::{Broken, Unfinished};
use crate::domain::message::{CutBy, Failure, FailureAction};
use crate::domain::session::Activity;
use crate::protocol::TurnEnd;

impl Machine {
    /// A turn that runs counts as interrupted until it ends, with the request that it waits for. A command that the user
    /// typed is no turn to continue.
    pub(super) fn note_unfinished(&mut self) {
        if self.turn.as_ref().is_none_or(|turn| turn.typed) {
            return;
        }
        let why = match &self.meta.activity {
            Activity::NeedsYou(what) => what.clone(),
            Activity::Running(_) => String::new(),
            // What it waited for when it was stopped stays.
            Activity::Stopping | Activity::Idle => return,
        };
        self.meta.unfinished = Some(Unfinished::new(Broken::Interrupted, why));
    }

    /// The turn ends. A client without a screen has told its user.
    pub(super) fn end_unfinished(&mut self, end: TurnEnd) {
        let failure = self.runs.take_failure();
        self.meta.unfinished = match end {
            TurnEnd::Done | TurnEnd::Plan => None,
            TurnEnd::Failed => failure,
            TurnEnd::Limit => Some(Unfinished::new(Broken::Interrupted, "request limit reached")),
            // Whoever stopped it knows.
            TurnEnd::Stopped if self.runs.last_cut() == Some(CutBy::User) => None,
            TurnEnd::Stopped => self.meta.unfinished.take(),
        };
        if let Some(last) = &mut self.meta.unfinished {
            last.seen = self.config.headless;
        }
    }

    /// The error that ends the turn.
    pub(super) fn fails_with(&mut self, failure: &Failure) {
        let retries = failure.actions.contains(&FailureAction::Retry);
        self.runs.set_failure(Unfinished { retries, ..Unfinished::new(Broken::Failed, failure.title.clone()) });
    }

    /// The program died in the last turn, also where its header does not say so.
    pub(super) fn died_unfinished(&mut self) {
        if self.meta.unfinished.is_none() {
            self.meta.unfinished = Some(Unfinished::new(Broken::Interrupted, ""));
        }
    }
}
