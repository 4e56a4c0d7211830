//! Pickers of models and of thinking levels, and the choice by name. Connections are in `connection_picker`.

use crate::app::effect::Effect;
use crate::app::overlays::connection_picker;
use crate::app::shell::{connecting, connections, models, overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Item, Kind, Picker, Value};
use crate::domain::ids::ConnectionName;
use crate::domain::nearest::nearest;
use crate::domain::{Level, Notice};
use crate::keymap::action::ModelAction;
use crate::protocol::{Command, EngineCommand};

pub(crate) fn act(state: &mut State, verb: ModelAction, fx: &mut Vec<Effect>) {
    match verb {
        ModelAction::Pick => pick(state, fx),
        ModelAction::Thinking => {
            let items = models::levels(state);
            let selected = items.iter().position(|item| item.facts.current).unwrap_or(0);
            overlay::open_picker(state, Kind::Thinking, items, selected);
            if let Some((connection, model)) = models::in_force(state) {
                fx.push(Effect::Send(Command::Engine(EngineCommand::Levels { connection, model })));
            }
        }
        ModelAction::Connection => connection_picker::pick(state, fx),
    }
}

/// Opens the picker of models.
pub(crate) fn pick(state: &mut State, fx: &mut Vec<Effect>) {
    ask_servers(state, Again::No, fx);
    let listed = models::list(state);
    let mut picker = Picker { from: state.focus, ..Picker::new(Kind::Model, Vec::new(), 0) };
    picker.groups = listed.groups;
    picker.items = listed.items;
    picker.filter();
    picker.selected = picker.hits.iter().position(|hit| hit.item == listed.selected).unwrap_or(0);
    overlay::open(state, Overlay::Picker(Box::new(picker)));
    ask_figures(state, fx);
}

/// The turn waits for a model: it can be chosen at once.
pub(crate) fn wanted(state: &mut State, why: &str, fx: &mut Vec<Effect>) {
    // The names stand in the list, and where to choose them from is here.
    let sentence = why.split_once(". ").map_or(why, |(first, _)| first);
    let many = sentence.split_once(": ").map_or(sentence, |(many, _)| many);
    let text = format!("Choose a model to send your message. {}.", text::one_line(many));
    state.notify(Notice::new(Level::Warning, text));
    if state.overlays.is_empty() {
        pick(state, fx);
    }
}

/// Treatment of servers that have listed their models already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Yes,
    No,
}

/// Asks the servers of the connections in question; what was found and not chosen is not asked.
pub(crate) fn ask_servers(state: &mut State, again: Again, fx: &mut Vec<Effect>) {
    let told = |name: &ConnectionName| matches!(state.engine.models.get(name), Some(Ok(_)));
    let wanted: Vec<(ConnectionName, bool)> = models::connections(state)
        .into_iter()
        .filter(|connection| !connection.offered && connection.missing.is_none())
        .filter(|connection| again == Again::Yes || !told(&connection.name))
        .map(|connection| (connection.name.clone(), connection.host.is_empty()))
        .collect();
    for (connection, within) in wanted {
        // What has no server answers at once.
        if !within {
            state.engine.catalogue.ask(connection.clone(), state.clock.now);
        }
        fx.push(Effect::Send(Command::Engine(EngineCommand::Models { connection })));
    }
}

/// The servers are asked once more, while the picker is open.
pub(crate) fn ask_again(state: &mut State, fx: &mut Vec<Effect>) {
    ask_servers(state, Again::Yes, fx);
    refill(state);
}

/// Asks the engine what it knows of the models that are listed and of which nothing is known here.
fn ask_figures(state: &State, fx: &mut Vec<Effect>) {
    for connection in models::connections(state) {
        let unknown = |model: &&String| state.engine.catalogue.figures(&connection.name, model).is_none();
        let models: Vec<String> = models::names(state, connection).into_iter().filter(unknown).cloned().collect();
        if !models.is_empty() {
            fx.push(Effect::Send(Command::Engine(EngineCommand::Figures {
                connection: connection.name.clone(),
                models,
            })));
        }
    }
}

