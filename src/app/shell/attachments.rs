//! Files of a draft or a message: opened outside the screen, and taken out.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session};
use crate::app::state::State;
use crate::app::state::files::File;
use crate::app::state::picker::{Kind, Value};
use crate::domain::attachment::Attachment;
use crate::domain::sanitise::clean_line;
use crate::domain::{Level, Notice};
use crate::protocol::SessionCommand;

/// A file was taken out of a draft: its copy is wanted no longer.
pub(crate) fn dropped(state: &State, file: &File, fx: &mut Vec<Effect>) {
    if let (File::There(file), Some(id)) = (file, state.current_id()) {
        fx.push(session::to(id, SessionCommand::Detach { path: file.path.clone() }));
    }
}

/// Opens one of these files outside the screen: the only one, or the one that is chosen.
pub(crate) fn view(state: &mut State, mut files: Vec<Attachment>, fx: &mut Vec<Effect>) {
    if files.len() > 1 {
        let named = |file: Attachment| {
            overlay::item(clean_line(&file.name).into_owned(), file.mime.clone(), Value::File(Box::new(file)))
        };
        let items = files.into_iter().map(named).collect();
        return overlay::open_picker(state, Kind::File, items, 0);
    }
    match files.pop() {
        Some(file) => fx.push(Effect::View(Box::new(file))),
        None => state.notify(Notice::new(Level::Info, "No files attached")),
    }
}

/// Takes all files out of the draft.
pub(crate) fn drop_all(state: &mut State, fx: &mut Vec<Effect>) {
    for file in state.composer_mut().take_files().items() {
        dropped(state, file, fx);
    }
}
