//! Rows of other programs, delivery, patches.

use super::*;
use crate::routes::config::SendAction;
use crate::routes::key::ChatType;
use proptest::prelude::*;
use serde_json::json;

fn row(value: Value) -> SessionRow {
    match StoredRow::read(value) {
        StoredRow::Row(row) => *row,
        StoredRow::Unreadable(value) => panic!("unreadable: {value}"),
    }
}

/// A row with every key of the reference.
fn full() -> Value {
    serde_json::from_str(
        r##"{
        "updatedAt": 1767000000000, "sessionId": "s1", "sessionFile": "s1-topic-5.jsonl",
        "sessionStartedAt": 5, "lastInteractionAt": 6,
        "systemSent": true, "abortedLastRun": false, "abortCutoffMessageSid": "m1", "abortCutoffTimestamp": 7,
        "status": "done", "startedAt": 1, "endedAt": 2, "runtimeMs": 1, "liveModelSwitchPending": false,
        "lastHeartbeatText": "ok", "lastHeartbeatSentAt": 3,
        "cliSessionIds": {"claude-cli": "x"}, "claudeCliSessionId": "x", "acp": {"a": 1},
        "skillsSnapshot": {"prompt": "p"}, "systemPromptReport": {"source": "run"},
        "inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "totalTokensFresh": true, "cacheRead": 4,
        "cacheWrite": 5, "contextTokens": 200000, "modelProvider": "anthropic", "model": "m",
        "fallbackNoticeSelectedModel": "a", "fallbackNoticeActiveModel": "b", "fallbackNoticeReason": "c",
        "compactionCount": 1, "authProfileOverrideCompactionCount": 1, "memoryFlushAt": 8,
        "memoryFlushCompactionCount": 1, "compactionCheckpoints": [{"checkpointId": "c"}],
        "thinkingLevel": "high", "verboseLevel": "on", "reasoningLevel": "on", "elevatedLevel": "off",
        "responseUsage": "tokens", "ttsAuto": "off", "execHost": "h", "execSecurity": "s", "execAsk": "a",
        "execNode": "n", "providerOverride": "p", "modelOverride": "mo", "modelOverrideSource": "user",
        "authProfileOverride": "ap", "authProfileOverrideSource": "auto",
        "groupActivation": "mention", "groupActivationNeedsSystemIntro": true, "systemPromptOverride": "sp",
        "sendPolicy": "deny", "queueMode": "steer-backlog", "queueDebounceMs": 5, "queueCap": 9, "queueDrop": "old",
        "label": "L", "displayName": "D", "spawnedBy": "agent:main:main", "spawnDepth": 1,
        "parentSessionKey": "agent:main:main", "forkedFromParent": true, "activeSessionKey": "agent:main:main:chat:x",
        "baseSessionKey": "agent:main:main", "sessionSlug": "x",
        "chatType": "group", "channel": "telegram", "groupId": "g", "subject": "S", "groupChannel": "#g", "space": "sp",
        "origin": {"label": "Ana", "provider": "telegram", "surface": "t", "chatType": "direct", "from": "1", "to": "2",
            "accountId": "a", "threadId": 5, "extra": 1},
        "deliveryContext": {"channel": "telegram", "to": "1", "accountId": "a", "threadId": "5"},
        "lastChannel": "telegram", "lastTo": "1", "lastAccountId": "a", "lastThreadId": "5",
        "zeta": {"b": 1, "a": 2}, "alpha": [1], "mid": null
    }"##,
    )
    .unwrap()
}

