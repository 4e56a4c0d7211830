//! Links of a session to the one that spawned it and to those that it spawned.

use crate::agent::child_link::{News, Raised};
use crate::agent::undo::Keeping;
use crate::domain::Event;
use crate::domain::permission::Mode;

/// Links of a session to its family.
#[derive(Debug, Default)]
pub(super) struct ParentLink {
    /// Whoever waits for it; `None` for a session on its own.
    raised: Option<Raised>,
    news: News,
    /// News that was not reported yet.
    fresh: bool,
    /// The mode that the children were told.
    told_mode: Option<Mode>,
}

impl ParentLink {
    /// The session was spawned, and its call waits for it.
    pub(super) fn raise(&mut self, raised: Raised) {
        self.raised = Some(raised);
    }

    /// Nothing waits for it any more.
    pub(super) fn grow(&mut self) {
        self.raised = None;
    }

    /// Takes in events for clients.
    pub(super) fn hear(&mut self, event: &Event) {
        if self.raised.is_some() {
            self.fresh |= self.news.take(event);
        }
    }

    /// Tells the parent what is new.
    pub(super) fn report(&mut self) {
        if std::mem::take(&mut self.fresh)
            && let Some(raised) = &self.raised
        {
            raised.news.send_replace(self.news.clone());
        }
    }

    /// True if the children do not know yet that the session is in this mode.
    pub(super) fn is_new_mode(&mut self, mode: Mode) -> bool {
        self.told_mode.replace(mode) != Some(mode)
    }

    /// Store for undo of a child's changes: with the turn of its parent.
    pub(super) fn undo(&self) -> Option<Keeping> {
        self.raised.as_ref().map(|raised| raised.undo.clone())
    }
}
