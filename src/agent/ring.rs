//! Last events of a session that is live, for clients that lost their line.

use super::hub::weight_of;
use crate::domain::MessageId;
use crate::protocol::{Event, SessionEvent, Stamped};
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of events that are kept.
const EVENTS: usize = 1000;
/// Bytes of the events that are kept.
const BYTES: usize = 4 << 20;

/// Bytes of a row from which it is not kept: a snapshot tells it as well, and an answer would be in memory once more.
const LARGE_ROW: usize = 64 << 10;

/// Event that is kept.
#[derive(Debug)]
struct RingEntry {
    stamped: Arc<Stamped>,
    bytes: usize,
    /// Number of events before it that a later one made needless.
    needless: u64,
}

impl RingEntry {
    /// Number of the event that has to come before it.
    fn after(&self) -> u64 {
        self.stamped.after().saturating_sub(self.needless)
    }

    /// The event for a client that has all up to `seq`, which is not before [`RingEntry::after`].
    fn stamped_after(&self, seq: u64) -> Arc<Stamped> {
        if self.stamped.after() == seq {
            return self.stamped.clone();
        }
        let merged = self.stamped.seq.saturating_sub(seq + 1);
        Arc::new(Stamped { merged, ..(*self.stamped).clone() })
    }
}

/// Row that an event is about, with what was sent of it before no longer being of use.
fn replaced_row(stamped: &Stamped) -> Option<&MessageId> {
    match &stamped.event {
        Event::Session { event: SessionEvent::Row(row), .. } => Some(&row.id),
        Event::Session { event: SessionEvent::Dropped { id }, .. } => Some(id),
        Event::Session { .. } | Event::Engine(_) => None,
    }
}

/// Row of which an event tells a piece. Earlier states of a row stay: they say where it stands among the others.
fn piece_of(stamped: &Stamped) -> Option<&MessageId> {
    match &stamped.event {
        Event::Session { event: SessionEvent::Delta { id, .. }, .. } => Some(id),
        Event::Session { .. } | Event::Engine(_) => None,
    }
}

/// Last events of a session, in order. The bytes are shared with the queues of clients. Pieces of a row are dropped once the
/// whole row came: whoever missed them gets the row, which says how many events it holds ([`Stamped::merged`]).
#[derive(Debug, Default)]
pub(super) struct Ring {
    events: VecDeque<RingEntry>,
    bytes: usize,
}

impl Ring {
    /// Keeps an event, and drops the oldest where there are too many.
    pub(super) fn push(&mut self, stamped: Arc<Stamped>) {
        let bytes = weight_of(&stamped);
        let replaces = replaced_row(&stamped).cloned();
        let is_large = replaces.is_some() && bytes > LARGE_ROW;
        self.events.push_back(RingEntry { stamped, bytes, needless: 0 });
        self.bytes += bytes;
        if is_large {
            return self.clear();
        }
        if let Some(row) = replaces {
            self.drop_pieces_of(&row);
        }
        while self.events.len() > EVENTS || self.bytes > BYTES {
            let Some(entry) = self.events.pop_front() else { return };
            self.bytes -= entry.bytes;
        }
    }

    /// Drops what the last event replaces.
    fn drop_pieces_of(&mut self, row: &MessageId) {
        let last = self.events.len().saturating_sub(1);
        if self.events.iter().take(last).all(|entry| piece_of(&entry.stamped) != Some(row)) {
            return;
        }
        let mut needless = 0;
        let mut kept = VecDeque::with_capacity(self.events.len());
        for (at, mut entry) in self.events.drain(..).enumerate() {
            if at < last && piece_of(&entry.stamped) == Some(row) {
                self.bytes -= entry.bytes;
                needless += entry.needless + entry.stamped.merged + 1;
                continue;
            }
            entry.needless += std::mem::take(&mut needless);
            kept.push_back(entry);
        }
        self.events = kept;
    }

    /// Events after the one of this number, where all of them are kept; `last` is the number of the newest event that was sent.
    pub(super) fn after(&self, seq: u64, last: u64) -> Option<Vec<Arc<Stamped>>> {
        if seq >= last {
            return (seq == last).then(Vec::new);
        }
        let first = self.events.iter().position(|entry| entry.stamped.seq > seq)?;
        let mut missed = self.events.iter().skip(first);
        let (next, mut have) = (missed.next()?, seq);
        if next.after() > seq {
            return None;
        }
        let mut out = Vec::with_capacity(self.events.len() - first);
        for entry in std::iter::once(next).chain(missed) {
            out.push(entry.stamped_after(have));
            have = entry.stamped.seq;
        }
        Some(out)
    }

