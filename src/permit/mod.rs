//! Permissions: one pure function decides on every tool call.
//!
//! No clock, no disk, no environment. The executor gathers the facts, [`decide`] judges them by the table of the modes
//! (`rows`) and by the [`Rules`], and the decision is stored with the call. `shell` judges command lines; what it does
//! not know is not read-only. `matches` says what a rule covers, `grants` what an answer would keep, `access`
//! what a call gets beside its sandbox, `sandbox` what
//! holds back a call that was allowed.

mod access;
mod decide;
mod grants;
mod matches;
mod rows;
mod rules;
mod sandbox;
pub mod shell;
mod struck;
#[cfg(test)]
mod tests;

pub use access::extras;
pub use decide::decide;
pub use grants::takes;
pub use matches::{Ground, names_host};
pub use rows::{is_catastrophic, parts};
pub use rules::{Clause, Rules, Standing};
pub use sandbox::sandbox;
pub use struck::{Struck, hold_struck};

use crate::domain::rule::{Offer, RuleScope};

/// Settings that change the mode table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Commands in Explore.
    pub explore_commands: ExploreCommands,
    /// Edits below the working directory in Ask to Edit.
    pub ask_edits: AskEdits,
    /// Confinement of a read-only command.
    pub hold: shell::Hold,
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

/// Verdict on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow(Allowed),
    /// The user is asked.
    Ask(Question),
    /// It does not run.
    Deny(Refusal),
}

/// Reason why a call runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The mode's table.
    ByMode,
    /// A setting of config.toml, as written.
    BySetting(&'static str),
    /// Rules, one for each thing that would have been asked.
    ByRules(Ruled),
}

/// Reason why a call does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A sentence for the model and the user: why, and what would allow it.
    pub reason: String,
    /// The rule that denies it; `None` where it is the table's doing.
    pub rule: Option<Ruled>,
}

/// The rules that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled {
    /// Their places in [`Rules::standing`].
    pub at: Vec<usize>,
    /// Rule and its scope: `cargo test (this workspace)`.
    pub words: String,
    /// All of them are answers that hold for this session alone.
    pub by_answer: bool,
}

/// Question for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Reasons, a sentence each.
    pub reasons: Vec<String>,
    /// Risks, a few words each.
    pub risks: Vec<String>,
    /// The rules that an answer would keep, one for each part that no rule allows; empty in the rows that are never
    /// remembered.
    pub offers: Vec<Offer>,
    /// Scopes in which they can be remembered; empty if there are none.
    pub scopes: Vec<RuleScope>,
    /// It is asked every time, whatever is allowed: a row that is never remembered, or a rule that asks.
    pub every_time: bool,
    /// The rule that asks; `None` where it is the table's doing.
    pub rule: Option<Ruled>,
}
