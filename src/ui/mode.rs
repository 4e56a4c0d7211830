//! Permission mode of the place that is shown, and its colour.

use crate::app::state::State;
use crate::domain::Mode;
use crate::theme::Role;

/// The mode of the place that is shown.
pub(super) fn mode(state: &State) -> Mode {
    state.current_meta().map_or_else(Mode::default, |meta| meta.mode)
}

/// The colour of a mode.
pub(super) fn mode_role(mode: Mode) -> Role {
    match mode {
        Mode::Explore => Role::ModeExplore,
        Mode::Ask => Role::ModeAsk,
        Mode::Execute => Role::ModeExecute,
    }
}
