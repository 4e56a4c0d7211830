//! Time, and the timers that keep what shows it true.

use crate::domain::ids::At;

/// Time as the screen knows it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The instant of the last message.
    pub now: At,
    /// Local time minus UTC, in seconds.
    pub utc_offset: i32,
    /// Milliseconds of the armed timer for the times on the screen.
    pub(crate) tick: Option<u64>,
    /// The countdown of the session that is shown is armed for this instant.
    pub(crate) countdown: Option<At>,
}

impl Clock {
    /// A clock without timers. `utc_offset` is local time minus UTC in seconds.
    #[must_use]
    pub fn new(now: At, utc_offset: i32) -> Self {
        Self { now, utc_offset, tick: None, countdown: None }
    }
}
