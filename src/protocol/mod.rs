//! The protocol between the engine and its clients: [`Command`] goes down, [`Event`] comes up.
//!
//! Both are serialisable, so that a client in another process or on another machine is the same client. A client never
//! reads the session files; what it needs comes in events. Events of a session carry its id and a number that rises
//! by one, so that a late or reconnected client knows what it missed and asks for a snapshot with [`Command::Open`].

use crate::domain::attachment::Attachment;
use crate::domain::context::ContextReport;
use crate::domain::export::Format;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::inbox::{HealthReport, PropertyChange, Searched, SessionHits, TrashId, Trashed};
use crate::domain::job::JobShown;
use crate::domain::ledger::Ledger;
use crate::domain::message::{CutBy, Message, UserText};
use crate::domain::model::{LevelMeaning, ModelFigures};
use crate::domain::notice::Notice;
use crate::domain::permission::Mode;
use crate::domain::plan::Progress;
use crate::domain::property::{Definition, Properties};
use crate::domain::request::{Request, TrustRequest, UserAnswer};
use crate::domain::rule::{KnownRule, Rule, RuleScope};
use crate::domain::session::{SessionMeta, SessionSwitch, ThinkingLevel};
use crate::domain::spending::Spending;
use crate::domain::tool::TodoItem;
use crate::domain::undo::{Changes, UndoAim, UndoPlan};
use crate::domain::unsaved::Unsaved;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the protocol. It rises when a client of the old version could misread the new one.
pub const VERSION: u32 = 1;

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

