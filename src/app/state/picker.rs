//! A list to choose from, filtered by what is typed.

use super::Focus;
use super::edit::Line;
use super::fuzzy;
use super::hidden::{holds_a_key, vendor_of};
use super::ranked::{self, Named};
use super::sessions::Facet;
use crate::domain::Mode;
use crate::domain::attachment::Attachment;
use crate::domain::finding::Health;
use crate::domain::ids::{At, ConnectionName, MessageId, SessionId};
use crate::domain::manual::Topic;
use crate::domain::session::{SessionSwitch, ThinkingLevel};
use crate::keymap::action::Action;
use std::collections::HashSet;

/// Subject of a picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All commands.
    Palette,
    /// Models.
    Model,
    /// Connections.
    Connection,
    /// Permission modes.
    Mode,
    /// Thinking levels.
    Thinking,
    /// Themes.
    Theme,
    /// Sessions.
    Session,
    /// Texts sent earlier.
    History,
    /// Files of a message or a draft, to be opened.
    File,
    /// The status of sessions.
    Status,
    /// The labels of sessions: each is added or taken away, and the picker stays open.
    Labels,
    /// Messages to go back to.
    Rewind,
    /// Places to branch off at.
    Branch,
    /// Settings: Enter goes on to the next choice, and the picker stays open.
    Setting,
    /// Findings of the doctor.
    Doctor,
    /// Recent notices.
    Notice,
    /// Filters of the list.
    Filter,
    /// Workspaces.
    Workspace,
    /// Choice for a draft that holds a key.
    KeyText,
    /// State of a session.
    SessionState,
    /// Sessions of other programs.
    Import,
}

impl Kind {
    /// The picker's heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Kind::Palette => "Commands",
            Kind::Model => "Model",
            Kind::Connection => "Connect a model",
            Kind::Mode => "Permission mode",
            Kind::Thinking => "Thinking level",
            Kind::Theme => "Theme",
            Kind::Session => "Sessions",
            Kind::History => "Sent messages",
            Kind::File => "Open file",
            Kind::Status => "Status",
            Kind::Labels => "Labels",
            Kind::Rewind => "Rewind to before…",
            Kind::Branch => "Branch from",
            Kind::Setting => "Settings",
            Kind::Doctor => "Doctor",
            Kind::Notice => "Recent notifications",
            Kind::Filter => "Filter list",
            Kind::Workspace => "Workspaces",
            Kind::KeyText => "This looks like a key",
            Kind::SessionState => "Status",
            Kind::Import => "Import from",
        }
    }

    /// Columns beside the items, most important first: a narrow screen leaves out the last ones.
    #[must_use]
    pub fn columns(self) -> &'static [Column] {
        const fn left(head: &'static str) -> Column {
            Column { head, side: Side::Left }
        }
        const fn right(head: &'static str) -> Column {
            Column { head, side: Side::Right }
        }
        match self {
            Kind::Model => const { &[right("context"), right("$/M in"), right("$/M out"), left("")] },
            Kind::Connection => const { &[left("key"), left(""), left("server"), left("API")] },
            Kind::Rewind => const { &[right("leaves out"), right("")] },
            Kind::Session => const { &[right(""), left(""), left("")] },
            Kind::Setting => const { &[left("value"), left("source"), left("")] },
            Kind::Workspace => const { &[right(""), left("")] },
            Kind::Notice => const { &[right("ago")] },
            Kind::SessionState => const { &[left("")] },
            Kind::Branch => const { &[right("contains"), right("")] },
            Kind::Import => const { &[right("found")] },
            _ => &[],
        }
    }

    /// Label of the second key, in a word or two; empty if it does nothing.
    #[must_use]
    pub fn other(self) -> &'static str {
        match self {
            Kind::Model => "refresh",
            Kind::Connection => "set key",
            Kind::Doctor => "check again",
            _ => "",
        }
    }

    /// Label of Enter, in a word or two.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Kind::Labels => "toggle",
            Kind::Connection => "use",
            Kind::Setting => "change",
            Kind::SessionState => "open",
            Kind::Import => "import",
            Kind::Doctor | Kind::Notice => "",
            _ => "choose",
        }
    }

    /// Text that can be typed, where that is more than a filter.
    #[must_use]
    pub fn typed(self) -> &'static str {
        match self {
            Kind::Labels => "Filter, or type a new label",
            _ => "",
        }
    }

    /// Words in place of the list where there is nothing to choose from, whatever is typed.
    #[must_use]
    pub fn none(self) -> &'static str {
        match self {
            Kind::Labels => "No labels yet: type a name to create one",
            Kind::Session => "No other sessions",
            Kind::History => "No sent messages yet",
            Kind::File => "No files found",
            Kind::Notice => "No notifications yet",
            _ => "no matches",
        }
    }

    /// Lines below the list for what is said of the selected item.
    #[must_use]
    pub fn about_lines(self) -> u16 {
        match self {
            Kind::Theme | Kind::Workspace | Kind::KeyText => 1,
            Kind::Session | Kind::Model | Kind::Connection | Kind::Rewind | Kind::Branch | Kind::Setting => 2,
            Kind::Doctor | Kind::Notice => 3,
            _ => 0,
        }
    }
}

