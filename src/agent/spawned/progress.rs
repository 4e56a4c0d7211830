//! Link between a spawned session and whoever waits for it: its progress, and what ends it.

use crate::agent::machine_io::TurnCompany;
use crate::agent::undo::UndoTarget;
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Body, InfoKind};
use crate::domain::permission::Mode;
use crate::domain::persona::Persona;
use crate::domain::session::Activity;
use crate::domain::tool::Child;
use crate::protocol::{SessionEvent, TurnEnd};
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::watch;

/// Its last answer is cut off here, in bytes; what is too long for the model besides goes to a file.
const MOST_ANSWER: usize = 400_000;

/// Link from a child's session actor to whoever waits for it.
#[derive(Debug)]
pub(in crate::agent) struct ChildLink {
    /// No mode is looser than this one.
    pub(in crate::agent) ceiling: Mode,
    /// Channel of its progress.
    pub(in crate::agent) news: watch::Sender<ChildProgress>,
    /// Store for undo of its calls' changes: with the parent's turn.
    pub(in crate::agent) undo: UndoTarget,
    /// As in the parent's turn.
    pub(in crate::agent) company: TurnCompany,
    /// The agent that it is.
    pub(in crate::agent) persona: Option<Persona>,
}

/// Progress of a child.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct ChildProgress {
    /// Its id as it is now.
    pub(in crate::agent) session: Option<SessionId>,
    activity: Activity,
    /// Their rows: ids of calls may repeat.
    calls: HashSet<MessageId>,
    tokens: u64,
    /// Last action, on one line.
    line: String,
    /// The last text that it said, and whether that is an answer.
    said: Arc<str>,
    failure: Option<String>,
    /// Cause of an early end of its turn, where it was not the user.
    cut: Option<String>,
    ended: Option<TurnEnd>,
}

impl ChildProgress {
    /// Nothing known yet but the session.
    pub(in crate::agent) fn of(session: SessionId) -> Self {
        Self { session: Some(session), ..Self::default() }
    }

    /// Takes what the actor tells the clients. Whether it is worth telling.
    pub(in crate::agent) fn take(&mut self, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::Changed(meta) => {
                let before = (self.session.clone(), self.activity.clone(), self.tokens);
                self.session = Some(meta.id.clone());
                self.activity = meta.activity.clone();
                self.tokens = meta.usage.context_tokens.saturating_add(meta.usage.output_tokens);
                before != (self.session.clone(), self.activity.clone(), self.tokens)
            }
            SessionEvent::Row(row) => {
                match &row.body {
                    Body::Tool(call) => {
                        self.calls.insert(row.id.clone());
                        self.line = crate::tools::input::one_line(&format!("{} {}", call.name, call.subject), 200);
                    }
                    Body::Assistant(said) if !said.text.trim().is_empty() => {
                        let last = said.text.trim().lines().next_back().unwrap_or_default();
                        self.line = crate::tools::input::one_line(last, 200);
                        self.said = said.text.trim().into();
                    }
                    Body::Error(failure) => self.failure = Some(format!("{}: {}", failure.title, failure.text)),
                    Body::Info(info) if matches!(info.kind, InfoKind::Restarted | InfoKind::Ended) => {
                        self.cut = Some(info.text.clone());
                    }
                    _ => return false,
                }
                true
            }
            SessionEvent::TurnStarted { .. } => {
                (self.ended, self.failure, self.cut) = (None, None, None);
                true
            }
            SessionEvent::TurnEnded { end } => {
                self.ended = Some(*end);
                true
            }
            SessionEvent::Opened(_)
            | SessionEvent::Reidentified { .. }
            | SessionEvent::Held { .. }
            | SessionEvent::Accepted { .. }
            | SessionEvent::Page { .. }
            | SessionEvent::LaterPage { .. }
            | SessionEvent::Delta { .. }
            | SessionEvent::Refused { .. }
            | SessionEvent::Dropped { .. }
            | SessionEvent::Queue { .. }
            | SessionEvent::Redelivering { .. }
            | SessionEvent::Attached { .. }
            | SessionEvent::ConnectionWanted { .. }
            | SessionEvent::ModelWanted { .. }
            | SessionEvent::Asked(_)
            | SessionEvent::Settled { .. }
            | SessionEvent::Todo(_)
            | SessionEvent::Jobs(_)
            | SessionEvent::Plan(_)
            | SessionEvent::Compacting { .. }
            | SessionEvent::Retrying { .. }
            | SessionEvent::Waiting(_)
            | SessionEvent::Starting { .. }
            | SessionEvent::Enhanced { .. }
            | SessionEvent::UndoPlanned(_)
            | SessionEvent::FilesChanged(_)
            | SessionEvent::Context(_)
            | SessionEvent::Rules(_)
            | SessionEvent::Sources(_)
            | SessionEvent::Extensions(_)
            | SessionEvent::Notice(_)
            | SessionEvent::Unsaved(_) => false,
        }
    }

    /// Last action, on one line.
    pub(in crate::agent) fn line(&self) -> &str {
        &self.line
    }

    /// Last text that it said.
    pub(in crate::agent) fn said(&self) -> &str {
        &self.said
    }

    /// Its turn has ended.
    pub(in crate::agent) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Child as shown with the call.
    pub(in crate::agent) fn child(&self, session: &SessionId, background: bool) -> Child {
        let waits = match &self.activity {
            Activity::NeedsYou(what) => Some(what.clone()),
            _ => None,
        };
        Child {
            session: self.session.clone().unwrap_or_else(|| session.clone()),
            calls: self.calls.len() as u64,
            tokens: self.tokens,
            waits,
            background,
        }
    }

    /// Outcome, if it has ended: its answer, or why there is none. A submitted plan still waits.
    pub(in crate::agent) fn outcome(&self) -> Option<Result<String, String>> {
        let said = self.said.get(..self.said.floor_char_boundary(MOST_ANSWER)).unwrap_or_default().to_owned();
        let so_far = if said.is_empty() { String::new() } else { format!(" The last that it said: {said}") };
        match self.ended? {
            TurnEnd::Plan => None,
            TurnEnd::Done if said.is_empty() => Some(Err("It ended without a word.".to_owned())),
            TurnEnd::Done => Some(Ok(said)),
            TurnEnd::Stopped => {
                let why = self.cut.as_deref().unwrap_or("The user stopped it.");
                Some(Err(format!("{why}{so_far}")))
            }
            TurnEnd::Failed => {
                let why = self.failure.clone().unwrap_or_else(|| "its request failed".to_owned());
                Some(Err(format!("It failed: {why}{so_far}")))
            }
            TurnEnd::Limit => Some(Err(format!("It reached the limit of its turn.{so_far}"))),
        }
    }
}
