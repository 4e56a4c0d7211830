//! Themes: a closed set of roles, each with a style. `role` names them, `parse` reads theme files, `resolve` makes
//! a [`Theme`] of them, `colour` knows what is left of a colour on a terminal with fewer.
//!
//! Which file a theme comes from, and what the terminal can show, is found out by others and given as values.

pub mod colour;
pub mod parse;
pub mod resolve;
pub mod role;
pub mod syntax;

use crate::domain::colour::{Colour, Rgb, System};
pub use colour::Colors;
use ratatui::style::{Color, Modifier, Style};
pub use resolve::{Loaded, ThemeText, builtin_names, load};
pub use role::Role;

/// A resolved theme.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// Made for a dark background.
    pub dark: bool,
    /// One style a role, in the order of [`Role::ALL`].
    styles: Vec<Style>,
    /// What the terminal can show.
    colors: Colors,
}

impl Theme {
    /// A theme without any style: for tests of layout, and for text that is only copied.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            name: "plain".to_owned(),
            dark: true,
            styles: vec![Style::default(); Role::ALL.len()],
            colors: Colors::None,
        }
    }

    /// The style of a role. Roles that have no ground of their own leave the one below as it is.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// The style of a colour that a workspace gave to a status, label or view: of the theme where it names one of the
    /// theme's, else its own, as near as the terminal can show it. Only the text is coloured.
    #[must_use]
    pub fn tag(&self, colour: Colour) -> Style {
        let role = |role: Role| Style { bg: None, ..self.style(role) };
        match colour {
            Colour::System(System::Accent, _) => role(Role::Accent),
            Colour::System(System::Info, _) => role(Role::Warning),
            Colour::System(System::Success, _) => role(Role::Good),
            Colour::System(System::Destructive, _) => role(Role::Error),
            Colour::System(System::Foreground, strength) if strength < 75 => role(Role::Dim),
            Colour::System(System::Foreground, _) => role(Role::Text),
            Colour::Own { light, dark } => {
                let Rgb(r, g, b) = if self.dark { dark } else { light };
                let full = Style::new().fg(Color::Rgb(r, g, b));
                match self.colors {
                    Colors::True => full,
                    Colors::C256 => colour::to_256(full),
                    Colors::C16 => colour::basic(r, g, b).map_or_else(Style::new, |basic| Style::new().fg(basic)),
                    Colors::None => Style::new(),
                }
            }
        }
    }

    /// The built-in theme for a dark or a light background, in full colour.
    #[must_use]
    pub fn builtin(dark: bool) -> Theme {
        load(if dark { "lisle-dark" } else { "lisle-light" }, &[]).theme
    }

    /// The theme as a terminal of so many colours can show it.
    ///
    /// 256: each colour becomes its nearest neighbour. 16: what those cannot say is taken from the theme `ansi`, role
    /// by role, because nobody knows what the 16 look like and only that theme was made for it. None (NO_COLOR): the
    /// theme `mono`, which has bold, underline and reverse only.
    #[must_use]
    pub fn for_terminal(&self, colors: Colors) -> Theme {
        let instead = match colors {
            Colors::True => return self.clone(),
            Colors::C256 => None,
            Colors::C16 => Some(load("ansi", &[]).theme),
            Colors::None => Some(load("mono", &[]).theme),
        };
        let reduced = |(&role, &style): (&Role, &Style)| match (colors, &instead) {
            (Colors::C16, _) if colour::is_basic(style) => style,
            (_, Some(other)) => other.style(role),
            (_, None) => colour::to_256(style),
        };
        let styles = Role::ALL.iter().zip(&self.styles).map(reduced).collect();
        Theme { name: self.name.clone(), dark: self.dark, styles, colors }
    }
}

/// A style as a theme file gives it: what is not said is `None` or empty.
fn style(fg: Option<Color>, bg: Option<Color>, add: Modifier) -> Style {
    Style { fg, bg, add_modifier: add, ..Style::default() }
}

#[cfg(test)]
mod tests;
