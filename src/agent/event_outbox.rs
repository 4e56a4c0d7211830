//! Events on their way to a client: numbered, in order, with text of one row merged while more is coming.

use crate::domain::{MessageId, Notice, SessionId};
use crate::protocol::{EngineEvent, Event, SessionEvent, Stamped, VERSION};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// Way out for the events of one session.
#[derive(Debug)]
pub(super) struct Outbox {
    to: mpsc::Sender<Stamped>,
    session: SessionId,
    seq: u64,
    held: Option<(MessageId, String)>,
}

impl Outbox {
    pub(super) fn new(to: mpsc::Sender<Stamped>, session: SessionId) -> Self {
        Self { to, session, seq: 0, held: None }
    }

    /// Sends an event; text is held until [`Outbox::flush`] or another event.
    pub(super) async fn send(&mut self, event: SessionEvent) {
        if let SessionEvent::Delta { id, add } = event {
            match &mut self.held {
                Some((held, text)) if *held == id => text.push_str(&add),
                _ => {
                    self.flush().await;
                    self.held = Some((id, add));
                }
            }
            return;
        }
        self.flush().await;
        self.now(event).await;
    }

    /// Sends held text.
    pub(super) async fn flush(&mut self) {
        if let Some((id, add)) = self.held.take() {
            self.now(SessionEvent::Delta { id, add }).await;
        }
    }

    /// From now on the session has another id.
    pub(super) async fn reidentify(&mut self, to: &SessionId) {
        self.send(SessionEvent::Reidentified { to: to.clone() }).await;
        self.session = to.clone();
    }

    async fn now(&mut self, event: SessionEvent) {
        self.seq += 1;
        let event = Event::Session { id: self.session.clone(), event };
        // A client that is gone takes nothing; the engine goes on without it.
        let _ = self.to.send(Stamped { v: VERSION, seq: self.seq, event }).await;
    }
}

/// Way out for the events of the engine. Shared by all who send them, so that the numbers stay in order.
#[derive(Clone)]
pub(super) struct Out(Arc<Mutex<Numbered>>);

struct Numbered {
    to: mpsc::Sender<Stamped>,
    seq: u64,
}

impl Out {
    pub(super) fn new(to: mpsc::Sender<Stamped>) -> Self {
        Self(Arc::new(Mutex::new(Numbered { to, seq: 0 })))
    }

    pub(super) async fn send(&self, event: EngineEvent) {
        let mut out = self.0.lock().await;
        out.seq += 1;
        // A client that is gone takes nothing; the engine goes on without it.
        let _ = out.to.send(Stamped { v: VERSION, seq: out.seq, event: Event::Engine(event) }).await;
    }

    pub(super) async fn tell(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.send(EngineEvent::Notice(notice)).await;
        }
    }
}
