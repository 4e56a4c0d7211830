//! Direct messages by scope, identity links, bindings of agents.

use super::*;
use crate::routes::key::OpaqueChannels;
use proptest::prelude::*;

const TELEGRAM: &str = "123456789";
const DISCORD: &str = "987654321012345678";

fn config(scope: &str, linked: bool, merge: bool) -> SessionConfig {
    let links = if linked {
        "identityLinks = { alice = [\"telegram:123456789\", \"discord:987654321012345678\"] }"
    } else {
        ""
    };
    toml::from_str(&format!("dmScope = \"{scope}\"\nidentityLinksMerge = {merge}\n{links}")).unwrap()
}

fn key(config: &SessionConfig, message: &InboundRoute<'_>) -> Result<String, KeyError> {
    let names = config.key_names(OpaqueChannels::default());
    route_key(&AgentId::default(), message, config, &names).map(|key| key.to_string())
}

fn direct<'a>(channel: &'a str, peer: &'a str) -> InboundRoute<'a> {
    InboundRoute {
        channel,
        account: Some("work"),
        chat: RoutedChat { chat_type: ChatType::Direct, id: peer },
        thread: None,
    }
}

/// The worked table of the reference: scope, without a link, linked on Telegram, linked on Discord.
const WORKED: [[&str; 4]; 4] = [
    ["main", "agent:main:main", "agent:main:main", "agent:main:main"],
    ["per-peer", "agent:main:direct:123456789", "agent:main:direct:alice", "agent:main:direct:alice"],
    [
        "per-channel-peer",
        "agent:main:telegram:direct:123456789",
        "agent:main:telegram:direct:alice",
        "agent:main:discord:direct:alice",
    ],
    [
        "per-account-channel-peer",
        "agent:main:telegram:work:direct:123456789",
        "agent:main:telegram:work:direct:alice",
        "agent:main:discord:work:direct:alice",
    ],
];

#[test]
fn direct_messages_without_merging() {
    for [scope, plain, telegram, discord] in WORKED {
        assert_eq!(key(&config(scope, false, false), &direct("telegram", TELEGRAM)).unwrap(), plain);
        let linked = config(scope, true, false);
        assert_eq!(key(&linked, &direct("telegram", TELEGRAM)).unwrap(), telegram);
        assert_eq!(key(&linked, &direct("discord", DISCORD)).unwrap(), discord);
    }
}

#[test]
fn merging_changes_both_per_channel_scopes_for_linked_people() {
    for [scope, plain, telegram, discord] in WORKED {
        let per_channel = scope.contains("channel");
        let alice = "agent:main:direct:alice";
        let linked = config(scope, true, true);
        assert_eq!(key(&config(scope, false, true), &direct("telegram", TELEGRAM)).unwrap(), plain);
        assert_eq!(key(&linked, &direct("telegram", TELEGRAM)).unwrap(), if per_channel { alice } else { telegram });
        assert_eq!(key(&linked, &direct("discord", DISCORD)).unwrap(), if per_channel { alice } else { discord });
        let other = key(&linked, &direct("discord", TELEGRAM)).unwrap();
        assert!(!other.contains("alice"), "the id of another channel: {other}");
    }
}

#[test]
fn links_prefer_the_id_with_its_channel() {
    let config: SessionConfig =
        toml::from_str("dmScope = \"per-peer\"\nidentityLinks = { Alice = [\"77\"], bob = [\"Telegram:77\"] }")
            .unwrap();
    assert_eq!(key(&config, &direct("telegram", "77")).unwrap(), "agent:main:direct:bob");
    assert_eq!(key(&config, &direct("irc", " 77 ")).unwrap(), "agent:main:direct:alice");
}

#[test]
fn nobody_gets_a_linked_session_by_choosing_an_id() {
    let name = || Err(KeyError::LinkedName("Alice".into()));
    for (scope, merge, peer, expected) in [
        ("per-peer", true, "Alice", name()),
        ("per-peer", false, "Alice", name()),
        ("per-channel-peer", false, "Alice", name()),
        ("per-channel-peer", true, "Alice", Ok("agent:main:irc:direct:alice".to_owned())),
        ("per-peer", true, "telegram:123456789", Ok("agent:main:direct:telegram:123456789".to_owned())),
        ("per-channel-peer", true, "telegram:123456789", Ok("agent:main:irc:direct:telegram:123456789".to_owned())),
    ] {
        assert_eq!(key(&config(scope, true, merge), &direct("irc", peer)), expected, "{scope} {peer}");
    }
}

