//! The pickers of statuses and labels, and the same by name: what a workspace defines is given to sessions, and a label
//! that is missing is defined on the way.

use crate::app::effect::Effect;
use crate::app::shell::{labels, overlay, session_changes};
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Hit, Item, Kind, Picker, Value};
use crate::domain::ids::SessionId;
use crate::domain::nearest::nearest;
use crate::domain::property::{Category, Definition, Label, Properties, ValueType, split_label};
use crate::domain::property_change::PropertyChange;
use crate::domain::{Level, Notice};
use crate::keymap::action::SessionAction;
use crate::protocol::{Command, EngineCommand};

/// The picker of statuses, for these sessions; the one that all of them have is selected.
pub(crate) fn statuses(state: &mut State, sessions: Vec<SessionId>) {
    if sessions.is_empty() {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    }
    let items: Vec<Item> = state
        .engine
        .properties
        .statuses
        .iter()
        .map(|status| {
            let closed = if status.category == Category::Closed { "closed" } else { "" };
            overlay::item(status.label.clone(), closed, Value::Status(status.id.clone()))
        })
        .collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "Workspace statuses not loaded yet"));
    }
    let now = sessions.first().and_then(|id| state.sessions.meta(id)).map(|meta| meta.status.clone());
    let selected = items.iter().position(|item| matches!(&item.value, Value::Status(id) if Some(id) == now.as_ref()));
    show(state, Kind::Status, items, selected.unwrap_or(0), sessions);
}

/// The picker of labels, for these sessions. Enter adds one or takes it away, and the picker stays.
pub(crate) fn labels(state: &mut State, sessions: Vec<SessionId>) {
    if sessions.is_empty() {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    }
    let items = label_items(state);
    show(state, Kind::Labels, items, 0, sessions);
    offer_new_label(state);
}

fn show(state: &mut State, kind: Kind, items: Vec<Item>, selected: usize, sessions: Vec<SessionId>) {
    let picker = Picker { sessions, ..Picker::new(kind, items, selected) };
    overlay::open(state, Overlay::Picker(Box::new(picker)));
}

fn label_items(state: &State) -> Vec<Item> {
    labels::flat(&state.engine.properties.labels, 0)
        .into_iter()
        .map(|(depth, label)| {
            let wants = label.value_type.map_or("", labels::word);
            overlay::item(format!("{:1$}{2}", "", depth * 2, label.name), wants, Value::Label(label.id.clone()))
        })
        .collect()
}

/// The label that is meant by an id, or by a name in whatever letters.
fn known<'p>(properties: &'p Properties, word: &str) -> Option<&'p Label> {
    let all = labels::flat(&properties.labels, 0);
    let by_id = all.iter().find(|(_, label)| label.id == word);
    let same = |label: &Label| label.name.to_lowercase() == word.to_lowercase() || label.id == word.to_lowercase();
    by_id.or_else(|| all.iter().find(|(_, label)| same(label))).map(|(_, label)| *label)
}

/// Offers the typed text in the picker of labels: an entry with its value, or a new label.
pub(crate) fn offer_new_label(state: &mut State) {
    let Some(Overlay::Picker(picker)) = state.overlays.last_mut() else { return };
    if picker.kind != Kind::Labels {
        return;
    }
    picker.items.retain(|item| !matches!(item.value, Value::LabelEntry(_) | Value::NewLabel(_)));
    picker.filter();
    let typed = picker.query.text().trim().to_owned();
    if typed.is_empty() {
        return;
    }
    let (name, value) = split_label(&typed);
    match (known(&state.engine.properties, name.trim()), value) {
        (Some(label), Some(value)) => {
            let value = value.trim();
            let (text, detail, value) = match problem(label.value_type, value) {
                None => (format!("{}: {value}", label.name), "", Value::LabelEntry(format!("{}::{value}", label.id))),
                Some(_) if value.is_empty() => return,
                Some(why) => (format!("{}: {value}", label.name), why, Value::Remark),
            };
            picker.items.push(overlay::item(text, detail, value));
            picker.hits.insert(0, Hit { item: picker.items.len() - 1, marks: Vec::new() });
        }
        (None, value) if !name.trim().is_empty() && value.is_none_or(|value| !value.trim().is_empty()) => {
            let text = match value {
                Some(value) => format!("create the label “{}” and set it to {}", name.trim(), value.trim()),
                None => format!("create the label “{name}”"),
            };
            picker.items.push(overlay::item(text, "", Value::NewLabel(typed)));
            picker.hits.push(Hit { item: picker.items.len() - 1, marks: Vec::new() });
        }
        (Some(_), None) | (None, _) => {}
    }
}

