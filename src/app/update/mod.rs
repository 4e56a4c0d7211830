//! Router of messages. Each file beside this one changes one concern; this one only decides which.

mod attach;
mod change;
mod chat;
mod colours;
mod compose;
mod connection;
mod context;
mod copy;
mod doctor;
mod engine;
mod enhance;
mod find;
mod gallery;
mod inbox;
mod input;
mod jobs;
mod leave;
mod letters;
mod lifecycle;
mod line;
mod list;
mod mark;
mod model;
mod mouse;
mod offer;
mod overlay;
mod panel;
mod plan;
mod properties;
mod queue;
mod redeliver;
mod rewind;
mod rows;
mod rules;
mod session;
mod settings;
mod settle;
mod slash;
mod undo;
mod workspace;

use super::effect::Effect;
use super::msg::{Msg, Timer};
use super::state::State;
use crate::domain::contract::{Act, Command};
use crate::domain::ids::{At, SessionId};
use crate::keymap::Fed;
use crate::keymap::action::{Action, AppAction};
use crate::keymap::key::Key;

/// Message for a key: the runtime asks for each key and passes the answer to [`update`].
#[must_use]
pub fn resolve(state: &State, key: Key) -> Msg {
    // The character that a verb waits for is no verb itself.
    if input::awaits(state) && key.printable().is_some() {
        return Msg::Key(key);
    }
    match state.keys.feed(&state.contexts(), &state.chord.keys, key) {
        Fed::Action(action) => Msg::Act { action, key: Some(key) },
        Fed::Pending => Msg::Chord(state.chord.keys.iter().copied().chain([key]).collect()),
        Fed::None => Msg::Key(key),
    }
}

/// True while answers have the keys: several characters in one read are one text for the composer then, and keys that
/// repeat by themselves are no answers.
#[must_use]
pub fn chooses(state: &State) -> bool {
    letters::chooses(state)
}

/// The first effects: the list, and the session to begin with (a new one without `resume`).
pub fn start(state: &mut State, resume: Option<SessionId>) -> Vec<Effect> {
    let mut fx = vec![Effect::Send(Command::List)];
    match resume {
        Some(id) => session::open(state, &id, &mut fx),
        None => session::new(state, &mut fx),
    }
    settle::settle(state, &mut fx);
    fx
}

/// Changes the state by one message that came at `now`, and tells what is to be done outside.
pub fn update(state: &mut State, now: At, msg: Msg) -> Vec<Effect> {
    state.now = now;
    let mut fx = Vec::new();
    match msg {
        Msg::Act { action, key: Some(key) } => input::bound(state, action, key, &mut fx),
        Msg::Act { action, key: None } => act(state, action, None, &mut fx),
        Msg::Chord(keys) => input::chord(state, keys, &mut fx),
        Msg::Key(key) => input::unbound(state, key, &mut fx),
        Msg::Line(line) => line::heard(state, line, &mut fx),
        Msg::Paste(text) => input::paste(state, &text, &mut fx),
        Msg::Typed(text) => letters::typed(state, &text),
        Msg::Spot(spot) => {
            state.spot = spot;
            return fx;
        }
        Msg::Mouse(mouse) => mouse::mouse(state, mouse, &mut fx),
        Msg::Resize { width, height } => {
            state.size = super::state::Size { width, height };
            let height = state.list_height();
            state.sessions.follow(height);
        }
        Msg::Focus(focused) => list::focused(state, focused, &mut fx),
        Msg::Engine(stamped) => engine::engine(state, *stamped, &mut fx),
        Msg::Drawn(frame) => chat::drawn(state, *frame, &mut fx),
        Msg::Timer(timer) => ran_out(state, timer, &mut fx),
        Msg::Background { dark } => state.terminal.dark = Some(dark),
        Msg::Themes { names, current } => {
            state.themes = names;
            // One that is only looked at comes back this way too.
            if state.looked_at.is_none() {
                state.theme = current;
            }
        }
        Msg::Picture(found) => attach::picture(state, found, &mut fx),
        Msg::Pictures(cell) => state.gallery.draw_in(cell),
        Msg::Measured(sizes) => gallery::measured(state, sizes),
        Msg::Shrunk { session, want, made } => gallery::made(state, &session, want, made),
        Msg::PicturesGone(numbers) => state.gallery.gone(&numbers),
        Msg::Edited(result) => compose::edited(state, result, &mut fx),
        Msg::Highlighted { session, blocks } => colours::came(state, &session, blocks),
        Msg::Notice(notice) => state.notify(notice),
        Msg::Settings(settings) => settings::came(state, settings),
        Msg::Doctor(findings) => doctor::came(state, &findings),
        Msg::Found(found) => offer::found(state, *found),
        Msg::Commands(commands) => state.commands = commands,
        Msg::Zone { utc_offset } => {
            state.utc_offset = utc_offset;
            state.arrange();
        }
        Msg::Workspaces(workspaces) => workspace::came(state, workspaces),
        Msg::Workspace(found) => workspace::found(state, found, &mut fx),
        Msg::Terminate => leave::quit(state, &mut fx),
    }
    find::settle(state, &mut fx);
    redeliver::settle(state, &mut fx);
    offer::settle(state, &mut fx);
    gallery::settle(state, &mut fx);
    mark::settle(state);
    settle::settle(state, &mut fx);
    fx
}

