//! Requests that no connection answers: what the user reads, and the key that could help.

use crate::agent::connections::Connections;
use crate::domain::request::KeyRequest;
use crate::domain::{ConnectionName, SessionId};
use crate::provider::ProviderError;

/// The key that could help against this failure.
pub(super) fn wanted_after(
    connections: &Connections,
    name: &ConnectionName,
    error: &ProviderError,
) -> Option<KeyRequest> {
    (error.code == "invalid_api_key").then(|| connections.wanted(name, Some(&error.text)))?
}

/// Message where nobody can be asked.
pub(super) fn unmapped(name: &ConnectionName, session: &SessionId) -> String {
    format!(
        "This session uses connection {name}, which is not configured here. Substitute another with `lisle run \
         --session {session} --connection NAME`."
    )
}

pub(super) fn no_connection(text: &str) -> ProviderError {
    ProviderError {
        code: "invalid_credentials",
        title: "No connection".to_owned(),
        text: text.to_owned(),
        detail: String::new(),
        retry: false,
        after: None,
    }
}
