//! Last events of a session that is live, for clients that lost their line.

use super::hub::weight_of;
use crate::protocol::Stamped;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of events that are kept.
const EVENTS: usize = 1000;
/// Bytes of the events that are kept.
const BYTES: usize = 4 << 20;

/// Last events of a session, in order and without a gap. The bytes are shared with the queues of clients.
#[derive(Debug, Default)]
pub(super) struct Ring {
    events: VecDeque<(Arc<Stamped>, usize)>,
    bytes: usize,
}

impl Ring {
    /// Keeps an event, and drops the oldest where there are too many.
    pub(super) fn push(&mut self, stamped: Arc<Stamped>) {
        let bytes = weight_of(&stamped);
        self.events.push_back((stamped, bytes));
        self.bytes += bytes;
        while self.events.len() > EVENTS || self.bytes > BYTES {
            let Some((_, bytes)) = self.events.pop_front() else { return };
            self.bytes -= bytes;
        }
    }

    /// Events after the one of this number, where all of them are kept; `last` is the number of the newest event that was sent.
    pub(super) fn after(&self, seq: u64, last: u64) -> Option<Vec<Arc<Stamped>>> {
        let missed = usize::try_from(last.checked_sub(seq)?).ok()?;
        let skip = self.events.len().checked_sub(missed)?;
        Some(self.events.iter().skip(skip).map(|(stamped, _)| stamped.clone()).collect())
    }

    /// Drops all events.
    pub(super) fn clear(&mut self) {
        (self.events, self.bytes) = (VecDeque::new(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MessageId, SessionId};
    use crate::protocol::{Event, SessionEvent};
    use proptest::prelude::*;

    fn delta(seq: u64, add: &str) -> Arc<Stamped> {
        let event = SessionEvent::Delta { id: MessageId::new("m"), add: add.to_owned() };
        Arc::new(Stamped::new(seq, Event::Session { id: SessionId::parse("260101-a-b").unwrap(), event }))
    }

    proptest! {
        #[test]
        fn what_comes_after_a_cut_is_complete_or_refused(sent in 0_u64..2500, cut in 0_u64..2600) {
            let mut ring = Ring::default();
            (1..=sent).for_each(|seq| ring.push(delta(seq, "x")));
            let numbers = ring.after(cut, sent).map(|all| all.iter().map(|stamped| stamped.seq).collect::<Vec<_>>());
            let kept = cut <= sent && sent - cut <= EVENTS as u64;
            prop_assert_eq!(numbers, kept.then(|| (cut + 1..=sent).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn bytes_are_bounded() {
        let mut ring = Ring::default();
        let megabyte = "x".repeat(1 << 20);
        (1..=10).for_each(|seq| ring.push(delta(seq, &megabyte)));
        assert!(ring.bytes <= BYTES && ring.events.len() == 3, "{} events", ring.events.len());
        assert!(ring.after(6, 10).is_none());
        assert_eq!(ring.after(7, 10).map(|all| all.len()), Some(3));
    }
}
