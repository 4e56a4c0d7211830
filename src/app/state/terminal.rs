//! Abilities and state of the terminal.

/// Abilities and state of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// It has the focus of its window system, as far as is known.
    pub focused: bool,
    /// Its background is dark; `None` while it has not answered.
    pub dark: Option<bool>,
    /// Its title as last set.
    pub title: String,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { focused: true, dark: None, title: String::new() }
    }
}
