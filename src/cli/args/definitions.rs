//! Arguments of `lisle labels`, `lisle statuses` and `lisle views`.

use super::Json;
use super::values::value_type;
use crate::domain::property::ValueType;
use clap::Subcommand;

/// `lisle labels`.
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// List them, each below the one that it belongs to.
    List(Json),
    /// Add one, and print its id.
    Add {
        /// Name; the id is made of it.
        name: String,
        /// Below this one, by id or name.
        #[arg(long, value_name = "LABEL")]
        under: Option<String>,
        /// It has a value of this type.
        #[arg(long, value_name = "string|number|date", value_parser = value_type)]
        value: Option<ValueType>,
    },
}

/// `lisle statuses`.
#[derive(Debug, Subcommand)]
pub enum StatusesCommand {
    /// List them in their order.
    List(Json),
    /// Add one at the end, and print its id.
    Add {
        /// Name; the id is made of it.
        name: String,
        /// Sessions of this status are over.
        #[arg(long)]
        closed: bool,
    },
}

/// `lisle views`.
#[derive(Debug, Subcommand)]
pub enum ViewsCommand {
    /// List them.
    List(Json),
    /// Add one, and print its id; one of the same name gets the new condition.
    ///
    /// A condition compares fields with ==, !=, <, <=, >, >=, joins with and, or, not, and asks with in ("a", "b").
    Add {
        /// Name; the id is made of it.
        name: String,
        /// The condition, such as: hasUnread and daysSince(lastUsedAt) < 7
        #[arg(value_name = "CONDITION")]
        expression: String,
    },
}
