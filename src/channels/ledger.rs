//! State of the channels with its journal: each change is applied and sent to the disk in one step, so that both have the
//! same order.

use super::journal::{self, Journal, Written};
use super::message::InboundMessage;
use super::record::{ChannelRecord, ChannelReply, ChannelState, ChannelTurn, TakenMessage};
use crate::domain::ids::At;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes after which the file is begun again.
const LONG: usize = 32 << 20;
/// Most messages that are not done, and most bytes of their texts: more are refused for the moment.
const MOST_PENDING: usize = 100_000;
const MOST_BYTES: usize = 256 << 20;

#[derive(Debug)]
struct LedgerState {
    state: ChannelState,
    /// Bytes since the file was begun.
    bytes: usize,
    /// Bytes with which it was begun.
    begun: usize,
}

/// State with its journal.
#[derive(Debug)]
pub(super) struct Ledger {
    inner: Mutex<LedgerState>,
    journal: Journal,
}

/// Result of taking a message.
#[derive(Debug)]
pub(super) enum Taking {
    /// It is new; it counts once it is written.
    New(Box<TakenMessage>, Written),
    /// It came before; the first one counts once this is written.
    Duplicate(Written),
    /// Too many messages wait.
    Full,
}

pub(super) async fn written(written: Written) -> Result<(), String> {
    written.await.unwrap_or_else(|_| Err("the journal of channels has ended".to_owned()))
}

impl Ledger {
    /// Reads a journal and begins it again.
    pub fn open(path: PathBuf, now: At) -> io::Result<Self> {
        let mut state = ChannelState::default();
        journal::read(&path)?.iter().for_each(|record| state.apply(record));
        let journal = Journal::open(path, &state.records(now))?;
        Ok(Self { inner: Mutex::new(LedgerState { state, bytes: 0, begun: 0 }), journal })
    }

    fn inner(&self) -> MutexGuard<'_, LedgerState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the state.
    pub fn look<T>(&self, look: impl FnOnce(&ChannelState) -> T) -> T {
        look(&self.inner().state)
    }

    /// Applies a record and sends it to the disk.
    fn add(&self, inner: &mut LedgerState, record: ChannelRecord) -> Written {
        inner.state.apply(&record);
        inner.bytes += record.bytes();
        let written = self.journal.append(&[record]);
        if inner.bytes >= LONG.max(4 * inner.begun) {
            let records = inner.state.records(At(jiff::Timestamp::now().as_millisecond()));
            (inner.bytes, inner.begun) = (0, records.iter().map(ChannelRecord::bytes).sum());
            self.journal.replace(&records);
        }
        written
    }

    /// Takes a message, unless it came before.
    pub fn take(&self, message: &InboundMessage, at: At) -> Taking {
        let mut inner = self.inner();
        if inner.state.seen.has(&message.source(), &message.id, at) {
            return Taking::Duplicate(self.journal.append(&[]));
        }
        if inner.state.pending.len() + inner.state.replies.len() >= MOST_PENDING
            || inner.state.pending_bytes >= MOST_BYTES
        {
            return Taking::Full;
        }
        let taken = TakenMessage { n: inner.state.number(), at, message: message.clone() };
        let written = self.add(&mut inner, ChannelRecord::Taken(taken.clone()));
        Taking::New(Box::new(taken), written)
    }

    /// Forgets a message that could not be written, so that it may come again.
    pub fn untake(&self, taken: &TakenMessage) {
        self.inner().state.forget(taken);
    }

    /// A turn is begun for messages.
    pub fn begin(&self, turn: ChannelTurn) -> Written {
        self.add(&mut self.inner(), ChannelRecord::Turn(turn))
    }

    /// Messages are done with. Returns the number of the reply.
    pub fn done(&self, of: Vec<u64>, reply: Option<ChannelReply>) -> (Option<u64>, Written) {
        let mut inner = self.inner();
        let reply = reply.map(|mut reply| {
            reply.n = inner.state.number();
            reply.id = format!("reply-{}-{}", reply.at.0, reply.n);
            reply
        });
        let n = reply.as_ref().map(|reply| reply.n);
        (n, self.add(&mut inner, ChannelRecord::Done { of, reply }))
    }

    /// A reply was delivered, or given up.
    pub fn delivered(&self, reply: u64) -> Written {
        self.add(&mut self.inner(), ChannelRecord::Delivered { reply })
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::MessageSender;
    use super::super::record::ReplyKind;
    use super::*;

    fn message(id: &str) -> InboundMessage {
        let from = MessageSender { id: "7".into(), name: None };
        InboundMessage { id: id.into(), channel: "c".into(), from, text: "hi".into(), ..InboundMessage::default() }
    }

    #[tokio::test]
    async fn the_file_is_begun_again_when_it_is_long_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        // What is older than 30 days is forgotten then.
        let at = super::super::rows::now();
        let ledger = Ledger::open(path.clone(), at).unwrap();
        let long = "x".repeat(1 << 20);
        for n in 0..40 {
            let message = InboundMessage { text: long.clone(), ..message(&format!("m{n}")) };
            let Taking::New(taken, done) = ledger.take(&message, at) else { panic!("not new") };
            assert_eq!(written(done).await, Ok(()));
            let (_, done) = ledger.done(vec![taken.n], None);
            assert_eq!(written(done).await, Ok(()));
        }
        assert_eq!(written(ledger.delivered(0)).await, Ok(()), "what was begun again is on disk");
        assert!(std::fs::metadata(&path).unwrap().len() < 33 << 20);
        let again = Ledger::open(path, at).unwrap();
        assert!((0..40).all(|n| matches!(again.take(&message(&format!("m{n}")), at), Taking::Duplicate(_))));
        again.look(|state| assert_eq!((state.pending.len(), state.pending_bytes), (0, 0)));
    }

    #[tokio::test]
    async fn a_message_is_taken_once_also_after_a_death() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let ledger = Ledger::open(path.clone(), At(1)).unwrap();
        let Taking::New(first, done) = ledger.take(&message("m1"), At(1)) else { panic!("not new") };
        assert_eq!(written(done).await, Ok(()));
        let Taking::Duplicate(done) = ledger.take(&message("m1"), At(2)) else { panic!("new") };
        assert_eq!(written(done).await, Ok(()));
        let Taking::New(lost, _) = ledger.take(&message("m2"), At(2)) else { panic!("not new") };
        ledger.untake(&lost);
        assert!(matches!(ledger.take(&message("m2"), At(3)), Taking::New(..)), "it may come again");
        let reply = ChannelReply::to(&first.message, ReplyKind::Answer, "yes".into(), At(4));
        let (n, done) = ledger.done(vec![first.n], Some(reply));
        assert_eq!(written(done).await, Ok(()));
        let again = Ledger::open(path, At(5)).unwrap();
        assert!(matches!(again.take(&message("m1"), At(6)), Taking::Duplicate(_)));
        again.look(|state| {
            assert_eq!(state.pending.values().map(|taken| taken.message.id.as_str()).collect::<Vec<_>>(), ["m2"]);
            assert_eq!(state.replies.keys().copied().collect::<Vec<_>>(), [n.unwrap()]);
        });
    }
}
