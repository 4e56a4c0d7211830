//! Forms of keys, aliases, spellings, and properties of parsing.

use super::*;
use crate::domain::ids::At;
use proptest::prelude::*;

fn opaque() -> OpaqueChannels {
    OpaqueChannels::default()
}

fn parse(text: &str) -> Result<SessionKey, KeyError> {
    SessionKey::parse(text, &opaque())
}

fn normal(text: &str) -> String {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
}

#[test]
fn every_shape_reads_and_writes_back() {
    let table: &[(&str, Route)] = &[
        ("agent:a:main", Route::Main),
        ("agent:a:direct:42", Route::Direct { channel: None, account: None, peer: "42".into() }),
        (
            "agent:a:telegram:direct:42",
            Route::Direct { channel: Some("telegram".into()), account: None, peer: "42".into() },
        ),
        (
            "agent:a:telegram:work:direct:42",
            Route::Direct { channel: Some("telegram".into()), account: Some("work".into()), peer: "42".into() },
        ),
        ("agent:a:irc:group:#rust", Route::Group { channel: "irc".into(), id: "#rust".into() }),
        ("agent:a:slack:channel:c1", Route::Channel { channel: "slack".into(), id: "c1".into() }),
        (
            "agent:a:matrix:channel:!AbC:example.org",
            Route::Channel { channel: "matrix".into(), id: "!AbC:example.org".into() },
        ),
        ("agent:a:cron:job-1", Route::Cron { job: "job-1".into(), run: None }),
        ("agent:a:cron:job-1:run:s1", Route::Cron { job: "job-1".into(), run: Some("s1".into()) }),
        ("hook:7c9e", Route::Hook("7c9e".into())),
        ("agent:a:hook:7c9e", Route::Hook("7c9e".into())),
        ("node-kitchen", Route::Node("kitchen".into())),
        ("agent:a:subagent:7c9e", Route::Subagent("7c9e".into())),
        ("acp:bridge:1", Route::Acp("bridge:1".into())),
        ("agent:a:acp:bridge", Route::Acp("bridge".into())),
        ("agent:a:dashboard:7c9e", Route::Dashboard("7c9e".into())),
        ("agent:a:discord:slash:9", Route::Slash { channel: "discord".into(), user: "9".into() }),
        ("telegram:slash:9", Route::Slash { channel: "telegram".into(), user: "9".into() }),
        ("agent:a:tui-7c9e", Route::Tui("7c9e".into())),
        ("explicit:model-run-7c9e", Route::Explicit("model-run-7c9e".into())),
        ("global", Route::Global),
        ("unknown", Route::Unknown),
        ("agent:a:unknown:group:unknown", Route::Group { channel: "unknown".into(), id: "unknown".into() }),
        ("agent:a:work", Route::Other("work".into())),
        ("agent:a:discord:guild-1:channel-2", Route::Other("discord:guild-1:channel-2".into())),
        (
            "agent:a:irc:direct:constructor",
            Route::Direct { channel: Some("irc".into()), account: None, peer: "constructor".into() },
        ),
    ];
    for (text, route) in table {
        for suffix in ["", ":thread:7", ":topic:9", ":chat:research", ":subagent:1:subagent:2", ":chat:x:thread:5"] {
            let text = format!("{text}{suffix}");
            let key = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(key.route(), route, "{text}");
            assert_eq!(key.as_str(), text);
            assert_eq!(parse(key.as_str()), Ok(key));
        }
    }
}

#[test]
fn older_spellings_are_normalised() {
    for (text, expected) in [
        (" AGENT:Main:MAIN ", "agent:main:main"),
        ("agent:a:telegram:dm:42", "agent:a:telegram:direct:42"),
        ("agent:a:dm:42", "agent:a:direct:42"),
        ("agent:a:Slack:Room:C1", "agent:a:slack:channel:c1"),
        ("agent:a:irc:group:#X:THREAD:Y", "agent:a:irc:group:#x:thread:y"),
        ("agent:a:Matrix:Channel:!AbC:ex.org:Thread:$EvT", "agent:a:matrix:channel:!AbC:ex.org:thread:$EvT"),
        ("agent:a:signal:GROUP:aBc+/=", "agent:a:signal:group:aBc+/="),
        ("agent:a:matrix:channel:!A:CHAT:Notes", "agent:a:matrix:channel:!A:chat:notes"),
        ("agent:a:direct:ABC", "agent:a:direct:abc"),
        ("agent: a : main", "agent:a:main"),
        ("agent:a:irc:group:thread", "agent:a:irc:group:thread"),
    ] {
        assert_eq!(normal(text), expected, "{text}");
        assert_eq!(normal(expected), expected);
    }
}

