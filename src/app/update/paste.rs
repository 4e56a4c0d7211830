//! Pasted text.

use crate::app::composer::attach;
use crate::app::effect::Effect;
use crate::app::panels::letters;
use crate::app::shell::focus;
use crate::app::state::hidden::looks_like_a_key;
use crate::app::state::{Focus, State};
use crate::app::update::{redelivery, text_input};
use crate::domain::request::Ask;
use crate::domain::secret::masked;
use crate::domain::{Level, Notice, dropped as paths};
use crate::keymap::action::AnswerAction;

/// The shown session asks for a key, and this is pasted where it is not asked for: it goes nowhere, so that no key gets into a
/// draft, and from there onto the disk.
fn is_a_lost_key(state: &mut State, text: &str) -> bool {
    let asked = state.current_open().is_some_and(|open| open.requests.iter().any(|one| matches!(one.ask, Ask::Key(_))));
    if !asked || !looks_like_a_key(text) {
        return false;
    }
    let key = state.keys.key_for(AnswerAction::Focus);
    let notice = Notice::new(Level::Warning, "Not pasted: this looks like an API key");
    state.notify(notice.hint(format!("{key} opens the key field")));
    true
}

/// Whoever pastes a key may not know that it is in there.
fn warn_of_keys(state: &mut State, text: &str) {
    if let Some((_, count)) = masked(text) {
        let what =
            if count == 1 { "The pasted text seems to contain a key" } else { "The pasted text seems to contain keys" };
        state.notify(Notice::new(Level::Warning, what).hint("it is sent to the model with your message"));
    }
}

/// A pasted text goes where text is written, else into the composer. It never sends and never answers.
pub(super) fn paste(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    state.input.last_key = state.clock.now;
    redelivery::hold(state, fx);
    let clean = crate::app::state::composer::clean_paste(text);
    if state.overlay_takes_text() {
        text_input::insert(state, &clean);
    } else if (state.overlays.is_empty() || letters::chooses(state)) && !is_a_lost_key(state, &clean) {
        // Answers in the inbox give way to it as those of the panel do.
        state.overlays.clear();
        focus::give_back(state);
        state.focus = Focus::Composer;
        let text = state.composer().text();
        // Behind a command a path is a word of it.
        let words = text.starts_with('/') || text.starts_with('!');
        match paths::pasted(&clean).filter(|_| !words) {
            Some(paths) => {
                let alone = paths.len() == 1;
                let written =
                    |path: &String| if alone { clean.trim().to_owned() } else { format!("{} ", paths::quoted(path)) };
                let files = paths.iter().map(|path| (path.into(), Some(written(path)))).collect();
                attach::ask(state, files, fx);
            }
            None => {
                state.composer_mut().paste(&clean);
                warn_of_keys(state, &clean);
            }
        }
    }
}
