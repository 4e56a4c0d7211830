//! Text that is typed or edited goes into the input that has the focus.

use crate::app::composer::editing;
use crate::app::conversation::search;
use crate::app::effect::Effect;
use crate::app::overlays::{properties, workspaces};
use crate::app::panels::letters;
use crate::app::shell::focus;
use crate::app::state::edit::Done;
use crate::app::state::overlay::{HelpPage, Overlay};
use crate::app::state::panel::Stage;
use crate::app::state::{Focus, State};
use crate::keymap::action::{ComposerAction as Verb, Context};
use crate::keymap::key::Key;

/// Types a key's character where text is written now. A panel whose answers do not know it gives the focus back first.
pub(super) fn type_into(state: &mut State, key: Option<Key>) {
    let Some(c) = key.and_then(Key::printable) else { return };
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    match state.contexts().first() {
        Some(Context::Approval | Context::Plan | Context::Question) => letters::to_composer(state, text),
        Some(Context::Composer | Context::Slash | Context::Insert) => state.composer_mut().type_char(c),
        Some(Context::Normal | Context::Visual | Context::Operator) => {
            if awaits(state) {
                editing::character(state, c);
            }
        }
        _ => insert(state, text),
    }
}

/// Inserts a text into the input that is open, if one is.
pub(super) fn insert(state: &mut State, text: &str) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            picker.query.insert(text);
            picker.filter();
            properties::offer_new_label(state);
            workspaces::offer_new(state);
        }
        Some(Overlay::Find) => state.searches.sessions.query.insert(text),
        Some(Overlay::Help(help)) if matches!(help.page, HelpPage::Keys(_)) => {
            help.query.insert(text);
            help.scroll = 0;
        }
        Some(Overlay::Rename(rename)) => rename.title.insert(text),
        Some(Overlay::Prompt(prompt)) => {
            prompt.line.insert(text);
            prompt.problem = None;
        }
        Some(Overlay::Inbox(inbox)) => {
            if let Some((_, panel)) = &mut inbox.answering {
                write(&mut panel.stage, text);
            }
        }
        Some(
            Overlay::Help(_)
            | Overlay::ConfirmQuit
            | Overlay::Confirm(_)
            | Overlay::Trash(_)
            | Overlay::Audit(_)
            | Overlay::Context(_)
            | Overlay::Usage(_)
            | Overlay::Rules(_)
            | Overlay::Sources(_)
            | Overlay::Extensions(_)
            | Overlay::Jobs(_)
            | Overlay::Queue(_)
            | Overlay::Health(_)
            | Overlay::Undo(_)
            | Overlay::Changes(_),
        ) => {}
        None => match state.focus {
            Focus::Panel => {
                if let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut()) {
                    write(&mut panel.stage, text);
                }
            }
            Focus::List => {
                if let Some(filter) = state.sessions.filter.as_mut().filter(|filter| filter.typing) {
                    filter.query.insert(text);
                    state.sessions.retype(state.clock.now, state.clock.utc_offset);
                }
            }
            Focus::Chat => {
                if let Some(search) = state.searches.conversation.as_mut().filter(|search| search.typing) {
                    search.query.insert(text);
                    search::search_again(state);
                }
            }
            Focus::Composer => {}
        },
    }
}

/// Writes into what a panel's answer needs.
fn write(stage: &mut Stage, text: &str) {
    if let Some(key) = stage.secret_mut() {
        key.insert(text);
    } else if let Some(words) = stage.editor_mut() {
        words.insert(text);
    }
}

/// Edits the text that is being written: in the topmost overlay, in the panel, in a filter or search, else the draft.
pub(super) fn edit(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            if picker.query.edit(verb) == Done::Changed {
                picker.filter();
                properties::offer_new_label(state);
                workspaces::offer_new(state);
            }
            return;
        }
        Some(Overlay::Help(help)) if matches!(help.page, HelpPage::Keys(_)) => {
            help.query.edit(verb);
            help.scroll = 0;
            return;
        }
        Some(Overlay::Rename(rename)) => {
            rename.title.edit(verb);
            return;
        }
        Some(Overlay::Inbox(_)) => return edit_answer(state, verb),
        Some(Overlay::Find) => {
            state.searches.sessions.query.edit(verb);
            return;
        }
        Some(Overlay::Prompt(prompt)) => {
            prompt.line.edit(verb);
            prompt.problem = None;
            return;
        }
        Some(
            Overlay::Help(_)
            | Overlay::ConfirmQuit
            | Overlay::Confirm(_)
            | Overlay::Trash(_)
            | Overlay::Audit(_)
            | Overlay::Context(_)
            | Overlay::Usage(_)
            | Overlay::Rules(_)
            | Overlay::Sources(_)
            | Overlay::Extensions(_)
            | Overlay::Jobs(_)
            | Overlay::Queue(_)
            | Overlay::Health(_)
            | Overlay::Undo(_)
            | Overlay::Changes(_),
        ) => return,
        None => {}
    }
    match state.focus {
        Focus::Panel => edit_answer(state, verb),
        Focus::List if state.sessions.filter_open() => {
            if let Some(filter) = state.sessions.filter.as_mut() {
                filter.query.edit(verb);
            }
            state.sessions.retype(state.clock.now, state.clock.utc_offset);
        }
        Focus::Chat if state.searches.conversation.as_ref().is_some_and(|search| search.typing) => {
            if let Some(search) = state.searches.conversation.as_mut() {
                search.query.edit(verb);
            }
            search::search_again(state);
        }
        _ => editing::edit_draft(state, verb, fx),
    }
}

/// Edits the words or the key of an answer.
fn edit_answer(state: &mut State, verb: Verb) {
    if let Some(words) = focus::words(state) {
        words.edit(verb);
    } else if let Some(key) = focus::secret(state) {
        key.edit(verb);
    }
}

/// True if a verb of the composer waits for a character.
pub(super) fn awaits(state: &State) -> bool {
    let here = state.focus == Focus::Composer && state.overlays.is_empty() && state.input.chord.keys.is_empty();
    here && state.keys.modal() && state.composer().vim().awaits_char()
}
