//! Undo of files: what it would do is shown first, also before a session goes back to a message; and what a session
//! changed.

use crate::app::effect::Effect;
use crate::app::overlays::rewind;
use crate::app::shell::{focus, overlay};
use crate::app::state::State;
use crate::app::state::notices::TrueWhile;
use crate::app::state::overlay::{ChangesCard, Deed, Overlay, UndoCard};
use crate::domain::ids::SessionId;
use crate::domain::session::Activity;
use crate::domain::undo::{Changes, UndoAim, UndoPlan, UndoState};
use crate::domain::{Level, Notice};
use crate::keymap::action::UndoAction;
use crate::protocol::{Command, SessionCommand};

pub(crate) fn act(state: &mut State, verb: UndoAction, fx: &mut Vec<Effect>) {
    match verb {
        UndoAction::Files => open(state, UndoAim::Last, fx),
        UndoAction::Redo => open(state, UndoAim::Redo, fx),
        UndoAction::Changes => open_changes(state, fx),
        UndoAction::Tick => tick(state),
        UndoAction::WithFiles => with_files(state),
        UndoAction::NextFile => step_file(state, 1),
        UndoAction::PreviousFile => step_file(state, -1),
    }
}

fn open(state: &mut State, aim: UndoAim, fx: &mut Vec<Effect>) {
    let Some(meta) = state.current_meta() else {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    };
    if meta.activity != Activity::Idle && !matches!(meta.activity, Activity::NeedsYou(_) if meta.plan_pending) {
        let notice = Notice::new(Level::Info, "Turn running: undo works between turns");
        return state.notify_while(notice.hint("stop it first"), vec![TrueWhile::TurnRuns]);
    }
    let session = meta.id.clone();
    let card = UndoCard::new(session.clone(), aim.clone());
    overlay::open(state, Overlay::Undo(Box::new(card)));
    fx.push(Effect::Send(Command::Session { id: session, command: SessionCommand::PlanUndo { aim } }));
}

fn open_changes(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else {
        return state.notify(Notice::new(Level::Info, "No session yet"));
    };
    let card = ChangesCard { session: session.clone(), changes: None, selected: 0, scroll: 0 };
    overlay::open(state, Overlay::Changes(Box::new(card)));
    fx.push(Effect::Send(Command::Session { id: session, command: SessionCommand::FilesChanged }));
}

/// Takes in the preview of an undo.
pub(crate) fn planned(state: &mut State, session: &SessionId, plan: UndoPlan) {
    match state.overlays.last_mut() {
        Some(Overlay::Undo(card)) if card.session == *session && card.aim == plan.aim && card.plan.is_none() => {
            if plan.any {
                // The first one that needs a look.
                let odd = plan.files.iter().position(|file| file.state != UndoState::Ready || file.during.is_some());
                card.selected = odd.unwrap_or(0);
                card.plan = Some(plan);
                return focus::hush(state);
            }
            let text = match plan.aim {
                UndoAim::Redo => "Nothing to redo",
                UndoAim::Last | UndoAim::Since(_) => "No file changes left to undo in this session",
            };
            overlay::close(state);
            // A notice of the engine says why nothing is known.
            if plan.gaps.is_empty() {
                state.notify(Notice::new(Level::Info, text));
            }
        }
        Some(Overlay::Confirm(asked)) => {
            if let Deed::Rewind { session: of, kept, files, .. } = &mut asked.deed
                && of == session
                && plan.aim == kept.aim()
                && !plan.files.is_empty()
            {
                let key = state.keys.key_for(UndoAction::WithFiles);
                let count = match plan.files.len() {
                    1 => "1 file changed since can".to_owned(),
                    n => format!("{n} files changed since can"),
                };
                if let Some(last) = asked.says.last_mut() {
                    *last = format!("Files are unchanged; {count} also be restored ({key} shows them)");
                }
                *files = Some(Box::new(plan));
                focus::hush(state);
            }
        }
        _ => {}
    }
}

/// Takes in the changes of the session.
pub(crate) fn changed(state: &mut State, session: &SessionId, changes: Changes) {
    for overlay in &mut state.overlays {
        if let Overlay::Changes(card) = overlay
            && card.session == *session
        {
            card.selected = card.selected.min(changes.files.len().saturating_sub(1));
            card.changes = Some(changes.clone());
        }
    }
}

/// Going back: the files too.
fn with_files(state: &mut State) {
    let Some(Overlay::Confirm(asked)) = state.overlays.last() else { return };
    let Deed::Rewind { session, kept, text, files: Some(plan) } = asked.deed.clone() else { return };
    let mut card = UndoCard::new(session, kept.aim());
    card.plan = Some(*plan);
    card.rewind = Some((kept, text));
    state.overlays.pop();
    overlay::open(state, Overlay::Undo(Box::new(card)));
    focus::hush(state);
}

/// A file that somebody changed since is restored too, or not.
fn tick(state: &mut State) {
    let Some(Overlay::Undo(card)) = state.overlays.last_mut() else { return };
    let Some(file) = card.plan.as_ref().and_then(|plan| plan.files.get(card.selected)) else { return };
    let why = match &file.state {
        UndoState::Changed(_) | UndoState::Between(_) | UndoState::Risky(_) => {
            let path = file.path.clone();
            if !card.also.remove(&path) {
                card.also.insert(path);
            }
            return;
        }
        UndoState::Ready => "Always restored: only files others changed, or that run code, can be left out".to_owned(),
        UndoState::Lost(why) => why.clone(),
    };
    state.notify(Notice::new(Level::Info, why));
}

fn step_file(state: &mut State, by: isize) {
    let Some(Overlay::Changes(card)) = state.overlays.last_mut() else { return };
    let last = card.changes.as_ref().map_or(0, |changes| changes.files.len()).saturating_sub(1);
    let to = card.selected.saturating_add_signed(by).min(last);
    if to != card.selected {
        (card.selected, card.scroll) = (to, 0);
    }
}

/// Enter: does what is shown.
pub(crate) fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Undo(card)) = state.overlays.last() else { return };
    if card.plan.is_none() {
        return;
    }
    let UndoCard { session, aim, also, rewind, .. } = (**card).clone();
    let also = also.into_iter().collect();
    overlay::close(state);
    match rewind {
        Some((kept, text)) => rewind::rewound(state, session, kept, text, Some(also), fx),
        None => fx.push(Effect::Send(Command::Session { id: session, command: SessionCommand::Undo { aim, also } })),
    }
}
