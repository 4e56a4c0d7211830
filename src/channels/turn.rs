//! Turn that answers messages of a channel, as it is followed: which rows are its own, what it says, what it asks.

use super::engine_client::EngineClient;
use super::record::{ChannelTurn, TakenMessage};
use crate::domain::ids::{MessageId, RequestId};
use crate::domain::message::{AssistantText, Body, Message};
use crate::domain::request::{Request, UserAnswer};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::usage::Usage;
use crate::domain::{At, SessionId};
use crate::protocol::{Event, Opened, QueueEdit, Queued, SessionCommand, SessionEvent, TurnEnd};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Requests that nobody answered for this time are answered with no.
const UNANSWERED: Duration = Duration::from_secs(24 * 3600);
/// Time for a turn to go on that a death interrupted.
const GOES_ON: Duration = Duration::from_secs(30);

/// Outcome of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnStep {
    Nothing,
    /// It runs, so that it can take messages.
    Streams,
    Ended(TurnEnd),
    /// The session has another id.
    Renamed,
    /// The engine has ended.
    Gone,
}

/// State of a turn whose message the session had already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakenUp {
    Runs,
    Ended,
    /// Its message was part of another turn.
    Steered,
}

/// Turn that runs.
#[derive(Debug)]
pub(super) struct RunningTurn {
    pub client: EngineClient,
    pub session: SessionId,
    pub turn: ChannelTurn,
    /// Messages that it answers, the last one last.
    pub messages: Vec<TakenMessage>,
    /// Messages that were sent into it.
    pub steered: Vec<(MessageId, TakenMessage)>,
    /// `/stop` ended it.
    pub stopped: bool,
    pub meta: SessionMeta,
    /// Usage of the session before it; `None` where a death came in between.
    pub before: Option<Usage>,
    pub began: At,
    /// Its message is in the conversation: what follows is its own.
    seen: bool,
    /// Whoever follows it knows that.
    announced: bool,
    answer: Option<(MessageId, AssistantText)>,
    asked: BTreeMap<String, (Request, Instant)>,
    /// Messages that wait in the session.
    waiting: Vec<Queued>,
    goes_on_by: Option<Instant>,
}

impl RunningTurn {
    pub fn new(
        client: EngineClient,
        turn: ChannelTurn,
        messages: Vec<TakenMessage>,
        meta: SessionMeta,
        began: At,
    ) -> Self {
        Self {
            client,
            session: meta.id.clone(),
            turn,
            messages,
            steered: Vec::new(),
            stopped: false,
            before: Some(meta.usage.clone()),
            meta,
            began,
            seen: false,
            announced: false,
            answer: None,
            asked: BTreeMap::new(),
            waiting: Vec::new(),
            goes_on_by: None,
        }
    }

    /// Text of the answer.
    pub fn answer(&self) -> Option<&str> {
        let (_, said) = self.answer.as_ref().filter(|(_, said)| !said.intermediate && !said.partial)?;
        Some(said.text.trim()).filter(|text| !text.is_empty())
    }

    /// Steered messages that wait in the session: the turn ended before it took them.
    pub fn untaken(&self) -> Vec<(MessageId, TakenMessage)> {
        let waits = |id: &MessageId| self.waiting.iter().any(|queued| queued.id == *id);
        self.steered.iter().filter(|(id, _)| waits(id)).cloned().collect()
    }

    /// Takes up a turn whose message the session has already: finds its rows among the last ones, and goes on with it.
    pub async fn take_up(&mut self, opened: &Opened) -> TakenUp {
        self.before = None;
        let mut closed = false;
        for row in &opened.rows {
            if let Body::User(said) = &row.body {
                let own = row.id == self.turn.id;
                if own && said.steer {
                    return TakenUp::Steered;
                }
                closed |= self.seen && !own && !said.steer;
            }
            if closed {
                break;
            }
            self.hear_row(row);
        }
        if closed || (opened.meta.activity == Activity::Idle && self.answer().is_some()) {
            return TakenUp::Ended;
        }
        self.go_on(opened).await;
        TakenUp::Runs
    }

