//! The sources of a session on the screen.

use crate::domain::SessionId;
use crate::domain::source::SourceView;

/// Sources of a session.
#[derive(Clone, Debug)]
pub struct SourcesCard {
    /// Session id.
    pub session: SessionId,
    /// Sources, once the engine has answered.
    pub known: Option<Vec<SourceView>>,
    /// The selected one.
    pub selected: usize,
}

impl SourcesCard {
    /// Sources that are not there yet.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, known: None, selected: 0 }
    }

    /// The sources, as they are shown.
    #[must_use]
    pub fn rows(&self) -> &[SourceView] {
        self.known.as_deref().unwrap_or_default()
    }

    /// The selected source.
    #[must_use]
    pub fn chosen(&self) -> Option<&SourceView> {
        self.rows().get(self.selected)
    }

    /// Takes in the sources that the engine sent.
    pub fn fill(&mut self, known: Vec<SourceView>) {
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