/// Act on one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "act", content = "with")]
pub enum Act {
    /// Send this message; while a turn runs it is queued. Answered by [`Event::Accepted`] or [`Event::Refused`].
    Send {
        /// The text.
        text: String,
        /// The files that go along, as [`Event::Attached`] named them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// Deliver this message with the next tool results instead of queuing it. Answered as [`Act::Send`] is.
    Steer {
        /// The text.
        text: String,
        /// The files that go along, as [`Event::Attached`] named them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// Copy this file into the session, for a message to come: [`Event::Attached`].
    Attach {
        /// As it was written: absolute, from the home directory (`~`), or from where tools work.
        path: PathBuf,
    },
    /// This copy is wanted no longer; one that a message or a draft has stays.
    Detach {
        /// [`Attachment::path`].
        path: PathBuf,
    },
    /// Run this command for the user, who typed it, and keep what it prints.
    Type {
        /// The command line.
        command: String,
    },
    /// Change the queue.
    Queue(QueueEdit),
    /// Stop the turn. The queue is held.
    Stop,
    /// End the turn as [`Act::Stop`] does, for a reason that is not the user's, which the transcript and the model get.
    Cut {
        /// Reason for stopping it.
        by: CutBy,
    },
    /// Send the failed request again.
    Retry,
    /// Sum up what was said, so that there is room again; recent messages stay, and all rows stay on the screen.
    Compact {
        /// Instructions for the summary; may be empty.
        #[serde(default)]
        wish: String,
    },
    /// Answer what waits.
    Answer {
        /// Request id.
        request: RequestId,
        /// The answer.
        answer: UserAnswer,
    },
    /// Change the permission mode from the next tool call on.
    Mode {
        /// To this mode.
        mode: Mode,
        /// Also when a plan waits, which is dropped then.
        drop_plan: bool,
    },
    /// Drop the plan that waits, or the one that is carried out.
    DropPlan,
    /// Change the model, and with it the connection while that is not locked.
    Model {
        /// The connection; `None` to keep it.
        connection: Option<ConnectionName>,
        /// The model.
        model: String,
    },
    /// Let this connection answer in the place of the session's own, which is not configured here
    /// ([`SessionMeta::unmapped`]). What waited for it is sent.
    StandIn {
        /// A connection that is configured here.
        connection: ConnectionName,
        /// In every session that names the same one, also in those to come.
        everywhere: bool,
    },
    /// Change the thinking level.
    Thinking(ThinkingLevel),
    /// Switch something on or off.
    Switch {
        /// Switch.
        what: SessionSwitch,
        /// On.
        on: bool,
    },
    /// Set the title, as the user.
    Rename {
        /// The new title.
        title: String,
    },
    /// Let the model make the title anew, whoever made the one that it has.
    Retitle,
    /// The user saw the end of it.
    Read,
    /// Change the directory where tools work.
    Cwd(PathBuf),
    /// End a command that goes on in the background.
    KillJob {
        /// Its name.
        job: String,
    },
    /// Hold this session for writing from now on, before anything is sent to it: [`Event::Held`].
    Claim,
    /// Write this session though another process holds it: that one stopped, or runs on another machine.
    TakeOver,
    /// Keep the unsent text of the composer.
    Draft {
        /// The text; nothing at all removes it.
        text: String,
        /// The files that would go along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
}

/// A change of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "edit")]
pub enum QueueEdit {
    /// Take this message out, also one that goes into the turn that runs.
    Remove {
        /// Message id.
        id: MessageId,
    },
    /// Change its text.
    Replace {
        /// Message id.
        id: MessageId,
        /// The new text.
        text: String,
    },
    /// Put it at another place.
    Move {
        /// Message id.
        id: MessageId,
        /// Its place from 0; past the end is the end.
        to: usize,
    },
    /// Let a held queue go.
    Release,
    /// Keep what waits from being sent.
    Hold,
}

/// A message that waits for the turn to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// Its id.
    pub id: MessageId,
    /// Its text.
    pub text: String,
    /// Time when the user sent it.
    pub at: At,
    /// It waited when the process died.
    #[serde(default)]
    pub redelivered: bool,
    /// The files that go along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ConnectionInfo {
    /// Nothing but a key is missing for it to be used.
    #[must_use]
    pub fn wants_key(&self) -> bool {
        self.missing.is_some() && self.key_from.is_none() && !self.host.is_empty()
    }
}

impl Act {
    /// Sends this text alone.
    #[must_use]
    pub fn send(text: impl Into<String>) -> Self {
        Self::Send { text: text.into(), attachments: Vec::new() }
    }

    /// Steers with this text alone.
    #[must_use]
    pub fn steer(text: impl Into<String>) -> Self {
        Self::Steer { text: text.into(), attachments: Vec::new() }
    }

    /// Draft that restores the user's words in it, which would be lost with it. `None`: it has
    /// none, or it is a key, which is never restored.
    #[must_use]
    pub fn said(&self) -> Option<UserText> {
        let said = match self {
            Self::Send { text, attachments } | Self::Steer { text, attachments } => {
                UserText::with(text.clone(), attachments.clone())
            }
            Self::Type { command } if !command.trim().is_empty() => format!("!{command}").into(),
            Self::Compact { wish } if !wish.trim().is_empty() => format!("/compact {wish}").into(),
            Self::Rename { title } if !title.trim().is_empty() => format!("/rename {title}").into(),
            Self::Queue(QueueEdit::Replace { text, .. }) => text.as_str().into(),
            Self::Answer { answer, .. } => answer.said()?.into(),
            Self::Type { .. }
            | Self::Compact { .. }
            | Self::Rename { .. }
            | Self::Queue(_)
            | Self::Attach { .. }
            | Self::Detach { .. }
            | Self::Stop
            | Self::Cut { .. }
            | Self::Retry
            | Self::Mode { .. }
            | Self::DropPlan
            | Self::Model { .. }
            | Self::StandIn { .. }
            | Self::Switch { .. }
            | Self::Thinking(_)
            | Self::Retitle
            | Self::Read
            | Self::Cwd(_)
            | Self::KillJob { .. }
            | Self::TakeOver
            | Self::Claim
            // What is kept as a draft is in the composer.
            | Self::Draft { .. } => return None,
        };
        (!said.is_empty()).then_some(said)
    }

    /// Keeps this text alone as the draft.
    #[must_use]
    pub fn draft(text: impl Into<String>) -> Self {
        Self::Draft { text: text.into(), attachments: Vec::new() }
    }
}

/// An event with where and when it belongs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// [`VERSION`] of the protocol.
    pub v: u32,
    /// The session it is about; `None` for the engine as a whole.
    pub session: Option<SessionId>,
    /// Rises by one with each event of that session (or of the engine as a whole).
    pub seq: u64,
    /// Event.
    pub event: Event,
}

/// Event of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event", content = "with")]
pub enum Event {
    /// The list of sessions, hidden and archived ones included: whoever shows it leaves them out.
    Listed {
        /// All of them, in no order.
        sessions: Vec<SessionMeta>,
    },
    /// The session's properties or activity changed (also: a new session).
    Changed(Box<SessionMeta>),
    /// A snapshot: forget what was known of this session.
    Opened(Box<Opened>),
    /// The session got another id because its first one was taken when it was written.
    Reidentified {
        /// The id from now on.
        to: SessionId,
    },
    /// Process that holds the session for writing. Answers [`Act::Claim`], and comes when another
    /// process took the session over.
    Held {
        /// Another process, in words; `None`: this engine holds it.
        by: Option<String>,
    },
    /// The session took a message. In the order in which messages were sent to it.
    Accepted {
        /// The id of its row, and of its entry in the queue.
        id: MessageId,
        /// It waits; otherwise it begins a turn.
        queued: bool,
    },
    /// Earlier rows, oldest first.
    Page {
        /// The rows.
        rows: Vec<Message>,
        /// Ask with this for the page before; `None` at the beginning.
        earlier: Option<u64>,
    },
    /// Later rows, oldest first, for a client that was sent a snapshot with [`Opened::later`].
    LaterPage {
        /// The rows.
        rows: Vec<Message>,
        /// Ask with this for the page after; `None` when the end is reached: live rows follow from here on.
        later: Option<u64>,
    },
    /// A new row at the end, or a live row that changed: replace the row of that id among the live ones, else append.
    Row(Box<Message>),
    /// Text was added to a live row.
    Delta {
        /// Row id.
        id: MessageId,
        /// Added text.
        add: String,
    },
    /// This was not done, and nothing has what the user wrote in it: the client gives it back to them. A notice says why.
    Refused {
        /// Refused act. Only acts that [carry words](Act::said) come back.
        act: Box<Act>,
        /// Reason, as a sentence.
        why: String,
    },
    /// This live row does not stay (a retry begins its text anew).
    Dropped {
        /// Row id.
        id: MessageId,
    },
    /// The queue changed.
    Queue {
        /// Queued messages, in order.
        items: Vec<Queued>,
        /// It waits for the user to let it go.
        held: bool,
        /// Messages sent into the running turn, which go in with the next tool results, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steers: Vec<Queued>,
    },
    /// Messages left in the queue by a crash are sent at this time; `None` once they were held or sent.
    Redelivering {
        /// Time of sending.
        at: Option<At>,
    },
    /// A file was copied into the session for a message to come, or why not.
    Attached {
        /// As it was asked for.
        path: PathBuf,
        /// The copy.
        made: Result<Attachment, String>,
    },
    /// A message waits because the session's connection is not configured here: [`Act::StandIn`] says what answers in its
    /// place, and sends it.
    ConnectionWanted {
        /// The connection that the session was made with.
        connection: ConnectionName,
    },
    /// The turn waits because no model is chosen and the server of its connection has not just one: [`Act::Model`] says which,
    /// and the request goes.
    ModelWanted {
        /// Connection of the models.
        connection: ConnectionName,
        /// Reason, as a sentence that names them.
        why: String,
    },
    /// A request waits for the user.
    Asked(Box<Request>),
    /// It no longer waits: answered, or gone with its turn.
    Settled {
        /// Request id.
        request: RequestId,
    },
    /// The agent's todo list changed.
    Todo(Vec<TodoItem>),
    /// The commands that go on in the background, and those that ended lately: all that are known.
    Jobs(Vec<JobShown>),
    /// Progress of the approved plan; `None` when it has ended.
    Plan(Option<Box<Progress>>),
    /// A turn began.
    TurnStarted {
        /// Start time.
        at: At,
    },
    /// The conversation is being summed up; the row of the compaction ends it.
    Compacting {
        /// This part is being looked at, from 1.
        part: u32,
        /// Maximum number of tries.
        of: u32,
    },
    /// A request failed and is tried again.
    Retrying {
        /// This is the n-th retry.
        attempt: u32,
        /// Maximum number of tries.
        of: u32,
        /// Delay in milliseconds.
        wait_ms: u64,
        /// Reason.
        reason: String,
    },
    /// The request waits until the connection of this name answers fewer others; `None` when it no longer does.
    Waiting(Option<ConnectionName>),
    /// The connections are these from now on: one of them got a key.
    Connections(Vec<ConnectionInfo>),
    /// The turn is over.
    TurnEnded {
        /// End of the turn.
        end: TurnEnd,
    },
    /// A branch was made of a session; the client may open it.
    Branched {
        /// The session that it came from.
        from: SessionId,
        /// The new one.
        to: SessionId,
        /// It takes the place of the first: the user went back to an earlier message.
        rewound: bool,
    },
    /// A draft was rewritten, or could not be.
    Enhanced {
        /// The client's number of the wish.
        number: u64,
        /// Result, or a sentence with the error.
        result: Result<Enhanced, String>,
    },
    /// Preview of an undo.
    UndoPlanned(Box<UndoPlan>),
    /// Changes of the session.
    FilesChanged(Box<Changes>),
    /// The session is gone from the list.
    Deleted {
        /// Session id.
        session: SessionId,
        /// Its trash entry; `None` when it is gone for good, also when another program deleted it.
        trash: Option<TrashId>,
    },
    /// Content of the trash, latest first.
    Trash(Vec<Trashed>),
    /// Results of a search.
    Found {
        /// The client's number of the search.
        search: u64,
        /// Sessions with their hits that were not sent before.
        results: Vec<SessionHits>,
        /// The search is over, and how it went.
        end: Option<Searched>,
    },
    /// Health of a session's files.
    Health(Box<HealthReport>),
    /// A session's conversation was written to a file.
    Exported {
        /// Session id.
        session: SessionId,
        /// The file.
        path: PathBuf,
        /// Number of keys masked in it.
        masked: usize,
        /// It is to be given to others.
        shared: bool,
    },
    /// A session of another program is one here now; the client may open it.
    Imported {
        /// The new session.
        session: SessionId,
        /// Program it came from.
        program: String,
        /// Omissions, one sentence each.
        left: Vec<String>,
        /// Relation to an earlier import of the same conversation, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<String>,
    },
    /// The ledger of a session's tool calls.
    Audit(Box<Ledger>),
    /// Context of the next request.
    Context(Box<ContextReport>),
    /// Usage and cost of requests.
    Usage(Box<Spending>),
    /// The rules that are in force for the session.
    Rules(Box<InForce>),
    /// Definitions of the workspace: at the start, and when they changed.
    Properties(Box<Properties>),
    /// Models of a connection, or why they could not be had.
    Models {
        /// Connection name.
        connection: ConnectionName,
        /// Their names.
        models: Result<Vec<String>, String>,
    },
    /// Figures of models, one entry for each that was asked for.
    Figures {
        /// Connection name.
        connection: ConnectionName,
        /// Figures.
        models: Vec<ModelFigures>,
    },
    /// Meaning of the thinking levels for a model, least first.
    Levels {
        /// Connection name.
        connection: ConnectionName,
        /// Model name.
        model: String,
        /// All levels.
        levels: Vec<LevelMeaning>,
    },
    /// Configuration of the engine, for clients.
    Configured(Box<Configured>),
    /// A word to the user.
    Notice(Notice),
    /// A part of the session could not be saved and will not be tried again: at the end, and when another process took the
    /// session over. Whoever runs the engine says so after its end, and ends with a status that is not 0.
    Unsaved(Box<Unsaved>),
    /// Everything that can be saved is, and nothing follows. What is not was told with [`Event::Unsaved`].
    Ended,
}

/// The rules that are in force for a session, and what could be trusted to let more of them count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InForce {
    /// The session's own first, then by file.
    pub rules: Vec<KnownRule>,
    /// Files that are not trusted and so only make things stricter.
    pub trust: Vec<TrustRequest>,
}

