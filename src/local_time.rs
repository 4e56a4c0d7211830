//! Instants as people of this machine read them, in its time zone.

use crate::domain::At;

/// `2026-09-02 10:00`; empty for an instant that no calendar has.
#[must_use]
pub fn minute(at: At) -> String {
    formatted(at, "%Y-%m-%d %H:%M")
}

/// `2026-09-02 10:00:07`
#[must_use]
pub fn second(at: At) -> String {
    formatted(at, "%Y-%m-%d %H:%M:%S")
}

/// `2026-09-02`
#[must_use]
pub fn day(at: At) -> String {
    formatted(at, "%Y-%m-%d")
}

fn formatted(at: At, format: &str) -> String {
    let zone = jiff::tz::TimeZone::system();
    let at = jiff::Timestamp::from_millisecond(at.0);
    at.map(|at| at.to_zoned(zone).strftime(format).to_string()).unwrap_or_default()
}
