//! Records of the journal, and the state that they make: messages that were taken and are not done, turns that were
//! begun for them, replies that are not delivered, ids that came.
//!
//! Values only; the file is `journal`'s. Applying the records in their order gives the state after any death.

use super::message::InboundMessage;
use crate::domain::ids::{At, MessageId, SessionId};
use crate::routes::allow::SeenMessages;
use crate::routes::key::ChatType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Message that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TakenMessage {
    /// Number, in the order of taking.
    pub n: u64,
    pub at: At,
    pub message: InboundMessage,
}

/// Turn that is begun for messages: written before the session gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChannelTurn {
    /// Id of the message in the session, which takes it once.
    pub id: MessageId,
    /// Numbers of the messages, at least one.
    pub of: Vec<u64>,
    /// Session key.
    pub key: String,
    pub session: SessionId,
    /// Text as it is sent.
    pub text: String,
}

/// Kind of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReplyKind {
    /// Answer of the model.
    Answer,
    /// Answer to a command.
    Command,
    /// The turn failed.
    Error,
    /// Pairing code.
    Pairing,
}

/// Reply on its way to a channel, as its webhook gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChannelReply {
    /// Number, in the order of making.
    pub n: u64,
    /// Id: a receiver drops a reply of an id that it has.
    pub id: String,
    pub at: At,
    pub kind: ReplyKind,
    pub channel: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Address.
    pub to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub chat_type: ChatType,
    /// Session key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Ids of the messages that it answers.
    pub in_reply_to: Vec<String>,
    pub text: String,
}

impl ChannelReply {
    /// Reply to messages of one target, the last of which gives the address. Number and id come with the ledger.
    pub fn to(message: &InboundMessage, kind: ReplyKind, text: String, at: At) -> Self {
        Self {
            n: 0,
            id: String::new(),
            at,
            kind,
            channel: message.channel.clone(),
            account: message.account.clone(),
            to: message.reply_to().to_owned(),
            thread: message.thread.clone(),
            chat_type: message.chat_type(),
            key: None,
            session: None,
            in_reply_to: vec![message.id.clone()],
            text,
        }
    }
}

/// Record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub(super) enum ChannelRecord {
    /// A message was taken.
    Taken(TakenMessage),
    /// A turn is begun.
    Turn(ChannelTurn),
    /// Messages are done with, and this reply is to be delivered: one record, so that neither is there without the other.
    Done {
        of: Vec<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<ChannelReply>,
    },
    /// A reply was delivered, or given up.
    Delivered { reply: u64 },
    /// State without messages, turns and replies: the start of a file that was written again.
    Base { next: u64, seen: SeenMessages },
}

impl ChannelRecord {
    /// About the bytes that it takes.
    pub fn bytes(&self) -> usize {
        // Ids and names beside the text.
        const REST: usize = 1_000;
        /// An id with its time.
        const ID: usize = 60;
        REST + match self {
            Self::Taken(taken) => taken.message.text.len(),
            Self::Turn(turn) => turn.text.len(),
            Self::Done { reply, .. } => reply.as_ref().map_or(0, |reply| reply.text.len()),
            Self::Base { seen, .. } => seen.count() * ID,
            Self::Delivered { .. } => 0,
        }
    }
}

/// State that the records make.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ChannelState {
    next: u64,
    /// Messages that are not done, by number.
    pub pending: BTreeMap<u64, TakenMessage>,
    /// Bytes of their texts.
    pub pending_bytes: usize,
    /// Turns of pending messages, by the id of their message.
    pub turns: BTreeMap<String, ChannelTurn>,
    /// Replies that are not delivered, by number.
    pub replies: BTreeMap<u64, ChannelReply>,
    pub seen: SeenMessages,
}

impl ChannelState {
    /// Next number.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Forgets a message that was not written, so that it may come again.
    pub fn forget(&mut self, taken: &TakenMessage) {
        self.remove(taken.n);
        self.seen.forget(&taken.message.source(), &taken.message.id);
    }

    fn remove(&mut self, n: u64) {
        if let Some(taken) = self.pending.remove(&n) {
            self.pending_bytes = self.pending_bytes.saturating_sub(taken.message.text.len());
        }
    }

