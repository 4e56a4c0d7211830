//! Place of a session on its channel: chat, origin, address of replies.

use super::fields::optional_fields;
use crate::routes::key::ChatType;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Thread id: a text or a number, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ThreadId {
    /// Text.
    Text(String),
    /// Number, as Telegram's topics have.
    Number(i64),
}

/// Origin of a session, for people to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Origin {
    /// Label such as a sender's or group's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Surface of the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// Chat type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_type: Option<ChatType>,
    /// Sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Account of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Keys of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Address that replies go to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryContext {
    /// Channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Account of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Keys of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

optional_fields! {
    /// Place of a session on its channel. A reset keeps it.
    RowPlace {
        /// Chat type.
        chat_type: ChatType,
        /// Channel.
        channel: String,
        /// Group id.
        group_id: String,
        /// Group name.
        subject: String,
        /// Channel or room of the group.
        group_channel: String,
        /// Guild or team.
        space: String,
        /// Origin.
        origin: Origin,
        /// Address that replies go to.
        delivery_context: DeliveryContext,
        /// Channel of the last message.
        last_channel: String,
        /// Receiver of the last reply.
        last_to: String,
        /// Account of the last message.
        last_account_id: String,
        /// Thread of the last message.
        last_thread_id: ThreadId,
    }
}
