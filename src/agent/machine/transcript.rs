//! The rows that the model gets, and the ids and times of new ones. Times only rise.

use crate::domain::ids::{At, MessageId, RequestId};
use crate::domain::message::{Body, Info, InfoKind, Message};
use crate::domain::notice::Level;

/// Rows of a session since its last compaction.
#[derive(Clone, Debug)]
pub(super) struct Transcript {
    rows: Vec<Message>,
    /// The last final row, whether or not it is among `rows`.
    last: Option<MessageId>,
    last_stamp: At,
    rng: fastrand::Rng,
    /// Id that a client chose for the next message.
    chosen: Option<MessageId>,
}

impl Transcript {
    pub(super) fn new(seed: u64) -> Self {
        Self { rows: Vec::new(), last: None, last_stamp: At(0), rng: fastrand::Rng::with_seed(seed), chosen: None }
    }

    /// Rows, oldest first.
    pub(super) fn rows(&self) -> &[Message] {
        &self.rows
    }

    /// The last final row, whether or not it is among the rows.
    pub(super) fn last(&self) -> Option<&MessageId> {
        self.last.as_ref()
    }

    pub(super) fn set_last(&mut self, last: Option<MessageId>) {
        self.last = last;
    }

    /// Takes the rows since the last compaction.
    pub(super) fn set_rows(&mut self, rows: Vec<Message>) {
        self.last_stamp = rows.iter().map(|row| row.at).max().unwrap_or_default().max(self.last_stamp);
        if let Some(last) = rows.last() {
            self.last = Some(last.id.clone());
        }
        // What subagents said and did is no part of this conversation.
        self.rows = rows.into_iter().filter(|row| row.parent.is_none()).collect();
    }

    /// Appends final rows.
    pub(super) fn append(&mut self, rows: Vec<Message>) {
        if let Some(last) = rows.last() {
            self.last = Some(last.id.clone());
        }
        self.rows.extend(rows);
    }

    /// Drops the rows before this one: a compaction sums them up.
    pub(super) fn drop_before(&mut self, cut: usize) {
        self.rows.drain(..cut);
    }

    /// Seed for the wait before a retry.
    pub(super) fn seed(&mut self) -> u64 {
        self.rng.u64(..)
    }

    /// A time that is later than every earlier one of this session.
    pub(super) fn stamp(&mut self, now: At) -> At {
        self.last_stamp = now.max(self.last_stamp.plus(1));
        self.last_stamp
    }

    pub(super) fn letters(&mut self) -> String {
        (0..6).map(|_| char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[self.rng.usize(..36)])).collect()
    }

    /// The next id is this one; `None`: made here.
    pub(super) fn choose_id(&mut self, id: Option<MessageId>) {
        self.chosen = id;
    }

    pub(super) fn message_id(&mut self, at: At) -> MessageId {
        self.chosen.take().unwrap_or_else(|| MessageId::new(format!("msg-{}-{}", at.0, self.letters())))
    }

    pub(super) fn request_id(&mut self, now: At) -> RequestId {
        RequestId::new(format!("ask-{}-{}", now.0, self.letters()))
    }

    /// A new row.
    pub(super) fn row(&mut self, now: At, body: Body) -> Message {
        let at = self.stamp(now);
        Message::new(self.message_id(at), at, body)
    }

    /// A new row that informs.
    pub(super) fn info(&mut self, now: At, level: Level, kind: InfoKind, text: impl Into<String>) -> Message {
        self.row(now, Body::Info(Info { text: text.into(), level, kind, carried: None }))
    }
}
