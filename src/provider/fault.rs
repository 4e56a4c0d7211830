//! Says what went wrong with a server: from a status, a body, an error inside a stream or a broken connection to a
//! [`ProviderError`] with a code, a sentence and a way out. Knows the phrases of many servers, and keeps keys out.
//!
//! Pure except that it looks into [`reqwest::Error`]; sending and reading are the business of `http`.

use super::ProviderError;
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
    /// Texts that never appear in an error.
    pub secrets: Vec<String>,
}

/// What a server said went wrong, in the fields that most of them use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    message: String,
    kind: String,
    code: String,
}

/// A kind of failure: code, title, what happened, what to do, whether it may be tried again.
struct Kind {
    code: &'static str,
    title: &'static str,
    what: String,
    advice: &'static str,
    retry: bool,
}

const CHECK_URL: &str = "Check the connection's base_url; it usually ends in `/v1`.";
const CHECK_KEY: &str = "Give the connection a valid key: the stored one comes first, then its `key_env`.";
const CHECK_MODEL: &str = "Choose another model.";
const WAIT: &str = "Try again in a while.";
const NEW_CONTEXT: &str = "Compact the conversation or begin a new session.";

impl Peer {
    /// The error for a response that is no success. `now` is Unix time in seconds, for a `retry-after` with a date.
    #[must_use]
    pub fn status(&self, status: u16, headers: &HeaderMap, body: &str, now: i64) -> ProviderError {
        let json: Option<Value> = serde_json::from_str(body).ok();
        let said = json.as_ref().map_or_else(|| Said::plain(body), Said::of);
        let mut kind = kind(status, &said);
        if (300..400).contains(&status) {
            kind = self.redirected(headers);
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
                .or_else(|| wait_in_words(&said.message));
        }
        error
    }

    /// The error for an error object inside of a stream, or in a response that was called a success.
    #[must_use]
    pub fn in_stream(&self, value: &Value) -> ProviderError {
        let said = Said::of(value);
        let status = said.code.parse::<u16>().ok().filter(|code| (400..600).contains(code)).unwrap_or(0);
        let mut error = self.error(kind(status, &said), &said.message, &value.to_string());
        if error.retry {
            error.after = wait_in_words(&said.message);
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
            Kind {
                code: "proxy_error",
                title: "The proxy failed",
                what: format!("{host} cannot be reached through the proxy"),
                advice: "Check the connection's proxy, or HTTPS_PROXY and NO_PROXY in the environment.",
                retry: false,
            }
        } else if error.is_dns() || has(&["failed to lookup address", "dns error"]) {
            network(
                "No such server",
                format!("The address of {host} cannot be found"),
                "Check the network, and the base_url for a typo.",
            )
        } else if has(&["certificate", "tls", "handshake", "invalidcontenttype", "corrupt message"]) {
            let advice = "Check the base_url: a server without TLS needs `http://`; a proxy of your company may need its certificate in the system's store.";
            Kind {
                retry: false,
                ..network("No secure connection", format!("No secure connection to {host} can be made"), advice)
            }
        } else if has(&["connection refused"]) {
            let advice = if self.loopback {
                "Start the server, or check the port in base_url."
            } else {
                "Check the base_url and whether the server runs."
            };
            network("Connection refused", format!("Nothing answers at {host}"), advice)
        } else if has(&["network is unreachable", "no route to host", "host is unreachable"]) {
            network("No network", format!("There is no way to {host}"), "Check the network.")
        } else if error.is_connect() && error.is_timeout() {
            network("No connection", format!("{host} does not answer"), "Check the network and the base_url.")
        } else if error.is_connect() {
            network("No connection", format!("{host} cannot be reached"), "Check the network and the base_url.")
        } else {
            network("The connection broke", format!("The connection to {host} broke"), "It can be tried again.")
        };
        self.error(kind, "", &chain)
    }

    /// The stream ended before the response did.
    #[must_use]
    pub fn broke_off(&self, detail: &str) -> ProviderError {
        let what = format!("{} ended the connection before its answer was complete", self.host);
        self.error(network("The answer broke off", what, "It can be tried again."), "", detail)
    }

    /// Nothing came for so long in the middle of a response.
    #[must_use]
    pub fn stalled(&self, after: Duration) -> ProviderError {
        let what = format!("{} sent nothing for {} in the middle of its answer", self.host, in_words(after));
        self.error(network("The answer stalled", what, "It can be tried again."), "", "")
    }

    /// The response did not begin in time. Not tried again by itself: the request may have been costly.
    #[must_use]
    pub fn never_began(&self, after: Duration) -> ProviderError {
        let what = format!("{} did not begin to answer within {}", self.host, in_words(after));
        let kind = Kind {
            code: "service_unavailable",
            retry: false,
            ..network("No answer", what, "Try again, or raise limits.firstByteSeconds.")
        };
        self.error(kind, "", "")
    }

