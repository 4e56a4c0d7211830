//! Events on their way to a client: numbered, in order, with text of one row merged while more is coming.

use crate::domain::{MessageId, Notice, SessionId};
use crate::protocol::{Event, Stamped, VERSION};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// The way out for one session's events.
#[derive(Debug)]
pub(super) struct Outbox {
    to: mpsc::Sender<Stamped>,
    session: Option<SessionId>,
    seq: u64,
    held: Option<(MessageId, String)>,
}

impl Outbox {
    pub(super) fn new(to: mpsc::Sender<Stamped>, session: Option<SessionId>) -> Self {
        Self { to, session, seq: 0, held: None }
    }

    /// Sends an event; text is held until [`Outbox::flush`] or another event.
    pub(super) async fn send(&mut self, event: Event) {
        if let Event::Delta { id, add } = event {
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
            self.now(Event::Delta { id, add }).await;
        }
    }

    /// From now on the session has another id.
    pub(super) async fn reidentify(&mut self, to: &SessionId) {
        self.send(Event::Reidentified { to: to.clone() }).await;
        self.session = Some(to.clone());
    }

    async fn now(&mut self, event: Event) {
        self.seq += 1;
        // A client that is gone takes nothing; the engine goes on without it.
        let _ = self.to.send(Stamped { v: VERSION, session: self.session.clone(), seq: self.seq, event }).await;
    }
}

/// The way out for what is no session's own event. Shared with the tasks that answer later, so that the numbers stay in
/// order.
#[derive(Clone)]
pub(super) struct Out(Arc<Mutex<Outbox>>);

impl Out {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self(Arc::new(Mutex::new(outbox)))
    }

    pub(super) async fn send(&self, event: Event) {
        self.0.lock().await.send(event).await;
    }

    pub(super) async fn tell(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.send(Event::Notice(notice)).await;
        }
    }
}
