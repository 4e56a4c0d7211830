//! Message from a channel as it comes in, checked and made harmless.
//!
//! Rights, routes and turns are left to others.

use crate::domain::sanitise::{clean, clean_line, reveal_line};
use crate::routes::key::ChatType;
use crate::routes::routing::{BindingFacts, InboundRoute, RoutedChat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest id in bytes: of messages, senders, chats, accounts and threads.
const MAX_ID: usize = 256;
/// Longest name in characters.
const MAX_NAME: usize = 80;
/// Most roles.
const MAX_ROLES: usize = 256;

/// Sender of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageSender {
    /// Id on the channel.
    pub id: String,
    /// Name that the sender shows. It proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Chat of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageChat {
    /// Type.
    #[serde(rename = "type")]
    pub chat_type: ChatType,
    /// Id on the channel.
    pub id: String,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Message from a channel: the body of `POST /v1/inbound`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InboundMessage {
    /// Id on the channel: a message is taken once.
    pub id: String,
    /// Channel, as in `[channels.NAME]`.
    pub channel: String,
    /// Account of ours that got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Sender.
    pub from: MessageSender,
    /// Chat; the direct chat with the sender if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<MessageChat>,
    /// Chat that the thread belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<MessageChat>,
    /// Thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Address of replies; the chat if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Guild.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild: Option<String>,
    /// Roles of the sender in the guild.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Text.
    pub text: String,
}

/// Id without blanks around it.
///
/// # Errors
/// Fails if it is empty, too long, or has control characters.
fn id(what: &str, text: &str) -> Result<String, String> {
    let text = text.trim_matches(' ');
    if text.is_empty() {
        return Err(format!("{what} is empty"));
    }
    if text.len() > MAX_ID {
        return Err(format!("{what} is longer than {MAX_ID} bytes"));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{what} has control characters"));
    }
    // Lists and keys compare without blanks around: one that only looks the same would be the same there.
    if reveal_line(text) != text {
        return Err(format!("{what} has invisible characters or unusual blanks"));
    }
    Ok(text.to_owned())
}

/// An id that may be missing; an empty one is.
fn id_if_any(what: &str, text: Option<&str>) -> Result<Option<String>, String> {
    text.filter(|text| !text.trim().is_empty()).map(|text| id(what, text)).transpose()
}

/// Name on one line, without anything that a terminal would act on.
fn name(text: Option<&str>) -> Option<String> {
    let line = clean_line(text?);
    let words: Vec<&str> = line.split_whitespace().collect();
    let name: String = words.join(" ").chars().take(MAX_NAME).collect();
    (!name.is_empty()).then_some(name)
}

fn chat(what: &str, chat: Option<&MessageChat>) -> Result<Option<MessageChat>, String> {
    let Some(chat) = chat else { return Ok(None) };
    Ok(Some(MessageChat { chat_type: chat.chat_type, id: id(what, &chat.id)?, name: name(chat.name.as_deref()) }))
}

impl InboundMessage {
    /// Reads a message and checks it.
    ///
    /// # Errors
    /// A sentence without its end.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let message = serde_json::from_slice::<Self>(bytes).map_err(|error| error.to_string());
        message.and_then(|message| message.checked()).map_err(|why| format!("invalid message: {why}"))
    }

    /// The message with its ids trimmed, its names on one line, and its text without control characters.
    ///
    /// # Errors
    /// A sentence without its end.
    pub(super) fn checked(&self) -> Result<Self, String> {
        let text = clean(&self.text).trim().to_owned();
        if text.is_empty() {
            return Err("text is empty".to_owned());
        }
        if self.roles.len() > MAX_ROLES {
            return Err(format!("roles has more than {MAX_ROLES} entries"));
        }
        Ok(Self {
            id: id("id", &self.id)?,
            channel: id("channel", &self.channel)?.to_lowercase(),
            account: id_if_any("account", self.account.as_deref())?,
            from: MessageSender { id: id("from.id", &self.from.id)?, name: name(self.from.name.as_deref()) },
            chat: chat("chat.id", self.chat.as_ref())?,
            parent: chat("parent.id", self.parent.as_ref())?,
            thread: id_if_any("thread", self.thread.as_deref())?,
            to: id_if_any("to", self.to.as_deref())?,
            guild: id_if_any("guild", self.guild.as_deref())?,
            roles: self.roles.iter().map(|role| id("roles", role)).collect::<Result<_, _>>()?,
            team: id_if_any("team", self.team.as_deref())?,
            text,
        })
    }

    /// Type of the chat.
    pub(super) fn chat_type(&self) -> ChatType {
        self.chat.as_ref().map_or(ChatType::Direct, |chat| chat.chat_type)
    }

    /// True for a message of one person to the agent alone.
    pub(super) fn is_direct(&self) -> bool {
        self.chat_type() == ChatType::Direct
    }

    /// Peer, group or channel.
    pub(super) fn chat_id(&self) -> &str {
        self.chat.as_ref().map_or(&self.from.id, |chat| &chat.id)
    }

    /// Address of replies.
    pub(super) fn reply_to(&self) -> &str {
        self.to.as_deref().unwrap_or_else(|| self.chat_id())
    }

    /// Source of the message's id: ids of some networks are unique in a chat only.
    pub(super) fn source(&self) -> String {
        let account = self.account.as_deref().unwrap_or_default();
        serde_json::json!([self.channel, account, self.chat_type(), self.chat_id()]).to_string()
    }

    /// Target of the reply: messages of different targets are never merged.
    pub(super) fn target(&self) -> String {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        serde_json::json!([self.channel, of(&self.account), self.reply_to(), of(&self.thread)]).to_string()
    }

    /// Facts that decide the session key.
    pub(super) fn route(&self) -> InboundRoute<'_> {
        InboundRoute {
            channel: &self.channel,
            account: self.account.as_deref(),
            chat: RoutedChat { chat_type: self.chat_type(), id: self.chat_id() },
            thread: self.thread.as_deref(),
        }
    }

    /// Facts that decide the agent.
    pub(super) fn binding_facts(&self) -> BindingFacts<'_> {
        BindingFacts {
            channel: &self.channel,
            account: self.account.as_deref(),
            peer: Some((self.chat_type(), self.chat_id())),
            parent_peer: self.parent.as_ref().map(|chat| (chat.chat_type, chat.id.as_str())),
            guild: self.guild.as_deref(),
            roles: self.roles.iter().map(String::as_str).collect(),
            team: self.team.as_deref(),
        }
    }

    /// Name of the sender, else the id.
    pub(super) fn sender_shown(&self) -> String {
        self.from.name.clone().unwrap_or_else(|| clean_line(&self.from.id).into_owned())
    }

    /// Label of the chat for lists: the group's name, or the sender's.
    pub(super) fn label(&self) -> String {
        let group = self.chat.as_ref().filter(|chat| chat.chat_type != ChatType::Direct);
        match group {
            Some(chat) => chat.name.clone().unwrap_or_else(|| clean_line(&chat.id).into_owned()),
            None => self.sender_shown(),
        }
    }

    /// Text for the model: in groups with who says it. Further lines are indented there, so that none passes for another
    /// person's.
    pub(super) fn prompt(&self, text: &str) -> String {
        if self.is_direct() {
            return text.to_owned();
        }
        let (id, text) = (clean_line(&self.from.id), text.replace('\n', "\n  "));
        match &self.from.name {
            Some(name) => format!("{name} ({id}): {text}"),
            None => format!("{id}: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(message: &serde_json::Value) -> Result<InboundMessage, String> {
        InboundMessage::parse(message.to_string().as_bytes())
    }

    #[test]
    fn a_message_is_checked_and_made_harmless() {
        let message = parse(&json!({
            "id": " m-1 ", "channel": "Telegram",
            "from": {"id": "7", "name": "An\u{1b}[31ma\n\u{202e}x"},
            "text": "a\u{1b}]0;title\u{7}b\u{0}\nc",
        }))
        .unwrap();
        assert_eq!((message.id.as_str(), message.channel.as_str()), ("m-1", "telegram"));
        assert_eq!(message.from.name.as_deref(), Some("Ana ⟦U+202E⟧x"));
        assert_eq!(message.text, "ab\nc");
        assert_eq!((message.reply_to(), message.label().as_str()), ("7", "Ana ⟦U+202E⟧x"));
        assert_eq!(message.prompt("hi"), "hi");
    }

    #[test]
    fn what_is_no_message_is_an_error_that_names_the_field() {
        let whole = json!({"id": "m", "channel": "c", "from": {"id": "7"}, "text": "hi"});
        assert!(parse(&whole).is_ok());
        for (field, value, says) in [
            ("id", json!(""), "id is empty"),
            ("id", json!("a\nb"), "id has control characters"),
            ("from", json!({"id": "bob\u{3000}"}), "from.id has invisible characters or unusual blanks"),
            ("from", json!({"id": "bo\u{feff}b"}), "from.id has invisible characters"),
            ("thread", json!("\u{a0}1"), "thread has invisible characters"),
            ("id", json!("x".repeat(257)), "longer than 256 bytes"),
            ("id", json!(7), "invalid type"),
            ("from", json!({"id": " "}), "from.id is empty"),
            ("from", json!({"id": "7", "admin": true}), "unknown field `admin`"),
            ("chat", json!({"type": "group", "id": ""}), "chat.id is empty"),
            ("chat", json!({"type": "crowd", "id": "1"}), "unknown variant `crowd`"),
            ("text", json!(" \u{1b}[0m "), "text is empty"),
            ("txt", json!("x"), "unknown field `txt`"),
        ] {
            let mut message = whole.clone();
            message[field] = value;
            let error = parse(&message).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        assert!(InboundMessage::parse(b"[1]").unwrap_err().contains("invalid message"));
        assert!(InboundMessage::parse(&[0xff]).is_err());
    }

    #[test]
    fn ids_of_messages_belong_to_their_chat_and_groups_say_who_speaks() {
        let of = |chat: &str, name: Option<&str>| {
            parse(&json!({"id": "1", "channel": "c", "from": {"id": "7", "name": name},
                "chat": {"type": "group", "id": chat, "name": "Team"}, "text": "hi"}))
            .unwrap()
        };
        assert_ne!(of("a", None).source(), of("b", None).source());
        assert_eq!(of("a", None).prompt("hi"), "7: hi");
        assert_eq!(of("a", Some("Ana")).prompt("hi\nBob (8): no"), "Ana (7): hi\n  Bob (8): no");
        assert_eq!((of("a", None).label(), of("a", None).reply_to().to_owned()), ("Team".into(), "a".into()));
    }
}
