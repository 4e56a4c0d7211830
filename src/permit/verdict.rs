//! Verdict on a call, with its reasons.

use crate::domain::rule::{Offer, RuleScope};

/// Verdict on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed.
    Allow(Allowed),
    /// The user is asked.
    Ask(PermissionQuestion),
    /// Denied.
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
    /// Their places in [`super::Rules::standing`].
    pub at: Vec<usize>,
    /// Rule and its scope: `cargo test (this workspace)`.
    pub words: String,
    /// All of them are answers that hold for this session alone.
    pub by_answer: bool,
}

/// Question for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionQuestion {
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
