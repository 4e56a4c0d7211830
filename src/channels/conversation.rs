//! One session key at work: messages go through its queue, turns answer them, replies go out. The task lives while there
//! is something to do.

use super::audit::ChannelLogLine;
use super::channel_session::{ChannelSession, Restart, SessionFinder};
use super::delivery::deliver;
use super::engine_client::NotDone;
use super::hub::{ChannelHub, ConversationInput};
use super::ledger::written;
use super::record::{ChannelTurn, ReplyKind, TakenMessage};
use super::reply::{TurnResult, finished};
use super::rows::now;
use super::turn::{RunningTurn, TakenUp, TurnStep};
use crate::domain::hex::hex;
use crate::domain::ids::{At, MessageId};
use crate::protocol::{Opened, QueueEdit, SessionCommand, TurnEnd};
use crate::routes::key::{AgentId, SessionKey};
use crate::routes::queue::{
    DropReason, QueueOverrides, QueueSettings, QueueStep, QueuedMessage, QueuedTurn, SessionQueue,
};
use crate::routes::row::SessionRow;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Reset that waits for the turn that runs.
#[derive(Debug)]
pub(super) struct PendingReset {
    pub taken: TakenMessage,
    pub by: At,
}

/// Conversation of a session key.
pub(super) struct Conversation {
    pub(super) hub: Arc<ChannelHub>,
    pub(super) agent: AgentId,
    pub(super) key: SessionKey,
    pub(super) queue: SessionQueue,
    /// Messages in the queue, by their ids there.
    waiting: BTreeMap<String, TakenMessage>,
    /// Turns that a death interrupted, by the ids in the queue that stand for them.
    interrupted: BTreeMap<String, ChannelTurn>,
    pub(super) running: Option<RunningTurn>,
    /// Row as it was found last.
    pub(super) row: Option<SessionRow>,
    pub(super) reset: Option<PendingReset>,
    channel: String,
    tick: Option<At>,
}

/// Hands something to the conversation of a key.
pub(super) fn hand(hub: &Arc<ChannelHub>, agent: &AgentId, key: &SessionKey, input: ConversationInput) {
    let (all, agent, own) = (hub.clone(), agent.clone(), key.clone());
    hub.conversations.post(key.as_str(), input, move |from| {
        let conversation = Conversation {
            hub: all,
            agent,
            key: own,
            queue: SessionQueue::default(),
            waiting: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            running: None,
            row: None,
            reset: None,
            channel: String::new(),
            tick: None,
        };
        tokio::spawn(conversation.run(from));
    });
}

async fn next_step(running: &mut Option<RunningTurn>) -> TurnStep {
    match running {
        Some(turn) => turn.next().await,
        None => std::future::pending().await,
    }
}

async fn until(tick: Option<At>) {
    match tick {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(now()))).await,
        None => std::future::pending().await,
    }
}

/// Id of a turn's message in the session: the same for the same messages, and for no others.
fn turn_id(messages: &[TakenMessage]) -> MessageId {
    let facts: Vec<_> = messages.iter().map(|taken| (taken.message.source(), &taken.message.id, taken.at)).collect();
    let hash = Sha256::digest(serde_json::to_vec(&facts).unwrap_or_default());
    MessageId::new(format!("in-{}", hex(&hash[..16])))
}

impl Conversation {
    async fn run(mut self, mut from: UnboundedReceiver<ConversationInput>) {
        let ending = self.hub.ending.clone();
        loop {
            tokio::select! {
                biased;
                // What is not done is done by the next gateway.
                () = ending.cancelled() => return,
                input = from.recv() => match input {
                    Some(input) => self.take(input).await,
                    None => return,
                },
                step = next_step(&mut self.running) => self.step(step).await,
                () = until(self.reset.as_ref().map(|reset| reset.by)) => self.reset_is_late().await,
                () = until(self.tick) => {
                    self.tick = None;
                    let steps = self.queue.tick(now(), &self.settings());
                    self.perform(steps).await;
                }
            }
            let idle = self.running.is_none() && self.tick.is_none() && self.queue.waiting().next().is_none();
            if idle && self.hub.conversations.retire(self.key.as_str(), &from) {
                return;
            }
        }
    }

    pub(super) fn settings(&self) -> QueueSettings {
        let row = self.row.as_ref().map(|row| QueueOverrides::of_row(&row.settings)).unwrap_or_default();
        QueueSettings::resolve(&QueueOverrides::default(), &row, &self.hub.settings.queue, Some(&self.channel))
    }

