//! Arguments of `lisle labels`, `lisle statuses` and `lisle views`.

use super::complete;
use super::json::Json;
use super::values;
use crate::domain::property::ValueType;
use clap::Subcommand;
use clap_complete::engine::ArgValueCandidates;

/// `lisle labels`.
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// List labels as a tree.
    #[command(after_help = "Example: lisle labels list --json")]
    List(Json),
    /// Add one and print its id.
    #[command(after_help = "Example: lisle labels add Priority --value number")]
    Add {
        /// Name; the id is derived from it.
        name: String,
        /// Parent, by id or name.
        #[arg(long, value_name = "LABEL", add = ArgValueCandidates::new(complete::labels))]
        under: Option<String>,
        /// Type of its value.
        #[arg(long, value_name = "TYPE", value_parser = values::value_types(), add = ArgValueCandidates::new(complete::value_types))]
        value: Option<ValueType>,
    },
}

/// `lisle statuses`.
#[derive(Debug, Subcommand)]
pub enum StatusesCommand {
    /// List statuses in order.
    #[command(after_help = "Example: lisle statuses list --json")]
    List(Json),
    /// Add one at the end and print its id.
    #[command(after_help = "Example: lisle statuses add Shipped --closed")]
    Add {
        /// Name; the id is derived from it.
        name: String,
        /// Closed: sessions with this status are finished.
        #[arg(long)]
        closed: bool,
    },
}

/// `lisle views`.
#[derive(Debug, Subcommand)]
pub enum ViewsCommand {
    /// List views.
    #[command(after_help = "Example: lisle views list --json")]
    List(Json),
    /// Add or replace one and print its id.
    ///
    /// A condition compares fields with ==, !=, <, <=, >, >= or in ("a", "b"), combined with and, or, not.
    #[command(after_help = "Example: lisle views add Stale 'hasUnread and daysSince(lastUsedAt) > 7'")]
    Add {
        /// Name; the id is derived from it.
        name: String,
        /// Condition, for example: hasUnread and daysSince(lastUsedAt) < 7
        #[arg(value_name = "CONDITION")]
        expression: String,
    },
}
