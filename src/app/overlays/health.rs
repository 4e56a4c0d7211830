//! Health of a session's files.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::{Card, Confirm, Deed, Overlay};
use crate::domain::session_health::HealthReport;
use crate::domain::{Level, Notice};
use crate::keymap::action::HealthAction;
use crate::protocol::{Command, EngineCommand};

pub(crate) fn open_health(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return text::nothing_yet(state) };
    overlay::open(
        state,
        Overlay::Health(Card { session: id.clone(), report: None, busy: true, then_repair: false, scroll: 0 }),
    );
    fx.push(Effect::Send(Command::Engine(EngineCommand::Verify { session: id, repair: false })));
}

/// Takes in the health of a session's files.
pub(crate) fn health(state: &mut State, report: HealthReport) {
    for overlay in &mut state.overlays {
        if let Overlay::Health(card) = overlay
            && card.session.as_str() == report.session
        {
            card.busy = false;
            card.report = Some(report.clone());
        }
    }
    if let Some(Overlay::Health(card)) = state.overlays.last_mut()
        && !card.busy
        && std::mem::take(&mut card.then_repair)
    {
        ask_repair(state);
    }
}

pub(crate) fn health_act(state: &mut State, verb: HealthAction, fx: &mut Vec<Effect>) {
    let Some(Overlay::Health(card)) = state.overlays.last_mut() else { return };
    if card.busy {
        return;
    }
    match verb {
        HealthAction::Again => {
            card.busy = true;
            fx.push(Effect::Send(Command::Engine(EngineCommand::Verify {
                session: card.session.clone(),
                repair: false,
            })));
        }
        HealthAction::Repair => ask_repair(state),
    }
}

/// Asks before a session's files are repaired.
pub(crate) fn ask_repair(state: &mut State) {
    let Some(Overlay::Health(card)) = state.overlays.last() else { return };
    let Some(report) = &card.report else { return };
    if report.repairs.is_empty() || report.repaired {
        return state.notify(Notice::new(Level::Info, "Nothing to repair"));
    }
    let mut says = report.repairs.clone();
    says.push("A backup of each changed file is kept next to it.".to_owned());
    let deed = Deed::Send(Command::Engine(EngineCommand::Verify { session: card.session.clone(), repair: true }));
    overlay::confirm(state, Confirm::new("Repair the session's files?", says, "repair", deed));
}
