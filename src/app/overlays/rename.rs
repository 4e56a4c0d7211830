//! The new title of a session.

use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Overlay, Rename};
use crate::domain::ids::SessionId;
use crate::domain::{Level, Notice};

pub(crate) fn rename(state: &mut State, session: Option<SessionId>) {
    let Some((session, title)) = session.and_then(|id| Some((id.clone(), state.sessions.meta(&id)?.shown_title())))
    else {
        return state.notify(Notice::new(Level::Info, "No session to rename yet"));
    };
    let mut title = Line::new(title);
    title.select();
    overlay::open(state, Overlay::Rename(Rename { session, title }));
}
