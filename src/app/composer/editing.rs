//! Writing: the verbs of the composer.

use crate::app::composer::send::How;
use crate::app::composer::{attach, chips, enhance, enter};
use crate::app::effect::Effect;
use crate::app::shell::{attachments, connecting, draft};
use crate::app::state::composer::{History, Picked};
use crate::app::state::edit::Done;
use crate::app::state::vim::{self, Token};
use crate::app::state::{Current, Editing, Focus, State};
use crate::domain::{Level, Notice};
use crate::keymap::action::{ComposerAction as Verb, VimAction};
use crate::keymap::key::{Code, Key};

/// Does a verb of the composer. False: it edits the text that is being written, wherever that is.
pub(crate) fn act(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) -> bool {
    match verb {
        Verb::Send => enter::enter(state, How::Queue, fx),
        Verb::Steer => enter::enter(state, How::Steer, fx),
        Verb::Editor => {
            state.drafts.editing = Some(Editing::Draft(state.conversations.current.clone()));
            fx.push(Effect::Edit { text: state.composer().text() });
        }
        Verb::OpenPaste => chips::unfold(state),
        Verb::Enhance => enhance::ask(state, fx),
        Verb::Attach => state.composer_mut().set("/attach "),
        Verb::Image => fx.push(Effect::Picture),
        Verb::OpenFile if state.composer().picked().is_some() => chips::open_picked(state, fx),
        Verb::OpenFile => {
            let draft = state.composer().files().there();
            let files = if draft.is_empty() {
                state.current_open().map(|open| open.chat.files()).unwrap_or_default()
            } else {
                draft
            };
            attachments::view(state, files, fx);
        }
        _ => return false,
    }
    true
}

/// A verb of modal editing.
pub(crate) fn modal(state: &mut State, verb: VimAction, key: Option<Key>) {
    if state.focus != Focus::Composer || !state.overlays.is_empty() {
        return;
    }
    if verb == VimAction::Normal && state.composer().vim().mode() == vim::Mode::Normal {
        // Here Esc has nothing else to do.
        state.notices.clear();
    }
    let token = match verb {
        VimAction::Digit => match key.map(|key| key.code) {
            Some(Code::Char(c)) => c.to_digit(10).map(|digit| Token::Digit(digit as usize)),
            _ => None,
        },
        verb => Some(Token::Verb(verb)),
    };
    if let Some(token) = token {
        feed(state, token);
    }
}

/// The character that a verb of modal editing waited for.
pub(crate) fn character(state: &mut State, c: char) {
    feed(state, Token::Char(c));
}

fn feed(state: &mut State, token: Token) {
    let Some(walk) = state.composer_mut().modal(token) else { return };
    let history = std::mem::take(&mut state.drafts.history);
    if walk < 0 {
        state.composer_mut().earlier(&history);
    } else {
        state.composer_mut().later(&history);
    }
    state.drafts.history = history;
}

pub(crate) fn edit_draft(state: &mut State, verb: Verb, fx: &mut Vec<Effect>) {
    match verb {
        Verb::Up if connecting::step_first(state, -1) => return,
        Verb::Down if connecting::step_first(state, 1) => return,
        _ => {}
    }
    if verb == Verb::Up && state.composer().is_empty() {
        let last = state.current_open().and_then(|open| open.waiting().last()).cloned();
        if let Some(queued) = last {
            return draft::take_queued(state, &queued, fx);
        }
    }
    if let (Some(Picked::File(at)), Verb::Backspace | Verb::Delete) = (state.composer().picked(), verb) {
        attach::take_out(state, at, fx);
        let left = state.composer().files().items().len();
        if left > 0 {
            state.composer_mut().pick(Picked::File(at.min(left - 1)));
        } else {
            state.composer_mut().unpick();
        }
        return;
    }
    if state.composer_mut().edit(verb) != Done::Nothing {
        return;
    }
    if verb == Verb::Backspace {
        // Nothing stands before the caret but the files.
        if let Some(file) = state.composer_mut().files_mut().pop() {
            attachments::dropped(state, &file, fx);
        }
        return;
    }
    // At an edge the walk through what was sent earlier begins or goes on.
    let history = std::mem::take(&mut state.drafts.history);
    let queued: Vec<String> =
        state.current_open().map(|open| open.waiting().map(|item| item.text.clone()).collect()).unwrap_or_default();
    match verb {
        // What still waits is no thing of the past: sent from here it would go twice.
        Verb::Up if !queued.is_empty() => {
            let items = history.items.iter().filter(|item| !queued.contains(item)).cloned().collect();
            state.composer_mut().earlier(&History { items });
        }
        Verb::Up => {
            state.composer_mut().earlier(&history);
        }
        Verb::Down => {
            state.composer_mut().later(&history);
        }
        _ => {}
    }
    state.drafts.history = history;
}

/// The draft of this place comes back from $EDITOR.
pub(crate) fn edited(state: &mut State, place: &Current, result: Result<String, String>) {
    match result {
        Ok(text) => {
            let text = text.trim_end_matches('\n');
            let composer = match place {
                Current::Session(id) => state.conversations.open.get_mut(id).map(|open| &mut open.composer),
                Current::New => None,
            };
            match composer {
                Some(composer) => composer.set(text),
                None => state.composer_mut().set(text),
            }
        }
        Err(why) => state.notify(Notice::new(Level::Error, why)),
    }
}
