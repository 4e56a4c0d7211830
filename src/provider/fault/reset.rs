//! Time until a limit is refilled, from servers that send no `retry-after`. Pure.

use super::span;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// The time in `x-ratelimit-reset-requests`, `-tokens` and `x-ratelimit-reset`: of the limits that are used up, where the headers
/// tell which, and otherwise the shortest. OpenAI and Groq write spans (`6m0s`), others seconds, a Unix time or its milliseconds.
pub(super) fn in_headers(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let text = |name: String| headers.get(name)?.to_str().ok().map(str::trim);
    let limits: Vec<(bool, Duration)> = ["", "-requests", "-tokens"]
        .into_iter()
        .filter_map(|what| {
            let reset = moment(text(format!("x-ratelimit-reset{what}"))?, now)?;
            let used_up = text(format!("x-ratelimit-remaining{what}")).is_some_and(|left| left == "0");
            Some((used_up, reset))
        })
        .collect();
    let used_up = limits.iter().filter(|(used_up, _)| *used_up).map(|(_, reset)| *reset).max();
    used_up.or_else(|| limits.iter().map(|(_, reset)| *reset).min())
}

/// The delay in the details of Google's errors (`google.rpc.RetryInfo`).
pub(super) fn in_body(body: &Value) -> Option<Duration> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    span(delay)
}

fn moment(text: &str, now: i64) -> Option<Duration> {
    let Ok(number) = text.parse::<f64>() else { return span(text) };
    let seconds = if number > 1e11 {
        number / 1000.0 - now as f64
    } else if number > 1e8 {
        number - now as f64
    } else {
        number
    };
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}