/// Problem of a value; `None` if it is valid.
pub(crate) fn problem(wanted: Option<ValueType>, value: &str) -> Option<&'static str> {
    let date = |text: &str| {
        let (day, time) = text.split_once('T').map_or((text, None), |(day, time)| (day, Some(time)));
        let time_fits =
            time.is_none_or(|time| time.len() == 5 && format!("{time}:00").parse::<jiff::civil::Time>().is_ok());
        day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok() && time_fits
    };
    match wanted {
        _ if value.is_empty() => Some("value required"),
        None => Some("this label takes no value"),
        Some(ValueType::Number) if !value.parse::<f64>().is_ok_and(f64::is_finite) => {
            Some("expected a number: 3 or 2.5")
        }
        Some(ValueType::Date) if !date(value) => Some("expected a date: 2026-09-30 or 2026-09-30T14:00"),
        Some(ValueType::String) if value.chars().any(char::is_control) => Some("expected one line of text"),
        Some(_) => None,
    }
}

/// Defines the label of an entry; the sessions get the entry when the engine has made it.
pub(crate) fn define(state: &mut State, entry: &str, sessions: Vec<SessionId>, fx: &mut Vec<Effect>) {
    let (name, value) = split_label(entry);
    state.engine.new_label = Some((entry.to_owned(), sessions));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Define(Definition::Label {
        name: name.trim().to_owned(),
        under: None,
        value_type: value.map(|value| type_of(value.trim())),
    }))));
}

/// The narrowest type that takes a value.
fn type_of(value: &str) -> ValueType {
    let types = [ValueType::Number, ValueType::Date];
    types.into_iter().find(|one| problem(Some(*one), value).is_none()).unwrap_or(ValueType::String)
}

/// Takes in new definitions of the workspace.
pub(crate) fn defined(state: &mut State, properties: Properties, fx: &mut Vec<Effect>) {
    state.sessions.define(&properties, state.clock.now, state.clock.utc_offset);
    state.engine.properties = properties;
    if let Some((entry, sessions)) = state.engine.new_label.take() {
        let (name, value) = split_label(&entry);
        let value = value.map(|value| format!("::{}", value.trim())).unwrap_or_default();
        match known(&state.engine.properties, name.trim()).map(|label| format!("{}{value}", label.id)) {
            Some(entry) => session_changes::change_all(state, sessions, PropertyChange::AddLabel(entry), fx),
            None => state.engine.new_label = Some((entry, sessions)),
        }
    }
    let items = label_items(state);
    let created = items.iter().map(|item| item.value.clone()).collect::<Vec<_>>();
    if let Some(Overlay::Picker(picker)) = state.overlays.last_mut()
        && picker.kind == Kind::Labels
        && picker.items.iter().filter(|item| matches!(item.value, Value::Label(_))).map(|i| &i.value).ne(created.iter())
    {
        picker.refill(items, 0);
        offer_new_label(state);
    }
}

/// `/status NAME`.
pub(crate) fn status_named(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let wanted = name.replace('_', "-").to_lowercase();
    let statuses = &state.engine.properties.statuses;
    let found =
        statuses.iter().find(|status| status.id == wanted || status.label.to_lowercase() == name.to_lowercase());
    let Some(id) = found.map(|status| status.id.clone()) else {
        let near = nearest(&wanted, statuses.iter().map(|status| status.id.as_str()));
        return Err(no_such("status", name, near));
    };
    session_changes::change_all(state, session_changes::targets(state), PropertyChange::Status(id), fx);
    Ok(())
}

/// `/label NAME` or `/label NAME::VALUE`.
pub(crate) fn label_named(state: &mut State, text: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let sessions = session_changes::targets(state);
    let (name, value) = split_label(text);
    let (name, value) = (name.trim(), value.map(str::trim));
    let Some(label) = known(&state.engine.properties, name) else {
        let all = labels::flat(&state.engine.properties.labels, 0);
        let near = nearest(name, all.iter().map(|(_, label)| label.id.as_str()));
        let key = state.keys.key_for(SessionAction::Labels);
        let how = if near.is_none() { format!(" Create it with {key}.") } else { String::new() };
        return Err(format!("{}{how}", no_such("label", name, near)));
    };
    let (id, wanted) = (label.id.clone(), label.value_type);
    match value {
        None => labels::toggle(state, &id, sessions, fx),
        Some(value) => match problem(wanted, value) {
            Some(why) => return Err(format!("{name}: {why}")),
            None => {
                session_changes::change_all(state, sessions, PropertyChange::AddLabel(format!("{id}::{value}")), fx)
            }
        },
    }
    Ok(())
}

fn no_such(what: &str, name: &str, near: Option<&str>) -> String {
    let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
    format!("No {what} {name:?}.{near}")
}
