//! Arguments of `lisle share`.

use super::complete;
use super::json::Json;
use super::values::{session_id, span};
use crate::domain::SessionId;
use clap::{Args as ClapArgs, Subcommand};
use clap_complete::ArgValueCandidates;
use std::time::Duration;

/// `lisle share`.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ShareArgs {
    /// Manage shares.
    #[command(subcommand)]
    pub command: Option<ShareCommand>,
    /// Session to share, by id or name.
    #[arg(id = "shared", value_name = "SESSION", required = true, value_parser = session_id, add = ArgValueCandidates::new(complete::sessions))]
    pub session: Option<SessionId>,
    /// Time after which it can no longer be read, such as 7d.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub expires: Option<Duration>,
    /// Print a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle share list`, `lisle share revoke`.
#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// List shared conversations, latest first.
    #[command(after_help = "Example: lisle share list --json")]
    List(Json),
    /// Revoke shares: their addresses lead nowhere, and uploads are deleted from their server.
    #[command(after_help = "Example: lisle share revoke 0f3c…")]
    Revoke(RevokeArgs),
}

/// `lisle share revoke`.
#[derive(Debug, ClapArgs)]
pub struct RevokeArgs {
    /// Ids, as lisle share list prints them; of a session, by id or name, all shares are revoked.
    #[arg(value_name = "ID", required = true, add = ArgValueCandidates::new(complete::shares))]
    pub ids: Vec<String>,
}
