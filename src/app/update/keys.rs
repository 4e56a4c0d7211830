//! Keys on their way: which are dropped, and which are typed. What Esc closes is in `escape`.

use crate::app::conversation::mark;
use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::panels::letters;
use crate::app::state::notices::IGNORED;
use crate::app::state::{Blind, Focus, Held, Quit, State};
use crate::app::update::{dispatch, held_letters, redelivery, text_input};
use crate::domain::{Level, Notice};
use crate::keymap::action::{Action, AppAction, Context};
use crate::keymap::key::{Code, Key, Mods};

/// Milliseconds after which the continuations of a chord are shown.
const STRIP_AFTER: u64 = 400;

/// Milliseconds between keys below which they were typed in one go.
const PAUSE: u64 = 700;

/// Milliseconds between the repeats of a key that is held down, at most.
const REPEAT: u64 = 150;

/// Takes note of a key. Whether it is dropped: what has the focus has changed too short a time ago to be meant by it.
fn dropped(state: &mut State, key: Key, fx: &mut Vec<Effect>) -> bool {
    state.input.idle_before = state.clock.now.since(state.input.last_key);
    state.input.last_key = state.clock.now;
    state.input.last = Some(key);
    state.notices.heard(state.clock.now);
    if state.input.idle_before >= PAUSE {
        state.input.blind = Blind::No;
    }
    redelivery::hold(state, fx);
    if let Quit::OnceMore(armed) = state.ending.quit
        && armed != key
    {
        state.ending.quit = Quit::No;
        fx.push(Effect::Disarm(Timer::Quit));
    }
    let repeats = repeats(state, key);
    let drop = (repeats || state.clock.now < state.input.quiet_until) && !is_text(state, key);
    if drop {
        state.input.held = Some(Held { key, until: state.clock.now.plus(REPEAT) });
        swallowed(state, key);
        too_soon(state, key);
    }
    drop
}

/// True for an Enter that is held down since before its meaning changed.
fn repeats(state: &mut State, key: Key) -> bool {
    let held = state.input.held.take();
    key.code == Code::Enter && held.is_some_and(|held| held.key == key && state.clock.now < held.until)
}

/// True if the key writes a character into the draft after an answer: it is seen, and it answers nothing.
fn is_text(state: &State, key: Key) -> bool {
    let composer = [Context::Composer, Context::Slash, Context::Insert];
    let here = state.contexts().first().is_some_and(|context| composer.contains(context));
    here && state.input.quiet_types && key.printable().is_some()
}

/// Says that a key which could have answered came too soon.
fn too_soon(state: &mut State, key: Key) {
    let asks = !state.overlays.is_empty() || state.focus == Focus::Panel;
    if asks && (key.code == Code::Enter || (letters::chooses(state) && key.printable().is_some())) {
        let notice = Notice::new(Level::Info, format!("{IGNORED}too soon after it appeared"));
        state.notify(notice.hint(format!("press {key} again")));
    }
}

/// A key is typed where an overlay has no text that it could go into.
fn swallowed(state: &mut State, key: Key) {
    if !state.overlays.is_empty()
        && !state.overlay_takes_text()
        && !letters::chooses(state)
        && key.printable().is_some()
    {
        state.input.blind = Blind::Swallowed;
    }
}

/// A key that does something.
pub(super) fn bound(state: &mut State, action: Action, key: Key, fx: &mut Vec<Effect>) {
    let drop = dropped(state, key, fx);
    let in_chord = !state.input.chord.keys.is_empty();
    end_chord(state, fx);
    // While the end is awaited only a second wish to quit counts.
    let ending = state.ending.quit == Quit::Ending && action != Action::App(AppAction::Interrupt);
    if drop || ending || (!in_chord && held_letters::letter(state, Some(action), key, fx)) {
        return;
    }
    mark::key(state, Some(action));
    let over = !state.overlays.is_empty() && !state.overlay_takes_text() && !letters::chooses(state);
    dispatch::act(state, action, Some(key), fx);
    if over && state.overlays.is_empty() && (state.input.blind == Blind::Swallowed || key.printable().is_some()) {
        state.input.blind = Blind::WentOn;
    }
}

/// Keys that begin a chord.
pub(super) fn chord(state: &mut State, keys: Vec<Key>, fx: &mut Vec<Effect>) {
    let Some(key) = keys.last().copied() else { return };
    if dropped(state, key, fx) || held_letters::letter(state, None, key, fx) {
        return;
    }
    state.input.chord.keys = keys;
    fx.push(Effect::Arm { timer: Timer::Chord, ms: STRIP_AFTER });
}

fn end_chord(state: &mut State, fx: &mut Vec<Effect>) {
    if !state.input.chord.keys.is_empty() {
        state.input.chord = Default::default();
        fx.push(Effect::Disarm(Timer::Chord));
    }
}

/// A key without a meaning here: the rest of a chord that is none, or something to type.
pub(super) fn unbound(state: &mut State, key: Key, fx: &mut Vec<Effect>) {
    let drop = dropped(state, key, fx);
    let in_chord = !state.input.chord.keys.is_empty();
    if in_chord && state.input.chord.strip && (key.code == Code::Tab || key == Key::char(' ')) && key.mods == Mods::NONE
    {
        // The strip has more pages; the chord goes on.
        state.input.chord.page = state.input.chord.page.wrapping_add(1);
        return;
    }
    end_chord(state, fx);
    if drop || in_chord || state.ending.quit == Quit::Ending || held_letters::letter(state, None, key, fx) {
        return;
    }
    mark::key(state, None);
    swallowed(state, key);
    text_input::type_into(state, Some(key));
}
