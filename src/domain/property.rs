//! Statuses, labels and views of a workspace, as in Craft Agents' files.
//!
//! Values only. Reading and writing the files is the store's; evaluating a view's expression is `expression`'s.

use super::colour::{Colour, System};
use super::notice::Notice;
use jiff::civil::{Date, DateTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Category of a status: open or closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Still worked on.
    #[default]
    Open,
    /// Over.
    Closed,
}

/// A status that a session can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its id: what sessions store.
    pub id: String,
    /// Name on the screen.
    pub label: String,
    /// Its colour; the screen takes a muted one where there is none.
    pub color: Option<Colour>,
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

/// Type of a label's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutoRule {
    /// A regular expression.
    pub pattern: String,
    /// Its flags as in JavaScript; `gi` when there are none.
    pub flags: Option<String>,
    /// The label's value, with `$1` for the first group; without it the first group, else the whole match.
    pub value_template: Option<String>,
    /// Purpose.
    pub description: Option<String>,
}

/// A label that sessions can have, with those below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// Its id, unique in the whole tree.
    pub id: String,
    /// Name on the screen.
    pub name: String,
    /// Its colour; the screen takes a muted one where there is none.
    pub color: Option<Colour>,
    /// The type of its value; `None` for one without.
    pub value_type: Option<ValueType>,
    /// Labels below it.
    pub children: Vec<Label>,
    /// Rules that give it.
    pub rules: Vec<AutoRule>,
}

/// A named filter of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SavedView {
    /// Its id.
    pub id: String,
    /// Name on the screen.
    pub name: String,
    /// Purpose.
    pub description: Option<String>,
    /// Its colour; the screen takes a muted one where there is none.
    pub color: Option<Colour>,
    /// The condition.
    pub expression: String,
}

/// All that a workspace defines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Properties {
    /// The statuses, in order.
    pub statuses: Vec<Status>,
    /// The status that an unknown one reads as.
    pub default_status: String,
    /// The labels, as a tree.
    pub labels: Vec<Label>,
    /// The views.
    pub views: Vec<SavedView>,
    /// Problems of the files.
    pub problems: Vec<Notice>,
}

/// A definition to be added to the workspace's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl ValueType {
    /// The word in the files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Date => "date",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::String, Self::Number, Self::Date].into_iter().find(|one| one.word() == text)
    }
}

impl Category {
    /// The word in the files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Closed].into_iter().find(|one| one.word() == text)
    }
}

/// The status of a session that says nothing, and the one that cannot be missing.
pub const TODO: &str = "todo";

/// Depth of the tree of labels.
pub const DEPTH: usize = 5;

/// Status of a session that is worked on.
pub const WORKING: &str = "in-progress";
/// Status of a session whose plan waits.
pub const REVIEW: &str = "needs-review";

/// The colour of a status that Craft Agents knows, where the file gives it none.
#[must_use]
pub fn usual_colour(status: &str) -> Option<Colour> {
    match status {
        TODO | "backlog" | "cancelled" => Some(Colour::System(System::Foreground, 50)),
        WORKING => Some(Colour::System(System::Success, 100)),
        REVIEW => Some(Colour::System(System::Info, 100)),
        "done" => Some(Colour::System(System::Accent, 100)),
        _ => None,
    }
}

/// The statuses of a workspace that defines none, in order.
pub static BUILTIN_STATUSES: LazyLock<Vec<Status>> = LazyLock::new(|| {
    let rows = [
        (TODO, "Todo", Category::Open, true),
        (WORKING, "In Progress", Category::Open, false),
        (REVIEW, "Needs Review", Category::Open, false),
        ("done", "Done", Category::Closed, true),
        ("cancelled", "Cancelled", Category::Closed, true),
    ];
    let status = |(order, (id, label, category, fixed)): (i64, (&str, &str, Category, bool))| Status {
        id: id.to_owned(),
        label: label.to_owned(),
        color: usual_colour(id),
        icon: None,
        category,
        order,
        fixed,
        default: !fixed,
    };
    (0..).zip(rows).map(status).collect()
});

/// The views of a workspace that defines none.
pub static BUILTIN_VIEWS: LazyLock<Vec<SavedView>> = LazyLock::new(|| {
    let rows = [
        ("New", "Unread sessions", System::Accent, 100, "hasUnread == true"),
        ("Plan", "Sessions with a pending plan", System::Info, 100, "hasPendingPlan == true"),
        ("Explore", "Sessions in Explore (read-only)", System::Foreground, 50, "permissionMode == \"safe\""),
        ("Processing", "Running sessions", System::Success, 100, "isProcessing == true"),
    ];
    let view = |(name, description, system, strength, expression): (&str, &str, System, u8, &str)| SavedView {
        id: format!("view-{}", name.to_lowercase()),
        name: name.to_owned(),
        description: Some(description.to_owned()),
        color: Some(Colour::System(system, strength)),
        expression: expression.to_owned(),
    };
    rows.into_iter().map(view).collect()
});

