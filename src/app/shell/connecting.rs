//! From a wish to a model that answers: who answers is chosen, and once a key is accepted the models are offered.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{connections, models, overlay, session, text};
use crate::app::state::State;
use crate::app::state::connecting::Prompted;
use crate::app::state::edit::Line;
use crate::app::state::notices::TrueWhile;
use crate::app::state::overlay::{Confirm, Deed, Overlay, Prompt, Wanted};
use crate::domain::ids::{ConnectionName, DEMO, SessionId};
use crate::domain::{Level, Notice};
use crate::keymap::action::ModelAction;
use crate::protocol::{Command, EngineCommand, SessionCommand};

/// The server of a connection listed its models, or did not.
pub(crate) fn listed(state: &mut State, connection: &ConnectionName, models: &Result<Vec<String>, String>) {
    if state.connecting.checking.take_if(|check| check.connection == *connection).is_none() {
        return;
    }
    state.connecting.wanted = None;
    let notice = match models {
        Ok(models) => {
            let n = models.len();
            let models = if n == 1 { "1 model".to_owned() } else { format!("{n} models") };
            Notice::new(Level::Info, format!("Key for {connection} accepted · {models}"))
        }
        Err(why) => {
            let why = text::one_line(why).trim_end_matches('.').to_owned();
            Notice::new(Level::Warning, format!("Key for {connection} stored, not checked: {why}"))
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
    let Some(connection) = row.connection else { return ask_for_address(state, "") };
    state.connecting.chosen = Some(connection);
    begin(state, fx);
}

/// Goes on with who was chosen on the first screen, as soon as there is a session to choose it for.
pub(crate) fn begin(state: &mut State, fx: &mut Vec<Effect>) {
    if state.connecting.chosen.is_none() || state.current_id().is_none() {
        return;
    }
    let chosen = state.connecting.chosen.take();
    let Some(info) = connections::all(state).find(|info| Some(&info.name) == chosen.as_ref()).cloned() else { return };
    if info.provider == DEMO {
        state.connecting.demo = true;
    }
    models::set_model(state, Some(info.name.clone()), &info.default_model, fx);
    if info.wants_key() {
        connections::ask_for_key(state, &info.name, fx);
    } else if info.provider != DEMO {
        state.follow_up(Intent::Act(ModelAction::Pick.into()));
    }
}

/// Asks for the address of a server that speaks OpenAI's chat API. `typed`: what was looked for, which may be one.
pub(crate) fn ask_for_address(state: &mut State, typed: &str) {
    let title = format!("Server address, such as {EXAMPLE}");
    let begun = if typed.contains([':', '.', '/']) { typed } else { "" };
    let prompt = Prompt { title, line: Line::new(begun), problem: None, wanted: Wanted::Server };
    overlay::open(state, Overlay::Prompt(Box::new(prompt)));
}

const EXAMPLE: &str = "http://127.0.0.1:8080/v1";

/// Adds a server by its address.
pub(crate) fn add_server(state: &mut State, address: &str, prompted: Prompted, fx: &mut Vec<Effect>) {
    fx.push(Effect::Send(Command::Engine(EngineCommand::AddServer { address: address.to_owned() })));
    let said = format!("Asking {} for its models", text::one_line(address));
    state.connecting.adds = Some((address.to_owned(), prompted));
    state.notify_while(Notice::new(Level::Info, said), vec![TrueWhile::Adds(address.to_owned())]);
}

/// A server was not added: in the prompt for it its address stands again, with what is wrong, unless something else is done by
/// now.
pub(crate) fn not_added(state: &mut State, address: &str, why: &str) {
    let prompted = state.connecting.adds.take().is_some_and(|(_, prompted)| prompted == Prompted::Yes);
    if !prompted || !state.overlays.is_empty() || !state.composer().is_empty() {
        let notice = format!("{} not added: {}", text::one_line(address), text::one_line(why));
        return state.notify(Notice::new(Level::Error, notice));
    }
    ask_for_address(state, address);
    if let Some(Overlay::Prompt(prompt)) = state.overlays.last_mut() {
        prompt.line = Line::new(address);
        prompt.problem = Some(text::one_line(why));
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
        format!("A session's connection can't change after its first message; this one uses {locked}."),
        "The conversation is included. Files are unchanged.".to_owned(),
    ];
    let deed = Deed::Continue { connection: connection.clone(), model: model.to_owned() };
    let title = format!("Continue in a new session with {with}?");
    overlay::confirm(state, Confirm::new(title, says, "continue", deed));
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
