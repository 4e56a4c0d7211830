//! Results of calls as the model gets them. The registry cuts a long one (`limits`), or has it summarised (`summary`);
//! data that is no text goes to the session's `downloads`.

pub mod downloads;
pub mod limits;
pub(super) mod summary;
