//! A definition added to the text of a file. What stands there is not written anew: unknown keys, odd numbers and
//! spacing survive because only the new entry is put in.

use super::PropertyFile;
use super::read::{JsonObject, items, list};
use crate::domain::colour::{Colour, Rgb};
use crate::domain::expression::Expression;
use crate::domain::property::{Category, DEPTH, Definition, SavedView, Status, ValueType, slug};
use crate::domain::splice::{end, indent, put, replaced, start, starts_line};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The text of the file with the definition in it.
///
/// # Errors
/// Reason why it cannot be added, as the end of a sentence.
pub(super) fn add(text: &str, kind: PropertyFile, definition: &Definition) -> Result<String, String> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let entries = list(body, kind.key()).map_err(|why| format!("invalid file{why} Fix it first"))?;
    let edited = match definition {
        Definition::Label { name, under, value_type } => {
            add_label(body, kind, &entries, (name, under.as_deref()), *value_type)?
        }
        Definition::Status { name, category } => {
            let name = named(name)?;
            free(&entries, "label", &name, "status")?;
            let mut ids = HashSet::new();
            collect(&entries, 0, &mut ids);
            let orders = entries.iter().zip(0i64..).map(|(raw, place)| {
                let order = JsonObject::parse(raw).ok().and_then(|entry| entry.value("order")?.as_i64());
                order.unwrap_or(place)
            });
            let status = Status {
                id: slug(&name, "status", &|id| ids.contains(id)),
                label: name,
                color: None,
                icon: None,
                category: *category,
                order: orders.max().unwrap_or(-1).saturating_add(1),
                fixed: false,
                default: false,
            };
            into_root(body, kind, &self::status(&status))?
        }
        Definition::View { name, expression } => add_view(body, kind, &entries, name, expression)?,
    };
    // What was put together by hand is read once more before it replaces anything.
    list(&edited, kind.key()).map_err(|why| format!("the new text would be invalid{why}"))?;
    Ok(format!("{mark}{edited}"))
}

/// Adds a label, below the one of the id `under` where there is one.
fn add_label(
    body: &str,
    kind: PropertyFile,
    entries: &[&str],
    (name, under): (&str, Option<&str>),
    value_type: Option<ValueType>,
) -> Result<String, String> {
    let name = named(name)?;
    let above = under.map(|id| find(entries, id, 1).ok_or(format!("no label {id:?}"))).transpose()?;
    let mut ids = HashSet::new();
    collect(entries, 0, &mut ids);
    let mut label = json!({"id": slug(&name, "label", &|id| ids.contains(id)), "name": name});
    if let Some(value_type) = value_type {
        label["valueType"] = json!(value_type.word());
    }
    let siblings = match &above {
        Some((entry, _)) => {
            entry.list("children").unwrap_or(Ok(Vec::new())).map_err(|()| "\"children\" is not a list")?
        }
        None => entries.to_vec(),
    };
    free(&siblings, "name", &name, "label")?;
    match above {
        Some((_, depth)) if depth >= DEPTH => Err(format!("labels can nest {DEPTH} levels deep")),
        Some((entry, _)) => Ok(into(body, &entry, "children", &label)),
        None => into_root(body, kind, &label),
    }
}

/// Adds a view, or replaces the condition of the one of this name.
fn add_view(body: &str, kind: PropertyFile, entries: &[&str], name: &str, expression: &str) -> Result<String, String> {
    let name = named(name)?;
    Expression::parse(expression).map_err(|error| format!("invalid condition: {error}"))?;
    Ok(match entries.iter().filter_map(|raw| JsonObject::parse(raw).ok()).find(|view| is_named(view, "name", &name)) {
        Some(old) => match old.fields.get("expression") {
            Some(raw) => replaced(body, raw.get(), &json!(expression).to_string()),
            None => keyed(body, &old, "expression", &json!(expression)),
        },
        None => {
            let mut ids = HashSet::new();
            collect(entries, 0, &mut ids);
            // Craft's ids of views begin with the word.
            let id = slug(&format!("view {name}"), "view", &|id| id == "view" || ids.contains(id));
            into_root(body, kind, &json!({"id": id, "name": name, "expression": expression}))?
        }
    })
}

fn named(name: &str) -> Result<String, String> {
    let name: Vec<&str> = name.split_whitespace().collect();
    if name.is_empty() { Err("empty name".to_owned()) } else { Ok(name.join(" ")) }
}

fn is_named(entry: &JsonObject<'_>, key: &str, name: &str) -> bool {
    entry.text(key).is_some_and(|other| other.trim().to_lowercase() == name.to_lowercase())
}

fn free(entries: &[&str], key: &str, name: &str, what: &str) -> Result<(), String> {
    let taken = entries.iter().filter_map(|raw| JsonObject::parse(raw).ok()).any(|entry| is_named(&entry, key, name));
    if taken { Err(format!("a {what} named {name:?} already exists")) } else { Ok(()) }
}

