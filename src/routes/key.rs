//! Session key: the stable name of a route, `agent:<agentId>:<rest>`.
//!
//! A key names a route; a [`crate::domain::ids::SessionId`] names the conversation behind it. `parse` reads keys,
//! `names` holds the parts that have rules of their own, `lookup` finds stored spellings of a key.
//!
//! Invariants: parsing the text of a key gives the same key; no part is empty; a key that begins with `agent:` and
//! cannot be read is an error, never an alias.

mod error;
mod lookup;
mod names;
mod parse;
#[cfg(test)]
mod tests;

pub use error::{KeyError, MAX_KEY};
pub use lookup::{KeyLookup, find_spellings};
pub use names::{AccountId, AgentId, chat_slug, is_prototype_name, names_channel, normal_main_key};
pub use parse::{KeyClass, KeyNames};

use std::collections::BTreeSet;
use std::fmt;

/// Channels whose ids keep their case in keys.
///
/// Matrix room ids and Signal group ids differ by case alone; in lower case, messages to them are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpaqueChannels(BTreeSet<String>);

impl OpaqueChannels {
    /// Set of channel names, compared in lower case.
    pub fn new<S: AsRef<str>>(channels: impl IntoIterator<Item = S>) -> Self {
        Self(channels.into_iter().map(|name| name.as_ref().trim().to_lowercase()).collect())
    }

    /// Tells if the ids of `channel` keep their case.
    #[must_use]
    pub fn contains(&self, channel: &str) -> bool {
        self.0.contains(channel)
    }
}

impl Default for OpaqueChannels {
    fn default() -> Self {
        Self::new(["matrix", "signal"])
    }
}

/// Type of a chat.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ChatType {
    /// One person.
    #[serde(alias = "dm")]
    Direct,
    /// A group.
    Group,
    /// A channel or room.
    Channel,
}

/// Kind of a session in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// The one session of `session.scope = "global"`.
    Global,
    /// The key `unknown`.
    Unknown,
    /// Group, channel or room.
    Group,
    /// Everything else.
    Direct,
}

/// Part of a key below its agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// `main`
    Main,
    /// `global`, only without an agent.
    Global,
    /// `unknown`, only without an agent.
    Unknown,
    /// `direct:<peer>` with channel and account before it as `session.dmScope` says.
    Direct {
        /// Channel; `None` for per-peer and linked people.
        channel: Option<String>,
        /// Account; only with a channel.
        account: Option<String>,
        /// Peer id or linked name.
        peer: String,
    },
    /// `<channel>:group:<id>`
    Group {
        /// Channel.
        channel: String,
        /// Group id.
        id: String,
    },
    /// `<channel>:channel:<id>`; `room` is read as `channel`.
    Channel {
        /// Channel.
        channel: String,
        /// Channel or room id.
        id: String,
    },
    /// `<channel>:slash:<userId>`
    Slash {
        /// Channel.
        channel: String,
        /// User id.
        user: String,
    },
    /// `cron:<jobId>`, and `cron:<jobId>:run:<sessionId>` for one run.
    Cron {
        /// Job id.
        job: String,
        /// Session id of a run.
        run: Option<String>,
    },
    /// `hook:<uuid>`
    Hook(String),
    /// `node-<nodeId>`
    Node(String),
    /// `subagent:<uuid>`
    Subagent(String),
    /// `acp:<…>`
    Acp(String),
    /// `dashboard:<uuid>`
    Dashboard(String),
    /// `tui-<uuid>`
    Tui(String),
    /// `explicit:<…>`
    Explicit(String),
    /// Any other text, such as a key that a webhook's caller chose.
    Other(String),
}

/// Suffix of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// `:thread:<threadId>`
    Thread(String),
    /// `:topic:<threadId>`, the older form.
    Topic(String),
    /// `:chat:<slug>`, a named child.
    Chat(String),
    /// `:subagent:<uuid>` below another session.
    Subagent(String),
}

impl Suffix {
    fn word_and_value(&self) -> (&'static str, &str) {
        match self {
            Self::Thread(id) => ("thread", id),
            Self::Topic(id) => ("topic", id),
            Self::Chat(slug) => ("chat", slug),
            Self::Subagent(id) => ("subagent", id),
        }
    }
}

