//! Links on the screen: cells of a row that lead to an address.

use ratatui::buffer::Buffer;
use std::sync::Arc;

/// Cells of one row that lead to an address. Only such as may be opened are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The first column.
    pub x: u16,
    /// The row.
    pub y: u16,
    /// Width in columns.
    pub width: u16,
    /// The address, in printable ASCII.
    pub url: Arc<str>,
    /// Text of these cells when the link was drawn.
    pub(super) text: String,
}

impl Link {
    /// False where something was drawn over its cells since.
    pub(super) fn is_seen(&self, buf: &Buffer) -> bool {
        text_at(buf, self.x, self.y, self.width) == self.text
    }
}

/// Text of some cells of a row.
pub(super) fn text_at(buf: &Buffer, x: u16, y: u16, width: u16) -> String {
    (x..x.saturating_add(width)).filter_map(|x| buf.cell((x, y))).map(|cell| cell.symbol()).collect()
}