/// A draft that was rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enhanced {
    /// The new text.
    pub text: String,
    /// Files of the directory that were used for it, and whether there was an introduction to the repository.
    pub used: Vec<String>,
}

/// End of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// The model was done.
    Done,
    /// A plan waits for its answer.
    Plan,
    /// The user stopped it.
    Stopped,
    /// It failed; the row says why.
    Failed,
    /// A limit was reached; the row says which.
    Limit,
}

/// A session's state for a client that knows nothing of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its properties.
    pub meta: SessionMeta,
    /// The last rows, oldest first: final ones, then live ones.
    pub rows: Vec<Message>,
    /// Ask with this for the page before; `None` at the beginning.
    pub earlier: Option<u64>,
    /// Ask with this for the page after; `None` when `rows` reaches the end. While there is more, live rows do not
    /// follow the ones that were sent.
    #[serde(default)]
    pub later: Option<u64>,
    /// Time at which messages left in the queue by a crash are sent.
    #[serde(default)]
    pub redelivery: Option<At>,
    /// The queue.
    pub queue: Vec<Queued>,
    /// The queue waits for the user to let it go.
    pub queue_held: bool,
    /// Messages sent into the running turn, which go in with the next tool results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steers: Vec<Queued>,
    /// Pending requests.
    pub requests: Vec<Request>,
    /// The agent's todo list.
    pub todo: Vec<TodoItem>,
    /// Progress of the approved plan.
    #[serde(default)]
    pub plan: Option<Box<Progress>>,
    /// The commands that go on in the background, and those that ended lately.
    #[serde(default)]
    pub jobs: Vec<JobShown>,
    /// The unsent text.
    pub draft: String,
    /// The files that would go along with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draft_attachments: Vec<Attachment>,
}

