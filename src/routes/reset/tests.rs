//! Rules in force, boundaries over a year in five zones, what a reset keeps.

use super::*;
use crate::routes::key::OpaqueChannels;
use jiff::civil::{DateTime, date};
use proptest::prelude::*;
use serde_json::{Map, json};

const ZONES: [&str; 5] =
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu"];

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn at(zone: &TimeZone, wall: DateTime) -> At {
    At(zone.to_ambiguous_timestamp(wall).compatible().unwrap().as_millisecond())
}

fn config(text: &str) -> SessionConfig {
    toml::from_str(text).unwrap()
}

fn key(text: &str) -> SessionKey {
    SessionKey::parse(text, &OpaqueChannels::default()).unwrap()
}

fn row(started: i64, last: i64) -> SessionRow {
    let mut row = SessionRow::new(SessionId::numbered(1), At(started));
    row.conversation.last_interaction_at = Some(At(last));
    // Background writes move this; freshness must not look at it.
    row.updated_at = Some(At(i64::MAX));
    row
}

fn id(number: u32) -> SessionId {
    SessionId::numbered(number)
}

const EXAMPLE: &str = r#"
reset = { mode = "daily", atHour = 4, idleMinutes = 120 }
resetByType = { direct = { mode = "idle", idleMinutes = 240 }, group = { mode = "idle", idleMinutes = 120 } }
resetByChannel = { discord = { mode = "idle", idleMinutes = 10080 } }
"#;

fn daily(hour: u8, idle: Option<u64>) -> ResetPolicy {
    ResetPolicy::Daily { hour, idle_minutes: idle }
}

fn idle(minutes: u64) -> ResetPolicy {
    ResetPolicy::Idle { minutes }
}

fn policy_of(config: &SessionConfig, text: &str) -> ResetPolicy {
    let key = key(text);
    policy(config, reset_type(&key, ResetFacts::default()), key.channel())
}

#[test]
fn the_worked_table() {
    let example = config(EXAMPLE);
    for (text, expected) in [
        ("agent:main:telegram:direct:1", idle(240)),
        ("agent:main:telegram:group:1", idle(120)),
        ("agent:main:telegram:group:1:topic:5", daily(4, Some(120))),
        ("agent:main:telegram:group:1:thread:5", daily(4, Some(120))),
        ("agent:main:telegram:direct:1:thread:5", daily(4, Some(120))),
        ("agent:main:discord:direct:1", idle(10_080)),
        ("agent:main:discord:group:1", idle(10_080)),
        ("agent:main:Discord:channel:1:thread:2", idle(10_080)),
    ] {
        assert_eq!(policy_of(&example, text), expected, "{text}");
        assert_eq!(policy_of(&SessionConfig::default(), text), daily(4, None), "{text} without settings");
    }
}

#[test]
fn fields_come_from_type_then_base_then_default() {
    let direct = "agent:main:irc:direct:1";
    for (text, expected) in [
        ("idleMinutes = 30", idle(30)),
        ("idleMinutes = 30\nreset = {}", daily(4, Some(30))),
        ("idleMinutes = 30\nresetByType = {}", daily(4, Some(30))),
        ("reset = { mode = \"idle\" }", idle(60)),
        ("reset = { atHour = 0 }", daily(0, None)),
        ("reset = { atHour = 5.9 }", daily(5, None)),
        ("reset = { mode = \"none\", idleMinutes = 5 }", ResetPolicy::Never),
        ("reset = { mode = \"none\" }\nresetByType = { dm = { mode = \"daily\" } }", daily(4, None)),
        ("reset = { atHour = 6, idleMinutes = 9 }\nresetByType = { direct = { idleMinutes = 7 } }", daily(6, Some(7))),
        ("reset = { atHour = 6, idleMinutes = 9 }\nresetByChannel = { IRC = { idleMinutes = 7 } }", daily(4, Some(7))),
        ("reset = { mode = \"idle\" }\nidleMinutes = 3\nresetByChannel = { irc = { mode = \"idle\" } }", idle(60)),
        ("reset = { mode = \"idle\" }\nresetByChannel = { irc = { mode = \"none\" } }", ResetPolicy::Never),
    ] {
        assert_eq!(policy_of(&config(text), direct), expected, "{text}");
    }
    let facts = ResetFacts { in_thread: true, in_group: true };
    assert_eq!(reset_type(&key(direct), facts), ResetType::Thread);
    assert_eq!(reset_type(&key("agent:main:main"), ResetFacts { in_group: true, ..facts }), ResetType::Thread);
    assert_eq!(reset_type(&key("agent:main:main"), ResetFacts { in_thread: false, in_group: true }), ResetType::Group);
}

