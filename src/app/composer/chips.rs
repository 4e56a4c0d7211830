//! Chips and files of the draft: selected, opened, unfolded.

use crate::app::effect::Effect;
use crate::app::shell::focus;
use crate::app::state::composer::Picked;
use crate::app::state::composer::UNFOLD_LINES;
use crate::app::state::files::File;
use crate::app::state::{Focus, State};
use crate::domain::{Level, Notice};
use crate::keymap::action::ComposerAction as Verb;

pub(crate) fn unfold(state: &mut State) {
    match state.composer_mut().unfold() {
        Ok(true) => {}
        Ok(false) => state.notify(Notice::new(Level::Info, "No collapsed paste in the draft")),
        Err(lines) => {
            let key = state.keys.key_for(Verb::Editor);
            let text = format!("Paste too long to expand here: {lines} lines, limit {UNFOLD_LINES}");
            state.notify(Notice::new(Level::Info, text).hint(format!("{key} opens the draft in $EDITOR")));
        }
    }
}

/// Opens what is selected in the draft: a pasted text becomes text again, a file is shown.
pub(crate) fn open_picked(state: &mut State, fx: &mut Vec<Effect>) {
    match state.composer().picked() {
        Some(Picked::Chip(_)) => unfold(state),
        Some(Picked::File(at)) => match state.composer().files().items().get(at).cloned() {
            Some(File::There(file)) => fx.push(Effect::View(Box::new(file))),
            _ => state.notify(Notice::new(Level::Info, "File still copying into the session")),
        },
        None => {}
    }
}

/// A click on a chip or file of the draft selects it; one on what is selected opens it.
pub(crate) fn press(state: &mut State, picked: Picked, fx: &mut Vec<Effect>) {
    focus::give_back(state);
    state.focus = Focus::Composer;
    if state.composer().picked() == Some(picked) {
        return open_picked(state, fx);
    }
    state.composer_mut().pick(picked);
}