    /// The server answered something that is no answer of an API.
    #[must_use]
    pub fn no_api(&self, content_type: &str, start: &str) -> ProviderError {
        let begins_as_html = start.trim_start().starts_with('<');
        let (title, thing) = if content_type.contains("html") || begins_as_html {
            ("A web page instead of an answer", "a web page".to_owned())
        } else if content_type.is_empty() {
            ("Not an answer of a model", "something that is neither JSON nor an event stream".to_owned())
        } else {
            let one_line: String = content_type.chars().filter(|c| !c.is_control()).take(60).collect();
            ("Not an answer of a model", format!("something that is neither JSON nor an event stream ({one_line})"))
        };
        let what = format!("{} answered with {thing}", self.host);
        self.error(Kind { code: "provider_error", title, what, advice: CHECK_URL, retry: false }, "", start)
    }

    /// A part of the stream that cannot be understood.
    #[must_use]
    pub fn garbled(&self, what: &str, detail: &str) -> ProviderError {
        let kind = Kind {
            code: "provider_error",
            title: "The answer is garbled",
            what: format!("{} sent {what}", self.host),
            advice: "It can be tried again.",
            retry: true,
        };
        self.error(kind, "", detail)
    }

    /// More came than is taken.
    #[must_use]
    pub fn too_large(&self, what: &str) -> ProviderError {
        let kind = Kind {
            code: "response_too_large",
            title: "The answer is too large",
            what: format!("{} sent {what}", self.host),
            advice: "Ask for less at once.",
            retry: false,
        };
        self.error(kind, "", "")
    }

