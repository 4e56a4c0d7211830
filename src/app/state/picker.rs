//! A list to choose from, filtered by what is typed.

use super::Focus;
use super::edit::Line;
use super::fuzzy;
use super::sessions::Facet;
use crate::domain::Mode;
use crate::domain::attachment::Attachment;
use crate::domain::ids::{ConnectionName, MessageId, SessionId};
use crate::domain::session::ThinkingLevel;
use crate::keymap::action::Action;
use std::collections::HashSet;

/// What is chosen from.
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
    /// What the list is filtered by.
    Filter,
}

impl Kind {
    /// The picker's heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Kind::Palette => "Commands",
            Kind::Model => "Model",
            Kind::Connection => "Connections: give one a key",
            Kind::Mode => "Permission mode",
            Kind::Thinking => "Thinking level",
            Kind::Theme => "Theme",
            Kind::Session => "Sessions",
            Kind::History => "Sent earlier",
            Kind::File => "Open a file",
            Kind::Status => "Status",
            Kind::Labels => "Labels",
            Kind::Rewind => "Go back to before",
            Kind::Filter => "List only",
        }
    }
}

/// What an item stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Do this; the keys for it are in the keymap.
    Act(Action),
    /// Use this model of this connection.
    Model {
        /// The connection.
        connection: ConnectionName,
        /// The model.
        model: String,
    },
    /// Give this connection a key.
    Key(ConnectionName),
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
    /// List only sessions with this, or without it, or all again.
    Facet(Facet),
    /// Nothing: a line that says why there is nothing to choose.
    Remark,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What is matched and shown first.
    pub label: String,
    /// What is shown beside it, dim.
    pub detail: String,
    /// What it stands for.
    pub value: Value,
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
    /// What is chosen from.
    pub kind: Kind,
    /// What was typed.
    pub query: Line,
    /// All items.
    pub items: Vec<Item>,
    /// Those that match, best first.
    pub hits: Vec<Hit>,
    /// The selected one, by its place in `hits`.
    pub selected: usize,
    /// The sessions that the choice is for, where it is for some.
    pub sessions: Vec<SessionId>,
    /// What had the focus when it was opened.
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
    }

    /// Replaces the items and keeps what was typed, and the selected item where it is still there.
    pub fn refill(&mut self, items: Vec<Item>) {
        let selected = self.chosen().cloned();
        self.items = items;
        self.filter();
        let place = selected
            .and_then(|item| self.hits.iter().position(|hit| self.items.get(hit.item).is_some_and(|i| *i == item)));
        self.selected = place.unwrap_or(0);
    }

    /// The selected item.
    #[must_use]
    pub fn chosen(&self) -> Option<&Item> {
        self.items.get(self.hits.get(self.selected)?.item)
    }

    /// Moves the selection by so many rows, stopping at both ends.
    pub fn step(&mut self, by: isize) {
        let last = self.hits.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_counts_before_its_letters() {
        let items = [("search the messages", "history"), ("choose the colours", "app.theme"), ("the menu", "x")];
        let items = items.map(|(label, detail)| Item {
            label: label.to_owned(),
            detail: detail.to_owned(),
            value: Value::Remark,
        });
        let found = |query: &str| {
            let mut picker = Picker::new(Kind::Palette, items.to_vec(), 0);
            picker.query.insert(query);
            picker.filter();
            picker.hits.iter().map(|hit| hit.item).collect::<Vec<_>>()
        };
        assert_eq!(found("theme"), [1, 0, 2]);
        assert_eq!(found(""), [0, 1, 2]);
        assert_eq!(found("colours"), [1]);
    }
}