#[test]
fn freshness_at_the_edges() {
    let zone = zone("Europe/Berlin");
    let four = at(&zone, date(2026, 6, 10).at(4, 0, 0, 0)).0;
    let minute = 60_000;
    for (policy, started, last, now, expected) in [
        (daily(4, None), four, four, four, Freshness::Fresh),
        (daily(4, None), four - 1, four - 1, four, Freshness::StaleDaily),
        (daily(4, None), four - 1, four - 1, four - 1, Freshness::Fresh),
        (daily(4, None), four - 1, four + 9 * minute, four + 10 * minute, Freshness::StaleDaily),
        (daily(4, Some(10)), four, four, four + 10 * minute, Freshness::Fresh),
        (daily(4, Some(10)), four, four, four + 10 * minute + 1, Freshness::StaleIdle),
        (idle(10), 0, four, four + 10 * minute, Freshness::Fresh),
        (idle(10), 0, four, four + 10 * minute + 1, Freshness::StaleIdle),
        (ResetPolicy::Never, 0, 0, four, Freshness::Fresh),
        (daily(4, Some(10)), four, four, four - 400 * 24 * 60 * minute, Freshness::Fresh),
        (daily(4, Some(u64::MAX)), four, four, i64::MAX, Freshness::Fresh),
    ] {
        assert_eq!(freshness(policy, &row(started, last), At(now), &zone), expected, "{policy:?} {started} {now}");
    }
}

#[test]
fn rows_of_older_programs_go_by_their_last_change() {
    let zone = zone("Europe/Berlin");
    let mut old = row(0, 0);
    old.conversation.session_started_at = None;
    old.conversation.last_interaction_at = None;
    old.updated_at = Some(At(1_000));
    assert_eq!(freshness(idle(1), &old, At(61_000), &zone), Freshness::Fresh);
    assert_eq!(freshness(idle(1), &old, At(61_001), &zone), Freshness::StaleIdle);
    old.updated_at = None;
    assert_eq!(freshness(daily(4, Some(1)), &old, At(i64::MAX / 4), &zone), Freshness::Fresh);
    assert_eq!(reset_due(daily(4, Some(1)), &old, &zone), None);
}

/// Every hour of a year with changes of the clock: the boundary is the latest one, each day has one, and a
/// conversation that starts at any of them ends at the next.
fn check_year(name: &str, year: i16, hour: u8) {
    let zone = zone(name);
    let start = at(&zone, date(year, 1, 1).at(0, 30, 0, 0)).0;
    let mut before: Option<At> = None;
    let mut days = 0;
    for step in 0..366 * 24 {
        let now = At(start + step * 3_600_000);
        let found = boundary(now, hour, &zone).unwrap();
        let next = next_boundary(now, hour, &zone).unwrap();
        assert!(found <= now && now < next, "{name} {now:?}");
        assert_eq!(next_boundary(found, hour, &zone), Some(next), "{name}: none between {now:?}");
        assert_eq!(boundary(At(next.0 - 1), hour, &zone), Some(found), "{name} {now:?}");
        let length = next.since(found);
        // A whole day is skipped where a zone changes sides of the date line.
        assert!((22 * 3_600_000..=26 * 3_600_000).contains(&length), "{name} {now:?}: {length}");
        let wall = Timestamp::from_millisecond(found.0).unwrap().to_zoned(zone.clone()).datetime();
        let shown = i64::from(wall.hour()) * 60 + i64::from(wall.minute()) - i64::from(hour) * 60;
        assert!((0..=60).contains(&shown), "{name} {now:?}: boundary at {wall}");
        let policy = daily(hour, None);
        let conversation = row(now.0, now.0);
        assert_eq!(reset_due(policy, &conversation, &zone), Some(next));
        assert_eq!(freshness(policy, &conversation, At(next.0 - 1), &zone), Freshness::Fresh);
        assert_eq!(freshness(policy, &conversation, next, &zone), Freshness::StaleDaily);
        days += usize::from(before.is_some_and(|before| before < found));
        assert!(before.is_none_or(|before| before <= found));
        before = Some(found);
    }
    assert!((364..=366).contains(&days), "{name}: {days} boundaries");
}