    /// Goes on with a turn that a death interrupted, if the session does not do so already.
    async fn go_on(&mut self, opened: &Opened) {
        self.goes_on_by = Some(Instant::now() + GOES_ON);
        let command = match opened.meta.activity {
            Activity::Running(_) | Activity::NeedsYou(_) | Activity::Stopping => {
                self.goes_on_by = None;
                return;
            }
            Activity::Idle if self.seen => SessionCommand::Retry,
            Activity::Idle if opened.queue_held => SessionCommand::Queue(QueueEdit::Release),
            Activity::Idle => return,
        };
        if let Err(error) = self.client.session(&self.session, command, None).await {
            tracing::warn!(error = error.text(), "can't go on with a turn of a channel");
        }
    }

    /// Waits for what comes next.
    pub async fn next(&mut self) -> TurnStep {
        if self.seen && !std::mem::replace(&mut self.announced, true) {
            return TurnStep::Streams;
        }
        let unanswered = self.asked.values().map(|(_, since)| *since + UNANSWERED).min();
        let until = [unanswered, self.goes_on_by].into_iter().flatten().min();
        let far = Instant::now() + Duration::from_secs(86_400 * 365);
        tokio::select! {
            event = self.client.event() => match event {
                Some(stamped) => match &stamped.event {
                    Event::Session { id, event } if *id == self.session => self.hear(event),
                    Event::Session { .. } | Event::Engine(_) => TurnStep::Nothing,
                },
                None => TurnStep::Gone,
            },
            () = tokio::time::sleep_until(until.unwrap_or(far)) => {
                if self.goes_on_by.is_some_and(|by| by <= Instant::now()) {
                    self.goes_on_by = None;
                    return TurnStep::Ended(TurnEnd::Failed);
                }
                self.refuse_unanswered().await;
                TurnStep::Nothing
            }
        }
    }

    /// Answers requests with no that nobody answered for a day.
    async fn refuse_unanswered(&mut self) {
        let due = |since: &Instant| *since + UNANSWERED <= Instant::now();
        let old: Vec<Request> =
            self.asked.values().filter(|(_, since)| due(since)).map(|(request, _)| request.clone()).collect();
        for request in old {
            self.asked.remove(request.id.as_str());
            let text = "No answer within 24 hours.".to_owned();
            let shown = Some(request.hash());
            let command = SessionCommand::Answer { request: request.id, answer: UserAnswer::No(Some(text)), shown };
            if let Err(error) = self.client.session(&self.session, command, None).await {
                tracing::warn!(error = error.text(), "can't refuse a request of a channel's turn");
            }
        }
    }

    fn ask(&mut self, request: &Request) {
        let id: &RequestId = &request.id;
        self.asked.entry(id.to_string()).or_insert_with(|| (request.clone(), Instant::now()));
    }

    fn hear(&mut self, event: &SessionEvent) -> TurnStep {
        match event {
            SessionEvent::Reidentified { to } => {
                self.session = to.clone();
                return TurnStep::Renamed;
            }
            SessionEvent::Changed(meta) => self.meta = (**meta).clone(),
            SessionEvent::TurnStarted { .. } => self.goes_on_by = None,
            SessionEvent::Accepted { id, queued: false } if *id == self.turn.id => self.seen = true,
            SessionEvent::Row(row) => {
                self.hear_row(row);
            }
            SessionEvent::Delta { id, add } => {
                if let Some((_, said)) = self.answer.as_mut().filter(|(row, _)| row == id) {
                    said.text.push_str(add);
                }
            }
            SessionEvent::Dropped { id } if self.answer.as_ref().is_some_and(|(row, _)| row == id) => {
                self.answer = None;
            }
            SessionEvent::Asked(request) => self.ask(request),
            SessionEvent::Settled { request, .. } => drop(self.asked.remove(request.as_str())),
            SessionEvent::Queue { items, steers, .. } => self.waiting = [&items[..], &steers[..]].concat(),
            SessionEvent::TurnEnded { end } if self.seen => return TurnStep::Ended(*end),
            _ => {}
        }
        TurnStep::Nothing
    }

    fn hear_row(&mut self, row: &Message) {
        match &row.body {
            Body::User(_) if row.id == self.turn.id => {
                self.seen = true;
                self.answer = None;
            }
            // Rows of spawned sessions have a parent.
            Body::Assistant(said) if self.seen && row.parent.is_none() => {
                self.answer = Some((row.id.clone(), said.clone()))
            }
            _ => {}
        }
    }
}
