//! Data that drafts of all sessions share: texts sent earlier, commands of the user's own, and what runs for a draft outside.

use super::composer::History;
use super::conversations::Current;
use crate::domain::command::OwnCommand;
use crate::domain::ids::{RequestId, SessionId};
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

/// Text being edited in $EDITOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Editing {
    /// The draft of this place.
    Draft(Current),
    /// A plan that waits.
    Plan {
        /// In this session.
        session: SessionId,
        /// Asked by this request.
        request: RequestId,
    },
}

/// Data that drafts share.
#[derive(Debug, Default)]
pub struct Drafts {
    /// Texts sent earlier, from all sessions.
    pub history: History,
    /// Commands of the user's own, those of the shown session's directory among them.
    pub commands: Vec<OwnCommand>,
    /// The commands of repositories whose text the user saw before it was sent, by their hash.
    pub seen_commands: BTreeSet<String>,
    /// Commands used in this run, the last one first, by name or by id.
    pub(crate) used_commands: VecDeque<String>,
    /// The directory whose commands were asked for last.
    pub(crate) commands_of: Option<PathBuf>,
    /// The number of the last wish to rewrite a draft.
    pub(crate) enhanced: u64,
    /// The number of the last search for files.
    pub(crate) ticket: u64,
    /// Files with pictures of the clipboard that are being copied.
    pub pictures: Vec<PathBuf>,
    /// Receiver of [`crate::app::Msg::Edited`].
    pub(crate) editing: Option<Editing>,
}
