//! The arguments of the command line: those of the app and of all commands. Larger groups of commands have a file each.

mod definitions;
mod gateway;
mod sessions;
#[cfg(test)]
mod tests;
mod values;

use crate::domain::nearest::nearest;
use crate::domain::spending::UsageBy;
use crate::domain::{At, ConnectionName, Mode, SessionId};
use crate::runtime::setup::{StartRequest, Which};
use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand, ValueEnum};
pub use definitions::{LabelsCommand, StatusesCommand, ViewsCommand};
pub use gateway::{CallArgs, DetachArgs, GatewayCommand, RestartArgs, ServeArgs, ShareArgs, SshArgs, TokenArgs};
pub use sessions::{
    Branch, Delete, Export, Import, ListArgs, Restore, SearchArgs, SessionsCommand, Set, Several, ShowArgs, Verify,
};
use std::path::PathBuf;
use values::{by, connection, mode, session_id, since};

/// lisle: a full-screen terminal home for agent conversations.
#[derive(Debug, Parser)]
#[command(name = "lisle", version, about, disable_help_subcommand = true, max_term_width = 100)]
pub struct Args {
    /// A command; without one the app opens.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// A first message to send when the app has opened: in quotes, or behind "--".
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,
    /// A first message of any words, also of one that could be a command.
    #[arg(last = true, value_name = "PROMPT", hide = true)]
    pub message: Vec<String>,
    /// Lines in place of the full screen: for screen readers, plain terminals, pipes and logs.
    #[arg(long, overrides_with = "no_linear")]
    pub linear: bool,
    /// The full screen, also where `linear` is set in config.toml.
    #[arg(long)]
    pub no_linear: bool,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// The first message for the app.
    ///
    /// # Errors
    /// Words that look like a command which does not exist: what to say, with the nearest one. They are not for a model.
    pub fn prompt(&self) -> Result<Option<String>, String> {
        if !self.message.is_empty() {
            let all: Vec<&str> = self.words.iter().chain(&self.message).map(String::as_str).collect();
            return Ok(Some(all.join(" ")));
        }
        match self.words.as_slice() {
            [] => Ok(None),
            [one] if one.trim().contains(char::is_whitespace) || one.chars().any(needs_no_blanks) => {
                Ok(Some(one.clone()))
            }
            [first, ..] => Err(unknown_command(first, &self.words)),
        }
    }

