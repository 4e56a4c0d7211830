//! One line that is asked for: the value of a label, a directory, a session to import.

use crate::app::effect::Effect;
use crate::app::overlays::properties;
use crate::app::shell::{connecting, overlay, session, session_changes, text};
use crate::app::state::State;
use crate::app::state::connecting::Prompted;
use crate::app::state::edit::Line;
use crate::app::state::lobby::FoundHistory;
use crate::app::state::overlay::{Overlay, Prompt, Wanted};
use crate::app::state::picker::{Facts, Item, Kind, Value};
use crate::domain::count::count;
use crate::domain::ids::SessionId;
use crate::domain::property_change::PropertyChange;
use crate::protocol::{Command, EngineCommand, SessionCommand};
use std::path::PathBuf;

/// Enter in a line that was asked for.
pub(crate) fn answer_prompt(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Prompt(prompt)) = state.overlays.last_mut() else { return };
    let text = prompt.line.text().trim().to_owned();
    if let Wanted::LabelValue { value, .. } = &prompt.wanted
        && let Some(why) = properties::problem(Some(*value), &text)
    {
        prompt.problem = Some(why.to_owned());
        return;
    }
    let wanted = prompt.wanted.clone();
    overlay::close(state);
    match wanted {
        Wanted::LabelValue { label, sessions, .. } => {
            session_changes::change_all(state, sessions, PropertyChange::AddLabel(format!("{label}::{text}")), fx);
        }
        Wanted::Cwd(session) if !text.is_empty() => set_cwd(state, &session, &text, fx),
        Wanted::Import if !text.is_empty() => import(state, &text, fx),
        Wanted::Server if !text.is_empty() => connecting::add_server(state, &text, Prompted::Yes, fx),
        Wanted::Cwd(_) | Wanted::Import | Wanted::Server => {}
    }
}

pub(crate) fn ask_cwd(state: &mut State) {
    let Some(meta) = state.current_meta() else { return text::nothing_yet(state) };
    let line = Line::new(&meta.cwd.to_string_lossy());
    let wanted = Wanted::Cwd(meta.id.clone());
    let title = "Working directory".to_owned();
    overlay::open(state, Overlay::Prompt(Box::new(Prompt { title, line, problem: None, wanted })));
}

/// What can be imported: the programs that have sessions on this machine, and any file or folder.
pub(crate) fn offer_imports(state: &mut State, found: &[FoundHistory]) {
    if found.is_empty() {
        return ask_import(state);
    }
    let row = |one: &FoundHistory| {
        let facts = Facts { columns: vec![count(one.sessions, "session", "sessions")], ..Facts::default() };
        overlay::item(one.program, "", Value::Import(one.word)).with(facts)
    };
    let mut items: Vec<Item> = found.iter().map(row).collect();
    items.push(overlay::item("File or folder…", "", Value::ImportPath));
    overlay::open_picker(state, Kind::Import, items, 0);
}

pub(crate) fn ask_import(state: &mut State) {
    let title = "Session to import: folder or file".to_owned();
    let prompt = Prompt { title, line: Line::default(), problem: None, wanted: Wanted::Import };
    overlay::open(state, Overlay::Prompt(Box::new(prompt)));
}

/// Makes a session of what another program wrote there.
pub(crate) fn import(state: &State, path: &str, fx: &mut Vec<Effect>) {
    let from = state.current_meta().map(|meta| meta.cwd.clone());
    fx.push(Effect::Send(Command::Engine(EngineCommand::Import { path: path.trim().trim_matches('"').into(), from })));
}

/// Changes where tools work; a relative path begins where they work now.
pub(crate) fn set_cwd(state: &State, session: &SessionId, path: &str, fx: &mut Vec<Effect>) {
    let now = state.sessions.meta(session).map(|meta| meta.cwd.clone()).unwrap_or_default();
    // What begins with a tilde is the engine's to resolve: the screen does not know whose home it is.
    let path = if path.starts_with('~') { PathBuf::from(path) } else { now.join(path) };
    fx.push(session::to(session, SessionCommand::Cwd(path)));
}
