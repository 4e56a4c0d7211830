//! Rows that tell what happened beside the conversation: another mode, jobs that ended.

use super::state::Machine;
use crate::agent::machine_io::{Safety, Step};
use crate::domain::ids::At;
use crate::domain::message::{InfoKind, Message};
use crate::domain::notice::Level;

impl Machine {
    /// Writes the mode to the transcript once something happens in it, so that cycling leaves no trail of its own.
    pub(super) fn tell_mode(&mut self, now: At) -> Option<Message> {
        if !self.announced.is_news(self.meta.mode) {
            return None;
        }
        Some(self.info(now, Level::Info, InfoKind::ModeChanged, format!("Permission mode: {}", self.meta.mode.shown())))
    }

    /// A command in the background ended. While a turn runs its row waits for the next request, so that it never stands
    /// among the calls of a response.
    pub(super) fn job_ended(&mut self, now: At, text: String, out: &mut Vec<Step>) {
        self.announced.add_job_ended(text);
        if self.turn.is_none() {
            let rows = self.tell_jobs(now);
            self.keep(rows, Safety::Synced, out);
            self.changed(out);
        }
    }

    /// The rows about what ended in the background.
    pub(super) fn tell_jobs(&mut self, now: At) -> Vec<Message> {
        let ended = self.announced.take_jobs_ended();
        ended.into_iter().map(|text| self.info(now, Level::Info, InfoKind::JobEnded, text)).collect()
    }
}
