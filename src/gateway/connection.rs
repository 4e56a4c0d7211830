//! One connection to the gateway: the handshake, then requests in and replies and events out.

use super::access::{EntryRefusal, Grant};
use super::browsers::LINK_LIVES;
use super::client_state::ClientState;
use super::frame::{self, ErrorCode, FrameError, LONGEST, LinkFrame, ReadError};
use super::handshake::{self, CONNECT, Connect, Hello};
use super::methods::{self, Closing, CommandParams, DetachParams, LinkMade, PingParams, StopParams};
use super::server::{Gateway, Seated, StopTime};
use super::transport::{FrameSink, FrameSource};
use crate::channels::{InboundAnswer, InboundError, InboundProof};
use crate::domain::request::UserAnswer;
use crate::protocol::{ClientRequest, Command, EngineCommand, Scope, Scopes, SessionCommand};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The handshake comes within this time.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Replies that wait to be written: a client that reads none is read no more.
const REPLIES: usize = 64;
/// A client that sends nothing for so long is gone: it would have asked for a sign of life.
const SILENT: Duration = Duration::from_secs(60);
/// Bytes that are written at once, at most.
const BATCH: usize = 64 << 10;

/// Time between looks if a token still counts.
const TOKEN_LOOK: Duration = Duration::from_secs(1);
/// Characters of a name or an id that a client over the network gives itself.
const LONGEST_NAME: usize = 100;

/// Way in of a connection.
pub(super) enum Door {
    /// The socket: the secret is the owner's.
    Socket,
    /// The network: a token comes with the connection, or as the secret of its handshake.
    Network {
        /// Address of the client.
        address: IpAddr,
        /// Rights by the token that came already.
        grant: Option<Grant>,
    },
}

/// Rights of a connection.
#[derive(Clone)]
struct Rights {
    scopes: Scopes,
    /// Token that let it in, over the network.
    grant: Option<Grant>,
}

/// How a connection ended.
enum ConnectionEnd {
    /// The line was lost: the client may come back.
    Lost,
    /// The client left.
    Left,
    /// Somebody cut it off, or a newer connection took its place.
    Cut,
    /// Its token was revoked.
    Revoked,
}

/// Serves one connection to its end.
pub(super) async fn serve<R: FrameSource, W: FrameSink>(
    gateway: &Arc<Gateway>,
    door: Door,
    mut reader: R,
    mut write: W,
) {
    let first = match tokio::time::timeout(HANDSHAKE, reader.frame()).await {
        Ok(first) => greet(gateway, &door, first).await,
        Err(_) => Err((None, invalid("Nothing came within 10 seconds: the first request is \"connect\"."))),
    };
    let Greeted { id, seated, hello, rights } = match first {
        Ok(greeted) => greeted,
        Err((id, error)) => {
            let _ = write.send(&frame::reply(id, Err::<&(), _>(&error))).await;
            return write.close().await;
        }
    };
    reader.allow(LONGEST);
    let Seated { client, .. } = seated;
    let (number, end) = client.connected();
    if write.send(&frame::reply(Some(id), Ok(&hello))).await.is_err() {
        client.disconnected(number);
        return;
    }
    let (replies, waiting) = mpsc::channel(REPLIES);
    let writer =
        tokio::spawn(write_all((client.clone(), number), write, waiting, end.clone(), gateway.stop.subscribe()));
    let mut connection = ServedConnection {
        gateway,
        client: client.clone(),
        workspace: hello.workspace.clone(),
        rights: rights.clone(),
        replies,
    };
    let ended = tokio::select! {
        ended = connection.read(&mut reader) => ended,
        () = end.cancelled() => ConnectionEnd::Cut,
        () = revoked(gateway, rights.grant.as_ref()) => ConnectionEnd::Revoked,
    };
    drop(connection);
    if matches!(ended, ConnectionEnd::Revoked) {
        gateway.forget(&client, Some("The token of this client was revoked."));
    }
    end.cancel();
    let last = client.disconnected(number);
    match ended {
        ConnectionEnd::Left => gateway.forget(&client, None),
        ConnectionEnd::Lost | ConnectionEnd::Cut if last && client.workspaces().is_empty() => {
            gateway.forget(&client, None)
        }
        ConnectionEnd::Lost | ConnectionEnd::Cut | ConnectionEnd::Revoked => {}
    }
    if let Err(error) = writer.await {
        tracing::error!(%error, "the writer of a connection ended badly");
    }
}

/// Completes once the token that let a client in counts no longer.
async fn revoked(gateway: &Gateway, grant: Option<&Grant>) {
    let Some(grant) = grant else { return std::future::pending().await };
    let mut look = tokio::time::interval(TOKEN_LOOK);
    while gateway.access.is_valid(grant) {
        look.tick().await;
    }
}

