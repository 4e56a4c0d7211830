//! From a wish to a model that answers: the key field gets the focus, the key is checked, the models are offered.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{connections, models, overlay, session, text};
use crate::app::state::overlay::{Confirm, Deed};
use crate::app::state::panel::Stage;
use crate::app::state::{Focus, State};
use crate::domain::ids::{ConnectionName, RequestId, SessionId};
use crate::domain::request::Ask;
use crate::domain::{Level, Notice};
use crate::keymap::action::ModelAction;
use crate::protocol::{Command, EngineCommand, SessionCommand};

/// The engine asks for a key: one that the user wanted to give gets its field, with the focus.
pub(crate) fn asked(state: &mut State, id: &SessionId) {
    if state.current_id() != Some(id) || !state.overlays.is_empty() {
        return;
    }
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let key = open.requests.iter().find_map(|one| match &one.ask {
        Ask::Key(wanted) if Some(&wanted.connection) == state.connecting.wanted.as_ref() => Some(one.id.clone()),
        _ => None,
    });
    let Some(panel) = open.panel.as_mut().filter(|panel| Some(&panel.request) == key.as_ref()) else { return };
    panel.stage = Stage::Secret { key: state.connecting.given.take().unwrap_or_default() };
    state.connecting.wanted = None;
    state.connecting.checking = None;
    state.focus = Focus::Panel;
}

/// A key was given: its server is asked. Where that refuses it, the field comes back.
pub(crate) fn given(state: &mut State, session: &SessionId, request: &RequestId) {
    let Some(Ask::Key(wanted)) = state.request(session, request).map(|request| &request.ask) else { return };
    let connection = wanted.connection.clone();
    state.connecting.wanted = Some(connection.clone());
    state.connecting.checking = Some((connection, state.clock.now));
}

/// The server of a connection listed its models, or did not.
pub(crate) fn listed(state: &mut State, connection: &ConnectionName, models: &Result<Vec<String>, String>) {
    if state.connecting.checking.take_if(|(checked, _)| checked == connection).is_none() {
        return;
    }
    state.connecting.wanted = None;
    let notice = match models {
        Ok(models) => {
            let n = models.len();
            let models = if n == 1 { "1 model".to_owned() } else { format!("{n} models") };
            Notice::new(Level::Info, format!("Key of {connection} accepted · {models}"))
        }
        Err(why) => {
            let why = text::one_line(why).trim_end_matches('.').to_owned();
            Notice::new(Level::Warning, format!("Key of {connection} stored, not checked: {why}"))
        }
    };
    state.notify(notice);
    if !state.running() && state.overlays.is_empty() {
        state.follow_up(Intent::Act(ModelAction::Pick.into()));
    }
}

/// Enter on a row of the first screen.
pub(crate) fn choose_first(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(row) = state.first_choice().and_then(|rows| rows.into_iter().nth(state.connecting.first)) else { return };
    let Some(info) = connections::all(state).find(|info| info.name == row.connection).cloned() else { return };
    if info.provider == "rehearsal" {
        state.connecting.demo = true;
    }
    models::set_model(state, Some(info.name.clone()), &info.default_model, fx);
    if info.wants_key() {
        connections::ask_for_key(state, &info.name, fx);
    } else if info.provider != "rehearsal" {
        state.follow_up(Intent::Act(ModelAction::Pick.into()));
    }
}

/// Moves the selection of the first screen. False: it is not shown.
pub(crate) fn step_first(state: &mut State, by: isize) -> bool {
    let Some(rows) = state.first_choice().filter(|_| state.composer().is_empty()) else { return false };
    let last = rows.len().saturating_sub(1);
    state.connecting.first = state.connecting.first.saturating_add_signed(by).min(last);
    true
}

/// Asks if the conversation goes on in a new session, where this one stays with its connection.
pub(crate) fn ask_to_continue(state: &mut State, connection: &ConnectionName, model: &str) {
    let Some(locked) = models::locked(state) else { return };
    let with = if model.is_empty() { connection.to_string() } else { text::one_line(model) };
    let says = vec![
        format!("A session's connection can't change after its first message: this one stays with {locked}."),
        "The conversation so far comes along. Files stay as they are.".to_owned(),
    ];
    let deed = Deed::Continue { connection: connection.clone(), model: model.to_owned() };
    let title = format!("Continue in a new session with {with}?");
    overlay::confirm(state, Confirm { title, says, verb: "continue".to_owned(), deed });
}

/// Branches the shown session off; the branch asks this model.
pub(crate) fn continue_with(state: &mut State, connection: ConnectionName, model: String, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    state.connecting.continues = Some((id.clone(), connection, model));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Branch { session: id, at: None, title: None })));
}

/// The branch is there.
pub(crate) fn branched(state: &mut State, from: &SessionId, to: &SessionId, fx: &mut Vec<Effect>) {
    if let Some((_, connection, model)) = state.connecting.continues.take_if(|(session, ..)| session == from) {
        fx.push(session::to(to, SessionCommand::Model { connection: Some(connection), model }));
    }
}
