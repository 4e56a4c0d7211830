//! Handover of the listener that a command's own network begins with, to lisle: one descriptor through a socket.

use crate::sandbox::runner::descriptor_passing;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Port of the proxy in the command's own network.
pub const PORT: u16 = 43_128;

/// Waits for the descriptor.
pub(super) async fn receive(through: &UnixStream) -> Result<OwnedFd> {
    let take = || descriptor_passing::receive(through.as_fd(), 1);
    loop {
        through.readable().await?;
        match through.try_io(Interest::READABLE, take) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            taken => return taken?.pop().ok_or_else(|| Error::from(ErrorKind::UnexpectedEof)),
        }
    }
}
