//! Writes sessions: the journal of one, its header, lock and repair before the first write; drafts and the usage log.

pub(super) mod branch;
pub(super) mod closed_session;
pub(super) mod drafts;
pub(super) mod header_writer;
pub(super) mod journal;
pub(super) mod live_file;
pub(super) mod lock;
pub(super) mod recent_rows;
pub(super) mod rescue;
pub(super) mod tail_repair;
pub mod usage_log;
pub(super) mod writer;
