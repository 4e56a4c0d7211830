//! Themes: a closed set of roles, each with a style. `role` names them; `parse` reads theme files.

pub mod role;

use ratatui::style::Style;
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
}

impl Theme {
    /// A theme without any style: for tests of layout, and for text that is only copied.
    #[must_use]
    pub fn plain() -> Self {
        Self { name: "plain".to_owned(), dark: true, styles: vec![Style::default(); Role::ALL.len()] }
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }
}
