//! Rows about a session that the engine is asked for, one of them selected.

use crate::domain::SessionId;
use crate::domain::extension::ExtensionView;
use crate::domain::source::SourceView;

/// Rows about a session.
#[derive(Clone, Debug)]
pub struct SessionRows<T> {
    /// Session id.
    pub session: SessionId,
    /// Rows, once the engine has answered.
    pub known: Option<Vec<T>>,
    /// The selected one.
    pub selected: usize,
}

/// Sources of a session.
pub type SourcesCard = SessionRows<SourceView>;

/// Extensions of a session, by kind and name.
pub type ExtensionsCard = SessionRows<ExtensionView>;

impl<T> SessionRows<T> {
    /// Rows that are not there yet.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, known: None, selected: 0 }
    }

    /// The rows, as they are shown.
    #[must_use]
    pub fn rows(&self) -> &[T] {
        self.known.as_deref().unwrap_or_default()
    }

    /// The selected row.
    #[must_use]
    pub fn chosen(&self) -> Option<&T> {
        self.rows().get(self.selected)
    }

    /// Takes in the rows that the engine sent.
    pub fn fill(&mut self, known: Vec<T>) {
        self.known = Some(known);
        self.select(self.selected);
    }

    /// Moves the selection.
    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// Selects a row, or the last one.
    pub fn select(&mut self, at: usize) {
        self.selected = at.min(self.rows().len().saturating_sub(1));
    }
}
