//! What lies over the panes: help, pickers, the inbox, a question of lisle's own.

use super::edit::Line;
use super::panel::Panel;
use super::picker::Picker;
use crate::domain::ids::{RequestId, SessionId};
use crate::keymap::action::Context;

/// Something over the panes.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys of a place.
    Help(Help),
    /// A list to choose from; the palette is one.
    Picker(Box<Picker>),
    /// All that waits, in every session.
    Inbox(Box<Inbox>),
    /// The new title of a session.
    Rename(Rename),
    /// Turns run: quit all the same?
    ConfirmQuit,
    /// These sessions go to the trash?
    ConfirmDelete(Vec<SessionId>),
}

/// The keys of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// The places that had the keys when it was opened.
    pub contexts: Vec<Context>,
    /// Lines scrolled away above.
    pub scroll: u16,
}

/// The new title of a session.
#[derive(Clone, Debug)]
pub struct Rename {
    /// Which session.
    pub session: SessionId,
    /// The title being written.
    pub title: Line,
}

/// A thing that waits, as the inbox lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// In which session.
    pub session: SessionId,
    /// Which request; `None` while the session's requests are not loaded.
    pub request: Option<RequestId>,
    /// The session's title.
    pub title: String,
    /// What is asked, in a few words.
    pub what: String,
}

/// All that waits.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// One row a request.
    pub rows: Vec<Waiting>,
    /// The selected row.
    pub selected: usize,
    /// The request that is being answered here, with its panel.
    pub answering: Option<(SessionId, Panel)>,
}
