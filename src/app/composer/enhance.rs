//! The draft that is being rewritten: requested, cancelled, and applied as one step of undo. A draft that was changed
//! meanwhile stays as it is.

use crate::app::effect::Effect;
use crate::app::state::State;
use crate::app::state::open::Enhancing;
use crate::domain::ids::SessionId;
use crate::domain::{Level, Notice};
use crate::keymap::action::ComposerAction;
use crate::protocol::{Command, Enhanced, SessionCommand};

/// Files that are named in the word about it.
const NAMED: usize = 4;

/// Asks for the draft of the session that is shown; once more gives it up.
pub(crate) fn ask(state: &mut State, fx: &mut Vec<Effect>) {
    if give_up(state, fx) {
        return;
    }
    let draft = state.composer().text();
    if draft.trim().is_empty() {
        let text = "No draft to enhance";
        return state.notify(Notice::new(Level::Info, text).hint("write a draft first"));
    }
    let Some(id) = state.current_id().cloned() else {
        return state.notify(Notice::new(Level::Info, "Session not saved yet, try again in a second"));
    };
    state.drafts.enhanced += 1;
    let number = state.drafts.enhanced;
    if let Some(open) = state.conversations.open.get_mut(&id) {
        open.enhancing = Some(Enhancing { number, revision: open.composer.revision() });
        fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Enhance { number, draft } }));
    }
}

/// Gives up what is being rewritten here. Whether there was something.
pub(crate) fn give_up(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    let Some(id) = state.current_id().cloned() else { return false };
    let Some(before) = state.conversations.open.get_mut(&id).and_then(|open| open.enhancing.take()) else {
        return false;
    };
    fx.push(Effect::Send(Command::Session {
        id,
        command: SessionCommand::Enhance { number: before.number, draft: String::new() },
    }));
    true
}

/// Takes in the result.
pub(crate) fn done(state: &mut State, id: &SessionId, number: u64, result: Result<Enhanced, String>) {
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    let Some(asked) = open.enhancing.take_if(|asked| asked.number == number) else { return };
    let untouched = open.composer.revision() == asked.revision;
    let same = untouched && result.as_ref().is_ok_and(|made| made.text == open.composer.text());
    let notice = match result {
        Err(why) => Notice::new(Level::Warning, why),
        Ok(_) if !untouched => {
            let text = "Draft not enhanced: you edited it meanwhile";
            Notice::new(Level::Info, text)
        }
        Ok(_) if same => Notice::new(Level::Info, "Nothing to add to the draft"),
        Ok(made) => {
            open.composer.set(&made.text);
            let undo = state.keys.key_for(ComposerAction::Undo);
            let with = match made.used.len() {
                0 => String::new(),
                all if all > NAMED => {
                    format!(" with {} and {} more", made.used[..NAMED].join(", "), all - NAMED)
                }
                _ => format!(" with {}", made.used.join(", ")),
            };
            Notice::new(Level::Info, format!("Draft enhanced{with}")).hint(format!("{undo} restores yours"))
        }
    };
    if state.current_id() == Some(id) {
        state.notify(notice);
    }
}
