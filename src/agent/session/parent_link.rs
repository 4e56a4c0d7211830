//! Links of a session to the one that spawned it and to those that it spawned.

use crate::agent::spawned::progress::{ChildLink, ChildProgress};
use crate::agent::undo::UndoTarget;
use crate::domain::permission::Mode;
use crate::protocol::SessionEvent;

/// Links of a session to its family.
#[derive(Debug, Default)]
pub(super) struct ParentLink {
    /// Whoever waits for it; `None` for a session on its own.
    link: Option<ChildLink>,
    news: ChildProgress,
    /// Progress that was not reported yet.
    fresh: bool,
    /// The mode that the children were told.
    told_mode: Option<Mode>,
}

impl ParentLink {
    /// The session was spawned, and its call waits for it.
    pub(super) fn join(&mut self, link: ChildLink) {
        self.link = Some(link);
    }

    /// Nothing waits for it any more.
    pub(super) fn detach(&mut self) {
        self.link = None;
    }

    /// Takes in events for clients.
    pub(super) fn hear(&mut self, event: &SessionEvent) {
        if self.link.is_some() {
            self.fresh |= self.news.take(event);
        }
    }

    /// Tells the parent what is new.
    pub(super) fn report(&mut self) {
        if std::mem::take(&mut self.fresh)
            && let Some(link) = &self.link
        {
            link.news.send_replace(self.news.clone());
        }
    }

    /// True if the children do not know yet that the session is in this mode.
    pub(super) fn is_new_mode(&mut self, mode: Mode) -> bool {
        self.told_mode.replace(mode) != Some(mode)
    }

    /// Store for undo of a child's changes: with the turn of its parent.
    pub(super) fn undo(&self) -> Option<UndoTarget> {
        self.link.as_ref().map(|link| link.undo.clone())
    }
}
