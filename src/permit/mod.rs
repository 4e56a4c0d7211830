//! Permissions: one pure function decides on every tool call.
//!
//! No clock, no disk, no environment. The tool gathers the facts, [`decide`] judges them by the table of the modes
//! (`rows`, for command lines `line_rows`) and by the [`Rules`], and the decision is stored with the call. `shell` judges
//! command lines; what it does not know is not read-only. `matches` says what a rule covers, `grants` what an answer would
//! keep, `access` what a call gets beside its sandbox, `sandbox` what holds back a call that was allowed.

mod access;
mod decide;
mod grants;
mod line_rows;
mod matches;
mod policy;
mod row;
mod rows;
mod rules;
mod sandbox;
pub mod shell;
mod struck;
#[cfg(test)]
mod tests;
mod verdict;

pub use access::extras;
pub use decide::decide;
pub use grants::takes;
pub use line_rows::parts;
pub use matches::{Ground, names_host};
pub use policy::{AskEdits, ExploreCommands, Policy};
pub use rows::is_catastrophic;
pub use rules::{Clause, Rules, StandingRule};
pub use sandbox::sandbox;
pub use struck::{Struck, hold_struck};
pub use verdict::{Allowed, PermissionQuestion, Refusal, Ruled, Verdict};
