//! State of side requests: a title being made, a draft being rewritten.

use crate::agent::hub::ClientId;
use crate::protocol::{SessionEvent, TurnEnd};
use std::collections::HashMap;
use tokio::task::AbortHandle;

/// Number of automatic requests for a title: during the first turn, and after it if that gave none.
const TITLE_TRIES: u8 = 2;

/// Side requests of a session.
#[derive(Debug, Default)]
pub(super) struct SideRequests {
    /// A turn ended, and nothing was made of it yet.
    ended: Option<TurnEnd>,
    /// The last turn came to its end.
    well: bool,
    /// A model is asked for a title.
    titling: bool,
    title_tries: u8,
    /// Drafts being rewritten, one a client.
    enhancing: HashMap<Option<ClientId>, AbortHandle>,
}

impl SideRequests {
    /// Takes in events for clients.
    pub(super) fn hear(&mut self, event: &SessionEvent) {
        if let SessionEvent::TurnEnded { end } = event {
            self.ended = Some(*end);
        }
    }

    /// True once after a turn that was done: its answer says what the session is about.
    pub(super) fn take_done(&mut self) -> bool {
        let Some(end) = self.ended.take() else { return false };
        self.well = matches!(end, TurnEnd::Done | TurnEnd::Plan);
        end == TurnEnd::Done
    }

    /// True if a model may be asked for a title by itself.
    pub(super) fn may_title(&self) -> bool {
        !self.titling && self.title_tries < TITLE_TRIES
    }

    /// A model is asked for a title; `wanted` by the user, or by itself.
    pub(super) fn begin_title(&mut self, wanted: bool) {
        self.titling = true;
        self.title_tries += u8::from(!wanted);
    }

    pub(super) fn end_title(&mut self) {
        self.titling = false;
    }

    /// A title of a turn that came to its end is being made.
    pub(super) fn is_last_title_due(&self) -> bool {
        self.titling && self.well
    }

    /// Cancels a rewrite that runs for this client.
    pub(super) fn cancel_enhancing_of(&mut self, client: Option<ClientId>) {
        if let Some(before) = self.enhancing.remove(&client) {
            before.abort();
        }
    }

    pub(super) fn enhance(&mut self, client: Option<ClientId>, task: AbortHandle) {
        self.enhancing.insert(client, task);
    }
}
