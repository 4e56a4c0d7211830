//! Client of a server for shares. Redirects are not followed: the key and the conversation go to the configured server alone.

use super::MOST_BYTES;
use crate::domain::sanitise::clean_line;
use crate::domain::secret::{self, Key};
use crate::http;
use reqwest::{Method, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use std::time::Duration;

/// Bytes of an answer that are read.
const ANSWER: usize = 64 << 10;
const CONNECT: Duration = Duration::from_secs(15);
const WHOLE: Duration = Duration::from_secs(300);
/// Days until a share expires, as Fabric Agents sends them.
const DAYS: &str = "x-fabric-ttl-days";

/// A server for shares.
#[derive(Clone, Debug)]
pub struct ShareServer {
    base: Url,
    key: Option<Key>,
}

/// A conversation on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteShare {
    /// Id at the server.
    pub id: String,
    /// Address for readers.
    pub url: String,
}

/// Error of a request to a server for shares.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The address is unusable.
    #[error("share.endpoint has to be an address with http:// or https:// and without a password")]
    Address,
    /// The conversation is larger than what is sent at all.
    #[error("the conversation has more than {} MB", MOST_BYTES >> 20)]
    TooLong,
    /// The server takes no conversation of that size.
    #[error("too large for {server}")]
    TooLarge {
        /// Server.
        server: String,
    },
    /// The key is wrong or missing.
    #[error("{server} refused access; share.key_env names the variable with its key")]
    Refused {
        /// Server.
        server: String,
    },
    /// Nothing of the sort is at that address.
    #[error("no server for shares at {server}")]
    NoServer {
        /// Server.
        server: String,
    },
    /// Another error of the server.
    #[error("{server} answered {status}{text}")]
    Status {
        /// Server.
        server: String,
        /// Status.
        status: StatusCode,
        /// Its words in brackets, or nothing.
        text: String,
    },
    /// An answer without an id.
    #[error("{server} gave an unusable answer")]
    Answer {
        /// Server.
        server: String,
    },
    /// No connection, or one that was lost.
    #[error("can't reach {server}: {why}")]
    Line {
        /// Server.
        server: String,
        /// Error of the connection.
        why: String,
    },
}

#[derive(Deserialize)]
struct Made {
    id: String,
    #[serde(default)]
    url: Option<String>,
}

