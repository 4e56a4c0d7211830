//! Division of the screen by the user: the width of the list, hidden panes.

use serde::{Deserialize, Serialize};

/// Cells that the list has at the least where it is shown beside the chat.
pub const LEAST: u16 = 16;
/// Cells that the chat keeps.
pub const CHAT: u16 = 40;
/// Cells that a key makes the list wider.
pub const STEP: u16 = 4;

/// Visibility of a pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Show {
    /// Shown where there is room.
    #[default]
    Yes,
    /// Not at all.
    No,
}

impl Show {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Show::Yes => Show::No,
            Show::No => Show::Yes,
        }
    }
}

/// Division of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Panes {
    /// Cells of the list; `None` follows the width of the screen.
    pub list_width: Option<u16>,
    /// The list beside the chat.
    pub list: Show,
    /// The details beside the chat, on a wide screen.
    pub details: Show,
    /// Only the conversation and the composer. Not remembered: it is for now.
    #[serde(skip)]
    pub only_chat: bool,
}

impl Panes {
    /// True if the list stands beside the chat where there is room.
    #[must_use]
    pub fn lists(&self) -> bool {
        self.list == Show::Yes && !self.only_chat
    }

    /// True if the details are shown where there is room.
    #[must_use]
    pub fn details(&self) -> bool {
        self.details == Show::Yes && !self.only_chat
    }

    /// Width of the list on a screen of this width.
    pub fn resize(&mut self, cells: u16, screen: u16) {
        let most = screen.saturating_sub(CHAT).max(LEAST);
        self.list_width = Some(cells.clamp(LEAST, most));
    }
}
