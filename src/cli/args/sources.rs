//! Arguments of `lisle sources`.

use super::complete;
use super::json::Json;
use clap::{ArgGroup, Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCandidates;

/// `lisle sources`.
#[derive(Debug, Subcommand)]
pub enum SourcesCommand {
    /// List sources of the workspace and the project, with what they start or ask.
    #[command(after_help = "Example: lisle sources list --json")]
    List(Json),
    /// Start a source and list its tools.
    #[command(after_help = "Example: lisle sources test files")]
    Test(TestSource),
    /// Add a source to the workspace: a program after "--", or an address.
    ///
    /// Values may name variables of your environment: '${TOKEN}'. They are read when the source starts.
    #[command(
        after_help = "Examples: lisle sources add files -- npx -y @modelcontextprotocol/server-filesystem .\n          \
                            lisle sources add docs https://example.com/mcp --header 'Authorization=Bearer ${DOCS_TOKEN}'"
    )]
    Add(AddSource),
    /// Remove a source from the workspace.
    #[command(after_help = "Example: lisle sources remove files")]
    Remove {
        /// Name.
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::sources))]
        name: String,
    },
    /// Print the log of a source: its standard error, messages of the server, starts and ends.
    #[command(after_help = "Example: lisle sources logs files --lines 20")]
    Logs(SourceLogs),
}

/// `lisle sources test`.
#[derive(Debug, ClapArgs)]
pub struct TestSource {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::sources))]
    pub name: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sources add`.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("target").args(["url", "command"]).required(true))]
pub struct AddSource {
    /// Name: letters, digits, - and _.
    pub name: String,
    /// Address of a server that speaks streamable HTTP.
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Variable of the program.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Header of each request.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "command")]
    pub header: Vec<String>,
    /// Program and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<String>,
}

/// `lisle sources logs`.
#[derive(Debug, ClapArgs)]
pub struct SourceLogs {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::sources))]
    pub name: String,
    /// Last lines at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub lines: usize,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}
