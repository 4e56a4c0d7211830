//! Queue of a session: what becomes of messages that arrive while a turn runs.
//!
//! A state machine: messages, ends of turns and time go in, steps come out. Running turns and timers are the caller's.
//!
//! Invariants: each message is started, steered, waiting or reported as dropped; messages keep their order; at most one
//! turn runs.

mod settings;
#[cfg(test)]
mod tests;

pub use settings::{QueueOverrides, QueueSettings};

use super::config::{QueueDrop, QueueMode};
use crate::domain::ids::At;
use std::collections::VecDeque;

/// Characters of a dropped message that its line keeps.
const LINE: usize = 160;
/// Lines of dropped messages that a turn gets; the count goes on.
const LINES: usize = 20;
/// Message ids that are remembered.
const RECENT: usize = 1000;

/// Message to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedMessage {
    /// Id on its channel.
    pub id: Option<String>,
    /// Channel, account, chat and thread that the reply goes to. Messages of different targets are never merged.
    pub target: String,
    /// Text.
    pub text: String,
    /// Not a person's message: dropped while the session is busy.
    pub heartbeat: bool,
}

/// Messages that a full queue dropped, for the next turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Number of messages.
    pub dropped: u64,
    /// A line of each of the last ones.
    pub lines: Vec<String>,
}

/// Turn to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedTurn {
    /// Messages, at least one, all of one target.
    pub messages: Vec<QueuedMessage>,
    /// Messages dropped before.
    pub overflow: Overflow,
}

/// Reason why a message is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The same id and target came before.
    Duplicate,
    /// A heartbeat while the session is busy.
    Heartbeat,
    /// The queue is full.
    Full,
    /// The queue is full; the next turn gets a line of it.
    Summarised,
    /// A newer message interrupted.
    Interrupted,
}

/// Step for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueStep {
    /// Start a turn.
    Start(QueuedTurn),
    /// Give a message to the running turn.
    Steer(QueuedMessage),
    /// Abort the running turn.
    Abort,
    /// Call [`SessionQueue::tick`] at this time.
    Wait {
        /// Time.
        until: At,
    },
    /// Report a message as dropped.
    Dropped(QueuedMessage, DropReason),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RunPhase {
    #[default]
    Idle,
    Started,
    Streaming,
    Aborting,
}

/// Queue of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionQueue {
    waiting: VecDeque<QueuedMessage>,
    overflow: Overflow,
    phase: RunPhase,
    last_message: Option<At>,
    recent: VecDeque<(String, String)>,
    /// The next turn does not wait for quiet.
    urgent: bool,
    /// Target of the turn that runs: its answer goes there.
    running: Option<String>,
}

