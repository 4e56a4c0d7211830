//! Links in the text of a logical line: web addresses, and files of the working directory.

use crate::app::state::chat::Entry;
use crate::domain::link::{file_url, files_in, in_text};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a logical line that lead somewhere, and where.
pub(super) type Addresses = Vec<(Range<usize>, Arc<str>)>;

/// Links found in the text of a logical line: web addresses, and files of the working directory.
pub(super) fn addresses(entry: &Entry, number: usize, text: &str, cwd: &str) -> Addresses {
    let mut out = Addresses::new();
    for range in in_text(text) {
        if let Some(url) = text.get(range.clone()) {
            out.push((range, url.into()));
        }
    }
    if cwd.is_empty() {
        return out;
    }
    // The line of a call that is about a file names it, whatever it looks like.
    if let (0, Some(call)) = (number, entry.message.tool())
        && matches!(call.name.as_str(), "read" | "write" | "edit")
        && let Some(url) = file_url(cwd, call.subject.trim(), None)
        && let Some(at) = text.find(' ')
    {
        out.push((at + 1..text.len(), url.into()));
        return out;
    }
    for found in files_in(text) {
        let known = out.iter().any(|(range, _)| range.start < found.range.end && found.range.start < range.end);
        if let Some(url) = file_url(cwd, &found.path, found.line).filter(|_| !known) {
            out.push((found.range, url.into()));
        }
    }
    out
}
