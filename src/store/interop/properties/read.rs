//! From the text of the files to values. An entry that cannot be used is told with its line, and the others are used.

use super::PropertyFile;
use crate::domain::colour::Colour;
use crate::domain::expression::Expression;
use crate::domain::notice::{Level, Notice};
use crate::domain::property::{
    AutoRule, BUILTIN_STATUSES, Category, DEPTH, Label, Properties, SavedView, Status, TODO, ValueType, usual_colour,
};
use crate::store::format::json::value_of;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The statuses without which Craft Agents does not use a file.
const NEEDED: [&str; 3] = [TODO, "done", "cancelled"];

/// An object: its text, and the texts of its values.
pub(super) struct JsonObject<'a> {
    pub raw: &'a str,
    pub fields: HashMap<String, &'a RawValue>,
}

impl<'a> JsonObject<'a> {
    pub(super) fn parse(raw: &'a str) -> Result<Self, serde_json::Error> {
        Ok(Self { raw, fields: serde_json::from_str(raw)? })
    }

    /// The value of a key; `null` counts as none.
    pub(super) fn value(&self, key: &str) -> Option<Value> {
        self.fields.get(key).map(|raw| value_of(raw.get())).filter(|value| !value.is_null())
    }

    /// The value of a key, where that is a text.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.value(key)?.as_str().map(str::to_owned)
    }

    /// The entries of a list; `None` when the key is missing.
    pub(super) fn list(&self, key: &str) -> Option<Result<Vec<&'a str>, ()>> {
        let raw = self.fields.get(key).filter(|raw| raw.get() != "null")?;
        Some(items(raw.get()).map_err(|_| ()))
    }
}

/// The items of a list, as they are written.
pub(super) fn items(raw: &str) -> Result<Vec<&str>, serde_json::Error> {
    Ok(serde_json::from_str::<Vec<&RawValue>>(raw)?.into_iter().map(RawValue::get).collect())
}

/// The items of a file's list. Some programs write the list alone.
///
/// # Errors
/// Place and reason why the file cannot be used, to follow its path.
pub(super) fn list<'a>(text: &'a str, key: &str) -> Result<Vec<&'a str>, String> {
    let broken = |error: serde_json::Error| format!(", line {}: not valid JSON: {error}.", error.line());
    if text.trim_start().starts_with('[') {
        return items(text).map_err(broken);
    }
    // Checked as a whole first: then the error's line is that of the file.
    serde_json::from_str::<&RawValue>(text).map_err(broken)?;
    let Ok(root) = JsonObject::parse(text) else { return Err(", line 1: not an object.".to_owned()) };
    match root.list(key) {
        Some(Ok(items)) => Ok(items),
        Some(Err(())) => {
            let raw = root.fields.get(key).map_or(text, |raw| raw.get());
            Err(format!(", line {}: {key:?} is not a list.", line_in(text, raw)))
        }
        None => Ok(Vec::new()),
    }
}

/// The line, counted from 1, at which a part of the text begins.
pub(super) fn line_in(text: &str, part: &str) -> usize {
    let at = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.as_bytes().get(..at).map_or(1, |before| memchr::memchr_iter(b'\n', before).count() + 1)
}

/// Reading one file.
pub(super) struct PropertyReader<'a> {
    path: &'a Path,
    pub problems: Vec<Notice>,
}