    async fn take(&mut self, input: ConversationInput) {
        match input {
            ConversationInput::Message(taken, None) => {
                let text = taken.message.text.clone();
                self.enqueue(*taken, &text).await;
            }
            ConversationInput::Message(taken, Some(command)) => self.command(*taken, *command).await,
            ConversationInput::Interrupted(turn) => {
                let id = turn.id.to_string();
                let message =
                    QueuedMessage { id: Some(id.clone()), text: turn.text.clone(), ..QueuedMessage::default() };
                self.interrupted.insert(id, *turn);
                let steps = self.queue.push(message, now(), &self.settings());
                self.perform(steps).await;
            }
        }
    }

    /// Puts a message into the queue, with this text.
    pub(super) async fn enqueue(&mut self, taken: TakenMessage, text: &str) {
        self.channel.clone_from(&taken.message.channel);
        let message = self.wait(taken, Some(text));
        let steps = self.queue.push(message, now(), &self.settings());
        self.perform(steps).await;
    }

    /// A message as the queue has it, with its own text or another.
    pub(super) fn wait(&mut self, taken: TakenMessage, text: Option<&str>) -> QueuedMessage {
        let id = taken.n.to_string();
        let message = &taken.message;
        let (target, text) = (message.target(), message.prompt(text.unwrap_or(&message.text)));
        self.waiting.insert(id.clone(), taken);
        QueuedMessage { id: Some(id), target, text, heartbeat: false }
    }

