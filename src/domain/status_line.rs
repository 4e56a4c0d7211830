//! Status line: its parts by name, and which stand at which end.

/// Part of the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusPart {
    /// Permission mode.
    Mode,
    /// Number of sessions that need the user.
    NeedsYou,
    /// Sandbox, where it holds less than the mode promises.
    Sandbox,
    /// Commands in the background.
    Jobs,
    /// Model and thinking level.
    Model,
    /// Connection that answers.
    Connection,
    /// Working directory.
    Directory,
    /// Share of the context window in use.
    Context,
    /// Cost of the next request, where it is worth announcing.
    NextCost,
    /// Cost of the session and of those it spawned.
    Cost,
    /// Workflow status of the session.
    Status,
    /// Name of the workspace.
    Workspace,
    /// Keys of the place that has the focus.
    Keys,
}

impl StatusPart {
    /// All of them by their names in config.toml, in their usual order.
    pub const ALL: &'static [(&'static str, StatusPart)] = &[
        ("mode", Self::Mode),
        ("needs-you", Self::NeedsYou),
        ("sandbox", Self::Sandbox),
        ("jobs", Self::Jobs),
        ("model", Self::Model),
        ("connection", Self::Connection),
        ("directory", Self::Directory),
        ("context", Self::Context),
        ("next-cost", Self::NextCost),
        ("cost", Self::Cost),
        ("status", Self::Status),
        ("workspace", Self::Workspace),
        ("keys", Self::Keys),
    ];

    /// Name in config.toml.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// Parts of the status line, from the left to the right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// Parts at the left end.
    pub left: Vec<StatusPart>,
    /// Parts at the right end.
    pub right: Vec<StatusPart>,
}

impl Default for StatusLine {
    fn default() -> Self {
        use StatusPart::{Context, Cost, Directory, Jobs, Keys, Mode, Model, NeedsYou, NextCost, Sandbox};
        Self { left: vec![Mode, NeedsYou, Sandbox, Jobs, Model, Directory, Context, NextCost, Cost], right: vec![Keys] }
    }
}

impl StatusLine {
    /// Names of parts as config.toml writes them.
    #[must_use]
    pub fn names(parts: &[StatusPart]) -> String {
        let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    }
}
