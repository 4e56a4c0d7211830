//! Link between the engine and one client: requests go down, events and replies come up.
//!
//! A link of a client in the same process ends at the hub, without a task or a copy between; one over a socket ends at the
//! channels of whoever carries it ([`Link::of`]). To whoever has the link both are the same.

use super::hub::{ClientEnd, HubReader};
use crate::domain::ids::MessageId;
use crate::protocol::{ClientRequest, Command, CommandError, Scopes, Stamped, ToClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Client that connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// Name, for other clients and the audit log: `screen`, `phone`, `anna@box`.
    pub name: String,
    /// Commands that it may send.
    pub scopes: Scopes,
    /// A person is there who can be asked. Turns that others begin ask nobody.
    pub interactive: bool,
    /// Turns that it begins know of no session but their own and those that it spawned: who wrote may not be the operator.
    pub stranger: bool,
    /// Sessions whose events it gets.
    pub follows: Follows,
    /// Events are kept for it, so that it can come back and get those that it missed.
    pub resumes: bool,
    /// It reads on after a list: its first one is what the last list left behind, and what differs follows.
    pub reads_on: bool,
    /// Backlog at which it is cut off; `None` in the engine's own process.
    pub limits: Option<BacklogLimits>,
}

/// Sessions whose events a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The ones that it opened; of the others their properties.
    Opened,
    /// All sessions, with those that calls spawn.
    Everything,
}

/// Limits of what waits for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacklogLimits {
    /// Bytes.
    pub bytes: usize,
    /// Age of the oldest entry.
    pub age: Duration,
}

impl Default for BacklogLimits {
    fn default() -> Self {
        Self { bytes: 8 << 20, age: Duration::from_secs(60) }
    }
}

impl ClientInfo {
    /// Client in the engine's process, which may do everything.
    #[must_use]
    pub fn local(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            scopes: Scopes::all(),
            interactive: true,
            stranger: false,
            follows: Follows::Opened,
            resumes: false,
            reads_on: true,
            limits: None,
        }
    }

    /// Client in the engine's process with nobody to ask, which follows all that its turn sets off.
    #[must_use]
    pub fn headless(name: &str) -> Self {
        Self { interactive: false, follows: Follows::Everything, ..Self::local(name) }
    }

    /// Client over a line that may break, with these scopes.
    #[must_use]
    pub fn remote(name: &str, scopes: Scopes) -> Self {
        Self { scopes, resumes: true, limits: Some(BacklogLimits::default()), ..Self::local(name) }
    }
}

/// Client's end of a link. Dropping it detaches the client, and ends nothing.
#[derive(Debug)]
pub struct Link {
    /// Requests go down here.
    pub requests: Requests,
    /// Events and replies come up here.
    pub events: Incoming,
}

/// The engine has ended, or the line to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has stopped")]
pub struct LinkClosed;

impl Link {
    pub(super) fn local(client: Arc<ClientEnd>, to: mpsc::Sender<FromClient>, reader: HubReader) -> Self {
        let to = Down::Engine(client, to);
        Self { requests: Requests { to, next: Arc::default() }, events: Incoming(Up::Hub(reader)) }
    }

    /// Link over something else: whoever takes the requests carries them to an engine, and brings what comes back.
    #[must_use]
    pub fn of(requests: mpsc::Sender<ClientRequest>, events: mpsc::Receiver<ToClient>) -> Self {
        let requests = Requests { to: Down::Channel(requests), next: Arc::default() };
        Self { requests, events: Incoming(Up::Channel(events)) }
    }
}

/// Reason why a request got no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// The engine has ended, or the line to it.
    #[error("the engine has stopped")]
    Closed,
    /// The client was cut off.
    #[error("{0}")]
    CutOff(String),
}

impl Link {
    /// Has a command done. Returns the events that answer it, and its error if it was not done; `others` gets the events that
    /// come meanwhile.
    ///
    /// # Errors
    /// Fails if no reply comes any more.
    pub async fn ask(
        &mut self,
        command: Command,
        message: Option<MessageId>,
        mut others: impl FnMut(Arc<Stamped>),
    ) -> Result<(Vec<Arc<Stamped>>, Option<CommandError>), NoReply> {
        let id = self.requests.number();
        let request = ClientRequest { id, message, command };
        self.requests.forward(request).await.map_err(|LinkClosed| NoReply::Closed)?;
        let mut events = Vec::new();
        loop {
            match self.events.recv().await.ok_or(NoReply::Closed)? {
                ToClient::Event(stamped) if stamped.re == Some(id) => events.push(stamped),
                ToClient::Event(stamped) => others(stamped),
                ToClient::Reply(reply) if reply.id == id => return Ok((events, reply.error.map(|error| *error))),
                ToClient::Reply(_) => {}
                ToClient::CutOff { why } => return Err(NoReply::CutOff(why)),
            }
        }
    }
}

