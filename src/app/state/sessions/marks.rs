//! The sessions that are marked, to be changed together.

use crate::domain::ids::SessionId;
use std::collections::HashSet;

/// The marked sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    set: HashSet<SessionId>,
    /// Range selection with the cursor: its start, and the marks before it.
    range: Option<(SessionId, HashSet<SessionId>)>,
}

impl Marks {
    /// True if a session is marked.
    #[must_use]
    pub fn has(&self, id: &SessionId) -> bool {
        self.set.contains(id)
    }

    /// Number of marked sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// The marked ones, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &SessionId> {
        self.set.iter()
    }

    /// None is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// True while a range is being selected with the cursor.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.range.is_some()
    }

    /// Start of the range.
    #[must_use]
    pub fn anchor(&self) -> Option<&SessionId> {
        self.range.as_ref().map(|(anchor, _)| anchor)
    }

    /// Marks a session, or takes its mark away. A range ends with it.
    pub fn toggle(&mut self, id: &SessionId) {
        self.range = None;
        if !self.set.remove(id) {
            self.set.insert(id.clone());
        }
    }

    /// Marks all of them, or takes the marks of all away when they have them already. A range ends with it.
    pub fn toggle_all<'a>(&mut self, ids: impl Iterator<Item = &'a SessionId> + Clone) {
        self.range = None;
        if ids.clone().all(|id| self.set.contains(id)) {
            ids.for_each(|id| {
                self.set.remove(id);
            });
        } else {
            self.set.extend(ids.cloned());
        }
    }

    /// From here on marks go along with the cursor.
    pub fn begin(&mut self, anchor: &SessionId) {
        self.range = Some((anchor.clone(), self.set.clone()));
        self.set.insert(anchor.clone());
    }

    /// The range holds these sessions now.
    pub fn span<'a>(&mut self, ids: impl Iterator<Item = &'a SessionId>) {
        if let Some((_, before)) = &self.range {
            let spanned = before.iter().cloned().chain(ids.cloned()).collect();
            self.set = spanned;
        }
    }

    /// Marks stop going along with the cursor, and stay.
    pub fn end(&mut self) {
        self.range = None;
    }

    /// Takes all marks away. Whether there were any.
    pub fn clear(&mut self) -> bool {
        let any = !self.set.is_empty() || self.range.is_some();
        *self = Self::default();
        any
    }

    /// Takes a session's mark away.
    pub fn forget(&mut self, id: &SessionId) {
        self.set.remove(id);
        if let Some((anchor, before)) = &mut self.range {
            before.remove(id);
            if anchor == id {
                self.range = None;
            }
        }
    }

    /// The session has another id.
    pub fn rename(&mut self, from: &SessionId, to: &SessionId) {
        if self.set.remove(from) {
            self.set.insert(to.clone());
        }
        self.range = None;
    }
}
