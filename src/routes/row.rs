//! Session row: the value of a key in `sessions.json`, in the reference's format.
//!
//! A row has a resettable part ([`Conversation`]) and parts that every reset keeps: settings, names and pointers,
//! place. Keys that are not known stay in their order. Files, locks and the freshness of caches are the store's.

mod fields;
mod place;
#[cfg(test)]
mod tests;

pub use fields::{Counters, GroupActivation, OverrideSource, ResponseUsage, RowLinks, RowSettings, RunState};
pub use place::{DeliveryContext, Origin, RowPlace, ThreadId};

use crate::domain::ids::{At, SessionId};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Resettable part of a row: the conversation behind the key, its run and its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Conversation.
    pub session_id: SessionId,
    /// Its file, where it is not the default one.
    pub session_file: Option<String>,
    /// Start of the conversation; unknown in rows of older programs.
    pub session_started_at: Option<At>,
    /// Last message of a person; background writes do not move it.
    pub last_interaction_at: Option<At>,
    /// Run.
    pub run: RunState,
    /// Counters.
    pub counters: Counters,
}

/// Session row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RowWire", into = "RowWire")]
pub struct SessionRow {
    /// Last change, by anything.
    pub updated_at: Option<At>,
    /// Resettable part.
    pub conversation: Conversation,
    /// Settings and policies.
    pub settings: RowSettings,
    /// Names and pointers.
    pub links: RowLinks,
    /// Place on the channel.
    pub place: RowPlace,
    /// Keys that are not known, in their order.
    pub other: Map<String, Value>,
}

/// Row as stored: every part on one level. A flattened part must not have flattened parts itself, or its keys would
/// also land in `other`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowWire {
    session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<At>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_started_at: Option<At>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_interaction_at: Option<At>,
    #[serde(flatten)]
    run: RunState,
    #[serde(flatten)]
    counters: Counters,
    #[serde(flatten)]
    settings: RowSettings,
    #[serde(flatten)]
    links: RowLinks,
    #[serde(flatten)]
    place: RowPlace,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl From<RowWire> for SessionRow {
    fn from(wire: RowWire) -> Self {
        let RowWire { session_id, session_file, session_started_at, last_interaction_at, run, counters, .. } = wire;
        Self {
            updated_at: wire.updated_at,
            conversation: Conversation {
                session_id,
                session_file,
                session_started_at,
                last_interaction_at,
                run,
                counters,
            },
            settings: wire.settings,
            links: wire.links,
            place: wire.place,
            other: wire.other,
        }
    }
}

impl From<SessionRow> for RowWire {
    fn from(row: SessionRow) -> Self {
        let SessionRow { updated_at, conversation, settings, links, place, other } = row;
        let Conversation { session_id, session_file, session_started_at, last_interaction_at, run, counters } =
            conversation;
        Self {
            session_id,
            updated_at,
            session_file,
            session_started_at,
            last_interaction_at,
            run,
            counters,
            settings,
            links,
            place,
            other,
        }
    }
}

/// Value of a store: a row, or what cannot be read as one and stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StoredRow {
    /// Row.
    Row(Box<SessionRow>),
    /// Value of another shape. It is kept, shown as damaged, and never used.
    Unreadable(Value),
}

impl StoredRow {
    /// Reads a value, with the keys of older programs renamed.
    #[must_use]
    pub fn read(value: Value) -> Self {
        let row = match &value {
            Value::Object(map) => serde_json::from_value(Value::Object(renamed(map))).ok(),
            _ => None,
        };
        row.map_or(Self::Unreadable(value), |mut row: SessionRow| {
            row.sync_delivery();
            Self::Row(Box::new(row))
        })
    }
}

impl<'de> Deserialize<'de> for StoredRow {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Value::deserialize(from).map(Self::read)
    }
}

