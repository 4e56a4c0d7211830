//! A draft that holds a key: it is neither sent nor kept before the user says what it is.

use crate::app::composer::send::{self, How};
use crate::app::effect::Effect;
use crate::app::shell::{connections, focus, models, overlay};
use crate::app::slash::{self, Slash};
use crate::app::state::State;
use crate::app::state::hidden::{holds_a_key, key_in, vendor_of};
use crate::app::state::picker::{Facts, Kind, Value};
use crate::domain::ids::ConnectionName;
use crate::protocol::ConnectionInfo;

/// Asks what a draft is that holds a key. False: it holds none.
pub(crate) fn asks(state: &mut State) -> bool {
    let text = state.composer().text();
    // The command takes care of what stands behind it.
    let connects = matches!(slash::read(&text), Some(Ok(call)) if call.slash == Slash::Connection);
    if connects || text.starts_with('!') || !holds_a_key(&text) {
        return false;
    }
    let vendor = vendor_of(&text);
    let fits = |info: &&ConnectionInfo| !info.host.is_empty() && vendor.is_none_or(|name| info.name.as_str() == name);
    let mut items: Vec<_> = connections::all(state)
        .filter(fits)
        .map(|info| {
            let about = vec![format!("Sent only to {}", info.host)];
            let label = format!("Use as the key for {}", info.name);
            overlay::item(label, "", Value::UseKey(info.name.clone())).with(Facts { about, ..Facts::default() })
        })
        .collect();
    let sent = Facts { about: vec!["Sent to the model and saved in the conversation".to_owned()], ..Facts::default() };
    items.push(overlay::item("Remove from the draft", "", Value::DropKey));
    items.push(overlay::item("Send as a message", "", Value::SendKey).with(sent));
    overlay::open_picker(state, Kind::KeyText, items, 0);
    focus::hush(state);
    true
}

/// The draft is the key of this connection.
pub(crate) fn use_key(state: &mut State, connection: &ConnectionName, fx: &mut Vec<Effect>) {
    let text = state.composer_mut().take();
    state.connecting.given = key_in(&text);
    let info = connections::all(state).find(|info| info.name == *connection).cloned();
    if let Some(info) = info.filter(|_| models::locked(state).is_none()) {
        models::set_model(state, Some(info.name), &info.default_model, fx);
    }
    connections::ask_for_key(state, connection, fx);
}

/// The draft is a message all the same.
pub(crate) fn send_anyway(state: &mut State, fx: &mut Vec<Effect>) {
    let text = state.composer().text();
    send::send(state, text, How::Queue, fx);
}
