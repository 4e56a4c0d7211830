//! Rules and the value of a row.

use super::*;
use crate::routes::key::OpaqueChannels;
use proptest::prelude::*;

fn key(text: &str) -> SessionKey {
    SessionKey::parse(text, &OpaqueChannels::default()).unwrap()
}

fn policy(text: &str) -> SendPolicy {
    toml::from_str(text).unwrap()
}

fn effect(policy: &SendPolicy, row: Option<SendAction>, text: &str) -> (SendAction, SendReason) {
    let key = key(text);
    let facts = SendFacts::of(&SendFacts::default(), &RowPlace::default(), &key);
    let decision = decide(Receiver::Channel, row, Some(policy), &facts, &key);
    (decision.action, decision.reason)
}

const EXAMPLE: &str = r#"default = "allow"
rules = [
  { action = "deny", match = { channel = "discord", chatType = "group" } },
  { action = "deny", match = { keyPrefix = "cron:" } },
]"#;

#[test]
fn rules_of_the_example() {
    let policy = policy(EXAMPLE);
    for (text, expected) in [
        ("agent:main:discord:group:1", (SendAction::Deny, SendReason::Rule(0))),
        ("agent:main:discord:channel:1", (SendAction::Allow, SendReason::Default)),
        ("agent:main:telegram:group:1", (SendAction::Allow, SendReason::Default)),
        ("agent:main:cron:job", (SendAction::Deny, SendReason::Rule(1))),
        ("cron:job", (SendAction::Deny, SendReason::Rule(1))),
        ("agent:main:main", (SendAction::Allow, SendReason::Default)),
    ] {
        assert_eq!(effect(&policy, None, text), expected, "{text}");
        assert_eq!(effect(&policy, Some(SendAction::Allow), text), (SendAction::Allow, SendReason::Row));
        assert_eq!(effect(&policy, Some(SendAction::Deny), text), (SendAction::Deny, SendReason::Row));
    }
}

#[test]
fn match_fields() {
    for (fields, text, matches) in [
        ("", "agent:main:main", true),
        ("channel = \" IRC \"", "agent:main:irc:group:1", true),
        ("channel = \"irc\"", "agent:main:main", false),
        ("chatType = \"dm\"", "agent:main:irc:direct:1", true),
        ("chatType = \"group\"", "agent:main:main", false),
        ("keyPrefix = \"Agent:Main:irc\"", "agent:main:irc:group:1", true),
        ("keyPrefix = \"irc\"", "agent:main:irc:group:1", true),
        ("rawKeyPrefix = \"irc\"", "agent:main:irc:group:1", false),
        ("rawKeyPrefix = \"agent:main\"", "agent:main:irc:group:1", true),
        ("keyPrefix = \"matrix:channel:!ab\"", "agent:main:matrix:channel:!AB:x", true),
        ("channel = \"irc\", chatType = \"direct\"", "agent:main:irc:group:1", false),
    ] {
        let policy = policy(&format!("rules = [{{ action = \"deny\", match = {{ {fields} }} }}]"));
        assert_eq!(effect(&policy, None, text).0 == SendAction::Deny, matches, "{fields} {text}");
    }
}

#[test]
fn default_deny_with_an_exception() {
    let policy = policy("default = \"deny\"\nrules = [{ action = \"allow\", match = { channel = \"irc\" } }]");
    assert_eq!(effect(&policy, None, "agent:main:irc:group:1").0, SendAction::Allow);
    assert_eq!(effect(&policy, None, "agent:main:main").0, SendAction::Deny);
    assert_eq!(
        decide(Receiver::Channel, None, None, &SendFacts::default(), &key("unknown")).reason,
        SendReason::NoPolicy
    );
}

#[test]
fn facts_come_from_caller_row_and_key() {
    let key = key("agent:main:irc:group:1");
    let place =
        RowPlace { last_channel: Some("Slack".into()), chat_type: Some(ChatType::Channel), ..RowPlace::default() };
    let caller = SendFacts { channel: Some("discord".into()), chat_type: Some(ChatType::Direct) };
    let of = |known: &SendFacts, place: &RowPlace| {
        let facts = SendFacts::of(known, place, &key);
        (facts.channel.unwrap(), facts.chat_type.unwrap())
    };
    assert_eq!(of(&caller, &place), ("discord".into(), ChatType::Direct));
    assert_eq!(of(&SendFacts::default(), &place), ("slack".into(), ChatType::Channel));
    assert_eq!(of(&SendFacts::default(), &RowPlace::default()), ("irc".into(), ChatType::Group));
}

fn any_policy() -> impl Strategy<Value = SendPolicy> {
    let action = prop_oneof![Just(SendAction::Allow), Just(SendAction::Deny)];
    let chat = prop::option::of(prop_oneof![Just(ChatType::Group), Just(ChatType::Direct)]);
    let fields =
        (prop::option::of("irc|discord"), chat, prop::option::of("irc|agent:|cron"), prop::option::of("agent"));
    let rule = (action.clone(), fields).prop_map(|(action, (channel, chat_type, key_prefix, raw_key_prefix))| {
        super::super::config::SendRule { action, fields: SendMatch { channel, chat_type, key_prefix, raw_key_prefix } }
    });
    (prop::collection::vec(rule, 0..6), action).prop_map(|(rules, default)| SendPolicy { rules, default })
}

proptest! {
    #[test]
    fn order_does_not_matter_and_the_operator_is_never_locked_out(
        policy in any_policy(),
        turn in 0usize..6,
        text in "agent:main:(irc:group:1|irc:direct:2|discord:channel:3|main|cron:x)",
    ) {
        let mut other = policy.clone();
        other.rules.reverse();
        let turn = turn.min(other.rules.len());
        other.rules.rotate_left(turn);
        prop_assert_eq!(effect(&policy, None, &text).0, effect(&other, None, &text).0);
        for row in [None, Some(SendAction::Allow), Some(SendAction::Deny)] {
            let decision = decide(Receiver::Operator, row, Some(&policy), &SendFacts::default(), &key(&text));
            prop_assert_eq!(decision.action, SendAction::Allow);
        }
        let on = SendSetting::On.row_value();
        let lifted = decide(Receiver::Channel, on, Some(&policy), &SendFacts::default(), &key(&text));
        prop_assert_eq!(lifted.action, SendAction::Allow);
    }
}
