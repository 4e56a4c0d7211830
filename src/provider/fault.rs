//! Says what went wrong with a server: from a status, a body, an error inside a stream or a broken connection to a
//! [`ProviderError`] with a code, a sentence and a way out. Knows the phrases of many servers, and keeps keys out.
//!
//! Pure except that it looks into [`reqwest::Error`]; sending and reading are the business of `http`.

mod kind;
mod reset;

use self::kind::{CHECK_URL, FaultKind, INVALID_KEY, ServerError, kind, network};
use super::ProviderError;
use crate::domain::secret::quoted;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// The most characters of a server's own words that an error carries.
const DETAIL: usize = 2_000;
/// The most characters of a server's own words inside of a sentence.
const QUOTE: usize = 300;

/// The other end of a connection, as errors name it.
#[derive(Clone, Default)]
pub struct Peer {
    /// Name of the connection in the configuration.
    pub name: String,
    /// Host and port as errors show them.
    pub host: String,
    /// It is this machine.
    pub loopback: bool,
    /// The connection's own settings name a proxy.
    pub proxied: bool,
    /// Requests carry nothing that signs them in.
    pub keyless: bool,
    /// Texts that never appear in an error.
    pub secrets: Vec<String>,
}

impl Peer {
    /// The error for a response that is no success. `now` is Unix time in seconds, for a `retry-after` with a date.
    #[must_use]
    pub fn status(&self, status: u16, headers: &HeaderMap, body: &str, now: i64) -> ProviderError {
        let json: Option<Value> = serde_json::from_str(body).ok();
        let said = json.as_ref().map_or_else(|| ServerError::plain(body), ServerError::of);
        let mut kind = kind(status, &said);
        if (300..400).contains(&status) {
            kind = self.redirected(headers);
        }
        if self.keyless && kind.code == INVALID_KEY {
            (kind.title, kind.what) = ("No key", format!("{{host}} wants a key ({status})"));
        }
        let mut error = self.error(kind, &said.message, body);
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        match text("x-should-retry") {
            Some("true") => error.retry = true,
            Some("false") => error.retry = false,
            _ => {}
        }
        if error.retry {
            error.after = text("retry-after-ms")
                .and_then(|ms| seconds(ms).map(|ms| ms / 1000))
                .or_else(|| text("retry-after").and_then(|value| seconds(value).or_else(|| until(value, now))))
                .or_else(|| wait_in_words(&said.message))
                .or_else(|| json.as_ref().and_then(reset::in_body))
                .or_else(|| reset::in_headers(headers, now))
                .or_else(|| refilled(headers, now));
            if let Some(wait) = error.after.filter(|wait| *wait > super::retry::LONGEST) {
                error.text.push_str(&format!(" Retry after {} minutes.", wait.as_secs().div_ceil(60)));
            }
        }
        error
    }

    /// The error for an error object inside of a stream, or in a response that was called a success.
    #[must_use]
    pub fn in_stream(&self, value: &Value) -> ProviderError {
        let said = ServerError::of(value);
        let status = said.code.parse::<u16>().ok().filter(|code| (400..600).contains(code)).unwrap_or(0);
        let mut error = self.error(kind(status, &said), &said.message, &value.to_string());
        if error.retry {
            error.after = wait_in_words(&said.message).or_else(|| reset::in_body(value));
        }
        error
    }

