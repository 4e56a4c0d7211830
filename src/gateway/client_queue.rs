//! Events on their way to one client: numbered, sent in order, and kept for a while after they were sent, so that a client that
//! lost its line goes on where it was.
//!
//! Events are shared with the session's ring and with other clients, and become bytes when they are sent: a hundred clients
//! hold a text once.

use super::frame;
use super::methods::{self, EngineNewsRef};
use crate::agent::weight_of;
use crate::protocol::Stamped;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Bytes that wait to be sent before the engine is read on: from there its own limits for slow clients count.
pub(super) const FULL: usize = 256 << 10;

/// Bytes of sent events that are kept.
const KEPT: usize = 2 << 20;

/// Message to a client.
#[derive(Clone, Debug)]
pub(super) enum QueuedFrame {
    /// Event of the engine of a workspace.
    Event(Arc<Path>, Arc<Stamped>),
    /// Reply, as it is written.
    Reply(Arc<[u8]>),
}

impl QueuedFrame {
    /// Bytes that it is counted as.
    fn weight(&self) -> usize {
        match self {
            Self::Event(_, stamped) => weight_of(stamped),
            Self::Reply(line) => line.len(),
        }
    }

    /// The line that is sent. `seq`: its number on the connection.
    pub fn line(&self, seq: u64) -> Vec<u8> {
        match self {
            Self::Event(workspace, stamped) => {
                frame::event(methods::EVENT, &EngineNewsRef { workspace, stamped }, Some(seq))
            }
            Self::Reply(line) => line.to_vec(),
        }
    }
}

/// Events of one client.
#[derive(Debug, Default)]
pub(super) struct ClientQueue {
    /// Frames with their weights.
    frames: VecDeque<(QueuedFrame, usize)>,
    /// Number of the first one in `frames`, less one.
    before: u64,
    /// Number of the last one that was sent.
    sent: u64,
    unsent_bytes: usize,
    sent_bytes: usize,
    /// Connection that takes from it; an older one that has not ended yet gets nothing.
    connection: u64,
}

impl ClientQueue {
    /// Adds a frame behind the others.
    pub fn push(&mut self, frame: QueuedFrame) {
        let weight = frame.weight();
        self.unsent_bytes += weight;
        self.frames.push_back((frame, weight));
    }

    /// So much waits that the engine is not to be read on.
    pub fn is_full(&self) -> bool {
        self.unsent_bytes >= FULL
    }

    /// From now on this connection takes.
    pub fn belongs_to(&mut self, connection: u64) {
        self.connection = connection;
    }

    /// The next frame to send over a connection, with its number.
    pub fn take(&mut self, connection: u64) -> Option<(u64, QueuedFrame)> {
        if connection != self.connection {
            return None;
        }
        let at = usize::try_from(self.sent - self.before).unwrap_or(usize::MAX);
        let (frame, weight) = self.frames.get(at)?.clone();
        self.sent += 1;
        self.unsent_bytes -= weight;
        self.sent_bytes += weight;
        let number = self.sent;
        while self.sent_bytes > KEPT && self.before < self.sent {
            self.forget_first();
        }
        Some((number, frame))
    }

    /// The client has all events up to this one.
    pub fn seen(&mut self, seq: u64) {
        while self.before < seq.min(self.sent) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, weight)) = self.frames.pop_front() {
            self.sent_bytes -= weight;
            self.before += 1;
        }
    }

    /// Goes back to what follows the event that a client saw last. False if that is gone, or never was.
    pub fn resume(&mut self, seq: u64) -> bool {
        if seq < self.before || seq > self.sent {
            return false;
        }
        self.seen(seq);
        self.sent = self.before;
        self.unsent_bytes += std::mem::take(&mut self.sent_bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reply(bytes: impl Into<Vec<u8>>) -> QueuedFrame {
        QueuedFrame::Reply(bytes.into().into())
    }

    fn number(frame: &QueuedFrame) -> u64 {
        String::from_utf8_lossy(&frame.line(0)).parse().unwrap()
    }

    proptest! {
        /// Whatever is lost on the way, a client that resumes gets every event once and in order.
        #[test]
        fn nothing_is_missing_and_nothing_comes_twice(
            steps in proptest::collection::vec((0usize..6, 0usize..6, any::<bool>(), any::<bool>()), 1..60)
        ) {
            let mut queue = ClientQueue::default();
            let (mut made, mut seen): (u64, Vec<u64>) = (0, Vec::new());
            for (new, sent, lost, tells) in steps {
                for _ in 0..new {
                    made += 1;
                    queue.push(reply(made.to_string()));
                }
                for n in 0..sent {
                    let Some((seq, frame)) = queue.take(0) else { break };
                    prop_assert_eq!(seq, number(&frame));
                    // From here on all that is written is lost with the line.
                    if !(lost && n >= sent / 2) {
                        seen.push(number(&frame));
                    }
                }
                if lost {
                    prop_assert!(queue.resume(seen.len() as u64));
                } else if tells {
                    queue.seen(seen.len() as u64);
                }
            }
            while let Some((_, frame)) = queue.take(0) {
                seen.push(number(&frame));
            }
            prop_assert_eq!(seen, (1..=made).collect::<Vec<_>>());
        }
    }

    #[test]
    fn clients_share_an_event() {
        use crate::protocol::{EngineEvent, Event};
        let stamped = Arc::new(Stamped::new(1, Event::Engine(EngineEvent::Ended)));
        let workspace: Arc<Path> = Path::new("/w").into();
        let mut queues: Vec<ClientQueue> = (0..3).map(|_| ClientQueue::default()).collect();
        queues.iter_mut().for_each(|queue| queue.push(QueuedFrame::Event(workspace.clone(), stamped.clone())));
        assert_eq!(Arc::strong_count(&stamped), 4);
        let lines: Vec<String> = queues
            .iter_mut()
            .map(|queue| queue.take(0).map(|(seq, frame)| String::from_utf8(frame.line(seq)).unwrap()).unwrap())
            .collect();
        assert!(lines[0].contains("\"seq\":1") && lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    }

    #[test]
    fn what_was_sent_long_ago_is_forgotten_and_said() {
        let mut queue = ClientQueue::default();
        for _ in 0..4 {
            queue.push(reply(vec![b'x'; KEPT / 2 + 1]));
        }
        assert!(queue.is_full());
        while queue.take(0).is_some() {}
        assert!(!queue.is_full() && queue.frames.len() == 1);
        assert!(!queue.resume(1) && !queue.resume(5), "gone, and not there yet");
        assert!(queue.resume(3));
        assert!(queue.take(0).is_some() && queue.take(0).is_none());
    }
}
