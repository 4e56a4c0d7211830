//! /extensions: sources, skills, agents and commands of a session, with where they come from and their states.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{overlay, session, text};
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::session_rows::ExtensionsCard;
use crate::domain::extension::{ExtensionKind, ExtensionState, ExtensionView};
use crate::domain::ids::SessionId;
use crate::domain::{Level, Notice};
use crate::keymap::action::SessionAction;
use crate::protocol::SessionCommand;

pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return text::nothing_yet(state) };
    overlay::open(state, Overlay::Extensions(ExtensionsCard::new(id.clone())));
    fx.push(session::to(&id, SessionCommand::Extensions));
}

/// The extensions of a session came.
pub(crate) fn shown(state: &mut State, session: &SessionId, known: &[ExtensionView]) {
    for overlay in &mut state.overlays {
        if let Overlay::Extensions(card) = overlay
            && card.session == *session
        {
            card.fill(known.to_vec());
        }
    }
}

/// Enter: a source is turned on or off, the others are written into the composer; what is not trusted is asked about.
pub(crate) fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Extensions(card)) = state.overlays.last() else { return };
    let (id, Some(chosen)) = (card.session.clone(), card.chosen().cloned()) else { return };
    match (&chosen.state, chosen.kind) {
        (ExtensionState::NotTrusted, _) => {
            overlay::close(state);
            state.follow_up(Intent::Act(SessionAction::Trust.into()));
        }
        (ExtensionState::Failed { .. }, _) => {
            let text = format!("Can't use it: {}", text::one_line(chosen.state.why().unwrap_or_default()));
            state.notify(Notice::new(Level::Info, text));
        }
        (ExtensionState::On | ExtensionState::Off { .. }, ExtensionKind::Source) => {
            let on = chosen.state != ExtensionState::On;
            fx.push(session::to(&id, SessionCommand::UseSource { source: chosen.name, on }));
            fx.push(session::to(&id, SessionCommand::Extensions));
        }
        (ExtensionState::Off { .. }, _) => {
            let text = text::one_line(chosen.state.why().unwrap_or_default());
            state.notify(Notice::new(Level::Info, text));
        }
        (ExtensionState::On, kind) => {
            let sign = match kind {
                ExtensionKind::Agent => '@',
                ExtensionKind::Skill if is_taken(state, &chosen.name) => '@',
                ExtensionKind::Skill | ExtensionKind::Command | ExtensionKind::Source => '/',
            };
            overlay::close(state);
            state.composer_mut().insert(&format!("{sign}{} ", chosen.name));
        }
    }
}

/// A command has the name of a skill.
fn is_taken(state: &State, name: &str) -> bool {
    !state.drafts.slashed().any(|(_, own)| own.kind == ExtensionKind::Skill && own.name == name)
}
