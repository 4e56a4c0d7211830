//! One session whose conversation is loaded: what the engine told of it, its draft and its panel.

use super::chat::Chat;
use super::composer::Composer;
use super::panel::Panel;
use crate::domain::Mode;
use crate::domain::ids::{At, ConnectionName, MessageId, RequestId};
use crate::domain::job::JobShown;
use crate::domain::message::UserText;
use crate::domain::plan::Progress;
use crate::domain::request::{Ask, Request};
use crate::domain::tool::TodoItem;
use crate::protocol::{Queued, TurnEnd};
use std::collections::{HashSet, VecDeque};

/// State of the turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Start; `None` when no turn runs.
    pub started: Option<At>,
    /// The user stopped it and its end was not reported yet: nothing of it is shown any more.
    pub stopping: bool,
    /// A request failed and is tried again.
    pub retry: Option<Retry>,
    /// Progress of a compaction: this part, and the number of parts.
    pub compacting: Option<(u32, u32)>,
    /// The request waits for a free place at this connection.
    pub waiting: Option<ConnectionName>,
    /// Slugs of sources that the request waits for.
    pub starting: Vec<String>,
    /// Time of the last event of the turn.
    pub heard: Option<At>,
    /// The last that came was a piece of an answer: it began, and is not over.
    pub answering: bool,
}

/// A request that is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// This is the n-th retry.
    pub attempt: u32,
    /// Maximum number of tries.
    pub of: u32,
    /// Time of the retry.
    pub at: At,
    /// Reason.
    pub reason: String,
}

/// A draft that is being rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enhancing {
    /// The number of the wish.
    pub number: u64,
    /// The draft's revision then.
    pub revision: u64,
}

/// A message that went to the engine, with the composer as it was before: it comes back where the engine refuses it.
#[derive(Clone, Debug)]
pub(crate) struct Handed {
    /// Message that was sent.
    pub said: UserText,
    /// Draft that it came from.
    pub composer: Composer,
}

/// An answer that went to the engine, with its panel as it was before: where the same is asked again, it is shown again.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Request that was answered.
    pub request: Request,
    /// The panel, with what was written in it.
    pub panel: Panel,
    /// Settled: nothing waits for it any more.
    pub settled: bool,
}

/// One session whose conversation is loaded or asked for.
#[derive(Debug, Default)]
pub struct Open {
    /// The engine sent its snapshot.
    pub loaded: bool,
    /// Reason why the engine cannot read it, in a sentence.
    pub unreadable: Option<String>,
    /// The conversation.
    pub chat: Chat,
    /// The draft.
    pub composer: Composer,
    /// Messages that wait for the turn to end.
    pub queue: Vec<Queued>,
    /// The queue is paused until the user releases it.
    pub queue_held: bool,
    /// Messages that go into the turn that runs, with the next tool results.
    pub steers: Vec<Queued>,
    /// End of the last turn, as far as it was seen.
    pub ended: Option<TurnEnd>,
    /// Time at which messages left from the last run are sent.
    pub redelivery: Option<At>,
    /// Pending requests, oldest first.
    pub requests: Vec<Request>,
    /// The panel of the first of them.
    pub panel: Option<Panel>,
    /// The agent's todo list.
    pub todo: Vec<TodoItem>,
    /// Progress of the approved plan.
    pub plan: Option<Box<Progress>>,
    /// The commands in the background, and those that ended lately.
    pub jobs: Vec<JobShown>,
    /// The turn.
    pub turn: Turn,
    /// The draft is being rewritten.
    pub enhancing: Option<Enhancing>,
    /// The last messages that were sent from here.
    pub(crate) handed: VecDeque<Handed>,
    /// The last answers that were given here.
    pub(crate) given: VecDeque<Given>,
    /// The number of the last event; `None` before the snapshot.
    pub(crate) seq: Option<u64>,
    /// An event was missed and a new snapshot asked for.
    pub(crate) resync: bool,
    /// The draft as the engine last got it.
    pub(crate) saved_draft: UserText,
    /// Rows that are not whole, because they grew while another session was shown.
    pub(crate) behind: HashSet<MessageId>,
    /// A timer that saves the draft runs.
    pub(crate) draft_timer: bool,
    /// The draft's revision that the engine last got.
    pub(crate) saved_revision: u64,
    /// A mode that was asked for and not confirmed: the next step of the cycle begins there.
    pub(crate) asked_mode: Option<Mode>,
    /// The key of the next entry at the end.
    pub(crate) next_key: i64,
    /// The revision that the next changed entry gets.
    pub(crate) next_revision: u64,
}

impl Open {
    /// The request with this id.
    #[must_use]
    pub fn request(&self, id: &RequestId) -> Option<&Request> {
        self.requests.iter().find(|request| request.id == *id)
    }

    /// All messages that wait: what goes into the turn that runs, then the queue.
    pub fn waiting(&self) -> impl DoubleEndedIterator<Item = &Queued> {
        self.steers.iter().chain(&self.queue)
    }

    /// Number of queued messages.
    #[must_use]
    pub fn waits(&self) -> usize {
        self.steers.len() + self.queue.len()
    }

    /// Number of running background jobs.
    #[must_use]
    pub fn running_jobs(&self) -> usize {
        self.jobs.iter().filter(|job| job.runs()).count()
    }

    /// The plan that waits, if one does.
    #[must_use]
    pub fn waiting_plan(&self) -> Option<&Request> {
        self.requests.iter().find(|request| matches!(request.ask, Ask::Plan(_)))
    }
}
