//! The errors that `fail` stands for: those that a server would have caused.

use super::script::FailKind;
use crate::provider::ProviderError;
use std::time::Duration;

/// The error that a server would have caused.
pub(super) fn failure(kind: FailKind) -> ProviderError {
    let (code, title, text, retry, after) = match kind {
        FailKind::Network => ("network_error", "No connection", "Can't reach the server", true, None),
        FailKind::Break => (
            "network_error",
            "Response interrupted",
            "The connection closed before the response was complete",
            true,
            None,
        ),
        FailKind::Stall => {
            ("network_error", "Response stalled", "The server stopped sending during the response", true, None)
        }
        FailKind::Rate => {
            ("rate_limited", "Too many requests", "Rate limited by the server", true, Some(Duration::from_secs(2)))
        }
        FailKind::Server => {
            ("service_error", "Server error", "The server returned an internal error (500)", true, None)
        }
        FailKind::Overload => {
            ("service_unavailable", "Server overloaded", "The server is overloaded (529)", true, None)
        }
        FailKind::Key => ("invalid_api_key", "Invalid key", "The server rejected the key (401)", false, None),
        FailKind::Billing => ("billing_error", "No credit", "No credit left (402)", false, None),
        FailKind::Model => ("invalid_model", "No such model", "The server doesn't know the model (404)", false, None),
        FailKind::Context => {
            ("context_overflow", "Context full", "The conversation is too long for the model", false, None)
        }
    };
    ProviderError {
        code,
        title: title.to_owned(),
        text: format!("{text}. Demo: this failure was requested."),
        detail: String::new(),
        retry,
        after,
    }
}
