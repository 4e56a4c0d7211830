//! Settings that change the mode table.

use super::shell;

/// Settings that change the mode table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Commands in Explore.
    pub explore_commands: ExploreCommands,
    /// Edits below the working directory in Ask to Edit.
    pub ask_edits: AskEdits,
    /// Confinement of a read-only command.
    pub read_only_profile: shell::ReadOnlyProfile,
    /// Sandbox of every other command, where commands can be confined; not in Explore, where nothing else runs.
    pub sandbox: crate::domain::permission::Sandbox,
}

/// Commands in Explore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExploreCommands {
    /// Commands proved read-only run.
    #[default]
    ReadOnly,
    /// None runs.
    Blocked,
}

/// Edits below the working directory in Ask to Edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskEdits {
    /// Edits ask.
    #[default]
    Prompted,
    /// Edits run; protected paths and those outside still ask.
    Allowed,
}
