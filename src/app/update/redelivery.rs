//! Messages left in the queue by a crash: the countdown until they are sent, and the key that holds
//! them. The engine sends them.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::session;
use crate::app::state::State;
use crate::protocol::{QueueEdit, SessionCommand};

/// A key was pressed: what would be sent by itself waits from now on. The key does its own thing as well.
pub(super) fn hold(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return };
    let Some(open) = state.conversations.open.get_mut(&id) else { return };
    if open.redelivery.take().is_some() {
        open.queue_held = true;
        fx.push(session::to(&id, SessionCommand::Queue(QueueEdit::Hold)));
    }
}

/// Schedules the redrawing of the countdown.
pub(super) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    let due =
        state.current_open().and_then(|open| open.redelivery).map(|at| at.since(state.clock.now)).filter(|ms| *ms > 0);
    match (due, state.clock.countdown) {
        (Some(left), counting) if counting.is_none_or(|at| at <= state.clock.now) => {
            let ms = if left % 1_000 == 0 { 1_000 } else { left % 1_000 };
            state.clock.countdown = Some(state.clock.now.plus(ms));
            fx.push(Effect::Arm { timer: Timer::Countdown, ms });
        }
        (None, Some(_)) => {
            state.clock.countdown = None;
            fx.push(Effect::Disarm(Timer::Countdown));
        }
        _ => {}
    }
}