fn ran_out(state: &mut State, timer: Timer, fx: &mut Vec<Effect>) {
    match timer {
        Timer::Chord => state.chord.strip = !state.chord.keys.is_empty(),
        Timer::ListLetter => list::release_letter(state, fx),
        Timer::Draft(id) => session::save_draft(state, &id, fx),
        Timer::Notice => {
            state.notices.armed = None;
            state.notices.expire(state.now);
        }
        Timer::Quit => leave::time_over(state, fx),
        Timer::Undo => change::undo_over(state, fx),
        Timer::Tick => {
            state.ticking = None;
            state.sessions.turn_day(state.now, state.utc_offset);
        }
        Timer::Search => find::time_over(state, fx),
        // The frame shows the seconds that are left; the next one is waited for again.
        Timer::Countdown => state.counting = None,
        Timer::Pull => mark::pull(state, fx),
    }
}

/// Does a verb, whatever led to it. `key` is the last key pressed for it.
fn act(state: &mut State, action: Action, key: Option<Key>, fx: &mut Vec<Effect>) {
    match action {
        Action::Session(verb) => session::act(state, verb, key, fx),
        Action::Turn(verb) => session::turn(state, verb, fx),
        Action::Mode(verb) => session::mode(state, verb, fx),
        Action::Model(verb) => model::act(state, verb, fx),
        Action::Composer(verb) => compose::act(state, verb, fx),
        Action::Vim(verb) => compose::modal(state, verb, key),
        Action::Slash(verb) => offer::act(state, verb, fx),
        Action::Chat(verb) => chat::act(state, verb, fx),
        Action::List(verb) => list::act(state, verb, fx),
        Action::Pane(verb) => list::pane(state, verb, key, fx),
        Action::Answer(verb) => panel::act(state, verb, key, fx),
        Action::Picker(verb) => overlay::act(state, verb, fx),
        Action::Find(verb) => find::act(state, verb),
        Action::Undo(verb) => undo::act(state, verb, fx),
        Action::Rules(verb) => rules::act(state, verb),
        Action::Job(verb) => jobs::act(state, verb, fx),
        Action::Queue(verb) => queue::act(state, verb, fx),
        Action::Health(verb) => lifecycle::health_act(state, verb, fx),
        Action::Help(verb) => overlay::help(state, verb),
        Action::App(AppAction::Back) => input::back(state, fx),
        Action::App(AppAction::Interrupt) => leave::interrupt(state, key, fx),
        Action::App(AppAction::EndOfInput) => leave::end_of_input(state, key, fx),
        Action::App(AppAction::Quit) => leave::ask(state, fx),
        Action::App(AppAction::Palette) => overlay::palette(state),
        Action::App(AppAction::Help) => overlay::open_help(state),
        Action::App(AppAction::HelpIfEmpty) if state.composer().is_empty() => overlay::open_help(state),
        Action::App(AppAction::HelpIfEmpty) => input::type_into(state, key),
        Action::App(AppAction::Theme) => overlay::themes(state),
        Action::App(AppAction::Mouse) => mark::give_mouse(state, fx),
        Action::App(AppAction::Settings) => settings::open(state, fx),
        Action::App(AppAction::Doctor) => doctor::open(state, fx),
        Action::App(AppAction::Notices) => doctor::notices(state),
        Action::App(AppAction::Repaint) => fx.push(Effect::Repaint),
        Action::App(AppAction::Suspend) => fx.push(Effect::Suspend),
    }
}

/// A command that changes one session.
fn to(session: &SessionId, act: Act) -> Effect {
    Effect::Send(Command::To { session: session.clone(), act })
}

#[cfg(test)]
mod tests;
