//! Rows of the transcript: what the file, the engine and the screen share.

use super::attachment::Attachment;
use super::ids::{At, CallId, MessageId};
use super::tool::ToolCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row. Final rows never change; a row that is still live is sent again whole, or grows by text deltas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its id. Not unique in files of other programs: rows are addressed by id and occurrence there.
    pub id: MessageId,
    /// Time of the row.
    pub at: At,
    /// The provider's id of the response it belongs to.
    #[serde(default)]
    pub turn: Option<String>,
    /// The call that this row belongs under (a subagent's row).
    #[serde(default)]
    pub parent: Option<CallId>,
    /// The model that wrote it, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Content.
    pub body: Body,
}

/// Content of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "row")]
pub enum Body {
    /// The user's message.
    User(UserText),
    /// Text of the model.
    Assistant(AssistantText),
    /// Thinking of the model.
    Thinking(Thinking),
    /// A tool call.
    Tool(Box<ToolCall>),
    /// A failure, with what helps.
    Error(Failure),
    /// A remark of the program: mode changes, interruptions, compaction, warnings.
    Info(Info),
    /// A submitted plan.
    Plan(Plan),
    /// A row of a type that this version does not know, or a line that cannot be read. It is shown and kept as it is.
    Odd(Odd),
}

/// The user's message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserText {
    /// The text.
    pub text: String,
    /// Attached files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// It was delivered while a turn ran.
    #[serde(default)]
    pub steer: bool,
    /// Byte from which on it is not the user's own words: a script piped it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piped: Option<usize>,
    /// Client of a gateway that sent it, by name; `None` for one in the engine's process. Not sanitised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl UserText {
    /// The user's own words.
    #[must_use]
    pub fn own(&self) -> &str {
        self.piped.map_or(self.text.as_str(), |from| self.text.get(..from).unwrap_or_default())
    }

    /// Text that says what it is about: the user's own words, where there are any.
    #[must_use]
    pub fn subject(&self) -> &str {
        let own = self.own().trim();
        if own.is_empty() { self.text.trim() } else { own }
    }

    /// A text with files.
    #[must_use]
    pub fn with(text: impl Into<String>, attachments: Vec<Attachment>) -> Self {
        Self { text: text.into(), attachments, ..Self::default() }
    }

    /// Neither text nor files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty()
    }

    /// Text in lists: its own, else the names of its files.
    #[must_use]
    pub fn told(&self) -> String {
        if !self.text.trim().is_empty() {
            return self.subject().to_owned();
        }
        self.attachments.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl From<String> for UserText {
    fn from(text: String) -> Self {
        Self::with(text, Vec::new())
    }
}

impl From<&str> for UserText {
    fn from(text: &str) -> Self {
        Self::with(text, Vec::new())
    }
}

/// Text of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantText {
    /// Markdown.
    pub text: String,
    /// Commentary between tool calls rather than the answer.
    #[serde(default)]
    pub intermediate: bool,
    /// It was cut off: by the user, a failure or a crash.
    #[serde(default)]
    pub partial: bool,
    /// Reason why it was cut off, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_by: Option<CutBy>,
    /// The provider's own blocks for this response, replayed unchanged with the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// Reason why an answer was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutBy {
    /// The user stopped the turn.
    User,
    /// The connection or the server failed.
    Error,
    /// lisle quit or died.
    Restart,
    /// The time that the run was given is over.
    TimeLimit,
    /// A signal ended lisle.
    Signal,
    /// Another lisle took the session over.
    TakenOver,
}

impl AssistantText {
    /// The remark for a text that was cut off: `cut off`, with what did it where the user did not.
    #[must_use]
    pub fn cut_off(&self) -> Option<&'static str> {
        self.partial.then_some(match self.cut_by {
            None | Some(CutBy::User) => "interrupted",
            Some(CutBy::Error) => "interrupted by an error",
            Some(CutBy::Restart) => "interrupted when lisle quit",
            Some(CutBy::TimeLimit) => "interrupted by the time limit",
            Some(CutBy::Signal) => "interrupted by a signal",
            Some(CutBy::TakenOver) => "interrupted by a takeover",
        })
    }
}

/// Thinking of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thinking {
    /// The text; may be empty where the provider hides it.
    pub text: String,
    /// Duration in milliseconds.
    #[serde(default)]
    pub millis: Option<u64>,
    /// The provider's own block with its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// Blocks of a provider, kept byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Native {
    /// The wire format that can replay them: `anthropic-messages`, `openai-responses` …
    pub wire: String,
    /// The blocks as JSON text.
    pub json: String,
}

/// A failure, with what helps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// One of the codes of Craft Agents' error list, e.g. `rate_limited`, `network_error`.
    pub code: String,
    /// A few words.
    pub title: String,
    /// Error, and what to do.
    pub text: String,
    /// Words of the server, shortened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Buttons that help.
    #[serde(default)]
    pub actions: Vec<FailureAction>,
}

/// Remedy after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureAction {
    /// Send the same request again.
    Retry,
    /// Choose another model.
    Model,
    /// Look at the connection's settings.
    Settings,
    /// Sum up what was said, so that there is room again.
    Compact,
    /// Start a new session.
    NewSession,
}

/// A remark of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// Text.
    pub text: String,
    /// Level.
    pub level: super::notice::Level,
    /// Subject, for its look.
    pub kind: InfoKind,
    /// Content that a compaction carries over to the model: its conversation begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Box<Carried>>,
}

/// Content that a compaction carries over. The lists are kept beside the text, so that the next
/// compaction continues them instead of summarising a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Carried {
    /// Text for the model: its conversation begins with it.
    pub text: String,
    /// The first row above this one that stays in the model's conversation, behind the text. `None`: no row does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps: Option<MessageId>,
    /// Summary of the rows before, by a model; empty if none was asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The user's messages among them, word for word, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
    /// Files that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Files that were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
}

impl From<String> for Carried {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Subject of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InfoKind {
    /// The permission mode changed.
    ModeChanged,
    /// The user stopped the turn.
    Interrupted,
    /// lisle quit or died during the turn; a note for the model says so.
    Restarted,
    /// The turn was ended by a time limit, a signal or a takeover. The text names it, for the model too.
    Ended,
    /// Older messages were summed up here.
    Compacted,
    /// Files were restored; the model gets a note.
    Restored,
    /// A command in the background ended, or a call that was stopped had been done already; the model gets a note.
    JobEnded,
    /// Anything else.
    Remark,
}

/// A submitted plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Its file.
    pub path: String,
    /// The plan as markdown.
    pub markdown: String,
}

/// A line that this version cannot show as anything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Odd {
    /// Irregularity: an unknown type, or a line that does not parse.
    pub what: String,
    /// Its line number in `session.jsonl`, from 1; 0 where pages were read from the end and it is not known.
    pub line: u64,
    /// The line itself, cut to 2,000 characters.
    pub raw: String,
}

impl Message {
    /// A row without turn or parent.
    #[must_use]
    pub fn new(id: MessageId, at: At, body: Body) -> Self {
        Self { id, at, turn: None, parent: None, model: None, body }
    }

    /// The files that belong to the row: those that were given along, or that a tool gave.
    #[must_use]
    pub fn files(&self) -> &[Attachment] {
        match &self.body {
            Body::User(said) => &said.attachments,
            Body::Tool(call) => &call.figures.media,
            _ => &[],
        }
    }

    /// The tool call that this row is, if it is one.
    #[must_use]
    pub fn tool(&self) -> Option<&ToolCall> {
        match &self.body {
            Body::Tool(call) => Some(call),
            _ => None,
        }
    }
}