/// Request with the client that sent it.
#[derive(Debug)]
pub(super) struct FromClient {
    pub(super) client: Arc<ClientEnd>,
    pub(super) request: ClientRequest,
}

#[derive(Clone, Debug)]
enum Down {
    Engine(Arc<ClientEnd>, mpsc::Sender<FromClient>),
    Channel(mpsc::Sender<ClientRequest>),
}

/// Way of a client's requests to the engine. There is room for a few, so that no client can run away from the engine.
#[derive(Clone, Debug)]
pub struct Requests {
    to: Down,
    /// Number of the last command that was numbered here.
    next: Arc<AtomicU64>,
}

impl Requests {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends a command under the next number, which is returned, once there is room.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn send(&self, command: Command) -> Result<u64, LinkClosed> {
        let id = self.number();
        self.forward(ClientRequest::new(id, command)).await.map(|()| id)
    }

    /// Sends a request as it is numbered already, once there is room.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub async fn forward(&self, request: ClientRequest) -> Result<(), LinkClosed> {
        match &self.to {
            Down::Engine(client, to) => {
                to.send(FromClient { client: client.clone(), request }).await.map_err(|_| LinkClosed)
            }
            Down::Channel(to) => to.send(request).await.map_err(|_| LinkClosed),
        }
    }

    /// Sends a command under the next number, if there is room now.
    ///
    /// # Errors
    /// The command, when there is no room or the engine has stopped.
    #[allow(clippy::result_large_err, reason = "what comes back is the command itself")]
    pub fn try_send(&self, command: Command) -> Result<u64, TrySendError<Command>> {
        let id = self.number();
        let request = ClientRequest::new(id, command);
        let sent = match &self.to {
            Down::Engine(client, to) => {
                to.try_send(FromClient { client: client.clone(), request }).map_err(|error| match error {
                    TrySendError::Full(back) => TrySendError::Full(back.request.command),
                    TrySendError::Closed(back) => TrySendError::Closed(back.request.command),
                })
            }
            Down::Channel(to) => to.try_send(request).map_err(|error| match error {
                TrySendError::Full(back) => TrySendError::Full(back.command),
                TrySendError::Closed(back) => TrySendError::Closed(back.command),
            }),
        };
        sent.map(|()| id)
    }

    /// Sends a request as it is numbered already, if there is room now.
    ///
    /// # Errors
    /// The request, when there is no room or the engine has stopped.
    #[allow(clippy::result_large_err, reason = "what comes back is the request itself")]
    pub fn try_forward(&self, request: ClientRequest) -> Result<(), TrySendError<ClientRequest>> {
        match &self.to {
            Down::Engine(client, to) => {
                to.try_send(FromClient { client: Arc::clone(client), request }).map_err(|error| match error {
                    TrySendError::Full(back) => TrySendError::Full(back.request),
                    TrySendError::Closed(back) => TrySendError::Closed(back.request),
                })
            }
            Down::Channel(to) => to.try_send(request),
        }
    }

    /// Waits until there is room for a request, or the engine has stopped.
    pub async fn ready(&self) {
        match &self.to {
            Down::Engine(_, to) => drop(to.reserve().await),
            Down::Channel(to) => drop(to.reserve().await),
        }
    }
}

#[derive(Debug)]
enum Up {
    Hub(HubReader),
    Channel(mpsc::Receiver<ToClient>),
}

/// Events and replies for one client, in order.
#[derive(Debug)]
pub struct Incoming(Up);

impl Incoming {
    /// The next one; `None` once the engine has stopped. Nothing is lost when the future is dropped.
    pub async fn recv(&mut self) -> Option<ToClient> {
        match &mut self.0 {
            Up::Hub(reader) => reader.recv().await,
            Up::Channel(events) => events.recv().await,
        }
    }

    /// The next one, if it is there.
    pub fn try_recv(&mut self) -> Option<ToClient> {
        match &mut self.0 {
            Up::Hub(reader) => reader.try_recv(),
            Up::Channel(events) => events.try_recv().ok(),
        }
    }

    /// The next event, without the replies in between.
    pub async fn event(&mut self) -> Option<Stamped> {
        loop {
            if let ToClient::Event(stamped) = self.recv().await? {
                return Some(Arc::unwrap_or_clone(stamped));
            }
        }
    }

    /// The next event that is there, without the replies in between.
    pub fn try_event(&mut self) -> Option<Stamped> {
        loop {
            if let ToClient::Event(stamped) = self.try_recv()? {
                return Some(Arc::unwrap_or_clone(stamped));
            }
        }
    }
}
