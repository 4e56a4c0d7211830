//! The errors that `fail` stands for: those that a server would have caused.

use super::script::FailKind;
use crate::provider::ProviderError;
use std::time::Duration;

/// The error that a server would have caused.
pub(super) fn failure(kind: FailKind) -> ProviderError {
    let (code, title, text, retry, after) = match kind {
        FailKind::Network => ("network_error", "No connection", "The server cannot be reached", true, None),
        FailKind::Break => {
            ("network_error", "The answer broke off", "The connection ended before the answer was complete", true, None)
        }
        FailKind::Stall => (
            "network_error",
            "The answer stalled",
            "The server stopped sending in the middle of its answer",
            true,
            None,
        ),
        FailKind::Rate => {
            ("rate_limited", "Too many requests", "The server asks to wait", true, Some(Duration::from_secs(2)))
        }
        FailKind::Server => {
            ("service_error", "The server failed", "The server had an internal error (500)", true, None)
        }
        FailKind::Overload => {
            ("service_unavailable", "The server is overloaded", "The server has too much to do (529)", true, None)
        }
        FailKind::Key => {
            ("invalid_api_key", "The key was refused", "The server does not accept the key (401)", false, None)
        }
        FailKind::Billing => ("billing_error", "No credit", "The account has no credit left (402)", false, None),
        FailKind::Model => ("invalid_model", "No such model", "The server does not know the model (404)", false, None),
        FailKind::Context => (
            "context_overflow",
            "The context is full",
            "The conversation is longer than the model can take",
            false,
            None,
        ),
    };
    ProviderError {
        code,
        title: title.to_owned(),
        text: format!("{text}. This is the demo: you asked for this failure, nothing is wrong."),
        detail: String::new(),
        retry,
        after,
    }
}
