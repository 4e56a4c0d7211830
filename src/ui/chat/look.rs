//! Theme and glyphs that every row is drawn with.

use crate::theme::{Role, Theme};
use ratatui::style::Style;

/// Glyphs that the terminal draws well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Glyphs {
    /// Unicode.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Theme and glyphs that every row is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Styles by role.
    pub theme: &'a Theme,
    /// Glyphs to draw.
    pub glyphs: Glyphs,
}

impl Look<'_> {
    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// The glyph `unicode`, or what stands for it in ASCII.
    #[must_use]
    pub fn glyph(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    /// Sign of truncated text.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        self.glyph("…", "...")
    }
}
