//! Keys on their way: which are dropped, which are typed, and what Esc closes.

use super::{
    act, attach, chat, compose, enhance, letters, list, mark, overlay, panel, properties, redeliver, rewind, session,
    workspace,
};
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::state::hidden::looks_like_a_key;
use crate::app::state::overlay::Overlay;
use crate::app::state::panel::Stage;
use crate::app::state::{Blind, Focus, Quit, State};
use crate::domain::dropped as paths;
use crate::domain::request::Ask;
use crate::domain::secret::masked;
use crate::domain::{Level, Notice};
use crate::keymap::action::{Action, AnswerAction, AppAction, Context};
use crate::keymap::key::{Code, Key, Mods};

/// Milliseconds after which the continuations of a chord are shown.
const STRIP_AFTER: u64 = 400;

/// Milliseconds between two presses of Esc that belong together.
const TWICE: u64 = 600;

/// Milliseconds between keys below which they were typed in one go.
const PAUSE: u64 = 700;

/// Takes note of a key. Whether it is dropped: what has the focus has changed too short a time ago to be meant by it.
fn dropped(state: &mut State, key: Key, fx: &mut Vec<Effect>) -> bool {
    state.idle_before = state.now.since(state.last_key);
    state.last_key = state.now;
    state.notices.heard(state.now);
    if state.idle_before >= PAUSE {
        state.blind = Blind::No;
    }
    redeliver::hold(state, fx);
    if let Quit::OnceMore(armed) = state.quit
        && armed != key
    {
        state.quit = Quit::No;
        fx.push(Effect::Disarm(Timer::Quit));
    }
    let drop = state.now < state.quiet_until;
    if drop {
        swallowed(state, key);
    }
    drop
}

/// A key is typed where an overlay has no text that it could go into.
fn swallowed(state: &mut State, key: Key) {
    if !state.overlays.is_empty() && !writes(state) && !letters::chooses(state) && key.printable().is_some() {
        state.blind = Blind::Swallowed;
    }
}

/// True if typed text goes into the topmost overlay.
fn writes(state: &State) -> bool {
    let inputs = [Context::Input, Context::Picker, Context::Search, Context::Find];
    state.contexts().first().is_some_and(|context| inputs.contains(context))
}

/// A key that does something.
pub(super) fn bound(state: &mut State, action: Action, key: Key, fx: &mut Vec<Effect>) {
    let drop = dropped(state, key, fx);
    let in_chord = !state.chord.keys.is_empty();
    end_chord(state, fx);
    // While the end is awaited only a second wish to quit counts.
    let ending = state.quit == Quit::Ending && action != Action::App(AppAction::Interrupt);
    if drop || ending || (!in_chord && list::letter(state, Some(action), key, fx)) {
        return;
    }
    mark::key(state, Some(action));
    let over = !state.overlays.is_empty() && !writes(state) && !letters::chooses(state);
    act(state, action, Some(key), fx);
    if over && state.overlays.is_empty() && (state.blind == Blind::Swallowed || key.printable().is_some()) {
        state.blind = Blind::WentOn;
    }
}

/// Keys that begin a chord.
pub(super) fn chord(state: &mut State, keys: Vec<Key>, fx: &mut Vec<Effect>) {
    let Some(key) = keys.last().copied() else { return };
    if dropped(state, key, fx) || list::letter(state, None, key, fx) {
        return;
    }
    state.chord.keys = keys;
    fx.push(Effect::Arm { timer: Timer::Chord, ms: STRIP_AFTER });
}

fn end_chord(state: &mut State, fx: &mut Vec<Effect>) {
    if !state.chord.keys.is_empty() {
        state.chord = Default::default();
        fx.push(Effect::Disarm(Timer::Chord));
    }
}

/// A key without a meaning here: the rest of a chord that is none, or something to type.
pub(super) fn unbound(state: &mut State, key: Key, fx: &mut Vec<Effect>) {
    let drop = dropped(state, key, fx);
    let in_chord = !state.chord.keys.is_empty();
    if in_chord && state.chord.strip && (key.code == Code::Tab || key == Key::char(' ')) && key.mods == Mods::NONE {
        // The strip has more pages; the chord goes on.
        state.chord.page = state.chord.page.wrapping_add(1);
        return;
    }
    end_chord(state, fx);
    if drop || in_chord || state.quit == Quit::Ending || list::letter(state, None, key, fx) {
        return;
    }
    mark::key(state, None);
    swallowed(state, key);
    type_into(state, Some(key));
}

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
                compose::character(state, c);
            }
        }
        _ => insert(state, text),
    }
}