/// Reading of an unknown status where a workspace has no status at all, which its reader prevents.
static LAST_RESORT: LazyLock<Status> = LazyLock::new(|| Status {
    id: TODO.to_owned(),
    label: "Todo".to_owned(),
    color: usual_colour(TODO),
    icon: None,
    category: Category::Open,
    order: 0,
    fixed: true,
    default: false,
});

impl Properties {
    /// Defaults of a workspace that defines nothing: five statuses, four views, no labels.
    #[must_use]
    pub fn builtin() -> Self {
        Self {
            statuses: BUILTIN_STATUSES.clone(),
            default_status: TODO.to_owned(),
            labels: Vec::new(),
            views: BUILTIN_VIEWS.clone(),
            problems: Vec::new(),
        }
    }

    /// The status of this id, or the default one: a session's own id stays on disk, whatever it reads as.
    #[must_use]
    pub fn status(&self, id: &str) -> &Status {
        let default = || self.known_status(&self.default_status).or(self.statuses.first());
        self.known_status(id).or_else(default).unwrap_or(&LAST_RESORT)
    }

    /// The status of this id. Underscores are read as hyphens.
    #[must_use]
    pub fn known_status(&self, id: &str) -> Option<&Status> {
        let same = |a: &str, b: &str| a == b || a.replace('_', "-") == b.replace('_', "-");
        self.statuses.iter().find(|status| same(&status.id, id))
    }

    /// The status that somebody means by `words`: its id, or its name in any case.
    #[must_use]
    pub fn find_status(&self, words: &str) -> Option<&Status> {
        self.known_status(words).or_else(|| self.statuses.iter().find(|status| means(&status.label, words)))
    }

    /// Sessions of this status are over.
    #[must_use]
    pub fn is_closed(&self, id: &str) -> bool {
        self.status(id).category == Category::Closed
    }

    /// The label of this id, wherever in the tree it stands.
    #[must_use]
    pub fn label(&self, id: &str) -> Option<&Label> {
        self.walk().into_iter().map(|(_, label)| label).find(|label| label.id == id)
    }

    /// The label that somebody means by `words`: its id, or its name in any case.
    #[must_use]
    pub fn find_label(&self, words: &str) -> Option<&Label> {
        self.label(words)
            .or_else(|| self.walk().into_iter().map(|(_, label)| label).find(|label| means(&label.name, words)))
    }

    /// All labels in the order of the tree, each before those below it, with its depth (0 at the top).
    #[must_use]
    pub fn walk(&self) -> Vec<(usize, &Label)> {
        fn into<'a>(labels: &'a [Label], depth: usize, out: &mut Vec<(usize, &'a Label)>) {
            for label in labels {
                out.push((depth, label));
                into(&label.children, depth + 1, out);
            }
        }
        let mut out = Vec::new();
        into(&self.labels, 0, &mut out);
        out
    }

    /// The ids of a label and of all below it; of one that is not defined, itself.
    #[must_use]
    pub fn under<'a>(&'a self, id: &'a str) -> Vec<&'a str> {
        fn into<'a>(label: &'a Label, out: &mut Vec<&'a str>) {
            out.push(&label.id);
            label.children.iter().for_each(|child| into(child, out));
        }
        let mut out = Vec::new();
        match self.label(id) {
            Some(label) => into(label, &mut out),
            None => out.push(id),
        }
        out
    }

    /// One of the entries is of this label or of one below it.
    #[must_use]
    pub fn has_label(&self, entries: &[String], id: &str) -> bool {
        let ids = self.under(id);
        entries.iter().any(|entry| ids.contains(&split_label(entry).0))
    }

    /// The view that somebody means by `words`: its id, or its name in any case.
    #[must_use]
    pub fn view(&self, words: &str) -> Option<&SavedView> {
        let by_id = self.views.iter().find(|view| view.id == words);
        by_id.or_else(|| self.views.iter().find(|view| means(&view.name, words)))
    }

    /// A session's label as the screen says it: `Bug`, `Priority: 3`, `Due: Jan 30, 2026`. One that is not defined is
    /// shown by its id.
    #[must_use]
    pub fn shown_label(&self, entry: &str) -> String {
        let (id, value) = split_label(entry);
        let name = self.label(id).map_or(id, |label| label.name.as_str());
        match value {
            None => name.to_owned(),
            Some(value) => format!("{name}: {}", LabelValue::of(value)),
        }
    }

    /// Checks that a person may give a session this entry: its label exists and the value is of its type.
    ///
    /// # Errors
    /// The problem, as a sentence that says what to write instead.
    pub fn check_label(&self, entry: &str) -> Result<(), String> {
        let (id, value) = split_label(entry);
        let Some(label) = self.label(id) else {
            let ids: Vec<&str> = self.walk().into_iter().map(|(_, label)| label.id.as_str()).collect();
            let near = super::nearest::nearest(id, ids.iter().copied());
            return Err(match near {
                Some(near) => format!("No label \"{id}\". Did you mean \"{near}\"?"),
                None if ids.is_empty() => format!("No label \"{id}\": this workspace defines none."),
                None => format!("No label \"{id}\". Available: {}.", ids.join(", ")),
            });
        };
        match (label.value_type, value) {
            (_, None) => Ok(()),
            (None, Some(_)) => Err(format!("The label \"{id}\" takes no value: use \"{id}\".")),
            (Some(kind), Some(value)) => match (kind, LabelValue::of(value)) {
                (ValueType::String, _)
                | (ValueType::Number, LabelValue::Number(_))
                | (ValueType::Date, LabelValue::Day(_) | LabelValue::Minute(_)) => Ok(()),
                (ValueType::Number, _) => {
                    Err(format!("Invalid value {value:?} for \"{id}\": expected a number such as 3 or -2.5."))
                }
                (ValueType::Date, _) => Err(format!(
                    "Invalid value {value:?} for \"{id}\": expected a date such as 2026-01-30 or 2026-01-30T09:15."
                )),
            },
        }
    }
}

