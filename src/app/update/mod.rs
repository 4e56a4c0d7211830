//! Router of messages. Each file beside this one changes one concern; this one only decides which.

mod actions;
mod after_update;
mod appeared;
mod dispatch;
mod escape;
mod events;
mod held_letters;
mod keys;
mod mouse;
mod paste;
mod redelivery;
mod slash;
mod snapshot;
mod text_input;
mod written_line;

use crate::app::composer::{attach, completion, editing};
use crate::app::conversation::{colours, drawn, mark, pictures};
use crate::app::effect::Effect;
use crate::app::msg::{MouseKind, Msg, Timer};
use crate::app::overlays::{doctor, find, prompt, settings, workspaces};
use crate::app::panels::{letters, plan};
use crate::app::sessions::{export, list, turn};
use crate::app::shell::{connecting, quit, session, session_changes};
use crate::app::state::{Current, Editing, Size, State};
use crate::domain::ids::{At, SessionId};
use crate::domain::{Level, Notice};
use crate::keymap::Fed;
use crate::keymap::action::{Action, ModeAction};
use crate::keymap::key::{Code, Key};
use crate::protocol::{Command, EngineCommand};

/// Message for a key: the runtime asks for each key and passes the answer to [`update`].
#[must_use]
pub fn resolve(state: &State, key: Key) -> Msg {
    // The character that a verb waits for is no verb itself.
    if text_input::awaits(state) && key.printable().is_some() {
        return Msg::Key(key);
    }
    match state.keys.feed(&state.contexts(), &state.input.chord.keys, key) {
        Fed::Action(action) => Msg::Act { action, key: Some(key) },
        Fed::Pending => Msg::Chord(state.input.chord.keys.iter().copied().chain([key]).collect()),
        Fed::None => Msg::Key(key),
    }
}

/// True while answers have the keys: several characters in one read are one text for the composer then.
#[must_use]
pub fn chooses(state: &State) -> bool {
    letters::chooses(state)
}

/// True if a repeat of a held key does something: it answers nothing, and chooses nothing in a dialog.
#[must_use]
pub fn repeats(state: &State, key: Key) -> bool {
    let asks = chooses(state) || !state.overlays.is_empty();
    !(chooses(state) && key.printable().is_some() || asks && key.code == Code::Enter)
}

/// The first effects: the list, and the session to begin with (a new one without `resume`).
pub fn start(state: &mut State, resume: Option<SessionId>) -> Vec<Effect> {
    let mut fx = vec![Effect::Send(Command::Engine(EngineCommand::List))];
    match resume {
        Some(id) => session::open(state, &id, &mut fx),
        None => session::new(state, &mut fx),
    }
    after_update::settle(state, &mut fx);
    fx
}

/// No desktop took an address: it goes to the clipboard.
fn not_browsed(state: &mut State, url: String, why: String, fx: &mut Vec<Effect>) {
    state.notify(Notice::new(Level::Info, why).hint("link copied instead"));
    fx.push(Effect::Copy(url));
}

