//! Arguments of `lisle run`, with those that Fabric has for the same things.

use super::complete;
use super::values::{attachment, connection, limit, session_name, variable};
use crate::domain::ConnectionName;
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCandidates;
use std::path::PathBuf;
use std::time::Duration;

/// `lisle run`.
#[derive(Debug, Default, ClapArgs)]
pub struct RunArgs {
    /// Message; "-" stands for piped input.
    #[arg(value_name = "PROMPT", num_args = 1..)]
    pub prompt: Vec<String>,
    /// Message.
    #[command(flatten)]
    pub input: InputArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// List, print and delete as Fabric does.
    #[command(flatten)]
    pub list: ListingArgs,
}

/// Message of `lisle run`.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Message")]
pub struct InputArgs {
    /// Pattern that frames the message: a name, or the path of a file.
    #[arg(short, long, value_name = "NAME", add = ArgValueCandidates::new(complete::patterns))]
    pub pattern: Option<String>,
    /// Value of a variable of the pattern: NAME=VALUE or NAME:VALUE. May be given several times.
    #[arg(short = 'v', long = "var", alias = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    pub vars: Vec<(String, String)>,
    /// Fill in the variables of the message, too.
    #[arg(long)]
    pub input_has_vars: bool,
    /// Attach a file. May be given several times.
    #[arg(short, long, alias = "attachment", value_name = "FILE", value_parser = attachment, value_hint = ValueHint::FilePath)]
    pub attach: Vec<PathBuf>,
    /// Context for the system prompt; "none" takes it out of a session.
    #[arg(short = 'C', long, value_name = "NAME", add = ArgValueCandidates::new(complete::contexts_or_none))]
    pub context: Option<String>,
    /// Strategy for the system prompt; "none" takes it out of a session.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::strategies_or_none))]
    pub strategy: Option<String>,
    /// Offer the model no tools: it only answers.
    #[arg(long, conflicts_with = "allow")]
    pub no_tools: bool,
    /// Print what would be sent, and send nothing; with --format json as an object.
    #[arg(long)]
    pub dry_run: bool,
    /// Connection, as --connection.
    #[arg(short = 'V', long, value_name = "NAME", value_parser = connection, conflicts_with = "connection", add = ArgValueCandidates::new(complete::connections))]
    pub vendor: Option<ConnectionName>,
}

/// Output of `lisle run`.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Output format: text, json or stream-json.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "output")]
    pub format: Option<RunFormat>,
    /// Older form of --format; json prints every event of the engine.
    #[arg(long, value_enum, value_name = "FORMAT", hide = true)]
    pub output: Option<RunOutput>,
    /// Write the answer to this file as well. It is replaced.
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Write the whole session to the file of -o, as Markdown.
    #[arg(long, requires = "file")]
    pub output_session: bool,
    /// Print the text as it comes also into a pipe, remarks before tool calls included.
    #[arg(short, long)]
    pub stream: bool,
    /// Copy the answer to the clipboard.
    #[arg(short, long)]
    pub copy: bool,
    /// No progress, only errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show progress although stderr is not a terminal.
    #[arg(long)]
    pub verbose: bool,
    /// The answer must be JSON that matches the schema in this file: one retry, then exit status 1.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json_schema: Option<PathBuf>,
}

/// Limits of `lisle run`.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Allow what this rule says for this run, such as "cargo test" or "edit ./src/**".
    #[arg(long, value_name = "RULE", add = ArgValueCandidates::new(complete::tools))]
    pub allow: Vec<String>,
    /// Deny what this rule says for this run, such as "git push *" or "fetch".
    #[arg(long, value_name = "RULE", add = ArgValueCandidates::new(complete::tools))]
    pub deny: Vec<String>,
    /// Requests to the model that the turn may make.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_turns: Option<u32>,
    /// Wait for answers to approvals and questions by people at other clients of the gateway.
    #[arg(long, conflicts_with_all = ["allow", "deny", "max_turns"])]
    pub wait: bool,
    /// Time limit, such as 90s, 5m or seconds; keeps the work done so far.
    #[arg(long, value_name = "TIME", value_parser = limit, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
}

impl LimitArgs {
    /// True if the engine has to know them: one of many clients then is not for this run.
    pub fn are_engines(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty() || self.max_turns.is_some()
    }
}

/// Lists, texts and deletions in the place of a run.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "In the place of a run, as in Fabric")]
#[group(multiple = false, conflicts_with = "prompt")]
pub struct ListingArgs {
    /// List patterns.
    #[arg(short = 'l', long)]
    pub listpatterns: bool,
    /// List strategies.
    #[arg(long)]
    pub liststrategies: bool,
    /// List contexts.
    #[arg(short = 'x', long)]
    pub listcontexts: bool,
    /// List sessions by their names.
    #[arg(short = 'X', long)]
    pub listsessions: bool,
    /// Print a pattern.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::patterns))]
    pub readpattern: Option<String>,
    /// Print a context.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::contexts))]
    pub printcontext: Option<String>,
    /// Print a session.
    #[arg(long, value_name = "NAME", value_parser = session_name, add = ArgValueCandidates::new(complete::sessions))]
    pub printsession: Option<String>,
    /// Delete a context.
    #[arg(short = 'w', long, value_name = "NAME", add = ArgValueCandidates::new(complete::contexts))]
    pub wipecontext: Option<String>,
    /// Move a session to the trash.
    #[arg(short = 'W', long, value_name = "NAME", value_parser = session_name, add = ArgValueCandidates::new(complete::sessions))]
    pub wipesession: Option<String>,
}

/// Output of `lisle run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// The response, or the plan.
    #[default]
    Text,
    /// One JSON object at the end. Its schema: lisle schema result.
    Json,
    /// One JSON object per line as things happen. Their schema: lisle schema events.
    StreamJson,
}

/// Value of the older `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunOutput {
    /// The response, or the plan.
    Text,
    /// Engine events, one JSON object per line. "session" names the session: spawned sessions are
    /// included; the first "opened" is the run's own. "accepted" has the message id.
    Json,
}
