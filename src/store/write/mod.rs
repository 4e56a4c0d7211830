//! Writes sessions: the journal of one, its header, lock and repair before the first write; drafts and the usage log.

pub(super) mod branch;
pub(super) mod closed_session;
pub(super) mod drafts;
pub(super) mod header_state;
pub(super) mod header_writer;
pub(super) mod journal;
pub(super) mod lifecycle;
pub(super) mod live_file;
pub(super) mod lock;
pub(super) mod ownership;
pub(super) mod recent_rows;
pub(super) mod rescue;
pub(super) mod row_copies;
pub(super) mod row_queue;
pub(super) mod session_file;
pub(super) mod sync_state;
pub(super) mod tail_repair;
pub mod usage_log;
pub(super) mod writer;
