//! The way to the end of the program.

use crate::keymap::key::Key;
use std::path::PathBuf;

/// The way to the end of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quit {
    /// No quit is pending.
    #[default]
    No,
    /// This key pressed once more quits, until the timer runs out.
    OnceMore(Key),
    /// The engine was told to end; its last event is awaited.
    Ending,
}

/// The way to the end, and what comes after it.
#[derive(Debug, Default)]
pub struct QuitState {
    /// The way to the end.
    pub quit: Quit,
    /// The workspace that is opened when this one has ended.
    pub(crate) workspace: Option<PathBuf>,
}
