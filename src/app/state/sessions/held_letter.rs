//! A letter that waits for what follows it.

use crate::app::state::Focus;
use crate::domain::ids::At;
use crate::keymap::action::Action;
use crate::keymap::key::Key;

/// A letter pressed in the list or in the conversation that has not acted yet: perhaps a text is being typed that was meant for the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLetter {
    /// The letter.
    pub key: Key,
    /// Action of the key, if it has one.
    pub action: Option<Action>,
    /// Time of the press.
    pub at: At,
    /// The pane that had the focus.
    pub pane: Focus,
}
