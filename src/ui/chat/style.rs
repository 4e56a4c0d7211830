//! Theme and glyphs that every row is drawn with.

use crate::theme::{Role, Theme};
use crate::ui::glyphs::GlyphSet;
use ratatui::style::Style;

/// Theme and glyphs that every row is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct ChatStyle<'a> {
    /// Styles by role.
    pub theme: &'a Theme,
    /// Glyphs to draw.
    pub glyphs: GlyphSet,
}

impl ChatStyle<'_> {
    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// The glyph `unicode`, or what stands for it in ASCII.
    #[must_use]
    pub fn glyph(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.glyphs {
            GlyphSet::Unicode => unicode,
            GlyphSet::Ascii => ascii,
        }
    }

    /// Sign of truncated text.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        self.glyph("…", "...")
    }
}
