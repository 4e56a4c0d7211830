//! The picker of connections: where each leads, where its key comes from, whether it answers; and the key that is asked for.

use crate::app::effect::Effect;
use crate::app::overlays::model_picker;
use crate::app::shell::{connecting, connections, models, overlay, session, text};
use crate::app::state::State;
use crate::app::state::connecting::Prompted;
use crate::app::state::hidden::key_in;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Kind, Picker, Value};
use crate::domain::ids::ConnectionName;
use crate::domain::{Level, Notice};
use crate::protocol::SessionCommand;

/// Opens the picker.
pub(crate) fn pick(state: &mut State, fx: &mut Vec<Effect>) {
    model_picker::ask_servers(state, model_picker::Again::No, fx);
    let items = connections::items(state);
    let selected = items.iter().position(|item| item.facts.current).unwrap_or(0);
    let picker = Picker { from: state.focus, ..Picker::new(Kind::Connection, items, selected) };
    overlay::open(state, Overlay::Picker(Box::new(picker)));
}

/// A message waits for somebody to say what answers: that can be said at once.
pub(crate) fn wanted(state: &mut State, named: &ConnectionName, fx: &mut Vec<Effect>) {
    let text =
        format!("This session uses connection {}, which is not configured here.", text::one_line(named.as_str()));
    let hint = "message kept: /connect NAME substitutes another, --all in every session";
    state.notify(Notice::new(Level::Warning, text).hint(hint));
    if state.overlays.is_empty() {
        pick(state, fx);
    }
}

/// Updates an open picker with new facts.
pub(crate) fn refill(state: &mut State) {
    let open = |overlay: &Overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == Kind::Connection);
    if !state.overlays.iter().any(open) {
        return;
    }
    let items = connections::items(state);
    let usual = items.iter().position(|item| item.facts.current).unwrap_or(0);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Connection
        {
            return picker.refill(items, usual);
        }
    }
}

/// `/connect NAME`: uses it. Of a name that is not known here the engine says so.
pub(crate) fn choose_named(state: &mut State, name: &ConnectionName, fx: &mut Vec<Effect>) {
    if name.as_str().contains("://") {
        connecting::add_server(state, name.as_str(), Prompted::No, fx)
    } else if connections::all(state).any(|info| info.name == *name) {
        choose(state, name, fx)
    } else {
        connections::ask_for_key(state, name, fx)
    }
}

/// `/connect NAME --all`: in the shown session and in all others, it answers for the one that is not configured here.
pub(crate) fn choose_everywhere(state: &State, name: &ConnectionName, fx: &mut Vec<Effect>) -> Result<(), String> {
    if connections::not_here(state).is_none() {
        return Err("This session's connection is configured here; no substitute needed".to_owned());
    }
    if let Some(id) = state.current_id() {
        fx.push(session::to(id, SessionCommand::StandIn { connection: name.clone(), everywhere: true }));
    }
    Ok(())
}

/// Enter on a connection: the shown session uses it, with its own model; what wants a key asks for it.
pub(crate) fn choose(state: &mut State, name: &ConnectionName, fx: &mut Vec<Effect>) {
    let Some(info) = connections::all(state).find(|info| info.name == *name).cloned() else { return };
    if info.missing.is_some() && !info.wants_key() {
        let why = info.missing.as_deref().map(text::one_line).unwrap_or_default();
        return state.notify(Notice::new(Level::Warning, format!("Can't use {name}: {why}")));
    }
    if models::locked(state).is_some_and(|locked| locked != *name) {
        // Its key can be given all the same.
        return match info.wants_key() {
            true => connections::ask_for_key(state, name, fx),
            // Its server has to say which models it has.
            false if info.default_model.is_empty() => models_of(state, name, fx),
            false => connecting::ask_to_continue(state, name, &info.default_model),
        };
    }
    match (connections::not_here(state), state.current_id()) {
        (Some(_), Some(id)) => {
            fx.push(session::to(id, SessionCommand::StandIn { connection: name.clone(), everywhere: false }))
        }
        _ => models::set_model(state, Some(name.clone()), &info.default_model, fx),
    }
    if info.wants_key() {
        connections::ask_for_key(state, name, fx);
    } else if info.default_model.is_empty() {
        // Its server has to say which models it has.
        models_of(state, name, fx);
    }
}

/// Opens the picker of models at those of a connection.
fn models_of(state: &mut State, name: &ConnectionName, fx: &mut Vec<Effect>) {
    model_picker::pick(state, fx);
    if let Some(Overlay::Picker(picker)) = state.overlays.last_mut() {
        picker.query.insert(name.as_str());
        picker.filter();
    }
}

/// The server that was added has this connection: the shown session uses it.
pub(crate) fn added(state: &mut State, connection: &ConnectionName, wants_key: bool, fx: &mut Vec<Effect>) {
    state.connecting.adds = None;
    if wants_key && state.current_id().is_some() {
        if models::locked(state).is_none() {
            models::set_model(state, Some(connection.clone()), "", fx);
        }
        return connections::ask_for_key(state, connection, fx);
    }
    choose(state, connection, fx);
}

/// Enter with a key in the filter: it is the selected connection's.
pub(crate) fn use_key(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Picker(picker)) = state.overlays.last() else { return };
    let Some(Value::Connection(name)) = picker.chosen().map(|item| item.value.clone()) else { return };
    let given = key_in(picker.query.text());
    overlay::close(state);
    state.connecting.given = given;
    connections::ask_for_key(state, &name, fx);
}

/// The other thing to do with a connection: to give it a key, also in the place of the one that it has.
pub(crate) fn give_key(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Picker(picker)) = state.overlays.last() else { return };
    let Some(Value::Connection(name)) = picker.chosen().map(|item| item.value.clone()) else { return };
    if connections::all(state).any(|info| info.name == name && info.host.is_empty()) {
        return state.notify(Notice::new(Level::Info, format!("{name} needs no key")));
    }
    overlay::close(state);
    connections::ask_for_key(state, &name, fx);
}
