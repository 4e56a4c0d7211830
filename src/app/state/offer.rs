//! What is offered above the composer while one types: commands, what can follow one, files, sessions, labels.
//!
//! When it opens and what stands in it is decided in `update::offer`.

use crate::app::slash::Slash;
use crate::domain::ids::SessionId;

/// What is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Commands, while the draft is a slash and a part of a name.
    Commands,
    /// What can follow this command.
    Words(Slash),
    /// Files, folders and sessions, behind an `@`.
    Things,
    /// Labels, behind a `#`.
    Labels,
}

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A command.
    Command(Slash),
    /// A command of the user's own, by its place in [`super::State::commands`].
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
pub struct Row {
    /// What it stands for.
    pub value: Value,
    /// What is shown first, and matched.
    pub label: String,
    /// What can follow a command.
    pub usage: String,
    /// What is shown beside it.
    pub detail: String,
    /// It is in force.
    pub current: bool,
    /// The characters of `label` that matched, by their place.
    pub marks: Vec<usize>,
}

/// What is offered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    /// What kind of thing.
    pub kind: Kind,
    /// The rows, best first.
    pub rows: Vec<Row>,
    /// The selected one.
    pub selected: usize,
    /// The user moved the selection: Enter means it whatever was typed.
    pub touched: bool,
    /// What was typed so far of it, without its sign.
    pub typed: String,
    /// Where in the caret's line that begins, its sign included, in characters.
    pub from: usize,
    /// The number of the search for files whose answer belongs here.
    pub ticket: u64,
}

impl Menu {
    /// The selected row.
    #[must_use]
    pub fn chosen(&self) -> Option<&Row> {
        self.rows.get(self.selected)
    }

    /// Moves the selection, around both ends.
    pub fn step(&mut self, by: isize) {
        let len = self.rows.len().max(1);
        self.selected = (self.selected + len).saturating_add_signed(by) % len;
        self.touched = true;
    }

    /// Whether Enter means the selected row, not the draft as it stands.
    #[must_use]
    pub fn takes_enter(&self) -> bool {
        self.touched || self.kind == Kind::Commands || !(self.typed.is_empty() || self.names_folder())
    }

    /// What is typed names a folder: Enter means that one, and not the first thing in it.
    fn names_folder(&self) -> bool {
        let is_it = |row: &Row| matches!(&row.value, Value::Folder(path) if path.trim_end_matches('/') == self.typed);
        matches!(self.kind, Kind::Words(Slash::Cwd | Slash::Import))
            && (self.typed.ends_with('/') || self.rows.iter().any(is_it))
    }
}
