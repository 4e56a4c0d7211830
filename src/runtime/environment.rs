//! Surroundings of the process: variables of the environment, and the wall clock.

use crate::domain::At;
use std::time::{SystemTime, UNIX_EPOCH};

/// A variable of the environment.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Now, by the wall clock.
pub(super) fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Local time minus UTC, in seconds.
pub(super) fn utc_offset() -> i32 {
    jiff::Zoned::now().offset().seconds()
}
