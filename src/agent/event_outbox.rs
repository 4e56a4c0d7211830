//! Events on their way to clients: numbered, in order, with text of one row merged while more is coming.

use super::hub::Hub;
use crate::domain::{MessageId, Notice, SessionId};
use crate::protocol::{EngineEvent, Event, SessionEvent, Stamped};
use std::sync::Arc;

/// Way out for the events of one session.
#[derive(Debug)]
pub(super) struct Outbox {
    hub: Arc<Hub>,
    session: SessionId,
    seq: u64,
    held: Option<(MessageId, String)>,
}

impl Outbox {
    pub(super) fn new(hub: Arc<Hub>, session: SessionId) -> Self {
        Self { hub, session, seq: 0, held: None }
    }

    /// Sends an event; text is held until [`Outbox::flush`] or another event.
    pub(super) fn send(&mut self, event: SessionEvent) {
        if let SessionEvent::Delta { id, add } = event {
            match &mut self.held {
                Some((held, text)) if *held == id => text.push_str(&add),
                _ => {
                    self.flush();
                    self.held = Some((id, add));
                }
            }
            return;
        }
        self.flush();
        self.now(event);
    }

    /// Sends held text.
    pub(super) fn flush(&mut self) {
        if let Some((id, add)) = self.held.take() {
            self.now(SessionEvent::Delta { id, add });
        }
    }

    /// From now on the session has another id.
    pub(super) fn reidentify(&mut self, to: &SessionId) {
        self.send(SessionEvent::Reidentified { to: to.clone() });
        self.session = to.clone();
    }

    fn now(&mut self, event: SessionEvent) {
        self.seq += 1;
        let event = Event::Session { id: self.session.clone(), event };
        self.hub.to_all(&Arc::new(Stamped::new(self.seq, event)));
    }
}

/// Way out for the events of the engine.
#[derive(Clone)]
pub(super) struct Out {
    hub: Arc<Hub>,
}

impl Out {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    pub(super) fn send(&self, event: EngineEvent) {
        self.hub.broadcast(event);
    }

    pub(super) fn tell(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.send(EngineEvent::Notice(notice));
        }
    }
}
