//! Arguments of `lisle serve`, `lisle gateway` and `lisle ssh`.

use super::values::span;
use clap::{Args as ClapArgs, Subcommand};
use std::time::Duration;

/// `lisle serve`.
#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// Run in the background, without a terminal; returns once it listens.
    #[arg(long, conflicts_with = "unit")]
    pub background: bool,
    /// This process is the one in the background.
    #[arg(long, hide = true, conflicts_with_all = ["background", "unit"])]
    pub in_background: bool,
    /// End after this time without clients, turns and questions, such as 30m.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub idle_exit: Option<Duration>,
    /// Print a unit for systemd --user, and end.
    #[arg(long)]
    pub unit: bool,
}

/// `lisle gateway`.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Show the gateway of this home: its process, clients, workspaces, and what runs in it.
    ///
    /// Exit status: 0 it runs, 1 none runs or it cannot be reached.
    Status(Printed),
    /// Save all sessions and end the gateway. Turns that run are stopped; Enter continues them later.
    Stop,
    /// Call a method, and print its result as JSON.
    Call(CallArgs),
    /// List the clients, also those that lost their line lately.
    Clients(Printed),
    /// Cut a client off.
    Detach(DetachArgs),
    /// End the gateway and start the lisle that is installed now.
    Restart(RestartArgs),
    /// Lead a client on stdin and stdout to the gateway, which is started if none runs: the far end of lisle ssh.
    Stdio,
}

/// Form of what is printed.
#[derive(Debug, ClapArgs)]
pub struct Printed {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `lisle gateway call`.
#[derive(Debug, ClapArgs)]
pub struct CallArgs {
    /// Method, such as gateway.status.
    pub method: String,
    /// Parameters as JSON.
    #[arg(long, value_name = "JSON")]
    pub params: Option<String>,
}

/// `lisle gateway detach`.
#[derive(Debug, ClapArgs)]
pub struct DetachArgs {
    /// Id, as lisle gateway clients prints it.
    #[arg(value_name = "CLIENT")]
    pub client: String,
}

/// `lisle gateway restart`.
#[derive(Debug, ClapArgs)]
pub struct RestartArgs {
    /// Wait until no turn runs.
    #[arg(long)]
    pub when_idle: bool,
}

/// `lisle ssh`.
#[derive(Debug, ClapArgs)]
pub struct SshArgs {
    /// Host as ssh takes it, or a name of [machines] in config.toml.
    #[arg(value_name = "HOST")]
    pub host: String,
}
