//! Reads sessions: the list, one session in pages, the lines from the end, the search over all. Writes nothing but the
//! list's cache.

pub(super) mod index;
pub(super) mod list;
pub(super) mod page_at;
pub(super) mod search;
pub(super) mod session;
