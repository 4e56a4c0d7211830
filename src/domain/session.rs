//! A session as the list shows it.

use super::attention::Unfinished;
use super::ids::{At, CallId, ConnectionName, MessageId, SessionId};
use super::permission::Mode;
use super::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Thinking level of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// Little.
    Low,
    /// As the provider would.
    #[default]
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as there is.
    Max,
}

impl ThinkingLevel {
    /// All levels, least first.
    pub const ALL: [ThinkingLevel; 6] = [Self::Off, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The word on disk and on the screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads a level; `think` is an old name of `medium`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "think" {
            return Some(Self::Medium);
        }
        Self::ALL.into_iter().find(|level| level.word() == text)
    }
}

/// Switch of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionSwitch {
    /// Prompts stay in the vendor's cache for an hour or longer, where it has that.
    LongCache,
    /// Describe tools to the model in full; otherwise in a sentence each.
    FullTools,
    /// Offer the model no tools.
    NoTools,
}

/// Source of a session's title. A user's title is never overwritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TitleFrom {
    /// None yet, or the start of the first message.
    #[default]
    Provisional,
    /// Made by a model.
    Generated,
    /// Set by the user.
    User,
}

/// State of a session's switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionSwitches {
    /// Prompts stay in the vendor's cache for an hour or longer, where it has that.
    pub long_cache: bool,
    /// Describe tools to the model in full.
    pub full_tools: bool,
    /// Offer the model no tools.
    pub no_tools: bool,
}

/// Names that belong to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionNames {
    /// Its own on the command line, unique in its workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Key of its creation, which the client chose: a second session is not made with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The program that it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The context in its system prompt. Known only while its engine lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The strategy in its system prompt. Known only while its engine lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
}

/// All that is known of a session without its messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionMeta {
    /// The directory's name.
    pub id: SessionId,
    /// Names that the user gave it or chose for it.
    #[serde(flatten)]
    pub names: SessionNames,
    /// Its title; empty when there is none yet.
    pub title: String,
    /// Source of the title.
    pub title_from: TitleFrom,
    /// The start of the first user message.
    pub preview: String,
    /// Status id, underscores read as hyphens; an unknown id stays as it is.
    pub status: String,
    /// `id` or `id::value`.
    pub labels: Vec<String>,
    /// Flagged by the user.
    pub flagged: bool,
    /// Out of the list unless asked for.
    pub archived: bool,
    /// Since when.
    #[serde(default)]
    pub archived_at: Option<At>,
    /// Never listed unless asked for.
    pub hidden: bool,
    /// News since the last look.
    pub unread: bool,
    /// The last message that the user saw.
    #[serde(default)]
    pub last_read: Option<MessageId>,
    /// Permission mode.
    pub mode: Mode,
    /// The connection; locked once the first message was sent.
    pub connection: Option<ConnectionName>,
    /// The first message was sent.
    pub connection_locked: bool,
    /// The connection that is asked in the place of `connection`: that one is not configured here, or the session names none.
    /// Known only while its engine lives.
    #[serde(default)]
    pub stand_in: Option<ConnectionName>,
    /// The session's own model while what stands in for its connection does not offer it: it stays in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_model: Option<String>,
    /// `connection` is not configured here and nothing stands in for it: messages wait in the queue until somebody says what
    /// does. Known only while its engine lives.
    #[serde(default)]
    pub unmapped: bool,
    /// Model of the connection; `None` for its default.
    pub model: Option<String>,
    /// Thinking level.
    pub thinking: ThinkingLevel,
    /// Switches. Known only while its engine lives.
    #[serde(flatten)]
    pub switches: SessionSwitches,
    /// Working directory of the tools.
    pub cwd: PathBuf,
    /// Working directory when the first message was sent; fixed from then on.
    #[serde(default)]
    pub first_cwd: Option<PathBuf>,
    /// A plan that was approved to be carried out after a compaction, until the agent was told.
    #[serde(default)]
    pub pending_execution: Option<super::plan::PendingExecution>,
    /// The git worktree made for it.
    #[serde(default)]
    pub worktree: Option<Worktree>,
    /// Session that it is a branch of.
    #[serde(default)]
    pub branched_from: Option<BranchedFrom>,
    /// The call of another session that it was spawned by; it stands below that one, and is hidden otherwise.
    #[serde(default)]
    pub parent: Option<SpawnedBy>,
    /// Time of creation.
    pub created: At,
    /// Time of the last write.
    pub used: At,
    /// Last user message or final assistant message: what the list sorts by.
    pub last_message: At,
    /// Rows in the file, so far as the header says.
    pub messages: u64,
    /// The sort of the last row, in Craft's words: `user`, `assistant`, `plan`, `tool`, `error`.
    #[serde(default)]
    pub last_role: Option<String>,
    /// A plan waits for its answer.
    pub plan_pending: bool,
    /// The last turn, if it failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Tokens and cost.
    pub usage: Usage,
    /// Irregularities of the file, one sentence each with line numbers; shown with the session.
    #[serde(default)]
    pub odd: Vec<String>,
    /// Activity, known only while its engine lives.
    #[serde(default)]
    pub activity: Activity,
    /// Cost of the next request's prompt in US dollars without a cache; known only while its engine
    /// lives, and `None` if the price is unknown.
    #[serde(default)]
    pub next_cost: Option<f64>,
    /// Other process that holds it, in words; the session is read-only then.
    #[serde(default)]
    pub held_by: Option<String>,
}