#[test]
fn a_whole_row_is_written_as_it_was_read() {
    let read = row(full());
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(written, full());
    let known: Vec<&String> = read.other.keys().collect();
    assert_eq!(known, ["zeta", "alpha", "mid"], "unknown keys in their order, and no known key among them");
    assert_eq!(serde_json::to_string(&read.other).unwrap(), r#"{"zeta":{"b":1,"a":2},"alpha":[1],"mid":null}"#);
}

#[test]
fn a_small_row_stays_small() {
    let small = json!({"updatedAt": 5, "sessionId": "s1"});
    assert_eq!(serde_json::to_value(row(small.clone())).unwrap(), small);
    assert_eq!(row(json!({"sessionId": "s1", "totalTokens": null})).total_tokens(), None);
    assert_eq!(row(json!({"sessionId": "s1"})).updated_at, None);
}

#[test]
fn what_is_no_row_is_kept() {
    for value in [
        json!(null),
        json!(5),
        json!([]),
        json!({}),
        json!({"sessionId": "../x"}),
        json!({"sessionId": "s", "updatedAt": "soon"}),
        json!({"sessionId": "s", "sendPolicy": "maybe"}),
        json!({"sessionId": "s", "inputTokens": -1}),
    ] {
        assert_eq!(StoredRow::read(value.clone()), StoredRow::Unreadable(value.clone()));
        assert_eq!(serde_json::to_value(StoredRow::read(value.clone())).unwrap(), value);
    }
}

#[test]
fn older_names_are_renamed() {
    let read = row(json!({"sessionId": "s", "provider": "irc", "lastProvider": "irc", "room": "#x", "zz": 1}));
    assert_eq!(read.place.channel.as_deref(), Some("irc"));
    assert_eq!(read.place.last_channel.as_deref(), Some("irc"));
    assert_eq!(read.place.group_channel.as_deref(), Some("#x"));
    assert_eq!(read.other.len(), 1);
    let both = row(json!({"sessionId": "s", "provider": "old", "channel": "new"}));
    assert_eq!((both.place.channel.as_deref(), both.other.len()), (Some("new"), 0));
    assert_eq!(row(json!({"sessionId": "s", "chatType": "dm"})).place.chat_type, Some(ChatType::Direct));
}

#[test]
fn stale_totals_are_unknown() {
    for (fresh, expected) in [(json!(true), Some(7)), (json!(false), None), (json!(null), Some(7))] {
        let read = row(json!({"sessionId": "s", "totalTokens": 7, "totalTokensFresh": fresh}));
        assert_eq!(read.total_tokens(), expected);
    }
}

#[test]
fn delivery_and_last_route_agree() {
    let context = |value: Value| serde_json::to_value(row(value).place.delivery_context).unwrap();
    for (value, expected) in [
        (json!({"sessionId": "s"}), json!(null)),
        (json!({"sessionId": "s", "lastChannel": "irc", "lastTo": "ana"}), json!({"channel": "irc", "to": "ana"})),
        (
            json!({"sessionId": "s", "lastChannel": "irc", "deliveryContext": {"channel": "irc", "to": "ana", "x": 1}}),
            json!({"channel": "irc", "to": "ana", "x": 1}),
        ),
        (
            json!({"sessionId": "s", "lastChannel": "irc",
                "deliveryContext": {"channel": "discord", "to": "c", "threadId": 1}}),
            json!({"channel": "irc"}),
        ),
    ] {
        assert_eq!(context(value.clone()), expected, "{value}");
    }
    let read = row(json!({"sessionId": "s", "deliveryContext": {"channel": "irc", "to": "ana", "threadId": 3}}));
    assert_eq!(read.place.last_to.as_deref(), Some("ana"));
    assert_eq!(read.place.last_thread_id, Some(ThreadId::Number(3)));
}

#[test]
fn patches_merge() {
    let read =
        row(json!({"sessionId": "s", "updatedAt": 50, "model": "a", "modelProvider": "p", "label": "L", "x": 1}));
    let patch = |value: Value, now: i64| {
        let Value::Object(map) = value else { panic!("object") };
        read.patched(&map, At(now))
    };
    let changed = patch(json!({"model": "b", "label": null, "sendPolicy": "deny"}), 40).unwrap();
    assert_eq!(changed.conversation.counters.model_provider, None);
    assert_eq!((changed.links.label, changed.updated_at), (None, Some(At(50))));
    assert_eq!(changed.settings.send_policy, Some(SendAction::Deny));
    assert_eq!(patch(json!({"sendPolicy": null, "sessionId": null}), 60).unwrap().updated_at, Some(At(60)));
    assert_eq!(patch(json!({"updatedAt": 70}), 60).unwrap().updated_at, Some(At(70)));
    assert_eq!(patch(json!({"x": null}), 60).unwrap().other.len(), 0);
    assert!(patch(json!({"sendPolicy": "maybe"}), 60).is_err());
}

proptest! {
    #[test]
    fn reading_what_was_written_is_the_identity(
        keys in prop::collection::vec(("[a-zA-Z]{1,12}", any::<i32>()), 0..8),
        time in any::<i64>(),
        tokens in any::<Option<u32>>(),
    ) {
        let mut map = Map::new();
        map.insert("sessionId".into(), json!("s1"));
        map.insert("updatedAt".into(), json!(time));
        if let Some(tokens) = tokens { map.insert("inputTokens".into(), json!(tokens)); }
        for (key, value) in keys { map.entry(key).or_insert(json!(value)); }
        let read = StoredRow::read(Value::Object(map));
        let written = serde_json::to_value(&read).unwrap();
        prop_assert_eq!(StoredRow::read(written), read);
    }
}
