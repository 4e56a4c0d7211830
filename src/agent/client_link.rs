//! The pair of channels between the engine and one client.

use crate::protocol::{Command, Stamped};
use tokio::sync::mpsc;

/// Client end of the link.
#[derive(Debug)]
pub struct Link {
    /// Commands go down here.
    pub commands: mpsc::Sender<Command>,
    /// Events come up here.
    pub events: mpsc::Receiver<Stamped>,
}

/// Engine end of the link.
#[derive(Debug)]
pub(super) struct EngineEnd {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) events: mpsc::Sender<Stamped>,
}

/// A new pair. Both channels are bounded, so that neither side can run away from the other.
pub(super) fn pair() -> (Link, EngineEnd) {
    let (command_in, command_out) = mpsc::channel(256);
    let (event_in, event_out) = mpsc::channel(1024);
    (Link { commands: command_in, events: event_out }, EngineEnd { commands: command_out, events: event_in })
}
