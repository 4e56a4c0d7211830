//! Socket on the network: TLS, and bounds for connections before they have said anything.

use super::guard::Guarding;
use super::options::{HttpOptions, Peer, TlsFiles};
use super::stall::StallGuard;
use super::{routes, shared};
use crate::gateway::home::GatewayFiles;
use crate::gateway::methods::HttpShown;
use crate::gateway::server::{Gateway, Listener};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Connections at a time: more are refused. The socket of this machine has places of its own.
const MOST_CONNECTIONS: usize = 400;
/// Time for the headers of a request, and for a connection that waits for its next one.
const HEADERS: Duration = Duration::from_secs(15);
/// Time for the handshake of TLS.
const TLS_HANDSHAKE: Duration = Duration::from_secs(10);
/// A client that takes nothing for this long is cut off.
const STALLED: Duration = Duration::from_secs(60);
/// Bytes of the headers of a request at most.
const HEADER_BYTES: usize = 16 << 10;
/// Number of headers at most.
const HEADER_COUNT: usize = 64;
/// Pause after a connection that could not be accepted.
const WITHOUT_DESCRIPTORS: Duration = Duration::from_millis(100);

/// A socket on the network that is bound.
pub struct HttpListener {
    socket: TcpListener,
    tls: Option<TlsAcceptor>,
    url: String,
    options: HttpOptions,
    files: GatewayFiles,
}

impl HttpListener {
    /// Binds the socket, and reads the files of TLS.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn bind(options: HttpOptions, files: &GatewayFiles) -> Result<Self, String> {
        options.check()?;
        let tls = options.tls.as_ref().map(acceptor).transpose()?;
        let failed = |error| format!("can't listen on {}: {error}", options.listen);
        let socket = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = match options.hosts.first() {
            Some(host) if options.behind_proxy => format!("https://{host}"),
            Some(host) => format!("{scheme}://{host}:{}", address.port()),
            None => format!("{scheme}://{address}"),
        };
        Ok(Self { socket, tls, url, options, files: files.clone() })
    }

    async fn accept(self, app: Router) {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let (stream, address) = match self.socket.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "can't accept a connection");
                    tokio::time::sleep(WITHOUT_DESCRIPTORS).await;
                    continue;
                }
            };
            let Ok(place) = places.clone().try_acquire_owned() else {
                turn_away(&stream, self.tls.is_some());
                continue;
            };
            let peer = Peer::new(address.ip(), place);
            tokio::spawn(serve_one(stream, self.tls.clone(), app.clone(), peer));
        }
    }
}

impl Listener for HttpListener {
    fn shown(&self) -> HttpShown {
        let HttpOptions { behind_proxy, shares, .. } = self.options;
        HttpShown { url: self.url.clone(), tls: self.tls.is_some(), behind_proxy, shares }
    }

    fn start(self: Box<Self>, gateway: Arc<Gateway>) {
        let app = if self.options.shares {
            shared::app(&self.options, &self.files)
        } else {
            routes::app(Arc::new(Guarding::new(gateway, &self.options, self.tls.is_some(), &self.files)))
        };
        tokio::spawn(self.accept(app));
    }
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, String> {
    let certificates = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| format!("can't read the certificates of {}: {error}", files.cert.display()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| format!("can't read the private key of {}: {error}", files.key.display()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| format!("can't use {} with {}: {error}", files.cert.display(), files.key.display()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Refuses a connection for which there is no place, as far as that can be said without waiting.
fn turn_away(stream: &TcpStream, tls: bool) {
    tracing::warn!("a connection was refused: there are {MOST_CONNECTIONS} over the network");
    if !tls {
        let _ = stream.try_write(
            b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        );
    }
}

async fn serve_one(stream: TcpStream, tls: Option<TlsAcceptor>, app: Router, peer: Peer) {
    // Events are small and are to arrive at once.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return speak(stream, app, peer).await };
    match tokio::time::timeout(TLS_HANDSHAKE, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, app, peer).await,
        Ok(Err(error)) => tracing::debug!(%error, "a handshake of TLS failed"),
        Err(_) => {}
    }
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, app: Router, peer: Peer) {
    let inner = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        inner.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_headers(HEADER_COUNT)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(StallGuard::new(stream, STALLED)), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection over the network ended badly");
    }
}
