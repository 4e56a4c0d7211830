//! Arguments of `lisle serve`, `lisle gateway` and `lisle ssh`.

use super::complete;
use super::values::{self, address, span, token_name};
use crate::protocol::Scope;
use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use std::net::SocketAddr;
use std::path::PathBuf;
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
    /// Also listen on this address for HTTP and WebSocket, such as 127.0.0.1:7788. Clients need a token.
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Serve pages of shared conversations on this address, to everybody who has theirs.
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub share_listen: Option<SocketAddr>,
    /// Encrypt with this certificate, a file in PEM with the certificates above it.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, a file in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front encrypts, and says in X-Forwarded-For who asks.
    #[arg(long, conflicts_with = "tls_cert")]
    pub behind_proxy: bool,
    /// Name by which browsers reach it, beside addresses and localhost. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Print a unit for systemd --user, and end.
    #[arg(long)]
    pub unit: bool,
}

/// `lisle gateway`.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Show the gateway of this home: its process, clients, workspaces, and what runs in it.
    #[command(after_help = "Example: lisle gateway status --json")]
    Status(Printed),
    /// Save all sessions and end the gateway. Turns that run are stopped; Enter continues them later.
    #[command(after_help = "Example: lisle gateway stop")]
    Stop,
    /// Call a method, and print its result as JSON.
    #[command(after_help = "Example: lisle gateway call gateway.status")]
    Call(CallArgs),
    /// List the clients, also those that lost their line lately.
    #[command(after_help = "Example: lisle gateway clients --json")]
    Clients(Printed),
    /// Cut a client off.
    #[command(after_help = "Example: lisle gateway detach c3")]
    Detach(DetachArgs),
    /// End the gateway and start the lisle that is installed now.
    #[command(after_help = "Example: lisle gateway restart --when-idle")]
    Restart(RestartArgs),
    /// Print the owner's token for clients over the network, or manage tokens.
    #[command(after_help = "Example: lisle gateway token --name phone --scopes read,approve")]
    Token(TokenArgs),
    /// Print an address that lets one browser read sessions, once.
    #[command(after_help = "Example: lisle gateway link")]
    Link,
    /// Lead a client on stdin and stdout to the gateway, which is started if none runs: the far end of lisle ssh.
    #[command(after_help = "Example: ssh build-server lisle gateway stdio")]
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

/// `lisle gateway token`.
#[derive(Debug, ClapArgs)]
pub struct TokenArgs {
    /// Token that is meant; without it the owner's, which has all scopes.
    #[arg(long, value_name = "NAME", value_parser = token_name, add = ArgValueCandidates::new(complete::tokens))]
    pub name: Option<String>,
    /// Make a token with these scopes, divided by commas. It is printed once.
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = values::scopes(), add = ArgValueCandidates::new(complete::scopes), requires = "name", conflicts_with_all = ["rotate", "list", "revoke"])]
    pub scopes: Vec<Scope>,
    /// Replace the token by a new one; clients of the old one are cut off.
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub rotate: bool,
    /// List names and scopes.
    #[arg(long, conflicts_with_all = ["name", "revoke"])]
    pub list: bool,
    /// With --list: a JSON array.
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Remove the token of this name; its clients are cut off.
    #[arg(long, value_name = "NAME", conflicts_with = "name", add = ArgValueCandidates::new(complete::tokens))]
    pub revoke: Option<String>,
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
    /// Host as ssh takes it, or a machine named in config.toml.
    #[arg(value_name = "HOST", add = ArgValueCandidates::new(complete::machines))]
    pub host: String,
}