/// Below this depth nothing is looked at: no person made such a tree.
const DEEPEST: usize = 50;

/// The ids of entries and of all below them.
fn collect(entries: &[&str], depth: usize, ids: &mut HashSet<String>) {
    for entry in entries.iter().filter_map(|raw| JsonObject::parse(raw).ok()) {
        ids.extend(entry.text("id"));
        if depth < DEEPEST
            && let Some(Ok(children)) = entry.list("children")
        {
            collect(&children, depth + 1, ids);
        }
    }
}

/// The label of this id, and how deep it stands, counted from 1.
fn find<'a>(entries: &[&'a str], id: &str, depth: usize) -> Option<(JsonObject<'a>, usize)> {
    for entry in entries.iter().filter_map(|raw| JsonObject::parse(raw).ok()) {
        if entry.text("id").as_deref() == Some(id) {
            return Some((entry, depth));
        }
        let children = entry.list("children").filter(|_| depth < DEEPEST).and_then(Result::ok).unwrap_or_default();
        if let Some(found) = find(&children, id, depth + 1) {
            return Some(found);
        }
    }
    None
}

/// Puts an entry at the end of the file's list.
fn into_root(text: &str, kind: PropertyFile, item: &Value) -> Result<String, String> {
    if text.trim_start().starts_with('[') {
        return Ok(appended(text, text.trim(), item));
    }
    let root = JsonObject::parse(text).map_err(|error| error.to_string())?;
    Ok(into(text, &root, kind.key(), item))
}

/// Puts an item at the end of a list of an object; the list is made when there is none.
fn into(text: &str, object: &JsonObject<'_>, key: &str, item: &Value) -> String {
    match object.fields.get(key) {
        Some(raw) if raw.get() == "null" => {
            replaced(text, raw.get(), &pretty(&json!([item]), &indent(text, raw.get())))
        }
        Some(raw) => appended(text, raw.get(), item),
        None => keyed(text, object, key, &json!([item])),
    }
}

/// The text with the item at the end of `list`, which is a part of it.
fn appended(text: &str, list: &str, item: &Value) -> String {
    let last = items(list).ok().and_then(|items| items.last().copied());
    match last {
        Some(last) if starts_line(text, last) => {
            let indent = indent(text, last);
            put(text, end(text, last), &format!(",\n{indent}{}", pretty(item, &indent)))
        }
        Some(last) => put(text, end(text, last), &format!(", {item}")),
        None => replaced(text, list, &pretty(&json!([item]), &indent(text, list))),
    }
}

/// The text with one key more at the end of `object`, which is a part of it.
fn keyed(text: &str, object: &JsonObject<'_>, key: &str, value: &Value) -> String {
    match object.fields.values().map(|raw| raw.get()).max_by_key(|raw| raw.as_ptr()) {
        Some(last)
            if text.get(start(text, object.raw)..start(text, last)).is_some_and(|between| between.contains('\n')) =>
        {
            let indent = indent(text, last);
            put(text, end(text, last), &format!(",\n{indent}{key:?}: {}", pretty(value, &indent)))
        }
        Some(last) => put(text, end(text, last), &format!(", {key:?}: {value}")),
        None => replaced(text, object.raw.trim(), &pretty(&json!({key: value}), &indent(text, object.raw))),
    }
}

/// JSON over several lines, each but the first begun with `indent`.
fn pretty(value: &Value, indent: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{indent}"))
}

/// A status as the file has it.
pub(super) fn status(status: &Status) -> Value {
    let category = match status.category {
        Category::Open => "open",
        Category::Closed => "closed",
    };
    let mut out = json!({"id": status.id, "label": status.label});
    if let Some(colour) = status.color {
        out["color"] = written(colour);
    }
    if let Some(icon) = &status.icon {
        out["icon"] = json!(icon);
    }
    out["category"] = json!(category);
    out["isFixed"] = json!(status.fixed);
    out["isDefault"] = json!(status.default);
    out["order"] = json!(status.order);
    out
}

/// A view as the file has it.
pub(super) fn view(view: &SavedView) -> Value {
    let mut out = json!({"id": view.id, "name": view.name});
    if let Some(description) = &view.description {
        out["description"] = json!(description);
    }
    if let Some(colour) = view.color {
        out["color"] = written(colour);
    }
    out["expression"] = json!(view.expression);
    out
}

fn written(colour: Colour) -> Value {
    let hex = |Rgb(r, g, b): Rgb| format!("#{r:02X}{g:02X}{b:02X}");
    match colour {
        Colour::System(system, 100) => json!(system),
        Colour::System(system, strength) => {
            json!(format!("{}/{strength}", json!(system).as_str().unwrap_or_default()))
        }
        Colour::Own { light, dark } => json!({"light": hex(light), "dark": hex(dark)}),
    }
}
