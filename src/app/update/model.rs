//! Pickers of models and of thinking levels, and the choice by name. Connections are in `connection`.

use super::overlay::{item, one_line, open_picker};
use super::{connection, to};
use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Group, Item, Kind, Picker, Value};
use crate::domain::contract::{Act, Command, ConnectionInfo};
use crate::domain::ids::ConnectionName;
use crate::domain::model::{ModelFigures, ModelPrice};
use crate::domain::nearest::nearest;
use crate::domain::session::ThinkingLevel;
use crate::domain::{Level, Notice};
use crate::keymap::action::ModelAction;

pub(super) fn act(state: &mut State, verb: ModelAction, fx: &mut Vec<Effect>) {
    match verb {
        ModelAction::Pick => pick(state, fx),
        ModelAction::Thinking => {
            let items = levels(state);
            let selected = items.iter().position(|item| item.facts.current).unwrap_or(0);
            open_picker(state, Kind::Thinking, items, selected);
            if let Some((connection, model)) = in_force(state) {
                fx.push(Effect::Send(Command::Levels { connection, model }));
            }
        }
        ModelAction::Connection => connection::pick(state, fx),
    }
}

/// The connection and the model that the shown session asks.
pub(super) fn in_force(state: &State) -> Option<(ConnectionName, String)> {
    let meta = state.current_meta()?;
    let name = connection::in_force(state)?.clone();
    let usual = connection::all(state).find(|info| info.name == name).map(|info| info.default_model.clone());
    let model = meta.model.clone().or(usual).filter(|model| !model.is_empty())?;
    Some((name, model))
}

/// The thinking levels, each with what it means to the model in force; what that does not know is off.
pub(super) fn levels(state: &State) -> Vec<Item> {
    let now = state.current_meta().map(|meta| meta.thinking);
    let known = in_force(state).map(|(name, model)| state.catalogue.levels(&name, &model).to_vec()).unwrap_or_default();
    let one = |level: ThinkingLevel| {
        let meaning = known.iter().find(|known| known.level == level).map(|known| &known.meaning);
        let detail = match meaning {
            Some(Ok(words) | Err(words)) => one_line(words),
            None => String::new(),
        };
        let off = matches!(meaning, Some(Err(_)));
        let facts = Facts { current: now == Some(level), off, ..Facts::default() };
        item(level.word(), detail, Value::Thinking(level)).with(facts)
    };
    ThinkingLevel::ALL.into_iter().map(one).collect()
}

/// Opens the picker of models.
pub(super) fn pick(state: &mut State, fx: &mut Vec<Effect>) {
    ask_servers(state, Again::No, fx);
    let listed = list(state);
    let mut picker = Picker { from: state.focus, ..Picker::new(Kind::Model, Vec::new(), 0) };
    picker.groups = listed.groups;
    picker.items = listed.items;
    picker.filter();
    picker.selected = picker.hits.iter().position(|hit| hit.item == listed.selected).unwrap_or(0);
    super::overlay::open(state, Overlay::Picker(Box::new(picker)));
    ask_figures(state, fx);
}

/// The turn waits for a model: it can be chosen at once.
pub(super) fn wanted(state: &mut State, why: &str, fx: &mut Vec<Effect>) {
    state.notify(Notice::new(Level::Warning, one_line(why)).hint("your message goes as soon as one is chosen"));
    if state.overlays.is_empty() {
        pick(state, fx);
    }
}

/// The connection that the shown session cannot leave any more. One that is not configured here binds nothing: another answers
/// in its place.
pub(super) fn locked(state: &State) -> Option<ConnectionName> {
    let named = state.current_meta().filter(|meta| meta.connection_locked).and_then(|meta| meta.connection.clone());
    named.filter(|_| connection::not_here(state).is_none())
}

/// The connections that the shown session can have: those that can be used first, then those that want a key.
fn connections(state: &State) -> Vec<&ConnectionInfo> {
    let locked = locked(state);
    let mut all: Vec<&ConnectionInfo> = connection::all(state)
        .filter(|connection| locked.as_ref().is_none_or(|name| *name == connection.name))
        .collect();
    all.sort_by_key(|connection| connection.missing.is_some());
    all
}

/// Treatment of servers that have listed their models already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    No,
}

/// Asks the servers of the connections in question; what was found and not chosen is not asked.
pub(super) fn ask_servers(state: &mut State, again: Again, fx: &mut Vec<Effect>) {
    let told = |name: &ConnectionName| matches!(state.models.get(name), Some(Ok(_)));
    let wanted: Vec<(ConnectionName, bool)> = connections(state)
        .into_iter()
        .filter(|connection| !connection.offered && connection.missing.is_none())
        .filter(|connection| again == Again::Yes || !told(&connection.name))
        .map(|connection| (connection.name.clone(), connection.host.is_empty()))
        .collect();
    for (connection, within) in wanted {
        // What has no server answers at once.
        if !within {
            state.catalogue.ask(connection.clone(), state.now);
        }
        fx.push(Effect::Send(Command::Models { connection }));
    }
}