/// Value of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Do this; the keys for it are in the keymap.
    Act(Action),
    /// The command of the user's own that has this name.
    Own(String),
    /// Open this topic of the manual.
    Topic(&'static Topic),
    /// Use this model of this connection.
    Model {
        /// The connection.
        connection: ConnectionName,
        /// The model.
        model: String,
    },
    /// Give this connection a key.
    Key(ConnectionName),
    /// The draft is the key of this connection.
    UseKey(ConnectionName),
    /// The draft holds a key and is sent all the same.
    SendKey,
    /// The draft goes.
    DropKey,
    /// Use this connection.
    Connection(ConnectionName),
    /// Add a server by its address.
    OtherServer,
    /// All sessions of a program, by its word in `/import`.
    Import(&'static str),
    /// A file or folder to import, which is asked for.
    ImportPath,
    /// Change to this mode.
    Mode(Mode),
    /// Change to this level.
    Thinking(ThinkingLevel),
    /// Use this theme.
    Theme(String),
    /// Open this session.
    Session(SessionId),
    /// Write this text into the composer.
    Text(String),
    /// Open this file outside the screen.
    File(Box<Attachment>),
    /// Give the sessions this status.
    Status(String),
    /// Add or take away this label.
    Label(String),
    /// Add this entry, `id::value`.
    LabelEntry(String),
    /// Define a label of this name and add it.
    NewLabel(String),
    /// Go back to before this message.
    Rewind(MessageId),
    /// Branch off behind this message; `None` for all of them.
    Branch(Option<MessageId>),
    /// Set this to its next choice.
    Setting(String),
    /// Ask for the context of a million tokens, or no longer.
    Million,
    /// Switch of the session.
    Switch(SessionSwitch),
    /// List only sessions with this, or without it, or all again.
    Facet(Facet),
    /// Open the workspace of this folder.
    Workspace(String),
    /// Make the workspace of this name, or open this folder as one.
    NewWorkspace(String),
    /// Nothing: a line that says why there is nothing to choose.
    Remark,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Text matched and shown first.
    pub label: String,
    /// Text shown beside it, dim; below a heading only matched.
    pub detail: String,
    /// Value of the item.
    pub value: Value,
    /// Other facts.
    pub facts: Facts,
}

/// Facts shown beside an item's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Below which heading it stands, by its place in [`Picker::groups`].
    pub group: usize,
    /// Cells of the columns of [`Kind::columns`].
    pub columns: Vec<String>,
    /// Description below the list while it is selected, a paragraph each.
    pub about: Vec<String>,
    /// It is in force.
    pub current: bool,
    /// It cannot be used as it is.
    pub off: bool,
    /// Health, for kinds that show it.
    pub health: Option<Health>,
    /// Id that is searched and not shown.
    pub id: &'static str,
    /// Number of other commands used since this one; `None` if it was not used.
    pub recent: Option<usize>,
}

impl Item {
    /// An item with nothing in columns.
    #[must_use]
    pub fn new(label: impl Into<String>, detail: impl Into<String>, value: Value) -> Self {
        Self { label: label.into(), detail: detail.into(), value, facts: Facts::default() }
    }

    /// The same with these facts.
    #[must_use]
    pub fn with(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }
}

