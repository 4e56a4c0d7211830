//! Settings of a queue: inline directive, row, channel, config, built-in, in this order.

use crate::routes::config::{QueueCap, QueueConfig, QueueDrop, QueueMode};
use crate::routes::row::RowSettings;

/// Milliseconds for which a queue waits for quiet at the most: nobody in a chat keeps it waiting for ever.
const LONGEST_WAIT: u64 = 60 * 60 * 1_000;

/// Milliseconds of quiet before waiting messages become a turn.
const DEBOUNCE_MS: u64 = 1000;
/// Most waiting messages.
const CAP: u64 = 20;

/// Settings that a directive or a row gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueOverrides {
    /// Mode.
    pub mode: Option<QueueMode>,
    /// Debounce in milliseconds.
    pub debounce_ms: Option<u64>,
    /// Cap.
    pub cap: Option<QueueCap>,
    /// Drop policy.
    pub drop: Option<QueueDrop>,
}

impl QueueOverrides {
    /// Overrides of a row.
    #[must_use]
    pub fn of_row(row: &RowSettings) -> Self {
        Self { mode: row.queue_mode, debounce_ms: row.queue_debounce_ms, cap: row.queue_cap, drop: row.queue_drop }
    }

    /// Writes the overrides that are given into a row. Without any, all are removed.
    pub fn store(&self, row: &mut RowSettings) {
        let clear = *self == Self::default();
        row.queue_mode = self.mode.or(row.queue_mode.filter(|_| !clear));
        row.queue_debounce_ms = self.debounce_ms.or(row.queue_debounce_ms.filter(|_| !clear));
        row.queue_cap = self.cap.or(row.queue_cap.filter(|_| !clear));
        row.queue_drop = self.drop.or(row.queue_drop.filter(|_| !clear));
    }
}

/// Settings in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Mode.
    pub mode: QueueMode,
    /// Milliseconds of quiet before waiting messages become a turn.
    pub debounce_ms: u64,
    /// Most waiting messages; `None` for no limit.
    pub cap: Option<u64>,
    /// Messages that a full queue drops.
    pub drop: QueueDrop,
}

impl QueueSettings {
    /// Settings in force for a message.
    #[must_use]
    pub fn resolve(inline: &QueueOverrides, row: &QueueOverrides, config: &QueueConfig, channel: Option<&str>) -> Self {
        let channel = channel.map(|name| name.trim().to_lowercase()).unwrap_or_default();
        let is_channel = |name: &String| name.trim().to_lowercase() == channel;
        let channel_mode = config.by_channel.iter().find(|(name, _)| is_channel(name)).map(|(_, mode)| *mode);
        let channel_wait = config.debounce_ms_by_channel.iter().find(|(name, _)| is_channel(name)).map(|(_, ms)| *ms);
        let cap = inline.cap.or(row.cap).or(config.cap).unwrap_or(QueueCap(Some(CAP)));
        Self {
            mode: inline.mode.or(row.mode).or(channel_mode).or(config.mode).unwrap_or_default(),
            debounce_ms: inline
                .debounce_ms
                .or(row.debounce_ms)
                .or(channel_wait)
                .or(config.debounce_ms)
                .unwrap_or(DEBOUNCE_MS)
                .min(LONGEST_WAIT),
            cap: cap.0,
            drop: inline.drop.or(row.drop).or(config.drop).unwrap_or_default(),
        }
    }
}