    /// The error for a request that got no response, or whose response could not be read on.
    #[must_use]
    pub fn transport(&self, error: &reqwest::Error) -> ProviderError {
        let chain = chain(error);
        let lower = chain.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let host = &self.host;
        let kind = if has(&["tunnel", "proxy", "socks"]) || (self.proxied && error.is_connect()) {
            FaultKind {
                code: "proxy_error",
                title: "The proxy failed",
                what: format!("Can't reach {host} through the proxy"),
                advice: "Check the connection's proxy, or HTTPS_PROXY and NO_PROXY in the environment.",
                retry: false,
            }
        } else if error.is_dns() || has(&["failed to lookup address", "dns error"]) {
            network(
                "No such server",
                format!("Can't resolve {host}"),
                "Check the network, and the base_url for a typo.",
            )
        } else if has(&["certificate", "tls", "handshake", "invalidcontenttype", "corrupt message"]) {
            let advice = "Check the base_url: use `http://` for a server without TLS; a company proxy may need its \
             certificate in the system store.";
            FaultKind {
                retry: false,
                ..network("No secure connection", format!("TLS connection to {host} failed"), advice)
            }
        } else if has(&["connection refused"]) {
            let advice = if self.loopback {
                "Start the server, or check its address and port."
            } else {
                "Check the base_url and whether the server runs."
            };
            network("Connection refused", format!("Nothing is listening at {host}"), advice)
        } else if has(&["network is unreachable", "No route to host", "host is unreachable"]) {
            network("No network", format!("No route to {host}"), "Check the network.")
        } else if error.is_connect() && error.is_timeout() {
            network("No connection", format!("No response from {host}"), "Check the network and the base_url.")
        } else if error.is_connect() {
            network("No connection", format!("Can't reach {host}"), "Check the network and the base_url.")
        } else {
            network("Connection lost", format!("Connection to {host} lost"), "Try again in a moment.")
        };
        self.error(kind, "", &chain)
    }

    /// The stream ended before the response did.
    #[must_use]
    pub fn broke_off(&self, detail: &str) -> ProviderError {
        let what = format!("{} closed the connection before the response was complete", self.host);
        self.error(network("Response interrupted", what, "Try again in a moment."), "", detail)
    }

    /// Silence in the middle of a response.
    #[must_use]
    pub fn stalled(&self, after: Duration) -> ProviderError {
        let what = format!("{} sent nothing for {} during the response", self.host, in_words(after));
        self.error(network("Response stalled", what, "Try again in a moment."), "", "")
    }

    /// The response did not begin in time. Not tried again by itself: the request may have been costly.
    #[must_use]
    pub fn never_began(&self, after: Duration) -> ProviderError {
        let what = format!("No response from {} within {}", self.host, in_words(after));
        let kind = FaultKind {
            code: "service_unavailable",
            retry: false,
            ..network("No response", what, "Try again, or raise limits.first_byte_seconds.")
        };
        self.error(kind, "", "")
    }

    /// The server answered something that is no answer of an API.
    #[must_use]
    pub fn no_api(&self, content_type: &str, start: &str) -> ProviderError {
        let begins_as_html = start.trim_start().starts_with('<');
        let (title, thing) = if content_type.contains("html") || begins_as_html {
            ("Web page instead of a response", "a web page".to_owned())
        } else if content_type.is_empty() {
            ("Not a model's response", "neither JSON nor an event stream".to_owned())
        } else {
            let one_line: String = content_type.chars().filter(|c| !c.is_control()).take(60).collect();
            ("Not a model's response", format!("neither JSON nor an event stream ({one_line})"))
        };
        let what = format!("{} returned {thing}", self.host);
        self.error(FaultKind { code: "provider_error", title, what, advice: CHECK_URL, retry: false }, "", start)
    }

    /// A part of the stream that cannot be understood.
    #[must_use]
    pub fn garbled(&self, what: &str, detail: &str) -> ProviderError {
        let kind = FaultKind {
            code: "provider_error",
            title: "Malformed response",
            what: format!("{} sent {what}", self.host),
            advice: "Try again in a moment.",
            retry: true,
        };
        self.error(kind, "", detail)
    }

    /// More came than is taken.
    #[must_use]
    pub fn too_large(&self, what: &str) -> ProviderError {
        let kind = FaultKind {
            code: "response_too_large",
            title: "Response too large",
            what: format!("{} sent {what}", self.host),
            advice: "Ask for less at once.",
            retry: false,
        };
        self.error(kind, "", "")
    }

    /// The connection cannot be used as it is configured; `what` is a sentence without its full stop.
    #[must_use]
    pub fn misconfigured(&self, what: &str, advice: &'static str) -> ProviderError {
        let kind = FaultKind {
            code: "invalid_request",
            title: "Connection not usable",
            what: what.to_owned(),
            advice,
            retry: false,
        };
        self.error(kind, "", "")
    }

