//! The way out of a command's own network (`sandbox.network = "hosts"`).
//!
//! The command has a network of its own in which there is nothing but loopback (`inside`) and a listener at [`PORT`]. The
//! listener's descriptor is handed to lisle through the control socket before the command begins (`handover`); lisle
//! takes connections from it and passes on what the [`Gate`] lets through. So there is no path that another user, another
//! session or another command could connect to: the only way to the listener is the command's own network.
//!
//! Spoken are HTTP (`http`) and SOCKS 5 (`socks`) at the same port. What is judged is the host that is connected to
//! (`target` has it in one spelling), by its name and once more by the addresses that it has (`names`). What is said inside
//! a tunnel is not looked into: a client may name another host to the server there (TLS SNI, `Host`), which reaches
//! nothing but the server that was judged.
//!
//! [`KnownHosts`] has the hosts that need no question. Who decides on the others is the engine's business.

mod handover;
mod http;
#[cfg(target_os = "linux")]
pub(super) mod inside;
mod known;
pub mod names;
mod session;
mod slot;
mod socks;
mod target;
#[cfg(test)]
mod tests;

pub use handover::PORT;
pub use known::{KnownHosts, entry};
pub use session::{Gate, Refusals, Refused};
pub use target::Target;

use names::NameLookup;
use session::Session;
use slot::ConnectionSlot;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Connections of one command at a time; more wait to be taken.
const MOST: usize = 64;
/// Connections of all commands at a time, so that lisle keeps descriptors for itself.
static ALL: Semaphore = Semaphore::const_new(192);
/// Limit for the first byte of a connection.
const FIRST_BYTE: Duration = Duration::from_secs(60);

/// The proxy of one command. Ends, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    _ends: DropGuard,
}

impl Proxy {
    /// Waits for the listener at `from`, and serves it.
    #[must_use]
    pub fn start(from: Arc<UnixStream>, gate: Arc<dyn Gate>, names: Arc<dyn NameLookup>, refusals: Refusals) -> Self {
        let ended = CancellationToken::new();
        let session = Arc::new(Session::new(gate, names, refusals, ended.clone()));
        let until = ended.clone();
        tokio::spawn(async move {
            let served = async {
                let listener = listener(handover::receive(&from).await?)?;
                drop(from);
                serve(&listener, &session).await;
                Ok::<(), std::io::Error>(())
            };
            tokio::select! {
                () = until.cancelled() => {}
                // A command that was not started has no listener.
                done = served => if let Err(error) = done {
                    tracing::debug!(%error, "a command has no way to its proxy");
                },
            }
        });
        Self { _ends: ended.drop_guard() }
    }
}

/// Listener that was handed over; `None` if it is no such listener.
fn listener(fd: OwnedFd) -> std::io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(fd);
    let expected: SocketAddr = (Ipv4Addr::LOCALHOST, PORT).into();
    let listens = rustix::net::sockopt::socket_acceptconn(&listener)?;
    if !listens || listener.local_addr()? != expected {
        return Err(std::io::Error::other("what was handed over is no listener for the proxy"));
    }
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Takes connections until the task ends.
async fn serve(listener: &TcpListener, session: &Arc<Session>) {
    let own = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    loop {
        let Ok(mine) = Arc::clone(&own).acquire_owned().await else { return };
        let taken = tokio::select! {
            taken = listener.accept() => taken,
            // What ended is forgotten meanwhile.
            Some(_) = connections.join_next() => continue,
        };
        match taken {
            Ok((stream, _)) => {
                let session = Arc::clone(session);
                connections.spawn(async move {
                    let Ok(of_all) = ALL.acquire().await else { return };
                    connection(stream, session, Arc::new(ConnectionSlot::new(mine, of_all))).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, "the proxy of a command takes no connection");
                // Too many open files here, for instance.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, session: Arc<Session>, slot: Arc<ConnectionSlot>) {
    let mut first = [0];
    let version = match tokio::time::timeout(FIRST_BYTE, stream.peek(&mut first)).await {
        Ok(Ok(1)) => first[0],
        _ => return,
    };
    if version == socks::VERSION {
        through_socks(stream, &session).await
    } else {
        http::serve(stream, session, slot).await
    }
}

async fn through_socks(mut here: TcpStream, session: &Session) {
    let Ok(Ok(heard)) = tokio::time::timeout(FIRST_BYTE, socks::hear(&mut here)).await else { return };
    let (answer, there) = match heard {
        Err(answer) => (answer, None),
        Ok(target) => match session.open(&target).await {
            Ok(there) => (socks::SocksReply::Connected, Some(there)),
            Err(session::Refusal::NotAllowed(_)) => (socks::SocksReply::NotAllowed, None),
            Err(_) => (socks::SocksReply::Unreachable, None),
        },
    };
    let said = socks::answer(&mut here, answer).await;
    if let (Ok(()), Some(mut there)) = (said, there) {
        let ended = session.ended();
        tokio::select! {
            () = ended.cancelled() => {}
            // Either end may hang up.
            _ = tokio::io::copy_bidirectional(&mut here, &mut there) => {}
        }
    }
}

/// The variables by which programs find the proxy. `direct`: hosts that they are to ask without it.
#[must_use]
pub fn environment(direct: &[&str]) -> Vec<(&'static str, String)> {
    let http = format!("http://127.0.0.1:{PORT}");
    let direct = direct.join(",");
    let mut out: Vec<(&'static str, String)> = Vec::new();
    for name in [
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        // SOCKS is spoken at the same port; as a default it stops programs that have no library for it.
        "all_proxy",
        "ALL_PROXY",
        "npm_config_proxy",
        "npm_config_https_proxy",
        "YARN_HTTP_PROXY",
        "YARN_HTTPS_PROXY",
        "CARGO_HTTP_PROXY",
        "PIP_PROXY",
    ] {
        out.push((name, http.clone()));
    }
    for name in ["no_proxy", "NO_PROXY", "npm_config_noproxy"] {
        out.push((name, direct.clone()));
    }
    out.push(("RSYNC_PROXY", format!("127.0.0.1:{PORT}")));
    out.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    out
}
