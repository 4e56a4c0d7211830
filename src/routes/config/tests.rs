//! Settings as written, and their mistakes.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<SessionConfig, toml::de::Error> {
    toml::from_str(text)
}

/// Settings of every kind, written as TOML.
const EXAMPLE: &str = r#"
dmScope = "per-channel-peer"
resetTriggers = ["/new", "/reset"]
[identityLinks]
alice = ["telegram:123456789", "discord:987654321012345678"]
[reset]
mode = "daily"
atHour = 4
idleMinutes = 120
[resetByType]
direct = { mode = "idle", idleMinutes = 240 }
group = { mode = "idle", idleMinutes = 120 }
[resetByChannel]
discord = { mode = "idle", idleMinutes = 10080 }
[maintenance]
mode = "enforce"
pruneAfter = "45d"
maxEntries = 800
rotateBytes = "20mb"
resetArchiveRetention = "14d"
[sendPolicy]
default = "allow"
rules = [
  { action = "deny", match = { channel = "discord", chatType = "group" } },
  { action = "deny", match = { keyPrefix = "cron:" } },
]
"#;

#[test]
fn the_settings_of_an_example_are_read() {
    let config = read(EXAMPLE).unwrap();
    assert_eq!(config.dm_scope, DmScope::PerChannelPeer);
    assert_eq!(config.identity_links.name("Telegram", "123456789"), Some("alice"));
    assert_eq!(config.reset.unwrap().at_hour, Some(4));
    assert_eq!(config.reset_by_type.unwrap().group.unwrap().idle_minutes, Some(120));
    assert_eq!(config.reset_by_channel["discord"].idle_minutes, Some(10_080));
    assert_eq!(config.maintenance.prune_after, Days(45 * DAY));
    assert_eq!(config.maintenance.rotate_bytes, Bytes(20 << 20));
    assert_eq!(config.maintenance.reset_retention(), Some(14 * DAY));
    assert_eq!(config.send_policy.unwrap().rules.len(), 2);
}

#[test]
fn defaults() {
    let config = read("").unwrap();
    assert_eq!(config, SessionConfig::default());
    assert!(config.identity_links_merge);
    assert_eq!(config.reset_triggers, ["/new", "/reset"]);
    assert_eq!(config.maintenance.reset_retention(), Some(30 * DAY));
    assert_eq!(config.maintenance.disk_limits(), None);
    assert_eq!(toml::from_str::<CronConfig>("").unwrap().session_retention, Some(Hours(24 * HOUR)));
}

#[test]
fn what_cannot_be_read_is_an_error_at_its_line() {
    for (line, words) in [
        ("dmScope = \"per-person\"", "unknown variant"),
        ("scope = 3", "wanted string"),
        ("identityLinksMerge = \"yes\"", "invalid type"),
        ("reset = { mode = \"weekly\" }", "unknown variant"),
        ("reset = { atHour = 24 }", "0 to 23"),
        ("reset = { atHour = -1 }", "0 to 23"),
        ("reset = { atHour = \"four\" }", "0 to 23"),
        ("reset = { idleMinutes = 0 }", "at least 1"),
        ("reset = { hour = 4 }", "unknown field"),
        ("idleMinutes = \"2h\"", "at least 1"),
        ("identityLinks = { alice = [\"1\"], bob = [\"1\"] }", "listed under"),
        ("identityLinks = { __proto__ = [\"1\"] }", "can't be a name"),
        ("identityLinks = { \"a:thread:b\" = [\"1\"] }", "can't be a name"),
        ("identityLinks = { a = [\" \"] }", "empty id"),
        ("maintenance = { pruneAfter = \"30 fortnights\" }", "invalid duration"),
        ("maintenance = { pruneAfter = \"\" }", "invalid duration"),
        ("maintenance = { pruneAfter = -3 }", "invalid duration"),
        ("maintenance = { pruneAfter = false }", "not a duration"),
        ("maintenance = { rotateBytes = \"10 megs\" }", "invalid size"),
        ("maintenance = { maxDiskBytes = 0 }", "at least 1"),
        ("maintenance = { maxEntries = 0 }", "at least 1"),
        ("maintenance = { resetArchiveRetention = true }", "not a duration"),
        ("sendPolicy = { rules = [{ action = \"block\" }] }", "unknown variant"),
        ("sendPolicy = { rules = [{ action = \"deny\", match = { chan = \"x\" } }] }", "unknown field"),
        ("dmscope = \"main\"", "unknown field"),
    ] {
        let error = read(&format!("# comment\n\n{line}\n")).expect_err(line);
        assert!(error.to_string().contains(words), "{line}: {error}");
        let at = error.span().unwrap_or_else(|| panic!("{line}: no place")).start;
        assert!(at >= 11, "{line}: {at}");
    }
}

