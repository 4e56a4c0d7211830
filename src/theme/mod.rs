//! Themes: a closed set of roles, each with a style. `role` names them, `parse` reads theme files, `resolve` makes
//! a [`Theme`] of them, `colour` knows what is left of a colour on a terminal with fewer.
//!
//! The caller gives the text of the theme's file and the abilities of the terminal.

pub mod colour;
pub mod parse;
pub mod resolve;
pub mod role;

use crate::domain::colour::{Colour, Rgb, System};
pub use colour::Colors;
use ratatui::style::{Color, Modifier, Style};
pub use resolve::{LoadedTheme, ThemeText, builtin_names, load};
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
    /// Colours of the terminal.
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
                    Colors::C16 => colour::basic(r, g, b)
                        .filter(|basic| self.dark || colour::is_readable_on_white(*basic))
                        .map_or_else(Style::new, |basic| Style::new().fg(basic)),
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

    /// The theme reduced to the colours of a terminal.
    ///
    /// 256: each colour becomes its nearest neighbour. 16: what those cannot say is taken from the theme `ansi` or
    /// `ansi-light`, role by role, because nobody knows what the 16 look like and only those were made for it. None (NO_COLOR): the
    /// theme `mono`, which has bold, underline and reverse only.
    #[must_use]
    pub fn for_terminal(&self, colors: Colors) -> Theme {
        let instead = match colors {
            Colors::True => return self.clone(),
            Colors::C256 => None,
            Colors::C16 => Some(load(if self.dark { "ansi" } else { "ansi-light" }, &[]).theme),
            Colors::None => Some(load("mono", &[]).theme),
        };
        let reduced = |(&role, &style): (&Role, &Style)| match (colors, &instead) {
            (Colors::C16, _) if colour::is_basic(style) => style,
            (_, Some(other)) => other.style(role),
            (_, None) => colour::to_256(style),
        };
        let styles = Role::ALL.iter().zip(&self.styles).map(reduced).collect();
        let mut theme = Theme { name: self.name.clone(), dark: self.dark, styles, colors };
        if colors == Colors::C256 {
            theme.keep_grounds_apart(self);
        }
        theme
    }

    /// This theme without italics.
    #[must_use]
    pub fn without_italics(&self) -> Theme {
        let mut theme = self.clone();
        theme.styles.iter_mut().for_each(|style| style.add_modifier.remove(Modifier::ITALIC));
        theme
    }

    /// Grounds are close to one another, and the nearest of few colours may be the same for several: then a sheet cannot
    /// be told from what lies below it, nor the line that is chosen from the others; or what stands there is hard to read.
    fn keep_grounds_apart(&mut self, full: &Theme) {
        for (role, below) in GROUNDS {
            let below: Vec<Option<Color>> = below
                .iter()
                .filter(|below| full.style(**below).bg != full.style(role).bg)
                .map(|below| self.style(*below).bg)
                .collect();
            let taken: Vec<Color> = below.into_iter().flatten().collect();
            // The text of a selected row has one colour; elsewhere each keeps its own.
            let own = self.style(role).fg.filter(|_| role == Role::Selected);
            let inks: Vec<Color> = match own {
                Some(ink) => vec![ink],
                None => INKS.iter().filter_map(|ink| self.style(*ink).fg).collect(),
            };
            let readable = |ground| inks.iter().all(|ink| colour::contrast(*ink, ground).is_none_or(|c| c >= 4.1));
            if self.style(role).bg.is_none_or(|near| !taken.contains(&near) && readable(near)) {
                continue;
            }
            let apart = full.style(role).bg.and_then(|wanted| {
                colour::nearest_of(wanted, |n| !taken.contains(&n) && readable(n))
                    .or_else(|| colour::nearest_of(wanted, |n| !taken.contains(&n)))
            });
            if let (Some(style), Some(apart)) = (self.styles.get_mut(role as usize), apart) {
                style.bg = Some(apart);
            }
        }
    }
}

/// Grounds with those that they lie on.
const GROUNDS: [(Role, &[Role]); 5] = [
    (Role::Panel, &[Role::Text]),
    (Role::SelectedDim, &[Role::Text]),
    (Role::Selected, &[Role::Text, Role::Panel]),
    (Role::UserGround, &[Role::Text]),
    (Role::CodeGround, &[Role::Text]),
];

/// Text colours that appear on all of them.
const INKS: [Role; 6] = [Role::Text, Role::Dim, Role::NeedsYou, Role::Running, Role::Unread, Role::Match];

/// A style as a theme file gives it: what is not said is `None` or empty.
fn style(fg: Option<Color>, bg: Option<Color>, add: Modifier) -> Style {
    Style { fg, bg, add_modifier: add, ..Style::default() }
}

#[cfg(test)]
mod tests;