fn forbidden(message: impl Into<String>) -> FrameError {
    FrameError::new(ErrorCode::Forbidden, message)
}

fn invalid(message: impl Into<String>) -> FrameError {
    FrameError::new(ErrorCode::InvalidRequest, message)
}

fn params<T: DeserializeOwned>(params: &RawValue) -> Result<T, FrameError> {
    serde_json::from_str(params.get()).map_err(|error| invalid(format!("Invalid parameters: {error}.")))
}

/// A connection whose handshake was accepted.
struct Greeted {
    id: u64,
    seated: Seated,
    hello: Hello,
    rights: Rights,
}

/// Decides if a client is let in, and as whom. The names of clients over the network say by which token they came, so that no
/// token can go on with the connection of another.
fn let_in(gateway: &Gateway, door: &Door, connect: Connect) -> Result<(Connect, Rights), FrameError> {
    let (address, grant) = match door {
        Door::Socket if handshake::same_secret(&connect.secret, &gateway.secret) => {
            return Ok((connect, Rights { scopes: Scopes::all(), grant: None }));
        }
        Door::Socket => {
            let text = "Wrong secret: the gateway was restarted, or runs for another home.";
            return Err(FrameError::new(ErrorCode::Unauthorized, text));
        }
        Door::Network { address, grant } => (*address, grant.clone()),
    };
    let grant = match grant {
        Some(grant) => grant,
        None => gateway.access.admit(address, &connect.secret, Instant::now()).map_err(refused)?,
    };
    let mut connect = connect;
    let short = |text: &str| text.chars().take(LONGEST_NAME).collect::<String>();
    connect.client.id = format!("{}/{}", grant.name, short(&connect.client.id));
    connect.client.name = format!("{} ({})", short(&connect.client.name), grant.peer());
    connect.client.version = short(&connect.client.version);
    // A directory is the owner's to choose: the engine refuses it of others.
    connect.cwd = connect.cwd.filter(|_| grant.scopes.cover(Scope::Admin));
    Ok((connect, Rights { scopes: grant.scopes.clone(), grant: Some(grant) }))
}

/// Error for a client that was not let in.
pub(super) fn refused(refusal: EntryRefusal) -> FrameError {
    match refusal {
        EntryRefusal::Wrong => {
            let text = "The token is missing or wrong: \"lisle gateway token\" shows the owner's.";
            FrameError::new(ErrorCode::Unauthorized, text)
        }
        EntryRefusal::LockedOut(left) => {
            let text =
                format!("Too many wrong tokens came from this address: it is locked out for {} s.", left.as_secs());
            let wait = u64::try_from(left.as_millis()).ok();
            FrameError { retryable: true, retry_after_ms: wait, ..FrameError::new(ErrorCode::LockedOut, text) }
        }
    }
}

/// Attaches a client to a workspace. Over the network only the owner opens folders that are no workspaces yet.
async fn attach(
    gateway: &Gateway,
    client: &Arc<ClientState>,
    rights: &Rights,
    named: Option<&Path>,
) -> Result<PathBuf, FrameError> {
    let unavailable = |why| FrameError::new(ErrorCode::Unavailable, why);
    let named = match named.filter(|named| !client.is_attached(named)) {
        Some(named) if !rights.scopes.cover(Scope::Admin) => {
            let all = gateway.workspaces().await;
            let known = all.into_iter().find(|one| one.path == named || Path::new(&one.name) == named);
            let text = || format!("No workspace {}.", named.display());
            Some(known.ok_or_else(|| FrameError::new(ErrorCode::NotFound, text()))?.path)
        }
        _ => named.map(Path::to_owned),
    };
    gateway.attach(client, named.as_deref()).await.map_err(unavailable)
}

/// The handshake.
async fn greet(
    gateway: &Gateway,
    door: &Door,
    first: Result<Option<LinkFrame>, ReadError>,
) -> Result<Greeted, (Option<u64>, FrameError)> {
    let (id, given) = match first {
        Ok(Some(LinkFrame::Request { id, method, params })) if method == CONNECT => (id, params),
        Ok(Some(LinkFrame::Request { id, .. })) => {
            return Err((Some(id), invalid("The first request is \"connect\".")));
        }
        Ok(_) => return Err((None, invalid("The first frame is a request of \"connect\"."))),
        Err(ReadError::Malformed { id, why }) => return Err((id, invalid(why))),
        Err(error) => return Err((None, invalid(format!("Can't read the first frame: {error}.")))),
    };
    let refuse = |error| (Some(id), error);
    // The versions first: an older gateway may not understand the rest.
    let connect: Connect = params(&given).map_err(refuse)?;
    let (connect, rights) = let_in(gateway, door, connect).map_err(refuse)?;
    let protocol = handshake::version(&connect).map_err(refuse)?;
    let seated = gateway.seat(&connect, rights.scopes.clone());
    let workspace = match &connect.workspace {
        Some(named) => {
            let named = Some(named.as_path()).filter(|named| !named.as_os_str().is_empty());
            match attach(gateway, &seated.client, &rights, named).await {
                Ok(folder) => Some(folder),
                Err(error) => {
                    gateway.forget(&seated.client, None);
                    return Err(refuse(error));
                }
            }
        }
        None => None,
    };
    let hello = Hello {
        protocol,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instance: gateway.instance.clone(),
        pid: gateway.owner.pid,
        host: gateway.owner.host.clone(),
        workspace,
        resumed: seated.resumed,
        taken: seated.client.line().taken,
    };
    Ok(Greeted { id, seated, hello, rights })
}

