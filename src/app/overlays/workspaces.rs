//! `/workspace`: the workspaces there are, with their sessions; another one is opened, or made.
//!
//! The engine of a workspace ends when another one is opened, as when the program is left: what runs is stopped and told of
//! before, drafts are kept.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, quit, text};
use crate::app::state::State;
use crate::app::state::overlay::{Confirm, Deed, Overlay};
use crate::app::state::picker::{Facts, Hit, Item, Kind, Value};
use crate::domain::workspace::{Workspace, is_name};
use crate::domain::{Level, Notice};
use std::path::PathBuf;

/// Opens the list; what there is comes in a moment.
pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    let items = items(state);
    let selected = place(state);
    overlay::open_picker(state, Kind::Workspace, items, selected);
    fx.push(Effect::Workspaces);
}

/// These there are.
pub(crate) fn came(state: &mut State, workspaces: Vec<Workspace>) {
    let first = state.engine.workspaces.is_empty();
    state.engine.workspaces = workspaces;
    let (items, place) = (items(state), place(state));
    if let Some(Overlay::Picker(picker)) = state.overlays.last_mut()
        && picker.kind == Kind::Workspace
    {
        picker.items = items;
        picker.filter();
        if first && picker.query.text().is_empty() {
            picker.selected = place;
        }
    }
    offer_new(state);
}

fn place(state: &State) -> usize {
    state.engine.workspaces.iter().position(|one| one.current).unwrap_or(0)
}

fn items(state: &State) -> Vec<Item> {
    let one = |workspace: &Workspace| {
        let path = text::one_line(&workspace.path.display().to_string());
        let sessions = match workspace.sessions {
            0 => "empty".to_owned(),
            1 => "1 session".to_owned(),
            n => format!("{n} sessions"),
        };
        let made = if workspace.foreign { "from another program" } else { "" };
        let facts = Facts {
            columns: vec![sessions, made.to_owned()],
            about: vec![path.clone()],
            current: workspace.current,
            ..Facts::default()
        };
        overlay::item(text::one_line(&workspace.name), path, Value::Workspace(workspace.path.display().to_string()))
            .with(facts)
    };
    state.engine.workspaces.iter().map(one).collect()
}

/// Offers the typed text as the name of a new workspace, or as a folder.
pub(crate) fn offer_new(state: &mut State) {
    let known = state.engine.workspaces.iter().map(|one| one.name.to_lowercase()).collect::<Vec<_>>();
    let Some(Overlay::Picker(picker)) = state.overlays.last_mut() else { return };
    if picker.kind != Kind::Workspace {
        return;
    }
    picker.items.retain(|item| !matches!(item.value, Value::NewWorkspace(_)));
    picker.filter();
    let typed = picker.query.text().trim().to_owned();
    let text = match typed.as_str() {
        folder if folder.starts_with(['/', '~', '.']) && folder.len() > 1 => format!("open folder {folder}"),
        name if is_name(name) && !known.contains(&name.to_lowercase()) => format!("create workspace “{name}”"),
        _ => return,
    };
    picker.items.push(overlay::item(text, "", Value::NewWorkspace(typed)));
    picker.hits.push(Hit { item: picker.items.len() - 1, marks: Vec::new() });
}

/// `/workspace NAME` or `/workspace FOLDER`, and a choice in the list: looked at first, so that nothing ends for one that
/// cannot be opened.
pub(crate) fn go(state: &State, written: &str, create: bool, fx: &mut Vec<Effect>) {
    let cwd = state.current_meta().map(|meta| meta.cwd.clone());
    fx.push(Effect::Workspace { written: written.to_owned(), create, from: cwd });
}

/// `/workspace NAME`, or `/workspace new NAME`: a misspelled name must not make another workspace.
pub(crate) fn command(state: &State, args: &str, fx: &mut Vec<Effect>) {
    match args.split_once(' ') {
        Some(("new", name)) if !name.trim().is_empty() => go(state, name.trim(), true, fx),
        _ => go(state, args, false, fx),
    }
}

/// It can be opened, or not.
pub(crate) fn found(state: &mut State, found: Result<Workspace, String>, fx: &mut Vec<Effect>) {
    let workspace = match found {
        Ok(workspace) => workspace,
        Err(why) => return state.notify(Notice::new(Level::Warning, why)),
    };
    if workspace.current {
        let text = format!("{} is already open", text::plain(&workspace.name));
        return state.notify(Notice::new(Level::Info, text));
    }
    if !quit::stops_something(state) {
        return leave(state, workspace.path, fx);
    }
    let title = format!("Open workspace {}?", text::quoted(&workspace.name));
    let mut says = state.leaving();
    says.push("Drafts stay with their sessions.".to_owned());
    overlay::confirm(state, Confirm::new(title, says, "open", Deed::Workspace(workspace.path)));
}

/// Leaves this workspace for another one.
pub(crate) fn leave(state: &mut State, folder: PathBuf, fx: &mut Vec<Effect>) {
    state.ending.workspace = Some(folder);
    quit::quit(state, fx);
}
