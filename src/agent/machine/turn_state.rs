//! A turn that runs: how far it is, and what it waits for.

use super::batch::Batch;
use super::compacting::Compacting;
use super::extension_state::UsedExtensions;
use super::repeats::Repeats;
use super::response::Response;
use crate::agent::machine_io::RunNo;
use crate::domain::ids::{At, MessageId};
use crate::domain::message::{CutBy, Message};
use crate::domain::tool::ToolSpec;
use crate::protocol::Queued;

/// A turn that runs.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) started: At,
    pub(super) requests: u32,
    /// Reasons of the attempts of the request that failed.
    pub(super) failed: Vec<String>,
    pub(super) repeats: Repeats,
    pub(super) steers: Vec<Queued>,
    /// A plan was submitted in this turn: it ends with this batch of calls.
    pub(super) planned: bool,
    /// The user typed a command, or wants a compaction: no model is asked for an answer.
    pub(super) typed: bool,
    /// The last row of the last compaction in this turn.
    pub(super) compacted: Option<MessageId>,
    /// A request did not fit, and it was compacted for that.
    pub(super) recovered: bool,
    /// An answer was empty, and it was asked for again.
    pub(super) emptied: bool,
    /// Beginning of all requests of the turn. A compaction begins anew.
    pub(super) standing: Option<Standing>,
    /// The last row that the last request told of.
    pub(super) sent: Option<MessageId>,
    /// Shown parts of attempts that broke off, while no request is on its way.
    pub(super) broken: Option<Box<Response>>,
    /// Extensions that it uses.
    pub(super) used: UsedExtensions,
    pub(super) work: Work,
}

#[derive(Clone, Debug)]
pub(super) enum Work {
    /// A response streams in.
    Responding(Box<Response>),
    /// Its calls run.
    Calling(Batch),
    /// The conversation is being summed up.
    Compacting(Box<Compacting>),
    /// The turn was stopped while a call wrote a file: how that ended is its result.
    Stopping(Box<Stopping>),
    /// A failed request waits for its retry.
    BackingOff,
}

/// Content before the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standing {
    pub(super) system: String,
    pub(super) tools: Vec<ToolSpec>,
}

/// A stopped turn in which a file was being written.
#[derive(Clone, Debug)]
pub(super) struct Stopping {
    pub(super) batch: Batch,
    pub(super) by: CutBy,
    /// The run that was stopped.
    pub(super) run: RunNo,
    /// Messages that came since: they are sent when it is over.
    pub(super) said: Vec<MessageId>,
}

impl Stopping {
    /// Rows that are not final yet, in order.
    pub(super) fn live(&self) -> impl Iterator<Item = &Message> {
        self.batch.live()
    }
}
