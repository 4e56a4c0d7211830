//! Commands on their way to the engine, in order. Nobody waits for it: what it has no room for is kept.

use crate::agent::Requests;
use crate::protocol::Command;
use std::collections::VecDeque;
use tokio::sync::mpsc::error::TrySendError;

/// The commands that the engine had no room for yet.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Outbox(VecDeque<Command>);

impl Outbox {
    /// Nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sends it, behind what is kept.
    pub fn send(&mut self, engine: &Requests, command: Command) {
        if !self.0.is_empty() {
            return self.0.push_back(command);
        }
        match engine.try_send(command) {
            Ok(_) => {}
            Err(TrySendError::Full(command)) => self.0.push_back(command),
            // The loop learns it from the closed events.
            Err(TrySendError::Closed(_)) => {}
        }
    }

    /// Sends what was kept, as far as there is room now.
    pub fn send_kept(&mut self, engine: &Requests) {
        while let Some(command) = self.0.pop_front() {
            match engine.try_send(command) {
                Ok(_) => {}
                Err(TrySendError::Full(command)) => return self.0.push_front(command),
                Err(TrySendError::Closed(_)) => self.0.clear(),
            }
        }
    }
}
