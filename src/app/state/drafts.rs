//! Data that drafts of all sessions share: texts sent earlier, commands of the user's own, and what runs for a draft outside.

use super::composer::History;
use super::conversations::Current;
use crate::app::slash;
use crate::domain::command::OwnCommand;
use crate::domain::extension::ExtensionKind;
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
    /// Commands, skills and agents, those of the shown session's directory among them.
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

impl Drafts {
    /// Those that a name after a slash calls, with their places: a skill gives way to a command of its name.
    pub(crate) fn slashed(&self) -> impl Iterator<Item = (usize, &OwnCommand)> {
        let is_taken = |name: &str| {
            let is_own = |own: &OwnCommand| own.kind == ExtensionKind::Command && own.name == name;
            slash::named(name).is_some() || self.commands.iter().any(is_own)
        };
        self.commands.iter().enumerate().filter(move |(_, own)| match own.kind {
            ExtensionKind::Command => true,
            ExtensionKind::Skill => !is_taken(&own.name),
            ExtensionKind::Agent | ExtensionKind::Source => false,
        })
    }

    /// Skills and agents that count, which a name after `@` calls.
    pub(crate) fn mentioned(&self) -> impl Iterator<Item = &OwnCommand> {
        let is_named = |own: &&OwnCommand| matches!(own.kind, ExtensionKind::Skill | ExtensionKind::Agent);
        self.commands.iter().filter(|own| own.trusted).filter(is_named)
    }
}
