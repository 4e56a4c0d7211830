//! Events, and the values that only they carry.

use super::session::{Queued, SessionCommand};
use crate::domain::attachment::Attachment;
use crate::domain::audit_log::AuditLog;
use crate::domain::context::ContextReport;
use crate::domain::export::Masked;
use crate::domain::extension::ExtensionView;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::job::JobShown;
use crate::domain::message::Message;
use crate::domain::model::{LevelMeaning, ModelFigures};
use crate::domain::notice::Notice;
use crate::domain::permission::Mode;
use crate::domain::plan::Progress;
use crate::domain::property::Properties;
use crate::domain::request::{Request, TrustRequest};
use crate::domain::rule::KnownRule;
use crate::domain::search_hit::{Searched, SessionHits};
use crate::domain::session::SessionMeta;
use crate::domain::session_health::HealthReport;
use crate::domain::source::SourceView;
use crate::domain::spending::Spending;
use crate::domain::tool::TodoItem;
use crate::domain::trash::{TrashId, Trashed};
use crate::domain::undo::{Changes, UndoPlan};
use crate::domain::unsaved::Unsaved;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the protocol. It rises when a client of the old version could misread the new one.
pub const VERSION: u32 = 3;

/// An event as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stamped {
    /// [`VERSION`] of the protocol.
    pub v: u32,
    /// Rises by one with each event of the same sender: of the engine, or of that session. Of an answer: number of the
    /// last event before it.
    pub seq: u64,
    /// Number of events before this one that it also holds: text of one row that was merged for a client that lagged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merged: u64,
    /// Request of this client that it answers; nobody else gets it. 0: nobody asked, as for the greeting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<u64>,
    /// Event.
    #[serde(flatten)]
    pub event: Event,
}

impl Stamped {
    /// Event for all, with its number.
    #[must_use]
    pub fn new(seq: u64, event: Event) -> Self {
        Self { v: VERSION, seq, merged: 0, re: None, event }
    }

    /// Number of the event that has to come before this one.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.seq.saturating_sub(if self.re.is_some() { 0 } else { self.merged + 1 })
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Event, by its sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Event {
    /// Of the engine.
    Engine(EngineEvent),
    /// Of one session.
    Session {
        /// Session id.
        #[serde(rename = "session")]
        id: SessionId,
        /// Event.
        #[serde(flatten)]
        event: SessionEvent,
    },
}

impl Event {
    /// Session that sent it; `None` if the engine did.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session { id, .. } => Some(id),
            Self::Engine(_) => None,
        }
    }
}

