//! Overlays: help, pickers, the inbox, questions of lisle's own.

use super::audit::Audit;
use super::context::ContextCard;
use super::edit::Line;
use super::open::Open;
use super::panel::Panel;
use super::picker::Picker;
use super::rules::Rules;
use super::session_rows::{ExtensionsCard, SourcesCard};
use super::usage::Usage;
use crate::domain::export::SharedFile;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId, SessionId};
use crate::domain::job::JobShown;
use crate::domain::manual::Topic;
use crate::domain::property::ValueType;
use crate::domain::session_health::HealthReport;
use crate::domain::trash::Trashed;
use crate::domain::undo::{Changes, UndoAim, UndoFile, UndoPlan, UndoState};
use crate::keymap::action::Context;
use crate::protocol::Command;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Overlay.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys of a place.
    Help(Help),
    /// A list to choose from; the palette is one.
    Picker(Box<Picker>),
    /// All that waits, in every session.
    Inbox(Box<Inbox>),
    /// The new title of a session.
    Rename(Rename),
    /// Turns run: quit all the same?
    ConfirmQuit,
    /// The search over all sessions.
    Find,
    /// A question before something that is not easily undone.
    Confirm(Box<Confirm>),
    /// One line that is asked for.
    Prompt(Box<Prompt>),
    /// Trash.
    Trash(Bin),
    /// Health of a session's files.
    Health(Card),
    /// Preview of an undo of files.
    Undo(Box<UndoCard>),
    /// Changes of a session.
    Changes(Box<ChangesCard>),
    /// Audit log of a session.
    Audit(Audit),
    /// Content of a session's context window.
    Context(ContextCard),
    /// The rules in force for a session.
    Rules(Rules),
    /// Sources of a session.
    Sources(SourcesCard),
    /// Sources, skills, agents and commands of a session.
    Extensions(ExtensionsCard),
    /// The commands of a session in the background.
    Jobs(JobsCard),
    /// Usage and cost of requests.
    Usage(Usage),
    /// The messages of a session that wait.
    Queue(QueueCard),
}

/// The messages of a session that wait; what is known of them is in the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueCard {
    /// Session id.
    pub session: SessionId,
    /// The selected one.
    pub selected: Option<MessageId>,
    /// Index when it was last seen: the item there is selected once it was sent.
    pub at: usize,
}

impl QueueCard {
    /// The place of the selected one among those that wait.
    #[must_use]
    pub fn place(&self, open: Option<&Open>) -> usize {
        let Some(open) = open else { return 0 };
        let named = open.waiting().position(|item| self.selected.as_ref() == Some(&item.id));
        named.unwrap_or_else(|| self.at.min(open.waits().saturating_sub(1)))
    }
}

/// The commands of a session in the background; what is known of them is in the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobsCard {
    /// Session id.
    pub session: SessionId,
    /// The name of the selected one; `None` is the first.
    pub selected: Option<String>,
}

/// Preview of an undo of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoCard {
    /// Session id.
    pub session: SessionId,
    /// Target of the undo.
    pub aim: UndoAim,
    /// Planned restorations, once the engine has answered.
    pub plan: Option<UndoPlan>,
    /// The selected file.
    pub selected: usize,
    /// Files that somebody changed since, and that are restored all the same.
    pub also: BTreeSet<PathBuf>,
    /// The session goes back to a message as well; the text that is to be written anew, if there is one.
    pub rewind: Option<(RewindTo, Option<String>)>,
}

impl UndoCard {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(session: SessionId, aim: UndoAim) -> Self {
        Self { session, aim, plan: None, selected: 0, also: BTreeSet::new(), rewind: None }
    }

    /// True if this file would be restored.
    #[must_use]
    pub fn restores(&self, file: &UndoFile) -> bool {
        match file.state {
            UndoState::Ready | UndoState::Between(_) => true,
            UndoState::Changed(_) | UndoState::Risky(_) => self.also.contains(&file.path),
            UndoState::Lost(_) => false,
        }
    }
}

/// Changes of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesCard {
    /// Session id.
    pub session: SessionId,
    /// Changes, once the engine has answered.
    pub changes: Option<Changes>,
    /// The selected file.
    pub selected: usize,
    /// Lines of its diff that are scrolled away above.
    pub scroll: u16,
}

/// A question before something that is not easily undone: what would happen, and what stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    /// The question.
    pub title: String,
    /// Consequences, and what stays.
    pub says: Vec<String>,
    /// Label of the yes key, in a word or two.
    pub verb: String,
    /// Action on yes.
    pub deed: Deed,
    /// Lines scrolled away above.
    pub scroll: u16,
}

impl Confirm {
    /// A question of which nothing is read yet.
    #[must_use]
    pub fn new(title: impl Into<String>, says: Vec<String>, verb: impl Into<String>, deed: Deed) -> Self {
        Self { title: title.into(), says, verb: verb.into(), deed, scroll: 0 }
    }
}

