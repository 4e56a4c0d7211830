//! Setup of the command's own network before the command begins.

#![allow(unsafe_code, reason = "the state of a network interface is set by a call that takes a structure")]

use super::handover::PORT;
use crate::sandbox::runner::descriptor_passing;
use rustix::net::{AddressFamily, SocketType};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Way out of an own network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayOut {
    /// Nothing.
    None,
    /// A listener, which is handed to whoever has the other end of the standard input.
    Proxy,
}

/// Brings the loopback interface up and hands the listener over. The standard input is `later` from then on, by default
/// `/dev/null`.
///
/// # Errors
/// A sentence. The command must not begin then.
pub(crate) fn begin(way: WayOut, later: Option<&OwnedFd>) -> Result<(), String> {
    loopback().map_err(|e| format!("the loopback interface of its network does not come up: {e}"))?;
    if way == WayOut::None {
        return Ok(());
    }
    let failed = |e: std::io::Error| format!("the way to the proxy could not be made: {e}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).map_err(failed)?;
    descriptor_passing::send(std::io::stdin().as_fd(), &[listener.as_fd()]).map_err(failed)?;
    if let Some(later) = later {
        return rustix::stdio::dup2_stdin(later).map_err(|e| failed(e.into()));
    }
    let nothing = std::fs::File::open("/dev/null").map_err(failed)?;
    rustix::stdio::dup2_stdin(&nothing).map_err(|e| failed(e.into()))
}

fn loopback() -> std::io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: a structure of numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    // The interface is new and has no other flags that would have to be kept.
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the structure lives through the call, which reads it.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) } == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
