//! Completions above the composer: commands, their arguments, files, sessions, labels.
//!
//! `composer::completion` decides when they open and which they are.

use crate::app::slash::Slash;
use crate::domain::ids::SessionId;

/// Kind of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// Commands, while the draft is a slash and a part of a name.
    Commands,
    /// Arguments of this command.
    Words(Slash),
    /// Files, folders and sessions, behind an `@`.
    Things,
    /// Labels, behind a `#`.
    Labels,
}

/// Value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A command.
    Command(Slash),
    /// A command of the user's own, by its place in the list of them.
    Own(usize),
    /// A text that takes the place of what was typed.
    Word(String),
    /// A file.
    File(String),
    /// A folder; what is in it is offered next.
    Folder(String),
    /// A session, by its id.
    Session(SessionId),
    /// A label: the session gets it, or loses it.
    Label(String),
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRow {
    /// Value to insert.
    pub value: Value,
    /// Text shown first, and matched.
    pub label: String,
    /// Arguments of a command.
    pub usage: String,
    /// Detail shown beside it.
    pub detail: String,
    /// It is in force.
    pub current: bool,
    /// The characters of `label` that matched, by their place.
    pub marks: Vec<usize>,
}

/// Open list of completions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    /// Kind of completions.
    pub kind: OfferKind,
    /// The rows, best first.
    pub rows: Vec<OfferRow>,
    /// The selected one.
    pub selected: usize,
    /// The user moved the selection: Enter means it whatever was typed.
    pub touched: bool,
    /// Typed part, without its sign.
    pub typed: String,
    /// Start of the typed part in the caret's line, including its sign, in characters.
    pub from: usize,
    /// The number of the search for files whose answer belongs here.
    pub ticket: u64,
}

impl Menu {
    /// The selected row.
    #[must_use]
    pub fn chosen(&self) -> Option<&OfferRow> {
        self.rows.get(self.selected)
    }

    /// Moves the selection, around both ends.
    pub fn step(&mut self, by: isize) {
        let len = self.rows.len().max(1);
        self.selected = (self.selected + len).saturating_add_signed(by) % len;
        self.touched = true;
    }

    /// True if Enter takes the selected row instead of sending the draft.
    #[must_use]
    pub fn takes_enter(&self) -> bool {
        if self.kind == OfferKind::Commands && !self.touched {
            // What only resembles the typed letters is a guess, which is not run.
            let typed = self.typed.to_lowercase();
            return typed.is_empty() || self.chosen().is_some_and(|row| row.label.starts_with(&typed));
        }
        self.touched || !(self.typed.is_empty() || self.names_folder())
    }

    /// The typed text names a folder: Enter means that one, and not the first thing in it.
    fn names_folder(&self) -> bool {
        let is_it =
            |row: &OfferRow| matches!(&row.value, Value::Folder(path) if path.trim_end_matches('/') == self.typed);
        matches!(self.kind, OfferKind::Words(Slash::Cwd | Slash::Import))
            && (self.typed.ends_with('/') || self.rows.iter().any(is_it))
    }
}
