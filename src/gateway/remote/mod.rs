//! A client's end of a line to a gateway. To whoever has the link it is like that of an engine in the same process: lost lines
//! are made again here, and what was missed comes as if nothing had been.
//!
//! Requests wait in order while there is no line. Once there is one again, the gateway says up to which number it took
//! requests, and goes on after the last event that came; where it cannot, sessions that were open are opened anew.

mod carrier;
mod known;

use crate::agent::Link;
use crate::gateway::dial::{Attempt, DialError, Dialed, GatewayRoute};
use crate::gateway::frame::{self, ErrorCode, FrameError, FrameReader, LONGEST, LinkFrame};
use crate::gateway::handshake::{CONNECT, ClientName, Connect, Hello, OLDEST};
use crate::gateway::{home, methods};
use crate::protocol::VERSION;
use carrier::Carrier;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::process::Child;
use tokio::sync::{Notify, mpsc, watch};

/// Interval of signs of life, and the silence after which a line counts as lost.
const PING: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(45);
/// Pauses between attempts to make a line.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Attempts at the first line, and the pause between them.
const FIRST_TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);
/// Time for a gateway to answer the handshake: it may have to open a workspace first.
const ANSWERS: Duration = Duration::from_secs(60);
/// Commands that wait for a line, or for being taken: more are left in the channel.
const MOST_WAITING: usize = 1_000;
/// Events that wait for the client.
const EVENTS: usize = 1_024;
/// Numbers of signs of life and of the handshake begin here.
const OWN: u64 = 1 << 60;
/// Rows of a session that is opened anew.
const ROWS: usize = 200;

/// Client that joins a gateway.
#[derive(Clone, Debug)]
pub struct JoinOptions {
    /// Way to it.
    pub way: GatewayRoute,
    /// Name of the client, for people.
    pub name: String,
    /// Workspace: a folder or a name; empty for the one that was used last.
    pub workspace: PathBuf,
    /// Working directory of new sessions; the gateway's home directory without it.
    pub cwd: Option<PathBuf>,
    /// Nobody can be asked.
    pub headless: bool,
}

/// A joined gateway.
pub struct Joined {
    /// Link to its engine.
    pub link: Link,
    /// State of the line.
    pub line: LineView,
    /// First answer of the gateway.
    pub hello: Hello,
}

/// View of the line, for whoever shows it.
#[derive(Clone, Debug)]
pub struct LineView {
    /// State.
    pub state: watch::Receiver<LineState>,
    /// The user does something: the next attempt is made at once.
    pub hurry: Arc<Notify>,
}

/// State of the line to a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Commands and events pass.
    Connected,
    /// It was lost and is made again by itself.
    Reconnecting {
        /// Reason, as a sentence without its end.
        why: String,
        /// Messages that wait.
        waiting: usize,
    },
    /// It is not made again before the user does something.
    Down {
        /// Reason, as a sentence without its end.
        why: String,
        /// Messages that wait.
        waiting: usize,
    },
}

/// Joins a gateway.
///
/// # Errors
/// Why it cannot be joined.
pub async fn join(options: JoinOptions) -> Result<Joined, DialError> {
    let unreachable = |error: std::io::Error| DialError::Unreachable(format!("the system refused: {error}"));
    let id = home::random_hex(8).map_err(unreachable)?;
    let client = ClientName { id, name: options.name, version: env!("CARGO_PKG_VERSION").to_owned() };
    let connect = Connect {
        min_protocol: OLDEST,
        max_protocol: VERSION,
        client,
        secret: String::new(),
        workspace: Some(options.workspace),
        cwd: options.cwd,
        headless: options.headless,
        resume: None,
    };
    let (line, hello) = first_line(&options.way, &connect).await?;
    let (down, requests) = mpsc::channel(256);
    let (up, events) = mpsc::channel(EVENTS);
    let (state, shown) = watch::channel(LineState::Connected);
    let hurry = Arc::<Notify>::default();
    let view = LineView { state: shown, hurry: hurry.clone() };
    let connect = Connect { workspace: hello.workspace.clone(), ..connect };
    let carrier = Carrier::new(options.way, connect, hello.instance.clone(), (requests, up), (state, hurry));
    tokio::spawn(carrier.work(line));
    Ok(Joined { link: Link::of(down, events), line: view, hello })
}

