//! A new session that the engine has not made yet: what is written for it meanwhile.

use super::composer::Composer;
use crate::domain::message::UserText;

/// A session that is being made.
#[derive(Debug, Default)]
pub struct Lobby {
    /// The composer while the engine makes the session.
    pub composer: Composer,
    /// Messages sent from it.
    pub sent: Vec<UserText>,
    /// The engine was asked for a new session and has not answered.
    pub(crate) creating: bool,
    /// The engine was asked for a session with a worktree, which is shown when it comes.
    pub(crate) apart: bool,
    /// The title of the new session that the engine makes.
    pub(crate) titled: Option<String>,
}
