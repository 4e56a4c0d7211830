//! The trash.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::{Bin, Overlay};
use crate::domain::trash::Trashed;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand};

pub(crate) fn open_trash(state: &mut State, fx: &mut Vec<Effect>) {
    overlay::open(state, Overlay::Trash(Bin::default()));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Trash)));
}

/// Takes in the content of the trash. The selection stays on its row.
pub(crate) fn trash(state: &mut State, rows: Vec<Trashed>) {
    let bin = state.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Trash(bin) => Some(bin),
        _ => None,
    });
    let Some(bin) = bin else { return };
    let selected = bin.rows.as_ref().and_then(|rows| rows.get(bin.selected)).map(|row| row.trash.clone());
    let place = rows.iter().position(|row| Some(&row.trash) == selected.as_ref()).unwrap_or(bin.selected);
    bin.selected = place.min(rows.len().saturating_sub(1));
    bin.rows = Some(rows);
}

/// Enter in the trash: takes the selected session back.
pub(crate) fn restore(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Trash(bin)) = state.overlays.last() else { return };
    let Some(row) = bin.rows.as_ref().and_then(|rows| rows.get(bin.selected)) else { return };
    let (trash, title) = (row.trash.clone(), text::quoted(&row.title));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Restore { trash: vec![trash] })));
    // The engine says what is there afterwards, also when it could not be restored.
    fx.push(Effect::Send(Command::Engine(EngineCommand::Trash)));
    state.notify(Notice::new(Level::Info, format!("Restoring {title}")));
}