/// The first line to a gateway. One of this machine that ends or starts just now is tried again.
async fn first_line(way: &GatewayRoute, connect: &Connect) -> Result<(OpenLine, Hello), DialError> {
    let mut tries = FIRST_TRIES;
    loop {
        tries -= 1;
        match OpenLine::open(way, connect, Attempt::First).await {
            Err(DialError::Unreachable(_)) if tries > 0 && matches!(way, GatewayRoute::Socket(_)) => {
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            opened => return opened,
        }
    }
}

/// Calls one method of a gateway, without looking at a workspace.
///
/// # Errors
/// Why it cannot be reached, or its error.
pub async fn call<T: DeserializeOwned>(
    way: &GatewayRoute,
    method: &str,
    params: &impl Serialize,
) -> Result<T, CallError> {
    let connect = Connect {
        min_protocol: OLDEST,
        max_protocol: VERSION,
        client: ClientName {
            id: home::random_hex(8).map_err(|error| DialError::Unreachable(error.to_string()))?,
            name: "lisle gateway".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        secret: String::new(),
        workspace: None,
        cwd: None,
        headless: true,
        resume: None,
    };
    let (mut line, _) = OpenLine::open(way, &connect, Attempt::First).await?;
    let lost = || DialError::Unreachable("the gateway ended before it answered".to_owned());
    line.write.write_all(&frame::request(1, method, params)).await.map_err(|_| lost())?;
    loop {
        match line.reader.frame().await {
            Ok(Some(LinkFrame::Reply { id: 1, result })) => {
                let _ = line.write.write_all(&frame::request(2, methods::LEAVE, &())).await;
                let payload = result.map_err(CallError::Method)?;
                let read = serde_json::from_str(payload.get());
                return read.map_err(|error| {
                    CallError::Dial(DialError::Unreachable(format!("invalid answer from the gateway: {error}")))
                });
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return Err(lost().into()),
        }
    }
}

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The gateway was not reached.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// It answered with an error.
    #[error("{}", .0.message.trim_end_matches('.'))]
    Method(FrameError),
}

/// An open line, after the handshake.
struct OpenLine {
    reader: FrameReader<Box<dyn AsyncRead + Send + Unpin>>,
    write: Box<dyn AsyncWrite + Send + Unpin>,
    /// Ends with the line.
    program: Option<Child>,
}

impl OpenLine {
    async fn open(way: &GatewayRoute, connect: &Connect, attempt: Attempt) -> Result<(Self, Hello), DialError> {
        let Dialed { read, mut write, secret, program } = way.dial(attempt).await?;
        let lost = |why: &str| DialError::Unreachable(format!("the gateway did not answer: {why}"));
        let connect = Connect { secret, ..connect.clone() };
        write.write_all(&frame::request(OWN, CONNECT, &connect)).await.map_err(|error| lost(&error.to_string()))?;
        write.flush().await.map_err(|error| lost(&error.to_string()))?;
        let mut reader = FrameReader::new(read, LONGEST);
        let first = tokio::time::timeout(ANSWERS, reader.frame()).await;
        let result = match first {
            Ok(Ok(Some(LinkFrame::Reply { result, .. }))) => result,
            Ok(Ok(Some(_))) => return Err(lost("it sent something else than a reply")),
            Ok(Ok(None)) => return Err(lost("it closed the connection")),
            Ok(Err(error)) => return Err(lost(&error.to_string())),
            Err(_) => return Err(lost("it is silent")),
        };
        let payload = result.map_err(|error| {
            let why = error.message.trim_end_matches('.').to_owned();
            match error.code {
                ErrorCode::ProtocolMismatch | ErrorCode::InvalidRequest => DialError::Refused(why),
                // A gateway that starts anew has another secret, and one that ends has none of use.
                _ if attempt == Attempt::Again => DialError::Unreachable(why),
                _ => DialError::Refused(why),
            }
        })?;
        let hello = serde_json::from_str(payload.get()).map_err(|error| lost(&error.to_string()))?;
        Ok((Self { reader, write, program }, hello))
    }
}
