//! Client of an engine for a conversation: asks, and hears what its session does.

use crate::agent::{BacklogLimits, ClientInfo, Engine, Link, NoReply};
use crate::domain::SessionId;
use crate::domain::ids::MessageId;
use crate::protocol::{
    Command, EngineCommand, EngineEvent, ErrorCode, Event, NewSession, Opened, SessionCommand, SessionEvent, Stamped,
    ToClient,
};
use crate::routes::reset::AllowedModel;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Time for the engine to answer.
const ANSWERS: Duration = Duration::from_secs(60);
/// Time for the engine's greeting.
const GREETS: Duration = Duration::from_secs(5);
/// Rows of a session that is opened to find an answer in it.
const ROWS: usize = 200;

/// Reason why a command was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotDone {
    /// The engine refused it.
    Refused(ErrorCode, String),
    /// The engine has ended, or does not answer.
    Gone(String),
}

impl NotDone {
    pub fn text(&self) -> &str {
        match self {
            Self::Refused(_, text) | Self::Gone(text) => text,
        }
    }

    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Refused(ErrorCode::Duplicate, _))
    }
}

/// Client of an engine.
#[derive(Debug)]
pub(super) struct EngineClient {
    link: Link,
    /// Events that came while an answer was awaited.
    early: VecDeque<Arc<Stamped>>,
}

fn gone() -> NotDone {
    NotDone::Gone("the engine of the workspace has ended".to_owned())
}

impl EngineClient {
    /// Client whose turns may ask: the operator's screens show the requests.
    pub fn of(engine: &Engine, channel: &str) -> Self {
        let local = ClientInfo::local(&format!("channel {channel}"));
        // With limits, as others that could name a session that there is not.
        let info = ClientInfo { limits: Some(BacklogLimits::default()), reads_on: false, stranger: true, ..local };
        Self { link: engine.connect(info), early: VecDeque::new() }
    }

    /// Has a command done. Returns the events that answer it.
    pub async fn ask(&mut self, command: Command, message: Option<MessageId>) -> Result<Vec<Arc<Stamped>>, NotDone> {
        let (events, refused) = self.answers(command, message).await?;
        refused.map_or(Ok(events), Err)
    }

    /// Has a command done. Returns the events that answer it, and why it was not done: words to the user count as that.
    async fn answers(
        &mut self,
        command: Command,
        message: Option<MessageId>,
    ) -> Result<(Vec<Arc<Stamped>>, Option<NotDone>), NotDone> {
        let early = &mut self.early;
        let asked = self.link.ask(command, message, |stamped| early.push_back(stamped));
        let late = || NotDone::Gone("the engine did not answer in time".to_owned());
        match tokio::time::timeout(ANSWERS, asked).await.map_err(|_| late())? {
            Ok((events, error)) => Ok((events, error.map(|error| NotDone::Refused(error.code, error.message)))),
            Err(NoReply::Closed) => Err(gone()),
            Err(NoReply::CutOff(why)) => Err(NotDone::Gone(why)),
        }
    }

    /// Has a command done by a session.
    pub async fn session(
        &mut self,
        id: &SessionId,
        command: SessionCommand,
        message: Option<MessageId>,
    ) -> Result<Vec<Arc<Stamped>>, NotDone> {
        self.ask(Command::Session { id: id.clone(), command }, message).await
    }

    /// Models that may be chosen, as the engine's greeting has them. None if it does not come.
    pub async fn models(&mut self) -> Vec<AllowedModel> {
        let greeting = async {
            while let Some(stamped) = self.event().await {
                if let Event::Engine(EngineEvent::Configured(configured)) = &stamped.event {
                    return configured.connections.clone();
                }
            }
            Vec::new()
        };
        let connections = tokio::time::timeout(GREETS, greeting).await.unwrap_or_default();
        let mut models = Vec::new();
        for connection in connections.iter().filter(|one| one.missing.is_none() && !one.offered) {
            let own = std::iter::once(&connection.default_model).chain(&connection.models);
            let mut own: Vec<&String> = own.filter(|model| !model.is_empty()).collect();
            own.dedup();
            models.extend(own.into_iter().map(|model| AllowedModel {
                provider: connection.name.to_string(),
                model: model.clone(),
                aliases: Vec::new(),
            }));
        }
        models
    }

    /// Makes a session.
    pub async fn create(&mut self, new: NewSession) -> Result<Opened, NotDone> {
        let (events, refused) = self.answers(Command::Engine(EngineCommand::Create(new)), None).await?;
        let not_made = || refused.unwrap_or_else(|| NotDone::Gone("the session was not made".to_owned()));
        opened(events).ok_or_else(not_made)
    }

    /// Sends a message to a session. A word to the user about it is no refusal.
    pub async fn send(&mut self, id: &SessionId, command: SessionCommand, message: MessageId) -> Result<(), NotDone> {
        let command = Command::Session { id: id.clone(), command };
        let (events, refused) = self.answers(command, Some(message)).await?;
        let accepted = events
            .iter()
            .any(|stamped| matches!(stamped.event, Event::Session { event: SessionEvent::Accepted { .. }, .. }));
        // Whoever follows the turn hears them too.
        self.early.extend(events);
        match refused {
            Some(refused) if !accepted => Err(refused),
            Some(_) | None => Ok(()),
        }
    }

    /// Opens a session: its events come from now on. `None` if there is none with this id.
    pub async fn open(&mut self, id: &SessionId) -> Result<Option<Opened>, NotDone> {
        let command = Command::Session { id: id.clone(), command: SessionCommand::Open { rows: ROWS } };
        let (events, refused) = self.answers(command, None).await?;
        // One whose last turn was interrupted is opened with a word about that.
        if let Some(opened) = opened(events) {
            return Ok(Some(opened));
        }
        let refused = refused.unwrap_or_else(|| NotDone::Gone("the session was not opened".to_owned()));
        tracing::warn!(session = id.as_str(), why = refused.text(), "the session of a channel was not opened");
        // One that can't be read, or that another process has, stays what it is.
        if self.lists(id).await? { Err(refused) } else { Ok(None) }
    }

    /// True if there is a session with this id.
    async fn lists(&mut self, id: &SessionId) -> Result<bool, NotDone> {
        let events = self.ask(Command::Engine(EngineCommand::List), None).await?;
        Ok(events.iter().any(|stamped| match &stamped.event {
            Event::Engine(EngineEvent::Listed { sessions }) => sessions.iter().any(|meta| meta.id == *id),
            Event::Engine(_) | Event::Session { .. } => false,
        }))
    }

    /// The next event; `None` once the engine has ended.
    pub async fn event(&mut self) -> Option<Arc<Stamped>> {
        if let Some(early) = self.early.pop_front() {
            return Some(early);
        }
        loop {
            match self.link.events.recv().await? {
                ToClient::Event(stamped) => return Some(stamped),
                ToClient::CutOff { .. } => return None,
                ToClient::Reply(_) => {}
            }
        }
    }
}

fn opened(events: Vec<Arc<Stamped>>) -> Option<Opened> {
    events.into_iter().find_map(|stamped| match Arc::unwrap_or_clone(stamped).event {
        Event::Session { event: SessionEvent::Opened(opened), .. } => Some(*opened),
        Event::Session { .. } | Event::Engine(_) => None,
    })
}
