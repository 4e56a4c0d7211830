//! Settings of a socket on the network, and the other end of one of its connections.

use axum::http::HeaderMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Certificate and key, as files in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// Certificates, the server's own first.
    pub cert: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// Addresses that the gateway listens on, and how.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Address and port; port 0 is one that is free.
    pub listen: SocketAddr,
    /// Encrypt with these.
    pub tls: Option<TlsFiles>,
    /// A proxy in front encrypts and says who asks.
    pub behind_proxy: bool,
    /// Names that it is reached by, beside addresses and localhost.
    pub hosts: Vec<String>,
    /// Shared pages alone are served there, to everybody.
    pub shares: bool,
}

impl HttpOptions {
    /// Says what is missing for an address that other machines reach.
    ///
    /// # Errors
    /// A sentence without its end.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.listen.ip().is_loopback() && self.tls.is_none() && !self.behind_proxy {
            return Err(format!(
                "{} can be reached from other machines, and what is sent would be unencrypted: give --tls-cert and \
                 --tls-key, or --behind-proxy if a proxy encrypts",
                self.listen
            ));
        }
        Ok(())
    }
}

/// Other end of a connection, for whoever answers its requests.
#[derive(Clone)]
pub(super) struct Peer {
    pub address: IpAddr,
    /// Held as long as the connection lives, also as a WebSocket.
    _place: Arc<OwnedSemaphorePermit>,
}

impl Peer {
    pub fn new(address: IpAddr, place: OwnedSemaphorePermit) -> Self {
        Self { address, _place: Arc::new(place) }
    }

    /// Address of the client. A proxy adds the one it saw behind those that the client wrote itself.
    pub fn client(&self, headers: &HeaderMap, behind_proxy: bool) -> IpAddr {
        let named = behind_proxy.then(|| headers.get_all("x-forwarded-for").iter().next_back()).flatten();
        let named = named.and_then(|value| value.to_str().ok()).and_then(|text| text.rsplit(',').next());
        named.and_then(|text| text.trim().parse().ok()).unwrap_or(self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_reaches_it_encrypted_or_not_at_all() {
        let tls = TlsFiles { cert: "c".into(), key: "k".into() };
        for (listen, tls, behind_proxy, fits) in [
            ("127.0.0.1:0", None, false, true),
            ("127.9.9.9:1", None, false, true),
            ("[::1]:0", None, false, true),
            ("0.0.0.0:0", None, false, false),
            ("[::]:0", None, false, false),
            ("192.168.1.2:80", None, false, false),
            ("192.168.1.2:80", None, true, true),
            ("0.0.0.0:0", Some(tls), false, true),
        ] {
            let options =
                HttpOptions { listen: listen.parse().unwrap(), tls, behind_proxy, hosts: Vec::new(), shares: false };
            assert_eq!(options.check().is_ok(), fits, "{listen}");
        }
    }
}
