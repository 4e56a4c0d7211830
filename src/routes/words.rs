//! Words of lists: short keys, ages, token counts.

use crate::domain::ids::At;

/// Key of at most 26 characters: 16 from its start, 6 from its end.
pub(super) fn short_key(key: &str) -> String {
    let letters: Vec<char> = key.chars().collect();
    if letters.len() <= 26 {
        return key.to_owned();
    }
    let start: String = letters.iter().take(16).collect();
    let end: String = letters.iter().skip(letters.len() - 6).collect();
    format!("{start}...{end}")
}

/// Time since a change; `None` for an unknown time.
pub(super) fn age(now: At, at: Option<At>) -> String {
    let Some(at) = at else { return "unknown".to_owned() };
    let minutes = now.since(at) / 60_000;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes}m ago"),
        60..2880 => format!("{}h ago", minutes / 60),
        _ => format!("{}d ago", minutes / 1440),
    }
}

/// Token count: `950`, `1.2k`, `12k`, `1.2m`.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        // Hundreds and not a fraction: 9,960 rounds to `10k`, not to `10.0k`.
        1_000..9_950 => format!("{}.{}k", (count + 50) / 1_000, (count + 50) % 1_000 / 100),
        9_950..999_500 => format!("{}k", (count + 500) / 1_000),
        _ => format!("{}.{}m", (count + 50_000) / 1_000_000, (count + 50_000) % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ages_and_keys_are_short() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (1_249, "1.2k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (12_345, "12k"),
            (999_499, "999k"),
            (999_500, "1.0m"),
            (1_230_000, "1.2m"),
        ] {
            assert_eq!(tokens(count), text, "{count}");
        }
        let minute = 60_000;
        for (ms, text) in [(0, "just now"), (5 * minute, "5m ago"), (47 * 60 * minute, "47h ago")] {
            assert_eq!(age(At(ms), Some(At(0))), text);
        }
        assert_eq!((age(At(48 * 60 * minute), Some(At(0))), age(At(0), None)), ("2d ago".into(), "unknown".into()));
        assert_eq!(short_key("agent:main:telegram:group:-100123456"), "agent:main:teleg...123456");
        assert_eq!(short_key("agent:main:main"), "agent:main:main");
    }
}