/// Configuration of the engine, for clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configured {
    /// The workspace's name.
    pub workspace: String,
    /// The connections that can be chosen, the default one first.
    pub connections: Vec<ConnectionInfo>,
    /// Connections that a key alone would make.
    #[serde(default)]
    pub vendors: Vec<ConnectionInfo>,
    /// The modes that Shift+Tab goes through, in order.
    pub cycle: Vec<Mode>,
    /// State of the sandbox.
    pub sandbox: crate::domain::permission::Holding,
    /// Requests that may cost more US dollars are announced.
    #[serde(default)]
    pub warn_cost: f64,
    /// Texts sent earlier, oldest first, from all sessions.
    pub history: Vec<String>,
}

/// A connection as the picker shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionInfo {
    /// Its name.
    pub name: ConnectionName,
    /// `openai-compatible`, `rehearsal` …
    pub provider: String,
    /// The model used when none is chosen.
    pub default_model: String,
    /// The model for titles and summaries; empty where there is none of its own.
    #[serde(default)]
    pub small_model: String,
    /// Models known without asking the server.
    pub models: Vec<String>,
    /// The server that its key goes to; empty where no key goes anywhere.
    #[serde(default)]
    pub host: String,
    /// Source of its key, in words; `None` if it has none.
    #[serde(default)]
    pub key_from: Option<String>,
    /// Reason why it cannot be used now, e.g. a missing key; `None` if it can.
    pub missing: Option<String>,
    /// It was found, not chosen: nothing is sent to it before the user chooses it.
    pub offered: bool,
}

#[cfg(test)]
mod tests;