/// True if a verb of the composer waits for a character.
pub(super) fn awaits(state: &State) -> bool {
    let here = state.focus == Focus::Composer && state.overlays.is_empty() && state.chord.keys.is_empty();
    here && state.keys.modal() && state.composer().vim().awaits_char()
}

/// Inserts a text into the input that is open, if one is.
fn insert(state: &mut State, text: &str) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            picker.query.insert(text);
            picker.filter();
            properties::offer_new_label(state);
            workspace::offer_new(state);
        }
        Some(Overlay::Find) => state.find.query.insert(text),
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
                    state.sessions.retype(state.now, state.utc_offset);
                }
            }
            Focus::Chat => {
                if let Some(search) = state.search.as_mut().filter(|search| search.typing) {
                    search.query.insert(text);
                    chat::search_again(state);
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

/// The shown session asks for a key, and this is pasted where it is not asked for: it goes nowhere, so that no key gets into a
/// draft, and from there onto the disk.
fn is_a_lost_key(state: &mut State, text: &str) -> bool {
    let asked = state.current_open().is_some_and(|open| open.requests.iter().any(|one| matches!(one.ask, Ask::Key(_))));
    if !asked || !looks_like_a_key(text) {
        return false;
    }
    let key = state.keys.key_for(AnswerAction::Focus);
    let notice = Notice::new(Level::Warning, "This looks like a key, so it was not put into your message.");
    state.notify(notice.hint(format!("{key} leads to where the key is asked for")));
    true
}

/// Whoever pastes a key may not know that it is in there.
fn warn_of_keys(state: &mut State, text: &str) {
    if let Some((_, count)) = masked(text) {
        let what = if count == 1 {
            "The pasted text holds what looks like a key."
        } else {
            "The pasted text holds what looks like keys."
        };
        state.notify(Notice::new(Level::Warning, what).hint("It goes to the model with your message."));
    }
}

/// A pasted text goes where text is written, else into the composer. It never sends and never answers.
pub(super) fn paste(state: &mut State, text: &str, fx: &mut Vec<Effect>) {
    state.last_key = state.now;
    redeliver::hold(state, fx);
    let inputs = [Context::Input, Context::Picker, Context::Search, Context::Find];
    let clean = crate::app::state::composer::clean_paste(text);
    if state.contexts().first().is_some_and(|context| inputs.contains(context)) {
        insert(state, &clean);
    } else if (state.overlays.is_empty() || letters::chooses(state)) && !is_a_lost_key(state, &clean) {
        // Answers in the inbox give way to it as those of the panel do.
        state.overlays.clear();
        panel::give_back(state);
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

/// Milliseconds after Esc closed something in which it stops no turn.
const CLOSED: u64 = 800;

/// Esc: closes what is open, gives the focus back, else stops the turn.
pub(super) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    if closes(state, fx) {
        state.moments.closed = state.now;
    } else if state.running() {
        if state.now.since(state.moments.closed) >= CLOSED {
            session::stop(state, fx);
        }
    } else if matches!(state.focus, Focus::List | Focus::Chat) {
        state.focus = Focus::Composer;
        state.shown = Default::default();
    } else {
        state.notices.clear();
        twice(state, fx);
    }
}

/// Closes what lies on top of the rest. False: nothing did.
fn closes(state: &mut State, fx: &mut Vec<Effect>) -> bool {
    if !state.overlays.is_empty() {
        overlay::back(state, fx);
        return true;
    }
    if mark::clear(state) || (state.focus == Focus::Composer && state.composer_mut().unpick()) {
        return true;
    }
    if state.focus == Focus::List && list::back(state, fx) {
        return true;
    }
    match state.focus {
        Focus::Panel => panel::back(state),
        Focus::Chat if state.search.is_some() => state.search = None,
        Focus::Chat if state.trail.is_some() => state.trail = None,
        Focus::Composer if state.composer().offers() => compose::close_menu(state),
        _ => {
            if state.focus == Focus::Composer && state.composer_mut().unmark() {
                return true;
            }
            if !enhance::give_up(state, fx) {
                return false;
            }
            state.notify(Notice::new(Level::Info, "The draft stays as it is."));
        }
    }
    true
}

/// Esc where it has nothing to do: twice, it leads back to an earlier message.
fn twice(state: &mut State, fx: &mut Vec<Effect>) {
    let idle = state.focus == Focus::Composer && state.composer().is_empty();
    let before = state.moments.escaped.replace(state.now);
    if idle && before.is_some_and(|before| state.now.since(before) < TWICE) {
        state.moments.escaped = None;
        rewind::rewind(state, fx);
    }
}

/// True if a key is a letter that can begin a word.
pub(super) fn is_letter(key: Key) -> bool {
    matches!(key.code, Code::Char(c) if c.is_alphabetic()) && key.printable().is_some()
}
