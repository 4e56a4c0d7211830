//! Guard before every route: the host that was asked for, the page that asks, the token or cookie, and the line in the log.
//!
//! Host and origin keep pages of other sites from asking through the user's browser, also where such a page's name was made to
//! point here. Addresses cannot be pointed elsewhere, so they are taken as hosts without being named.

use super::access_log::LogLine;
use super::html;
use super::options::{HttpOptions, Peer};
use super::problem::Problem;
use crate::gateway::access::Grant;
use crate::gateway::home::GatewayFiles;
use crate::gateway::server::Gateway;
use crate::json_log::{self, JsonLog};
use crate::protocol::Scope;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Path of the WebSocket.
pub(super) const SOCKET_PATH: &str = "/v1/socket";

/// Path of messages from channels, which may be signed instead of having a token.
pub(super) const INBOUND_PATH: &str = "/v1/inbound";

/// Cookie of a browser that opened a link.
pub(super) const COOKIE: &str = "lisle_browser";

/// Header in which clients of Fabric send their token.
const API_KEY: &str = "x-api-key";

/// Hexadecimal digits in a row that may be the key to something.
const SECRET: usize = 24;

/// Characters of a path in the log.
const LOGGED_PATH: usize = 300;

/// Headers of every response: nothing is stored, framed, guessed or fetched.
const HEADERS: &[(header::HeaderName, &str)] = &[
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
];

/// State that all routes share.
pub(super) struct Guarding {
    pub gateway: Arc<Gateway>,
    /// Cookies are for encrypted connections alone.
    pub secure: bool,
    behind_proxy: bool,
    hosts: Vec<String>,
    log: JsonLog,
    /// Folder for sessions on their way in.
    pub saving: PathBuf,
}

/// Client that asks, behind the guard.
#[derive(Clone)]
pub(super) struct Caller {
    pub address: IpAddr,
    pub grant: Option<Grant>,
    pub peer: Peer,
}

impl Caller {
    /// Rights of the client, if that covers a scope.
    pub fn needs(&self, scope: Scope) -> Result<&Grant, Problem> {
        match &self.grant {
            Some(grant) if grant.scopes.cover(scope) => Ok(grant),
            Some(_) => Err(Problem::forbidden(format!("This needs a token with the scope {}.", scope.name()))),
            None => Err(Problem::refused(crate::gateway::access::EntryRefusal::Wrong)),
        }
    }
}

impl Guarding {
    pub fn new(gateway: Arc<Gateway>, options: &HttpOptions, tls: bool, files: &GatewayFiles) -> Self {
        let log = JsonLog::new(files.folder().join("http.log"), json_log::USUAL);
        let (behind_proxy, hosts) = (options.behind_proxy, options.hosts.clone());
        let saving = files.folder().join("saving");
        Self { gateway, secure: tls || behind_proxy, behind_proxy, hosts, log, saving }
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host,
            _ => return Err(Problem::invalid("A request names one host.")),
        };
        if !is_expected(host, &self.hosts) {
            let text = "The gateway is not reached by this name: \"lisle serve --host NAME\" allows it.";
            return Err(Problem::forbidden(text));
        }
        let origins = headers.get_all(header::ORIGIN).iter();
        let own = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let place = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            place.is_some_and(|place| place.eq_ignore_ascii_case(host))
        };
        if origins.map(own).any(|own| !own) {
            return Err(Problem::forbidden("Pages of other sites may not ask the gateway."));
        }
        Ok(())
    }

    /// Client that asks. Somebody without token and cookie is nobody; a wrong token is refused at once.
    fn grant(&self, address: IpAddr, method: &Method, headers: &HeaderMap) -> Result<Option<Grant>, Problem> {
        let access = &self.gateway.access;
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let value = value.to_str().unwrap_or_default();
            let token = value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let token = token.map_or("", |(_, token)| token.trim());
            return access.admit(address, token, Instant::now()).map(Some).map_err(Problem::refused);
        }
        // As clients of Fabric send it.
        if let Some(key) = headers.get(API_KEY) {
            let key = key.to_str().unwrap_or_default();
            return access.admit(address, key.trim(), Instant::now()).map(Some).map_err(Problem::refused);
        }
        // What a browser sends by itself changes nothing.
        if method != Method::GET && method != Method::HEAD {
            return Ok(None);
        }
        Ok(cookie(headers).and_then(|cookie| access.admit_browser(cookie, Instant::now())))
    }
}

