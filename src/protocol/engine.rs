//! Commands to the engine as a whole.

use crate::domain::export::Format;
use crate::domain::ids::{ConnectionName, MessageId, SessionId};
use crate::domain::permission::Mode;
use crate::domain::property::Definition;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::ThinkingLevel;
use crate::domain::trash::TrashId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Command to the engine: about all sessions, or about a session as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "command", content = "with")]
pub enum EngineCommand {
    /// Send the list of sessions: `EngineEvent::Listed`. A client's first one may be what the last list left behind; what
    /// differs follows, as `EngineEvent::SessionChanged` or as a second list.
    List,
    /// Make a session; nothing is on disk before its first message, setting or draft. Answered by
    /// `SessionEvent::Opened`.
    Create(NewSession),
    /// Change properties of sessions: `SessionEvent::Changed` for each, or a notice that names those that could not be.
    Change {
        /// Session ids.
        sessions: Vec<SessionId>,
        /// Change to make.
        change: PropertyChange,
    },
    /// Make a new session with the history up to and including a message: `EngineEvent::Branched`.
    Branch {
        /// Session id.
        session: SessionId,
        /// Last message to include; `None` for all of them.
        at: Option<MessageId>,
        /// Its title; without one it is the title of the session that it came from, with the next number behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Go back to a message: a branch with what is kept takes the session's place on the screen
    /// (`EngineEvent::Branched`);
    /// the old session stays.
    Rewind {
        /// Session id.
        session: SessionId,
        /// The last message that is kept.
        at: MessageId,
        /// Also restore the files that calls after it changed, and of those that somebody changed since these. `None`:
        /// files stay as they are.
        #[serde(default)]
        files: Option<Vec<PathBuf>>,
    },
    /// Move sessions to the trash: `EngineEvent::Deleted` for each.
    Delete {
        /// Session ids.
        sessions: Vec<SessionId>,
        /// Not to the trash: gone for good.
        now: bool,
    },
    /// Send what is in the trash: `EngineEvent::Trash`.
    Trash,
    /// Take sessions out of the trash: `SessionEvent::Changed` for each.
    Restore {
        /// Trash entries.
        trash: Vec<TrashId>,
    },
    /// Search all sessions: `EngineEvent::Found` as results come in. A search that runs is stopped.
    Search {
        /// The client's number of this search.
        search: u64,
        /// Query, in the query language. Empty: only stop the running search.
        query: String,
    },
    /// Look at a session's files: `EngineEvent::Health`.
    Verify {
        /// Session id.
        session: SessionId,
        /// Also repair what can be; a copy of what is changed is kept.
        repair: bool,
    },
    /// Write a session's conversation to a file: `EngineEvent::Exported`, or a notice why not.
    Export {
        /// Session id.
        session: SessionId,
        /// Destination file or folder, relative to the session's working directory. `None`: a name
        /// from its title there.
        to: Option<PathBuf>,
        /// As what; `None`: what the name says, else markdown.
        format: Option<Format>,
    },
    /// Write a session's conversation into its own folder, to be given to others: `EngineEvent::Exported`. Nothing is sent
    /// anywhere.
    Share {
        /// Session id.
        session: SessionId,
        /// Its lines, for an upload; otherwise one page.
        #[serde(default)]
        upload: bool,
    },
    /// Make a session of one of another program: `EngineEvent::Imported`, or a notice why not.
    Import {
        /// Its folder or file.
        path: PathBuf,
        /// A relative path begins there.
        from: Option<PathBuf>,
    },
    /// Send the audit log of a session's tool calls: `EngineEvent::Audit`.
    Audit {
        /// Session id.
        session: SessionId,
    },
    /// Add a definition to the workspace: `EngineEvent::Properties`, or a notice why not.
    Define(Definition),
    /// Ask the server of a connection for its models: `EngineEvent::Models`.
    Models {
        /// Connection name.
        connection: ConnectionName,
    },
    /// Add a server that speaks OpenAI's chat API to config.toml, and ask it for its models: `EngineEvent::ServerAdded`,
    /// or a notice why not.
    AddServer {
        /// Its address; scheme and path may be missing.
        address: String,
    },
    /// Send what is known of these models, without asking their server: `EngineEvent::Figures`.
    Figures {
        /// Connection name.
        connection: ConnectionName,
        /// Their names.
        models: Vec<String>,
    },
    /// Send what the thinking levels mean to a model: `EngineEvent::Levels`.
    Levels {
        /// Connection name.
        connection: ConnectionName,
        /// Model name.
        model: String,
    },
    /// Keep a sent or dropped text in the input history.
    Remember {
        /// The text.
        text: String,
    },
    /// Send what requests used and cost: `EngineEvent::Usage`.
    Usage {
        /// Also by the turns of this session.
        session: Option<SessionId>,
    },
    /// Save, stop every turn, end every process. `EngineEvent::Ended` is the last event.
    Shutdown,
}

/// A session to be made. What is left out comes from the workspace's and the user's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Working directory of its tools.
    pub cwd: Option<PathBuf>,
    /// Its name on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Its title, which no model changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its connection.
    pub connection: Option<ConnectionName>,
    /// Its model.
    pub model: Option<String>,
    /// Its permission mode.
    pub mode: Option<Mode>,
    /// Thinking level of its model.
    #[serde(default)]
    pub thinking: Option<ThinkingLevel>,
    /// Its labels, `id` or `id::value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Work in a git worktree of its own, on a branch of its own.
    #[serde(default)]
    pub worktree: bool,
    /// Key of the creation, chosen by the client, 8 to 64 letters, digits, `-` and `_`: sent again, also to a later engine,
    /// it opens the session that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}
