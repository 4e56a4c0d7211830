//! Surroundings of the process: variables of the environment, and the wall clock.

use crate::config::Settings;
use crate::domain::At;
use crate::sandbox::runner::named_keys;
use crate::store::HistoryKind;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A variable of the environment.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Keeps the variables of keys from commands.
pub(super) fn withhold_keys(settings: &Settings) {
    let of_connections = settings.connections.values().filter_map(|one| one.key_env.clone());
    named_keys::withhold(of_connections.chain(settings.share.key_env.clone()));
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

/// Places on this machine where other programs keep their sessions.
#[must_use]
pub fn history_places() -> Vec<(HistoryKind, PathBuf)> {
    let home = std::env::home_dir().filter(|home| home.is_absolute()).unwrap_or_default();
    let of = |kind: HistoryKind| kind.places(&home, &env).into_iter().map(move |place| (kind, place));
    HistoryKind::ALL.into_iter().flat_map(of).collect()
}