impl<'a> PropertyReader<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self { path, problems: Vec::new() }
    }

    /// Reads the file into `all`, which is left alone when it is broken.
    ///
    /// # Errors
    /// Place and reason, to follow the file's path.
    pub(super) fn file(&mut self, kind: PropertyFile, bytes: &[u8], all: &mut Properties) -> Result<(), String> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            format!(", line {}: not UTF-8.", memchr::memchr_iter(b'\n', before).count() + 1)
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let entries = list(text, kind.key())?;
        match kind {
            PropertyFile::Statuses => {
                let default = JsonObject::parse(text).ok().and_then(|root| root.text("defaultStatusId"));
                self.statuses(text, &entries, default, all);
            }
            PropertyFile::Labels => all.labels = self.labels(text, &entries, 0, &mut HashSet::new()),
            PropertyFile::Views
                if entries.is_empty()
                    && JsonObject::parse(text).is_ok_and(|root| !root.fields.contains_key("views")) => {}
            PropertyFile::Views => all.views = self.views(text, &entries),
        }
        Ok(())
    }

    fn tell(&mut self, text: &str, part: &str, what: &str, hint: &str) {
        let line = line_in(text, part);
        let notice = Notice::new(Level::Warning, format!("{}, line {line}: {what}", self.path.display()));
        self.problems.push(notice.hint(hint));
    }

    /// The object of an entry, and its id when that is a text.
    fn entry<'t>(&mut self, text: &'t str, raw: &'t str, what: &str) -> Option<(JsonObject<'t>, String)> {
        let Ok(entry) = JsonObject::parse(raw) else {
            self.tell(text, raw, &format!("Not a {what}."), "Remove the entry, or make it an object.");
            return None;
        };
        match entry.value("id") {
            Some(Value::String(id)) => {
                if id.is_empty() {
                    let name = entry.text("label").or_else(|| entry.text("name")).unwrap_or_default();
                    let says = format!("The {what} {name:?} has an empty id.");
                    self.tell(text, raw, &says, "Give it a unique id of letters and hyphens.");
                }
                Some((entry, id))
            }
            _ => {
                self.tell(text, raw, &format!("Ignored a {what} without an id."), "Give it an \"id\".");
                None
            }
        }
    }

    fn text_of(&mut self, text: &str, entry: &JsonObject<'_>, key: &str) -> Option<String> {
        match entry.value(key)? {
            Value::String(value) => Some(value),
            _ => {
                let part = entry.fields.get(key).map_or(entry.raw, |raw| raw.get());
                self.tell(text, part, &format!("Ignored {key:?}: not a string."), "Put it in quotes.");
                None
            }
        }
    }

    fn colour(&mut self, text: &str, entry: &JsonObject<'_>) -> Option<Colour> {
        let value = entry.value("color")?;
        let read = match &value {
            Value::String(one) => Colour::parse(one),
            Value::Object(pair) => match (pair.get("light").and_then(Value::as_str), pair.get("dark")) {
                (Some(light), dark) => Colour::pair(light, dark.and_then(Value::as_str)),
                (None, Some(Value::String(dark))) => Colour::pair(dark, None),
                _ => Err("a pair of colors needs \"light\"".to_owned()),
            },
            _ => Err("expected a string or a pair".to_owned()),
        };
        match read {
            Ok(colour) => Some(colour),
            Err(why) => {
                let part = entry.fields.get("color").map_or(entry.raw, |raw| raw.get());
                self.tell(text, part, &format!("Ignored the color: {why}."), "Fix it, or remove it.");
                None
            }
        }
    }

    fn statuses(&mut self, text: &str, entries: &[&str], default: Option<String>, all: &mut Properties) {
        let mut statuses: Vec<Status> = Vec::new();
        for (raw, place) in entries.iter().zip(0i64..) {
            let Some((entry, id)) = self.entry(text, raw, "status") else { continue };
            if statuses.iter().any(|status| status.id == id) {
                let says = format!("Duplicate status {id:?}; using the first.");
                self.tell(text, raw, &says, "Remove one of them.");
                continue;
            }
            let category = match self.text_of(text, &entry, "category") {
                None => Category::Open,
                Some(word) => Category::parse(&word).unwrap_or_else(|| {
                    let says = format!("Unknown category {word:?} of {id:?}; using open.");
                    self.tell(text, raw, &says, "Use \"open\" or \"closed\".");
                    Category::Open
                }),
            };
            let is = |key: &str| entry.value(key).and_then(|value| value.as_bool()).unwrap_or(false);
            let needed = NEEDED.contains(&id.as_str());
            if needed && !is("isFixed") {
                let says = format!("The status {id:?} is not fixed. Craft Agents rejects such a file.");
                self.tell(text, raw, &says, "Write \"isFixed\": true.");
            }
            let order = entry.value("order").and_then(|value| value.as_i64()).unwrap_or(place);
            statuses.push(Status {
                label: self.name(text, &entry, "label", &id),
                color: self.colour(text, &entry).or_else(|| usual_colour(&id)),
                icon: entry.text("icon").filter(|icon| is_sign(icon)),
                category,
                order,
                fixed: needed || is("isFixed"),
                default: is("isDefault"),
                id,
            });
        }
        let missing: Vec<&Status> = BUILTIN_STATUSES
            .iter()
            .filter(|one| NEEDED.contains(&one.id.as_str()))
            .filter(|one| !statuses.iter().any(|s| s.id == one.id))
            .collect();
        if !missing.is_empty() {
            let ids: Vec<&str> = missing.iter().map(|one| one.id.as_str()).collect();
            let says = format!("Missing status {}. Craft Agents rejects such a file; lisle adds it.", ids.join(", "));
            self.tell(text, text, &says, "Add it, with \"isFixed\": true.");
            let last = statuses.iter().map(|status| status.order).max().unwrap_or(-1);
            let added: Vec<Status> =
                (1..).zip(missing).map(|(n, one)| Status { order: last.saturating_add(n), ..one.clone() }).collect();
            statuses.extend(added);
        }
        statuses.sort_by_key(|status| status.order);
        all.statuses = statuses;
        all.default_status = match default {
            None => TODO.to_owned(),
            Some(id) if all.known_status(&id).is_some() => id,
            Some(id) => {
                let says = format!("Unknown default status {id:?}; using {TODO}.");
                self.tell(text, text, &says, "Fix \"defaultStatusId\".");
                TODO.to_owned()
            }
        };
    }

    fn name(&mut self, text: &str, entry: &JsonObject<'_>, key: &str, id: &str) -> String {
        self.text_of(text, entry, key).filter(|name| !name.trim().is_empty()).unwrap_or_else(|| id.to_owned())
    }

    fn labels(&mut self, text: &str, entries: &[&str], depth: usize, seen: &mut HashSet<String>) -> Vec<Label> {
        let mut labels = Vec::new();
        if let Some(first) = entries.first().filter(|_| depth >= DEPTH) {
            let says = format!("Labels nest {DEPTH} levels deep; deeper ones are ignored.");
            self.tell(text, first, &says, "Move these labels up.");
            return labels;
        }
        for raw in entries {
            let Some((entry, id)) = self.entry(text, raw, "label") else { continue };
            if !seen.insert(id.clone()) {
                let says = format!("Duplicate label {id:?}; using the first.");
                self.tell(text, raw, &says, "Change one of the ids.");
                continue;
            }
            let value_type = self.text_of(text, &entry, "valueType").and_then(|word| {
                let known = ValueType::parse(&word);
                if known.is_none() {
                    let says = format!("Unknown type {word:?} of the label {id:?}; it takes no value.");
                    self.tell(text, raw, &says, "Use \"string\", \"number\" or \"date\".");
                }
                known
            });
            let children = match entry.list("children") {
                None => Vec::new(),
                Some(Ok(children)) => self.labels(text, &children, depth + 1, seen),
                Some(Err(())) => {
                    self.tell(text, raw, "The label's \"children\" must be a list.", "Make it a list.");
                    Vec::new()
                }
            };
            labels.push(Label {
                name: self.name(text, &entry, "name", &id),
                color: self.colour(text, &entry),
                value_type,
                children,
                rules: self.rules(text, &entry),
                id,
            });
        }
        labels
    }

    fn rules(&mut self, text: &str, label: &JsonObject<'_>) -> Vec<AutoRule> {
        let mut rules = Vec::new();
        match label.list("autoRules") {
            None => {}
            Some(Err(())) => {
                self.tell(text, label.raw, "The label's \"autoRules\" must be a list.", "Make it a list.");
            }
            Some(Ok(entries)) => {
                for raw in entries {
                    let entry = JsonObject::parse(raw).ok();
                    match entry.as_ref().and_then(|entry| entry.text("pattern")).filter(|pattern| !pattern.is_empty()) {
                        Some(pattern) => rules.push(AutoRule {
                            pattern,
                            flags: entry.as_ref().and_then(|entry| entry.text("flags")),
                            value_template: entry.as_ref().and_then(|entry| entry.text("valueTemplate")),
                            description: entry.as_ref().and_then(|entry| entry.text("description")),
                        }),
                        None => self.tell(text, raw, "Ignored a rule without a \"pattern\".", "Give it one."),
                    }
                }
            }
        }
        rules
    }

    fn views(&mut self, text: &str, entries: &[&str]) -> Vec<SavedView> {
        let mut views: Vec<SavedView> = Vec::new();
        for raw in entries {
            let Some((entry, id)) = self.entry(text, raw, "view") else { continue };
            if views.iter().any(|view| view.id == id) {
                let says = format!("Duplicate view {id:?}; using the first.");
                self.tell(text, raw, &says, "Change one of the ids.");
                continue;
            }
            let name = self.name(text, &entry, "name", &id);
            let Some(expression) = self.text_of(text, &entry, "expression") else {
                let says = format!("Ignored view {name:?}: no \"expression\".");
                self.tell(text, raw, &says, "Give it one, such as \"hasUnread == true\".");
                continue;
            };
            if let Err(error) = Expression::parse(&expression) {
                let part = entry.fields.get("expression").map_or(*raw, |raw| raw.get());
                let says = format!("Ignored view {name:?}: {error}");
                self.tell(text, part, &says, "Fix its \"expression\".");
                continue;
            }
            let description = entry.text("description").filter(|text| !text.is_empty());
            views.push(SavedView { color: self.colour(text, &entry), id, name, description, expression });
        }
        views
    }
}

/// An icon that is no file and no address: an emoji or another sign of a few characters.
fn is_sign(icon: &str) -> bool {
    (1..=10).contains(&icon.chars().count())
        && !icon.contains(['/', '.', '<'])
        && icon.chars().any(|c| !c.is_ascii_alphanumeric())
}
