//! /sources: servers whose tools the agent of a session calls, their states, each on or off.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session, text};
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::session_rows::SourcesCard;
use crate::domain::ids::SessionId;
use crate::domain::source::{SourceState, SourceView};
use crate::domain::{Level, Notice};
use crate::protocol::SessionCommand;

pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return text::nothing_yet(state) };
    overlay::open(state, Overlay::Sources(SourcesCard::new(id.clone())));
    fx.push(session::to(&id, SessionCommand::Sources));
}

/// The sources of a session came.
pub(crate) fn shown(state: &mut State, session: &SessionId, known: &[SourceView]) {
    for overlay in &mut state.overlays {
        if let Overlay::Sources(card) = overlay
            && card.session == *session
        {
            card.fill(known.to_vec());
        }
    }
}

/// Uses the selected source from the next message on, or no longer.
pub(crate) fn toggle(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Sources(card)) = state.overlays.last() else { return };
    let Some(source) = card.chosen() else { return };
    let (on, trusted) = (!source.on, source.state != SourceState::NotTrusted);
    fx.push(session::to(&card.session, SessionCommand::UseSource { source: source.slug.clone(), on }));
    if on && !trusted {
        state.notify(Notice::new(Level::Info, "Not trusted yet").hint("/trust shows what it would start"));
    }
}
