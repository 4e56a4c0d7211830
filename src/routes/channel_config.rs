//! `[channels]`, `[agents]`, `[[bindings]]`, `[commands]` and `[messages]` of config.toml.
//!
//! Values only. A mistake anywhere in them is an error, so that no message is let in or sent on by half a configuration.

use super::config::QueueConfig;
use super::key::{AgentId, OpaqueChannels, Route, SessionKey, is_prototype_name};
use super::owner_command::OwnerRules;
use super::routing::AgentBinding;
use crate::domain::permission::Mode;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Longest name of a channel.
const MAX_CHANNEL: usize = 64;

/// Address that replies of a channel are posted to: HTTPS, or HTTP on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Text of the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for WebhookUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.trim().to_owned();
        let lower = text.to_lowercase();
        let host = |rest: &str| rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned();
        let (host, encrypted) = match (lower.strip_prefix("https://"), lower.strip_prefix("http://")) {
            (Some(rest), _) => (host(rest), true),
            (None, Some(rest)) => (host(rest), false),
            (None, None) => return Err(format!("webhook {text:?} is not an address: write https://HOST/PATH")),
        };
        if host.is_empty() || host.contains(['@', ' ']) {
            return Err(format!("webhook {text:?} needs a host, without a user: write https://HOST/PATH"));
        }
        let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = name.map_or(host.as_str(), |(name, _)| name);
        if !encrypted && !matches!(name, "127.0.0.1" | "localhost" | "[::1]") {
            return Err(format!("webhook {text:?} leaves this machine unencrypted: use https://"));
        }
        Ok(Self(text))
    }
}

/// `[channels.NAME]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChannelConfig {
    /// Senders that may write: ids, `channel:id`, or `*`.
    pub allow_from: Vec<String>,
    /// Unknown senders of direct chats get a pairing code.
    pub pairing: bool,
    /// Address that replies are posted to.
    pub webhook: Option<WebhookUrl>,
    /// Names that call the agent; those at a message's start do not count.
    pub mentions: Vec<String>,
}

impl Default for ChannelConfig {
    fn default() -> Self {
        Self { allow_from: Vec::new(), pairing: true, webhook: None, mentions: Vec::new() }
    }
}

/// `[agents.ID]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChannelAgent {
    /// Permission mode of new sessions.
    pub mode: Mode,
    /// Connection; the default one if absent.
    pub connection: Option<String>,
    /// Model of the connection.
    pub model: Option<String>,
    /// Working directory of tools; a folder of the agent's own if absent. A leading `~` stands for the home directory.
    pub directory: Option<PathBuf>,
}

impl Default for ChannelAgent {
    fn default() -> Self {
        Self { mode: Mode::Explore, connection: None, model: None, directory: None }
    }
}

/// `[messages]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MessagesConfig {
    /// `[messages.queue]`
    pub queue: QueueConfig,
}

/// Settings of channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelSettings {
    /// Channels by name.
    pub channels: BTreeMap<String, ChannelConfig>,
    /// Agents.
    pub agents: BTreeMap<AgentId, ChannelAgent>,
    /// Agents of messages.
    pub bindings: Vec<AgentBinding>,
    /// Rights to commands.
    pub commands: OwnerRules,
    /// Queues of sessions.
    pub queue: QueueConfig,
}

impl ChannelSettings {
    /// Channel of a name, in any case, with the name as it is used in keys.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<(&str, &ChannelConfig)> {
        let name = name.trim().to_lowercase();
        self.channels.get_key_value(&name).map(|(name, config)| (name.as_str(), config))
    }

    /// Settings of an agent.
    #[must_use]
    pub fn agent(&self, agent: &AgentId) -> ChannelAgent {
        self.agents.get(agent).cloned().unwrap_or_default()
    }
}

/// Channels by their names in lower case.
///
/// # Errors
/// Fails for a name that can't be part of a session key, with what to write.
pub fn named_channels(table: BTreeMap<String, ChannelConfig>) -> Result<BTreeMap<String, ChannelConfig>, String> {
    let mut channels = BTreeMap::new();
    for (written, config) in table {
        let name = written.to_lowercase();
        if !is_channel_name(&name) {
            return Err(format!(
                "channels.{written} can't be a channel's name: use letters, digits, - and _, and no word of session keys"
            ));
        }
        if channels.insert(name, config).is_some() {
            return Err(format!("channels.{written} is there twice: names of channels do not differ by case"));
        }
    }
    Ok(channels)
}

/// Agents by their ids.
///
/// # Errors
/// Fails for an id that is none.
pub fn named_agents(table: BTreeMap<String, ChannelAgent>) -> Result<BTreeMap<AgentId, ChannelAgent>, String> {
    let named = |(written, agent): (String, ChannelAgent)| match AgentId::parse(&written) {
        Ok(id) => Ok((id, agent)),
        Err(error) => Err(format!("agents.{written}: {error}")),
    };
    table.into_iter().map(named).collect()
}

fn is_channel_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let shape = (1..=MAX_CHANNEL).contains(&name.len())
        && name.bytes().all(plain)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    let opaque = OpaqueChannels::default();
    let group = Route::Group { channel: name.to_owned(), id: "1".to_owned() };
    let direct = Route::Direct { channel: Some(name.to_owned()), account: None, peer: "1".to_owned() };
    let reads = |route| SessionKey::new(&AgentId::default(), route, &opaque).is_ok();
    shape && !is_prototype_name(name) && reads(group) && reads(direct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_leave_this_machine_encrypted_only() {
        for (text, fits) in [
            ("https://hooks.example.org/lisle", true),
            ("HTTPS://hooks.example.org", true),
            ("http://127.0.0.1:9000/x", true),
            ("http://localhost/x?y", true),
            ("http://[::1]:9000/", true),
            ("http://hooks.example.org/", false),
            ("http://127.0.0.1.example.org/", false),
            ("http://127.0.0.1@example.org/", false),
            ("https://", false),
            ("ftp://example.org", false),
            ("hooks.example.org", false),
            ("", false),
        ] {
            assert_eq!(WebhookUrl::try_from(text.to_owned()).is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn names_of_channels_are_parts_of_keys() {
        for (name, fits) in [
            ("telegram", true),
            ("my-irc_2", true),
            ("Support", true),
            ("agent", false),
            ("direct", false),
            ("subagent", false),
            ("a:b", false),
            ("a b", false),
            ("-a", false),
            ("", false),
            ("constructor", false),
        ] {
            let table = BTreeMap::from([(name.to_owned(), ChannelConfig::default())]);
            assert_eq!(named_channels(table).is_ok(), fits, "{name}");
        }
        let both =
            BTreeMap::from([("Irc".to_owned(), ChannelConfig::default()), ("irc".to_owned(), Default::default())]);
        assert!(named_channels(both).unwrap_err().contains("twice"));
    }

    #[test]
    fn an_agent_reads_only_unless_its_table_says_more() {
        let agent: ChannelAgent = toml::from_str("").unwrap();
        assert_eq!(agent.mode, Mode::Explore);
        let agent: ChannelAgent = toml::from_str("mode = \"ask\"\nmodel = \"m\"").unwrap();
        assert_eq!((agent.mode, agent.model.as_deref()), (Mode::Ask, Some("m")));
        for wrong in ["mode = \"all\"", "modes = \"ask\"", "model = 3"] {
            assert!(toml::from_str::<ChannelAgent>(wrong).is_err(), "{wrong}");
        }
    }
}