/// A git worktree that was made for a session. It is the session's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worktree {
    /// The repository that it belongs to.
    pub repository: PathBuf,
    /// The worktree's own directory.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
}

/// The session and the message that a branch began with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchedFrom {
    /// The session.
    pub session: SessionId,
    /// The last message that came along.
    pub message: MessageId,
}

/// Origin of a spawned session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnedBy {
    /// The session.
    pub session: SessionId,
    /// Its call.
    pub call: CallId,
}

/// Activity of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is", content = "what")]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// A turn runs; since when.
    Running(At),
    /// The turn was stopped and its processes are ending.
    Stopping,
    /// It waits for the user; what for, in a few words (`approve: cargo test`, `plan`, `question`).
    NeedsYou(String),
}

impl SessionMeta {
    /// A new session that is not on disk yet.
    #[must_use]
    pub fn new(id: SessionId, at: At, mode: Mode, cwd: PathBuf) -> Self {
        Self {
            id,
            names: SessionNames::default(),
            title: String::new(),
            title_from: TitleFrom::Provisional,
            preview: String::new(),
            status: "todo".to_owned(),
            labels: Vec::new(),
            flagged: false,
            archived: false,
            archived_at: None,
            hidden: false,
            unread: false,
            last_read: None,
            mode,
            connection: None,
            connection_locked: false,
            stand_in: None,
            own_model: None,
            unmapped: false,
            model: None,
            thinking: ThinkingLevel::default(),
            switches: SessionSwitches::default(),
            cwd,
            first_cwd: None,
            pending_execution: None,
            worktree: None,
            branched_from: None,
            parent: None,
            created: at,
            used: at,
            last_message: at,
            messages: 0,
            last_role: None,
            plan_pending: false,
            unfinished: None,
            usage: Usage::default(),
            odd: Vec::new(),
            activity: Activity::Idle,
            next_cost: None,
            held_by: None,
        }
    }

    /// The model that the file names.
    #[must_use]
    pub fn stored_model(&self) -> Option<&str> {
        self.model.as_deref().or(self.own_model.as_deref())
    }

    /// The connection that is asked, as far as is known.
    #[must_use]
    pub fn asked(&self) -> Option<&ConnectionName> {
        self.stand_in.as_ref().or(self.connection.as_ref())
    }

    /// Nothing was said in it, and nobody gave it a name or a place: there is nothing to come back to.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let unnamed = self.title.trim().is_empty() && self.names == SessionNames::default() && self.labels.is_empty();
        let alone = self.parent.is_none() && self.branched_from.is_none() && self.worktree.is_none();
        let silent = self.messages == 0 && self.preview.trim().is_empty() && self.activity == Activity::Idle;
        silent && unnamed && alone && self.status == "todo" && !self.flagged && !self.archived && self.held_by.is_none()
    }

    /// Title in lists: the title, else the start of the first message, else "New session".
    #[must_use]
    pub fn shown_title(&self) -> &str {
        if !self.title.trim().is_empty() {
            &self.title
        } else if !self.preview.trim().is_empty() {
            &self.preview
        } else {
            "New session"
        }
    }
}
