//! Passes one descriptor through a socket: the listener that a command's own network begins with.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Port of the proxy in the command's own network.
pub const PORT: u16 = 43_128;

/// The byte that the descriptor comes with.
const WITH: &[u8] = b"L";

/// Sends `what` to whoever has the other end of `through`.
///
/// # Errors
/// `through` is no such socket, or nobody is there.
pub(super) fn send(through: BorrowedFd<'_>, what: BorrowedFd<'_>) -> std::result::Result<(), Errno> {
    let fds = [what];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(Errno::NOBUFS);
    }
    rustix::net::sendmsg(through, &[IoSlice::new(WITH)], &mut ancillary, SendFlags::NOSIGNAL).map(|_| ())
}

/// Waits for what was sent.
pub(super) async fn receive(through: &UnixStream) -> Result<OwnedFd> {
    loop {
        through.readable().await?;
        match through.try_io(Interest::READABLE, || take(through.as_fd())) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            taken => return taken,
        }
    }
}

fn take(through: BorrowedFd<'_>) -> Result<OwnedFd> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut byte)];
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    rustix::net::recvmsg(through, &mut into, &mut ancillary, flags)?;
    let mut came = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    came.next().ok_or_else(|| Error::new(ErrorKind::UnexpectedEof, "nothing was handed over"))
}