/// Writes replies and events until the connection ends.
async fn write_all<W: FrameSink>(
    (client, number): (Arc<ClientState>, u64),
    mut write: W,
    mut replies: mpsc::Receiver<Vec<u8>>,
    end: CancellationToken,
    mut stop: tokio::sync::watch::Receiver<StopTime>,
) {
    let mut batch = Vec::new();
    loop {
        batch.clear();
        while batch.len() < BATCH
            && let Ok(reply) = replies.try_recv()
        {
            batch.extend_from_slice(&reply);
        }
        while batch.len() < BATCH
            && !end.is_cancelled()
            && let Some(event) = client.take(number)
        {
            batch.extend_from_slice(&event);
        }
        if !batch.is_empty() {
            tokio::select! {
                written = write.send(&batch) => if written.is_err() {
                    return end.cancel();
                },
                () = end.cancelled() => return,
            }
            continue;
        }
        tokio::select! {
            reply = replies.recv() => match reply {
                Some(reply) => if write.send(&reply).await.is_err() {
                    return end.cancel();
                },
                None => break,
            },
            () = client.filled.notified() => {}
            () = end.cancelled() => break,
        }
    }
    let ending = *stop.borrow_and_update() == StopTime::Now;
    let closing = match (ending, client.cut()) {
        (true, _) => Closing { why: "The gateway ended.".to_owned(), may_return: true },
        (false, Some(why)) => Closing { why, may_return: false },
        (false, None) => return write.close().await,
    };
    let last = frame::event(methods::CLOSING, &closing, None);
    let last = async {
        let _ = write.send(&last).await;
        write.close().await;
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), last).await;
}

/// A connection after its handshake.
struct ServedConnection<'g> {
    gateway: &'g Arc<Gateway>,
    client: Arc<ClientState>,
    workspace: Option<PathBuf>,
    rights: Rights,
    replies: mpsc::Sender<Vec<u8>>,
}

