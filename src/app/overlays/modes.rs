//! The picker of permission modes.

use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::picker::{Facts, Kind, Value};
use crate::domain::Mode;
use crate::domain::permission::SandboxState;

pub(crate) fn modes(state: &mut State) {
    let now = state.current_meta().map(|meta| meta.mode);
    let holding = state.engine.config.sandbox;
    let items = Mode::ALL
        .into_iter()
        .map(|mode| {
            let what = match mode {
                Mode::Explore if holding == SandboxState::Nothing => "read-only without a sandbox, never asks",
                Mode::Explore => "read-only in the sandbox, never asks",
                Mode::Ask => "reads freely, asks before changes",
                Mode::Execute => "runs without asking",
            };
            let facts = Facts { current: now == Some(mode), ..Facts::default() };
            overlay::item(mode.shown(), what, Value::Mode(mode)).with(facts)
        })
        .collect();
    let selected = now.and_then(|now| Mode::ALL.iter().position(|mode| *mode == now)).unwrap_or(0);
    overlay::open_picker(state, Kind::Mode, items, selected);
}