impl SessionQueue {
    /// Waiting messages, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.waiting.iter()
    }

    /// Tells if a turn runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.phase != RunPhase::Idle
    }

    /// Takes a message.
    pub fn push(&mut self, message: QueuedMessage, now: At, settings: &QueueSettings) -> Vec<QueueStep> {
        let busy = self.is_running() || !self.waiting.is_empty();
        if self.is_known(&message) {
            return vec![QueueStep::Dropped(message, DropReason::Duplicate)];
        }
        if message.heartbeat && busy {
            return vec![QueueStep::Dropped(message, DropReason::Heartbeat)];
        }
        self.remember(&message);
        if !busy {
            return vec![self.start(vec![message])];
        }
        let mut steps = Vec::new();
        match (settings.mode, self.phase) {
            (QueueMode::Interrupt, _) => self.interrupt(message, &mut steps),
            // An older message that waits goes first.
            (QueueMode::Steer, RunPhase::Streaming) if self.waiting.is_empty() && self.answers(&message) => {
                steps.push(QueueStep::Steer(message));
            }
            (QueueMode::SteerBacklog, RunPhase::Streaming) if self.answers(&message) => {
                steps.push(QueueStep::Steer(message.clone()));
                self.enqueue(message, now, settings, &mut steps);
            }
            (QueueMode::Steer | QueueMode::Followup | QueueMode::Collect | QueueMode::SteerBacklog, _) => {
                self.enqueue(message, now, settings, &mut steps);
            }
        }
        steps.extend(self.drain(now, settings));
        steps
    }

    /// The running turn began to stream, so that it can take messages. Those that wait in mode `steer` go in.
    pub fn streaming(&mut self, settings: &QueueSettings) -> Vec<QueueStep> {
        if self.phase != RunPhase::Started {
            return Vec::new();
        }
        self.phase = RunPhase::Streaming;
        if settings.mode == QueueMode::Steer {
            let count = self.waiting.iter().take_while(|message| self.answers(message)).count();
            self.waiting.drain(..count).map(QueueStep::Steer).collect()
        } else {
            Vec::new()
        }
    }

    /// The running turn ended. `missed` are steered messages that it did not take; they go first. None after `/stop`.
    pub fn run_ended(&mut self, missed: Vec<QueuedMessage>, now: At, settings: &QueueSettings) -> Vec<QueueStep> {
        self.phase = RunPhase::Idle;
        for message in missed.into_iter().rev() {
            let has_copy = settings.mode == QueueMode::SteerBacklog && self.waiting.contains(&message);
            if !has_copy {
                self.waiting.push_front(message);
            }
        }
        self.drain(now, settings).into_iter().collect()
    }

    /// Time has come that a step named.
    pub fn tick(&mut self, now: At, settings: &QueueSettings) -> Vec<QueueStep> {
        self.drain(now, settings).into_iter().collect()
    }

    /// Empties the queue, as `/stop` does, and returns what waited. A running turn stays until its end is reported.
    pub fn clear(&mut self) -> Vec<QueuedMessage> {
        self.overflow = Overflow::default();
        self.urgent = false;
        self.waiting.drain(..).collect()
    }

    fn interrupt(&mut self, message: QueuedMessage, steps: &mut Vec<QueueStep>) {
        steps.extend(self.clear().into_iter().map(|old| QueueStep::Dropped(old, DropReason::Interrupted)));
        self.waiting.push_back(message);
        self.urgent = true;
        if matches!(self.phase, RunPhase::Started | RunPhase::Streaming) {
            self.phase = RunPhase::Aborting;
            steps.push(QueueStep::Abort);
        }
    }

    fn enqueue(&mut self, message: QueuedMessage, now: At, settings: &QueueSettings, steps: &mut Vec<QueueStep>) {
        self.last_message = Some(now);
        let cap = settings.cap.map(|cap| usize::try_from(cap).unwrap_or(usize::MAX).max(1));
        while cap.is_some_and(|cap| self.waiting.len() >= cap) {
            if settings.drop == QueueDrop::New {
                steps.push(QueueStep::Dropped(message, DropReason::Full));
                return;
            }
            let Some(oldest) = self.waiting.pop_front() else { break };
            if settings.drop == QueueDrop::Summarize {
                self.overflow.add(&oldest.text);
                steps.push(QueueStep::Dropped(oldest, DropReason::Summarised));
            } else {
                steps.push(QueueStep::Dropped(oldest, DropReason::Full));
            }
        }
        self.waiting.push_back(message);
    }

    /// Starts what waits, if no turn runs and nobody wrote for the debounce time.
    fn drain(&mut self, now: At, settings: &QueueSettings) -> Option<QueueStep> {
        let first = self.waiting.front().filter(|_| !self.is_running())?;
        // A clock that jumped backwards must not lengthen the wait.
        self.last_message = self.last_message.map(|last| last.min(now));
        let due = self.last_message.map_or(now, |last| last.plus(settings.debounce_ms));
        if !self.urgent && now < due {
            return Some(QueueStep::Wait { until: due });
        }
        let count = match settings.mode {
            QueueMode::Collect => self.waiting.iter().take_while(|one| one.target == first.target).count(),
            QueueMode::Steer | QueueMode::Followup | QueueMode::SteerBacklog | QueueMode::Interrupt => 1,
        };
        let messages = self.waiting.drain(..count).collect();
        self.urgent = false;
        Some(self.start(messages))
    }

    /// True if the answer of the running turn goes where this message came from.
    fn answers(&self, message: &QueuedMessage) -> bool {
        self.running.as_ref() == Some(&message.target)
    }

    fn start(&mut self, messages: Vec<QueuedMessage>) -> QueueStep {
        self.phase = RunPhase::Started;
        self.running = messages.first().map(|first| first.target.clone());
        QueueStep::Start(QueuedTurn { messages, overflow: std::mem::take(&mut self.overflow) })
    }

    fn is_known(&self, message: &QueuedMessage) -> bool {
        let same = |id: &String| self.recent.iter().any(|known| known.0 == *id && known.1 == message.target);
        message.id.as_ref().is_some_and(same)
    }

    fn remember(&mut self, message: &QueuedMessage) {
        let Some(id) = &message.id else { return };
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((id.clone(), message.target.clone()));
    }
}

impl Overflow {
    fn add(&mut self, text: &str) {
        self.dropped = self.dropped.saturating_add(1);
        if self.lines.len() >= LINES {
            self.lines.remove(0);
        }
        self.lines.push(one_line(text));
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= LINE {
        return line;
    }
    line.chars().take(LINE - 1).chain(['…']).collect()
}

impl QueuedTurn {
    /// Prompt of the turn: one message as it is, several as numbered blocks, with what was dropped before them.
    #[must_use]
    pub fn prompt(&self) -> String {
        let mut blocks = Vec::new();
        if self.overflow.dropped > 0 {
            let lines = self.overflow.lines.iter().map(|line| format!("\n- {line}"));
            let count = self.overflow.dropped;
            let noun = if count == 1 { "message" } else { "messages" };
            blocks.push(format!("[Queue overflow] Dropped {count} {noun} due to cap.{}", lines.collect::<String>()));
        }
        match self.messages.as_slice() {
            [only] => blocks.push(only.text.clone()),
            several => {
                blocks.push("[Queued messages while agent was busy]".to_owned());
                let block =
                    |(index, message): (usize, &QueuedMessage)| format!("---\nQueued #{}\n{}", index + 1, message.text);
                blocks.extend(several.iter().enumerate().map(block));
            }
        }
        blocks.join("\n\n")
    }
}
