//! Log of the channels: a line of JSON for what was refused, withheld, given up, or commanded. It has no texts of messages.

use super::message::InboundMessage;
use serde::{Deserialize, Serialize};

/// Line of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelLogLine {
    /// Milliseconds since 1970.
    pub at: i64,
    /// Event: `refused`, `pairing`, `displaced`, `withheld`, `dead`, `command`, `failed`, `dropped`.
    pub what: String,
    /// Channel.
    pub channel: String,
    /// Sender, or the receiver of a reply.
    pub person: String,
    /// Session key, where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Id of the message or reply.
    pub id: String,
    /// Reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl ChannelLogLine {
    /// Line about a message.
    pub(super) fn of(what: &str, message: &InboundMessage, why: impl Into<String>) -> Self {
        Self {
            at: jiff::Timestamp::now().as_millisecond(),
            what: what.to_owned(),
            channel: message.channel.clone(),
            person: message.from.id.clone(),
            id: message.id.clone(),
            why: why.into(),
            ..Self::default()
        }
    }
}
