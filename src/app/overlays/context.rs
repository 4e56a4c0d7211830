//! Context window of a session, and its compaction.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session};
use crate::app::state::State;
use crate::app::state::context::{ContextCard, Depth};
use crate::app::state::overlay::Overlay;
use crate::domain::context::ContextReport;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, SessionCommand};

/// Asks for what the model is given.
pub(crate) fn open(state: &mut State, depth: Depth, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return no_session(state) };
    overlay::open(state, Overlay::Context(ContextCard::new(id.clone(), depth)));
    fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Context }));
}

/// `/context list|detail`.
pub(crate) fn open_at(state: &mut State, word: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let depth = Depth::parse(&word.to_lowercase()).ok_or("Usage: /context [list|detail]")?;
    open(state, depth, fx);
    Ok(())
}

/// The engine sent it.
pub(crate) fn shown(state: &mut State, report: ContextReport) {
    for overlay in &mut state.overlays {
        if let Overlay::Context(card) = overlay
            && card.session == report.session
        {
            card.report = Some(report.clone());
        }
    }
}

/// Sums the conversation up, as the user wants it.
pub(crate) fn compact(state: &mut State, wish: String, fx: &mut Vec<Effect>) {
    match state.current_id() {
        Some(id) => fx.push(session::to(id, SessionCommand::Compact { wish })),
        None => no_session(state),
    }
}

fn no_session(state: &mut State) {
    state.notify(Notice::new(Level::Info, "No session open"));
}
