//! Log of requests: a line of JSON for each, without tokens and without bodies, in a file beside the gateway's secret.

use serde::Serialize;

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct LogLine<'a> {
    /// Milliseconds since 1970.
    pub at: i64,
    pub address: String,
    pub method: &'a str,
    /// Path without its query. Parts that let somebody in are left out.
    pub path: &'a str,
    pub status: u16,
    /// Milliseconds until the response began.
    pub ms: u64,
    /// Name of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<&'a str>,
}