    /// Choice of linear mode, if one was made.
    #[must_use]
    pub fn wants_lines(&self) -> Option<bool> {
        match (self.linear, self.no_linear) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// Error for words that are no command.
fn unknown_command(first: &str, words: &[String]) -> String {
    let program = Args::command();
    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    let near = match first {
        "version" => Some("--version"),
        _ => nearest(first, names.iter().copied()),
    };
    let near = match near {
        Some(name) => format!(" Did you mean \"lisle {name}\"?"),
        None => format!(" There are: {}.", names.join(", ")),
    };
    let words = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    format!(
        "there is no command {first:?}.{near}\nTo send it as a message: \"lisle run {words}\" prints the answer, \"lisle -- {words}\" opens the app."
    )
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A sign of a script that is written without blanks between words: a message may be one word there.
fn needs_no_blanks(sign: char) -> bool {
    matches!(
        sign,
        // Thai, Lao, Tibetan, Burmese
        '\u{0e00}'..='\u{109f}'
        // Khmer
        | '\u{1780}'..='\u{17ff}'
        // Kana, bopomofo, Han
        | '\u{3040}'..='\u{312f}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
    )
}

/// Options of every command.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "For every command")]
pub struct Common {
    /// Open this session.
    #[arg(long, value_name = "ID", global = true, value_parser = session_id, conflicts_with_all = ["continue_last", "new"])]
    pub session: Option<SessionId>,
    /// Open the session that was used last.
    #[arg(long = "continue", id = "continue_last", global = true, conflicts_with = "new")]
    pub continue_last: bool,
    /// Start a new session (the default).
    #[arg(long, global = true)]
    pub new: bool,
    /// Use this connection for a new session: a name from config.toml, or "demo".
    #[arg(long, value_name = "NAME", global = true, value_parser = connection)]
    pub connection: Option<ConnectionName>,
    /// Use this model.
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// Permission mode: explore (read only), ask, or execute.
    #[arg(long, value_name = "MODE", global = true, value_parser = mode)]
    pub mode: Option<Mode>,
    /// The directory where tools work; the current one without it.
    #[arg(long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// The workspace: a folder of sessions, also one that another program made.
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,
    /// Run in this process, also where a gateway has this home.
    #[arg(long, global = true)]
    pub no_gateway: bool,
}

impl From<Common> for StartRequest {
    fn from(common: Common) -> Self {
        let which = match common.session {
            Some(id) => Which::This(id),
            None if common.continue_last => Which::Latest,
            None => Which::New,
        };
        let Common { connection, model, mode, cwd, workspace, no_gateway, .. } = common;
        StartRequest { which, connection, model, mode, cwd, workspace, last_workspace: false, no_gateway }
    }
}

/// Commands without the screen.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Send one message and print the answer. What is piped in is added to the message.
    ///
    /// A pipe that sends nothing for 3 seconds is left alone; "-" as the first or last word waits for it, and stands for
    /// the message where there are no other words.
    ///
    /// Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but a call was refused, 4 no connection with credentials,
    /// 5 another process has the session open or took it over, 6 done but not all of it could be saved, 130 interrupted.
    Run(RunArgs),
    /// List, change, branch, delete and check sessions.
    ///
    /// Stdout gets the result alone; everything else goes to stderr. A session that another lisle
    /// has open is not changed. Exit status: 0 done, 1 failed, at least for one of several, 2 wrong
    /// arguments.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Print the ledger of a session: every tool call with its mode, who or what let it run or stopped it, and the
    /// sandbox that held it.
    Audit(Audit),
    /// Print what requests used and cost, added up by day, model or session, over all workspaces.
    ///
    /// A cost counts where the price is known; `+3?` says that the price of three requests is not. Exit status: 0 done, 1
    /// failed, 2 wrong arguments.
    Usage(UsageArgs),
    /// Permissions of an agent's commands.
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// Run the gateway of this home: turns that go on without a screen, and clients that come and go.
    ///
    /// The app joins it by itself. SIGTERM saves and ends.
    Serve(ServeArgs),
    /// The gateway of this home: its state, its clients, its end.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Open the app with the sessions of another machine, through ssh.
    ///
    /// Nothing listens there: ssh runs "lisle gateway stdio". --workspace names a workspace there.
    Ssh(SshArgs),
    /// Print a page of the manual, or the list of its pages.
    Help(Help),
    /// Look at what lisle can use here, and say what to do where something is missing.
    ///
    /// Nothing is sent over the network, and no key is printed. Exit status: 0 lisle works, 1 something is broken.
    Doctor(Doctor),
    /// Undo what a killed lisle left on in this terminal: its keys, its mouse, its screen.
    ResetTerminal,
    /// The keys of connections.
    ///
    /// No key is ever printed.
    #[command(subcommand)]
    Auth(AuthCommand),
    /// The labels that sessions of this workspace can have.
    #[command(subcommand)]
    Labels(LabelsCommand),
    /// The statuses that sessions of this workspace can have.
    #[command(subcommand)]
    Statuses(StatusesCommand),
    /// The views of this workspace: named conditions for the list of sessions.
    #[command(subcommand)]
    Views(ViewsCommand),
}

/// `lisle help`.
#[derive(Debug, ClapArgs)]
pub struct Help {
    /// Page of the manual.
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,
}

/// `lisle run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Output format.
    #[arg(long, value_enum, default_value_t = RunOutput::Text)]
    pub output: RunOutput,
    /// Time limit of the run in seconds; it ends with what there is by then.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub timeout: Option<u64>,
    /// The message; "-" is what is piped in.
    #[arg(required = true, value_name = "PROMPT", num_args = 1..)]
    pub prompt: Vec<String>,
}

/// Output of `lisle run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunOutput {
    /// The answer, or the plan.
    Text,
    /// Every event of the engine, one JSON object a line. "session" says whose it is: those of spawned sessions are among
    /// them, the run's own session is the one of the first "opened". "accepted" has the id of the message.
    Json,
}

