//! Commands to the engine as a whole.

use super::Act;
use crate::domain::export::Format;
use crate::domain::ids::{ConnectionName, MessageId, SessionId};
use crate::domain::inbox::{PropertyChange, TrashId};
use crate::domain::permission::Mode;
use crate::domain::property::Definition;
use crate::domain::request::TrustRequest;
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::session::ThinkingLevel;
use crate::domain::undo::UndoAim;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Command of a client to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "command", content = "with")]
pub enum Command {
    /// Send the list of sessions: [`Event::Listed`].
    List,
    /// Make a session; nothing is on disk before its first message, setting or draft. Answered by [`Event::Opened`].
    Create(NewSession),
    /// Send a snapshot with the last rows: [`Event::Opened`].
    Open {
        /// Session id.
        session: SessionId,
        /// Maximum number of rows.
        rows: usize,
    },
    /// Send rows before the ones already sent: [`Event::Page`].
    Earlier {
        /// Session id.
        session: SessionId,
        /// [`Opened::earlier`] or [`Event::Page`]'s of the page before.
        cursor: u64,
        /// Maximum number of rows.
        rows: usize,
    },
    /// Send a snapshot around a place far from the end: [`Event::Opened`] with [`Opened::later`].
    OpenAt {
        /// Session id.
        session: SessionId,
        /// [`crate::domain::inbox::RowHit::at`] of the row to show.
        at: u64,
        /// Maximum number of rows, on both sides together.
        rows: usize,
    },
    /// Send rows after the ones already sent: [`Event::LaterPage`].
    Later {
        /// Session id.
        session: SessionId,
        /// [`Opened::later`] or [`Event::LaterPage`]'s of the page before.
        cursor: u64,
        /// Maximum number of rows.
        rows: usize,
    },
    /// The session is no longer looked at (its engine goes on).
    Leave {
        /// Session id.
        session: SessionId,
    },
    /// Act on one session.
    To {
        /// Session id.
        session: SessionId,
        /// Act.
        act: Act,
    },
    /// Change properties of sessions: [`Event::Changed`] for each, or a notice that names those that could not be.
    Change {
        /// Session ids.
        sessions: Vec<SessionId>,
        /// Change to make.
        change: PropertyChange,
    },
    /// Make a new session with the history up to and including a message: [`Event::Branched`].
    Branch {
        /// Session id.
        session: SessionId,
        /// Last message to include; `None` for all of them.
        at: Option<MessageId>,
        /// Its title; without one it is the title of the session that it came from, with the next number behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Go back to a message: a branch with what is kept takes the session's place on the screen ([`Event::Branched`]);
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
    /// Send what an undo would do: [`Event::UndoPlanned`].
    PlanUndo {
        /// Session id.
        session: SessionId,
        /// Target of the undo.
        aim: UndoAim,
    },
    /// Restore files. A row of the transcript tells what was done.
    Undo {
        /// Session id.
        session: SessionId,
        /// Target of the undo.
        aim: UndoAim,
        /// Files to restore although somebody changed them since.
        also: Vec<PathBuf>,
    },
    /// Send what a session changed: [`Event::FilesChanged`].
    FilesChanged {
        /// Session id.
        session: SessionId,
    },
    /// Take all messages out of a session; they go to the trash. Answered by [`Event::Opened`].
    Clear {
        /// Session id.
        session: SessionId,
    },
    /// Move sessions to the trash: [`Event::Deleted`] for each.
    Delete {
        /// Session ids.
        sessions: Vec<SessionId>,
        /// Not to the trash: gone for good.
        now: bool,
    },
    /// Send what is in the trash: [`Event::Trash`].
    Trash,
    /// Take sessions out of the trash: [`Event::Changed`] for each.
    Restore {
        /// Trash entries.
        trash: Vec<TrashId>,
    },
    /// Search all sessions: [`Event::Found`] as results come in. A search that runs is stopped.
    Search {
        /// The client's number of this search.
        search: u64,
        /// Query, in the query language. Empty: only stop the running search.
        query: String,
    },
    /// Look at a session's files: [`Event::Health`].
    Verify {
        /// Session id.
        session: SessionId,
        /// Also repair what can be; a copy of what is changed is kept.
        repair: bool,
    },
    /// Write a session's conversation to a file: [`Event::Exported`], or a notice why not.
    Export {
        /// Session id.
        session: SessionId,
        /// Destination file or folder, relative to the session's working directory. `None`: a name
        /// from its title there.
        to: Option<PathBuf>,
        /// As what; `None`: what the name says, else markdown.
        format: Option<Format>,
    },
    /// Write a session's conversation as one page into its own folder, to be given to others: [`Event::Exported`]. Nothing
    /// is sent anywhere.
    Share {
        /// Session id.
        session: SessionId,
    },
    /// Make a session of one of another program: [`Event::Imported`], or a notice why not.
    Import {
        /// Its folder or file.
        path: PathBuf,
        /// A relative path begins there.
        from: Option<PathBuf>,
    },
    /// Send the ledger of a session's tool calls: [`Event::Audit`].
    Audit {
        /// Session id.
        session: SessionId,
    },
    /// Send what the model gets with the next request, and how much of its window that takes: [`Event::Context`].
    Context {
        /// Session id.
        session: SessionId,
    },
    /// Add a definition to the workspace: [`Event::Properties`], or a notice why not.
    Define(Definition),
    /// Send the rules that are in force for a session: [`Event::Rules`].
    Rules {
        /// Session id.
        session: SessionId,
    },
    /// Remove a rule where it stands: [`Event::Rules`] with what is left, or a notice why not.
    Forget {
        /// The session that sees it.
        session: SessionId,
        /// The rule.
        rule: Box<Rule>,
        /// Scope of the rule.
        scope: RuleScope,
    },
    /// Trust what [`Event::Rules`] named as not trusted, or no longer. Answered by [`Event::Rules`].
    Trust {
        /// The session that sees it.
        session: SessionId,
        /// Request, as it was shown.
        request: TrustRequest,
    },
    /// Ask the server of a connection for its models: [`Event::Models`].
    Models {
        /// Connection name.
        connection: ConnectionName,
    },
    /// Send what is known of these models, without asking their server: [`Event::Figures`].
    Figures {
        /// Connection name.
        connection: ConnectionName,
        /// Their names.
        models: Vec<String>,
    },
    /// Send what the thinking levels mean to a model: [`Event::Levels`].
    Levels {
        /// Connection name.
        connection: ConnectionName,
        /// Model name.
        model: String,
    },
    /// Ask for the key of a connection in a session: [`Event::Asked`], or a notice why not.
    AskKey {
        /// Session that asks.
        session: SessionId,
        /// Connection name.
        connection: ConnectionName,
    },
    /// Rewrite a draft with what there is in the session's directory: [`Event::Enhanced`]. What is rewritten already is
    /// given up, also by an empty draft.
    Enhance {
        /// Session id.
        session: SessionId,
        /// The client's number of this wish.
        number: u64,
        /// The draft.
        draft: String,
    },
    /// Keep a sent or dropped text in the input history.
    Remember {
        /// The text.
        text: String,
    },
    /// Send what requests used and cost: [`Event::Usage`].
    Usage {
        /// Also by the turns of this session.
        session: Option<SessionId>,
    },
    /// Save, stop every turn, end every process. [`Event::Ended`] is the last event.
    Shutdown,
}

/// A session to be made. What is left out comes from the workspace's and the user's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSession {
    /// Working directory of its tools.
    pub cwd: Option<PathBuf>,
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
}