    /// The connection cannot be used as it is configured; `what` is a sentence without its full stop.
    #[must_use]
    pub fn misconfigured(&self, what: &str, advice: &'static str) -> ProviderError {
        let kind = Kind {
            code: "invalid_request",
            title: "The connection cannot be used",
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
        mask_tokens(&out)
    }

    fn redirected(&self, headers: &HeaderMap) -> Kind {
        let to = headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("");
        let to = reqwest::Url::parse(to).ok().and_then(|url| url.host_str().map(str::to_owned));
        let to = to.map_or_else(|| "another address".to_owned(), |host| format!("an address at {host}"));
        Kind {
            code: "provider_error",
            title: "Sent elsewhere",
            what: format!(
                "{} sends requests on to {to}; neither the key nor the conversation was sent there",
                self.host
            ),
            advice: "If that is right, make it the connection's base_url.",
            retry: false,
        }
    }

    fn error(&self, kind: Kind, quote: &str, detail: &str) -> ProviderError {
        let quote = cut(&self.masked(quote.trim()), QUOTE);
        let named = if self.name.is_empty() { String::new() } else { format!(" (connection {})", self.name) };
        let what =
            if kind.what.is_empty() { "The server failed".to_owned() } else { kind.what.replace("{host}", &self.host) };
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

impl Said {
    fn plain(body: &str) -> Said {
        // A page of markup says nothing in a sentence; it is in the detail.
        let message = if body.trim_start().starts_with('<') { "" } else { body.trim() };
        Said { message: message.to_owned(), ..Said::default() }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}` and lists of these.
    fn of(value: &Value) -> Said {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |key: &str| -> String {
            match inner.get(key).or_else(|| value.get(key)) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => String::new(),
            }
        };
        let mut message = match inner {
            Value::String(text) => text.clone(),
            _ => text("message"),
        };
        if message.is_empty() {
            message = match inner.get("detail").or_else(|| inner.get("message")) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(list)) => {
                    let parts = list.iter().filter_map(|part| part.get("msg").and_then(Value::as_str));
                    parts.collect::<Vec<_>>().join("; ")
                }
                Some(Value::Object(fields)) => Value::Object(fields.clone()).to_string(),
                _ => String::new(),
            };
        }
        Said { message, kind: text("type"), code: text("code") }
    }
}

fn network(title: &'static str, what: String, advice: &'static str) -> Kind {
    Kind { code: "network_error", title, what, advice, retry: true }
}

/// What a status (0 for an error inside of a stream) and the server's words mean. The words come first: servers use
/// the same status for very different things.
fn kind(status: u16, said: &Said) -> Kind {
    let message = said.message.to_lowercase();
    let labels = format!("{} {}", said.kind, said.code).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is = |words: &[&str]| words.iter().any(|word| labels.contains(word));
    let make = |code, title, what: &str, advice, retry| {
        let shown = if status == 0 { String::new() } else { format!(" ({status})") };
        Kind { code, title, what: format!("{what}{shown}"), advice, retry }
    };
    if is(&["context_length", "exceed_context_size", "context_window"]) || says(OVERFLOW) {
        return make(
            "context_overflow",
            "The context is full",
            "The conversation is too long for the model at {host}",
            NEW_CONTEXT,
            false,
        );
    }
    if says(NO_TOOLS) {
        let what = "The model at {host} cannot use tools";
        return make(
            "model_no_tool_support",
            "The model cannot use tools",
            what,
            "Choose a model that can, or switch tool calling on at the server.",
            false,
        );
    }
    if status == 402 || is(&["insufficient_quota", "billing", "insufficient_balance", "payment"]) || says(NO_CREDIT) {
        return make(
            "billing_error",
            "No credit",
            "{host} wants to be paid",
            "Look at the account's billing at the provider.",
            false,
        );
    }
    if status == 401 || is(&["invalid_api_key", "authentication", "unauthorized"]) {
        return make("invalid_api_key", "The key was refused", "{host} does not accept the key", CHECK_KEY, false);
    }
    if status == 413 || says(&["request too large for model"]) {
        return make(
            "invalid_request",
            "The request is too large",
            "{host} does not take a request of this size",
            NEW_CONTEXT,
            false,
        );
    }
    if status == 429 || is(&["rate_limit", "too_many_requests"]) {
        return make("rate_limited", "Too many requests", "{host} asks to wait", WAIT, true);
    }
    if status == 529 || is(&["overloaded", "insufficient_system_resource"]) {
        return make("service_unavailable", "The server is overloaded", "{host} has too much to do", WAIT, true);
    }
    if is(&["model_not_found", "invalid_model", "model_not_exist"])
        || (matches!(status, 0 | 400 | 404 | 422) && message.contains("model") && says(NO_MODEL))
    {
        return make("invalid_model", "No such model", "{host} does not know the model", CHECK_MODEL, false);
    }
    match status {
        403 => make(
            "invalid_api_key",
            "Access refused",
            "{host} refuses access",
            "Check what the key and the account may use.",
            false,
        ),
        404 | 405 => make("invalid_request", "Nothing at this address", "{host} has no such address", CHECK_URL, false),
        407 => make(
            "proxy_error",
            "The proxy wants a login",
            "The proxy on the way to {host} wants a login",
            "Check the connection's proxy.",
            false,
        ),
        408 | 409 => make("service_unavailable", "The server gave up", "{host} gave the request up", WAIT, true),
        502..=504 => make("service_unavailable", "The server is not available", "{host} is not available", WAIT, true),
        500..=599 => make("service_error", "The server failed", "{host} had an error of its own", WAIT, true),
        400..=499 => make(
            "invalid_request",
            "The request was refused",
            "{host} does not accept the request",
            "The detail may say what it dislikes.",
            false,
        ),
        // Nothing but the words of the server: those that speak of its own trouble may pass.
        0 if is(&["server_error", "internal", "unavailable", "timeout", "tool_use_failed", "api_error"])
            || says(&["try again", "internal server error", "timed out", "upstream", "overloaded"]) =>
        {
            make("service_error", "The server failed", "{host} failed in the middle of its answer", WAIT, true)
        }
        0 if is(&["invalid_request"]) => make(
            "invalid_request",
            "The request was refused",
            "{host} does not accept the request",
            "The detail may say what it dislikes.",
            false,
        ),
        0 => make("provider_error", "The server failed", "{host} reported an error in its answer", WAIT, false),
        _ => make("unknown_error", "An odd answer", "{host} answered with an unknown status", CHECK_URL, false),
    }
}

const OVERFLOW: &[&str] = &[
    "maximum context length",
    "context length exceeded",
    "exceeds the available context size",
    "exceed context window",
    "exceeds the context window",
    "context window exceeded",
    "exceeds the model's context",
    "prompt is too long",
    "input is too long",
    "reduce the length of the messages",
    "exceeds the maximum number of tokens",
    "maximum prompt length",
    "input length and `max_tokens` exceed",
    "longer than the model's context",
    "greater than the context length",
];
const NO_TOOLS: &[&str] = &[
    "does not support tools",
    "does not support tool",
    "does not support function",
    "no endpoints found that support tool use",
    "tool calling` is not supported",
    "tool calling is not supported",
    "tools param requires",
    "requires --enable-auto-tool-choice",
    "function calling is not enabled",
    "tools are not supported",
];
const NO_CREDIT: &[&str] = &[
    "insufficient balance",
    "insufficient credit",
    "credit balance is too low",
    "exceeded your current quota",
    "requires more credits",
];
const NO_MODEL: &[&str] = &[
    "not found",
    "does not exist",
    "not exist",
    "not a valid model",
    "invalid model",
    "unknown model",
    "no such model",
    "no model",
];

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

/// The time in "Please try again in 6m1.5s", as servers write it that send no header.
fn wait_in_words(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let (_, rest) = lower.split_once("try again in ")?;
    let mut total = 0.0;
    let mut rest = rest;
    let mut found = false;
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

/// Masks what looks like a key: known beginnings, and what follows "Bearer".
fn mask_tokens(text: &str) -> String {
    const BEGINNINGS: [&str; 7] = ["sk-", "gsk_", "AIza", "xai-", "hf_", "nvapi-", "Bearer "];
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at_word = out.chars().next_back().is_none_or(|before| !before.is_ascii_alphanumeric());
        let found = BEGINNINGS.iter().find(|start| at_word && rest.starts_with(**start));
        if let Some(start) = found {
            let tail = rest.get(start.len()..).unwrap_or("");
            let length = tail.find(|c| !is_key(c)).unwrap_or(tail.len());
            if length >= 6 {
                out.push_str(start);
                out.push_str("***");
                // A full stop at its end belongs to the sentence.
                if tail.get(..length).is_some_and(|key| key.ends_with('.')) {
                    out.push('.');
                }
                rest = tail.get(length..).unwrap_or("");
                continue;
            }
        }
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or("");
    }
    out
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