/// True for what can be an id: nothing else becomes part of an address.
fn is_id(id: &str) -> bool {
    (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl ShareServer {
    /// The server at an address.
    ///
    /// # Errors
    /// When it is no address of the web, or has a password in it.
    pub fn new(address: &str, key: Option<Key>) -> Result<Self, ShareError> {
        let base = Url::parse(address.trim_end_matches('/')).map_err(|_| ShareError::Address)?;
        let usable = ["http", "https"].contains(&base.scheme()) && base.has_host() && base.query().is_none();
        let plain = base.username().is_empty() && base.password().is_none() && base.fragment().is_none();
        if usable && plain { Ok(Self { base, key }) } else { Err(ShareError::Address) }
    }

    /// Its address, without a slash at the end.
    #[must_use]
    pub fn address(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    /// Uploads a session. `days`: it expires then.
    ///
    /// # Errors
    /// [`ShareError`]
    pub async fn add(&self, session: Vec<u8>, days: Option<u32>) -> Result<RemoteShare, ShareError> {
        let response = self.ask(Method::POST, None, Some((session, days))).await?;
        let server = self.address();
        if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            return Err(ShareError::NoServer { server });
        }
        let bytes = self.answer(self.good(response).await?).await?;
        let unusable = || ShareError::Answer { server: server.clone() };
        let made: Made = serde_json::from_slice(&bytes).map_err(|_| unusable())?;
        if !is_id(&made.id) {
            return Err(unusable());
        }
        let is_address = |url: &Url| ["http", "https"].contains(&url.scheme()) && url.has_host();
        let url = match made.url {
            Some(url) => Url::parse(&url).ok().filter(is_address).ok_or_else(unusable)?.into(),
            None => format!("{server}/s/{}", made.id),
        };
        Ok(RemoteShare { id: made.id, url })
    }

    /// Replaces an uploaded session. False if the server has it no more.
    ///
    /// # Errors
    /// [`ShareError`]
    pub async fn replace(&self, id: &str, session: Vec<u8>, days: Option<u32>) -> Result<bool, ShareError> {
        let response = self.ask(Method::PUT, Some(id), Some((session, days))).await?;
        self.is_there(response).await
    }

    /// Removes an uploaded session. False if the server has it no more.
    ///
    /// # Errors
    /// [`ShareError`]
    pub async fn remove(&self, id: &str) -> Result<bool, ShareError> {
        let response = self.ask(Method::DELETE, Some(id), None).await?;
        self.is_there(response).await
    }

    async fn is_there(&self, response: Response) -> Result<bool, ShareError> {
        if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Ok(false);
        }
        self.good(response).await.map(|_| true)
    }

    async fn ask(
        &self,
        method: Method,
        id: Option<&str>,
        session: Option<(Vec<u8>, Option<u32>)>,
    ) -> Result<Response, ShareError> {
        let server = self.address();
        let id = match id {
            Some(id) if !is_id(id) => return Err(ShareError::Answer { server }),
            id => id.map_or_else(String::new, |id| format!("/{id}")),
        };
        let line = |error: reqwest::Error| ShareError::Line { server: server.clone(), why: why(error) };
        let client = http::client().redirect(redirect::Policy::none()).connect_timeout(CONNECT).timeout(WHOLE);
        let mut request = client.build().map_err(line)?.request(method, format!("{server}/s/api{id}"));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.reveal());
        }
        if let Some((session, days)) = session {
            if session.len() as u64 > MOST_BYTES {
                return Err(ShareError::TooLong);
            }
            if let Some(days) = days {
                request = request.header(DAYS, days);
            }
            request = request.header("content-type", "application/json").body(session);
        }
        request.send().await.map_err(line)
    }

    /// The answer, if the server did what was asked.
    async fn good(&self, response: Response) -> Result<Response, ShareError> {
        let (server, status) = (self.address(), response.status());
        match status {
            status if status.is_success() => Ok(response),
            StatusCode::PAYLOAD_TOO_LARGE => Err(ShareError::TooLarge { server }),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(ShareError::Refused { server }),
            status => {
                let bytes = self.answer(response).await.unwrap_or_default();
                Err(ShareError::Status { server, status, text: words(&bytes, self.key.as_ref()) })
            }
        }
    }

    async fn answer(&self, mut response: Response) -> Result<Vec<u8>, ShareError> {
        let mut all = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if all.len() + chunk.len() <= ANSWER => all.extend_from_slice(&chunk),
                Ok(Some(_)) => return Err(ShareError::Answer { server: self.address() }),
                Ok(None) => return Ok(all),
                Err(error) => return Err(ShareError::Line { server: self.address(), why: why(error) }),
            }
        }
    }
}

/// Words of a connection's error, without the address and with the cause.
fn why(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    clean_line(&cause.to_string()).into_owned()
}

/// The first words of a server's answer in brackets. The key that was sent and what looks like one are masked, pages left
/// out.
fn words(bytes: &[u8], key: Option<&Key>) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if let Some(key) = key {
        text = text.replace(key.reveal(), "***");
    }
    let text = clean_line(text.trim()).chars().take(200).collect::<String>();
    if text.is_empty() || text.starts_with('<') {
        return String::new();
    }
    format!(" ({})", secret::masked(&text).map_or(text, |(safe, _)| safe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_of_the_web_are_servers() {
        for (address, usable) in [
            ("https://share.example", true),
            ("http://127.0.0.1:9/a/", true),
            ("ftp://share.example", false),
            ("https://me:word@share.example", false),
            ("https://me@share.example", false),
            ("https://share.example/?key=1", false),
            ("share.example", false),
        ] {
            assert_eq!(ShareServer::new(address, None).is_ok(), usable, "{address}");
        }
        assert_eq!(ShareServer::new("http://127.0.0.1:9/a/", None).unwrap().address(), "http://127.0.0.1:9/a");
    }

    #[test]
    fn what_is_no_id_is_no_path() {
        for (id, is) in [("a_B-9", true), ("", false), ("../x", false), ("a/b", false), ("a?b", false), ("é", false)] {
            assert_eq!(is_id(id), is, "{id}");
        }
    }

    #[test]
    fn words_of_a_server_are_short_and_without_keys() {
        let key = format!("sk-{}", "a1b2c3d4e5f6a7b8");
        assert_eq!(words(format!("no\nkey {key}").as_bytes(), None).matches(&key).count(), 0);
        assert_eq!((words(b"<html>", None), words(b" ", None)), (String::new(), String::new()));
        let own = Key::new("own-word");
        assert_eq!(words(b"not own-word!", own.as_ref()), " (not ***!)");
        assert!(words("x".repeat(9_000).as_bytes(), None).len() < 210);
    }
}
