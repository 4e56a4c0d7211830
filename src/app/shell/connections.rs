//! Connections as rows of a list: where each leads, where its key comes from, whether it answers.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::connecting::OTHER;
use crate::app::state::picker::{Facts, Item, Value};
use crate::domain::ids::ConnectionName;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, ConnectionInfo, SessionCommand};

/// All connections: those there are, then those that a key alone would make.
pub(crate) fn all(state: &State) -> impl Iterator<Item = &ConnectionInfo> {
    let there = &state.engine.config.connections;
    let vendors = state.engine.config.vendors.iter().filter(|vendor| there.iter().all(|one| one.name != vendor.name));
    there.iter().chain(vendors)
}

/// The connection that the shown session asks, and else the one that a new one begins with.
pub(crate) fn in_force(state: &State) -> Option<&ConnectionName> {
    let own = state.current_meta().and_then(|meta| meta.asked());
    own.or_else(|| default(state))
}

/// The connection that the shown session was made with, where it is not configured here: another can answer in its place.
pub(crate) fn not_here(state: &State) -> Option<&ConnectionName> {
    let meta = state.current_meta()?;
    let named = meta.connection.as_ref()?;
    let here = || state.engine.config.connections.iter().any(|info| info.name == *named);
    (meta.unmapped || meta.stand_in.is_some() || !here()).then_some(named)
}

/// Connection of new sessions, as far as it is known here.
fn default(state: &State) -> Option<&ConnectionName> {
    let usable = |info: &&ConnectionInfo| !info.offered && (info.missing.is_none() || info.wants_key());
    state.engine.config.connections.iter().find(usable).map(|info| &info.name)
}

pub(crate) fn items(state: &State) -> Vec<Item> {
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
            overlay::item(info.name.as_str(), host(info), Value::Connection(info.name.clone())).with(facts)
        })
        .chain([other_server()])
        .collect()
}

/// The row that adds a server.
fn other_server() -> Item {
    let facts = Facts {
        columns: vec!["by its address".to_owned(), String::new(), String::new(), "openai-compatible".to_owned()],
        about: vec!["Enter asks for the address of an OpenAI-compatible server, here or elsewhere.".to_owned()],
        ..Facts::default()
    };
    overlay::item(OTHER, String::new(), Value::OtherServer).with(facts)
}

/// The server's name and port.
fn host(info: &ConnectionInfo) -> String {
    text::one_line(info.host.split("://").last().unwrap_or_default())
}

/// Source of its key.
fn key(info: &ConnectionInfo) -> String {
    match &info.key_from {
        Some(from) => text::one_line(from),
        None if info.host.is_empty() => "no key needed".to_owned(),
        None if info.missing.is_some() => "needs a key".to_owned(),
        None => "no key".to_owned(),
    }
}

/// Reachability of its server.
pub(crate) fn answers(state: &State, info: &ConnectionInfo) -> String {
    let told = state.engine.models.get(&info.name);
    match told {
        _ if info.host.is_empty() => "built in".to_owned(),
        _ if state.engine.catalogue.asked_since(&info.name).is_some() => "asking".to_owned(),
        Some(Ok(models)) => format!("online, {} models", models.len()),
        // It refused, so it is there.
        Some(Err(_)) if info.wants_key() => "wants a key".to_owned(),
        Some(Err(_)) => "no response".to_owned(),
        None if info.offered => "not checked".to_owned(),
        None => String::new(),
    }
}

fn about(state: &State, info: &ConnectionInfo, default: bool) -> String {
    let mut parts = Vec::new();
    match (&info.missing, state.engine.models.get(&info.name)) {
        (Some(_), _) if info.wants_key() => {
            parts.push(format!("No key yet. Your key is sent only to {}", host(info)));
        }
        (Some(why), _) => parts.push(text::one_line(why)),
        (None, Some(Err(why))) => parts.push(text::one_line(why).trim_end_matches('.').to_owned()),
        (None, _) if info.offered => {
            parts.push("Found locally. Nothing is sent until you choose it".to_owned());
        }
        (None, _) => {}
    }
    if default {
        parts.push("Default for new sessions".to_owned());
    }
    if !info.default_model.is_empty() && info.missing.is_none() {
        let small = Some(&info.small_model).filter(|small| !small.is_empty() && **small != info.default_model);
        let small = small.map(|small| format!(", {} for titles", text::one_line(small))).unwrap_or_default();
        parts.push(format!("Model: {}{small}", text::one_line(&info.default_model)));
    }
    parts.join(". ") + if parts.is_empty() { "" } else { "." }
}

/// Makes the engine ask for the key of a connection, in the shown session.
pub(crate) fn ask_for_key(state: &mut State, connection: &ConnectionName, fx: &mut Vec<Effect>) {
    match state.current_id().cloned() {
        Some(id) => {
            state.connecting.wanted = Some(connection.clone());
            fx.push(Effect::Send(Command::Session {
                id,
                command: SessionCommand::AskKey { connection: connection.clone() },
            }));
        }
        None => state.notify(Notice::new(Level::Info, "Session not saved yet, try again in a second")),
    }
}
