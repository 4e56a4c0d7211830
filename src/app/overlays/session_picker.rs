//! The picker of sessions, and `/session`.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session, text};
use crate::app::state::edit::Line;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Kind, Value};
use crate::app::state::{State, fuzzy};
use crate::domain::ids::SessionId;
use crate::domain::message::Body;
use crate::domain::nearest::nearest;
use crate::protocol::NewSession;

pub(crate) fn sessions(state: &mut State) {
    let mut metas: Vec<_> = state.sessions.metas().filter(|meta| !meta.hidden).collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let items = metas
        .into_iter()
        .map(|meta| {
            let folder = meta.cwd.file_name().unwrap_or(meta.cwd.as_os_str()).to_string_lossy().into_owned();
            let status = if meta.archived { "archived".to_owned() } else { text::one_line(&meta.status) };
            let mut about = vec![last_line(state, meta)];
            about.retain(|line| !line.is_empty());
            about.push(format!("{}  {}", meta.id, meta.cwd.display()));
            let facts = Facts {
                columns: vec![text::ago(state.clock.now, meta.last_message), status, text::one_line(&folder)],
                about,
                current: state.current_id() == Some(&meta.id),
                ..Facts::default()
            };
            let detail = format!("{} {}", meta.cwd.display(), meta.id);
            overlay::item(text::one_line(meta.shown_title()), detail, Value::Session(meta.id.clone())).with(facts)
        })
        .collect();
    overlay::open_picker(state, Kind::Session, items, 0);
}

/// The last that was said in a session, as far as it is loaded; else how it began.
fn last_line(state: &State, meta: &crate::domain::SessionMeta) -> String {
    let entries = state.conversations.open.get(&meta.id).map(|open| &open.chat.entries);
    let said = entries.into_iter().flatten().rev().find_map(|entry| match &entry.message.body {
        Body::Assistant(said) => Some(("answer: ", &said.text)),
        Body::User(said) => Some(("you: ", &said.text)),
        _ => None,
    });
    match said {
        Some((who, text)) => format!("{who}{}", text::one_line(text)),
        None => text::one_line(&meta.preview),
    }
}

/// `/session`: a new one, the list of all, or to the one that is named.
pub(crate) fn named(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let (verb, which) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
    match (verb.to_lowercase().as_str(), which.trim()) {
        ("new", "") => session::new(state, fx),
        ("new", name) => {
            let title = Some(text::one_line(name));
            // One that is being made already has no title yet.
            state.lobby.titled = title.clone().filter(|_| state.lobby.creating);
            session::begin(state, NewSession { title, ..NewSession::default() }, fx);
        }
        ("list" | "switch", "") => sessions(state),
        ("switch", which) => return switch(state, which, fx),
        ("list", _) => return Err(format!("/session {verb} takes no argument")),
        (other, _) => {
            let near = nearest(other, ["new", "list", "switch"]);
            let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
            return Err(format!("Unknown: /session {other:?}.{near}"));
        }
    }
    Ok(())
}

/// To the session of this id or title. Where it may be several of them, they are shown to choose from.
fn switch(state: &mut State, which: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let wanted = which.to_lowercase();
    let all: Vec<(SessionId, String)> = state
        .sessions
        .metas()
        .filter(|meta| !meta.hidden)
        .map(|meta| (meta.id.clone(), text::one_line(meta.shown_title())))
        .collect();
    let those = |fits: &dyn Fn(&SessionId, &str) -> bool| {
        all.iter().filter(|(id, title)| fits(id, title)).map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    // From what is meant for certain to what may be meant; the first that fits anything counts.
    let mut found = those(&|id, _| id.as_str() == which);
    if found.is_empty() {
        found = those(&|_, title| title.to_lowercase() == wanted);
    }
    if found.is_empty() {
        found = those(&|id, title| title.to_lowercase().contains(&wanted) || id.as_str().contains(&wanted));
    }
    if found.is_empty() {
        let ranked = fuzzy::rank(which, all.iter().map(|(_, title)| title.as_str()));
        found = ranked.into_iter().filter_map(|(at, _)| all.get(at).map(|(id, _)| id.clone())).collect();
    }
    match found.as_slice() {
        [] => {
            let near = nearest(&wanted, all.iter().map(|(id, _)| id.as_str()));
            let near = near.map_or_else(String::new, |near| format!(" Closest id: {near}"));
            Err(format!("No session {which:?}.{near}"))
        }
        [one] => {
            session::open(state, one, fx);
            Ok(())
        }
        _ => {
            sessions(state);
            if let Some(Overlay::Picker(picker)) = state.overlays.last_mut() {
                picker.query = Line::new(which);
                picker.filter();
            }
            Ok(())
        }
    }
}
