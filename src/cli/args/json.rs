//! The option that most lists have.

use clap::Args as ClapArgs;

/// A command that only lists.
#[derive(Debug, ClapArgs)]
pub struct Json {
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}
