//! Knowledge of a client, to ask for it anew where events were lost, and what may be asked twice.

use super::ROWS;
use crate::domain::SessionId;
use crate::protocol::{Command, EngineCommand, Event, SessionCommand, SessionEvent, Stamped};
use std::collections::BTreeMap;

/// Knowledge of the client, to ask anew where events were lost.
#[derive(Default)]
pub(super) struct KnownOfClient {
    listed: bool,
    /// Sessions that it has open, with the rows that it asked for.
    open: BTreeMap<SessionId, usize>,
    /// Number of the last event of the engine, as the client got it.
    pub engine_seq: u64,
    /// Added to the numbers of an engine that was begun anew.
    pub shift: u64,
}

impl KnownOfClient {
    pub fn sent(&mut self, command: &Command) {
        match command {
            Command::Engine(EngineCommand::List) => self.listed = true,
            Command::Session { id, command: SessionCommand::Open { rows } | SessionCommand::OpenAt { rows, .. } } => {
                self.open.insert(id.clone(), *rows);
            }
            Command::Session { id, command: SessionCommand::Leave } => {
                self.open.remove(id);
            }
            Command::Session { .. } | Command::Engine(_) => {}
        }
    }

    pub fn came(&mut self, stamped: &mut Stamped) {
        match &stamped.event {
            Event::Engine(_) => {
                stamped.seq += self.shift;
                self.engine_seq = self.engine_seq.max(stamped.seq);
            }
            // A session that this client made, or has open by another of its commands.
            Event::Session { id, event: SessionEvent::Opened(_) } => {
                self.open.entry(id.clone()).or_insert(ROWS);
            }
            Event::Session { id, event: SessionEvent::Reidentified { to } } => {
                if let Some(rows) = self.open.remove(id) {
                    self.open.insert(to.clone(), rows);
                }
            }
            Event::Session { .. } => {}
        }
    }

    /// Commands that bring a client up to date that missed something.
    pub fn anew(&self) -> Vec<Command> {
        let list = self.listed.then_some(Command::Engine(EngineCommand::List));
        let open = self.open.iter().map(|(id, rows)| Command::Session {
            id: id.clone(),
            command: SessionCommand::Open { rows: (*rows).max(ROWS) },
        });
        list.into_iter().chain(open).collect()
    }
}

/// True for a message of the user.
pub(super) fn is_message(command: &Command) -> bool {
    let Command::Session { command, .. } = command else { return false };
    matches!(command, SessionCommand::Send { .. } | SessionCommand::Steer { .. })
}

/// True for a command that may reach an engine again, after another one of the same files ended: messages have an id that
/// their session knows, and what only asks changes nothing.
pub(super) fn may_be_repeated(command: &Command) -> bool {
    let asks = matches!(
        command,
        Command::Engine(
            EngineCommand::List
                | EngineCommand::Trash
                | EngineCommand::Search { .. }
                | EngineCommand::Models { .. }
                | EngineCommand::Figures { .. }
                | EngineCommand::Levels { .. }
                | EngineCommand::Usage { .. }
                | EngineCommand::Audit { .. }
        ) | Command::Session {
            command: SessionCommand::Open { .. }
                | SessionCommand::OpenAt { .. }
                | SessionCommand::Earlier { .. }
                | SessionCommand::Later { .. }
                | SessionCommand::Leave
                | SessionCommand::Context
                | SessionCommand::Rules
                | SessionCommand::Sources
                | SessionCommand::Extensions
                | SessionCommand::FilesChanged
                | SessionCommand::Read
                | SessionCommand::Stop,
            ..
        }
    );
    asks || is_message(command)
}
