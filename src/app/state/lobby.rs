//! A new session that the engine has not made yet: what is written for it meanwhile.

use super::composer::Composer;
use crate::domain::message::UserText;

/// Sessions of another program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHistory {
    /// Word for it in `/import`.
    pub word: &'static str,
    /// Name of the program.
    pub program: &'static str,
    /// Number of sessions.
    pub sessions: usize,
}

/// A session that is being made.
#[derive(Debug, Default)]
pub struct Lobby {
    /// The composer while the engine makes the session.
    pub composer: Composer,
    /// Sessions of other programs on this machine, offered once: the word for the import, the program and how many.
    pub histories: Vec<FoundHistory>,
    /// Messages sent from it.
    pub sent: Vec<UserText>,
    /// The engine was asked for a new session and has not answered.
    pub(crate) creating: bool,
    /// The engine was asked for a session with a worktree, which is shown when it comes.
    pub(crate) apart: bool,
    /// The title of the new session that the engine makes.
    pub(crate) titled: Option<String>,
}
