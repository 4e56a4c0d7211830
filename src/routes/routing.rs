//! Routing: the agent of an inbound message, and the key of its session.
//!
//! Groups and channels are never joined; direct messages are grouped by `session.dmScope` and `session.identityLinks`.
//! Rights to write are those of `allow`.

#[cfg(test)]
mod tests;

use super::config::{DmScope, SessionConfig};
use super::key::{AccountId, AgentId, ChatType, KeyError, KeyNames, Route, SessionKey, Suffix};
use serde::Deserialize;

/// Word for a channel or an id that a message does not name.
const UNKNOWN: &str = "unknown";

/// Chat of an inbound message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutedChat<'a> {
    /// Type.
    pub chat_type: ChatType,
    /// Peer, group or channel id; may be empty.
    pub id: &'a str,
}

/// Facts of an inbound message that decide its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboundRoute<'a> {
    /// Channel; may be empty.
    pub channel: &'a str,
    /// Account of ours that got the message.
    pub account: Option<&'a str>,
    /// Chat.
    pub chat: RoutedChat<'a>,
    /// Thread.
    pub thread: Option<&'a str>,
}

/// Key of the session that a message belongs to.
///
/// # Errors
/// Fails if an id cannot be part of a key, because it would read as another route.
pub fn route_key(
    agent: &AgentId,
    message: &InboundRoute<'_>,
    config: &SessionConfig,
    names: &KeyNames,
) -> Result<SessionKey, KeyError> {
    let channel = known(message.channel);
    let route = match message.chat.chat_type {
        ChatType::Direct => direct_route(message, config)?,
        ChatType::Group => Route::Group { channel, id: known(message.chat.id) },
        ChatType::Channel => Route::Channel { channel, id: known(message.chat.id) },
    };
    let base = SessionKey::new(agent, route, &names.opaque)?;
    let key = match message.thread.map(str::trim).filter(|thread| !thread.is_empty()) {
        Some(thread) => base.with_suffix(Suffix::Thread(thread.to_owned()), &names.opaque)?,
        None => base,
    };
    SessionKey::resolve(key.as_str(), agent, names)
}

fn known(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { UNKNOWN.to_owned() } else { text.to_owned() }
}

fn direct_route(message: &InboundRoute<'_>, config: &SessionConfig) -> Result<Route, KeyError> {
    let peer = message.chat.id.trim();
    // The reference's rule: a message without a sender has no session of its own.
    if peer.is_empty() || config.dm_scope == DmScope::Main {
        return Ok(Route::Main);
    }
    let linked = config.identity_links.name(message.channel, peer);
    let merged = linked.is_some() && config.identity_links_merge;
    // Merged people have keys without a channel, which only `per-peer` gives to others.
    let shares_names = config.dm_scope == DmScope::PerPeer || !config.identity_links_merge;
    if linked.is_none() && shares_names && config.identity_links.has_name(peer) {
        return Err(KeyError::LinkedName(peer.to_owned()));
    }
    let peer = linked.unwrap_or(peer).to_owned();
    let channel = Some(known(message.channel));
    Ok(match config.dm_scope {
        DmScope::PerChannelPeer if !merged => Route::Direct { channel, account: None, peer },
        DmScope::PerAccountChannelPeer if !merged => {
            let account = message.account.map_or_else(AccountId::default, AccountId::normalise);
            Route::Direct { channel, account: Some(account.as_str().to_owned()), peer }
        }
        DmScope::Main | DmScope::PerPeer | DmScope::PerChannelPeer | DmScope::PerAccountChannelPeer => {
            Route::Direct { channel: None, account: None, peer }
        }
    })
}

/// Peer in a binding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerMatch {
    /// Type of the chat.
    pub kind: ChatType,
    /// Peer, group or channel id.
    pub id: String,
}

