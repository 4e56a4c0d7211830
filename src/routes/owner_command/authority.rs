//! Rights to commands: `[commands]`.

use super::OwnerCommand;
use crate::routes::key::{OpaqueChannels, names_channel};
use serde::Deserialize;

/// Sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender<'a> {
    /// The operator, at a screen of the gateway.
    Operator,
    /// A person on a channel.
    Person {
        /// Channel.
        channel: &'a str,
        /// Id.
        id: &'a str,
    },
}

/// Standing of a sender, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SenderStanding {
    /// Not on the channel's allow list.
    Stranger,
    /// On the allow list, and not on `commands.allowFrom`.
    Member,
    /// May use commands.
    Authorised,
    /// May use all commands.
    Owner,
}

/// `[commands]`: entries are `channel:id`, an id, or `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "OwnerRulesText")]
pub struct OwnerRules {
    owner_allow_from: Option<Vec<String>>,
    allow_from: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct OwnerRulesText {
    owner_allow_from: Option<Vec<String>>,
    allow_from: Option<Vec<String>>,
}

impl TryFrom<OwnerRulesText> for OwnerRules {
    type Error = String;

    fn try_from(text: OwnerRulesText) -> Result<Self, Self::Error> {
        // Everybody an owner is never what an owner means.
        if text.owner_allow_from.iter().flatten().any(|entry| entry.trim() == "*") {
            return Err("commands.ownerAllowFrom: list the owners, \"*\" is not allowed".to_owned());
        }
        Ok(Self { owner_allow_from: text.owner_allow_from, allow_from: text.allow_from })
    }
}

/// Tells if an entry of a list names a person: `*`, `channel:id`, or an id that holds on every channel.
///
/// Ids compare without case, but for opaque channels.
#[must_use]
pub fn matches_sender(entry: &str, channel: &str, id: &str, opaque: &OpaqueChannels) -> bool {
    let (entry, id) = (entry.trim(), id.trim());
    let channel = channel.trim().to_lowercase();
    if entry.is_empty() || id.is_empty() {
        return false;
    }
    let same = |a: &str, b: &str| if opaque.contains(&channel) { a == b } else { a.to_lowercase() == b.to_lowercase() };
    let with_channel = entry
        .split_once(':')
        .is_some_and(|(name, rest)| name.trim().to_lowercase() == channel && same(rest.trim(), id));
    entry == "*" || with_channel || (same(entry, id) && !names_channel(entry))
}

impl OwnerRules {
    /// Standing of a sender. `channel_list` is the channel's allow list, which counts where `[commands]` says nothing.
    ///
    /// The operator is always an owner, so that no list locks the operator out. An empty list names nobody.
    #[must_use]
    pub fn standing(&self, sender: Sender<'_>, channel_list: &[String], opaque: &OpaqueChannels) -> SenderStanding {
        let Sender::Person { channel, id } = sender else { return SenderStanding::Owner };
        let on = |list: &[String]| list.iter().any(|entry| matches_sender(entry, channel, id, opaque));
        if !on(channel_list) {
            return SenderStanding::Stranger;
        }
        // Who is let in with everybody else commands nothing by that.
        let named = |list: &[String]| {
            list.iter().any(|entry| entry.trim() != "*" && matches_sender(entry, channel, id, opaque))
        };
        let may_command = self.allow_from.as_deref().map_or_else(|| named(channel_list), &on);
        let owns = match self.owner_allow_from.as_deref() {
            Some(owners) => on(owners),
            None => named(self.allow_from.as_deref().unwrap_or(channel_list)),
        };
        if owns {
            SenderStanding::Owner
        } else if may_command {
            SenderStanding::Authorised
        } else {
            SenderStanding::Member
        }
    }
}

/// Fate of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandVerdict {
    /// It runs.
    Run,
    /// It is ignored, without a reply; nor does the model get it.
    Ignore,
    /// It is a message like others.
    Message,
}

/// Decides what becomes of a sender's command.
#[must_use]
pub fn verdict(command: &OwnerCommand, standing: SenderStanding) -> CommandVerdict {
    let needed = match command {
        OwnerCommand::Send(_) => SenderStanding::Owner,
        OwnerCommand::Session(_)
        | OwnerCommand::Status
        | OwnerCommand::Context(_)
        | OwnerCommand::Compact { .. }
        | OwnerCommand::Stop
        | OwnerCommand::Reset(_)
        | OwnerCommand::Queue(_) => SenderStanding::Authorised,
    };
    match command {
        _ if standing >= needed => CommandVerdict::Run,
        // A member who writes `/new` talks to the agent. Strangers do nothing.
        OwnerCommand::Reset(_) if standing == SenderStanding::Member => CommandVerdict::Message,
        _ => CommandVerdict::Ignore,
    }
}
