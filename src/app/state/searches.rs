//! Searches: in the conversation, and over all sessions.

use super::find::{Find, Trail};
use super::search::Search;

/// Searches.
#[derive(Debug, Default)]
pub struct Searches {
    /// The search in the conversation, while it is open.
    pub conversation: Option<Search>,
    /// The search over all sessions.
    pub sessions: Find,
    /// The way through the hits of the session that is shown, after one was opened from the results.
    pub trail: Option<Trail>,
}
