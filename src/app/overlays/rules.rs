//! /permissions and /trust: the rules in force, one of them taken back, and what others wrote let count.

use crate::app::effect::Effect;
use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::overlay::{Confirm, Deed, Overlay};
use crate::app::state::rules::{Purpose, Rules};
use crate::domain::ids::SessionId;
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::domain::rule::{RuleEffect, RuleScope};
use crate::domain::{Level, Notice};
use crate::keymap::action::RulesAction;
use crate::protocol::{Command, InForce, SessionCommand};

/// Lines of what is to be trusted that a question has room for.
const SHOWN: usize = 4_000;

/// Asks for the rules of the shown session.
pub(crate) fn open(state: &mut State, purpose: Purpose, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    };
    overlay::open(state, Overlay::Rules(Rules::new(session.clone(), purpose)));
    fx.push(Effect::Send(Command::Session { id: session, command: SessionCommand::Rules }));
}

/// The rules of a session came.
pub(crate) fn shown(state: &mut State, session: &SessionId, known: InForce) {
    // What was trusted may be commands, skills and agents: they are read again.
    state.drafts.commands_of = None;
    for overlay in &mut state.overlays {
        if let Overlay::Rules(rules) = overlay
            && rules.session == *session
        {
            rules.fill(known.clone());
        }
    }
    let asked = |overlay: &Overlay| matches!(overlay, Overlay::Rules(rules) if rules.purpose == Purpose::Trust && rules.session == *session);
    if state.overlays.last().is_some_and(asked) {
        state.overlays.pop();
        match known.trust.into_iter().next() {
            Some(request) => ask_trust(state, session, request),
            None => state.notify(Notice::new(Level::Info, "Nothing new to trust here")),
        }
    }
}

fn ask_trust(state: &mut State, session: &SessionId, request: TrustRequest) {
    let (title, first) = match (request.what, request.changed) {
        (TrustWhat::Workspace, _) => (
            "Trust this workspace?",
            "Its sessions can then use Execute, and whatever its permissions.json allows runs without asking.",
        ),
        (TrustWhat::Repository, false) => {
            ("Trust these rules?", "What they allow runs without asking. If the file changes, you are asked again.")
        }
        (TrustWhat::Sources, changed) => (
            if changed { "These sources changed. Trust them?" } else { "Trust these sources?" },
            "Their programs are started and their servers asked when a session sends a message. If the file changes, \
             you are asked again.",
        ),
        (TrustWhat::Extensions, changed) => (
            if changed {
                "These skills, agents and commands changed. Trust them?"
            } else {
                "Trust these skills, agents and commands?"
            },
            "Their texts are told to the model, and what they allow and run goes by the mode. If a file changes, you are \
             asked again.",
        ),
        (TrustWhat::Repository, true) => (
            "These rules changed. Trust them?",
            "What they now allow runs without asking. If the file changes, you are asked again.",
        ),
    };
    let mut says = vec![first.to_owned(), request.path.display().to_string()];
    let verb = if request.what == TrustWhat::Sources { "starts " } else { "" };
    says.extend(request.starts.iter().map(|start| format!("{verb}{start}")));
    let lines: Vec<&str> = request.text.lines().filter(|line| !line.trim().is_empty()).collect();
    // Of a change the lines that changed come first to mind.
    let told: Vec<&&str> = if request.changed {
        lines.iter().filter(|line| line.starts_with(['+', '-'])).collect()
    } else {
        lines.iter().collect()
    };
    says.extend(told.iter().take(SHOWN).map(|line| (**line).to_owned()));
    if told.len() > SHOWN {
        says.push(format!("… and {} more lines: read the file first", told.len() - SHOWN));
    }
    let deed = Deed::Send(Command::Session { id: session.clone(), command: SessionCommand::Trust { request } });
    overlay::confirm(state, Confirm::new(title, says, "trust", deed));
}

/// A verb of the list.
pub(crate) fn act(state: &mut State, verb: RulesAction) {
    match verb {
        RulesAction::Remove => ask_remove(state),
    }
}

fn ask_remove(state: &mut State) {
    let Some(Overlay::Rules(rules)) = state.overlays.last() else { return };
    let Some(known) = rules.chosen().cloned() else { return };
    let session = rules.session.clone();
    let file = known.file.as_ref().map(|file| file.display().to_string());
    if !known.removable {
        let text = "Can't remove it here: other programs write this key";
        let hint = file.map(|file| format!("remove it from {file}")).unwrap_or_default();
        return state.notify(Notice::new(Level::Info, text).hint(hint));
    }
    let does = match known.rule.effect {
        RuleEffect::Allow => "What it allowed will ask again.",
        RuleEffect::Ask => "The mode decides again what it asked for.",
        RuleEffect::Deny => "The mode decides again what it denied.",
    };
    let place = match (known.scope, file) {
        (RuleScope::Session, _) | (_, None) => "Applies to this session only.".to_owned(),
        (_, Some(file)) => format!("It goes from {file}; nothing else there changes."),
    };
    let command = SessionCommand::Forget { rule: Box::new(known.rule.clone()), scope: known.scope };
    let deed = Deed::Send(Command::Session { id: session, command });
    let says = vec![known.in_words(), does.to_owned(), place];
    overlay::confirm(state, Confirm::new("Remove this rule?", says, "remove", deed));
}
