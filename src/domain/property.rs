//! What a workspace defines for its sessions: statuses, labels and views, as Craft Agents' files have them.
//!
//! Values only. Reading and writing the files is the store's; evaluating a view's expression is `expression`'s.

use super::notice::Notice;
use serde::{Deserialize, Serialize};

/// Whether sessions of a status are still worked on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Still worked on.
    #[default]
    Open,
    /// Over.
    Closed,
}

/// A status that a session can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its id: what sessions store.
    pub id: String,
    /// What the screen says.
    pub label: String,
    /// Craft's colour, as written: a system name with optional opacity, or a colour.
    pub color: Option<String>,
    /// A short sign, such as an emoji.
    pub icon: Option<String>,
    /// Open or closed.
    pub category: Category,
    /// Place among the others.
    pub order: i64,
    /// It cannot be removed, nor change its category.
    pub fixed: bool,
    /// It came with the workspace and cannot be removed.
    pub default: bool,
}

/// What the value of a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// Any text.
    String,
    /// A decimal number.
    Number,
    /// `YYYY-MM-DD`, or with `THH:mm`.
    Date,
}

/// A rule that gives a label to a session by what the user writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoRule {
    /// A regular expression.
    pub pattern: String,
    /// Its flags as in JavaScript; `gi` when there are none.
    pub flags: Option<String>,
    /// The label's value, with `$1` for the first group; without it the first group, else the whole match.
    pub value_template: Option<String>,
    /// What it is for.
    pub description: Option<String>,
}

/// A label that sessions can have, with those below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its id, unique in the whole tree.
    pub id: String,
    /// What the screen says.
    pub name: String,
    /// Craft's colour, as written.
    pub color: Option<String>,
    /// The type of its value; `None` for one without.
    pub value_type: Option<ValueType>,
    /// Labels below it.
    pub children: Vec<Label>,
    /// Rules that give it.
    pub rules: Vec<AutoRule>,
}

/// A named filter of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub id: String,
    /// What the screen says.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Craft's colour, as written.
    pub color: Option<String>,
    /// The condition.
    pub expression: String,
}

/// All that a workspace defines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Properties {
    /// The statuses, in order.
    pub statuses: Vec<Status>,
    /// The status that an unknown one reads as.
    pub default_status: String,
    /// The labels, as a tree.
    pub labels: Vec<Label>,
    /// The views.
    pub views: Vec<View>,
    /// What was wrong with the files.
    pub problems: Vec<Notice>,
}

/// A definition to be added to the workspace's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "define", content = "with")]
pub enum Definition {
    /// A label below `under`, or at the top; its id is made of the name.
    Label {
        /// Its name.
        name: String,
        /// The label above it.
        under: Option<String>,
        /// The type of its value.
        value_type: Option<ValueType>,
    },
    /// A status at the end; its id is made of the name.
    Status {
        /// Its name.
        name: String,
        /// Open or closed.
        category: Category,
    },
    /// A view; one of the same name is replaced.
    View {
        /// Its name.
        name: String,
        /// Its condition.
        expression: String,
    },
}

/// The id in a label entry `id` or `id::value`, and the value.
#[must_use]
pub fn split_label(entry: &str) -> (&str, Option<&str>) {
    match entry.split_once("::") {
        Some((id, value)) => (id, Some(value)),
        None => (entry, None),
    }
}
