//! Context window of a session, and its compaction.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session};
use crate::app::state::State;
use crate::app::state::context::{ContextCard, Depth};
use crate::app::state::overlay::Overlay;
use crate::domain::context::ContextReport;
use crate::domain::prompt_text::PromptKind;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, SessionCommand};

/// Asks for what the model is given.
pub(crate) fn open(state: &mut State, depth: Depth, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return no_session(state) };
    overlay::open(state, Overlay::Context(ContextCard::new(id.clone(), depth)));
    fx.push(Effect::Send(Command::Session { id, command: SessionCommand::Context }));
}

/// `/context list|detail`, `/context use NAME`, `/context none`.
pub(crate) fn open_at(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let usage = "Usage: /context [list|detail|use NAME|none]";
    let mut words = args.split_whitespace();
    match (words.next().unwrap_or_default().to_lowercase().as_str(), words.next(), words.next()) {
        ("use", Some("none"), None) | ("none", None, _) => choose(state, None, fx),
        ("use", Some(name), None) => choose(state, Some(name.to_owned()), fx),
        (word, None, _) => open(state, Depth::parse(word).ok_or(usage)?, fx),
        _ => return Err(usage.to_owned()),
    }
    Ok(())
}

/// Puts a context into the system prompt of the shown session.
fn choose(state: &mut State, name: Option<String>, fx: &mut Vec<Effect>) {
    let Some(id) = state.current_id().cloned() else { return no_session(state) };
    fx.push(session::to(&id, SessionCommand::UsePrompt { kind: PromptKind::Context, name }));
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
