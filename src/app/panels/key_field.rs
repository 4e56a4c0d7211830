//! Field for the key of a connection. It stays open and editable while the server checks the key that was given, so that
//! nothing typed or pasted meanwhile is lost or lands in a draft.

use crate::app::effect::Effect;
use crate::app::panels::answers;
use crate::app::shell::{focus, session};
use crate::app::state::connecting::Check;
use crate::app::state::hidden::Hidden;
use crate::app::state::panel::Stage;
use crate::app::state::{Focus, State};
use crate::domain::ids::{ConnectionName, RequestId, SessionId};
use crate::domain::request::{Ask, UserAnswer};
use crate::domain::secret::Key;
use crate::domain::{Level, Notice};
use crate::protocol::SessionCommand;

/// Enter in the field: gives the key. While another one is checked the key waits for the result.
pub(crate) fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((session, panel)) = focus::focused(state) else { return };
    let Stage::Secret { key } = &panel.stage else { return };
    if key.is_sentence() {
        panel.stage = Stage::Secret { key: Hidden::default() };
        return state
            .notify(Notice::new(Level::Warning, "Not sent: a key has no spaces").hint("The field is empty again"));
    }
    let (request, key) = (panel.request.clone(), key.key());
    let Some(Ask::Key(wanted)) = state.request(&session, &request).map(|request| &request.ask) else { return };
    let connection = wanted.connection.clone();
    match (key, checked(state, &connection)) {
        (None, None) => state.notify(Notice::new(Level::Info, "Enter the key first")),
        (None, Some(_)) => {}
        (Some(_), Some(check)) => check.next = true,
        (Some(key), None) => give(state, (&session, &request), (connection, key), fx),
    }
}

fn checked<'s>(state: &'s mut State, connection: &ConnectionName) -> Option<&'s mut Check> {
    state.connecting.checking.as_mut().filter(|check| check.connection == *connection)
}

fn give(
    state: &mut State,
    (session, request): (&SessionId, &RequestId),
    (connection, key): (ConnectionName, Key),
    fx: &mut Vec<Effect>,
) {
    state.connecting.wanted = Some(connection.clone());
    state.connecting.checking = Some(Check { connection, since: state.clock.now, next: false, stored: false });
    if !state.overlays.is_empty() {
        return answers::give(state, session, request, UserAnswer::Key(key), fx);
    }
    if let Some((_, panel)) = focus::focused(state) {
        panel.stage = Stage::Secret { key: Hidden::default() };
    }
    fx.push(session::to(
        session,
        SessionCommand::Answer { request: request.clone(), answer: UserAnswer::Key(key), shown: None },
    ));
}

/// Field of the panel of a session, while it is open. The panel of a request that changed is a new one.
pub(crate) fn open_field(state: &State, session: &SessionId) -> Option<(RequestId, Hidden)> {
    let panel = state.conversations.open.get(session)?.panel.as_ref()?;
    match &panel.stage {
        Stage::Secret { key } => Some((panel.request.clone(), key.clone())),
        _ => None,
    }
}

/// The engine asks for a key, or asks again because the server refused one. The user who wanted to give it gets the
/// field, with the focus; `typed` is what stands in it already.
pub(crate) fn asked(state: &mut State, id: &SessionId, typed: Option<(RequestId, Hidden)>, fx: &mut Vec<Effect>) {
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let wanted = open.requests.iter().find_map(|one| match &one.ask {
        Ask::Key(wanted) if Some(&wanted.connection) == state.connecting.wanted.as_ref() => {
            Some((one.id.clone(), wanted.connection.clone()))
        }
        _ => None,
    });
    let Some((request, connection)) = wanted else { return };
    let check = state.connecting.checking.take_if(|check| check.connection == connection);
    let typed = typed.filter(|(of, _)| *of == request).map(|(_, key)| key);
    // Who left the field while the key was checked is elsewhere by now.
    let left = check.is_some() && typed.is_none() && state.focus != Focus::Panel;
    let Some(panel) = open.panel.as_mut().filter(|panel| panel.request == request && !left) else { return };
    let key = typed.or_else(|| state.connecting.given.take()).unwrap_or_default();
    panel.stage = Stage::Secret { key };
    if state.conversations.current_id() != Some(id) || !state.overlays.is_empty() {
        return;
    }
    state.connecting.wanted = None;
    if check.is_none() {
        state.focus = Focus::Panel;
    }
    // The field is the one the user is writing in: no key of theirs was meant for something else.
    state.input.quiet_until = state.clock.now;
    if check.is_some_and(|check| check.next) {
        accept(state, fx);
    }
}

/// A request is over: the key is stored, and at most its server still lists the models. True if it was one for a key.
pub(crate) fn settled(state: &mut State, id: &SessionId, request: &RequestId) -> bool {
    let Some(Ask::Key(wanted)) = state.request(id, request).map(|request| &request.ask) else { return false };
    let connection = wanted.connection.clone();
    if let Some(check) = checked(state, &connection) {
        check.stored = true;
        state.connecting.wanted = None;
    }
    true
}
