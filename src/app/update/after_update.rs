//! Invariants after every message: a valid focus, the title, the timers.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::overlays::{inbox, settings, themes};
use crate::app::shell::{session, text};
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::app::state::sessions::needs_you;
use crate::app::state::{Current, Focus, State};
use crate::protocol::SessionCommand;

/// Milliseconds between a change of the draft and its write to disk.
const DRAFT_AFTER: u64 = 400;

/// While a turn that has just begun runs, its mark and its time move.
const TICK_YOUNG: u64 = 250;

/// Milliseconds for which a turn counts as just begun.
const YOUNG: u64 = 4_000;

/// The same later, or while nobody looks.
const TICK_STEADY: u64 = 1_000;

/// Ages of the list move.
const TICK_IDLE: u64 = 60_000;

pub(super) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    if state.focus == Focus::Panel && state.panel().is_none() {
        state.focus = Focus::Composer;
    }
    let shown = state.current_id().cloned();
    state.sessions.look_at(shown.as_ref(), state.clock.now, state.clock.utc_offset);
    inbox::refresh_inbox(state);
    settings::refill(state);
    themes::theme_looked_at(state, fx);
    commands(state, fx);
    read(state, fx);
    drafts(state, fx);
    title(state, fx);
    tick(state, fx);
    state.drop_untrue_notices();
    time_notices(state, fx);
    session::evict(state, fx);
}

/// Arms the timer that takes the next notice away, when it is not armed for that instant yet.
fn time_notices(state: &mut State, fx: &mut Vec<Effect>) {
    let due = state.notices.next(state.clock.now).map(|ms| state.clock.now.plus(ms));
    if due != state.notices.armed {
        state.notices.armed = due;
        match due {
            Some(at) => fx.push(Effect::Arm { timer: Timer::Notice, ms: at.since(state.clock.now) }),
            None => fx.push(Effect::Disarm(Timer::Notice)),
        }
    }
}

/// The end of the shown session is on the screen of a terminal in focus: it is read.
fn read(state: &mut State, fx: &mut Vec<Effect>) {
    let Current::Session(id) = &state.conversations.current else { return };
    let at_end = state.screen.frame.chat.is_some()
        && state.overlays.is_empty()
        && state.conversations.open.get(id).is_some_and(|open| open.loaded && open.chat.drawn.at_end);
    if !at_end || !state.terminal.focused || state.conversations.left_unread.as_ref() == Some(id) {
        return;
    }
    if state.sessions.read(id) {
        fx.push(session::to(id, SessionCommand::Read));
    }
}

/// The commands of the directory where the shown session works are asked for when it becomes another one.
fn commands(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(cwd) = state.current_meta().map(|meta| &meta.cwd) else { return };
    if state.drafts.commands_of.as_ref() != Some(cwd) {
        let cwd = cwd.clone();
        state.drafts.commands_of = Some(cwd.clone());
        fx.push(Effect::Commands { cwd });
    }
}

fn drafts(state: &mut State, fx: &mut Vec<Effect>) {
    let Current::Session(id) = &state.conversations.current else { return };
    let Some(open) = state.conversations.open.get_mut(id) else { return };
    if open.composer.revision() != open.saved_revision && !open.draft_timer {
        open.draft_timer = true;
        fx.push(Effect::Arm { timer: Timer::Draft(id.clone()), ms: DRAFT_AFTER });
    }
}

fn title(state: &mut State, fx: &mut Vec<Effect>) {
    let title = match (state.sessions.needing_metas().next(), state.sessions.needing()) {
        (None, _) => "lisle".to_owned(),
        (Some(meta), 1) => format!("{} needs you · lisle", text::plain(meta.shown_title())),
        (Some(_), all) => format!("{all} need you · lisle"),
    };
    if title != state.terminal.title {
        state.terminal.title.clone_from(&title);
        fx.push(Effect::Title(title));
    }
}

fn tick(state: &mut State, fx: &mut Vec<Effect>) {
    let running = state.sessions.any_running();
    // Somebody looks at a list that is being filled.
    let awaits = state.checked_key().is_some()
        || state.overlays.iter().any(|overlay| match overlay {
            Overlay::Picker(picker) => {
                picker.awaits() || (picker.kind == Kind::Connection && state.engine.catalogue.asks())
            }
            _ => false,
        });
    let waits = state.current_meta().is_some_and(needs_you);
    let started = state.current_open().and_then(|open| open.turn.started);
    let young = started.is_some_and(|at| state.clock.now.since(at) < YOUNG);
    let every = match (running || awaits || state.running(), state.terminal.focused) {
        // What waits for the user stands still but for the seconds of its answer.
        (true, true) if !running && !awaits && waits => Some(TICK_STEADY),
        // At first the wait is felt; later the seconds tell enough, and each frame has its price on a slow line.
        (true, true) if awaits || young => Some(TICK_YOUNG),
        (true, true) => Some(TICK_STEADY),
        (true, false) => Some(TICK_STEADY),
        (false, true) => Some(TICK_IDLE),
        (false, false) => None,
    };
    if every != state.clock.tick {
        state.clock.tick = every;
        fx.push(match every {
            Some(ms) => Effect::Arm { timer: Timer::Tick, ms },
            None => Effect::Disarm(Timer::Tick),
        });
    }
}
