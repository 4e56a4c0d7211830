//! Numbers as words: ages, durations, tokens, money, paths.

use crate::domain::At;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long ago, in at most four cells: `now`, `2m`, `3h`, `5d`, `8w`, `2y`.
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

/// How long something takes: `4s`, `1m 05s`, `2h 03m`.
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

/// `n` of something: `1 line`, `3 lines`.
#[must_use]
pub fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
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
        assert_eq!([0.0, 0.004, 0.32, 12.5].map(dollars), ["$0.00", "<$0.01", "$0.32", "$12.50"]);
        assert_eq!(count(1, "line", "lines") + &count(2, "line", "lines"), "1 line2 lines");
    }
}