    pub fn apply(&mut self, record: &ChannelRecord) {
        match record {
            ChannelRecord::Taken(taken) => {
                self.next = self.next.max(taken.n);
                let (source, id) = (taken.message.source(), &taken.message.id);
                // Its id was checked when it was taken. One that came before was given up, as its writing failed: whatever of it
                // is on disk, the message is this one.
                if self.seen.note(&source, id, taken.at) != Ok(true) {
                    let same = |one: &&TakenMessage| one.message.id == *id && one.message.source() == source;
                    let before: Vec<u64> = self.pending.values().filter(same).map(|one| one.n).collect();
                    before.into_iter().for_each(|n| self.remove(n));
                }
                self.pending_bytes += taken.message.text.len();
                self.pending.insert(taken.n, taken.clone());
            }
            ChannelRecord::Turn(turn) => {
                // A turn that is begun again, after a death in between, takes the place of the first.
                self.turns.retain(|_, other| !other.of.iter().any(|n| turn.of.contains(n)));
                self.turns.insert(turn.id.to_string(), turn.clone());
            }
            ChannelRecord::Done { of, reply } => {
                of.iter().for_each(|n| self.remove(*n));
                self.turns.retain(|_, turn| !turn.of.iter().any(|n| of.contains(n)));
                if let Some(reply) = reply {
                    self.next = self.next.max(reply.n);
                    self.replies.insert(reply.n, reply.clone());
                }
            }
            ChannelRecord::Delivered { reply } => drop(self.replies.remove(reply)),
            ChannelRecord::Base { next, seen } => {
                self.next = self.next.max(*next);
                self.seen = seen.clone();
            }
        }
    }

    /// Fewest records that make this state. Ids older than 30 days are left out.
    pub fn records(&mut self, now: At) -> Vec<ChannelRecord> {
        self.seen.forget_old(now);
        let mut records = vec![ChannelRecord::Base { next: self.next, seen: self.seen.clone() }];
        records.extend(self.pending.values().cloned().map(ChannelRecord::Taken));
        records.extend(self.turns.values().cloned().map(ChannelRecord::Turn));
        let reply = |reply: &ChannelReply| ChannelRecord::Done { of: Vec::new(), reply: Some(reply.clone()) };
        records.extend(self.replies.values().map(reply));
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str) -> InboundMessage {
        InboundMessage { id: id.into(), channel: "c".into(), text: "hi".into(), ..InboundMessage::default() }
    }

    fn taken(n: u64) -> ChannelRecord {
        ChannelRecord::Taken(TakenMessage { n, at: At(1), message: message(&format!("m{n}")) })
    }

    fn turn(id: &str, of: &[u64]) -> ChannelRecord {
        let session = SessionId::parse("261128-a-b").unwrap();
        ChannelRecord::Turn(ChannelTurn {
            id: MessageId::new(id),
            of: of.to_vec(),
            key: "agent:main:main".into(),
            session,
            text: "hi".into(),
        })
    }

    fn state(records: &[ChannelRecord]) -> ChannelState {
        let mut state = ChannelState::default();
        records.iter().for_each(|record| state.apply(record));
        state
    }

    #[test]
    fn a_message_is_pending_until_it_is_done_and_its_reply_until_it_is_delivered() {
        let reply = ChannelReply { n: 4, ..ChannelReply::to(&message("m1"), ReplyKind::Answer, "yes".into(), At(2)) };
        let mut records = vec![taken(1), taken(2), taken(3), turn("t-1", &[1, 2]), turn("t-2", &[1])];
        let after = state(&records);
        assert_eq!((after.pending.len(), after.turns.len()), (3, 1), "a turn that is begun again replaces the first");
        records.push(ChannelRecord::Done { of: vec![1, 2], reply: Some(reply) });
        let mut after = state(&records);
        assert_eq!(after.pending.keys().copied().collect::<Vec<_>>(), [3]);
        assert!(after.turns.is_empty() && after.replies.contains_key(&4));
        assert_eq!(after.seen.note(&message("m1").source(), "m1", At(5)), Ok(false));
        assert_eq!((after.number(), after.pending_bytes), (5, 2));
        records.push(ChannelRecord::Delivered { reply: 4 });
        assert!(state(&records).replies.is_empty());
    }

    #[test]
    fn the_fewest_records_make_the_same_state_and_are_read_back() {
        let reply = ChannelReply { n: 9, ..ChannelReply::to(&message("m1"), ReplyKind::Pairing, "x".into(), At(2)) };
        let done = ChannelRecord::Done { of: vec![2], reply: Some(reply) };
        let mut before = state(&[taken(1), taken(2), taken(3), turn("t-3", &[3]), done]);
        let records = before.records(At(10));
        let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        let read: Vec<ChannelRecord> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(state(&read), before, "{lines:#?}");
    }
}
