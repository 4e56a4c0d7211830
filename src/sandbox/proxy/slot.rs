//! Share of the connections that may be open at a time.

use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};

/// Share of one connection, given back when it is dropped.
pub(super) struct ConnectionSlot {
    _own: OwnedSemaphorePermit,
    _of_all: SemaphorePermit<'static>,
}

impl ConnectionSlot {
    /// Share of the command's own connections, and of those of all commands.
    pub(super) fn new(own: OwnedSemaphorePermit, of_all: SemaphorePermit<'static>) -> Self {
        Self { _own: own, _of_all: of_all }
    }
}