#[test]
fn daily_boundaries_over_every_hour_of_a_year_in_five_zones() {
    for name in ZONES {
        for hour in [0, 2, 4, 23] {
            check_year(name, 2026, hour);
        }
    }
    // Apia had no 30 December 2011: 24 hours of the calendar are missing, none of time.
    for hour in [0, 4, 23] {
        check_year("Pacific/Apia", 2011, hour);
    }
}

#[test]
fn changes_of_the_clock() {
    let berlin = zone("Europe/Berlin");
    let shown = |now: At, hour: u8, zone: &TimeZone| {
        let at = boundary(now, hour, zone).unwrap();
        Timestamp::from_millisecond(at.0).unwrap().to_zoned(zone.clone()).strftime("%m-%d %H:%M %:z").to_string()
    };
    // 02:00 does not exist on 29 March 2026 in Berlin, and exists twice on 25 October.
    assert_eq!(shown(at(&berlin, date(2026, 3, 29).at(12, 0, 0, 0)), 2, &berlin), "03-29 03:00 +02:00");
    assert_eq!(shown(at(&berlin, date(2026, 10, 25).at(12, 0, 0, 0)), 2, &berlin), "10-25 02:00 +02:00");
    let howe = zone("Australia/Lord_Howe");
    assert_eq!(shown(at(&howe, date(2026, 10, 4).at(12, 0, 0, 0)), 2, &howe), "10-04 02:30 +11:00");
    let santiago = zone("America/Santiago");
    assert_eq!(shown(at(&santiago, date(2026, 9, 6).at(12, 0, 0, 0)), 0, &santiago), "09-06 01:00 -03:00");
}

#[test]
fn a_wrong_clock_heals_with_the_next_message() {
    let zone = zone("Europe/Berlin");
    let now = at(&zone, date(2026, 6, 10).at(12, 0, 0, 0));
    let ahead = At(now.0 + 400 * 86_400_000);
    let mut row = row(ahead.0, ahead.0);
    assert_eq!(freshness(daily(4, Some(10)), &row, now, &zone), Freshness::Fresh);
    record_interaction(&mut row, now);
    assert_eq!(row.conversation.session_started_at, Some(now));
    let tomorrow = At(now.0 + 86_400_000);
    assert_eq!(freshness(daily(4, None), &row, tomorrow, &zone), Freshness::StaleDaily);
    assert_eq!(freshness(idle(10), &row, tomorrow, &zone), Freshness::StaleIdle);
}

#[test]
fn a_reset_keeps_all_but_the_conversation() {
    let mut old = row(1, 2);
    old.conversation.counters.total_tokens = Some(9);
    old.conversation.run.system_sent = Some(true);
    old.conversation.run.cli_session_ids = Some(json!({"claude-cli": "x"}));
    old.conversation.session_file = Some("s.jsonl".into());
    old.settings.send_policy = Some(super::super::config::SendAction::Deny);
    old.settings.thinking_level = Some("high".into());
    old.settings.model_override = Some("m".into());
    old.settings.model_override_source = Some(OverrideSource::User);
    old.links.label = Some("L".into());
    old.links.active_session_key = Some("agent:main:main:chat:x".into());
    old.place.subject = Some("S".into());
    old.other = Map::from_iter([("custom".to_owned(), json!(1))]);
    old.updated_at = Some(At(5));
    let new = restarted(&old, id(2), At(100));
    assert_eq!(new.conversation, Conversation::new(id(2), At(100)));
    assert_eq!(
        (&new.settings, &new.links, &new.place, &new.other),
        (&old.settings, &old.links, &old.place, &old.other)
    );
    assert_eq!(new.updated_at, Some(At(100)));
    old.settings.model_override_source = Some(OverrideSource::Auto);
    let new = restarted(&old, id(2), At(100));
    assert_eq!((new.settings.model_override, new.settings.thinking_level.as_deref()), (None, Some("high")));
}

#[test]
fn threads_fork_once_and_not_from_big_parents() {
    let mut parent = row(0, 0);
    assert!(forks_parent(None, &parent, 100));
    parent.conversation.counters.total_tokens = Some(101);
    assert!(!forks_parent(None, &parent, 100));
    assert!(forks_parent(None, &parent, 101));
    assert!(forks_parent(None, &parent, 0));
    parent.conversation.counters.total_tokens_fresh = Some(false);
    assert!(forks_parent(None, &parent, 100), "a stale total is unknown");
    let mut thread = row(0, 0);
    assert!(forks_parent(Some(&thread), &parent, 100));
    thread.links.forked_from_parent = Some(true);
    assert!(!forks_parent(Some(&thread), &parent, 100));
}

