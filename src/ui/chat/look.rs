//! What every row is drawn with: the theme and the glyphs.

use crate::theme::{Role, Theme};
use ratatui::style::Style;

/// Which glyphs the terminal draws well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Glyphs {
    /// Unicode.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// What every row is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Styles by role.
    pub theme: &'a Theme,
    /// Which glyphs.
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

    /// What tells that text was cut off.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        self.glyph("…", "...")
    }
}
