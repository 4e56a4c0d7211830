//! Shared parts of the wires that learn: the errors that teach something, and knowledge that only
//! grows, however many requests learn at once.

use super::{ModelRequest, ProviderError};
use std::collections::BTreeMap;

/// The server did not like how the request was put.
pub(super) fn is_refusal(error: &ProviderError) -> bool {
    !error.retry && matches!(error.code, "invalid_request" | "provider_error" | "unknown_error")
}

/// Remembers for the model and thinking level of a request which way to ask is left: never one that was refused before.
pub(super) fn raise(ways: &mut BTreeMap<(String, &'static str), usize>, request: &ModelRequest, way: usize) {
    let known = ways.entry((request.model.clone(), request.thinking.word())).or_default();
    *known = way.max(*known);
}
