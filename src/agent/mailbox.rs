//! What a session actor is sent.

use super::child_link::Raised;
use super::step::Input;
use crate::domain::attachment::Attachment;
use crate::domain::contract::Act;
use crate::domain::ids::At;
use crate::domain::inbox::PropertyChange;
use crate::domain::permission::Mode;
use crate::domain::request::TrustRequest;
use crate::domain::rule::{Rule, RuleScope};
use crate::domain::session::Worktree;
use crate::domain::tool::CallFacts;
use crate::domain::undo::UndoAim;
use crate::domain::usage::RequestUsage;
use crate::domain::{CallId, ConnectionName, Event};
use crate::store::{Elsewhere, Followed, Health, Merged};
use std::path::PathBuf;
use tokio::sync::oneshot;

/// Command to a session actor.
#[derive(Debug)]
pub(super) enum ToLane {
    Input(Input),
    Act(Act),
    Open {
        rows: usize,
    },
    Earlier {
        cursor: u64,
        rows: usize,
    },
    /// Around a place far from the end.
    OpenAt {
        at: u64,
        rows: usize,
    },
    Later {
        cursor: u64,
        rows: usize,
    },
    Leave,
    /// The user changes properties. The answer says why not, as a sentence.
    Change {
        change: PropertyChange,
        done: oneshot::Sender<Result<(), String>>,
    },
    /// Let the files go; what is done to them then is the asker's business.
    Yield {
        running: Running,
        done: Yielding,
    },
    /// Shows the restored files to clients.
    Reload {
        rows: usize,
    },
    /// Take all messages out.
    Clear,
    /// End the turn, if one runs here.
    Stop,
    /// Save what waits, so that the files can be read.
    Flush {
        done: oneshot::Sender<()>,
    },
    /// Undo, and what it would do.
    Undo(UndoAsk),
    /// Event for clients that took its time.
    Tell(Event),
    /// A file was copied for a message to come, or not.
    Attached {
        path: PathBuf,
        made: Result<Attachment, String>,
    },
    /// The rules in force are wanted.
    Rules,
    /// Content of the next request is wanted.
    Context,
    /// This rule is no longer wanted.
    Forget(Rule, RuleScope),
    /// The user trusts this.
    Trust(Box<TrustRequest>),
    /// The files of rules were changed by us.
    Law,
    /// A substitute was chosen for a connection that is not configured here.
    Reach,
    /// The user wants to give the key of this connection.
    AskKey(ConnectionName),
    /// The session was spawned, and its call waits for it.
    Raised(Box<Raised>),
    /// The spawned session is on its own: nothing waits for it any more.
    Grown,
    /// The parent of this session is in this mode now.
    Ceiling(Mode),
    /// A message that comes by itself: the answer of a session in the background.
    Deliver(String),
    /// A model made a title, in the place of this one; `None` where it made none. Whether the user had asked for it.
    Titled {
        title: Option<String>,
        was: String,
        wanted: bool,
    },
    /// Rewrite the draft of a client.
    Enhance {
        number: u64,
        draft: String,
    },
    /// Usage of a side request, and its cost in dollars.
    Apart(RequestUsage, f64),
    /// A command wants to connect somewhere.
    MayReach {
        number: u64,
        call: CallId,
        facts: Box<CallFacts>,
        done: oneshot::Sender<Result<(), String>>,
    },
    /// The background jobs changed.
    Jobs,
    /// The time of a redelivery has come.
    Redeliver(At),
    /// The lock of a session that we write was touched.
    LockTouched,
    Health(Health),
    /// Actions of others on a session that we write.
    Elsewhere(Elsewhere),
    /// Changes of another program to the properties of a session that we write.
    Merged(Option<Box<Merged>>),
    /// Rows written by another process, seen by the task of this number.
    Followed(u64, Vec<Followed>),
    Shutdown,
}

/// Treatment of a running turn when a session's files are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    /// It is stopped.
    Stops,
    /// It goes on, and the files cannot be had.
    Stays,
}

/// State of a session when its files were released.
#[derive(Debug)]
pub(super) enum Yielded {
    /// It has files.
    OnDisk,
    /// It was never written; this worktree was made for it.
    Nowhere(Option<Worktree>),
}

/// Channel for the answer to [`ToLane::Yield`].
pub(super) type Yielding = oneshot::Sender<Result<Yielded, String>>;

/// Rows that are shown when a session is shown anew without being asked.
pub(super) const SHOWN: usize = 200;

/// Request to undo.
#[derive(Debug)]
pub(super) enum UndoAsk {
    /// Preview of it.
    Plan(UndoAim),
    /// Do it.
    Restore {
        aim: UndoAim,
        /// Files to restore although somebody changed them since.
        also: Vec<PathBuf>,
        /// Told when it was done, or was not: with it a turn that runs is waited for.
        done: Option<oneshot::Sender<()>>,
    },
    /// Changes of the session.
    Changes,
}
