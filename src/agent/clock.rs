//! Times: now, and instants as people of this machine write them.

use crate::domain::At;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, now.
pub(super) fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// An instant to the minute, where this machine is.
pub(crate) fn minute(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

/// The day of an instant where this machine is.
pub(crate) fn day(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string())
        .unwrap_or_default()
}