/// Condition of a binding; all that is given must match.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BindingMatch {
    /// Channel.
    pub channel: String,
    /// Account of ours: an id, `*` for every one, the default account if absent.
    pub account_id: Option<String>,
    /// Peer.
    pub peer: Option<PeerMatch>,
    /// Guild.
    pub guild_id: Option<String>,
    /// Roles in the guild, of which the sender has one.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Team.
    pub team_id: Option<String>,
}

/// Binding of messages to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentBinding {
    /// Agent.
    pub agent_id: String,
    /// Condition.
    #[serde(rename = "match")]
    pub condition: BindingMatch,
}

/// Facts of a message that decide its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingFacts<'a> {
    /// Channel.
    pub channel: &'a str,
    /// Account of ours.
    pub account: Option<&'a str>,
    /// Chat.
    pub peer: Option<(ChatType, &'a str)>,
    /// Chat that a thread belongs to.
    pub parent_peer: Option<(ChatType, &'a str)>,
    /// Guild.
    pub guild: Option<&'a str>,
    /// Roles of the sender.
    pub roles: Vec<&'a str>,
    /// Team.
    pub team: Option<&'a str>,
}

/// Tier of a binding, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingTier {
    /// Chat.
    Peer,
    /// Chat that the thread belongs to.
    ParentPeer,
    /// Guild and roles.
    GuildRoles,
    /// Guild.
    Guild,
    /// Team.
    Team,
    /// Account.
    Account,
    /// Channel, on every account.
    Channel,
    /// No binding: the default agent.
    Default,
}

/// Agent of a message, and the tier that decided. Within a tier the first binding wins.
#[must_use]
pub fn bind_agent(bindings: &[AgentBinding], facts: &BindingFacts<'_>, default: &AgentId) -> (AgentId, BindingTier) {
    let matching = bindings.iter().filter_map(|binding| Some((tier(&binding.condition, facts)?, binding)));
    match matching.min_by_key(|(tier, _)| *tier) {
        Some((tier, binding)) => (AgentId::normalise(&binding.agent_id), tier),
        None => (default.clone(), BindingTier::Default),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

/// Ids are compared exactly: those of some channels differ by case alone.
fn same_id(a: &str, b: &str) -> bool {
    a.trim() == b.trim()
}

/// Tier of a condition that matches; `None` if it does not.
fn tier(condition: &BindingMatch, facts: &BindingFacts<'_>) -> Option<BindingTier> {
    let every_account = condition.account_id.as_deref().is_some_and(|account| account.trim() == "*");
    let account = |text: Option<&str>| text.map_or_else(AccountId::default, AccountId::normalise);
    let account_fits = every_account || account(condition.account_id.as_deref()) == account(facts.account);
    let fits = |wanted: Option<&str>, fact: Option<&str>| {
        wanted.is_none_or(|wanted| fact.is_some_and(|fact| same_id(wanted, fact)))
    };
    let role_fits = condition.roles.is_empty()
        || condition.roles.iter().any(|role| facts.roles.iter().any(|one| same_id(role, one)));
    if !same(&condition.channel, facts.channel)
        || !account_fits
        || !role_fits
        || !fits(condition.guild_id.as_deref(), facts.guild)
        || !fits(condition.team_id.as_deref(), facts.team)
    {
        return None;
    }
    if let Some(peer) = &condition.peer {
        let is =
            |fact: Option<(ChatType, &str)>| fact.is_some_and(|(kind, id)| kind == peer.kind && same_id(id, &peer.id));
        return match (is(facts.peer), is(facts.parent_peer)) {
            (true, _) => Some(BindingTier::Peer),
            (false, true) => Some(BindingTier::ParentPeer),
            (false, false) => None,
        };
    }
    Some(match (condition.guild_id.is_some(), condition.roles.is_empty(), condition.team_id.is_some()) {
        (true, false, _) => BindingTier::GuildRoles,
        (true, true, _) => BindingTier::Guild,
        (false, _, true) => BindingTier::Team,
        (false, _, false) if every_account => BindingTier::Channel,
        (false, _, false) => BindingTier::Account,
    })
}
