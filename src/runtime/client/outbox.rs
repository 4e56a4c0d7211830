//! Commands on their way to the engine, in order. Nobody waits for it: what it has no room for is kept.

use crate::agent::Requests;
use crate::protocol::Command;
use std::collections::VecDeque;
use tokio::sync::mpsc::error::TrySendError;

/// Commands that the engine had no room for yet, and how many are not answered.
#[derive(Debug, Default)]
pub(in crate::runtime) struct CommandOutbox {
    kept: VecDeque<Command>,
    unanswered: usize,
}

impl CommandOutbox {
    /// Nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The engine answered everything that was sent.
    pub fn is_answered(&self) -> bool {
        self.kept.is_empty() && self.unanswered == 0
    }

    /// A reply came.
    pub fn answered(&mut self) {
        self.unanswered = self.unanswered.saturating_sub(1);
    }

    /// Sends it, behind what is kept.
    pub fn send(&mut self, engine: &Requests, command: Command) {
        if !self.kept.is_empty() {
            return self.kept.push_back(command);
        }
        match engine.try_send(command) {
            Ok(_) => self.unanswered += 1,
            Err(TrySendError::Full(command)) => self.kept.push_back(command),
            // The loop learns it from the closed events.
            Err(TrySendError::Closed(_)) => {}
        }
    }

    /// Sends what was kept, as far as there is room now.
    pub fn send_kept(&mut self, engine: &Requests) {
        while let Some(command) = self.kept.pop_front() {
            match engine.try_send(command) {
                Ok(_) => self.unanswered += 1,
                Err(TrySendError::Full(command)) => return self.kept.push_front(command),
                Err(TrySendError::Closed(_)) => self.kept.clear(),
            }
        }
    }
}
