//! The answer yes to a question.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::overlays::{rewind, workspaces};
use crate::app::shell::{connecting, session_changes};
use crate::app::state::State;
use crate::app::state::overlay::{Deed, Overlay};
use crate::protocol::{Command, EngineCommand};

/// A yes.
pub(crate) fn confirmed(state: &mut State, deed: Deed, fx: &mut Vec<Effect>) {
    match deed {
        // What goes to the trash can be taken back for a while.
        Deed::Send(Command::Engine(EngineCommand::Delete { sessions, now: false })) => {
            session_changes::delete(state, sessions, fx)
        }
        Deed::Workspace(folder) => workspaces::leave(state, folder, fx),
        Deed::Send(command) => {
            if let Command::Engine(EngineCommand::Verify { repair: true, .. }) = command
                && let Some(Overlay::Health(card)) = state.overlays.last_mut()
            {
                card.busy = true;
            }
            fx.push(Effect::Send(command));
        }
        Deed::Continue { connection, model } => connecting::continue_with(state, connection, model, fx),
        Deed::Copy(text) => fx.push(Effect::Copy(text)),
        Deed::Upload(file) => fx.push(Effect::Upload(file)),
        Deed::Own { hash, text } => state.follow_up(Intent::SendOwn { hash, text }),
        Deed::Rewind { session, kept, text, files: _ } => rewind::rewound(state, session, kept, text, None, fx),
    }
}
