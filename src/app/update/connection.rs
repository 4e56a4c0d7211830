//! The picker of connections: where each leads, where its key comes from, whether it answers; and the key that is asked for.

use super::model::{Again, ask_servers, locked, pick as pick_model, set_model};
use super::overlay::{self, item, one_line};
use super::to;
use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Item, Kind, Picker, Value};
use crate::domain::contract::{Act, Command, ConnectionInfo};
use crate::domain::ids::ConnectionName;
use crate::domain::{Level, Notice};

/// All connections: those there are, then those that a key alone would make.
pub(super) fn all(state: &State) -> impl Iterator<Item = &ConnectionInfo> {
    let there = &state.config.connections;
    let vendors = state.config.vendors.iter().filter(|vendor| there.iter().all(|one| one.name != vendor.name));
    there.iter().chain(vendors)
}

/// Opens the picker.
pub(super) fn pick(state: &mut State, fx: &mut Vec<Effect>) {
    ask_servers(state, Again::No, fx);
    let items = items(state);
    let selected = items.iter().position(|item| item.facts.current).unwrap_or(0);
    let picker = Picker { from: state.focus, ..Picker::new(Kind::Connection, items, selected) };
    overlay::open(state, Overlay::Picker(Box::new(picker)));
}

/// The connection that the shown session asks, and else the one that a new one begins with.
pub(super) fn in_force(state: &State) -> Option<&ConnectionName> {
    let own = state.current_meta().and_then(|meta| meta.asked());
    own.or_else(|| default(state))
}

/// The connection that the shown session was made with, where it is not configured here: another can answer in its place.
pub(super) fn not_here(state: &State) -> Option<&ConnectionName> {
    let meta = state.current_meta()?;
    let named = meta.connection.as_ref()?;
    let here = || state.config.connections.iter().any(|info| info.name == *named);
    (meta.unmapped || meta.stand_in.is_some() || !here()).then_some(named)
}

/// A message waits for somebody to say what answers: that can be said at once.
pub(super) fn wanted(state: &mut State, named: &ConnectionName, fx: &mut Vec<Effect>) {
    let text = format!(
        "This session was made with the connection {}, which is not configured here.",
        one_line(named.as_str())
    );
    let hint = "your message waits: /connection NAME lets another one answer, and --all wherever that one is named";
    state.notify(Notice::new(Level::Warning, text).hint(hint));
    if state.overlays.is_empty() {
        pick(state, fx);
    }
}

/// Connection of new sessions, as far as it is known here.
fn default(state: &State) -> Option<&ConnectionName> {
    let usable = |info: &&ConnectionInfo| !info.offered && (info.missing.is_none() || info.wants_key());
    state.config.connections.iter().find(usable).map(|info| &info.name)
}

pub(super) fn items(state: &State) -> Vec<Item> {
    let current = in_force(state);
    let default = default(state);
    all(state)
        .map(|info| {
            let facts = Facts {
                columns: vec![key(info), answers(state, info), host(info), info.provider.clone()],
                about: vec![about(state, info, default == Some(&info.name))],
                current: current == Some(&info.name),
                off: info.missing.is_some(),
                ..Facts::default()
            };
            item(info.name.as_str(), host(info), Value::Connection(info.name.clone())).with(facts)
        })
        .collect()
}

/// The server's name and port.
fn host(info: &ConnectionInfo) -> String {
    one_line(info.host.split("://").last().unwrap_or_default())
}

/// Source of its key.
fn key(info: &ConnectionInfo) -> String {
    match &info.key_from {
        Some(from) => one_line(from),
        None if info.host.is_empty() => "none needed".to_owned(),
        None if info.missing.is_some() => "missing".to_owned(),
        None => "none given".to_owned(),
    }
}

/// Reachability of its server.
fn answers(state: &State, info: &ConnectionInfo) -> String {
    let told = state.models.get(&info.name);
    match told {
        _ if info.host.is_empty() => "built in".to_owned(),
        _ if state.catalogue.asked_since(&info.name).is_some() => "asking".to_owned(),
        Some(Ok(models)) => format!("answers, {} models", models.len()),
        Some(Err(_)) => "does not answer".to_owned(),
        None if info.offered => "not asked yet".to_owned(),
        None => String::new(),
    }
}

