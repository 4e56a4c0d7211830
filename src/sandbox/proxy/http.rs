//! The proxy's HTTP: `CONNECT host:port`, and requests for `http://host/…` in full.
//!
//! Every request is read whole and written anew, so what is judged is what is sent: a second request on the same
//! connection is judged by itself, and what looks like another request in a body stays a body.

use super::session::{Refusal, Session};
use super::slot::ConnectionSlot;
use super::target::Target;
use http_body_util::{BodyExt, Empty, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// Bytes of the head of a request.
const MOST_HEAD: usize = 64 * 1024;
/// Header lines of a request or an answer.
const MOST_HEADERS: usize = 100;
/// Time limit for the head of a request, also between two requests of a connection.
const HEAD: Duration = Duration::from_secs(30);

type Body = BoxBody<Bytes, hyper::Error>;

/// Serves one connection to its end.
pub(super) async fn serve(stream: TcpStream, session: Arc<Session>, slot: Arc<ConnectionSlot>) {
    let service = service_fn(move |request| {
        let (session, slot) = (Arc::clone(&session), Arc::clone(&slot));
        async move { Ok::<_, Infallible>(answered(request, session, slot).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a command's proxy connection was interrupted");
    }
}

async fn answered(request: Request<Incoming>, session: Arc<Session>, slot: Arc<ConnectionSlot>) -> Response<Body> {
    let done = if request.method() == Method::CONNECT {
        tunnel(request, &session, slot).await
    } else {
        forward(request, &session).await
    };
    done.unwrap_or_else(|refusal| refused(&refusal))
}

/// Opens a connection through which anything may go.
async fn tunnel(
    mut request: Request<Incoming>,
    session: &Session,
    slot: Arc<ConnectionSlot>,
) -> Result<Response<Body>, Refusal> {
    let written = request.uri().authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
    let target = Target::parse(&written, None).ok_or_else(|| no_host(&written))?;
    let mut there = session.open(&target).await?;
    let coming = hyper::upgrade::on(&mut request);
    let ended = session.ended();
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = async {
                let Ok(here) = coming.await else { return };
                // Either end may hang up.
                let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(here), &mut there).await;
            } => {}
        }
        drop(slot);
    });
    Ok(Response::new(empty()))
}

/// Asks a server in the place of the command.
async fn forward(request: Request<Incoming>, session: &Session) -> Result<Response<Body>, Refusal> {
    let written = request.uri().to_string();
    let authority = match (request.uri().scheme_str(), request.uri().authority()) {
        (Some("http"), Some(authority)) => authority.as_str(),
        (Some(_), _) => return Err(Refusal::Malformed(format!("{} is asked for with CONNECT.", shortened(&written)))),
        (None, _) => return Err(Refusal::Malformed("This is a proxy; it has no pages of its own.".to_owned())),
    };
    let target = Target::parse(authority, Some(80)).ok_or_else(|| no_host(authority))?;
    let stream = session.open(&target).await?;
    let failed = |error: hyper::Error| Refusal::Unreachable(format!("{target} did not answer: {error}."));
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_headers(MOST_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let ended = session.ended();
    tokio::spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            _ = connection => {}
        }
    });
    let response = sender.send_request(rewritten(request, &target)?).await.map_err(failed)?;
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    head.version = Version::HTTP_11;
    head.extensions.clear();
    Ok(Response::from_parts(head, body.boxed()))
}

/// The request as the server gets it: for the host that was judged, and without what is between the command and the proxy.
fn rewritten(request: Request<Incoming>, target: &Target) -> Result<Request<Incoming>, Refusal> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse::<Uri>().map_err(|_| Refusal::Malformed("The path of the address is none.".to_owned()))?;
    strip(&mut head.headers);
    // Waiting for it is the proxy's business.
    head.headers.remove(header::EXPECT);
    let host = if target.port() == 80 { bare(target) } else { target.to_string() };
    let host = HeaderValue::from_str(&host).map_err(|_| no_host(&host))?;
    head.headers.insert(header::HOST, host);
    head.version = Version::HTTP_11;
    head.extensions.clear();
    Ok(Request::from_parts(head, body))
}

fn bare(target: &Target) -> String {
    let shown = target.to_string();
    shown.rsplit_once(':').map(|(host, _)| host.to_owned()).unwrap_or(shown)
}

/// Headers about one connection alone.
const OF_CONNECTION: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // How long the body is may not be named away.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect();
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
    headers.remove("proxy-connection");
    headers.remove("keep-alive");
}

fn empty() -> Body {
    Empty::new().map_err(|never: Infallible| match never {}).boxed()
}

fn no_host(written: &str) -> Refusal {
    Refusal::Malformed(format!("{} is no host with a port.", shortened(written)))
}

fn shortened(written: &str) -> String {
    written.chars().take(200).collect()
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let (status, text) = match refusal {
        Refusal::NotAllowed(text) => (StatusCode::FORBIDDEN, text),
        Refusal::Unreachable(text) => (StatusCode::BAD_GATEWAY, &format!("lisle's proxy let this through. {text}")),
        Refusal::Malformed(text) => (StatusCode::BAD_REQUEST, text),
    };
    let body = Full::new(Bytes::from(format!("{text}\n"))).map_err(|never: Infallible| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert("x-proxy-error", HeaderValue::from_static("blocked-by-lisle"));
    response
}
