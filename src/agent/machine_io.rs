//! Inputs and steps of the machine: the vocabulary between `machine` (pure) and `session` (which does the steps).

use crate::domain::ids::{At, CallId, ConnectionName, MessageId};
use crate::domain::message::{Message, UserText};
use crate::domain::permission::{Mode, Sandbox};
use crate::domain::prompt_text::{NamedText, PromptKind};
use crate::domain::property_change::PropertyChange;
use crate::domain::request::{KeyRequest, TrustRequest};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::secret::Key;
use crate::domain::tool::{CallFacts, Child, Outcome};
use crate::domain::usage::RequestUsage;
use crate::permit;
use crate::protocol::{Queued, SessionCommand, SessionEvent};
use crate::provider::{Chunk, ModelRequest, ProposedCall, ProviderError};
use crate::tools::RunError;
use std::path::PathBuf;

/// Number of a run of work. Stopping a turn begins a new number, so whatever the old work still reports is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunNo(pub u64);

/// Company of a turn: who can be asked in it, and who reads what it finds out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCompany {
    /// Nobody can be asked.
    pub asks_nobody: bool,
    /// Whoever wrote may not be the operator: it knows of no session but its own and those that it spawned.
    pub stranger: bool,
}

/// Input of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The user did something.
    Command(SessionCommand),
    /// A piece of the response came.
    Chunk(RunNo, Chunk),
    /// Usage of the request, with the model's window and the price in dollars.
    Used(RunNo, RequestUsage, Option<u64>, f64),
    /// Usage of a side request, and its price in dollars.
    SideUsage(RequestUsage, f64),
    /// A model's summary of a part of the conversation, or an error.
    Summarised(RunNo, Result<String, ProviderError>),
    /// The session that a call spawned is so far, and did this last.
    Child(RunNo, CallId, Box<Child>, String),
    /// No mode may be looser than this one, the parent's; `None` when there is no parent that waits.
    Ceiling(Option<Mode>),
    /// The user chose this context or strategy; `None` for none.
    Preamble(PromptKind, Option<NamedText>),
    /// A message that comes by itself.
    Deliver(String),
    /// A model made this title, in the place of that one. Whether the user had asked for it.
    Titled {
        /// The new title.
        title: String,
        /// The title that it was made for.
        was: String,
        /// The user asked for it.
        wanted: bool,
    },
    /// The request failed.
    Failed(RunNo, ProviderError),
    /// The request needs a key that there is not, or not the right one; the failure that it is when nobody gives one.
    NoKey(RunNo, Box<KeyRequest>, ProviderError),
    /// The request cannot be made before somebody chooses a model.
    NoModel(RunNo, ProviderError),
    /// The user wants to give the key of a connection.
    GiveKey(Box<KeyRequest>),
    /// A connection got a key, or why its key could not be stored.
    Keyed(ConnectionName, Result<(), String>),
    /// The wait before a retry is over.
    RetryNow(RunNo),
    /// Facts about a call, or why it cannot work.
    Inspected(RunNo, CallId, Result<CallFacts, String>),
    /// The last lines of a running command.
    Progress(RunNo, CallId, String),
    /// A call ended.
    Ran(RunNo, CallId, Box<Result<Outcome, RunError>>),
    /// All work of the runs up to this one has ended, processes included.
    Reaped(RunNo),
    /// Current content of the pending plan's file.
    PlanFile(PlanFile),
    /// The record of an approved plan is on disk: carry it out.
    CarryOut,
    /// The user changed properties that need no conversation.
    Change(PropertyChange),
    /// A background job ended; the text for the transcript and the model.
    JobEnded(String),
    /// A source that the session uses does not run; the text for the transcript.
    SourceFailed(String),
    /// Files were restored; the text for the transcript and the model.
    Restored(String),
    /// A command of this call wants to connect to what the facts name; answered with [`Step::Reached`] of the same number.
    MayReach(u64, CallId, Box<CallFacts>),
    /// The answer is no longer needed.
    NoLongerReaches(u64),
    /// These are the rules of the files from now on.
    FileRules(Box<FileRules>),
    /// The user takes an answer of this session back.
    Forget(Rule),
    /// A client shows the session.
    Look,
    /// The time has come at which what a death left in the queue is sent.
    Redeliver(At),
    /// A message that cannot be sent now waits in the queue until the user lets it go.
    Enqueue(UserText),
    /// The program ends: stop, and keep the queue.
    Shutdown,
}

/// Content of a plan's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFile {
    /// This text.
    Text(String),
    /// No file.
    Gone,
}

/// Rules of the files for a session.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRules {
    /// The rules of the files.
    pub rules: permit::Rules,
    /// The loosest mode that the workspace may have.
    pub loosest: Mode,
    /// Files that are not trusted, and so only make things stricter.
    pub untrusted: Vec<TrustRequest>,
}

/// Durability that a write needs before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// It survives the death of lisle.
    Written,
    /// It survives a power loss too.
    Synced,
}

/// Steps to do, in order. A step that keeps something is done when it is on disk, or when the disk refused it and
/// the clients know.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Append final rows.
    Append(Vec<Message>, Safety),
    /// Keep a row that can still change.
    KeepLive(Message, Safety),
    /// Keep text that was added to a live row, at most half a second late.
    AppendText(MessageId, String),
    /// Forget a live row.
    DropLive(MessageId),
    /// Keep the queue.
    KeepQueue(Vec<Queued>),
    /// Keep the properties: at once when a person changed them, else soon.
    KeepMeta(Safety),
    /// Write a plan's file.
    KeepPlan(PathBuf, String),
    /// Keep that a turn runs, or that it ended.
    Turn(bool),
    /// Tell the clients.
    Emit(SessionEvent),
    /// Ask the model.
    Ask(RunNo, Box<ModelRequest>),
    /// Ask a model to sum up, then report [`Input::Summarised`].
    Summarise(RunNo, Box<SummaryRequest>),
    /// Gather the facts of a call.
    Inspect(RunNo, ProposedCall),
    /// Run a call that was decided on these facts, held back so.
    Run(RunNo, ProposedCall, Box<CallFacts>, Sandbox),
    /// Drop the request and end the calls of all runs up to this one, then report [`Input::Reaped`].
    Cancel(RunNo),
    /// The command may connect, or a sentence why not.
    Reached(u64, Result<(), String>),
    /// Report [`Input::RetryNow`] after this many milliseconds.
    RetryIn(RunNo, u64),
    /// Report [`Input::Redeliver`] at this time.
    RedeliverAt(At),
    /// Write rules that hold beyond the session, then report what holds now.
    KeepRules(RuleScope, Vec<Rule>),
    /// Keep this text in this file of the session, where it is not there yet.
    KeepLongText(PathBuf, String),
    /// From now on the second connection stands in for the first one in every session that names it.
    StandIn(ConnectionName, ConnectionName),
    /// Store the key of a connection, then report [`Input::Keyed`] to every session.
    StoreKey(ConnectionName, Key),
    /// The sources that the session uses are others now: start them before the next request, which offers their tools.
    UseSources,
    /// Remember that this is trusted, then report what holds now.
    Trust(Box<TrustRequest>),
}

/// A question to a model apart from the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRequest {
    /// To the small model of the connection; else to the session's own.
    pub small: bool,
    /// Instructions.
    pub system: String,
    /// Text.
    pub text: String,
}
