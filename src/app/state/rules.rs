//! The rules in force for a session on the screen.

use crate::domain::SessionId;
use crate::domain::rule::KnownRule;
use crate::protocol::InForce;

/// The rules on the screen.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Session id.
    pub session: SessionId,
    /// Rules in force, once the engine has answered.
    pub known: Option<InForce>,
    /// The selected rule.
    pub selected: usize,
    /// Purpose of the list.
    pub purpose: Purpose,
}

/// Purpose of the list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be read, and taken back.
    List,
    /// To trust what is not trusted.
    Trust,
}

impl Rules {
    /// Rules that are not there yet.
    #[must_use]
    pub fn new(session: SessionId, purpose: Purpose) -> Self {
        Self { session, known: None, selected: 0, purpose }
    }

    /// The rules, as they are shown.
    #[must_use]
    pub fn rows(&self) -> &[KnownRule] {
        self.known.as_ref().map_or(&[], |known| &known.rules)
    }

    /// The selected rule.
    #[must_use]
    pub fn chosen(&self) -> Option<&KnownRule> {
        self.rows().get(self.selected)
    }

    /// Takes in the rules that the engine sent.
    pub fn fill(&mut self, known: InForce) {
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
