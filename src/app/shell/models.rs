//! Models and thinking levels as rows of a list, and the choice of a model.

use crate::app::effect::Effect;
use crate::app::shell::{connections, overlay, session, text};
use crate::app::state::State;
use crate::app::state::picker::{Facts, Group, Item, Value};
use crate::domain::ids::ConnectionName;
use crate::domain::model::{ModelFigures, ModelPrice};
use crate::domain::session::ThinkingLevel;
use crate::domain::{Level, Notice};
use crate::protocol::{ConnectionInfo, SessionCommand};

/// The connection and the model that the shown session asks.
pub(crate) fn in_force(state: &State) -> Option<(ConnectionName, String)> {
    let meta = state.current_meta()?;
    let name = connections::in_force(state)?.clone();
    let usual = connections::all(state).find(|info| info.name == name).map(|info| info.default_model.clone());
    let model = meta.model.clone().or(usual).filter(|model| !model.is_empty())?;
    Some((name, model))
}

/// The thinking levels, each with what it means to the model in force; what that does not know is off.
pub(crate) fn levels(state: &State) -> Vec<Item> {
    let now = state.current_meta().map(|meta| meta.thinking);
    let known =
        in_force(state).map(|(name, model)| state.engine.catalogue.levels(&name, &model).to_vec()).unwrap_or_default();
    let one = |level: ThinkingLevel| {
        let meaning = known.iter().find(|known| known.level == level).map(|known| &known.meaning);
        let detail = match meaning {
            Some(Ok(words) | Err(words)) => text::one_line(words),
            None => String::new(),
        };
        let off = matches!(meaning, Some(Err(_)));
        let facts = Facts { current: now == Some(level), off, ..Facts::default() };
        overlay::item(level.word(), detail, Value::Thinking(level)).with(facts)
    };
    ThinkingLevel::ALL.into_iter().map(one).collect()
}

/// The connection that the shown session cannot leave any more. One that is not configured here binds nothing: another answers
/// in its place.
pub(crate) fn locked(state: &State) -> Option<ConnectionName> {
    let named = state.current_meta().filter(|meta| meta.connection_locked).and_then(|meta| meta.connection.clone());
    named.filter(|_| connections::not_here(state).is_none())
}

/// All connections: those that can be used first, then those that want a key. A session that stays with its own begins
/// with that one.
pub(crate) fn connections(state: &State) -> Vec<&ConnectionInfo> {
    let locked = locked(state);
    let mut all: Vec<&ConnectionInfo> = connections::all(state).collect();
    all.sort_by_key(|connection| (Some(&connection.name) != locked.as_ref(), connection.missing.is_some()));
    all
}

/// The models of a connection: its own choice, what the configuration names, what the server told.
pub(crate) fn names<'s>(state: &'s State, connection: &'s ConnectionInfo) -> Vec<&'s String> {
    let told = state.engine.models.get(&connection.name).and_then(|models| models.as_ref().ok());
    let default = Some(&connection.default_model).filter(|model| !model.is_empty());
    let mut seen = std::collections::HashSet::new();
    let all = default.into_iter().chain(&connection.models).chain(told.into_iter().flatten());
    all.filter(|model| seen.insert(model.as_str())).collect()
}

/// Content of the picker of models.
pub(crate) struct Listed {
    pub items: Vec<Item>,
    pub groups: Vec<Group>,
    pub selected: usize,
}

pub(crate) fn list(state: &State) -> Listed {
    let (meta, in_force) = (state.current_meta(), connections::in_force(state));
    let mut out = Listed { items: Vec::new(), groups: Vec::new(), selected: 0 };
    // The first of its own is selected where the connection in force names no model.
    let mut of_it = None;
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
            if in_force == Some(&connection.name) {
                of_it.get_or_insert(out.items.len());
            }
            let known = state.engine.catalogue.figures(&connection.name, model);
            let facts = Facts {
                group,
                columns: known.map(columns).unwrap_or_default(),
                about: vec![about(connection, model, known)],
                current,
                off: connection.missing.is_some(),
                ..Facts::default()
            };
            let value = Value::Model { connection: connection.name.clone(), model: model.clone() };
            out.items.push(overlay::item(model, connection.name.as_str(), value).with(facts));
        }
        // A connection without a model to name can be given its key all the same.
        if connection.wants_key() && out.items.last().is_none_or(|item| item.facts.group != group) {
            let facts = Facts { group, off: true, ..Facts::default() };
            out.items.push(overlay::item("add a key", "", Value::Key(connection.name.clone())).with(facts));
        }
    }
    if !out.items.iter().any(|item| item.facts.current) {
        out.selected = of_it.unwrap_or(0);
    }
    out
}

/// The heading over the models of a connection, with what stands in the way of using it.
fn heading(state: &State, connection: &ConnectionInfo) -> Group {
    let since = state.engine.catalogue.asked_since(&connection.name);
    let host = connection.host.split("://").last().unwrap_or_default();
    let note = match (&connection.missing, since, state.engine.models.get(&connection.name)) {
        (Some(_), ..) if connection.wants_key() => "needs a key".to_owned(),
        (Some(why), ..) => text::one_line(why),
        (None, Some(_), _) => format!("loading models from {host}{}", '…'),
        (None, None, Some(Err(why))) => text::one_line(why),
        (None, None, _) if connection.offered => "found; not used until you choose it".to_owned(),
        (None, None, _) => String::new(),
    };
    Group { name: connection.name.to_string(), note, since: since.filter(|_| connection.missing.is_none()) }
}

/// `200k`, `$ in`, `$ out`, what it can.
fn columns(known: &ModelFigures) -> Vec<String> {
    let price = |of: fn(&ModelPrice) -> f64| known.price.as_ref().map(|price| dollars(of(price))).unwrap_or_default();
    let can = [(known.thinks, "thinks"), (known.pictures, "images")];
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
pub(crate) fn tokens(n: u64) -> String {
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
        let name = text::one_line(model);
        return format!(
            "Context size and price of {name} are unknown; [connections.{}.figures] in config.toml can set them.",
            connection.name
        );
    }
    let mut parts = Vec::new();
    if let Some(window) = known.window {
        let most = known.output.map(|most| format!(", up to {} output", tokens(most))).unwrap_or_default();
        parts.push(format!("{} tokens context{most}", tokens(window)));
    }
    if let Some(price) = known.price {
        parts.push(if price.input == 0.0 && price.output == 0.0 {
            "free".to_owned()
        } else {
            let [input, output, cached] = [price.input, price.output, price.cached].map(dollars);
            let long = known.long_over.map(|over| format!(", more beyond {} tokens", tokens(over))).unwrap_or_default();
            format!("${input} in, ${output} out, ${cached} cached per million tokens{long}")
        });
    }
    let can = [(known.thinks, "thinks"), (known.pictures, "images"), (known.documents, "PDF")];
    let able: Vec<&str> = can.iter().filter_map(|(can, word)| can.unwrap_or(false).then_some(*word)).collect();
    if !able.is_empty() {
        parts.push(able.join(", "));
    }
    parts.join("; ")
}

pub(crate) fn set_model(state: &mut State, connection: Option<ConnectionName>, model: &str, fx: &mut Vec<Effect>) {
    let connection = connection.filter(|_| locked(state).is_none());
    match state.current_id() {
        Some(id) => fx.push(session::to(id, SessionCommand::Model { connection, model: model.to_owned() })),
        None => state.notify(Notice::new(Level::Info, "Session not saved yet, try again in a second")),
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
