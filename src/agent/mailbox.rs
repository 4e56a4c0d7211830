//! Mailbox of a session actor: commands, and the reports of its own tasks, on a channel each.

use super::asker::Asker;
use super::hub::ClientId;
use super::machine_io::{Input, RunNo};
use super::spawned::progress::ChildLink;
use crate::domain::attachment::Attachment;
use crate::domain::ids::At;
use crate::domain::permission::Mode;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::Worktree;
use crate::domain::tool::CallFacts;
use crate::domain::undo::UndoAim;
use crate::domain::usage::RequestUsage;
use crate::domain::{CallId, ConnectionName};
use crate::protocol::{SessionCommand, SessionEvent};
use crate::provider::ModelRequest;
use crate::store::{Elsewhere, Followed, Health, Merged};
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// Command to a session actor: of a client, of another session, or of the engine. It never waits behind [`Report`]s, nor
/// does whoever sends it.
#[derive(Debug)]
pub(super) enum Control {
    /// Of a client; `None`: of the engine itself.
    Command(SessionCommand, Option<Asker>),
    /// A client that had the session open is gone.
    Gone(ClientId),
    /// The user changes properties. The answer says why not, as a sentence.
    Change {
        change: PropertyChange,
        done: oneshot::Sender<Result<(), String>>,
    },
    /// Release the files; what is done to them then is the asker's business.
    Release {
        running: Running,
        done: ReleaseAnswer,
    },
    /// Shows the restored files to clients.
    Reload {
        rows: usize,
    },
    /// End the turn, if one runs here.
    Stop,
    /// Restore files once the turn has ended, and report that.
    Restore(Restore),
    /// Save what waits, so that the files can be read.
    Flush {
        done: oneshot::Sender<()>,
    },
    /// A substitute was chosen for a connection that is not configured here.
    Reach,
    /// A connection got a key.
    Keyed(ConnectionName),
    /// The session was spawned, and its call waits for it.
    Spawned(Box<ChildLink>),
    /// The spawned session is on its own: nothing waits for it any more.
    Detached,
    /// The parent of this session is in this mode now.
    Ceiling(Mode),
    Shutdown,
}

/// Report of a task to the session actor that it works for. There is room for a few; the task waits for more.
#[derive(Debug)]
pub(super) enum Report {
    Input(Input),
    /// Event for clients that took its time.
    Tell(SessionEvent),
    /// Answer that took its time.
    Answer(SessionEvent, Option<Asker>),
    /// The server of this connection was asked for its models.
    ModelsListed {
        connection: ConnectionName,
        models: Result<Vec<String>, String>,
    },
    /// A file was copied for a message to come, or not.
    Attached {
        path: PathBuf,
        made: Result<Attachment, String>,
        asker: Option<Asker>,
    },
    /// The files of rules were changed by us.
    RulesChanged,
    /// A source started, died or has other tools.
    SourcesChanged,
    /// The sources that a request waited for are ready, or failed.
    SourcesReady(RunNo, Box<ModelRequest>),
    /// A message that comes by itself: the answer of a session in the background.
    Deliver(String),
    /// A model made a title, in the place of this one; `None` where it made none. Whether the user had asked for it.
    Titled {
        title: Option<String>,
        was: String,
        wanted: bool,
    },
    /// Usage of a side request, and its cost in dollars.
    SideUsage(RequestUsage, f64),
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
}

/// Next entry of a mailbox.
#[derive(Debug)]
pub(super) enum Mail {
    Control(Control),
    Report(Report),
}

/// Reports that may wait for a session actor.
const REPORTS: usize = 256;

/// The session actor has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActorEnded;

/// Mailbox of a session actor, for those who send to it. Commands have a channel of their own: a session that is busy with
/// its disk or floods itself with chunks holds up nobody who hands them out. It reads them before its reports.
#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    control: mpsc::UnboundedSender<Control>,
    reports: mpsc::Sender<Report>,
}

/// Mailbox of a session actor, for the actor.
#[derive(Debug)]
pub(super) struct MailReader {
    control: mpsc::UnboundedReceiver<Control>,
    reports: mpsc::Receiver<Report>,
}

impl Mailbox {
    /// An empty mailbox.
    pub(super) fn new() -> (Self, MailReader) {
        let (control, control_end) = mpsc::unbounded_channel();
        let (reports, reports_end) = mpsc::channel(REPORTS);
        (Self { control, reports }, MailReader { control: control_end, reports: reports_end })
    }

    /// Sends a command, without waiting. It comes back if the actor has ended.
    #[allow(clippy::result_large_err, reason = "what comes back is the command itself")]
    pub(super) fn control(&self, command: Control) -> Result<(), Control> {
        self.control.send(command).map_err(|error| error.0)
    }

    /// True once the actor has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.control.is_closed()
    }

    /// Sends a report, once there is room for it.
    pub(super) async fn report(&self, report: Report) -> Result<(), ActorEnded> {
        self.reports.send(report).await.map_err(|_| ActorEnded)
    }
}

impl MailReader {
    /// The next entry, commands first. `None` once nobody can send.
    pub(super) async fn next(&mut self) -> Option<Mail> {
        tokio::select! {
            biased;
            Some(command) = self.control.recv() => Some(Mail::Control(command)),
            report = self.reports.recv() => report.map(Mail::Report),
        }
    }

    /// The next entry, if there is one now.
    pub(super) fn try_next(&mut self) -> Option<Mail> {
        match self.control.try_recv() {
            Ok(command) => Some(Mail::Control(command)),
            Err(_) => self.reports.try_recv().ok().map(Mail::Report),
        }
    }
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
pub(super) enum Released {
    /// It has files.
    OnDisk,
    /// It was never written; this worktree was made for it.
    Nowhere(Option<Worktree>),
}

/// Channel for the answer to [`Control::Release`].
pub(super) type ReleaseAnswer = oneshot::Sender<Result<Released, String>>;

/// Rows that are shown when a session is shown anew without being asked.
pub(super) const SHOWN: usize = 200;

/// Files to restore.
#[derive(Debug)]
pub(super) struct Restore {
    pub(super) aim: UndoAim,
    /// Files to restore although somebody changed them since.
    pub(super) also: Vec<PathBuf>,
    /// Reports that it was done, or could not be: with it a turn that runs is waited for.
    pub(super) done: Option<oneshot::Sender<()>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_neither_waits_for_room_nor_behind_reports() {
        let (mailbox, mut reader) = Mailbox::new();
        for _ in 0..REPORTS {
            mailbox.reports.try_send(Report::Jobs).unwrap();
        }
        assert!(mailbox.reports.try_send(Report::Jobs).is_err(), "reports have room for a few");
        for _ in 0..2 * REPORTS {
            mailbox.control(Control::Command(SessionCommand::Leave, None)).unwrap();
        }
        mailbox.control(Control::Stop).unwrap();
        let mut before = 0;
        while let Some(Mail::Control(command)) = reader.try_next() {
            match command {
                Control::Command(SessionCommand::Leave, None) => before += 1,
                Control::Stop => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(before, 2 * REPORTS, "commands keep their order, and all come before the first report");
        assert!(matches!(reader.try_next(), Some(Mail::Report(Report::Jobs))));
    }

    #[tokio::test]
    async fn an_actor_that_ended_gives_commands_back() {
        let (mailbox, reader) = Mailbox::new();
        drop(reader);
        assert!(matches!(mailbox.control(Control::Stop), Err(Control::Stop)));
        assert_eq!(mailbox.report(Report::Jobs).await, Err(ActorEnded));
    }
}