impl ServedConnection<'_> {
    /// Reads requests until the line is lost or the client leaves.
    async fn read<R: FrameSource>(&mut self, reader: &mut R) -> ConnectionEnd {
        loop {
            let reply = match tokio::time::timeout(SILENT, reader.frame()).await {
                Ok(Ok(Some(LinkFrame::Request { id, method, params }))) => {
                    if method == methods::LEAVE {
                        return ConnectionEnd::Left;
                    }
                    match self.request(id, &method, &params).await {
                        Some(reply) => reply,
                        None => continue,
                    }
                }
                // Clients are asked nothing, so they have nothing to reply and no events.
                Ok(Ok(Some(LinkFrame::Reply { .. } | LinkFrame::Event { .. }))) => continue,
                Ok(Err(ReadError::Malformed { id, why })) => frame::reply(id, Err::<&(), _>(&invalid(why))),
                Ok(Err(ReadError::TooLong(longest))) => {
                    let error = invalid(format!("A frame has at most {longest} bytes: the connection ends."));
                    let _ = self.replies.send(frame::reply(None, Err::<&(), _>(&error))).await;
                    return ConnectionEnd::Lost;
                }
                Ok(Ok(None) | Err(ReadError::Io(_))) | Err(_) => return ConnectionEnd::Lost,
            };
            if self.replies.send(reply).await.is_err() {
                return ConnectionEnd::Lost;
            }
        }
    }

    async fn request(&self, id: u64, method: &str, params: &RawValue) -> Option<Vec<u8>> {
        fn done<T: Serialize>(id: u64, result: Result<T, FrameError>) -> Vec<u8> {
            frame::reply(Some(id), result.as_ref())
        }
        let reply = match method {
            // Answered by the engine, in the order of its events.
            methods::COMMAND => match self.command(id, params).await {
                Ok(()) => return None,
                Err(error) => done::<()>(id, Err(error)),
            },
            methods::PING => done(id, self.ping(params)),
            methods::STATUS => done(id, Ok(self.gateway.status())),
            methods::CLIENTS => done(id, Ok(self.gateway.clients())),
            methods::DETACH => done(id, self.detach(params)),
            methods::STOP => done(id, self.stop(params)),
            methods::LINK => done(id, self.link()),
            methods::CHANNEL_SEND => done(id, self.channel_send(params).await),
            methods::CHANNEL_STATUS => done(id, Ok(self.gateway.channels.figures())),
            CONNECT => done::<()>(id, Err(invalid("This connection has a client already."))),
            other => {
                let text = format!("Unknown method {other:?}. Available: {}.", methods::ALL.join(", "));
                done::<()>(id, Err(FrameError::new(ErrorCode::UnknownMethod, text)))
            }
        };
        Some(reply)
    }

    async fn command(&self, id: u64, given: &RawValue) -> Result<(), FrameError> {
        // Sent again after a line was lost, though it had come.
        if id <= self.client.line().taken {
            return Ok(());
        }
        let CommandParams { workspace, message, command } = params(given)?;
        if command == Command::Engine(EngineCommand::Shutdown) {
            return Err(invalid("A client does not end the engine of others: \"gateway.stop\" ends the gateway."));
        }
        let named = workspace.or_else(|| self.workspace.clone());
        let Some(named) = named else { return Err(invalid("The command names no workspace.")) };
        if self.rights.grant.is_some()
            && let Command::Session { command: SessionCommand::Answer { answer: UserAnswer::Key(_), .. }, .. } =
                &command
        {
            return Err(forbidden("A key is typed on the machine itself or over ssh, and not over the network."));
        }
        let unavailable = |why| FrameError::new(ErrorCode::Unavailable, why);
        let folder = attach(self.gateway, &self.client, &self.rights, Some(&named)).await?;
        match self.client.command(&folder, ClientRequest { id, message, command }).await {
            true => Ok(()),
            false => Err(unavailable("The workspace was closed.".to_owned())),
        }
    }

    fn ping(&self, given: &RawValue) -> Result<(), FrameError> {
        let PingParams { seen } = params::<Option<PingParams>>(given)?.unwrap_or_default();
        self.client.queue().seen(seen);
        Ok(())
    }

    fn needs(&self, scope: Scope) -> Result<(), FrameError> {
        let text = || format!("This needs a token with the scope {}.", scope.name());
        if self.rights.scopes.cover(scope) { Ok(()) } else { Err(forbidden(text())) }
    }

    fn link(&self) -> Result<LinkMade, FrameError> {
        self.needs(Scope::Admin)?;
        let unavailable = |why: String| FrameError::new(ErrorCode::Unavailable, why);
        let Some(http) = &self.gateway.http else {
            let text = "The gateway does not listen on the network: \"lisle serve --listen 127.0.0.1:7788\" does.";
            return Err(unavailable(text.to_owned()));
        };
        let made = self.gateway.access.new_link(self.rights.grant.as_ref(), Instant::now());
        let link = made.map_err(|error| unavailable(format!("No link was made: {error}.")))?;
        Ok(LinkMade { url: format!("{}/link/{link}", http.url), seconds: LINK_LIVES.as_secs() })
    }

    async fn channel_send(&self, given: &RawValue) -> Result<InboundAnswer, FrameError> {
        self.needs(Scope::Write)?;
        self.gateway.channels.take(given.get().as_bytes(), InboundProof::Known).await.map_err(|error| match error {
            InboundError::Invalid(why) => invalid(format!("{why}.")),
            InboundError::UnknownChannel(name) => {
                let text = format!("No channel {name:?}: add [channels.NAME] to config.toml and restart the gateway.");
                FrameError::new(ErrorCode::NotFound, text)
            }
            InboundError::Forged(why) => FrameError::new(ErrorCode::Unauthorized, format!("{why}.")),
            InboundError::Unavailable(why) => FrameError::new(ErrorCode::Unavailable, format!("{why}.")),
        })
    }

    fn detach(&self, given: &RawValue) -> Result<(), FrameError> {
        self.needs(Scope::Admin)?;
        let DetachParams { client } = params(given)?;
        if self.gateway.access.detach_browser(&client) {
            return Ok(());
        }
        let Some(found) = self.gateway.client(&client) else {
            let text = format!("No client {client}: \"lisle gateway clients\" lists them.");
            return Err(FrameError::new(ErrorCode::Unavailable, text));
        };
        self.gateway.forget(&found, Some("Somebody detached this client."));
        Ok(())
    }

    fn stop(&self, given: &RawValue) -> Result<(), FrameError> {
        self.needs(Scope::Admin)?;
        let StopParams { when_idle } = params::<Option<StopParams>>(given)?.unwrap_or_default();
        self.gateway.stop.send_replace(if when_idle { StopTime::WhenIdle } else { StopTime::Now });
        Ok(())
    }
}
