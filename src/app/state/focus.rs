//! Focus of the keys, and the pane that is shown where only one fits.

/// Focus of the keys when no overlay is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The list of sessions.
    List,
    /// The conversation.
    Chat,
    /// The composer.
    #[default]
    Composer,
    /// The panel of what is asked. Only a deliberate act of the user leads here.
    Panel,
}

/// Pane on the screen where only one fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// The conversation with its composer.
    #[default]
    Chat,
    /// The list.
    List,
}
