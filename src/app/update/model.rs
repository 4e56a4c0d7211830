//! What answers: the pickers of models and of thinking levels, and the choice by name.

use super::overlay::{item, one_line, open_picker};
use super::to;
use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Item, Kind, Value};
use crate::domain::contract::{Act, Command, ConnectionInfo};
use crate::domain::ids::ConnectionName;
use crate::domain::nearest::nearest;
use crate::domain::session::ThinkingLevel;
use crate::domain::{Level, Notice};
use crate::keymap::action::ModelAction;

pub(super) fn act(state: &mut State, verb: ModelAction, fx: &mut Vec<Effect>) {
    match verb {
        ModelAction::Pick => {
            let (items, selected) = self::items(state);
            open_picker(state, Kind::Model, items, selected);
            ask_for_models(state, fx);
        }
        ModelAction::Thinking => {
            let now = state.current_meta().map(|meta| meta.thinking);
            let items =
                ThinkingLevel::ALL.into_iter().map(|level| item(level.word(), "", Value::Thinking(level))).collect();
            let selected = now.and_then(|now| ThinkingLevel::ALL.iter().position(|level| *level == now)).unwrap_or(0);
            open_picker(state, Kind::Thinking, items, selected);
        }
        ModelAction::Connection => {
            let items = state.config.connections.iter().map(connection_item).collect();
            open_picker(state, Kind::Connection, items, 0);
        }
    }
}

/// A connection: where it is, and where its key comes from or what is missing.
fn connection_item(info: &ConnectionInfo) -> Item {
    let key = match (&info.missing, &info.key_from) {
        (Some(missing), _) => one_line(missing),
        (None, Some(from)) => format!("key {}", one_line(from)),
        (None, None) if info.host.is_empty() => String::new(),
        (None, None) => "no key".to_owned(),
    };
    let parts = [info.provider.clone(), one_line(&info.host), key];
    let detail: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    // Where no key goes anywhere, there is none to give.
    let value = if info.host.is_empty() { Value::Remark } else { Value::Key(info.name.clone()) };
    item(info.name.as_str(), detail.join("  "), value)
}

/// Has the engine ask for the key of a connection, in the shown session.
pub(super) fn ask_for_key(state: &mut State, connection: &ConnectionName, fx: &mut Vec<Effect>) {
    match state.current_id() {
        Some(id) => {
            fx.push(Effect::Send(Command::AskKey { session: id.clone(), connection: connection.clone() }));
        }
        None => state.notify(Notice::new(Level::Info, "The session is being made; give the key in a moment.")),
    }
}

/// The connection that the shown session cannot leave any more.
fn locked(state: &State) -> Option<ConnectionName> {
    state.current_meta().filter(|meta| meta.connection_locked).and_then(|meta| meta.connection.clone())
}

/// Asks the servers of the connections in question, once each; what was found and not chosen is not asked.
fn ask_for_models(state: &State, fx: &mut Vec<Effect>) {
    let locked = locked(state);
    for connection in &state.config.connections {
        let other = locked.as_ref().is_some_and(|name| *name != connection.name);
        let known = matches!(state.models.get(&connection.name), Some(Ok(_)));
        if !other && !known && !connection.offered && connection.missing.is_none() {
            fx.push(Effect::Send(Command::Models { connection: connection.name.clone() }));
        }
    }
}

pub(super) fn items(state: &State) -> (Vec<Item>, usize) {
    let locked = locked(state);
    let meta = state.current_meta();
    let mut items = Vec::new();
    let mut selected = 0;
    for connection in &state.config.connections {
        if locked.as_ref().is_some_and(|name| *name != connection.name) {
            continue;
        }
        let mut models: Vec<&String> = Vec::new();
        let told = state.models.get(&connection.name).and_then(|models| models.as_ref().ok());
        let default = Some(&connection.default_model).filter(|model| !model.is_empty());
        for model in default.into_iter().chain(&connection.models).chain(told.into_iter().flatten()) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        if let Some(why) = &connection.missing {
            items.push(item(connection.name.as_str(), why, Value::Remark));
        } else if let Some(Err(why)) = state.models.get(&connection.name) {
            items.push(item(connection.name.as_str(), one_line(why), Value::Remark));
        }
        for model in models {
            let here = meta.is_some_and(|meta| {
                meta.connection.as_ref().is_none_or(|name| *name == connection.name)
                    && meta.model.as_ref().unwrap_or(&connection.default_model) == model
            });
            if here && selected == 0 {
                selected = items.len();
            }
            let value = Value::Model { connection: connection.name.clone(), model: model.clone() };
            items.push(item(model, connection.name.as_str(), value));
        }
    }
    (items, selected)
}

/// Models came in: an open picker of models shows them.
pub(super) fn refill(state: &mut State) {
    let (items, _) = self::items(state);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Model
        {
            return picker.refill(items);
        }
    }
}

/// `/model NAME`: the model of exactly that name, else the only one that begins so; a name that is not listed goes to the
/// connection as it is, because a server may know more than it tells.
pub(super) fn choose_named(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let (items, _) = self::items(state);
    let models = || items.iter().filter(|item| matches!(item.value, Value::Model { .. }));
    let exact = models().find(|item| item.label == name);
    let mut begins = models().filter(|item| item.label.starts_with(name));
    let found = exact.or_else(|| begins.next().filter(|_| begins.next().is_none()));
    let value = match found {
        Some(item) => item.value.clone(),
        None if name.contains(char::is_whitespace) => {
            let near = nearest(name, models().map(|item| item.label.as_str()));
            return Err(near.map_or_else(
                || "A model's name has no blanks.".to_owned(),
                |near| format!("There is no such model. The nearest is {near}."),
            ));
        }
        None => {
            set_model(state, None, name, fx);
            return Ok(());
        }
    };
    if let Value::Model { connection, model } = value {
        set_model(state, Some(connection), &model, fx);
    }
    Ok(())
}

pub(super) fn set_model(state: &mut State, connection: Option<ConnectionName>, model: &str, fx: &mut Vec<Effect>) {
    let connection = connection.filter(|_| locked(state).is_none());
    match state.current_id() {
        Some(id) => fx.push(to(id, Act::Model { connection, model: model.to_owned() })),
        None => state.notify(Notice::new(Level::Info, "The session is being made; choose the model in a moment.")),
    }
}
