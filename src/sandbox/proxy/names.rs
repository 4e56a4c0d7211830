//! Looks up names of servers, and tells where an address leads.

use crate::domain::address::is_private;
use futures_util::future::BoxFuture;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Time limit for looking up a name.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks up names.
pub trait NameLookup: Send + Sync {
    /// The addresses of a host.
    fn of(&self, host: String, port: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>>;
}

/// The system's way of looking up names.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl NameLookup for System {
    fn of(&self, host: String, port: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), port)).await?.collect()) })
    }
}

/// The addresses of a host. A host that is an address is that address.
///
/// # Errors
/// A sentence for the model.
pub async fn look_up(names: &dyn NameLookup, host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found = tokio::time::timeout(PATIENCE, names.of(host.to_owned(), port)).await;
    match found {
        Ok(Ok(all)) if !all.is_empty() => Ok(all),
        Ok(Ok(_)) => Err(format!("No address for host {host}. Check the spelling.")),
        Ok(Err(error)) => Err(format!("Host {host} not found ({error}). Check the spelling and the network.")),
        Err(_) => Err(format!("Looking up host {host} took more than {} s. Try again later.", PATIENCE.as_secs())),
    }
}

/// True if an address is not of the public network, or belongs to this machine: services for its
/// own network answer at the machine's public address as well.
#[must_use]
pub fn leads_inside(at: SocketAddr) -> bool {
    is_private(at.ip()) || is_own(at)
}

/// The kernel would send from the very address that it is to reach. Nothing is sent.
fn is_own(at: SocketAddr) -> bool {
    let any: SocketAddr = if at.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let from = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(SocketAddr::new(at.ip(), if at.port() == 0 { 443 } else { at.port() }))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == at.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_addresses_lead_inside() {
        for inside in ["127.0.0.1:80", "[::1]:80", "10.0.0.1:443", "169.254.169.254:80"] {
            assert!(leads_inside(inside.parse().unwrap()), "{inside}");
        }
        assert!(is_own("127.0.0.1:0".parse().unwrap()));
        assert!(!is_own("192.0.2.1:80".parse().unwrap()));
    }
}
