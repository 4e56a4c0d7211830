//! Numbers as words: ages, durations, tokens, money, paths.

use crate::domain::At;
pub use crate::domain::count::count;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Age in at most four cells: `now`, `2m`, `3h`, `5d`, `8w`, `2y`.
#[must_use]
pub fn age(then: At, now: At) -> String {
    let ms = now.since(then);
    match ms {
        _ if ms < MINUTE => "now".to_owned(),
        _ if ms < HOUR => format!("{}m", ms / MINUTE),
        _ if ms < DAY => format!("{}h", ms / HOUR),
        _ if ms < 14 * DAY => format!("{}d", ms / DAY),
        _ if ms < 365 * DAY => format!("{}w", ms / (7 * DAY)),
        _ => format!("{}y", (ms / (365 * DAY)).min(999)),
    }
}

/// The day of an instant for someone whose clock is `utc_offset` seconds ahead of UTC: its time on the day of `now`,
/// else `2 Sep`, else with its year.
#[must_use]
pub fn day(then: At, now: At, utc_offset: i32) -> String {
    let offset = jiff::tz::Offset::from_seconds(utc_offset).unwrap_or(jiff::tz::Offset::UTC);
    let civil = |at: At| jiff::Timestamp::from_millisecond(at.0).ok().map(|t| offset.to_datetime(t));
    let (Some(then), Some(now)) = (civil(then), civil(now)) else { return String::new() };
    if then.date() == now.date() {
        format!("{:02}:{:02}", then.hour(), then.minute())
    } else if then.year() == now.year() {
        then.strftime("%-d %b").to_string()
    } else {
        then.strftime("%-d %b %Y").to_string()
    }
}

/// Bytes: `850 B`, `12 KB`, `3.4 MB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    let tenths = |unit: u64, name: &str| {
        let whole = n / unit;
        if whole < 10 && n % unit >= unit / 10 {
            format!("{whole}.{} {name}", n % unit * 10 / unit)
        } else {
            format!("{whole} {name}")
        }
    };
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => tenths(1_000, "KB"),
        1_000_000..1_000_000_000 => tenths(1_000_000, "MB"),
        _ => tenths(1_000_000_000, "GB"),
    }
}

/// Duration: `4s`, `1m 05s`, `2h 03m`.
#[must_use]
pub fn elapsed(ms: u64) -> String {
    match ms {
        _ if ms < MINUTE => format!("{}s", ms / SECOND),
        _ if ms < HOUR => format!("{}m {:02}s", ms / MINUTE, ms % MINUTE / SECOND),
        _ => format!("{}h {:02}m", ms / HOUR, ms % HOUR / MINUTE),
    }
}

/// Tokens: `850`, `12k`, `200k`, `1M`, `1.2M`.
#[must_use]
pub fn tokens(n: u64) -> String {
    match n {
        _ if n < 1_000 => n.to_string(),
        _ if n < 10_000 && n % 1_000 >= 100 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        _ if n < 1_000_000 => format!("{}k", n / 1_000),
        _ if n % 1_000_000 >= 100_000 => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
        _ => format!("{}M", n / 1_000_000),
    }
}

/// US dollars: `$0.32`; `<$0.01` where the cent would hide it.
#[must_use]
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { "<$0.01".to_owned() } else { format!("${usd:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let ago = |ms: i64| age(At(1_000_000_000_000 - ms), At(1_000_000_000_000));
        for (ms, want) in [
            (-5, "now"),
            (59_999, "now"),
            (60_000, "1m"),
            (3_599_999, "59m"),
            (3_600_000, "1h"),
            (86_400_000, "1d"),
            (14 * 86_400_000, "2w"),
            (400 * 86_400_000, "1y"),
        ] {
            assert_eq!(ago(ms), want);
        }
        assert_eq!([0, 999, 61_000, 7_380_000].map(elapsed), ["0s", "0s", "1m 01s", "2h 03m"]);
        assert_eq!(
            [850, 1_000, 1_250, 12_400, 200_000, 1_000_000, 1_250_000].map(tokens),
            ["850", "1k", "1.2k", "12k", "200k", "1M", "1.2M"]
        );
        let now = At(1_788_383_040_000);
        assert_eq!(day(At(now.0 - 3_600_000), now, 0), "20:04");
        assert_eq!(day(At(now.0 - 86_400_000), now, 0), "1 Sep");
        assert_eq!(day(At(now.0 - 400 * 86_400_000), now, 0), "29 Jul 2025");
        assert_eq!(
            [0, 999, 1_000, 1_250, 12_400, 3_460_000].map(bytes),
            ["0 B", "999 B", "1 KB", "1.2 KB", "12 KB", "3.4 MB"]
        );
        assert_eq!([0.0, 0.004, 0.32, 12.5].map(dollars), ["$0.00", "<$0.01", "$0.32", "$12.50"]);
        assert_eq!(count(1, "line", "lines") + &count(2, "line", "lines"), "1 line2 lines");
    }
}
