//! `[session]`, `[messages.queue]`, `[commands]` and `[cron]` of config.toml, with the reference's key names.
//!
//! A value that cannot be read is an error, also where the reference takes its default; the TOML reader adds the line.
//! Unknown keys are errors too. `units` reads durations and sizes, `scalar` the values that have several types.

mod scalar;
#[cfg(test)]
mod tests;
mod units;

pub use units::{Bytes, DAY, Days, HOUR, Hours, MINUTE, parse_bytes, parse_duration};

use super::key::{
    ChatType, KeyError, KeyNames, OpaqueChannels, Route, SessionKey, is_prototype_name, names_channel, normal_main_key,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tokens of a parent conversation above which a thread does not fork it.
const PARENT_FORK_MAX_TOKENS: u64 = 100_000;

/// Scope of the main session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionScope {
    /// Every route has its session.
    #[default]
    PerSender,
    /// Main sessions are one, `global`.
    Global,
}

/// Grouping of direct messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DmScope {
    /// All in the agent's main session.
    #[default]
    Main,
    /// By person.
    PerPeer,
    /// By channel and person.
    PerChannelPeer,
    /// By channel, account and person.
    PerAccountChannelPeer,
}

/// People that write from several channels: name, and `channel:id` or bare ids.
///
/// An id under two names is an error: TOML has no order of names that could decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Vec<String>>")]
pub struct IdentityLinks(BTreeMap<String, String>);

impl IdentityLinks {
    /// Name of the person with this id on the channel. An id with its channel decides over a bare one.
    #[must_use]
    pub fn name(&self, channel: &str, peer: &str) -> Option<&str> {
        let peer = peer.trim().to_lowercase();
        let with_channel = format!("{}:{peer}", channel.trim().to_lowercase());
        let bare = || self.0.get(&peer).filter(|_| !names_channel(&peer));
        self.0.get(&with_channel).or_else(bare).map(String::as_str)
    }

    /// Tells if a person has this name.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        let name = name.trim().to_lowercase();
        self.0.values().any(|one| *one == name)
    }
}

impl TryFrom<BTreeMap<String, Vec<String>>> for IdentityLinks {
    type Error = String;

    fn try_from(table: BTreeMap<String, Vec<String>>) -> Result<Self, Self::Error> {
        let mut names = BTreeMap::new();
        for (name, ids) in table {
            let name = name.trim().to_lowercase();
            if is_prototype_name(&name) || name.contains(':') || !reads_as_peer(&name) {
                return Err(format!("identityLinks: {name:?} can't be a name in a session key"));
            }
            for id in ids {
                let id = id.trim().to_lowercase();
                if id.is_empty() {
                    return Err(format!("identityLinks: empty id under {name:?}"));
                }
                match names.insert(id.clone(), name.clone()) {
                    Some(other) if other != name => {
                        return Err(format!("identityLinks: {id:?} is listed under {other:?} and {name:?}"));
                    }
                    Some(_) | None => {}
                }
            }
        }
        Ok(Self(names))
    }
}

fn reads_as_peer(name: &str) -> bool {
    let route = Route::Direct { channel: None, account: None, peer: name.to_owned() };
    let key: Result<SessionKey, KeyError> = SessionKey::new(&Default::default(), route, &OpaqueChannels::default());
    key.is_ok()
}

/// Mode of automatic resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResetMode {
    /// Every day at `atHour`, and after `idleMinutes` where given.
    Daily,
    /// After `idleMinutes`.
    Idle,
    /// Never.
    None,
}

/// Rule of automatic resets as written; what is absent comes from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResetRule {
    /// Mode.
    pub mode: Option<ResetMode>,
    /// Hour of the day, 0 to 23.
    #[serde(default, deserialize_with = "scalar::hour")]
    pub at_hour: Option<u8>,
    /// Minutes without a message, at least 1.
    #[serde(default, deserialize_with = "scalar::positive")]
    pub idle_minutes: Option<u64>,
}

/// Rules by type of session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetByType {
    /// Direct messages.
    #[serde(alias = "dm")]
    pub direct: Option<ResetRule>,
    /// Groups and channels.
    pub group: Option<ResetRule>,
    /// Threads and topics.
    pub thread: Option<ResetRule>,
}

/// Effect of a send rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SendAction {
    /// Replies are delivered.
    #[default]
    Allow,
    /// Replies are withheld.
    Deny,
}

/// Fields of a send rule; all that are given must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMatch {
    /// Channel.
    pub channel: Option<String>,
    /// Chat type.
    pub chat_type: Option<ChatType>,
    /// Start of the key, with or without `agent:<agentId>:`.
    pub key_prefix: Option<String>,
    /// Start of the whole key.
    pub raw_key_prefix: Option<String>,
}

/// Send rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendRule {
    /// Effect.
    pub action: SendAction,
    /// Fields; an empty match is every session.
    #[serde(default, rename = "match")]
    pub fields: SendMatch,
}

/// `[session.sendPolicy]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendPolicy {
    /// Rules; their order does not matter.
    #[serde(default)]
    pub rules: Vec<SendRule>,
    /// Effect where no rule matches.
    #[serde(default)]
    pub default: SendAction,
}

/// Mode of maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaintenanceMode {
    /// Reports only.
    #[default]
    Warn,
    /// Applies.
    Enforce,
}