/// `lisle auth`.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store the key of a connection: from stdin when something is piped in, else asked for without showing it.
    ///
    /// The connection is one of config.toml, or one of anthropic, openai, gemini and openrouter, which need no lines there.
    Add(AuthName),
    /// List the connections, the servers that their keys go to, and where the keys come from.
    List(Json),
    /// Take the stored key of a connection out. A variable of the environment stays what it is.
    Remove(AuthName),
}

/// A connection.
#[derive(Debug, ClapArgs)]
pub struct AuthName {
    /// Connection name.
    #[arg(value_name = "CONNECTION", value_parser = connection)]
    pub name: ConnectionName,
}

/// `lisle permissions`.
#[derive(Debug, Subcommand)]
pub enum PermissionsCommand {
    /// Tell what would become of a command, and why. Nothing is run.
    ///
    /// Prints allow, ask or deny, then a reason a line. It is decided as for a call of an agent in --cwd and --mode; without
    /// --mode in the mode that the settings give new sessions.
    ///
    /// Exit status: 0 it would run, 10 it would be asked for, 11 it would be refused, 1 the file could not be read, 2 wrong
    /// arguments. With --file the strictest of all lines.
    Check(Check),
}

/// `lisle permissions check`.
#[derive(Debug, ClapArgs)]
pub struct Check {
    /// Decide as if commands were held by a sandbox, or by none; without it as this machine can.
    #[arg(long, value_enum, value_name = "SANDBOX")]
    pub sandbox: Option<AssumedSandbox>,
    /// Print a JSON object: command, verdict, reasons.
    #[arg(long)]
    pub json: bool,
    /// Check every line of this file, and print a JSON object for each. A line that is a JSON string is decoded first.
    #[arg(long, value_name = "FILE", conflicts_with = "command", required_unless_present = "command")]
    pub file: Option<PathBuf>,
    /// The command line. Several words are joined with blanks.
    #[arg(value_name = "COMMAND", num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Sandbox to assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AssumedSandbox {
    /// The read-only profile holds them.
    Enforced,
    /// Nothing does.
    None,
}

/// A command that only lists.
#[derive(Debug, ClapArgs)]
pub struct Json {
    /// As a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle audit`.
#[derive(Debug, ClapArgs)]
pub struct Audit {
    /// Session id.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: SessionId,
    /// Only the calls that were refused.
    #[arg(long)]
    pub refused: bool,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}

/// `lisle usage`.
#[derive(Debug, ClapArgs)]
pub struct UsageArgs {
    /// Added up by: day, model or session.
    #[arg(long, value_name = "WHAT", value_parser = by)]
    pub by: Option<UsageBy>,
    /// Start of the period: a day (`2026-11-01`), or a number of days back (`7d`).
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<At>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle doctor`.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Doctor {
    /// One part of the check.
    #[command(subcommand)]
    pub what: Option<DoctorCommand>,
    /// As a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle doctor` for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum DoctorCommand {
    /// Show what the terminal sends for each key, what lisle takes it for, and what it does in each place.
    ///
    /// Ctrl+C twice or q twice ends it.
    Keys,
    /// Show the sandbox of this machine: each wall, what is open where one is missing, and what to do.
    Sandbox,
    /// Print a profile for AppArmor that lets lisle make user namespaces.
    ///
    /// Save it as /etc/apparmor.d/lisle and load it with `apparmor_parser -r /etc/apparmor.d/lisle`.
    Apparmor,
}