/// Event of the engine: about all sessions, or about a session as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "event", content = "with")]
pub enum EngineEvent {
    /// The list of sessions, hidden and archived ones included: whoever shows it leaves them out.
    Listed {
        /// All of them, in no order.
        sessions: Vec<SessionMeta>,
    },
    /// The connections are these from now on: one of them got a key.
    Connections(Vec<ConnectionInfo>),
    /// The server that the client added has this connection.
    ServerAdded {
        /// The connection.
        connection: ConnectionName,
        /// The server answers no one without a key.
        wants_key: bool,
    },
    /// The server that the client wanted to add was not added.
    ServerNotAdded {
        /// Its address, as it was given.
        address: String,
        /// Reason, and what to do.
        why: String,
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
    /// The session is gone from the list.
    Deleted {
        /// Session id.
        session: SessionId,
        /// Its trash entry; `None` when it is gone for good, also when another program deleted it.
        trash: Option<TrashId>,
        /// Number of its shared pages that were revoked; 0 also when another program deleted it.
        #[serde(default)]
        pages: usize,
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
        /// Numbers of what was masked.
        #[serde(flatten)]
        masked: Masked,
        /// It is to be given to others.
        shared: bool,
        /// It is for an upload.
        #[serde(default)]
        upload: bool,
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
    /// Audit log of a session's tool calls.
    Audit(Box<AuditLog>),
    /// Usage and cost of requests.
    Usage(Box<Spending>),
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
    /// Everything that can be saved is, and nothing follows. What is not was told with [`SessionEvent::Unsaved`].
    Ended,
    /// The properties of a session changed that nothing works in: another program wrote them, or it is new.
    SessionChanged(Box<SessionMeta>),
    /// A word to the user.
    Notice(Notice),
}

/// Event of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "event", content = "with")]
pub enum SessionEvent {
    /// The session's properties or activity changed (also: a new session).
    Changed(Box<SessionMeta>),
    /// A snapshot: forget what was known of this session.
    Opened(Box<Opened>),
    /// The session got another id because its first one was taken when it was written.
    Reidentified {
        /// The id from now on.
        to: SessionId,
    },
    /// Process that holds the session for writing. Answers `SessionCommand::Claim`, and comes when another
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
    /// This was not done, and nothing has what the user wrote in it: the client gives it back to them. A notice says
    /// why.
    Refused {
        /// Refused command: one that [carries words](SessionCommand::said), or one that opens a session which cannot be
        /// read.
        command: Box<SessionCommand>,
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
    /// A message waits because the session's connection is not configured here: `SessionCommand::StandIn` says what
    /// answers in its
    /// place, and sends it.
    ConnectionWanted {
        /// The connection that the session was made with.
        connection: ConnectionName,
    },
    /// The turn waits because no model is chosen and the server of its connection has not just one:
    /// `SessionCommand::Model` says which,
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
        /// Client that answered it, or ended its turn; `None` if none did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
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
    /// The request waits for these sources to start; empty when it no longer does.
    Starting {
        /// Their slugs.
        sources: Vec<String>,
    },
    /// The turn is over.
    TurnEnded {
        /// End of the turn.
        end: TurnEnd,
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
    /// Context of the next request.
    Context(Box<ContextReport>),
    /// The rules that are in force for the session.
    Rules(Box<InForce>),
    /// Sources of a session, by name.
    Sources(Vec<SourceView>),
    /// Sources, skills, agents and commands of a session, by kind and name.
    Extensions(Vec<ExtensionView>),
    /// A word to the user.
    Notice(Notice),
    /// A part of the session could not be saved and will not be tried again: at the end, and when another process took
    /// the
    /// session over. Whoever runs the engine says so after its end, and ends with a status that is not 0.
    Unsaved(Box<Unsaved>),
}

/// The rules that are in force for a session, and what could be trusted to let more of them count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InForce {
    /// The session's own first, then by file.
    pub rules: Vec<KnownRule>,
    /// Files that are not trusted and so only make things stricter.
    pub trust: Vec<TrustRequest>,
}

/// A draft that was rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Enhanced {
    /// The new text.
    pub text: String,
    /// Files of the directory that were used for it, and whether there was an introduction to the repository.
    pub used: Vec<String>,
}

/// End of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Configured {
    /// The workspace's name.
    pub workspace: String,
    /// Id of this run of the engine: numbers of events mean nothing in another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instance: String,
    /// The connections that can be chosen, the default one first.
    pub connections: Vec<ConnectionInfo>,
    /// Connections that a key alone would make.
    #[serde(default)]
    pub vendors: Vec<ConnectionInfo>,
    /// The modes that Shift+Tab goes through, in order.
    pub cycle: Vec<Mode>,
    /// State of the sandbox.
    pub sandbox: crate::domain::permission::SandboxState,
    /// Requests that may cost more US dollars are announced.
    #[serde(default)]
    pub warn_cost: f64,
    /// Texts sent earlier, oldest first, from all sessions.
    pub history: Vec<String>,
}

/// A connection as the picker shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl ConnectionInfo {
    /// Model that a file of the user's names: by its name, or by a family (`haiku`) that the name of one has in it. `None`:
    /// the session's model is used.
    #[must_use]
    pub fn known_model(&self, wanted: &str) -> Option<String> {
        let wanted = wanted.trim().to_lowercase();
        let all =
            || self.models.iter().chain([&self.default_model, &self.small_model]).filter(|model| !model.is_empty());
        let exact = all().find(|model| model.to_lowercase() == wanted);
        exact
            .or_else(|| all().find(|model| model.to_lowercase().contains(&wanted)))
            .filter(|_| !wanted.is_empty())
            .cloned()
    }

    /// Nothing but a key is missing for it to be used.
    #[must_use]
    pub fn wants_key(&self) -> bool {
        self.missing.is_some() && self.key_from.is_none() && !self.host.is_empty()
    }
}