#[test]
fn malformed_keys_say_why() {
    let long = format!("agent:a:{}", "x".repeat(MAX_KEY));
    for (text, expected) in [
        ("", KeyError::Empty),
        ("  ", KeyError::Empty),
        ("agent", KeyError::Incomplete),
        ("agent:", KeyError::Incomplete),
        ("agent:a", KeyError::Incomplete),
        ("agent:a:", KeyError::Incomplete),
        ("agent::main", KeyError::Incomplete),
        ("agent:a::main", KeyError::EmptyPart),
        ("agent:a:irc:group:", KeyError::EmptyPart),
        ("a::b", KeyError::EmptyPart),
        ("agent:main:agent:main:main", KeyError::DoublePrefix),
        ("agent:ä:main", KeyError::AgentId("ä".into())),
        ("agent:-a:main", KeyError::AgentId("-a".into())),
        ("agent:__proto__:main", KeyError::PrototypeName("__proto__".into())),
        ("agent:__PROTO__:main", KeyError::PrototypeName("__PROTO__".into())),
        ("agent:Constructor:main", KeyError::PrototypeName("Constructor".into())),
        ("constructor", KeyError::PrototypeName("constructor".into())),
        ("agent:a:toString", KeyError::PrototypeName("tostring".into())),
        ("agent:a:prototype:group:1", KeyError::PrototypeName("prototype".into())),
        ("agent:a:irc:__proto__:direct:1", KeyError::PrototypeName("__proto__".into())),
        ("agent:a:main:chat:__proto__", KeyError::PrototypeName("__proto__".into())),
        ("agent:a:irc:group", KeyError::MissingValue("group")),
        ("agent:a:irc:work:direct", KeyError::MissingValue("direct")),
        ("agent:a:direct", KeyError::MissingValue("direct")),
        ("agent:a:cron", KeyError::MissingValue("cron")),
        ("agent:a:cron:j:run", KeyError::MissingValue("run")),
        ("agent:a:cron:j:x", KeyError::TooManyParts("cron:JOB")),
        ("agent:a:hook", KeyError::MissingValue("hook")),
        ("agent:a:main:thread", KeyError::MissingValue("thread")),
        ("agent:a:main:direct:1", KeyError::ReservedName("main".into())),
        ("agent:a:irc:thread:direct:1", KeyError::ReservedName("thread".into())),
        ("agent:a:node-", KeyError::MissingValue("node-")),
        ("agent:a:x\ny", KeyError::ControlCharacter),
        (long.as_str(), KeyError::TooLong),
    ] {
        assert_eq!(parse(text), Err(expected.clone()), "{text}");
        assert!(!expected.to_string().is_empty());
    }
}

#[test]
fn built_keys_cannot_become_other_routes() {
    let agent = AgentId::default();
    let direct = |peer: &str| {
        let route = Route::Direct { channel: Some("irc".into()), account: None, peer: peer.into() };
        SessionKey::new(&agent, route, &opaque())
    };
    assert_eq!(direct(" Ana ").unwrap().as_str(), "agent:main:irc:direct:ana");
    for peer in ["ana:thread:5", "ana:chat:x", "a::b", ":", "", " ", "x:subagent:1"] {
        assert!(direct(peer).is_err(), "{peer}");
    }
    for channel in ["direct", "main", "thread", "a:group", "cron", "__proto__"] {
        let route = Route::Group { channel: channel.into(), id: "1".into() };
        assert!(SessionKey::new(&agent, route, &opaque()).is_err(), "{channel}");
    }
    for account in ["direct", "group", "a:b"] {
        let route = Route::Direct { channel: Some("irc".into()), account: Some(account.into()), peer: "1".into() };
        assert!(SessionKey::new(&agent, route, &opaque()).is_err(), "{account}");
    }
    let main = SessionKey::main(&agent);
    assert!(main.with_suffix(Suffix::Thread("1:chat:2".into()), &opaque()).is_err());
    assert_eq!(
        main.with_suffix(Suffix::Thread("T 1".into()), &opaque()).unwrap().as_str(),
        "agent:main:main:thread:t 1"
    );
}