#[test]
fn groups_threads_and_missing_parts() {
    let config = config("per-account-channel-peer", false, true);
    let chat = |channel, chat_type, id, thread| InboundRoute {
        channel,
        account: None,
        chat: RoutedChat { chat_type, id },
        thread,
    };
    for (message, expected) in [
        (chat("irc", ChatType::Group, "#Rust", None), "agent:main:irc:group:#rust"),
        (chat("slack", ChatType::Channel, "C1", Some("T5")), "agent:main:slack:channel:c1:thread:t5"),
        (chat("matrix", ChatType::Channel, "!Ab:ex", Some("$Ev")), "agent:main:matrix:channel:!Ab:ex:thread:$Ev"),
        (chat("", ChatType::Group, " ", None), "agent:main:unknown:group:unknown"),
        (chat("telegram", ChatType::Direct, "", None), "agent:main:main"),
        (chat("telegram", ChatType::Direct, "", Some("5")), "agent:main:main:thread:5"),
        (chat("telegram", ChatType::Direct, "7", None), "agent:main:telegram:default:direct:7"),
        (chat("", ChatType::Direct, "7", None), "agent:main:unknown:default:direct:7"),
        (chat("irc", ChatType::Direct, "7", Some(" ")), "agent:main:irc:default:direct:7"),
    ] {
        assert_eq!(key(&config, &message).unwrap(), expected, "{message:?}");
    }
    assert!(key(&config, &chat("irc", ChatType::Group, "a:thread:b", None)).is_err());
    let global: SessionConfig = toml::from_str("scope = \"global\"").unwrap();
    assert_eq!(key(&global, &direct("irc", "7")).unwrap(), "global");
    assert_eq!(key(&global, &chat("irc", ChatType::Group, "1", None)).unwrap(), "agent:main:irc:group:1");
}

#[test]
fn an_account_named_like_a_word_of_keys_is_refused() {
    let config = config("per-account-channel-peer", false, true);
    let message = InboundRoute { account: Some("direct"), ..direct("irc", "7") };
    assert_eq!(key(&config, &message), Err(KeyError::AmbiguousId("irc:direct:direct:7".into())));
}

fn bindings() -> Vec<AgentBinding> {
    #[derive(Deserialize)]
    struct File {
        bindings: Vec<AgentBinding>,
    }
    let text = r#"
        bindings = [
          { agentId = "channel", match = { channel = "discord", accountId = "*" } },
          { agentId = "account", match = { channel = "discord" } },
          { agentId = "work", match = { channel = "discord", accountId = "work" } },
          { agentId = "team", match = { channel = "discord", teamId = "t1" } },
          { agentId = "guild", match = { channel = "discord", guildId = "g1" } },
          { agentId = "mods", match = { channel = "discord", guildId = "g1", roles = ["mod", "admin"] } },
          { agentId = "peer", match = { channel = "discord", peer = { kind = "channel", id = "c1" } } },
          { agentId = "later", match = { channel = "discord", peer = { kind = "channel", id = "c1" } } },
        ]"#;
    toml::from_str::<File>(text).unwrap().bindings
}

#[test]
fn the_first_tier_that_matches_decides() {
    let base = BindingFacts { channel: "Discord", ..BindingFacts::default() };
    let c1 = Some((ChatType::Channel, "c1"));
    let table = [
        (BindingFacts { peer: c1, guild: Some("g1"), ..base.clone() }, "peer", BindingTier::Peer),
        (BindingFacts { parent_peer: c1, guild: Some("g1"), ..base.clone() }, "peer", BindingTier::ParentPeer),
        (BindingFacts { guild: Some("g1"), roles: vec!["mod"], ..base.clone() }, "mods", BindingTier::GuildRoles),
        (BindingFacts { guild: Some("g1"), team: Some("t1"), ..base.clone() }, "guild", BindingTier::Guild),
        (BindingFacts { team: Some("t1"), ..base.clone() }, "team", BindingTier::Team),
        (base.clone(), "account", BindingTier::Account),
        (BindingFacts { account: Some("Work"), ..base.clone() }, "work", BindingTier::Account),
        (BindingFacts { account: Some("other"), ..base.clone() }, "channel", BindingTier::Channel),
        (BindingFacts { peer: Some((ChatType::Direct, "c1")), ..base.clone() }, "account", BindingTier::Account),
        (BindingFacts { channel: "irc", ..base }, "main", BindingTier::Default),
    ];
    for (facts, agent, tier) in table {
        let found = bind_agent(&bindings(), &facts, &AgentId::default());
        assert_eq!((found.0.as_str(), found.1), (agent, tier), "{facts:?}");
    }
}

proptest! {
    #[test]
    fn any_message_has_a_key_that_reads_back_or_an_error(
        channel in any::<String>(),
        peer in any::<String>(),
        account in any::<Option<String>>(),
        thread in any::<Option<String>>(),
        scope in 0usize..4,
        direct in any::<bool>(),
    ) {
        let config = config(WORKED[scope][0], true, scope % 2 == 0);
        let chat_type = if direct { ChatType::Direct } else { ChatType::Group };
        let chat = RoutedChat { chat_type, id: &peer };
        let (account, thread) = (account.as_deref(), thread.as_deref());
        let message = InboundRoute { channel: &channel, account, chat, thread };
        if let Ok(text) = key(&config, &message) {
            prop_assert_eq!(SessionKey::parse(&text, &OpaqueChannels::default()).unwrap().to_string(), text);
        }
    }
}
