//! Arguments of `lisle extensions`.

use super::json::Json;
use clap::Subcommand;

/// `lisle extensions`.
#[derive(Debug, Subcommand)]
pub enum ExtensionsCommand {
    /// List sources, skills, agents and commands: where each comes from, its state, the tokens that it adds to requests.
    #[command(after_help = "Example: lisle extensions list --json")]
    List(Json),
}
