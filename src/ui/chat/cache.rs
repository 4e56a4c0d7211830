//! Laid out entries of one conversation.

/// Laid out entries of one conversation. Make one with `Cache::default()` and hand it to every frame.
#[derive(Debug, Default)]
pub struct Cache {}
