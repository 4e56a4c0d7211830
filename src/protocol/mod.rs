//! The protocol between the engine and its clients: [`Command`] goes down, [`Event`] comes up.
//!
//! Both are serialisable, so that a client in another process or on another machine is the same client. A client never
//! reads the session files; what it needs comes in events. Events of a session carry its id and a number that rises
//! by one, so that a late or reconnected client knows what it missed and asks for a snapshot with [`Command::Open`].

mod engine;
mod event;
mod session;

pub use engine::{Command, NewSession};
pub use event::{Configured, ConnectionInfo, Enhanced, Event, InForce, Opened, Stamped, TurnEnd};
pub use session::{Act, QueueEdit, Queued};

/// Version of the protocol. It rises when a client of the old version could misread the new one.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
