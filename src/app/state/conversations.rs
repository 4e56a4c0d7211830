//! The conversations that are loaded, and which of them is shown.

use super::chat::Density;
use super::gallery::Gallery;
use super::open::Open;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::request::Request;
use std::collections::HashMap;

/// Content of the chat pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Current {
    /// A new session that the engine has not made yet; its composer is that of [`super::lobby::Lobby`].
    #[default]
    New,
    /// This session; it is in [`Conversations::open`], perhaps not loaded yet.
    Session(SessionId),
}

/// Loaded conversations.
#[derive(Debug, Default)]
pub struct Conversations {
    /// The sessions whose conversation is loaded or asked for.
    pub open: HashMap<SessionId, Open>,
    /// The sessions of `open`, last used last.
    pub recent: Vec<SessionId>,
    /// Content of the chat pane.
    pub current: Current,
    /// State of the pictures in conversations.
    pub gallery: Gallery,
    /// Detail of tool calls, for every session.
    pub density: Density,
    /// Old and new of a change stand below each other however wide the pane is, in every session.
    pub unified: bool,
    /// The session that is shown was marked as unread, and stays so until it is left.
    pub(crate) left_unread: Option<SessionId>,
    /// The text that is to be written anew in the branch of this session.
    pub(crate) rewound: Option<(SessionId, String)>,
}

impl Conversations {
    /// The id of the session that is shown.
    #[must_use]
    pub fn current_id(&self) -> Option<&SessionId> {
        match &self.current {
            Current::Session(id) => Some(id),
            Current::New => None,
        }
    }

    /// The session that is shown.
    #[must_use]
    pub fn shown(&self) -> Option<&Open> {
        self.open.get(self.current_id()?)
    }

    /// The session that is shown, to be changed.
    pub fn shown_mut(&mut self) -> Option<&mut Open> {
        match &self.current {
            Current::Session(id) => self.open.get_mut(id),
            Current::New => None,
        }
    }

    /// The request with this id, of whichever open session.
    #[must_use]
    pub fn request(&self, session: &SessionId, id: &RequestId) -> Option<&Request> {
        self.open.get(session)?.request(id)
    }
}
