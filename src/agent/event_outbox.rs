//! Events on their way to clients: numbered, in order, to whom they concern, with text of one row merged while more is
//! coming.

use super::asker::Asker;
use super::hub::{ClientEnd, ClientId, Hub};
use super::ring::Ring;
use crate::domain::{MessageId, Notice, SessionId};
use crate::protocol::{EngineEvent, ErrorCode, Event, SessionEvent, Stamped, ToClient};
use std::sync::Arc;

/// Command that is carried out, as far as it says who gets what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedFor {
    /// A snapshot.
    Snapshot,
    /// The right to write.
    Claim,
    /// An answer to a request.
    Answer,
    /// Something else.
    Other,
}

/// Way out for the events of one session.
#[derive(Debug)]
pub(super) struct SessionOutbox {
    hub: Arc<Hub>,
    session: SessionId,
    seq: u64,
    held: Option<(MessageId, String)>,
    /// Clients that have the session open.
    open_in: Vec<Arc<ClientEnd>>,
    /// Whose command is carried out.
    asker: Option<(Asker, AskedFor)>,
    /// Last events, from when a client has it open that can come back.
    ring: Option<Ring>,
}

impl SessionOutbox {
    pub(super) fn new(hub: Arc<Hub>, session: SessionId) -> Self {
        // An actor before this one may have had clients.
        let open_in = hub.who_has(&session);
        Self { hub, session, seq: 0, held: None, open_in, asker: None, ring: None }
    }

    // ---- clients ----

    /// A client opens the session.
    pub(super) fn open_to(&mut self, client: &Arc<ClientEnd>) {
        // What it did not get is in the snapshot that it gets.
        self.flush();
        if client.info().resumes {
            self.ring.get_or_insert_default();
        }
        if self.open_in.iter().all(|known| known.id() != client.id()) {
            // One that is gone has nothing open.
            if client.open(self.session.clone()) {
                self.open_in.push(client.clone());
            }
        }
    }

    /// A client that lost its line comes back, and gets what it missed. False where that is not known any more.
    pub(super) fn resume(&mut self, client: &Arc<ClientEnd>, instance: &str, seq: u64) -> bool {
        self.flush();
        let same = instance == self.hub.instance();
        let ring = self.ring.as_ref().filter(|_| same);
        let Some(missed) = ring.and_then(|ring| ring.after(seq, self.seq)) else { return false };
        self.open_to(client);
        missed.into_iter().for_each(|stamped| client.push(ToClient::Event(stamped)));
        true
    }

    /// The session is in memory no longer: what others do to it from here on is in no event.
    pub(super) fn rest(&mut self) {
        self.flush();
        if let Some(ring) = &mut self.ring {
            ring.clear();
            // Whoever has all events so far lacks this one.
            self.seq += 1;
        }
    }

    /// A client has the session open no longer, or is gone. True if none is left.
    pub(super) fn close_to(&mut self, client: ClientId) -> bool {
        self.open_in.retain(|known| {
            if known.id() == client {
                known.close_session(&self.session);
            }
            known.id() != client
        });
        self.open_in.is_empty()
    }

    /// True if the session's requests were sent to this client.
    pub(super) fn is_open_to(&self, client: &ClientEnd) -> bool {
        client.follows_everything() || self.open_in.iter().any(|known| known.id() == client.id())
    }

    /// From now on a command of this client is carried out; `None`: nobody's.
    pub(super) fn work_for(&mut self, asker: Option<(Asker, AskedFor)>) {
        // Text before it belongs before its answers.
        self.flush();
        self.asker = asker;
    }

    /// Whose command is carried out.
    pub(super) fn asker(&self) -> Option<&Asker> {
        self.asker.as_ref().map(|(asker, _)| asker)
    }

    /// Name of the client whose answer is carried out.
    pub(super) fn answered_by(&self) -> Option<String> {
        let (asker, _) = self.asker.as_ref().filter(|(_, wants)| *wants == AskedFor::Answer)?;
        Some(asker.client().info().name.clone())
    }

    // ---- events ----

    /// Sends an event; text is held until [`SessionOutbox::flush`] or another event.
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
        if let Some((asker, wants)) = &self.asker
            && answers(&event, *wants)
        {
            return self.answer(&asker.clone(), event);
        }
        self.now(event);
    }

    /// Sends an event to the client that asked for it, though other commands were carried out since.
    pub(super) fn answer(&mut self, asker: &Asker, event: SessionEvent) {
        self.flush();
        match &event {
            SessionEvent::Notice(notice) => asker.hear(notice),
            SessionEvent::Refused { why, .. } => asker.fail_told(ErrorCode::Failed, why),
            _ => {}
        }
        asker.answer(self.seq, Event::Session { id: self.session.clone(), event });
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
        for client in &self.open_in {
            client.close_session(&self.session);
            let _ = client.open(to.clone());
        }
        self.session = to.clone();
    }

    fn now(&mut self, event: SessionEvent) {
        self.seq += 1;
        let everybody = concerns_everybody(&event);
        let stamped = Arc::new(Stamped::new(self.seq, Event::Session { id: self.session.clone(), event }));
        if let Some(ring) = &mut self.ring {
            ring.push(stamped.clone());
        }
        if everybody {
            return self.hub.to_all(&stamped);
        }
        let mut last = None;
        for client in self.open_in.iter().filter(|client| !client.follows_everything()) {
            if let Some(client) = last.replace(client) {
                client.push(ToClient::Event(stamped.clone()));
            }
        }
        self.hub.to_followers(&stamped);
        // Moved into the last queue, so that one client alone has it, and text is added in place.
        if let Some(client) = last {
            client.push(ToClient::Event(stamped));
        }
    }
}

