//! Events on their way to one client: numbered, sent in order, and kept for a while after they were sent, so that a client that
//! lost its line goes on where it was.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes that wait to be sent before the engine is read on: from there its own limits for slow clients count.
pub(super) const FULL: usize = 256 << 10;

/// Bytes of sent events that are kept.
const KEPT: usize = 2 << 20;

/// Events of one client.
#[derive(Debug, Default)]
pub(super) struct ClientQueue {
    frames: VecDeque<Arc<Vec<u8>>>,
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
    /// Number of the next event.
    pub fn next_seq(&self) -> u64 {
        self.before + self.frames.len() as u64 + 1
    }

    /// Adds the event that has [`ClientQueue::next_seq`].
    pub fn push(&mut self, frame: Vec<u8>) {
        self.unsent_bytes += frame.len();
        self.frames.push_back(Arc::new(frame));
    }

    /// So much waits that the engine is not to be read on.
    pub fn is_full(&self) -> bool {
        self.unsent_bytes >= FULL
    }

    /// From now on this connection takes.
    pub fn belongs_to(&mut self, connection: u64) {
        self.connection = connection;
    }

    /// The next event to send over a connection.
    pub fn take(&mut self, connection: u64) -> Option<Arc<Vec<u8>>> {
        if connection != self.connection {
            return None;
        }
        let at = usize::try_from(self.sent - self.before).unwrap_or(usize::MAX);
        let frame = self.frames.get(at)?.clone();
        self.sent += 1;
        self.unsent_bytes -= frame.len();
        self.sent_bytes += frame.len();
        while self.sent_bytes > KEPT && self.before < self.sent {
            self.forget_first();
        }
        Some(frame)
    }

    /// The client has all events up to this one.
    pub fn seen(&mut self, seq: u64) {
        while self.before < seq.min(self.sent) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(frame) = self.frames.pop_front() {
            self.sent_bytes -= frame.len();
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
                    prop_assert_eq!(queue.next_seq(), made);
                    queue.push(made.to_string().into_bytes());
                }
                for n in 0..sent {
                    let Some(frame) = queue.take(0) else { break };
                    // From here on all that is written is lost with the line.
                    if !(lost && n >= sent / 2) {
                        seen.push(String::from_utf8_lossy(&frame).parse().unwrap());
                    }
                }
                if lost {
                    prop_assert!(queue.resume(seen.len() as u64));
                } else if tells {
                    queue.seen(seen.len() as u64);
                }
            }
            while let Some(frame) = queue.take(0) {
                seen.push(String::from_utf8_lossy(&frame).parse().unwrap());
            }
            prop_assert_eq!(seen, (1..=made).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_was_sent_long_ago_is_forgotten_and_said() {
        let mut queue = ClientQueue::default();
        for _ in 0..4 {
            queue.push(vec![b'x'; KEPT / 2 + 1]);
        }
        assert!(queue.is_full());
        while queue.take(0).is_some() {}
        assert!(!queue.is_full() && queue.frames.len() == 1);
        assert!(!queue.resume(1) && !queue.resume(5), "gone, and not there yet");
        assert!(queue.resume(3));
        assert!(queue.take(0).is_some() && queue.take(0).is_none());
    }
}