/// The servers are asked once more, while the picker is open.
pub(super) fn ask_again(state: &mut State, fx: &mut Vec<Effect>) {
    ask_servers(state, Again::Yes, fx);
    refill(state);
}

/// Asks the engine what it knows of the models that are listed and of which nothing is known here.
fn ask_figures(state: &State, fx: &mut Vec<Effect>) {
    for connection in connections(state) {
        let unknown = |model: &&String| state.catalogue.figures(&connection.name, model).is_none();
        let models: Vec<String> = names(state, connection).into_iter().filter(unknown).cloned().collect();
        if !models.is_empty() {
            fx.push(Effect::Send(Command::Figures { connection: connection.name.clone(), models }));
        }
    }
}

/// A server told its models, or why not.
pub(super) fn came(
    state: &mut State,
    connection: ConnectionName,
    models: Result<Vec<String>, String>,
    fx: &mut Vec<Effect>,
) {
    state.catalogue.answered(&connection);
    let told = models.is_ok();
    let info = connection::all(state).find(|known| known.name == connection).cloned();
    state.models.insert(connection.clone(), models);
    // Servers tell more than names, so what is known of them is asked for anew.
    if let Some(info) = info.filter(|_| told && listed(state)) {
        let models = names(state, &info).into_iter().cloned().collect();
        fx.push(Effect::Send(Command::Figures { connection, models }));
    }
    refill(state);
}

/// A picker is open that shows models.
fn listed(state: &State) -> bool {
    state.overlays.iter().any(|overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == Kind::Model))
}

/// The models of a connection: its own choice, what the configuration names, what the server told.
fn names<'s>(state: &'s State, connection: &'s ConnectionInfo) -> Vec<&'s String> {
    let told = state.models.get(&connection.name).and_then(|models| models.as_ref().ok());
    let default = Some(&connection.default_model).filter(|model| !model.is_empty());
    let mut seen = std::collections::HashSet::new();
    let all = default.into_iter().chain(&connection.models).chain(told.into_iter().flatten());
    all.filter(|model| seen.insert(model.as_str())).collect()
}

/// Content of the picker of models.
pub(super) struct Listed {
    pub items: Vec<Item>,
    pub groups: Vec<Group>,
    pub selected: usize,
}

pub(super) fn list(state: &State) -> Listed {
    let (meta, in_force) = (state.current_meta(), connection::in_force(state));
    let mut out = Listed { items: Vec::new(), groups: Vec::new(), selected: 0 };
    for connection in connections(state) {
        let group = out.groups.len();
        out.groups.push(heading(state, connection));
        for model in names(state, connection) {
            let current = meta.is_some_and(|meta| {
                in_force == Some(&connection.name) && meta.model.as_ref().unwrap_or(&connection.default_model) == model
            });
            if current && !out.items.iter().any(|item| item.facts.current) {
                out.selected = out.items.len();
            }
            let known = state.catalogue.figures(&connection.name, model);
            let facts = Facts {
                group,
                columns: known.map(columns).unwrap_or_default(),
                about: vec![about(connection, model, known)],
                current,
                off: connection.missing.is_some(),
                health: None,
            };
            let value = Value::Model { connection: connection.name.clone(), model: model.clone() };
            out.items.push(item(model, connection.name.as_str(), value).with(facts));
        }
        // A connection without a model to name can be given its key all the same.
        if connection.wants_key() && out.items.last().is_none_or(|item| item.facts.group != group) {
            let facts = Facts { group, off: true, ..Facts::default() };
            out.items.push(item("give it a key", "", Value::Key(connection.name.clone())).with(facts));
        }
    }
    out
}

/// The heading over the models of a connection, with what stands in the way of using it.
fn heading(state: &State, connection: &ConnectionInfo) -> Group {
    let since = state.catalogue.asked_since(&connection.name);
    let host = connection.host.split("://").last().unwrap_or_default();
    let note = match (&connection.missing, since, state.models.get(&connection.name)) {
        (Some(_), ..) if connection.wants_key() => "no key: choosing a model asks for it".to_owned(),
        (Some(why), ..) => one_line(why),
        (None, Some(_), _) => format!("asking {host} for its models{}", '…'),
        (None, None, Some(Err(why))) => one_line(why),
        (None, None, _) if connection.offered => "found, and not used before you choose it".to_owned(),
        (None, None, _) => String::new(),
    };
    Group { name: connection.name.to_string(), note, since: since.filter(|_| connection.missing.is_none()) }
}

/// `200k`, `$ in`, `$ out`, what it can.
fn columns(known: &ModelFigures) -> Vec<String> {
    let price = |of: fn(&ModelPrice) -> f64| known.price.as_ref().map(|price| dollars(of(price))).unwrap_or_default();
    let can = [(known.thinks, "thinks"), (known.pictures, "sees")];
    let can: Vec<&str> = can.into_iter().filter_map(|(can, word)| can.unwrap_or(false).then_some(word)).collect();
    vec![
        known.window.map(tokens).unwrap_or_default(),
        price(|price| price.input),
        price(|price| price.output),
        can.join(" "),
    ]
}