fn about(state: &State, info: &ConnectionInfo, default: bool) -> String {
    let mut parts = Vec::new();
    match (&info.missing, state.models.get(&info.name)) {
        (Some(_), _) if info.wants_key() => {
            parts.push(format!("It has no key yet. The one you give goes to {} and nowhere else", host(info)));
        }
        (Some(why), _) => parts.push(one_line(why)),
        (None, Some(Err(why))) => parts.push(one_line(why).trim_end_matches('.').to_owned()),
        (None, _) if info.offered => {
            parts.push("It was found here. Nothing is sent to it before you choose it".to_owned());
        }
        (None, _) => {}
    }
    if default {
        parts.push("New sessions begin with it".to_owned());
    }
    if !info.default_model.is_empty() && info.missing.is_none() {
        let small = Some(&info.small_model).filter(|small| !small.is_empty() && **small != info.default_model);
        let small = small.map(|small| format!(", {} for titles", one_line(small))).unwrap_or_default();
        parts.push(format!("Its model is {}{small}", one_line(&info.default_model)));
    }
    parts.join(". ") + if parts.is_empty() { "" } else { "." }
}

/// Updates an open picker with new facts.
pub(super) fn refill(state: &mut State) {
    let open = |overlay: &Overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == Kind::Connection);
    if !state.overlays.iter().any(open) {
        return;
    }
    let items = items(state);
    let usual = items.iter().position(|item| item.facts.current).unwrap_or(0);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Connection
        {
            return picker.refill(items, usual);
        }
    }
}

/// `/connection NAME`: uses it. Of a name that is not known here the engine says so.
pub(super) fn choose_named(state: &mut State, name: &ConnectionName, fx: &mut Vec<Effect>) {
    if all(state).any(|info| info.name == *name) { choose(state, name, fx) } else { ask_for_key(state, name, fx) }
}

/// `/connection NAME --all`: in the shown session and in all others, it answers for the one that is not configured here.
pub(super) fn choose_everywhere(state: &State, name: &ConnectionName, fx: &mut Vec<Effect>) -> Result<(), String> {
    if not_here(state).is_none() {
        return Err("The connection of this session is configured here: nothing answers in its place.".to_owned());
    }
    if let Some(id) = state.current_id() {
        fx.push(to(id, Act::StandIn { connection: name.clone(), everywhere: true }));
    }
    Ok(())
}

/// Enter on a connection: the shown session uses it, with its own model; what wants a key asks for it.
pub(super) fn choose(state: &mut State, name: &ConnectionName, fx: &mut Vec<Effect>) {
    let Some(info) = all(state).find(|info| info.name == *name).cloned() else { return };
    if info.missing.is_some() && !info.wants_key() {
        let why = info.missing.as_deref().map(one_line).unwrap_or_default();
        return state.notify(Notice::new(Level::Warning, format!("{name} cannot be used: {why}.")));
    }
    if let Some(locked) = locked(state).filter(|locked| locked != name) {
        let text = format!("This session stays with {locked}: its first message went there.");
        state
            .notify(Notice::new(Level::Info, text).hint(format!("/new, then /connection chooses {name} for that one")));
        return;
    }
    match (not_here(state), state.current_id()) {
        (Some(_), Some(id)) => fx.push(to(id, Act::StandIn { connection: name.clone(), everywhere: false })),
        _ => set_model(state, Some(name.clone()), &info.default_model, fx),
    }
    if info.wants_key() {
        ask_for_key(state, name, fx);
    } else if info.default_model.is_empty() {
        // Its server has to say which models it has.
        pick_model(state, fx);
        if let Some(Overlay::Picker(picker)) = state.overlays.last_mut() {
            picker.query.insert(name.as_str());
            picker.filter();
        }
    }
}

/// The other thing to do with a connection: to give it a key, also in the place of the one that it has.
pub(super) fn give_key(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Picker(picker)) = state.overlays.last() else { return };
    let Some(Value::Connection(name)) = picker.chosen().map(|item| item.value.clone()) else { return };
    if all(state).any(|info| info.name == name && info.host.is_empty()) {
        return state.notify(Notice::new(Level::Info, format!("{name} needs no key.")));
    }
    overlay::close(state);
    ask_for_key(state, &name, fx);
}

/// Makes the engine ask for the key of a connection, in the shown session.
pub(super) fn ask_for_key(state: &mut State, connection: &ConnectionName, fx: &mut Vec<Effect>) {
    match state.current_id() {
        Some(id) => {
            fx.push(Effect::Send(Command::AskKey { session: id.clone(), connection: connection.clone() }));
        }
        None => state.notify(Notice::new(Level::Info, "The session is being made; give the key in a moment.")),
    }
}