#[test]
fn texts_resolve_to_keys_of_a_store() {
    let agent = AgentId::normalise("Ops");
    let names = KeyNames { main_key: "work".into(), ..KeyNames::default() };
    let global = KeyNames { global: true, ..names.clone() };
    for (text, with_main, with_global) in [
        ("", "agent:ops:main", "global"),
        ("MAIN", "agent:ops:main", "global"),
        ("work", "agent:ops:main", "global"),
        ("agent:ops:main", "agent:ops:main", "global"),
        ("agent:x:work", "agent:x:main", "global"),
        ("agent:x:work:thread:5", "agent:x:main:thread:5", "agent:x:main:thread:5"),
        ("global", "global", "global"),
        ("unknown", "unknown", "unknown"),
        ("Hook:ABC", "agent:ops:hook:abc", "agent:ops:hook:abc"),
        ("agent:x:irc:group:1", "agent:x:irc:group:1", "agent:x:irc:group:1"),
    ] {
        assert_eq!(SessionKey::resolve(text, &agent, &names).unwrap().as_str(), with_main, "{text}");
        assert_eq!(SessionKey::resolve(text, &agent, &global).unwrap().as_str(), with_global, "{text}");
    }
    for text in ["agent:main", "agent:x:agent:x:main", "agent:__proto__:main"] {
        assert!(SessionKey::resolve(text, &agent, &names).is_err(), "{text}");
        assert_eq!(SessionKey::classify(text), KeyClass::MalformedAgent);
    }
    assert_eq!(SessionKey::classify(""), KeyClass::Missing);
    assert_eq!(SessionKey::classify("main"), KeyClass::LegacyOrAlias);
    assert_eq!(SessionKey::classify("Agent:a:main"), KeyClass::Agent);
}

#[test]
fn facts_of_a_key() {
    let key = |text: &str| parse(text).unwrap();
    let parent = |text: &str| key(text).thread_parent().map(|one| one.to_string());
    assert_eq!(parent("agent:a:irc:group:1:thread:2").as_deref(), Some("agent:a:irc:group:1"));
    assert_eq!(parent("agent:a:irc:group:1:topic:2:thread:3").as_deref(), Some("agent:a:irc:group:1:topic:2"));
    assert_eq!(parent("agent:a:irc:group:1"), None);
    assert_eq!(key("agent:a:main:chat:x").chat_base(), Some(key("agent:a:main")));
    assert_eq!(key("agent:a:subagent:1:subagent:2").subagent_depth(), 2);
    assert_eq!(key("agent:a:main:subagent:2").subagent_depth(), 1);
    assert!(key("agent:a:cron:j:run:1").is_run() && !key("agent:a:cron:j").is_run());
    assert!(key("agent:a:main").is_main() && key("global").is_main() && !key("agent:a:main:chat:x").is_main());
    assert_eq!(key("agent:a:irc:group:1").without_agent(), "irc:group:1");
    assert_eq!(key("hook:1").without_agent(), "hook:1");
    for (text, row, chat, kind) in [
        ("agent:a:main", None, None, SessionKind::Direct),
        ("agent:a:main", Some(ChatType::Group), None, SessionKind::Group),
        ("agent:a:irc:group:1", None, Some(ChatType::Group), SessionKind::Group),
        ("agent:a:irc:room:1", None, Some(ChatType::Channel), SessionKind::Group),
        ("agent:a:irc:dm:1", None, Some(ChatType::Direct), SessionKind::Direct),
        ("agent:a:discord:guild-1:channel-2", None, Some(ChatType::Channel), SessionKind::Group),
        ("global", None, None, SessionKind::Global),
        ("unknown", Some(ChatType::Group), None, SessionKind::Unknown),
    ] {
        assert_eq!((key(text).chat_type(), key(text).kind(row)), (chat, kind), "{text}");
    }
}

#[test]
fn names_are_normalised() {
    for (text, agent) in [
        ("", "main"),
        ("Ops", "ops"),
        ("my agent!", "my-agent"),
        ("--x--", "x"),
        ("__proto__", "main"),
        ("Constructor", "main"),
        ("_x", "x"),
        ("ää", "main"),
        ("-__proto__", "proto__"),
    ] {
        let id = AgentId::normalise(text);
        assert_eq!(id.as_str(), agent, "{text}");
        assert_eq!(AgentId::parse(id.as_str()), Ok(id));
    }
    assert_eq!(AgentId::normalise(&"x".repeat(99)).as_str().len(), 64);
    assert_eq!(AccountId::normalise("__PROTO__").as_str(), "default");
    assert_eq!(AccountId::normalise("Work Phone").as_str(), "work-phone");
    assert_eq!(normal_main_key(" Work "), "work");
    assert_eq!(normal_main_key(""), "main");
    for (label, slug) in [("Research", "research"), ("Ünï 2", "n-2"), ("日本", "chat"), ("__proto__", "chat")] {
        assert_eq!(chat_slug(label), slug);
    }
}