/// A server told its models, or why not.
pub(crate) fn came(
    state: &mut State,
    connection: ConnectionName,
    models: Result<Vec<String>, String>,
    fx: &mut Vec<Effect>,
) {
    state.engine.catalogue.answered(&connection);
    let told = models.is_ok();
    let info = connections::all(state).find(|known| known.name == connection).cloned();
    state.engine.models.insert(connection.clone(), models);
    // Servers tell more than names, so what is known of them is asked for anew.
    if let Some(info) = info.filter(|_| told && listed(state)) {
        let models = models::names(state, &info).into_iter().cloned().collect();
        fx.push(Effect::Send(Command::Engine(EngineCommand::Figures { connection, models })));
    }
    refill(state);
}

/// A picker is open that shows models.
fn listed(state: &State) -> bool {
    state.overlays.iter().any(|overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == Kind::Model))
}

/// Models came in, or what is known of them: an open picker shows it.
pub(crate) fn refill(state: &mut State) {
    let open = |kind| move |overlay: &Overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == kind);
    if state.overlays.iter().any(open(Kind::Model)) {
        let listed = models::list(state);
        let fresh = state.overlays.iter_mut().find_map(|overlay| match overlay {
            Overlay::Picker(picker) if picker.kind == Kind::Model => Some(picker),
            _ => None,
        });
        if let Some(picker) = fresh {
            picker.groups = listed.groups;
            picker.refill(listed.items, listed.selected);
        }
    }
    let levels = models::levels(state);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Thinking
        {
            let usual = levels.iter().position(|item| item.facts.current).unwrap_or(0);
            picker.refill(levels, usual);
            break;
        }
    }
    connection_picker::refill(state);
}

/// `/model NAME`: the model of exactly that name, else the only one that begins so; a name that is not listed goes to the
/// connection as it is, because a server may know more than it tells.
pub(crate) fn choose_named(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let items = models::list(state).items;
    let models = || items.iter().filter(|item| matches!(item.value, Value::Model { .. }));
    let exact = models().find(|item| item.label == name);
    let mut begins = models().filter(|item| item.label.starts_with(name));
    let found = exact.or_else(|| begins.next().filter(|_| begins.next().is_none()));
    let value = match found {
        Some(item) => item.value.clone(),
        None if name.contains(char::is_whitespace) => {
            let near = nearest(name, models().map(|item| item.label.as_str()));
            return Err(near.map_or_else(
                || "Model names have no spaces".to_owned(),
                |near| format!("No such model. Closest match: {near}"),
            ));
        }
        None => {
            models::set_model(state, None, name, fx);
            tell_unlisted(state, name, &items);
            return Ok(());
        }
    };
    if let Value::Model { connection, model } = value {
        choose(state, connection, &model, fx);
    }
    Ok(())
}

/// Says that the connection lists no model of this name, where it lists any.
fn tell_unlisted(state: &mut State, name: &str, items: &[Item]) {
    let Some(of) = state.current_meta().and_then(|meta| meta.connection.clone()) else { return };
    let is_of = |item: &&Item| matches!(&item.value, Value::Model { connection, .. } if *connection == of);
    let mut known = items.iter().filter(is_of).map(|item| item.label.as_str()).peekable();
    if known.peek().is_none() {
        return;
    }
    let near = nearest(name, known).map(|near| format!("Closest match: {near}"));
    let notice = Notice::new(Level::Warning, format!("{} does not list {name}", of.as_str()));
    state.notify(notice.hint(near.unwrap_or_else(|| "/model shows its models".to_owned())));
}

/// A model was chosen from the list; where its connection wants a key, that is asked for.
pub(crate) fn choose(state: &mut State, connection: ConnectionName, model: &str, fx: &mut Vec<Effect>) {
    let keyless = connections::all(state).any(|known| known.name == connection && known.wants_key());
    if !keyless && models::locked(state).is_some_and(|locked| locked != connection) {
        return connecting::ask_to_continue(state, &connection, model);
    }
    models::set_model(state, Some(connection.clone()), model, fx);
    if keyless && state.current_id().is_some() {
        connections::ask_for_key(state, &connection, fx);
    }
}