/// Changes the state by one message that came at `now`, and tells what is to be done outside.
pub fn update(state: &mut State, now: At, msg: Msg) -> Vec<Effect> {
    state.clock.now = now;
    let mut fx = Vec::new();
    let dialog = appeared::Dialog::before(state, &msg);
    if dialog.is_none() && goes_on(&msg) {
        turn::mode_rested(state, &mut fx);
    }
    match msg {
        Msg::Act { action, key: Some(key) } => keys::bound(state, action, key, &mut fx),
        Msg::Act { action, key: None } => dispatch::act(state, action, None, &mut fx),
        Msg::Chord(keys) => keys::chord(state, keys, &mut fx),
        Msg::Key(key) => keys::unbound(state, key, &mut fx),
        Msg::Line(line) => written_line::heard(state, line, &mut fx),
        Msg::Paste(text) => paste::paste(state, &text, &mut fx),
        Msg::Typed(text) => letters::typed(state, &text),
        Msg::Spot(spot) => {
            state.input.spot = spot;
            return fx;
        }
        Msg::Mouse(mouse) => mouse::mouse(state, mouse, &mut fx),
        Msg::Resize { width, height } => {
            state.screen.size = Size { width, height };
            let height = state.list_height();
            state.sessions.follow(height);
        }
        Msg::Focus(focused) => list::focused(state, focused, &mut fx),
        Msg::Engine(stamped) => events::engine(state, *stamped, &mut fx),
        Msg::Drawn(frame) => drawn::drawn(state, *frame, &mut fx),
        Msg::Timer(timer) => ran_out(state, timer, &mut fx),
        Msg::Background { dark } => state.terminal.dark = Some(dark),
        Msg::Themes { names, current } => {
            state.theme.names = names;
            // One that is only looked at comes back this way too.
            if state.theme.previewed.is_none() {
                state.theme.current = current;
            }
        }
        Msg::Picture(found) => attach::picture(state, found, &mut fx),
        Msg::Pictures(cell) => state.conversations.gallery.draw_in(cell),
        Msg::Measured(sizes) => pictures::measured(state, sizes),
        Msg::Shrunk { session, want, made } => pictures::made(state, &session, want, made),
        Msg::PicturesGone(numbers) => state.conversations.gallery.gone(&numbers),
        Msg::Edited(result) => edited(state, result, &mut fx),
        Msg::Highlighted { session, blocks } => colours::came(state, &session, blocks),
        Msg::Notice(notice) => state.notify(notice),
        Msg::NotBrowsed { url, why } => not_browsed(state, url, why, &mut fx),
        Msg::Settings(settings) => settings::came(state, settings),
        Msg::Doctor(findings) => doctor::came(state, &findings),
        Msg::Found(found) => completion::found(state, *found),
        Msg::Commands(commands) => state.drafts.commands = commands,
        Msg::Histories(found) => state.lobby.histories = found,
        Msg::Share(answer) => export::answered(state, answer, &mut fx),
        Msg::Importable(found) => prompt::offer_imports(state, &found),
        Msg::EngineLine(line) => state.engine.line = line,
        Msg::Zone { utc_offset } => {
            state.clock.utc_offset = utc_offset;
            state.arrange();
        }
        Msg::Workspaces(workspaces) => workspaces::came(state, workspaces),
        Msg::Workspace(found) => workspaces::found(state, found, &mut fx),
        Msg::Terminate => quit::quit(state, &mut fx),
    }
    connecting::begin(state, &mut fx);
    dispatch::follow_ups(state, &mut fx);
    find::settle(state, &mut fx);
    redelivery::settle(state, &mut fx);
    completion::settle(state, &mut fx);
    pictures::settle(state, &mut fx);
    mark::settle(state);
    appeared::settle(state, dialog);
    after_update::settle(state, &mut fx);
    fx
}

/// True if the user does something else than to choose the next permission mode.
fn goes_on(msg: &Msg) -> bool {
    let next = |action: &Action| *action == ModeAction::Next.into();
    match msg {
        Msg::Act { action, .. } => !next(action),
        Msg::Chord(_) | Msg::Timer(_) => false,
        Msg::Mouse(mouse) => mouse.kind == MouseKind::Press,
        _ => true,
    }
}

fn ran_out(state: &mut State, timer: Timer, fx: &mut Vec<Effect>) {
    match timer {
        Timer::Chord => state.input.chord.strip = !state.input.chord.keys.is_empty(),
        Timer::HeldLetter => held_letters::release_letter(state, fx),
        Timer::Draft(id) => session::save_draft(state, &id, fx),
        Timer::Notice => {
            state.notices.armed = None;
            state.notices.expire(state.clock.now);
        }
        Timer::Quit => quit::time_over(state, fx),
        Timer::Undo => session_changes::undo_over(state, fx),
        Timer::Tick => {
            state.clock.tick = None;
            state.sessions.turn_day(state.clock.now, state.clock.utc_offset);
        }
        Timer::Search => find::time_over(state, fx),
        // The frame shows the seconds that are left; the next one is waited for again.
        Timer::Countdown => state.clock.countdown = None,
        Timer::Pull => mark::pull(state, fx),
        Timer::Mode => turn::mode_rested(state, fx),
    }
}

/// A text comes back from $EDITOR: a plan, or a draft.
fn edited(state: &mut State, result: Result<String, String>, fx: &mut Vec<Effect>) {
    match (state.drafts.editing.take(), result) {
        (Some(Editing::Plan { session, request }), Ok(text)) => plan::edited(state, &session, request, text, fx),
        (Some(Editing::Plan { .. }), Err(why)) => {
            state.notify(Notice::new(Level::Error, why).hint("plan unchanged"));
        }
        (Some(Editing::Draft(place)), result) => editing::edited(state, &place, result),
        (None, result) => editing::edited(state, &Current::New, result),
    }
}

#[cfg(test)]
mod tests;