#[test]
fn stored_spellings_are_found() {
    let agent = AgentId::default();
    let find = |key: &str, stored: &[(&str, i64)]| {
        let stored: Vec<(&str, Option<At>)> = stored.iter().map(|(text, at)| (*text, Some(At(*at)))).collect();
        find_spellings(&parse(key).unwrap(), stored, &agent, &KeyNames::default())
    };
    let table = [("Agent:main:MAIN", 1), ("main", 9), ("agent:main:x", 20)];
    let found = find("agent:main:main", &table);
    assert_eq!(found, KeyLookup { found: Some("main".into()), stale: vec!["Agent:main:MAIN".into()] });
    let exact = find("agent:main:irc:group:1", &[("agent:main:irc:group:1", 1), ("agent:main:IRC:group:1", 9)]);
    assert_eq!(exact.found.as_deref(), Some("agent:main:irc:group:1"));
    let room = "agent:main:matrix:channel:!Ab:x";
    let lowered = find(room, &[("agent:main:matrix:channel:!ab:x", 1)]);
    assert_eq!(lowered, KeyLookup { found: Some("agent:main:matrix:channel:!ab:x".into()), stale: vec![] });
    assert_eq!(find(room, &[("agent:main:matrix:channel:!aB:x", 1)]), KeyLookup::default());
}

fn key_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("agent"),
        Just("main"),
        Just("direct"),
        Just("dm"),
        Just("group"),
        Just("Room"),
        Just("thread"),
        Just("TOPIC"),
        Just("chat"),
        Just("subagent"),
        Just("cron"),
        Just("run"),
        Just("matrix"),
        Just("irc"),
        Just("node-1"),
        Just("tui-"),
        Just("__proto__"),
        Just("global"),
        Just("unknown"),
        Just("hook"),
        Just("slash"),
    ]
    .prop_map(str::to_owned);
    let part = prop_oneof![3 => word, 2 => "[a-zA-Z0-9!@#ΣİßK ]{0,6}", 1 => any::<String>()];
    (any::<bool>(), prop::collection::vec(part, 0..8)).prop_map(|(agent, parts)| {
        let text = parts.join(":");
        if agent { format!("agent:a:{text}") } else { text }
    })
}

proptest! {
    #[test]
    fn parsing_what_was_formatted_is_the_identity(text in key_text()) {
        if let Ok(key) = parse(&text) {
            prop_assert_eq!(parse(key.as_str()), Ok(key.clone()));
            let agent = AgentId::default();
            let names = KeyNames::default();
            let stored = SessionKey::resolve(&text, &agent, &names).unwrap();
            prop_assert_eq!(SessionKey::resolve(stored.as_str(), &agent, &names), Ok(stored));
            let _ = (key.thread_parent(), key.chat_base(), key.kind(None), key.without_agent().len());
        }
    }

    #[test]
    fn built_keys_read_back_as_what_was_built(
        channel in "[a-z:]{0,8}",
        account in prop::option::of("[a-z:]{0,6}"),
        peer in "[a-z:]{0,9}|[a-z]:(thread|chat):[a-z]",
    ) {
        let route = Route::Direct { channel: Some(channel), account, peer };
        if let Ok(key) = SessionKey::new(&AgentId::default(), route.clone(), &opaque()) {
            prop_assert_eq!(key.route(), &route);
            prop_assert_eq!(parse(key.as_str()), Ok(key));
        }
    }

    #[test]
    fn names_are_idempotent(text in any::<String>()) {
        let agent = AgentId::normalise(&text);
        prop_assert_eq!(AgentId::normalise(agent.as_str()), agent.clone());
        prop_assert!(AgentId::parse(agent.as_str()).is_ok());
        let account = AccountId::normalise(&text);
        prop_assert_eq!(AccountId::normalise(account.as_str()), account);
        let slug = chat_slug(&text);
        prop_assert_eq!(chat_slug(&slug), slug.clone());
        prop_assert!(SessionKey::main(&agent).with_suffix(Suffix::Chat(slug), &opaque()).is_ok());
    }
}