/// Action of a confirmed question.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Copy this.
    Copy(String),
    /// Upload the lines of a session.
    Upload(SharedFile),
    /// This goes to the engine.
    Send(Command),
    /// The workspace of this folder is opened.
    Workspace(PathBuf),
    /// The conversation goes on in a branch, with this model.
    Continue {
        /// Its connection.
        connection: ConnectionName,
        /// The model; empty for the connection's own.
        model: String,
    },
    /// The text of a repository's command is sent.
    Own {
        /// Hash of the file.
        hash: String,
        /// The text with what followed the command put in.
        text: String,
    },
    /// The session goes back to a message; the text of the first message that is left out is for the new composer.
    Rewind {
        /// Session id.
        session: SessionId,
        /// Part of the conversation that is kept.
        kept: RewindTo,
        /// The text to be written anew.
        text: Option<String>,
        /// The files that could be restored as well, where there are any.
        files: Option<Box<UndoPlan>>,
    },
}

/// Part of a conversation that a rewind keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewindTo {
    /// Everything up to this message.
    After(MessageId),
    /// Nothing: this message is the first one.
    Start(MessageId),
}

impl RewindTo {
    /// Files that calls changed since.
    #[must_use]
    pub fn aim(&self) -> UndoAim {
        let (RewindTo::After(id) | RewindTo::Start(id)) = self;
        UndoAim::Since(id.clone())
    }
}

/// One line that is asked for.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Purpose, as the title.
    pub title: String,
    /// Text being written.
    pub line: Line,
    /// Error after Enter.
    pub problem: Option<String>,
    /// Purpose of the text.
    pub wanted: Wanted,
}

/// Purpose of a requested line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The value of a label.
    LabelValue {
        /// The label's id.
        label: String,
        /// Type of the value.
        value: ValueType,
        /// Sessions that get it.
        sessions: Vec<SessionId>,
    },
    /// The directory where the tools of this session work.
    Cwd(SessionId),
    /// The folder or file of a session of another program.
    Import,
    /// Address of a server to add.
    Server,
}

/// Trash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// The latest first; `None` while the engine has not answered.
    pub rows: Option<Vec<Trashed>>,
    /// The selected one.
    pub selected: usize,
}

/// Health of a session's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Session id.
    pub session: SessionId,
    /// Report, once the engine has answered.
    pub report: Option<HealthReport>,
    /// The engine looks, or repairs.
    pub busy: bool,
    /// A repair was asked for: the question comes with what was found.
    pub then_repair: bool,
    /// Lines scrolled away above.
    pub scroll: u16,
}

/// Help to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// Content.
    pub page: HelpPage,
    /// Filter of the keys.
    pub query: Line,
    /// Lines scrolled away above.
    pub scroll: u16,
}

/// Content of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpPage {
    /// Keys of the places that had them when it was opened.
    Keys(Vec<Context>),
    /// Page of the manual.
    Topic(&'static Topic),
}

/// The new title of a session.
#[derive(Clone, Debug)]
pub struct Rename {
    /// Session id.
    pub session: SessionId,
    /// The title being written.
    pub title: Line,
}

/// A thing that waits, as the inbox lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// In which session.
    pub session: SessionId,
    /// Request id; `None` while the session's requests are not loaded.
    pub request: Option<RequestId>,
    /// The session's title.
    pub title: String,
    /// The request in a few words.
    pub what: String,
    /// Since when, as far as is known here.
    pub since: At,
}

/// All that waits.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// One row a request.
    pub rows: Vec<Waiting>,
    /// The selected row.
    pub selected: usize,
    /// The request that is being answered here, with its panel.
    pub answering: Option<(SessionId, Panel)>,
    /// The others that ask for the very same.
    pub equal: Vec<(SessionId, RequestId)>,
    /// To which of them the answer goes.
    pub reach: Reach,
}

impl Inbox {
    /// The answer goes to all equal requests, or to this one alone. False if there are no equal ones.
    pub(crate) fn toggle_reach(&mut self) -> bool {
        if self.answering.is_none() || self.equal.is_empty() {
            return false;
        }
        self.reach = match self.reach {
            Reach::This => Reach::Equal,
            Reach::Equal => Reach::This,
        };
        true
    }
}

/// To which requests an answer goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To the one that is shown.
    #[default]
    This,
    /// Also to all that are equal to it.
    Equal,
}

impl JobsCard {
    /// The place of the selected one among these.
    #[must_use]
    pub fn place(&self, jobs: &[JobShown]) -> usize {
        let named = |job: &JobShown| self.selected.as_ref() == Some(&job.id);
        jobs.iter().position(named).unwrap_or_else(|| jobs.len().saturating_sub(1))
    }
}