/// Session key in its normal form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    text: String,
    agent: Option<AgentId>,
    route: Route,
    suffixes: Vec<Suffix>,
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SessionKey {
    /// Key of an agent's main session.
    #[must_use]
    pub fn main(agent: &AgentId) -> Self {
        Self::assemble(Some(agent.clone()), Route::Main, Vec::new())
    }

    /// Key of a route below an agent. The names in `route` are checked and normalised as in a parsed key.
    ///
    /// # Errors
    /// Fails if a name is empty or would read back as another route.
    pub fn new(agent: &AgentId, route: Route, opaque: &OpaqueChannels) -> Result<Self, KeyError> {
        parse::checked(&Self::assemble(Some(agent.clone()), route, Vec::new()), opaque)
    }

    /// Key with a suffix added.
    ///
    /// # Errors
    /// Fails if the suffix is empty or would read back as another key.
    pub fn with_suffix(&self, suffix: Suffix, opaque: &OpaqueChannels) -> Result<Self, KeyError> {
        let mut suffixes = self.suffixes.clone();
        suffixes.push(suffix);
        parse::checked(&Self::assemble(self.agent.clone(), self.route.clone(), suffixes), opaque)
    }

    /// Key without an agent, below `agent`. Keys that have one, `global` and `unknown` are returned as they are.
    #[must_use]
    pub fn qualified(&self, agent: &AgentId) -> Self {
        match (&self.agent, &self.route) {
            (Some(_), _) | (None, Route::Global | Route::Unknown) => self.clone(),
            (None, route) => Self::assemble(Some(agent.clone()), route.clone(), self.suffixes.clone()),
        }
    }

    /// Text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Text without `agent:<agentId>:`.
    #[must_use]
    pub fn without_agent(&self) -> &str {
        let Some(agent) = &self.agent else { return &self.text };
        self.text.get("agent:".len() + agent.as_str().len() + 1..).unwrap_or_default()
    }

    /// Agent; `None` for `global`, `unknown` and keys that are not qualified.
    #[must_use]
    pub fn agent(&self) -> Option<&AgentId> {
        self.agent.as_ref()
    }

    /// Route below the agent.
    #[must_use]
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// Suffixes, outermost last.
    #[must_use]
    pub fn suffixes(&self) -> &[Suffix] {
        &self.suffixes
    }

    /// Channel named in the key.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        match &self.route {
            Route::Direct { channel, .. } => channel.as_deref(),
            Route::Group { channel, .. } | Route::Channel { channel, .. } | Route::Slash { channel, .. } => {
                Some(channel)
            }
            _ => None,
        }
    }

    /// Tells if this is the main session of an agent or of all.
    #[must_use]
    pub fn is_main(&self) -> bool {
        matches!(self.route, Route::Main | Route::Global) && self.suffixes.is_empty()
    }

    /// Tells if this is one run of a scheduled job. Lists hide these.
    #[must_use]
    pub fn is_run(&self) -> bool {
        matches!(self.route, Route::Cron { run: Some(_), .. })
    }

    /// Tells if the key has a thread or topic.
    #[must_use]
    pub fn is_thread(&self) -> bool {
        self.suffixes.iter().any(|one| matches!(one, Suffix::Thread(_) | Suffix::Topic(_)))
    }

    /// Key before the last thread or topic; `None` if there is none.
    #[must_use]
    pub fn thread_parent(&self) -> Option<Self> {
        let last = self.suffixes.iter().rposition(|one| matches!(one, Suffix::Thread(_) | Suffix::Topic(_)))?;
        Some(self.cut(last))
    }

    /// Key that a named child (`:chat:<slug>`) belongs to; `None` if it is no child.
    #[must_use]
    pub fn chat_base(&self) -> Option<Self> {
        let last = self.suffixes.iter().rposition(|one| matches!(one, Suffix::Chat(_)))?;
        Some(self.cut(last))
    }

    /// Nesting of sub-agents; 0 for a session of its own.
    #[must_use]
    pub fn subagent_depth(&self) -> usize {
        let nested = self.suffixes.iter().filter(|one| matches!(one, Suffix::Subagent(_))).count();
        nested + usize::from(matches!(self.route, Route::Subagent(_)))
    }

    /// Chat type that the key tells; `None` if it tells none.
    #[must_use]
    pub fn chat_type(&self) -> Option<ChatType> {
        match &self.route {
            Route::Direct { .. } => Some(ChatType::Direct),
            Route::Group { .. } => Some(ChatType::Group),
            Route::Channel { .. } => Some(ChatType::Channel),
            Route::Other(text) => parse::legacy_chat_type(text),
            _ => None,
        }
    }

    /// Kind in lists; `row` is the chat type of the session's row.
    #[must_use]
    pub fn kind(&self, row: Option<ChatType>) -> SessionKind {
        match (&self.route, row.or_else(|| self.chat_type())) {
            (Route::Global, _) => SessionKind::Global,
            (Route::Unknown, _) => SessionKind::Unknown,
            (_, Some(ChatType::Group | ChatType::Channel)) => SessionKind::Group,
            (_, Some(ChatType::Direct) | None) => SessionKind::Direct,
        }
    }

    fn cut(&self, suffixes: usize) -> Self {
        let kept = self.suffixes.iter().take(suffixes).cloned().collect();
        Self::assemble(self.agent.clone(), self.route.clone(), kept)
    }

    fn assemble(agent: Option<AgentId>, route: Route, suffixes: Vec<Suffix>) -> Self {
        let mut parts: Vec<&str> = Vec::new();
        if let Some(agent) = &agent {
            parts.extend(["agent", agent.as_str()]);
        }
        let route_text = parse::route_text(&route);
        parts.push(&route_text);
        for suffix in &suffixes {
            let (word, value) = suffix.word_and_value();
            parts.extend([word, value]);
        }
        Self { text: parts.join(":"), agent, route, suffixes }
    }
}