/// Dollars for a million tokens: `3`, `0.25`, `free`.
fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "free".to_owned(),
        usd if usd < 0.1 => format!("{usd:.3}"),
        usd => format!("{usd:.2}"),
    }
}

/// A context window: `128k`, `1M`. What a maker takes off for the answer does not make it an odd number.
fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..990_000 => format!("{}k", (n + 500) / 1_000),
        n => {
            let tenths = (n + 50_000) / 100_000;
            if tenths % 10 == 0 { format!("{}M", tenths / 10) } else { format!("{}.{}M", tenths / 10, tenths % 10) }
        }
    }
}

/// One sentence with all that is known.
fn about(connection: &ConnectionInfo, model: &str, known: Option<&ModelFigures>) -> String {
    // The engine has not said yet.
    let Some(known) = known else { return String::new() };
    if known.window.is_none() && known.price.is_none() {
        let name = one_line(model);
        return format!(
            "Nothing is known of {name}: its server does not say. [connections.{}.figures] in config.toml can.",
            connection.name
        );
    }
    let mut parts = Vec::new();
    if let Some(window) = known.window {
        let most = known.output.map(|most| format!(", answers up to {}", tokens(most))).unwrap_or_default();
        parts.push(format!("{} tokens of context{most}", tokens(window)));
    }
    if let Some(price) = known.price {
        parts.push(if price.input == 0.0 && price.output == 0.0 {
            "free of charge".to_owned()
        } else {
            let [input, output, cached] = [price.input, price.output, price.cached].map(dollars);
            let long = known.long_over.map(|over| format!(", more beyond {} tokens", tokens(over))).unwrap_or_default();
            format!("${input} in, ${output} out and ${cached} from the cache a million tokens{long}")
        });
    }
    let can = [(known.thinks, "thinks"), (known.pictures, "sees pictures"), (known.documents, "reads PDF")];
    let able: Vec<&str> = can.iter().filter_map(|(can, word)| can.unwrap_or(false).then_some(*word)).collect();
    if !able.is_empty() {
        parts.push(able.join(", "));
    }
    parts.join("; ")
}

/// Models came in, or what is known of them: an open picker shows it.
pub(super) fn refill(state: &mut State) {
    let open = |kind| move |overlay: &Overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == kind);
    if state.overlays.iter().any(open(Kind::Model)) {
        let listed = list(state);
        let fresh = state.overlays.iter_mut().find_map(|overlay| match overlay {
            Overlay::Picker(picker) if picker.kind == Kind::Model => Some(picker),
            _ => None,
        });
        if let Some(picker) = fresh {
            picker.groups = listed.groups;
            picker.refill(listed.items, listed.selected);
        }
    }
    let levels = levels(state);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Thinking
        {
            let usual = levels.iter().position(|item| item.facts.current).unwrap_or(0);
            picker.refill(levels, usual);
            break;
        }
    }
    connection::refill(state);
}

/// `/model NAME`: the model of exactly that name, else the only one that begins so; a name that is not listed goes to the
/// connection as it is, because a server may know more than it tells.
pub(super) fn choose_named(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let items = list(state).items;
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
        choose(state, connection, &model, fx);
    }
    Ok(())
}

/// A model was chosen from the list; where its connection wants a key, that is asked for.
pub(super) fn choose(state: &mut State, connection: ConnectionName, model: &str, fx: &mut Vec<Effect>) {
    let keyless = connection::all(state).any(|known| known.name == connection && known.wants_key());
    set_model(state, Some(connection.clone()), model, fx);
    if keyless && state.current_id().is_some() {
        connection::ask_for_key(state, &connection, fx);
    }
}

pub(super) fn set_model(state: &mut State, connection: Option<ConnectionName>, model: &str, fx: &mut Vec<Effect>) {
    let connection = connection.filter(|_| locked(state).is_none());
    match state.current_id() {
        Some(id) => fx.push(to(id, Act::Model { connection, model: model.to_owned() })),
        None => state.notify(Notice::new(Level::Info, "The session is being made; choose the model in a moment.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_models_are_short() {
        for (n, shown) in
            [(128_000, "128k"), (1_014_808, "1M"), (1_048_576, "1M"), (2_097_152, "2.1M"), (8_192, "8k"), (999, "999")]
        {
            assert_eq!(tokens(n), shown);
        }
        assert_eq!([3.0, 0.25, 0.025, 0.0, 15.0].map(dollars), ["3.00", "0.25", "0.025", "free", "15.00"]);
        let known = ModelFigures {
            window: Some(200_000),
            output: Some(64_000),
            price: Some(ModelPrice { input: 3.0, cached: 0.3, output: 15.0 }),
            thinks: Some(true),
            pictures: Some(false),
            ..ModelFigures::default()
        };
        assert_eq!(columns(&known), ["200k", "3.00", "15.00", "thinks"]);
        assert_eq!(columns(&ModelFigures::default()), ["", "", "", ""]);
    }
}
