//! Permissions: one pure function decides on every tool call.
//!
//! No clock, no disk, no environment. The executor gathers the facts, [`decide`] judges them, and the decision is
//! stored with the call. `shell` judges command lines; what it does not know is not read-only.

mod decide;
mod sandbox;
pub mod shell;
mod struck;
#[cfg(test)]
mod tests;

pub use decide::decide;
pub use sandbox::sandbox;
pub use struck::{Struck, hold_struck};

/// An answer that holds for the rest of a session.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", tag = "grant")]
pub enum Grant {
    /// This very command line in this directory.
    Command {
        /// The command line, exactly.
        command: String,
        /// The directory.
        cwd: std::path::PathBuf,
    },
    /// Writes and edits below this directory, protected paths excepted.
    Edits {
        /// The directory.
        below: std::path::PathBuf,
    },
}

/// What the user's settings change in the table of the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What commands may do in Explore.
    pub explore_commands: ExploreCommands,
    /// What becomes of edits below the working directory in Ask to Edit.
    pub ask_edits: AskEdits,
    /// What holds a command that only reads.
    pub hold: shell::Hold,
}

/// What commands may do in Explore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExploreCommands {
    /// Those that are proved to read only run.
    #[default]
    ReadOnly,
    /// None runs.
    Blocked,
}

/// What becomes of edits below the working directory in Ask to Edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskEdits {
    /// They are asked for.
    #[default]
    Prompted,
    /// They are made; protected paths and what lies outside still ask.
    Allowed,
}

/// What may become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs. The text says which row of the table or which grant let it.
    Allow(Allowed),
    /// The user is asked.
    Ask(Question),
    /// It does not run. The sentence tells the model and the user why and what would allow it.
    Deny(String),
}

/// What let a call run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The mode's table.
    ByMode,
    /// An answer given for this session, or a setting, in words.
    ByGrant(String),
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Why it is asked, a sentence each.
    pub reasons: Vec<String>,
    /// What makes it riskier, a few words each.
    pub risks: Vec<String>,
    /// What "this session" would remember; `None` in the rows that are never remembered.
    pub grant: Option<Grant>,
}