fn means(name: &str, words: &str) -> bool {
    name.trim().to_lowercase() == words.trim().to_lowercase()
}

/// The value of a label entry, by what it looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelValue<'a> {
    /// A day, `2026-01-30`.
    Day(Date),
    /// A minute of UTC, `2026-01-30T09:15`.
    Minute(DateTime),
    /// A decimal number; no exponent, no hex.
    Number(f64),
    /// Anything else, also a date that no calendar has.
    Text(&'a str),
}

impl<'a> LabelValue<'a> {
    /// Type of a value's text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let day = || text.get(..10)?.parse::<Date>().ok();
        match shape.as_str() {
            "0000-00-00" => day().map_or(Self::Text(text), Self::Day),
            "0000-00-00T00:00" => {
                let minute = || {
                    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i8>().ok();
                    jiff::civil::Time::new(part(11, 13)?, part(14, 16)?, 0, 0).ok()
                };
                let both = day().zip(minute());
                both.map_or(Self::Text(text), |(day, time)| Self::Minute(day.to_datetime(time)))
            }
            _ if is_decimal(text) => text.parse().map_or(Self::Text(text), Self::Number),
            _ => Self::Text(text),
        }
    }
}

/// As a person reads it: dates like `Jan 30, 2026`, the rest as it is written.
impl std::fmt::Display for LabelValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Day(day) => write!(f, "{}", day.strftime("%b %-d, %Y")),
            Self::Minute(minute) => write!(f, "{}", minute.strftime("%b %-d, %Y %H:%M")),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Digits with an optional minus and an optional fraction.
#[must_use]
pub fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    match unsigned.split_once('.') {
        Some((before, after)) => digits(before) && digits(after),
        None => digits(unsigned),
    }
}

/// The id in a label entry `id` or `id::value`, and the value.
#[must_use]
pub fn split_label(entry: &str) -> (&str, Option<&str>) {
    match entry.split_once("::") {
        Some((id, value)) => (id, Some(value)),
        None => (entry, None),
    }
}

/// Gives an entry: it takes the place of the first of the same label, and the others of that label go.
pub fn add_label(entries: &mut Vec<String>, entry: &str) {
    let id = split_label(entry).0;
    let place = entries.iter().position(|one| split_label(one).0 == id);
    entries.retain(|one| split_label(one).0 != id);
    // Those before the first one of this label stay, so its place is still there.
    entries.insert(place.unwrap_or(entries.len()), entry.to_owned());
}

/// Takes away every entry of a label.
pub fn remove_label(entries: &mut Vec<String>, id: &str) {
    entries.retain(|one| split_label(one).0 != id);
}

/// Appends what a rule gives, where the very same entry is not there yet: a label can stand with several values.
pub fn append_labels(entries: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for entry in more {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
}

/// The longest id that is made of a name.
const SLUG: usize = 30;

/// An id made of a name, as Craft Agents makes them: ASCII letters and digits in lower case, the rest as `-`, at most
/// 30 characters, and `-2`, `-3` … behind it until it is not taken. A name without any such letter gives `WORD-1`,
/// where Craft would give an empty id.
#[must_use]
pub fn slug(name: &str, word: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let mut base = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            base.push(c.to_ascii_lowercase());
        } else if !base.is_empty() && !base.ends_with('-') {
            base.push('-');
        }
    }
    let cut = |base: &str, room: usize| base.chars().take(room).collect::<String>().trim_end_matches('-').to_owned();
    let base = cut(&base, SLUG);
    if !base.is_empty() && !taken(&base) {
        return base;
    }
    let (base, first) = if base.is_empty() { (word, 1u64) } else { (base.as_str(), 2) };
    for number in first..u64::MAX {
        let tail = format!("-{number}");
        let id = cut(base, SLUG - tail.len()) + &tail;
        if !taken(&id) {
            return id;
        }
    }
    base.to_owned()
}

#[cfg(test)]
mod tests;
