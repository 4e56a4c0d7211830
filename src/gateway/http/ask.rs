//! Engine as one request asks it: a client of its own, which is gone with the request.

use super::guard::Guarding;
use super::problem::Problem;
use crate::agent::{ClientInfo, Link, NoReply};
use crate::domain::SessionId;
use crate::domain::ids::MessageId;
use crate::domain::session::SessionMeta;
use crate::domain::workspace::Workspace;
use crate::gateway::access::Grant;
use crate::gateway::server::Visit;
use crate::gateway::session_lists::{ListPart, ListRange};
use crate::protocol::{
    Command, EngineCommand, ErrorCode, Event, NewSession, Opened, SessionCommand, SessionEvent, Stamped,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time for the engine to answer.
const ANSWERS: Duration = Duration::from_secs(30);

/// Client of an engine for one request.
pub(super) struct Asking {
    pub link: Link,
    visit: Visit,
    /// Folder of the workspace.
    folder: PathBuf,
}

/// The workspace of a name.
pub(super) async fn workspace(guarding: &Guarding, name: &str) -> Result<Workspace, Problem> {
    let all = guarding.gateway.workspaces().await;
    let found = all.into_iter().find(|one| one.name == name);
    found.ok_or_else(|| Problem::not_found("No workspace with this name."))
}

/// The session id that a path names.
pub(super) fn session_id(text: &str) -> Result<SessionId, Problem> {
    SessionId::parse(text).map_err(|_| Problem::not_found("No session with this id."))
}

/// True for a command that shows something of a session and changes no list.
fn only_looks(command: &Command) -> bool {
    matches!(
        command,
        Command::Session {
            command: SessionCommand::Open { .. }
                | SessionCommand::OpenAt { .. }
                | SessionCommand::Resume { .. }
                | SessionCommand::Earlier { .. }
                | SessionCommand::Later { .. }
                | SessionCommand::Leave,
            ..
        }
    )
}

/// Snapshot among events.
fn opened(events: Vec<Arc<Stamped>>) -> Option<Opened> {
    events.into_iter().find_map(|stamped| match Arc::unwrap_or_clone(stamped).event {
        Event::Session { event: SessionEvent::Opened(opened), .. } => Some(*opened),
        Event::Session { .. } | Event::Engine(_) => None,
    })
}

fn ended() -> Problem {
    Problem::unavailable("The engine of this workspace has ended.")
}

impl Asking {
    /// Client of a workspace's engine. `interactive`: turns that it begins may ask, and wait until somebody answers.
    pub async fn of(guarding: &Guarding, workspace: &str, grant: &Grant, interactive: bool) -> Result<Self, Problem> {
        let folder = self::workspace(guarding, workspace).await?.path;
        Self::in_folder(guarding, &folder, grant, interactive).await
    }

    /// The same of a workspace's folder.
    pub async fn in_folder(
        guarding: &Guarding,
        folder: &Path,
        grant: &Grant,
        interactive: bool,
    ) -> Result<Self, Problem> {
        let engine = guarding.gateway.engine(folder).await.map_err(Problem::unavailable)?;
        let name = format!("http ({})", grant.peer());
        let info = ClientInfo { interactive, reads_on: false, ..ClientInfo::remote(&name, grant.scopes.clone()) };
        Ok(Self { link: engine.connect(info), visit: Visit::new(&guarding.gateway), folder: folder.to_owned() })
    }

    /// Has a command done. Returns the events that answer it.
    pub async fn ask(&mut self, command: Command, message: Option<MessageId>) -> Result<Vec<Arc<Stamped>>, Problem> {
        let (events, refused) = self.answers(command, message).await?;
        refused.map_or(Ok(events), Err)
    }

    /// Has a command done. Returns the events that answer it, and why it was not done: words to the user count as that.
    async fn answers(
        &mut self,
        command: Command,
        message: Option<MessageId>,
    ) -> Result<(Vec<Arc<Stamped>>, Option<Problem>), Problem> {
        let looks = only_looks(&command);
        let asked = self.link.ask(command, message, drop);
        let asked = tokio::time::timeout(ANSWERS, asked).await;
        if !looks {
            self.visit.gateway().lists.touch(&self.folder);
        }
        match asked.map_err(|_| Problem::unavailable("The engine did not answer in time."))? {
            Ok((events, error)) => Ok((events, error.map(Into::into))),
            Err(NoReply::Closed) => Err(ended()),
            Err(NoReply::CutOff(why)) => Err(Problem::unavailable(why)),
        }
    }

    /// A part of the list of sessions.
    pub async fn sessions(&self, range: ListRange) -> Result<ListPart, Problem> {
        self.visit.gateway().lists.part(&self.folder, range).await.map_err(Problem::unavailable)
    }

    /// All sessions, hidden and archived ones included, latest first.
    pub async fn list(&self) -> Result<Vec<SessionMeta>, Problem> {
        Ok(self.sessions(ListRange::WHOLE).await?.sessions)
    }

    /// Has a command done by a session that was opened, so that there is one.
    pub async fn session(
        &mut self,
        id: &SessionId,
        command: SessionCommand,
        message: Option<MessageId>,
    ) -> Result<Vec<Arc<Stamped>>, Problem> {
        self.ask(Command::Session { id: id.clone(), command }, message).await
    }

    /// Reason why a session was not opened: mostly that there is none. One that has no messages yet is in no list and is
    /// opened all the same, so the list is looked at last.
    pub async fn not_opened(&self, id: &SessionId, problem: Problem) -> Problem {
        if problem.error.details != Some(ErrorCode::Failed) {
            return problem;
        }
        match self.list().await {
            Ok(all) if all.iter().all(|meta| meta.id != *id) => Problem::not_found("No session with this id."),
            Ok(_) | Err(_) => problem,
        }
    }

    /// Makes a session, or opens the one that was made with the same key.
    pub async fn create(&mut self, new: NewSession) -> Result<SessionMeta, Problem> {
        let (events, refused) = self.answers(Command::Engine(EngineCommand::Create(new)), None).await?;
        // One that was made before, and whose last turn was interrupted, is opened with a word about that.
        match (opened(events), refused) {
            (Some(opened), _) => Ok(opened.meta),
            (None, Some(problem)) => Err(problem),
            (None, None) => Err(Problem::unavailable("The session was not made.")),
        }
    }

    /// A session with its last rows.
    pub async fn open(&mut self, id: &SessionId, rows: usize) -> Result<Opened, Problem> {
        let command = Command::Session { id: id.clone(), command: SessionCommand::Open { rows } };
        let (events, refused) = self.answers(command, None).await?;
        // One whose last turn was interrupted is opened with a word about that.
        match (opened(events), refused) {
            (Some(opened), _) => Ok(opened),
            (None, Some(problem)) => Err(self.not_opened(id, problem).await),
            (None, None) => Err(Problem::unavailable("The session was not opened.")),
        }
    }
}
