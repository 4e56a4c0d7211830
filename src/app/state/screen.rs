//! The screen's size, its division into panes, and what the last frame found out.

use super::focus::Shown;
use super::panes::Panes;
use crate::app::msg::Frame;
use crate::domain::status_line::StatusLine;

/// Columns and rows of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// Size and panes of the screen.
#[derive(Debug)]
pub struct ScreenLayout {
    /// The terminal's size.
    pub size: Size,
    /// Pane shown where only one fits.
    pub shown: Shown,
    /// Parts of the status line.
    pub status: StatusLine,
    /// Division of the screen by the user.
    pub panes: Panes,
    /// The line between list and chat is being drawn to a side.
    pub(crate) dragging: bool,
    /// Facts that the last frame found out.
    pub frame: Frame,
}

impl ScreenLayout {
    /// A screen of this size, of which nothing was drawn.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self {
            size,
            shown: Shown::Chat,
            status: StatusLine::default(),
            panes: Panes::default(),
            dragging: false,
            frame: Frame::default(),
        }
    }

    /// Rows that the list has for sessions and headings.
    pub(crate) fn list_height(&self) -> usize {
        usize::from(if self.frame.list_rows > 0 { self.frame.list_rows } else { self.size.height.saturating_sub(3) })
            .max(1)
    }
}
