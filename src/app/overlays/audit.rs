//! Audit log of a session.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::audit::Audit;
use crate::app::state::overlay::Overlay;
use crate::domain::audit_log::AuditLog;
use crate::protocol::{Command, EngineCommand};

pub(crate) fn open_audit(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return text::nothing_yet(state) };
    overlay::open(state, Overlay::Audit(Audit::new(id.clone())));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Audit { session: id })));
}

/// Audit log of a session.
pub(crate) fn audit(state: &mut State, log: AuditLog) {
    for overlay in &mut state.overlays {
        if let Overlay::Audit(audit) = overlay
            && audit.session == log.session
        {
            audit.fill(log.clone());
        }
    }
}
