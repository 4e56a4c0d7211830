//! Other programs: those that write the same files at the same time, imports of their sessions, exports for people.

pub(super) mod export;
pub(super) mod follow;
pub(super) mod import;
pub(super) mod merge;
pub(super) mod other_writers;
pub(super) mod properties;
pub(super) mod shadow_log;
pub(super) mod wake;