    /// A text with every key in it masked.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.secrets {
            out = out.replace(secret.as_str(), "***");
        }
        quoted(&out)
    }

    fn redirected(&self, headers: &HeaderMap) -> FaultKind {
        let to = headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("");
        let to = reqwest::Url::parse(to).ok().and_then(|url| url.host_str().map(str::to_owned));
        let to = to.map_or_else(|| "another address".to_owned(), |host| format!("an address at {host}"));
        FaultKind {
            code: "provider_error",
            title: "Redirected",
            what: format!("{} redirects to {to}; the key and the conversation were not sent there", self.host),
            advice: "If that is correct, set it as the connection's base_url.",
            retry: false,
        }
    }

    fn error(&self, kind: FaultKind, quote: &str, detail: &str) -> ProviderError {
        let quote = cut(&self.masked(quote.trim()), QUOTE);
        let named = if self.name.is_empty() { String::new() } else { format!(", connection {}", self.name) };
        let what =
            if kind.what.is_empty() { "Server error".to_owned() } else { kind.what.replace("{host}", &self.host) };
        let quote = match quote.as_str() {
            "" => ".".to_owned(),
            quote if quote.ends_with(['.', '!', '?', '…']) => format!(": {quote}"),
            quote => format!(": {quote}."),
        };
        ProviderError {
            code: kind.code,
            title: kind.title.to_owned(),
            text: self.masked(&format!("{what}{named}{quote} {}", kind.advice)),
            detail: cut(&self.masked(detail.trim()), DETAIL),
            retry: kind.retry,
            after: None,
        }
    }
}

/// The words of an error and of everything below it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        // The outermost text carries the address, which may hold a key.
        let text = error.downcast_ref::<reqwest::Error>().map_or_else(|| error.to_string(), without_address);
        if out.last() != Some(&text) {
            out.push(text);
        }
        next = error.source();
    }
    out.join(": ")
}

fn without_address(error: &reqwest::Error) -> String {
    let text = error.to_string();
    match error.url() {
        Some(url) => text.replace(&format!(" for url ({url})"), "").replace(url.as_str(), "the server"),
        None => text,
    }
}

/// Seconds (or, for the millisecond header, milliseconds) as a number; nothing for negative or endless ones.
fn seconds(text: &str) -> Option<Duration> {
    text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok())
}

/// The time until an HTTP date.
fn until(text: &str, now: i64) -> Option<Duration> {
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::from_secs(u64::try_from(at.as_second().saturating_sub(now)).unwrap_or(0)))
}

/// The time until all limits that are used up are refilled, in Anthropic's headers.
fn refilled(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let text = |name: String| headers.get(name)?.to_str().ok();
    let waits = ["requests", "tokens", "input-tokens", "output-tokens"].into_iter().filter_map(|what| {
        text(format!("anthropic-ratelimit-{what}-remaining")).filter(|left| left.trim() == "0")?;
        let at: jiff::Timestamp = text(format!("anthropic-ratelimit-{what}-reset"))?.trim().parse().ok()?;
        Some(Duration::from_secs(u64::try_from(at.as_second().saturating_sub(now)).unwrap_or(0)))
    });
    waits.max()
}

/// The time in "Please try again in 6m1.5s", as servers write it that send no header.
fn wait_in_words(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let (_, rest) = lower.split_once("try again in ").or_else(|| lower.split_once("please retry in "))?;
    span(rest)
}

/// The time at the beginning of a text: `6m1.5s`, `350ms`, `2 minutes`.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    let mut found = false;
    // A number at the very end has no unit.
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != '.') {
        let (number, after) = rest.split_at(end);
        let Ok(number) = number.parse::<f64>() else { break };
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, tail) = after.split_at(letters);
        total += number
            * match unit {
                "ms" | "milliseconds" => 0.001,
                "s" | "sec" | "second" | "seconds" => 1.0,
                "m" | "min" | "minute" | "minutes" => 60.0,
                "h" | "hour" | "hours" => 3600.0,
                _ => break,
            };
        found = true;
        rest = tail;
    }
    if found { Duration::try_from_secs_f64(total).ok() } else { None }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most.saturating_sub(1)) {
        Some((at, c)) if at + c.len_utf8() < text.len() => format!("{}…", text.get(..at).unwrap_or("")),
        _ => text.to_owned(),
    }
}

fn in_words(time: Duration) -> String {
    if time >= Duration::from_secs(1) { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}

#[cfg(test)]
mod tests;
