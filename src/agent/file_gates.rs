//! Gates to the files of sessions: whoever changes files beside a session actor and an actor that asks for the lock do not
//! meet. To the actor it would seem that somebody else had the session open.

use crate::domain::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// A gate for each session. Nobody waits at the gate of another session, whose disk may not answer.
#[derive(Debug, Default)]
pub(super) struct FileGates(std::sync::Mutex<HashMap<SessionId, Weak<Mutex<()>>>>);

impl FileGates {
    /// Waits until nobody else is at the files of this session. Others wait until the guard is dropped.
    pub(super) async fn enter(&self, session: &SessionId) -> OwnedMutexGuard<()> {
        self.gate(session).lock_owned().await
    }

    fn gate(&self, session: &SessionId) -> Arc<Mutex<()>> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|_, gate| gate.strong_count() > 0);
        if let Some(gate) = gates.get(session).and_then(Weak::upgrade) {
            return gate;
        }
        let gate = Arc::default();
        gates.insert(session.clone(), Arc::downgrade(&gate));
        gate
    }
}