#[test]
fn durations_and_sizes() {
    for (text, expected) in [
        ("30d", Ok(30 * DAY)),
        ("7", Ok(7 * DAY)),
        ("1h30m", Ok(90 * MINUTE)),
        (" 1H 30M ", Ok(90 * MINUTE)),
        ("1.5h", Ok(90 * MINUTE)),
        ("500ms", Ok(500)),
        ("90s", Ok(90_000)),
        ("0", Ok(0)),
        ("1h30", Err(())),
        ("h", Err(())),
        ("-1d", Err(())),
        ("1..5h", Err(())),
        ("1w", Err(())),
        ("", Err(())),
        ("99999999999999999999d", Err(())),
    ] {
        assert_eq!(parse_duration(text, DAY).map_err(|_| ()), expected, "{text}");
    }
    for (text, expected) in [
        ("10mb", Ok(10 << 20)),
        ("2G", Ok(2 << 30)),
        ("1.5k", Ok(1536)),
        ("4096", Ok(4096)),
        ("1t", Ok(1 << 40)),
        ("5 b", Ok(5)),
        ("1kb2", Err(())),
        ("1kib", Err(())),
        ("", Err(())),
    ] {
        assert_eq!(parse_bytes(text).map_err(|_| ()), expected, "{text}");
    }
}

#[test]
fn limits_of_the_disk() {
    for (text, expected) in [
        ("maxDiskBytes = 1000", (1000, 800)),
        ("maxDiskBytes = 1", (1, 1)),
        ("maxDiskBytes = 1009", (1009, 807)),
        ("maxDiskBytes = \"1kb\"\nhighWaterBytes = \"2kb\"", (1024, 1024)),
        ("maxDiskBytes = \"1kb\"\nhighWaterBytes = 3", (1024, 3)),
    ] {
        let config: MaintenanceConfig = toml::from_str(text).unwrap();
        assert_eq!(config.disk_limits(), Some(expected), "{text}");
    }
    let keep: MaintenanceConfig = toml::from_str("resetArchiveRetention = false").unwrap();
    assert_eq!(keep.reset_retention(), None);
    let days: MaintenanceConfig = toml::from_str("pruneDays = 3").unwrap();
    assert_eq!(days.prune_after, Days(3 * DAY));
    let cron: CronConfig = toml::from_str("sessionRetention = false").unwrap();
    assert_eq!(cron.session_retention, None);
    let cron: CronConfig = toml::from_str("sessionRetention = 12").unwrap();
    assert_eq!(cron.session_retention, Some(Hours(12 * HOUR)));
}

#[test]
fn queue_settings() {
    let config: QueueConfig = toml::from_str(
        "mode = \"queue\"\ncap = false\ndrop = \"new\"\ndebounceMs = 0\nbyChannel = { irc = \"steer-backlog\" }",
    )
    .unwrap();
    assert_eq!(config.mode, Some(QueueMode::Steer));
    assert_eq!(config.cap, Some(QueueCap(None)));
    assert_eq!(config.by_channel["irc"], QueueMode::SteerBacklog);
    for wrong in ["cap = 0", "cap = true", "cap = \"many\"", "debounceMs = -1", "drop = \"all\"", "mode = \"x\""] {
        assert!(toml::from_str::<QueueConfig>(wrong).is_err(), "{wrong}");
    }
    assert_eq!(serde_json::to_string(&[QueueCap(None), QueueCap(Some(3))]).unwrap(), "[false,3]");
}

proptest! {
    #[test]
    fn units_never_panic(text in any::<String>(), number in any::<u64>()) {
        let _ = (parse_duration(&text, DAY), parse_bytes(&text));
        let config = MaintenanceConfig { max_disk_bytes: Some(Bytes(number.max(1))), ..MaintenanceConfig::default() };
        let (max, high) = config.disk_limits().unwrap();
        prop_assert!(high >= 1 && high <= max);
    }
}
