//! Sources, skills, agents and commands of a session on the screen.

use crate::domain::SessionId;
use crate::domain::extension::ExtensionView;

/// Extensions of a session.
#[derive(Clone, Debug)]
pub struct ExtensionsCard {
    /// Session id.
    pub session: SessionId,
    /// Extensions by kind and name, once the engine has answered.
    pub known: Option<Vec<ExtensionView>>,
    /// The selected one.
    pub selected: usize,
}

impl ExtensionsCard {
    /// Extensions that are not there yet.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, known: None, selected: 0 }
    }

    /// The extensions, as they are shown.
    #[must_use]
    pub fn rows(&self) -> &[ExtensionView] {
        self.known.as_deref().unwrap_or_default()
    }

    /// The selected extension.
    #[must_use]
    pub fn chosen(&self) -> Option<&ExtensionView> {
        self.rows().get(self.selected)
    }

    /// Takes in the extensions that the engine sent.
    pub fn fill(&mut self, known: Vec<ExtensionView>) {
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
