//! Asks a server for one address: at the addresses that were looked up and judged before, and nowhere else.

use crate::sandbox::proxy::names::{self, NameLookup, leads_inside};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url, redirect};
use std::net::SocketAddr;
use std::time::Duration;

/// Time limit for making a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Redirects that are followed, all at the same host.
const REDIRECTS: usize = 5;

/// The host of an address as it is looked up: without brackets.
#[must_use]
pub fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase()
}

/// The addresses of the host of an address.
///
/// # Errors
/// A sentence for the model.
pub async fn look_up(names: &dyn NameLookup, url: &Url) -> Result<Vec<SocketAddr>, String> {
    names::look_up(names, &host_of(url), url.port_or_known_default().unwrap_or(443)).await
}

/// Result of a request.
pub enum Came {
    /// The server answers with this, at this address in the end.
    Answer(Box<Response>, Url),
    /// Redirect to another address, which has to be judged again.
    Elsewhere {
        /// The status.
        status: u16,
        /// Target.
        to: Url,
    },
}

/// Asks, at these addresses of the host and no others. `private`: those of the own network were allowed.
///
/// # Errors
/// A sentence for the model.
pub async fn ask(url: &Url, at: &[SocketAddr], private: bool) -> Result<Came, String> {
    let mut url = url.clone();
    for _ in 0..=REDIRECTS {
        let response = send(&url, at).await?;
        // The connection went to what was judged; should it ever not, nothing of it is used.
        if let Some(peer) = response.remote_addr()
            && (leads_inside(peer) && !private || !at.iter().any(|one| one.ip() == peer.ip()))
        {
            return Err(format!("The connection to {} led to another address than was looked up.", host_of(&url)));
        }
        let status = response.status();
        if !status.is_redirection() || status.as_u16() == 304 {
            return Ok(Came::Answer(Box::new(response), url));
        }
        let said = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let Some(to) = said.and_then(|to| url.join(to).ok()) else {
            return Err(format!("{url} points to another place ({}) without a usable address.", status.as_u16()));
        };
        if !matches!(to.scheme(), "http" | "https") {
            return Err(format!("{url} points to {to}, which is not a web address."));
        }
        let same =
            host_of(&to) == host_of(&url) && usual(&to, &url) && to.username().is_empty() && to.password().is_none();
        let safe = to.scheme() == "https" || url.scheme() == "http";
        if !same || !safe {
            return Ok(Came::Elsewhere { status: status.as_u16(), to });
        }
        url = to;
    }
    Err(format!("{url} was the end of more than {REDIRECTS} redirects, so it was not followed further."))
}

/// Both are at the same port, or each at the usual one of its scheme.
fn usual(to: &Url, from: &Url) -> bool {
    to.port_or_known_default() == from.port_or_known_default() || (to.port().is_none() && from.port().is_none())
}

async fn send(url: &Url, at: &[SocketAddr]) -> Result<Response, String> {
    // A port of 0 stands for the one of the address.
    let pinned: Vec<SocketAddr> = at.iter().map(|one| SocketAddr::new(one.ip(), 0)).collect();
    let mut builder = crate::http::client()
        .connect_timeout(CONNECT)
        .redirect(redirect::Policy::none())
        .referer(false)
        // A proxy would look the name up itself, so what was judged would not be what is asked.
        .no_proxy()
        .resolve_to_addrs(&host_of(url), &pinned);
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    let client = builder.build().map_err(|error| format!("No request could be made: {}.", words(&error)))?;
    let accept = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.9, */*;q=0.5";
    client.get(url.clone()).header(ACCEPT, accept).send().await.map_err(|error| {
        let what = if error.is_connect() { "is unreachable" } else { "did not answer" };
        format!("{} {what}: {}.", host_of(url), words(&error))
    })
}

/// The innermost reason, which says the most.
fn words(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string().trim_end_matches('.').to_owned()
}

/// Content type of the response, as the server states it.
#[must_use]
pub fn content_type(response: &Response) -> String {
    response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// The bytes of an answer, up to `most`, and whether there are more.
///
/// # Errors
/// A sentence for the model.
pub async fn body(response: &mut Response, most: usize) -> Result<(Vec<u8>, bool), String> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok((bytes, false)),
            Err(error) => {
                return Err(format!("The response ended early, after {} bytes: {}.", bytes.len(), words(&error)));
            }
        }
        if bytes.len() > most {
            bytes.truncate(most);
            return Ok((bytes, true));
        }
    }
}
