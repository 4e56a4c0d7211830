//! The time.

use crate::domain::At;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, now.
pub(super) fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