/// True if an event answers the command that is carried out: only the client that asked gets it.
fn answers(event: &SessionEvent, wants: AskedFor) -> bool {
    match event {
        SessionEvent::Opened(_) => wants == AskedFor::Snapshot,
        SessionEvent::Held { .. } => wants == AskedFor::Claim,
        SessionEvent::Page { .. }
        | SessionEvent::LaterPage { .. }
        | SessionEvent::Accepted { .. }
        | SessionEvent::Refused { .. }
        | SessionEvent::Attached { .. }
        | SessionEvent::Enhanced { .. }
        | SessionEvent::UndoPlanned(_)
        | SessionEvent::FilesChanged(_)
        | SessionEvent::Context(_)
        | SessionEvent::Rules(_)
        | SessionEvent::Sources(_)
        | SessionEvent::Extensions(_)
        | SessionEvent::ModelWanted { .. }
        | SessionEvent::ConnectionWanted { .. }
        | SessionEvent::Notice(_) => true,
        SessionEvent::Changed(_)
        | SessionEvent::Reidentified { .. }
        | SessionEvent::Row(_)
        | SessionEvent::Delta { .. }
        | SessionEvent::Dropped { .. }
        | SessionEvent::Queue { .. }
        | SessionEvent::Redelivering { .. }
        | SessionEvent::Asked(_)
        | SessionEvent::Settled { .. }
        | SessionEvent::Todo(_)
        | SessionEvent::Jobs(_)
        | SessionEvent::Plan(_)
        | SessionEvent::TurnStarted { .. }
        | SessionEvent::Compacting { .. }
        | SessionEvent::Retrying { .. }
        | SessionEvent::Waiting(_)
        | SessionEvent::Starting { .. }
        | SessionEvent::TurnEnded { .. }
        | SessionEvent::Unsaved(_) => false,
    }
}

/// True if an event goes to clients that have the session not open as well: it is about the list, or about what is lost.
fn concerns_everybody(event: &SessionEvent) -> bool {
    match event {
        SessionEvent::Changed(_)
        | SessionEvent::Reidentified { .. }
        | SessionEvent::Notice(_)
        | SessionEvent::Unsaved(_) => true,
        SessionEvent::Opened(_)
        | SessionEvent::Held { .. }
        | SessionEvent::Page { .. }
        | SessionEvent::LaterPage { .. }
        | SessionEvent::Accepted { .. }
        | SessionEvent::Refused { .. }
        | SessionEvent::Attached { .. }
        | SessionEvent::Enhanced { .. }
        | SessionEvent::UndoPlanned(_)
        | SessionEvent::FilesChanged(_)
        | SessionEvent::Context(_)
        | SessionEvent::Rules(_)
        | SessionEvent::Sources(_)
        | SessionEvent::Extensions(_)
        | SessionEvent::ModelWanted { .. }
        | SessionEvent::ConnectionWanted { .. }
        | SessionEvent::Row(_)
        | SessionEvent::Delta { .. }
        | SessionEvent::Dropped { .. }
        | SessionEvent::Queue { .. }
        | SessionEvent::Redelivering { .. }
        | SessionEvent::Asked(_)
        | SessionEvent::Settled { .. }
        | SessionEvent::Todo(_)
        | SessionEvent::Jobs(_)
        | SessionEvent::Plan(_)
        | SessionEvent::TurnStarted { .. }
        | SessionEvent::Compacting { .. }
        | SessionEvent::Retrying { .. }
        | SessionEvent::Waiting(_)
        | SessionEvent::Starting { .. }
        | SessionEvent::TurnEnded { .. } => false,
    }
}

/// Way out for the events of the engine, for all or for the client that asked.
#[derive(Clone)]
pub(super) struct EngineOutbox {
    hub: Arc<Hub>,
    asker: Option<Asker>,
}

impl EngineOutbox {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        Self { hub, asker: None }
    }

    /// The same for a request.
    pub(super) fn of(&self, asker: &Option<Asker>) -> Self {
        Self { hub: self.hub.clone(), asker: asker.clone() }
    }

    /// The request that this is for.
    pub(super) fn asker(&self) -> &Option<Asker> {
        &self.asker
    }

    pub(super) fn send(&self, event: EngineEvent) {
        match &self.asker {
            Some(asker) if answers_request(&event) => {
                if let EngineEvent::Notice(notice) = &event {
                    asker.hear(notice);
                }
                asker.answer(self.hub.position(), Event::Engine(event));
            }
            _ => self.hub.broadcast(event),
        }
    }

    pub(super) fn tell(&self, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.send(EngineEvent::Notice(notice));
        }
    }
}

/// True if an event answers a request: only the client that asked gets it.
fn answers_request(event: &EngineEvent) -> bool {
    match event {
        EngineEvent::Listed { .. }
        | EngineEvent::Branched { .. }
        | EngineEvent::Trash(_)
        | EngineEvent::Found { .. }
        | EngineEvent::Health(_)
        | EngineEvent::Exported { .. }
        | EngineEvent::Imported { .. }
        | EngineEvent::Audit(_)
        | EngineEvent::Usage(_)
        | EngineEvent::Models { .. }
        | EngineEvent::ServerAdded { .. }
        | EngineEvent::ServerNotAdded { .. }
        | EngineEvent::Figures { .. }
        | EngineEvent::Levels { .. }
        | EngineEvent::Notice(_) => true,
        EngineEvent::Connections(_)
        | EngineEvent::Deleted { .. }
        | EngineEvent::Properties(_)
        | EngineEvent::Configured(_)
        | EngineEvent::Ended
        | EngineEvent::SessionChanged(_) => false,
    }
}
