//! Changes of the screen when a session is gone.

use crate::app::effect::Effect;
use crate::app::msg::Timer;
use crate::app::shell::{session, session_list};
use crate::app::state::overlay::Overlay;
use crate::app::state::sessions::undo::named;
use crate::app::state::{Current, Focus, State};
use crate::domain::ids::SessionId;
use crate::domain::trash::TrashId;
use crate::domain::{Level, Notice};

/// A session is gone. Where it was shown, the one beside it is shown; the keys stay where they are.
pub(crate) fn deleted(state: &mut State, id: &SessionId, trash: Option<&TrashId>, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    let ours = state.sessions.undo.as_mut().is_some_and(|undo| undo.gone(id, trash, now));
    let shown = state.current_id() == Some(id);
    // A blank one goes without a word: there is nothing to miss.
    let title = state.sessions.meta(id).filter(|meta| !meta.is_blank()).map(|meta| named(&[meta]));
    // What was deleted here says so where it can be undone.
    if let (false, Some(title)) = (ours, title) {
        state.notify(match trash {
            Some(_) => Notice::new(Level::Info, format!("Moved to trash: {title}")).hint("/trash restores it"),
            None => Notice::new(Level::Info, format!("Deleted: {title}")),
        });
    }
    let beside = beside(state, id);
    state.sessions.remove(id);
    state.conversations.recent.retain(|other| other != id);
    // What somebody else deletes takes no text along that is being written here.
    let mut left = None;
    if let Some(open) = state.conversations.open.remove(id) {
        fx.push(Effect::Disarm(Timer::Draft(id.clone())));
        left = Some(open.composer).filter(|composer| !ours && trash.is_none() && !composer.is_empty());
    }
    if let Some(composer) = left.take_if(|_| !shown) {
        state.drafts.history.push(&composer.text());
    }
    state.overlays.retain(|overlay| !matches!(overlay, Overlay::Rename(rename) if rename.session == *id));
    if !shown {
        return session_list::keep_in_sight(state);
    }
    let (focus, pane, overlays) = (state.focus, state.screen.shown, std::mem::take(&mut state.overlays));
    let cursor = state.sessions.cursor().cloned();
    // Its draft went with it.
    state.conversations.current = Current::New;
    match (beside, left) {
        (_, Some(composer)) => {
            session::new(state, fx);
            state.composer_mut().bring_back(composer);
            let text = "Session deleted; your draft is in the composer";
            state.notify(Notice::new(Level::Warning, text).hint("Enter sends it in a new session"));
        }
        (Some(beside), None) => session::open(state, &beside, fx),
        (None, None) => session::new(state, fx),
    }
    state.overlays = overlays;
    if focus == Focus::List {
        (state.focus, state.screen.shown) = (focus, pane);
        state.sessions.restore_cursor(cursor);
    }
    session_list::keep_in_sight(state);
}

/// The session that stands beside one in the list and does not go with it: the next, else the one before.
fn beside(state: &State, id: &SessionId) -> Option<SessionId> {
    let going = |other: &SessionId| state.sessions.undo.as_ref().is_some_and(|undo| undo.is_going(other));
    let order: Vec<&SessionId> = state.sessions.order().collect();
    let at = order.iter().position(|other| *other == id)?;
    let after = order.iter().skip(at + 1).find(|other| !going(other));
    let before = order.iter().take(at).rev().find(|other| !going(other));
    after.or(before).map(|id| (*id).clone())
}
