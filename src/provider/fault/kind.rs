//! Meaning of a server's status and words. The phrases are those that servers were seen to use.

use serde_json::Value;

/// Error of a server, in the fields that most of them use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    pub(super) message: String,
    pub(super) kind: String,
    pub(super) code: String,
}

/// A kind of failure: code, title, what happened, what to do, whether it may be tried again.
pub(super) struct FaultKind {
    pub(super) code: &'static str,
    pub(super) title: &'static str,
    pub(super) what: String,
    pub(super) advice: &'static str,
    pub(super) retry: bool,
}

pub(super) const CHECK_URL: &str = "Check the connection's base_url; it usually ends in `/v1`.";
const CHECK_KEY: &str = "Enter a valid key.";
/// Code of a refused key.
pub(super) const INVALID_KEY: &str = "invalid_api_key";
const CHECK_MODEL: &str = "Choose another model.";
const WAIT: &str = "Try again in a moment.";
const NEW_CONTEXT: &str = "Compact the conversation or start a new session.";

impl ServerError {
    pub(super) fn plain(body: &str) -> ServerError {
        // A page of markup says nothing in a sentence; it is in the detail.
        let message = if body.trim_start().starts_with('<') { "" } else { body.trim() };
        ServerError { message: message.to_owned(), ..ServerError::default() }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}` and lists of these.
    pub(super) fn of(value: &Value) -> ServerError {
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
        // Google's errors have a status in words, and reasons and quotas in their details.
        let kind = Some(text("type")).filter(|kind| !kind.is_empty()).unwrap_or_else(|| text("status"));
        ServerError { message, kind: kind + &details(inner), code: text("code") }
    }
}

/// The reasons and the names of quotas in the details of Google's errors.
fn details(error: &Value) -> String {
    let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(|word| format!(" {word}"));
    let mut out = String::new();
    for detail in details {
        out.extend(word(detail, "reason"));
        let quotas = detail.get("violations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        out.extend(quotas.iter().filter_map(|quota| word(quota, "quotaId")));
    }
    out
}

pub(super) fn network(title: &'static str, what: String, advice: &'static str) -> FaultKind {
    FaultKind { code: "network_error", title, what, advice, retry: true }
}

/// Meaning of a status (0 for an error inside a stream) and the server's words. The words come
/// first: servers use the same status for very different things.
pub(super) fn kind(status: u16, said: &ServerError) -> FaultKind {
    let message = said.message.to_lowercase();
    let labels = format!("{} {}", said.kind, said.code).to_lowercase();
    let words = FaultWords { status, message, labels };
    of_account(&words).or_else(|| of_request(&words)).unwrap_or_else(|| of_status(&words))
}

/// Words of a refusal, in small letters, with its status; 0 where it came in the middle of an answer.
struct FaultWords {
    status: u16,
    message: String,
    labels: String,
}

impl FaultWords {
    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.message.contains(word))
    }

    fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.labels.contains(word))
    }

    fn kind(
        &self,
        code: &'static str,
        title: &'static str,
        what: &str,
        advice: &'static str,
        retry: bool,
    ) -> FaultKind {
        let shown = if self.status == 0 { String::new() } else { format!(" ({})", self.status) };
        FaultKind { code, title, what: format!("{what}{shown}"), advice, retry }
    }
}

/// Limits of the model and the account: context, tools, requests, credit, key.
fn of_account(words: &FaultWords) -> Option<FaultKind> {
    if words.is(&["context_length", "exceed_context_size", "context_window"]) || words.says(OVERFLOW) {
        return Some(words.kind(
            "context_overflow",
            "Context full",
            "Conversation too long for the model at {host}",
            NEW_CONTEXT,
            false,
        ));
    }
    if words.says(NO_TOOLS) {
        let what = "The model at {host} doesn't support tools";
        return Some(words.kind(
            "model_no_tool_support",
            "No tool support",
            what,
            "Choose another model, or enable tool calling on the server.",
            false,
        ));
    }
    if words.is(&["resource_exhausted"]) && !words.says(&["credits are depleted", "prepayment"]) {
        let (what, retry) = match words.is(&["perday"]) {
            true => ("Daily request limit of {host} reached", false),
            false => ("Rate limited by {host}", true),
        };
        return Some(words.kind("rate_limited", "Too many requests", what, WAIT, retry));
    }
    if words.status == 402
        || words.is(&["insufficient_quota", "billing", "insufficient_balance", "payment"])
        || words.says(NO_CREDIT)
    {
        return Some(words.kind(
            "billing_error",
            "No credit",
            "No credit left at {host}",
            "Check your billing at the provider.",
            false,
        ));
    }
    if words.status == 401
        || words.is(&["invalid_api_key", "authentication", "unauthorized", "api_key_invalid"])
        || words.says(&["api key not valid", "api key expired"])
    {
        return Some(words.kind(INVALID_KEY, "Invalid key", "{host} rejected the key", CHECK_KEY, false));
    }
    None
}

/// Problems of what the request holds, and of a server that has too much to do.
fn of_request(words: &FaultWords) -> Option<FaultKind> {
    if words.says(LARGE_PICTURE) {
        return Some(words.kind(
            "image_too_large",
            "Image too large",
            "{host} rejected an image of this size",
            "Attach a smaller one.",
            false,
        ));
    }
    if words.status == 413 || words.says(&["request too large for model"]) {
        return Some(words.kind(
            "invalid_request",
            "Request too large",
            "{host} rejected a request of this size",
            NEW_CONTEXT,
            false,
        ));
    }
    if words.says(NO_MILLION) {
        return Some(words.kind(
            "invalid_request",
            "No 1M context",
            "{host} doesn't offer the 1M context to this account",
            "Turn off 1M context in /settings, compact the conversation, or upgrade the account.",
            false,
        ));
    }
    if words.status == 429 || words.is(&["rate_limit", "too_many_requests"]) {
        return Some(words.kind("rate_limited", "Too many requests", "Rate limited by {host}", WAIT, true));
    }
    if words.status == 529 || words.is(&["overloaded", "insufficient_system_resource"]) {
        return Some(words.kind("service_unavailable", "Server overloaded", "{host} is overloaded", WAIT, true));
    }
    if words.is(&["model_not_found", "invalid_model", "model_not_exist", "deploymentnotfound"])
        || (words.is(&["not_found_error"]) && words.message.starts_with("model:"))
        || (matches!(words.status, 0 | 400 | 404 | 422) && words.message.contains("model") && words.says(NO_MODEL))
    {
        return Some(words.kind("invalid_model", "No such model", "{host} doesn't know the model", CHECK_MODEL, false));
    }
    if words.is(&["content_filter"]) {
        return Some(words.kind(
            "invalid_request",
            "Request filtered",
            "{host} rejected the conversation's content",
            "Rephrase it.",
            false,
        ));
    }
    None
}

/// Kind by the status alone, where the words say nothing.
fn of_status(words: &FaultWords) -> FaultKind {
    match words.status {
        403 => words.kind(
            "invalid_api_key",
            "Access denied",
            "{host} denied access",
            "Check the permissions of the key and the account.",
            false,
        ),
        404 | 405 => words.kind("invalid_request", "Not found", "No such URL at {host}", CHECK_URL, false),
        407 => words.kind(
            "proxy_error",
            "Proxy login required",
            "The proxy for {host} requires a login",
            "Check the connection's proxy.",
            false,
        ),
        408 | 409 => words.kind("service_unavailable", "Server timeout", "{host} timed out", WAIT, true),
        502..=504 => words.kind("service_unavailable", "Server unavailable", "{host} is unavailable", WAIT, true),
        500..=599 => words.kind("service_error", "Server error", "{host} returned a server error", WAIT, true),
        400..=499 => {
            words.kind("invalid_request", "Request rejected", "{host} rejected the request", "See the details.", false)
        }
        // Nothing but the words of the server: those that speak of its own trouble may pass.
        0 if words.is(&["server_error", "internal", "unavailable", "timeout", "tool_use_failed", "api_error"])
            || words.says(&["try again", "internal server error", "timed out", "upstream", "overloaded"]) =>
        {
            words.kind("service_error", "Server error", "{host} failed during the response", WAIT, true)
        }
        0 if words.is(&["invalid_request", "invalid_prompt"]) => {
            words.kind("invalid_request", "Request rejected", "{host} rejected the request", "See the details.", false)
        }
        0 => words.kind("provider_error", "Server error", "{host} reported an error in its response", WAIT, false),
        _ => words.kind("unknown_error", "Unexpected status", "{host} returned an unknown status", CHECK_URL, false),
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
    "exceeds the context length",
    "exceeds maximum context",
    "context size has been exceeded",
    "context the overflows",
    "model is loaded with context length of only",
    "reached context length",
    "exceeds the limit of the model's context",
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
/// A picture has too many bytes or too many points.
const LARGE_PICTURE: &[&str] = &[
    "image exceeds",
    "image too large",
    "image is too large",
    "image size exceeds",
    "image dimensions exceed",
    "max allowed size for many-image",
];
const NO_CREDIT: &[&str] = &[
    "insufficient balance",
    "insufficient credit",
    "credit balance is too low",
    "exceeded your current quota",
    "credits are depleted",
    "requires more credits",
];
/// Anthropic's words for an account that may not use a context of a million tokens.
const NO_MILLION: &[&str] = &["long context beta", "required for long context", "context-1m"];
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
