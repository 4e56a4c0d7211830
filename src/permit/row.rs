//! Outcome of one touch of a call.

use super::shell;
use crate::domain::rule::Offer;

/// Reason to ask about what may read a secret unseen.
pub(super) const COMPUTES: &str = "it reads unnamed files, and secrets in this folder are not hidden";
/// Setting that lets edits run.
pub(super) const EDITS_ALLOWED: &str = "ask.edits = \"allow\" in config.toml";

/// Outcome of one touch.
pub(super) enum TouchRow {
    Allow,
    /// A setting of the user's allows it; which.
    Setting(&'static str),
    /// Rules allow it; their places.
    Ruled(Vec<usize>),
    Ask {
        reason: String,
        risks: Vec<String>,
        /// Rules that an answer would keep; empty in the rows that are never remembered.
        offers: Vec<Offer>,
        /// No rule can answer it.
        every_time: bool,
    },
    Deny(String),
}

/// The question with git's settings that an answer lets it write.
pub(super) fn noting(row: TouchRow, noted: &[String]) -> TouchRow {
    match row {
        TouchRow::Ask { reason, risks, offers, every_time } if !noted.is_empty() => {
            let settings = noted.iter().map(|setting| format!("`{setting}`")).collect::<Vec<_>>().join(", ");
            TouchRow::Ask { reason: format!("{reason} Sets {settings} in git's settings."), risks, offers, every_time }
        }
        row => row,
    }
}

/// End of a reason that says all by itself.
pub(super) const UNLISTED: &str = "is not a known read-only command";

/// True for a reason that needs no words before it: it says itself what is not known to be read-only.
pub(super) fn is_whole(why: &str) -> bool {
    [UNLISTED, "not known to be read-only", shell::NEEDS_SANDBOX].iter().any(|words| why.contains(words))
}

/// A question about what is not known to be read-only.
pub(super) fn asked(why: &str, risks: Vec<String>, offers: Vec<Offer>) -> TouchRow {
    let reason = if is_whole(why) { format!("{why}.") } else { format!("Not known to be read-only: {why}.") };
    TouchRow::Ask { reason, risks, offers, every_time: false }
}

/// A question that is asked every time.
pub(super) fn always_ask(reason: String, risks: Vec<String>) -> TouchRow {
    TouchRow::Ask { reason, risks, offers: Vec::new(), every_time: true }
}

/// Why Explore refuses.
pub(super) fn explore(why: &str) -> String {
    format!("Explore is read-only: {why}. Switch to Ask to Edit to be asked.")
}
