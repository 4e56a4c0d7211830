//! Descriptors through a socket, some with each byte: those of hidden places from lisle to a command's parent, behind the
//! order, and the listener of a command's own network to lisle.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Descriptors with one byte; the system takes 253.
const PORTION: usize = 128;
/// Numbers below this one are for streams.
const FIRST: i32 = 16;

/// Sends all descriptors.
///
/// # Errors
/// Whatever the system says.
pub(in crate::sandbox) fn send(through: BorrowedFd<'_>, fds: &[BorrowedFd<'_>]) -> Result<()> {
    for portion in fds.chunks(PORTION) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PORTION))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(portion)) {
            return Err(Error::from(ErrorKind::OutOfMemory));
        }
        rustix::net::sendmsg(through, &[IoSlice::new(b"H")], &mut ancillary, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const FLAGS: RecvFlags = RecvFlags::empty();

/// Takes one byte and the descriptors that came with it, under the numbers that the system gives them; `None` at the end.
///
/// # Errors
/// Whatever the system says.
#[cfg(target_os = "linux")]
pub(in crate::sandbox) fn receive_with_a_byte(through: BorrowedFd<'_>) -> Result<Option<Vec<OwnedFd>>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PORTION))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut byte)];
    if rustix::net::recvmsg(through, &mut into, &mut ancillary, FLAGS)?.bytes == 0 {
        return Ok(None);
    }
    let messages = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    Ok(Some(messages.flatten().collect()))
}

/// Takes `count` descriptors, and nothing that comes after them.
///
/// # Errors
/// Fewer came, or the system refuses one.
pub(in crate::sandbox) fn receive(through: BorrowedFd<'_>, count: usize) -> Result<Vec<OwnedFd>> {
    let mut out: Vec<OwnedFd> = Vec::with_capacity(count);
    while out.len() < count {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PORTION))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(through, &mut into, &mut ancillary, FLAGS)?;
        let before = out.len();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                for fd in fds {
                    out.push(rustix::io::fcntl_dupfd_cloexec(&fd, FIRST)?);
                }
            }
        }
        if out.len() == before {
            return Err(Error::new(ErrorKind::UnexpectedEof, "not all descriptors arrived"));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn descriptors_arrive_in_their_order_and_nothing_else_is_taken() {
        use std::io::{Read, Write};
        let dir = tempfile::tempdir().unwrap();
        let files: Vec<std::fs::File> =
            (0..300).map(|n| std::fs::File::create(dir.path().join(n.to_string())).unwrap()).collect();
        let (mut here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
        let fds: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        send(here.as_fd(), &fds).unwrap();
        here.write_all(b"!").unwrap();
        let came = receive(there.as_fd(), files.len()).unwrap();
        let numbers =
            |files: &[std::fs::File]| files.iter().map(|file| file.metadata().unwrap().ino()).collect::<Vec<_>>();
        assert!(came.iter().all(|fd| fd.as_raw_fd() >= FIRST));
        let came: Vec<std::fs::File> = came.into_iter().map(Into::into).collect();
        assert_eq!(numbers(&came), numbers(&files));
        let mut rest = [0];
        there.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"!");
        drop(here);
        assert!(receive(there.as_fd(), 1).is_err());
    }
}