fn models() -> Vec<AllowedModel> {
    let model = |provider: &str, model: &str, alias: &[&str]| AllowedModel {
        provider: provider.into(),
        model: model.into(),
        aliases: alias.iter().map(|one| (*one).to_owned()).collect(),
    };
    vec![
        model("anthropic", "claude-opus-5", &["opus"]),
        model("anthropic", "claude-haiku-5", &["haiku"]),
        model("openai", "gpt-5-mini", &[]),
        model("openrouter", "openai/gpt-5-mini", &[]),
    ]
}

#[test]
fn triggers() {
    let list: Vec<String> = ["/new", "/reset", "start over"].map(str::to_owned).into();
    let find = |text: &str| {
        find_trigger(text, &list, &["@bot", "Lisle"], &models(), true).map(|found| (found.model, found.prompt))
    };
    for (text, expected) in [
        ("/new", Some((None, ""))),
        (" /NEW ", Some((None, ""))),
        ("/new\nhello", Some((None, "hello"))),
        ("Start Over please", Some((None, "please"))),
        ("/newer", None),
        ("please /new", None),
        ("@bot /new", Some((None, ""))),
        ("lisle: @BOT, /reset go", Some((None, "go"))),
        ("@botanic /new", None),
        ("/new opus write a poem", Some((Some(0), "write a poem"))),
        ("/new OpenAI/gpt-5-mini", Some((Some(3), ""))),
        ("/new anthropic/claude-haiku-5 hi", Some((Some(1), "hi"))),
        ("/new anthropic haiku hi", Some((Some(1), "hi"))),
        ("/new openai gpt-5-mini hi", Some((Some(2), "hi"))),
        ("/new claude-opus hi", Some((Some(0), "hi"))),
        ("/new claude hi", Some((None, "claude hi"))),
        ("/new gpt-5 hi", Some((None, "gpt-5 hi"))),
        ("/new openai is down", Some((None, "openai is down"))),
        ("/new write a poem", Some((None, "write a poem"))),
        ("/new  keep   spaces", Some((None, "keep   spaces"))),
        ("", None),
    ] {
        assert_eq!(find(text), expected.map(|(model, prompt)| (model, prompt.to_owned())), "{text}");
    }
    assert_eq!(find_trigger("/new", &list, &[], &[], false), None);
    assert_eq!(find_trigger("/new", &[String::new()], &[""], &[], true), None);
}

proptest! {
    #[test]
    fn due_and_freshness_agree(
        started in 0i64..4_000_000_000_000,
        length in 0i64..400_000_000,
        wait in 0i64..400_000_000,
        hour in 0u8..24,
        minutes in prop::option::of(1u64..5000),
        zone_index in 0usize..5,
    ) {
        let zone = zone(ZONES[zone_index]);
        let conversation = row(started, started + length);
        for policy in [daily(hour, minutes), idle(minutes.unwrap_or(60)), ResetPolicy::Never] {
            let now = At(started + length + wait);
            let due = reset_due(policy, &conversation, &zone);
            let stale = freshness(policy, &conversation, now, &zone) != Freshness::Fresh;
            prop_assert_eq!(stale, due.is_some_and(|due| due <= now));
        }
    }

    #[test]
    fn a_clock_that_jumps_backwards_resets_nothing(
        start in 1_000_000_000_000i64..2_000_000_000_000,
        back in 0i64..2_000_000_000_000,
        hour in 0u8..24,
        zone_index in 0usize..5,
    ) {
        let conversation = row(start, start);
        let policy = daily(hour, Some(1));
        prop_assert_eq!(freshness(policy, &conversation, At(start - back), &zone(ZONES[zone_index])), Freshness::Fresh);
    }

    #[test]
    fn any_time_and_text_is_taken(
        now in any::<i64>(),
        started in any::<i64>(),
        text in any::<String>(),
        trigger in any::<String>(),
        mention in any::<String>(),
    ) {
        let zone = zone("America/New_York");
        let _ = freshness(daily(4, Some(5)), &row(started, started), At(now), &zone);
        let _ = reset_due(daily(4, Some(5)), &row(started, started), &zone);
        let _ = find_trigger(&format!("{trigger} {text}"), &[trigger], &[&mention], &models(), true);
    }
}