    /// Drops all events.
    pub(super) fn clear(&mut self) {
        (self.events, self.bytes) = (VecDeque::new(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::message::{Body, Message, UserText};
    use crate::domain::{At, SessionId};
    use proptest::prelude::*;

    fn delta(seq: u64, add: &str) -> Arc<Stamped> {
        event(seq, SessionEvent::Delta { id: MessageId::new("m"), add: add.to_owned() })
    }

    fn event(seq: u64, event: SessionEvent) -> Arc<Stamped> {
        Arc::new(Stamped::new(seq, Event::Session { id: SessionId::parse("260101-a-b").unwrap(), event }))
    }

    fn row(seq: u64, id: &str, text: &str) -> Arc<Stamped> {
        let row = Message::new(MessageId::new(id), At(1), Body::User(UserText::from(text)));
        event(seq, SessionEvent::Row(Box::new(row)))
    }

    /// Rows as a client has them after these events.
    fn rows(rows: &mut Vec<(String, String)>, stamped: &Stamped) {
        let place =
            |rows: &Vec<(String, String)>, id: &MessageId| rows.iter().position(|(known, _)| known == id.as_str());
        match &stamped.event {
            Event::Session { event: SessionEvent::Row(row), .. } => {
                let Body::User(said) = &row.body else { panic!() };
                match place(rows, &row.id) {
                    Some(at) => rows[at].1.clone_from(&said.text),
                    None => rows.push((row.id.to_string(), said.text.clone())),
                }
            }
            Event::Session { event: SessionEvent::Delta { id, add }, .. } => {
                let at = place(rows, id).unwrap();
                rows[at].1.push_str(add);
            }
            Event::Session { event: SessionEvent::Dropped { id }, .. } => {
                rows.retain(|(known, _)| known != id.as_str());
            }
            _ => {}
        }
    }

    proptest! {
        /// Whoever comes back at any point has, with what is sent then, the rows of one who missed nothing.
        #[test]
        fn rows_are_the_same_for_whoever_missed_a_part(
            steps in proptest::collection::vec((0_usize..10, 0_usize..3), 1..80), cut in 0_usize..80
        ) {
            let mut ring = Ring::default();
            let (mut whole, mut part) = (Vec::new(), Vec::new());
            let cut = cut.min(steps.len()) as u64;
            for (seq, (what, id)) in (1_u64..).zip(&steps) {
                let id = ["a", "b", "c"][*id];
                let stamped = match what {
                    0..6 if whole.iter().all(|(known, _)| known != id) => row(seq, id, ""),
                    0..6 => event(seq, SessionEvent::Delta { id: MessageId::new(id), add: format!("{seq} ") }),
                    6 | 7 => row(seq, id, &format!("row {seq} ")),
                    8 => event(seq, SessionEvent::Dropped { id: MessageId::new(id) }),
                    _ => event(seq, SessionEvent::Compacting { part: 1, of: 1 }),
                };
                rows(&mut whole, &stamped);
                if seq <= cut {
                    rows(&mut part, &stamped);
                }
                ring.push(stamped);
            }
            let last = steps.len() as u64;
            let missed = ring.after(cut, last);
            prop_assert!(missed.is_some(), "nothing was too old");
            let mut have = cut;
            for stamped in missed.unwrap_or_default() {
                prop_assert_eq!(stamped.after(), have);
                have = stamped.seq;
                rows(&mut part, &stamped);
            }
            prop_assert_eq!((have, part), (last, whole));
        }

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

    #[test]
    fn pieces_go_once_the_row_is_there_and_a_large_row_is_left_to_snapshots() {
        let mut ring = Ring::default();
        (1..=500).for_each(|seq| ring.push(delta(seq, "text ")));
        ring.push(row(501, "m", "the whole text"));
        assert_eq!(ring.events.len(), 1);
        let missed = ring.after(17, 501).unwrap();
        assert_eq!((missed.len(), missed[0].after(), missed[0].seq), (1, 17, 501));
        ring.push(row(502, "n", &"x".repeat(LARGE_ROW)));
        assert!(ring.after(501, 502).is_none() && ring.after(17, 502).is_none() && ring.bytes == 0);
        assert_eq!(ring.after(502, 502).map(|all| all.len()), Some(0));
        ring.push(delta(503, "more"));
        assert_eq!(ring.after(502, 503).map(|all| all.len()), Some(1));
        assert!(ring.after(501, 503).is_none());
    }
}
