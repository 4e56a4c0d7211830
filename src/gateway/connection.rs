//! One connection to the gateway: the handshake, then requests in and replies and events out.

use super::client_state::ClientState;
use super::frame::{self, ErrorCode, FrameError, FrameReader, LONGEST, LONGEST_FIRST, LinkFrame, ReadError};
use super::handshake::{self, CONNECT, Connect, Hello};
use super::methods::{self, Closing, CommandParams, DetachParams, PingParams, StopParams};
use super::server::{Gateway, Seated, StopTime};
use crate::protocol::{ClientRequest, Command, EngineCommand};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
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

/// How a connection ended.
enum ConnectionEnd {
    /// The line was lost: the client may come back.
    Lost,
    /// The client left.
    Left,
    /// Somebody cut it off, or a newer connection took its place.
    Cut,
}

/// Serves one connection to its end.
pub(super) async fn serve<R, W>(gateway: &Arc<Gateway>, read: R, mut write: W)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut reader = FrameReader::new(read, LONGEST_FIRST);
    let first = match tokio::time::timeout(HANDSHAKE, reader.frame()).await {
        Ok(first) => greet(gateway, first).await,
        Err(_) => Err((None, invalid("Nothing came within 10 seconds: the first request is \"connect\"."))),
    };
    let (id, seated, hello) = match first {
        Ok(greeted) => greeted,
        Err((id, error)) => {
            let _ = write.write_all(&frame::reply(id, Err::<&(), _>(&error))).await;
            return;
        }
    };
    reader.allow(LONGEST);
    let Seated { client, .. } = seated;
    let (number, end) = client.connected();
    if write.write_all(&frame::reply(Some(id), Ok(&hello))).await.is_err() {
        client.disconnected(number);
        return;
    }
    let (replies, waiting) = mpsc::channel(REPLIES);
    let writer =
        tokio::spawn(write_all((client.clone(), number), write, waiting, end.clone(), gateway.stop.subscribe()));
    let mut connection =
        ServedConnection { gateway, client: client.clone(), workspace: hello.workspace.clone(), replies };
    let ended = tokio::select! {
        ended = connection.read(&mut reader) => ended,
        () = end.cancelled() => ConnectionEnd::Cut,
    };
    drop(connection);
    end.cancel();
    let last = client.disconnected(number);
    match ended {
        ConnectionEnd::Left => gateway.forget(&client, None),
        ConnectionEnd::Lost | ConnectionEnd::Cut if last && client.workspaces().is_empty() => {
            gateway.forget(&client, None)
        }
        ConnectionEnd::Lost | ConnectionEnd::Cut => {}
    }
    if let Err(error) = writer.await {
        tracing::error!(%error, "the writer of a connection ended badly");
    }
}

fn invalid(message: impl Into<String>) -> FrameError {
    FrameError::new(ErrorCode::InvalidRequest, message)
}

fn params<T: DeserializeOwned>(params: &RawValue) -> Result<T, FrameError> {
    serde_json::from_str(params.get()).map_err(|error| invalid(format!("The parameters are not understood: {error}.")))
}

/// The handshake.
async fn greet(
    gateway: &Gateway,
    first: Result<Option<LinkFrame>, ReadError>,
) -> Result<(u64, Seated, Hello), (Option<u64>, FrameError)> {
    let (id, given) = match first {
        Ok(Some(LinkFrame::Request { id, method, params })) if method == CONNECT => (id, params),
        Ok(Some(LinkFrame::Request { id, .. })) => {
            return Err((Some(id), invalid("The first request is \"connect\".")));
        }
        Ok(_) => return Err((None, invalid("The first frame is a request of \"connect\"."))),
        Err(ReadError::Malformed { id, why }) => return Err((id, invalid(why))),
        Err(error) => return Err((None, invalid(format!("The first frame cannot be read: {error}.")))),
    };
    let refuse = |error| (Some(id), error);
    // The versions first: an older gateway may not understand the rest.
    let connect: Connect = params(&given).map_err(refuse)?;
    if !handshake::same_secret(&connect.secret, &gateway.secret) {
        let text = "The secret is not the gateway's: it was started anew, or this is not its home.";
        return Err(refuse(FrameError::new(ErrorCode::Unauthorized, text)));
    }
    let protocol = handshake::version(&connect).map_err(refuse)?;
    let seated = gateway.seat(&connect);
    let workspace = match &connect.workspace {
        Some(named) => {
            let named = Some(named.as_path()).filter(|named| !named.as_os_str().is_empty());
            match gateway.attach(&seated.client, named).await {
                Ok(folder) => Some(folder),
                Err(why) => {
                    gateway.forget(&seated.client, None);
                    return Err(refuse(FrameError::new(ErrorCode::Unavailable, why)));
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
    Ok((id, seated, hello))
}

/// Writes replies and events until the connection ends.
async fn write_all<W: AsyncWrite + Unpin>(
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
                written = write.write_all(&batch) => if written.is_err() {
                    return end.cancel();
                },
                () = end.cancelled() => return,
            }
            continue;
        }
        tokio::select! {
            reply = replies.recv() => match reply {
                Some(reply) => if write.write_all(&reply).await.is_err() {
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
        (false, None) => return,
    };
    let last = frame::event(methods::CLOSING, &closing, None);
    let _ = tokio::time::timeout(Duration::from_secs(1), write.write_all(&last)).await;
}

/// A connection after its handshake.
struct ServedConnection<'g> {
    gateway: &'g Arc<Gateway>,
    client: Arc<ClientState>,
    workspace: Option<PathBuf>,
    replies: mpsc::Sender<Vec<u8>>,
}

impl ServedConnection<'_> {
    /// Reads requests until the line is lost or the client leaves.
    async fn read<R: AsyncRead + Unpin>(&mut self, reader: &mut FrameReader<R>) -> ConnectionEnd {
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
            CONNECT => done::<()>(id, Err(invalid("This connection has a client already."))),
            other => {
                let text = format!("There is no method {other:?}: {}.", methods::ALL.join(", "));
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
        let unavailable = |why| FrameError::new(ErrorCode::Unavailable, why);
        let folder = self.gateway.attach(&self.client, Some(&named)).await.map_err(unavailable)?;
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

    fn detach(&self, given: &RawValue) -> Result<(), FrameError> {
        let DetachParams { client } = params(given)?;
        let Some(found) = self.gateway.client(&client) else {
            let text = format!("There is no client {client}: \"lisle gateway clients\" lists them.");
            return Err(FrameError::new(ErrorCode::Unavailable, text));
        };
        self.gateway.forget(&found, Some("Somebody detached this client."));
        Ok(())
    }

    fn stop(&self, given: &RawValue) -> Result<(), FrameError> {
        let StopParams { when_idle } = params::<Option<StopParams>>(given)?.unwrap_or_default();
        self.gateway.stop.send_replace(if when_idle { StopTime::WhenIdle } else { StopTime::Now });
        Ok(())
    }
}
