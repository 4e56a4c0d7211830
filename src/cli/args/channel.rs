//! Arguments of `lisle channel`.

use super::complete;
use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCandidates;

/// `lisle channel`.
#[derive(Debug, Subcommand)]
pub enum ChannelCommand {
    /// List the channels with their senders, pairing requests, and what waits.
    #[command(after_help = "Example: lisle channel list --json")]
    List(ChannelList),
    /// Let a sender write on a channel: by id, or by the code that the sender was given.
    #[command(
        after_help = "Examples:\n  lisle channel allow telegram 123456789\n  lisle channel allow telegram --code ABCD2345"
    )]
    Allow(ChannelAllow),
    /// Remove a sender from the list of a channel.
    #[command(after_help = "Example: lisle channel revoke telegram 123456789")]
    Revoke(ChannelRevoke),
    /// Print the secret that signs requests of a channel and replies to it; it is made if there is none.
    #[command(after_help = "Example: lisle channel secret telegram")]
    Secret(ChannelSecret),
    /// Send a message as a person on a channel, through the gateway: for scripts and cron.
    #[command(after_help = "Example: lisle channel send --channel cron --from backup \"Check the last backup\"")]
    Send(ChannelSend),
    /// Print what was refused, withheld, given up or commanded.
    #[command(after_help = "Example: lisle channel log --json")]
    Log(ChannelLogArgs),
}

/// `lisle channel list`.
#[derive(Debug, ClapArgs)]
pub struct ChannelList {
    /// Print a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle channel allow`.
#[derive(Debug, ClapArgs)]
pub struct ChannelAllow {
    /// Channel, as in [channels.NAME].
    #[arg(value_name = "CHANNEL", add = ArgValueCandidates::new(complete::channels))]
    pub channel: String,
    /// Id of the sender on the channel, or * for everybody.
    #[arg(value_name = "SENDER", required_unless_present = "code", conflicts_with = "code")]
    pub sender: Option<String>,
    /// Pairing code of the sender.
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
}

/// `lisle channel revoke`.
#[derive(Debug, ClapArgs)]
pub struct ChannelRevoke {
    /// Channel, as in [channels.NAME].
    #[arg(value_name = "CHANNEL", add = ArgValueCandidates::new(complete::channels))]
    pub channel: String,
    /// Id of the sender on the channel, or *.
    #[arg(value_name = "SENDER")]
    pub sender: String,
}

/// `lisle channel secret`.
#[derive(Debug, ClapArgs)]
pub struct ChannelSecret {
    /// Channel, as in [channels.NAME].
    #[arg(value_name = "CHANNEL", add = ArgValueCandidates::new(complete::channels))]
    pub channel: String,
    /// Make a new one in its place.
    #[arg(long)]
    pub rotate: bool,
}

/// `lisle channel send`.
#[derive(Debug, ClapArgs)]
pub struct ChannelSend {
    /// Channel, as in [channels.NAME].
    #[arg(long, value_name = "CHANNEL", add = ArgValueCandidates::new(complete::channels))]
    pub channel: String,
    /// Id of the sender.
    #[arg(long, value_name = "SENDER")]
    pub from: String,
    /// Id of a group; without one it is a direct message.
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Id of a thread.
    #[arg(long, value_name = "THREAD")]
    pub thread: Option<String>,
    /// Id of the message: sent again with the same one, nothing is done.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Text; "-" reads it from stdin.
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `lisle channel log`.
#[derive(Debug, ClapArgs)]
pub struct ChannelLogArgs {
    /// Most lines.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub last: usize,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}