/// A heading in a list, over the items that stand below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Note beside the name.
    pub note: String,
    /// More of them are awaited since then.
    pub since: Option<At>,
}

/// A column of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub head: &'static str,
    /// To which side its texts stand.
    pub side: Side,
}

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A row of a list as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerRow {
    /// A heading, by its place in [`Picker::groups`].
    Group(usize),
    /// An item, by its place in [`Picker::hits`].
    Hit(usize),
}

/// An item that matches what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its place in [`Picker::items`].
    pub item: usize,
    /// The characters of its label that matched, by their place.
    pub marks: Vec<usize>,
}

/// A list to choose from.
#[derive(Clone, Debug)]
pub struct Picker {
    /// Subject.
    pub kind: Kind,
    /// Filter text.
    pub query: Line,
    /// All items.
    pub items: Vec<Item>,
    /// Matching items, best first.
    pub hits: Vec<Hit>,
    /// The selected one, by its place in `hits`.
    pub selected: usize,
    /// The user moved the selection, or typed: it is theirs.
    pub touched: bool,
    /// Headings; empty for a list without any.
    pub groups: Vec<Group>,
    /// The sessions that the choice is for, where it is for some.
    pub sessions: Vec<SessionId>,
    /// Focus before it was opened.
    pub from: Focus,
}

impl Picker {
    /// A picker with everything shown and the item at `selected` selected.
    #[must_use]
    pub fn new(kind: Kind, items: Vec<Item>, selected: usize) -> Self {
        let mut picker = Self {
            kind,
            query: Line::default(),
            items,
            hits: Vec::new(),
            selected: 0,
            touched: false,
            groups: Vec::new(),
            sessions: Vec::new(),
            from: Focus::Composer,
        };
        picker.filter();
        picker.selected = selected.min(picker.hits.len().saturating_sub(1));
        picker
    }

    /// Finds the hits anew, after something was typed: first those that hold it as it stands, in what is shown beside
    /// them too, then those that hold its letters.
    pub fn filter(&mut self) {
        if self.kind == Kind::Palette {
            return self.rank();
        }
        if self.kind == Kind::Connection && holds_a_key(self.query.text()) {
            return self.list_for_a_key();
        }
        let labels = self.items.iter().map(|item| item.label.as_str());
        let query = self.query.text();
        self.hits = fuzzy::rank(query, labels).into_iter().map(|(item, marks)| Hit { item, marks }).collect();
        self.selected = 0;
        let query = query.trim().to_lowercase();
        if query.is_empty() {
            return;
        }
        let holds = |text: &str| text.to_lowercase().contains(&query);
        let known: HashSet<usize> = self.hits.iter().map(|hit| hit.item).collect();
        let beside = self.items.iter().enumerate().filter(|(n, item)| !known.contains(n) && holds(&item.detail));
        self.hits.extend(beside.map(|(item, _)| Hit { item, marks: Vec::new() }));
        let items = &self.items;
        self.hits.sort_by_cached_key(|hit| !items.get(hit.item).is_some_and(|i| holds(&i.label) || holds(&i.detail)));
        // The way out of a list without the one that is looked for.
        if let Some(other) = self.items.iter().position(|item| item.value == Value::OtherServer)
            && self.hits.iter().all(|hit| hit.item != other)
        {
            self.hits.push(Hit { item: other, marks: Vec::new() });
        }
        if self.groups.len() > 1 {
            // What stands below one heading stays together; the heading of the best one comes first.
            let group = |hit: &Hit| items.get(hit.item).map_or(0, |item| item.facts.group);
            let mut order = vec![usize::MAX; self.groups.len()];
            for (place, hit) in self.hits.iter().enumerate() {
                if let Some(first) = order.get_mut(group(hit)) {
                    *first = (*first).min(place);
                }
            }
            self.hits.sort_by_key(|hit| order.get(group(hit)).copied());
        }
    }

