//! Choice of the theme.

/// Themes there are, and the one in force.
#[derive(Debug, Default)]
pub struct ThemeChoice {
    /// Names of the themes.
    pub names: Vec<String>,
    /// The theme in force; while another one is looked at, the one that comes back.
    pub current: String,
    /// The theme that is looked at while one is chosen.
    pub(crate) previewed: Option<String>,
}