    /// Does what the queue says.
    pub(super) async fn perform(&mut self, steps: Vec<QueueStep>) {
        let mut steps = VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            match step {
                QueueStep::Start(turn) => {
                    if !self.start(turn).await {
                        steps.extend(self.queue.run_ended(Vec::new(), now(), &self.settings()));
                    }
                }
                QueueStep::Steer(message) => self.steer(message).await,
                QueueStep::Abort => self.stop().await,
                QueueStep::Wait { until } => self.tick = Some(until),
                QueueStep::Dropped(message, reason) => self.dropped(&message, reason).await,
            }
        }
    }

    /// A waiting message is done without an answer.
    pub(super) async fn drop_waiting(&mut self, message: &QueuedMessage, why: &str) {
        let Some(taken) = self.taken(message) else { return };
        self.log("dropped", &taken, why);
        self.hub.done(vec![taken.n], None).await;
    }

    fn taken(&mut self, message: &QueuedMessage) -> Option<TakenMessage> {
        self.waiting.remove(message.id.as_deref()?)
    }

    async fn dropped(&mut self, message: &QueuedMessage, reason: DropReason) {
        let why = match reason {
            DropReason::Duplicate => "came before",
            DropReason::Heartbeat => "heartbeat while busy",
            DropReason::Full => "queue full",
            DropReason::Summarised => "queue full, summarised",
            DropReason::Interrupted => "a newer message interrupted",
        };
        self.drop_waiting(message, why).await;
    }

    fn log(&self, what: &str, taken: &TakenMessage, why: &str) {
        let line = ChannelLogLine::of(what, &taken.message, why);
        self.hub.log.add(&ChannelLogLine { key: self.key.to_string(), ..line });
    }

    /// Starts a turn. False if none runs then.
    async fn start(&mut self, turn: QueuedTurn) -> bool {
        let first = turn.messages.first().and_then(|message| message.id.clone()).unwrap_or_default();
        if let Some(interrupted) = self.interrupted.remove(&first) {
            return self.go_on(interrupted).await;
        }
        let prompt = turn.prompt();
        let messages: Vec<TakenMessage> = turn.messages.iter().filter_map(|message| self.taken(message)).collect();
        if let Err(why) = self.begin(messages.clone(), prompt).await {
            self.failed(&messages, &why).await;
        }
        self.running.is_some()
    }

    /// Sends messages to their session.
    ///
    /// # Errors
    /// A sentence without its end.
    async fn begin(&mut self, messages: Vec<TakenMessage>, text: String) -> Result<(), String> {
        let Some(last) = messages.last().cloned() else { return Err("no message".to_owned()) };
        let finder = SessionFinder { hub: &self.hub, agent: &self.agent, key: &self.key, message: &last.message };
        let ChannelSession { client, opened, row } = finder.open(Restart::IfOver).await?;
        self.row = Some(row);
        let turn = ChannelTurn {
            id: turn_id(&messages),
            of: messages.iter().map(|taken| taken.n).collect(),
            key: self.key.to_string(),
            session: opened.meta.id.clone(),
            text,
        };
        // Before the session has it: after a death the same message goes to the same session.
        written(self.hub.ledger.begin(turn.clone())).await?;
        let running = RunningTurn::new(client, turn, messages, opened.meta.clone(), now());
        self.run_turn(running, &opened).await
    }

    /// Sends the message of a turn, or takes the turn up where the session has it already.
    ///
    /// # Errors
    /// A sentence without its end.
    async fn run_turn(&mut self, mut running: RunningTurn, opened: &Opened) -> Result<(), String> {
        let state = match send(&mut running).await {
            Ok(()) => TakenUp::Runs,
            Err(error) if error.is_duplicate() => running.take_up(opened).await,
            Err(error) => return Err(error.text().to_owned()),
        };
        let of = running.turn.of.clone();
        self.running = Some(running);
        match state {
            TakenUp::Runs => {}
            // Nothing was sent into it since.
            TakenUp::Ended => drop(self.end(TurnEnd::Done).await),
            TakenUp::Steered => {
                self.running = None;
                self.hub.done(of, None).await;
            }
        }
        Ok(())
    }

    /// Goes on with a turn that a death interrupted. False if none runs then.
    async fn go_on(&mut self, turn: ChannelTurn) -> bool {
        let messages: Vec<TakenMessage> =
            self.hub.ledger.look(|state| turn.of.iter().filter_map(|n| state.pending.get(n).cloned()).collect());
        let Some(last) = messages.last() else { return false };
        self.channel.clone_from(&last.message.channel);
        let opened = match self.hub.engine(&self.agent).await {
            Ok(engine) => {
                let mut client = super::engine_client::EngineClient::of(&engine, &self.channel);
                client.open(&turn.session).await.map(|opened| opened.map(|opened| (client, opened)))
            }
            Err(why) => Err(NotDone::Gone(why)),
        };
        let (client, opened) = match opened {
            Ok(Some(opened)) => opened,
            // The session was never written, or was deleted: the messages begin another one.
            Ok(None) => {
                let text = turn.text.clone();
                if let Err(why) = self.begin(messages.clone(), text).await {
                    self.failed(&messages, &why).await;
                }
                return self.running.is_some();
            }
            Err(error) => {
                self.failed(&messages, error.text()).await;
                return false;
            }
        };
        let running = RunningTurn::new(client, turn, messages.clone(), opened.meta.clone(), now());
        if let Err(why) = self.run_turn(running, &opened).await {
            self.failed(&messages, &why).await;
        }
        self.running.is_some()
    }

    /// Messages that no turn could be begun for.
    async fn failed(&mut self, messages: &[TakenMessage], why: &str) {
        if self.hub.ending.is_cancelled() {
            return;
        }
        let Some(last) = messages.last() else { return };
        self.log("failed", last, why);
        tracing::warn!(why, key = self.key.as_str(), "a message of a channel was not answered");
        let result = TurnResult { kind: ReplyKind::Error, text: Some(super::reply::FAILED.to_owned()), end: None };
        let of = messages.iter().map(|taken| taken.n).collect();
        let reply = finished(&self.hub, &self.agent, &self.key, messages, None, result).await;
        self.finish(of, last, reply).await;
    }

    async fn finish(&mut self, of: Vec<u64>, last: &TakenMessage, reply: Option<super::record::ChannelReply>) {
        if let Some(n) = self.hub.done(of, reply).await {
            deliver(&self.hub, &last.message.channel, n);
        }
    }

    /// Sends a message into the turn that runs. One that can't go there waits for the next.
    async fn steer(&mut self, message: QueuedMessage) {
        let Some(taken) = self.taken(&message) else { return };
        let Some(running) = &mut self.running else { return };
        let id = turn_id(std::slice::from_ref(&taken));
        let command = SessionCommand::Steer { text: message.text, attachments: Vec::new(), piped: Some(0) };
        let session = running.session.clone();
        match running.client.send(&session, command, id.clone()).await {
            Err(error) if !error.is_duplicate() => {
                let why = error.text().to_owned();
                self.failed(&[taken], &why).await;
            }
            Ok(_) | Err(_) => running.steered.push((id, taken)),
        }
    }

    /// Stops the turn that runs.
    pub(super) async fn stop(&mut self) {
        let Some(running) = &mut self.running else { return };
        let session = running.session.clone();
        if let Err(error) = running.client.session(&session, SessionCommand::Stop, None).await {
            tracing::warn!(error = error.text(), "can't stop a turn of a channel");
        }
    }

    async fn step(&mut self, step: TurnStep) {
        match step {
            TurnStep::Nothing => {}
            TurnStep::Streams => {
                let steps = self.queue.streaming(&self.settings());
                self.perform(steps).await;
            }
            TurnStep::Renamed => self.renamed().await,
            TurnStep::Ended(end) => {
                let mut missed = self.end(end).await;
                if let Some(PendingReset { taken, .. }) = self.reset.take() {
                    // What waits goes to the new conversation, behind its first prompt.
                    missed.splice(0..0, self.reset(taken).await);
                }
                let steps = self.queue.run_ended(missed, now(), &self.settings());
                self.perform(steps).await;
            }
            TurnStep::Gone => {
                let Some(running) = self.running.take() else { return };
                // Its engine ended, and the next gateway goes on with it; or the line to it was cut.
                if !self.hub.ending.is_cancelled() && !self.go_on(running.turn).await {
                    let steps = self.queue.run_ended(Vec::new(), now(), &self.settings());
                    self.perform(steps).await;
                }
            }
        }
    }

    /// The session has another id: the row says so.
    async fn renamed(&mut self) {
        let Some(running) = &mut self.running else { return };
        running.turn.session = running.session.clone();
        let turn = running.turn.clone();
        let (hub, agent, key, session) =
            (self.hub.clone(), self.agent.clone(), self.key.clone(), running.session.clone());
        let edit = move |rows: &mut crate::routes::store::RouteRows| {
            if let Some(mut row) = super::channel_session::readable_row(rows, &key, &agent, &hub) {
                row.conversation.session_id = session;
                super::channel_session::put_row(rows, &key, &row, &[]);
            }
        };
        if let Err(error) = self.hub.rows.edit(&self.hub.store(&self.agent), edit).await {
            tracing::error!(error, "can't note the new id of a session");
        }
        if let Err(error) = written(self.hub.ledger.begin(turn)).await {
            tracing::error!(error, "can't note the new id of a session");
        }
    }

    /// The turn ended: its answer goes out. Returns messages that were sent into it too late.
    async fn end(&mut self, end: TurnEnd) -> Vec<QueuedMessage> {
        let Some(mut running) = self.running.take() else { return Vec::new() };
        let mut missed = Vec::new();
        for (id, taken) in running.untaken() {
            let session = running.session.clone();
            let remove = SessionCommand::Queue(QueueEdit::Remove { id });
            // After /stop nothing waits.
            if running.client.session(&session, remove, None).await.is_ok() && !running.stopped {
                missed.push(taken);
            }
        }
        let failed = matches!(end, TurnEnd::Failed | TurnEnd::Limit);
        let text = match end {
            TurnEnd::Done | TurnEnd::Plan => running.answer().map(str::to_owned),
            TurnEnd::Stopped => None,
            TurnEnd::Failed | TurnEnd::Limit => Some(super::reply::FAILED.to_owned()),
        };
        let kind = if failed { ReplyKind::Error } else { ReplyKind::Answer };
        let steered = running.steered.iter().map(|(_, taken)| taken.n).filter(|n| missed.iter().all(|one| one.n != *n));
        let of: Vec<u64> = running.messages.iter().map(|taken| taken.n).chain(steered).collect();
        let result = TurnResult { kind, text, end: Some(end) };
        let messages = running.messages.clone();
        let reply = finished(&self.hub, &self.agent, &self.key, &messages, Some(&running), result).await;
        if let Some(last) = messages.last() {
            if failed {
                self.log("failed", last, "the turn failed");
            }
            self.finish(of, last, reply).await;
        }
        missed.into_iter().map(|taken| self.wait(taken, None)).collect()
    }
}

async fn send(running: &mut RunningTurn) -> Result<(), NotDone> {
    // All of it is another person's text: hosts that it names open nothing.
    let command = SessionCommand::Send { text: running.turn.text.clone(), attachments: Vec::new(), piped: Some(0) };
    let (session, id) = (running.session.clone(), running.turn.id.clone());
    running.client.send(&session, command, id).await
}
