//! Requests that a client was shown, for its answers to quote.

use super::event::{Event, SessionEvent, Stamped};
use super::session::SessionCommand;
use crate::domain::ids::{RequestId, SessionId};
use std::collections::HashMap;

/// Hashes of the requests that were shown last, by session. A client that passes all events and commands through it answers
/// what it was shown, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct ShownRequests(HashMap<SessionId, HashMap<RequestId, String>>);

impl ShownRequests {
    /// Takes in an event for the client.
    pub fn hear(&mut self, stamped: &Stamped) {
        let Event::Session { id, event } = &stamped.event else { return };
        match event {
            SessionEvent::Asked(request) => {
                self.0.entry(id.clone()).or_default().insert(request.id.clone(), request.hash());
            }
            SessionEvent::Settled { request, .. } => {
                if let Some(shown) = self.0.get_mut(id) {
                    shown.remove(request);
                }
            }
            SessionEvent::Opened(opened) if opened.requests.is_empty() => drop(self.0.remove(id)),
            SessionEvent::Opened(opened) => {
                let shown = opened.requests.iter().map(|request| (request.id.clone(), request.hash())).collect();
                self.0.insert(id.clone(), shown);
            }
            SessionEvent::Reidentified { to } => {
                if let Some(shown) = self.0.remove(id) {
                    self.0.insert(to.clone(), shown);
                }
            }
            _ => {}
        }
    }

    /// Makes an answer quote what was shown.
    pub fn quote(&self, session: &SessionId, command: &mut SessionCommand) {
        if let SessionCommand::Answer { request, shown, .. } = command
            && shown.is_none()
        {
            *shown = self.0.get(session).and_then(|known| known.get(request)).cloned();
        }
    }
}