    /// Lists the connections that the key in the query can be for, the one of its vendor first.
    fn list_for_a_key(&mut self) {
        let vendor = vendor_of(self.query.text());
        let takes = |item: &Item| matches!(item.value, Value::Connection(_)) && !item.detail.is_empty();
        let mut fitting: Vec<usize> =
            self.items.iter().enumerate().filter(|(_, item)| takes(item)).map(|(at, _)| at).collect();
        fitting.sort_by_key(|at| self.items.get(*at).is_none_or(|item| Some(item.label.as_str()) != vendor));
        self.hits = fitting.into_iter().map(|item| Hit { item, marks: Vec::new() }).collect();
        self.selected = 0;
    }

    /// Ranks the commands of the palette as the slash menu ranks them.
    fn rank(&mut self) {
        let named: Vec<Named<'_>> = self
            .items
            .iter()
            .map(|item| Named {
                name: item.label.trim_start_matches('/'),
                about: &item.detail,
                id: item.facts.id,
                recent: item.facts.recent,
            })
            .collect();
        let slash = |place: usize| usize::from(self.items.get(place).is_some_and(|item| item.label.starts_with('/')));
        self.hits = ranked::rank(self.query.text(), &named)
            .into_iter()
            .map(|(item, marks)| Hit { item, marks: marks.into_iter().map(|mark| mark + slash(item)).collect() })
            .collect();
        self.selected = 0;
    }

    /// The rows to draw. Headings without items stand there too, as long as nothing was typed.
    #[must_use]
    pub fn rows(&self) -> Vec<PickerRow> {
        if self.groups.is_empty() {
            return (0..self.hits.len()).map(PickerRow::Hit).collect();
        }
        let group = |place: usize| self.hits.get(place).and_then(|hit| self.items.get(hit.item)).map(|i| i.facts.group);
        let mut rows = Vec::with_capacity(self.hits.len() + self.groups.len());
        let all = self.query.text().trim().is_empty();
        let mut next = 0;
        for place in 0..self.hits.len() {
            let own = group(place).unwrap_or(0);
            if place == 0 || group(place - 1) != Some(own) {
                rows.extend((next..own).filter(|_| all).map(PickerRow::Group));
                rows.push(PickerRow::Group(own));
                next = own + 1;
            }
            rows.push(PickerRow::Hit(place));
        }
        rows.extend((next..self.groups.len()).filter(|_| all).map(PickerRow::Group));
        rows
    }

    /// Replaces the items and keeps what was typed, and the selected item where it is still there. As long as nobody moved
    /// the selection it stays on the item at `usual`.
    pub fn refill(&mut self, items: Vec<Item>, usual: usize) {
        let selected = self.chosen().map(|item| item.value.clone()).filter(|_| self.touched);
        self.items = items;
        self.filter();
        let place = match selected {
            Some(value) => self.hits.iter().position(|hit| self.items.get(hit.item).is_some_and(|i| i.value == value)),
            None if self.query.text().is_empty() => self.hits.iter().position(|hit| hit.item == usual),
            None => None,
        };
        self.selected = place.unwrap_or(0);
    }

    /// True if more items are awaited below any heading.
    #[must_use]
    pub fn awaits(&self) -> bool {
        self.groups.iter().any(|group| group.since.is_some())
    }

    /// Number of items that match, and of all.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let can = |item: &&Item| item.value != Value::Remark;
        let hits = self.hits.iter().filter_map(|hit| self.items.get(hit.item));
        (hits.filter(can).count(), self.items.iter().filter(can).count())
    }

    /// The selected item.
    #[must_use]
    pub fn chosen(&self) -> Option<&Item> {
        self.items.get(self.hits.get(self.selected)?.item)
    }

    /// Moves the selection by a number of rows, stopping at both ends.
    pub fn step(&mut self, by: isize) {
        let last = self.hits.len().saturating_sub(1);
        self.touched = true;
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_counts_before_its_letters() {
        let items = [("search the messages", "history"), ("choose a theme", "app.theme"), ("the menu", "x")];
        let items = items.map(|(label, detail)| Item::new(label, detail, Value::Remark));
        let found = |query: &str| {
            let mut picker = Picker::new(Kind::Theme, items.to_vec(), 0);
            picker.query.insert(query);
            picker.filter();
            picker.hits.iter().map(|hit| hit.item).collect::<Vec<_>>()
        };
        assert_eq!(found("theme"), [1, 0, 2]);
        assert_eq!(found(""), [0, 1, 2]);
        assert_eq!(found("choose"), [1]);
    }
}