/// `[session.maintenance]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MaintenanceConfig {
    /// Mode.
    pub mode: MaintenanceMode,
    /// Age of rows that are removed; a bare number counts days.
    #[serde(alias = "pruneDays")]
    pub prune_after: Days,
    /// Most rows, at least 1.
    #[serde(deserialize_with = "scalar::count")]
    pub max_entries: usize,
    /// Size of the store's file above which it is copied.
    pub rotate_bytes: Bytes,
    /// Age of reset archives that are deleted: a duration, `false` for never; as `pruneAfter` if absent.
    #[serde(deserialize_with = "scalar::days_or_false")]
    pub reset_archive_retention: Option<Option<Days>>,
    /// Most bytes of the directory; no limit if absent.
    pub max_disk_bytes: Option<Bytes>,
    /// Bytes that are left once the limit is exceeded; 80 % of it if absent.
    pub high_water_bytes: Option<Bytes>,
}

impl Default for MaintenanceConfig {
    fn default() -> Self {
        Self {
            mode: MaintenanceMode::Warn,
            prune_after: Days(30 * DAY),
            max_entries: 500,
            rotate_bytes: Bytes(10 * 1024 * 1024),
            reset_archive_retention: None,
            max_disk_bytes: None,
            high_water_bytes: None,
        }
    }
}

impl MaintenanceConfig {
    /// Age in milliseconds of reset archives that are deleted; `None` for never.
    #[must_use]
    pub fn reset_retention(&self) -> Option<u64> {
        self.reset_archive_retention.unwrap_or(Some(self.prune_after)).map(|days| days.0)
    }

    /// Limit of the directory and the bytes to leave; `None` without a limit.
    #[must_use]
    pub fn disk_limits(&self) -> Option<(u64, u64)> {
        let max = self.max_disk_bytes?.0;
        // Tenths first: 80 % of a huge limit must not overflow.
        let share = max / 10 * 8 + max % 10 * 8 / 10;
        let high = self.high_water_bytes.map_or(share, |bytes| bytes.0);
        Some((max, high.max(1).min(max)))
    }
}

/// `[session]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionConfig {
    /// Scope of the main session.
    pub scope: SessionScope,
    /// Another name of the main session.
    pub main_key: Option<String>,
    /// Grouping of direct messages.
    pub dm_scope: DmScope,
    /// People that write from several channels.
    pub identity_links: IdentityLinks,
    /// A linked person has one session on all channels, in both per-channel scopes.
    pub identity_links_merge: bool,
    /// Path of the store; `~` and `{agentId}` expand.
    pub store: Option<String>,
    /// Rule of automatic resets.
    pub reset: Option<ResetRule>,
    /// Rules by type.
    pub reset_by_type: Option<ResetByType>,
    /// Rules by channel; each is the whole rule of its channel.
    pub reset_by_channel: BTreeMap<String, ResetRule>,
    /// Older form of `reset.idleMinutes`.
    #[serde(deserialize_with = "scalar::positive")]
    pub idle_minutes: Option<u64>,
    /// Messages that reset.
    pub reset_triggers: Vec<String>,
    /// Tokens of a parent conversation above which a thread does not fork it; 0 for no limit.
    pub parent_fork_max_tokens: u64,
    /// Maintenance.
    pub maintenance: MaintenanceConfig,
    /// Send policy; everything is delivered if absent.
    pub send_policy: Option<SendPolicy>,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            scope: SessionScope::PerSender,
            main_key: None,
            dm_scope: DmScope::Main,
            identity_links: IdentityLinks::default(),
            identity_links_merge: true,
            store: None,
            reset: None,
            reset_by_type: None,
            reset_by_channel: BTreeMap::new(),
            idle_minutes: None,
            reset_triggers: vec!["/new".to_owned(), "/reset".to_owned()],
            parent_fork_max_tokens: PARENT_FORK_MAX_TOKENS,
            maintenance: MaintenanceConfig::default(),
            send_policy: None,
        }
    }
}

impl SessionConfig {
    /// Names that keys are read with.
    #[must_use]
    pub fn key_names(&self, opaque: OpaqueChannels) -> KeyNames {
        KeyNames {
            main_key: normal_main_key(self.main_key.as_deref().unwrap_or_default()),
            global: self.scope == SessionScope::Global,
            opaque,
        }
    }
}

/// Mode of a session's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMode {
    /// A message goes into the running turn.
    #[serde(alias = "queue")]
    Steer,
    /// Each waiting message becomes a turn.
    Followup,
    /// All waiting messages become one turn.
    #[default]
    Collect,
    /// A message goes into the running turn and also waits.
    SteerBacklog,
    /// A message aborts the running turn.
    Interrupt,
}

impl QueueMode {
    /// Word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Followup => "followup",
            Self::Collect => "collect",
            Self::SteerBacklog => "steer-backlog",
            Self::Interrupt => "interrupt",
        }
    }
}

/// Messages that a full queue drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueDrop {
    /// The oldest message.
    Old,
    /// The new message.
    New,
    /// The oldest message, but for a line of it.
    #[default]
    Summarize,
}

impl QueueDrop {
    /// Word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
            Self::Summarize => "summarize",
        }
    }
}

/// Most waiting messages: a number of at least 1, or `false` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueCap(pub Option<u64>);

/// `[messages.queue]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct QueueConfig {
    /// Mode.
    pub mode: Option<QueueMode>,
    /// Modes by channel.
    pub by_channel: BTreeMap<String, QueueMode>,
    /// Milliseconds of quiet before waiting messages become a turn.
    pub debounce_ms: Option<u64>,
    /// The same by channel.
    pub debounce_ms_by_channel: BTreeMap<String, u64>,
    /// Most waiting messages.
    pub cap: Option<QueueCap>,
    /// Messages that a full queue drops.
    pub drop: Option<QueueDrop>,
}

/// `[cron]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CronConfig {
    /// Age of run rows that are removed; a bare number counts hours, `false` keeps them.
    #[serde(deserialize_with = "scalar::hours_or_false")]
    pub session_retention: Option<Hours>,
}

impl Default for CronConfig {
    fn default() -> Self {
        Self { session_retention: Some(Hours(24 * HOUR)) }
    }
}
