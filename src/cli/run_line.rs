//! Line of `lisle run` to a gateway: whether it holds, what is awaited of others there, and the spawned sessions that are
//! followed over it.

use super::headless::{Ended, Face};
use super::output::complain;
use crate::agent::Link;
use crate::domain::ids::RequestId;
use crate::domain::request::{Ask, Request};
use crate::domain::sanitise::reveal_line;
use crate::domain::session::Activity;
use crate::domain::{MessageId, SessionId};
use crate::gateway::remote::LineState;
use crate::protocol::{Command, Event, Opened, SessionCommand, SessionEvent};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;

/// Time for a gateway of this machine that is away to be started again, as `lisle gateway restart` does.
const RETURNS: Duration = Duration::from_secs(5);

/// Rows of a spawned session that are read when it appears.
const SPAWNED_ROWS: usize = 50;

/// Line of a run to a gateway, or the engine in its own process.
pub(super) struct RunLine {
    state: Option<watch::Receiver<LineState>>,
    spawned: BTreeSet<SessionId>,
    /// Number of the request that makes the session: others may be made meanwhile.
    pub create: Option<u64>,
    /// Requests that somebody is to answer.
    pub asked: Vec<RequestId>,
    /// A gateway keeps rows in memory that it could not save.
    pub kept_in_memory: bool,
}

impl RunLine {
    /// `state`: of the line; `None` for an engine in this process.
    pub fn new(state: Option<watch::Receiver<LineState>>) -> Self {
        Self { state, spawned: BTreeSet::new(), create: None, asked: Vec::new(), kept_in_memory: false }
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
            let why = match now {
                LineState::Reconnecting { why, .. } => why,
                LineState::Down { why, .. } => return why,
                LineState::Connected => continue,
            };
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

impl Face {
    /// A gateway sends what spawned sessions do only to those that opened them.
    pub(super) async fn follow_spawned(&mut self, link: &Link, event: &Event) {
        let Event::Session { id, event: SessionEvent::Changed(meta) } = event else { return };
        let parent = meta.parent.as_ref().map(|parent| &parent.session);
        let is_of_family = parent.is_some_and(|parent| self.session.as_ref() == Some(parent) || self.line.has(parent));
        if is_of_family && self.line.follow(id) {
            let open = SessionCommand::Open { rows: SPAWNED_ROWS };
            let _ = link.requests.send(Command::Session { id: id.clone(), command: open }).await;
        }
    }

    /// The session was read anew, because its gateway was away: its turn may be over.
    pub(super) fn read_anew(&mut self, opened: &Opened) -> Option<Ended> {
        self.line.asked = opened.requests.iter().map(|request| request.id.clone()).collect();
        let is_over = opened.meta.activity == Activity::Idle;
        is_over.then(|| Ended::Gone("the gateway ended, and with it the turn".to_owned()))
    }

    /// More of the answer came. Where its row never ends, as with a gateway that went away, this is all there is.
    pub(super) fn grows(&mut self, id: &MessageId, add: &str) {
        if let Some((_, text)) = self.answer.as_mut().filter(|(answer, _)| answer == id) {
            text.push_str(add);
        }
    }

    /// Somebody at another client is to answer.
    pub(super) fn asks(&mut self, request: &Request) {
        self.line.asked.push(request.id.clone());
        let session = self.session.as_ref().map(ToString::to_string).unwrap_or_default();
        let what = match &request.ask {
            Ask::Approval(approval) => format!("approval of {}", reveal_line(&approval.subject)),
            Ask::Plan(_) => "approval of a plan".to_owned(),
            Ask::Question(_) => "an answer to a question".to_owned(),
            Ask::Trust(_) => "trust in rules of this folder".to_owned(),
            Ask::Key(_) => "a key".to_owned(),
        };
        complain(&format!("lisle: waiting for {what}. Answer with: lisle --session {session}"));
    }
}
