//! Line of `lisle run` to a gateway: whether it holds, and the spawned sessions that are followed over it.

use crate::domain::SessionId;
use crate::gateway::remote::LineState;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;

/// Time for a gateway that is away to be started again.
const RETURNS: Duration = Duration::from_secs(60);

/// Line of a run to a gateway, or the engine in its own process.
pub(super) struct RunLine {
    state: Option<watch::Receiver<LineState>>,
    spawned: BTreeSet<SessionId>,
}

impl RunLine {
    /// `state`: of the line; `None` for an engine in this process.
    pub fn new(state: Option<watch::Receiver<LineState>>) -> Self {
        Self { state, spawned: BTreeSet::new() }
    }

    pub fn is_gateway(&self) -> bool {
        self.state.is_some()
    }

    /// Waits until the gateway is away for too long, and says why. For ever with an engine in this process.
    pub async fn lost(&mut self) -> String {
        let Some(state) = &mut self.state else { return std::future::pending().await };
        loop {
            let away = |state: &LineState| *state != LineState::Connected;
            let Ok(now) = state.wait_for(away).await.map(|state| state.clone()) else {
                return std::future::pending().await;
            };
            let (LineState::Reconnecting { why, .. } | LineState::Down { why, .. }) = now else { continue };
            if tokio::time::timeout(RETURNS, state.wait_for(|state| *state == LineState::Connected)).await.is_err() {
                return why;
            }
        }
    }

    /// True for a spawned session that is followed.
    pub fn has(&self, session: &SessionId) -> bool {
        self.spawned.contains(session)
    }

    /// A session was spawned. True if it was not known.
    pub fn follow(&mut self, session: &SessionId) -> bool {
        self.spawned.insert(session.clone())
    }
}