/// Row with the older names of three keys replaced. Where both are given, the newer one counts.
fn renamed(map: &Map<String, Value>) -> Map<String, Value> {
    let newer = |key: &str| match key {
        "provider" => Some("channel"),
        "lastProvider" => Some("lastChannel"),
        "room" => Some("groupChannel"),
        _ => None,
    };
    let mut row = Map::new();
    for (key, value) in map {
        match newer(key) {
            Some(name) if map.contains_key(name) => {}
            Some(name) => drop(row.insert(name.to_owned(), value.clone())),
            None => drop(row.insert(key.clone(), value.clone())),
        }
    }
    row
}

impl SessionRow {
    /// Row of a new conversation that nothing is known of.
    #[must_use]
    pub fn new(session: SessionId, now: At) -> Self {
        Self {
            updated_at: Some(now),
            conversation: Conversation::new(session, now),
            settings: RowSettings::default(),
            links: RowLinks::default(),
            place: RowPlace::default(),
            other: Map::new(),
        }
    }

    /// Tokens in the context; `None` if unknown or of an older run.
    #[must_use]
    pub fn total_tokens(&self) -> Option<u64> {
        let counters = &self.conversation.counters;
        counters.total_tokens.filter(|_| counters.total_tokens_fresh != Some(false))
    }

    /// Model that the next run uses by this row's override, with its provider.
    #[must_use]
    pub fn model_override(&self) -> Option<(Option<&str>, &str)> {
        let model = self.settings.model_override.as_deref()?;
        Some((self.settings.provider_override.as_deref(), model))
    }

    /// Model for lists: the override, else the one that ran last.
    #[must_use]
    pub fn shown_model(&self) -> Option<&str> {
        self.settings.model_override.as_deref().or(self.conversation.counters.model.as_deref())
    }

    /// Makes `deliveryContext` and the four `last…` keys agree. The `last…` keys decide, since every program writes
    /// them; nothing is taken over from the address of another channel.
    pub fn sync_delivery(&mut self) {
        let place = &mut self.place;
        let mut context = place.delivery_context.take().unwrap_or_default();
        let same_channel = match (&place.last_channel, &context.channel) {
            (Some(last), Some(channel)) => last == channel,
            (None, _) | (_, None) => true,
        };
        let rest = |last: &Option<String>, old: Option<String>| last.clone().or(old.filter(|_| same_channel));
        context.to = rest(&place.last_to, context.to);
        context.account_id = rest(&place.last_account_id, context.account_id);
        context.thread_id = place.last_thread_id.clone().or(context.thread_id.filter(|_| same_channel));
        context.channel = place.last_channel.clone().or(context.channel);
        place.last_channel.clone_from(&context.channel);
        place.last_to.clone_from(&context.to);
        place.last_account_id.clone_from(&context.account_id);
        place.last_thread_id.clone_from(&context.thread_id);
        place.delivery_context = Some(context).filter(|context| *context != DeliveryContext::default());
    }

    /// Row with a patch applied: `null` clears a key, others are set. A model without its provider clears the stored
    /// provider; the session id stays unless the patch has one.
    ///
    /// # Errors
    /// Fails if the result is no row.
    pub fn patched(&self, patch: &Map<String, Value>, now: At) -> Result<Self, serde_json::Error> {
        let mut row = match serde_json::to_value(self)? {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if patch.contains_key("model") && !patch.contains_key("modelProvider") {
            row.shift_remove("modelProvider");
        }
        for (key, value) in patch {
            match value {
                Value::Null if key == "sessionId" => {}
                Value::Null => drop(row.shift_remove(key)),
                _ => drop(row.insert(key.clone(), value.clone())),
            }
        }
        let mut row: Self = serde_json::from_value(Value::Object(renamed(&row)))?;
        row.updated_at = self.updated_at.max(row.updated_at).max(Some(now));
        Ok(row)
    }
}

impl Conversation {
    /// Conversation that starts now, by a person's message.
    #[must_use]
    pub fn new(session: SessionId, now: At) -> Self {
        Self {
            session_id: session,
            session_file: None,
            session_started_at: Some(now),
            last_interaction_at: Some(now),
            run: RunState::default(),
            counters: Counters::default(),
        }
    }
}