/// True if a host is an address, this machine, or one of these names; with any port.
fn is_expected(host: &str, names: &[String]) -> bool {
    let colon = host.rfind(':').filter(|colon| !host.get(*colon..).unwrap_or_default().contains(']'));
    let (name, port) = host.split_at(colon.unwrap_or(host.len()));
    let port_fits = port.strip_prefix(':').is_none_or(|port| port.parse::<u16>().is_ok());
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let address = match inner {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.parse::<std::net::Ipv4Addr>().is_ok(),
    };
    let known = || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    port_fits && (address || name.eq_ignore_ascii_case("localhost") || known())
}

/// The cookie of a browser that opened a link.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .filter_map(|one| one.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// Paths for which nobody needs to be known yet.
fn is_open(path: &str) -> bool {
    path == "/healthz" || path == SOCKET_PATH || path == INBOUND_PATH || path.starts_with("/link/")
}

/// Path as the log has it, without parts that let somebody in: links, ids of shared pages that were asked for here, and
/// whatever looks like one, also with signs encoded.
fn logged(path: &str) -> String {
    let is_secret = |part: &str| {
        let words = part.split(|sign: char| !(sign.is_ascii_hexdigit() || sign == '%'));
        words.map(|word| word.replace('%', "").len()).max().unwrap_or_default() >= SECRET
    };
    let mut parts = Vec::new();
    for part in path.split('/') {
        let is_named = parts.last().is_some_and(|before: &&str| matches!(before.to_lowercase().as_str(), "link" | "s"));
        parts.push(if (is_named && !part.is_empty()) || is_secret(part) { "…" } else { part });
    }
    parts.join("/").chars().take(LOGGED_PATH).collect()
}

/// Guards a request, and logs it.
pub(super) async fn guard(State(guarding): State<Arc<Guarding>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let Some(peer) = request.extensions().get::<Peer>().cloned() else {
        return Problem::unavailable("The connection is not known.").into_response();
    };
    let address = peer.client(request.headers(), guarding.behind_proxy);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let known = guarding
        .check_host(request.headers())
        .and_then(|()| guarding.grant(address, &method, request.headers()))
        .and_then(|grant| match grant {
            None if !is_open(&path) => Err(Problem::refused(crate::gateway::access::EntryRefusal::Wrong)),
            grant => Ok(grant),
        });
    let mut token = None;
    let mut response = match known {
        Ok(grant) => {
            token = grant.as_ref().map(|grant| grant.name.clone());
            request.extensions_mut().insert(Caller { address, grant, peer });
            next.run(request).await
        }
        Err(problem) if path == "/" => html::without_link(&problem),
        Err(problem) => problem.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    guarding.log.add(&LogLine {
        at: jiff::Timestamp::now().as_millisecond(),
        address: address.to_string(),
        method: method.as_str(),
        path: &logged(&path),
        status: response.status().as_u16(),
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        token: token.as_deref(),
    });
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address_or_a_known_name() {
        let names = ["box.example".to_owned()];
        for (host, expected) in [
            ("127.0.0.1:7788", true),
            ("127.0.0.1", true),
            ("[::1]:7788", true),
            ("[::1]", true),
            ("localhost:1", true),
            ("LOCALHOST", true),
            ("box.example", true),
            ("Box.Example:443", true),
            ("evil.example", false),
            ("evil.example:7788", false),
            ("127.0.0.1.evil.example", false),
            ("box.example.evil", false),
            ("localhost:99999", false),
            ("[evil]:1", false),
            ("[127.0.0.1", false),
            ("", false),
            (":80", false),
            ("::1", false),
        ] {
            assert_eq!(is_expected(host, &names), expected, "{host}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        for (value, found) in [
            ("lisle_browser=abc", Some("abc")),
            ("a=b; lisle_browser=abc; c=d", Some("abc")),
            ("xlisle_browser=abc", None),
            ("lisle_browser", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(value).unwrap());
            assert_eq!(cookie(&headers), found, "{value}");
        }
    }

    #[test]
    fn the_log_has_no_link() {
        let id = "0123456789abcdef0123456789ABCDEF";
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for (path, expected) in [
            ("/link/0123", "/link/…"),
            ("/v1/workspaces", "/v1/workspaces"),
            ("/w/default/261128-firm-hawk", "/w/default/261128-firm-hawk"),
            ("/s/short", "/s/…"),
            (format!("/s/{id}").as_str(), "/s/…"),
            (format!("/S/{id}/x").as_str(), "/S/…/x"),
            (format!("//s//{id}").as_str(), "//s//…"),
            (format!("/x{id}.html").as_str(), "/…"),
            (format!("/t/{encoded}").as_str(), "/t/…"),
        ] {
            assert_eq!(logged(path), expected, "{path}");
        }
        assert_eq!(logged(&"ä".repeat(900)).chars().count(), LOGGED_PATH);
    }
}
