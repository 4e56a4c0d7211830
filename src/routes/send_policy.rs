//! Send policy: decides if a reply is delivered to its channel.
//!
//! The row's own value decides over all rules; among rules, deny beats allow in any order. Running is never blocked,
//! and the operator's own screen always gets the reply.

#[cfg(test)]
mod tests;

use super::config::{SendAction, SendMatch, SendPolicy};
use super::key::{ChatType, Route, SessionKey};
use super::row::RowPlace;

/// Receiver of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// The channel.
    Channel,
    /// A screen of the operator.
    Operator,
}

/// Facts that rules look at. `None`: unknown; a rule that names an unknown fact does not match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendFacts {
    /// Channel in lower case.
    pub channel: Option<String>,
    /// Chat type.
    pub chat_type: Option<ChatType>,
}

impl SendFacts {
    /// Facts of a session: what the caller knows, else the row, else the key.
    #[must_use]
    pub fn of(known: &Self, place: &RowPlace, key: &SessionKey) -> Self {
        let in_key = match key.route() {
            Route::Group { channel, .. } | Route::Channel { channel, .. } => Some(channel),
            _ => None,
        };
        let given = [known.channel.as_ref(), place.channel.as_ref(), place.last_channel.as_ref(), in_key];
        let channel = given.into_iter().flatten().map(|name| folded(name)).find(|name| !name.is_empty());
        Self { channel, chat_type: known.chat_type.or(place.chat_type).or_else(|| key.chat_type()) }
    }
}

/// Rule that decided about a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendReason {
    /// The receiver is the operator.
    Operator,
    /// The row's own value, set by `/send`.
    Row,
    /// The rule with this index.
    Rule(usize),
    /// `session.sendPolicy.default`.
    Default,
    /// No policy.
    NoPolicy,
}

/// Decision about a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendDecision {
    /// Effect.
    pub action: SendAction,
    /// Deciding rule.
    pub reason: SendReason,
}

/// Decides about a delivery. `row` is the row's own value.
#[must_use]
pub fn decide(
    receiver: Receiver,
    row: Option<SendAction>,
    policy: Option<&SendPolicy>,
    facts: &SendFacts,
    key: &SessionKey,
) -> SendDecision {
    let decision = |action, reason| SendDecision { action, reason };
    if receiver == Receiver::Operator {
        return decision(SendAction::Allow, SendReason::Operator);
    }
    if let Some(action) = row {
        return decision(action, SendReason::Row);
    }
    let Some(policy) = policy else { return decision(SendAction::Allow, SendReason::NoPolicy) };
    let first = |action: SendAction| {
        policy.rules.iter().position(|rule| rule.action == action && fits(&rule.fields, facts, key))
    };
    if let Some(index) = first(SendAction::Deny) {
        decision(SendAction::Deny, SendReason::Rule(index))
    } else if let Some(index) = first(SendAction::Allow) {
        decision(SendAction::Allow, SendReason::Rule(index))
    } else {
        decision(policy.default, SendReason::Default)
    }
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn fits(fields: &SendMatch, facts: &SendFacts, key: &SessionKey) -> bool {
    let whole = folded(key.as_str());
    let starts = |text: &str, prefix: &str| text.starts_with(&folded(prefix));
    let channel = fields.channel.as_ref().is_none_or(|name| facts.channel.as_deref().map(folded) == Some(folded(name)));
    let chat_type = fields.chat_type.is_none_or(|chat_type| facts.chat_type == Some(chat_type));
    let short = folded(key.without_agent());
    let prefix = fields.key_prefix.as_ref().is_none_or(|prefix| starts(&whole, prefix) || starts(&short, prefix));
    let raw = fields.raw_key_prefix.as_ref().is_none_or(|prefix| starts(&whole, prefix));
    channel && chat_type && prefix && raw
}

/// Argument of `/send`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendSetting {
    /// Deliver.
    On,
    /// Withhold.
    Off,
    /// Follow the rules.
    Inherit,
}

impl SendSetting {
    /// Value of the row.
    #[must_use]
    pub fn row_value(self) -> Option<SendAction> {
        match self {
            Self::On => Some(SendAction::Allow),
            Self::Off => Some(SendAction::Deny),
            Self::Inherit => None,
        }
    }
}
