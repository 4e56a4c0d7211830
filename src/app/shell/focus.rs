//! Focus of the panel: given back, and keys dropped for a moment after a change.

use crate::app::state::edit::Editor;
use crate::app::state::hidden::Hidden;
use crate::app::state::overlay::Overlay;
use crate::app::state::panel::{Extent, Panel, Stage};
use crate::app::state::{Focus, State};
use crate::domain::ids::SessionId;

/// Milliseconds after the panel got the focus, or its content changed, in which keys are dropped.
pub(crate) const QUIET: u64 = 300;

/// Drops keys for a moment after the focus has changed: they were meant for something else.
pub(crate) fn hush(state: &mut State) {
    state.input.quiet_until = state.clock.now.plus(QUIET);
    state.input.quiet_types = false;
}

/// Gives the focus back to the composer; the request waits on.
pub(crate) fn give_back(state: &mut State) {
    if state.focus == Focus::Panel {
        if let Some(panel) = state.current_open_mut().and_then(|open| open.panel.as_mut()) {
            panel.unselect();
            panel.extent = Extent::Docked;
            leave_words(panel);
        }
        state.focus = Focus::Composer;
    }
}

/// Keeps words that were begun, for when the same answer is chosen again.
pub(crate) fn leave_words(panel: &mut Panel) {
    // A key that was begun is not kept.
    if let Stage::Writing { purpose, text } = std::mem::take(&mut panel.stage) {
        panel.begun = Some((purpose, text.text()));
    }
}

/// Leaves what is being written for the answers. Whether something was.
pub(crate) fn out_of_words(panel: &mut Panel) -> bool {
    match panel.stage {
        Stage::Choosing => return false,
        Stage::Writing { .. } => {
            leave_words(panel);
            panel.unselect();
        }
        Stage::Rules { .. } => panel.stage = Stage::Choosing,
        Stage::Secret { .. } => {
            // Nothing of it is kept.
            panel.stage = Stage::Choosing;
            panel.unselect();
        }
    }
    true
}

/// Milliseconds for which a request stands on the screen before anything outside of its panel answers it.
pub(crate) const SEEN: u64 = 500;

/// The panel that has the focus, in the pane or in the inbox, and its session.
pub(crate) fn focused(state: &mut State) -> Option<(SessionId, &mut Panel)> {
    if !state.overlays.is_empty() {
        return match state.overlays.last_mut() {
            Some(Overlay::Inbox(inbox)) => inbox.answering.as_mut().map(|(session, panel)| (session.clone(), panel)),
            _ => None,
        };
    }
    if state.focus != Focus::Panel {
        return None;
    }
    let session = state.current_id()?.clone();
    let panel = state.conversations.open.get_mut(&session)?.panel.as_mut()?;
    Some((session, panel))
}

/// The key that is being written.
pub(crate) fn secret(state: &mut State) -> Option<&mut Hidden> {
    focused(state)?.1.stage.secret_mut()
}

/// The editor of the words that are being written, in the pane or in the inbox.
pub(crate) fn words(state: &mut State) -> Option<&mut Editor> {
    focused(state)?.1.stage.editor_mut()
}
