//! Usage and cost of requests.

use crate::app::effect::Effect;
use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::usage::Usage;
use crate::domain::spending::Spending;
use crate::protocol::{Command, EngineCommand};

pub(crate) fn open_usage(state: &mut State, fx: &mut Vec<Effect>) {
    let session = state.current_id().cloned();
    overlay::open(state, Overlay::Usage(Usage::new(session.clone())));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Usage { session })));
}

/// Takes in the usage of requests.
pub(crate) fn used(state: &mut State, spending: &Spending) {
    for overlay in &mut state.overlays {
        if let Overlay::Usage(usage) = overlay
            && usage.session == spending.session
        {
            usage.spending = Some(spending.clone());
            usage.step(0);
        }
    }
}
