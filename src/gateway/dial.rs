//! Ways to a gateway: the socket of this machine, or a program whose input and output lead to one of another machine.

use super::home::{self, GatewayFiles, HomeOwnership};
use super::ssh::{self, SshCommand};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Child;

/// Time for a gateway whose socket was removed to make it again.
const SOCKET_MADE: Duration = Duration::from_secs(3);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Way to a gateway.
#[derive(Clone, Debug)]
pub enum GatewayRoute {
    /// The gateway of a home of this machine.
    Socket(GatewayFiles),
    /// The gateway of another machine.
    Ssh(SshCommand),
}

/// Attempt to reach a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The first one: a person may be asked for a password.
    First,
    /// One after a line was lost: nobody is asked.
    Again,
}

/// Error of reaching a gateway.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// No gateway runs for this home.
    #[error("no gateway runs for this home")]
    NoGateway,
    /// The gateway of this home runs on another machine.
    #[error("the gateway of this home runs on {0}, whose socket is out of reach from here")]
    Elsewhere(String),
    /// It cannot be reached now, in a sentence without its end.
    #[error("{0}")]
    Unreachable(String),
    /// Trying again is of no use, in a sentence without its end.
    #[error("{0}")]
    Refused(String),
}

/// Open line to a gateway, before the handshake.
pub(super) struct Dialed {
    pub read: Box<dyn AsyncRead + Send + Unpin>,
    pub write: Box<dyn AsyncWrite + Send + Unpin>,
    /// Secret of the gateway; empty where the other end knows it.
    pub secret: String,
    /// The program that is the line. It ends when this is dropped.
    pub program: Option<Child>,
}

impl GatewayRoute {
    /// Opens a line.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn dial(&self, attempt: Attempt) -> Result<Dialed, DialError> {
        match self {
            Self::Socket(files) => socket(files).await,
            Self::Ssh(command) => ssh::dial(command, attempt).await,
        }
    }
}

async fn socket(files: &GatewayFiles) -> Result<Dialed, DialError> {
    let unreachable = |error: std::io::Error| DialError::Unreachable(format!("can't reach the gateway: {error}"));
    let end = tokio::time::Instant::now() + SOCKET_MADE;
    loop {
        let owner = match files.ownership().map_err(unreachable)? {
            HomeOwnership::Free => return Err(DialError::NoGateway),
            HomeOwnership::Elsewhere(owner) => return Err(DialError::Elsewhere(owner.host)),
            HomeOwnership::Here(owner) => owner,
        };
        let stream = home::connect(&owner.socket).and_then(|stream| {
            stream.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(stream)
        });
        match stream {
            Ok(stream) => {
                let secret = files.secret().map_err(unreachable)?;
                let (read, write) = stream.into_split();
                return Ok(Dialed { read: Box::new(read), write: Box::new(write), secret, program: None });
            }
            // It is starting, or its socket was removed.
            Err(_) if tokio::time::Instant::now() < end => tokio::time::sleep(BETWEEN_TRIES).await,
            Err(error) => return Err(unreachable(error)),
        }
    }
}
