//! Files that go along with a message: asked for, come, refused, taken out again.

use crate::app::effect::Effect;
use crate::app::shell::{attachments, session};
use crate::app::state::files::Files;
use crate::app::state::{Current, Focus, State};
use crate::domain::attachment::Attachment;
use crate::domain::{Level, Notice, SessionId};
use crate::protocol::SessionCommand;
use std::path::{Path, PathBuf};

/// Asks for copies of these files. Where there is no session yet they are asked for once there is one.
pub(crate) fn ask(state: &mut State, files: Vec<(PathBuf, Option<String>)>, fx: &mut Vec<Effect>) {
    for (path, pasted) in files {
        if let Current::Session(id) = &state.conversations.current {
            fx.push(session::to(id, SessionCommand::Attach { path: path.clone() }));
        }
        state.composer_mut().files_mut().ask(path, pasted);
    }
}

/// The session of a draft is there: its files are asked for.
pub(crate) fn adopted(id: &SessionId, files: &Files, fx: &mut Vec<Effect>) {
    fx.extend(files.coming().map(|path| session::to(id, SessionCommand::Attach { path: path.to_owned() })));
}

/// A picture came from the clipboard, or not.
pub(crate) fn picture(state: &mut State, found: Result<PathBuf, String>, fx: &mut Vec<Effect>) {
    match found {
        Ok(file) => {
            state.drafts.pictures.push(file.clone());
            ask(state, vec![(file, None)], fx);
        }
        Err(why) => state.notify(Notice::new(Level::Warning, why)),
    }
}

/// A copy was made, or not.
pub(crate) fn came(
    state: &mut State,
    id: &SessionId,
    path: &Path,
    made: Result<Attachment, String>,
    fx: &mut Vec<Effect>,
) {
    if let Some(at) = state.drafts.pictures.iter().position(|picture| picture == path) {
        fx.push(Effect::Discard(state.drafts.pictures.remove(at)));
    }
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    match made {
        Ok(file) => {
            let copy = file.path.clone();
            if !open.composer.files_mut().came(path, file) {
                // It was taken out while it was copied.
                fx.push(session::to(id, SessionCommand::Detach { path: copy }));
            }
        }
        Err(why) => {
            let pasted = open.composer.files_mut().refused(path).flatten();
            let hint = if pasted.is_some() { "pasted as text" } else { "" };
            if let Some(text) = pasted {
                open.composer.insert(&text);
            }
            state.notify(Notice::new(Level::Warning, why).hint(hint));
        }
    }
}

/// Takes one file out of the draft, by its place.
pub(crate) fn take_out(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
    if let Some(file) = state.composer_mut().files_mut().remove(at) {
        attachments::dropped(state, &file, fx);
    }
    state.focus = Focus::Composer;
}
