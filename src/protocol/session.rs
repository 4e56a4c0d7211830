//! Commands to one session.

use crate::domain::attachment::Attachment;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId};
use crate::domain::message::{CutBy, UserText};
use crate::domain::permission::Mode;
use crate::domain::prompt_text::PromptKind;
use crate::domain::request::{TrustRequest, UserAnswer};
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::session::{SessionSwitch, ThinkingLevel};
use crate::domain::undo::UndoAim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Command to one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "command", content = "with")]
pub enum SessionCommand {
    /// Send a snapshot with the last rows: `SessionEvent::Opened`.
    Open {
        /// Maximum number of rows.
        rows: usize,
    },
    /// Open a session again, after a line broke: what was missed follows, with its numbers, or a snapshot as for
    /// [`SessionCommand::Open`].
    Resume {
        /// `Configured::instance` of the engine that sent what the client has.
        instance: String,
        /// Number of the last event that the client has of this session.
        seq: u64,
        /// Maximum number of rows of a snapshot.
        rows: usize,
    },
    /// Send rows before the ones already sent: `SessionEvent::Page`.
    Earlier {
        /// `Opened::earlier` or `SessionEvent::Page`'s of the page before.
        cursor: u64,
        /// Maximum number of rows.
        rows: usize,
    },
    /// Send a snapshot around a place far from the end: `SessionEvent::Opened` with `Opened::later`.
    OpenAt {
        /// [`crate::domain::search_hit::RowHit::at`] of the row to show.
        at: u64,
        /// Maximum number of rows, on both sides together.
        rows: usize,
    },
    /// Send rows after the ones already sent: `SessionEvent::LaterPage`.
    Later {
        /// `Opened::later` or `SessionEvent::LaterPage`'s of the page before.
        cursor: u64,
        /// Maximum number of rows.
        rows: usize,
    },
    /// The session is no longer looked at (its engine goes on).
    Leave,
    /// Send what an undo would do: `SessionEvent::UndoPlanned`.
    PlanUndo {
        /// Target of the undo.
        aim: UndoAim,
    },
    /// Restore files. A row of the transcript tells what was done.
    Undo {
        /// Target of the undo.
        aim: UndoAim,
        /// Files to restore although somebody changed them since.
        also: Vec<PathBuf>,
    },
    /// Send what a session changed: `SessionEvent::FilesChanged`.
    FilesChanged,
    /// Take all messages out of a session; they go to the trash. Answered by `SessionEvent::Opened`.
    Clear,
    /// Send what the model gets with the next request, and how much of its window that takes: `SessionEvent::Context`.
    Context,
    /// Send the rules that are in force for a session: `SessionEvent::Rules`.
    Rules,
    /// Send sources, skills, agents and commands of a session: `SessionEvent::Extensions`.
    Extensions,
    /// Send the sources of a session: `SessionEvent::Sources`.
    Sources,
    /// Use a source in a session from the next message on, or no longer. Answered by `SessionEvent::Sources`.
    UseSource {
        /// Its slug.
        source: String,
        /// On.
        on: bool,
    },
    /// Remove a rule where it stands: `SessionEvent::Rules` with what is left, or a notice why not.
    Forget {
        /// The rule.
        rule: Box<Rule>,
        /// Scope of the rule.
        scope: RuleScope,
    },
    /// Trust what `SessionEvent::Rules` named as not trusted, or no longer. Answered by `SessionEvent::Rules`.
    Trust {
        /// Request, as it was shown.
        request: TrustRequest,
    },
    /// Ask for the key of a connection in a session: `SessionEvent::Asked`, or a notice why not.
    AskKey {
        /// Connection name.
        connection: ConnectionName,
    },
    /// Rewrite a draft with what there is in the session's directory: `SessionEvent::Enhanced`. What is rewritten
    /// already is
    /// given up, also by an empty draft.
    Enhance {
        /// The client's number of this wish.
        number: u64,
        /// The draft.
        draft: String,
    },
    /// Send this message; while a turn runs it is queued. Answered by `SessionEvent::Accepted` or
    /// `SessionEvent::Refused`.
    Send {
        /// The text.
        text: String,
        /// The files that go along, as `SessionEvent::Attached` named them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Byte from which on the text is not the user's own words: hosts that it names there open nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        piped: Option<usize>,
    },
    /// Deliver this message with the next tool results instead of queuing it. Answered as [`SessionCommand::Send`] is.
    Steer {
        /// The text.
        text: String,
        /// The files that go along, as `SessionEvent::Attached` named them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Byte from which on the text is not the user's own words, as for [`SessionCommand::Send`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        piped: Option<usize>,
    },
    /// Copy this file into the session, for a message to come: `SessionEvent::Attached`.
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
    /// End the turn as [`SessionCommand::Stop`] does, for a reason that is not the user's, which the transcript and the
    /// model get.
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
        /// [`crate::domain::request::Request::hash`] of the request as it was shown. A client in another process has to
        /// quote it; [`super::ShownRequests`] does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
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
    /// ([`crate::domain::SessionMeta::unmapped`]). What waited for it is sent.
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
    /// Put the context or the strategy of that name into the system prompt from the next turn on. Its text is read now and
    /// kept with the session.
    UsePrompt {
        /// [`PromptKind::Context`] or [`PromptKind::Strategy`].
        kind: PromptKind,
        /// Its name; `None` for none.
        name: Option<String>,
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
    /// Hold this session for writing from now on, before anything is sent to it: `SessionEvent::Held`.
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

impl SessionCommand {
    /// Sends this text alone.
    #[must_use]
    pub fn send(text: impl Into<String>) -> Self {
        Self::Send { text: text.into(), attachments: Vec::new(), piped: None }
    }

    /// Steers with this text alone.
    #[must_use]
    pub fn steer(text: impl Into<String>) -> Self {
        Self::Steer { text: text.into(), attachments: Vec::new(), piped: None }
    }

    /// Draft that restores the user's words in it, which would be lost with it. `None`: it has
    /// none, or it is a key, which is never restored.
    #[must_use]
    pub fn said(&self) -> Option<UserText> {
        let said = match self {
            Self::Send { text, attachments, .. } | Self::Steer { text, attachments, .. } => {
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
            | Self::UsePrompt { .. }
            | Self::Retitle
            | Self::Read
            | Self::Cwd(_)
            | Self::KillJob { .. }
            | Self::TakeOver
            | Self::Claim
            | Self::Open { .. }
            | Self::OpenAt { .. }
            | Self::Resume { .. }
            | Self::Earlier { .. }
            | Self::Later { .. }
            | Self::Leave
            | Self::PlanUndo { .. }
            | Self::Undo { .. }
            | Self::FilesChanged
            | Self::Clear
            | Self::Context
            | Self::Rules
            | Self::Sources
            | Self::Extensions
            | Self::UseSource { .. }
            | Self::Forget { .. }
            | Self::Trust { .. }
            | Self::AskKey { .. }
            // The composer has its drafts.
            | Self::Enhance { .. }
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

/// A change of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Byte from which on the text is not the user's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piped: Option<usize>,
    /// Client of a gateway that sent it, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}
