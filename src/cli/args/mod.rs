//! The arguments of the command line: those of the app and of all commands. Larger groups of commands have a file each.

mod channel;
mod complete;
mod definitions;
mod extensions;
mod gateway;
mod json;
mod prompts;
mod run;
mod sessions;
mod share;
mod shell;
mod sources;
#[cfg(test)]
mod tests;
mod values;

use super::reference::{sentence, statuses};
use crate::domain::nearest::nearest;
use crate::domain::spending::UsageBy;
use crate::domain::{At, ConnectionName, Mode, SessionId};
use crate::runtime::setup::{StartRequest, Which};
pub use channel::{
    ChannelAllow, ChannelCommand, ChannelList, ChannelLogArgs, ChannelRevoke, ChannelSecret, ChannelSend,
};
use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCandidates;
pub use complete::know_program;
pub use definitions::{LabelsCommand, StatusesCommand, ViewsCommand};
pub use extensions::ExtensionsCommand;
pub use gateway::{CallArgs, DetachArgs, GatewayCommand, RestartArgs, ServeArgs, SshArgs, TokenArgs};
pub use json::Json;
pub use prompts::{
    ContextCommand, EditContext, PatternCommand, PatternRun, RenameContext, SetContext, StrategyCommand,
};
pub use run::{InputArgs, LimitArgs, ListingArgs, OutputArgs, RunArgs, RunFormat, RunOutput};
pub use sessions::search_words;
pub use sessions::{
    Branch, CleanupArgs, Delete, Export, Import, ListArgs, Restore, SearchArgs, SessionsCommand, Set, Several,
    ShowArgs, Verify,
};
pub use share::{RevokeArgs, ShareArgs, ShareCommand};
pub use shell::{
    Completions, ConfigCommand, KeymapName, KeysCommand, ListKeys, Man, SchemaCommand, Shell, ShowConfig, ThemeNames,
    ThemesCommand,
};
pub use sources::{AddSource, SourceLogs, SourcesCommand, TestSource};
use std::path::PathBuf;
use values::{connection, session_id, session_name, since};

/// lisle: a full-screen terminal home for agent conversations.
#[derive(Debug, Parser)]
#[command(
    name = "lisle",
    version,
    about,
    disable_version_flag = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Args {
    /// Command; without one the app opens.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// First message, in quotes or after "--".
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,
    /// First message; may look like a command.
    #[arg(last = true, value_name = "PROMPT", hide = true)]
    pub message: Vec<String>,
    /// Line output instead of full screen: for screen readers, plain terminals, pipes and logs.
    #[arg(long, overrides_with = "no_linear")]
    pub linear: bool,
    /// Full screen, overriding `linear` in config.toml.
    #[arg(long)]
    pub no_linear: bool,
    /// Print the version.
    #[arg(short = 'V', long)]
    pub version: bool,
    /// With --version: the build, its folders and the sandbox here, for a report.
    #[arg(long, requires = "version")]
    pub verbose: bool,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// The program's arguments, with the exit statuses of commands in their long help.
pub(super) fn command() -> clap::Command {
    fn told(command: clap::Command, words: &str) -> clap::Command {
        let below: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
        let command = below.iter().fold(command, |command, name| {
            let words = format!("{words} {name}");
            command.mut_subcommand(name, |one| told(one, words.trim_start()))
        });
        let (statuses, true) = statuses(words) else { return command };
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        command.long_about(format!("{about}\n\n{}", sentence(statuses)))
    }
    told(Args::command(), "")
}

/// The arguments of a process.
///
/// # Errors
/// Words of clap about wrong arguments, and help.
pub(super) fn parsed(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Args, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(words)?;
    Args::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
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
        None => format!(" Available: {}.", names.join(", ")),
    };
    let words = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    format!(
        "unknown command {first:?}.{near}\nTo send it as a message: \"lisle run {words}\" prints the response, \
         \"lisle -- {words}\" opens the app."
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
    /// Open this session; a new name makes a new session of that name.
    #[arg(long, value_name = "NAME|ID", global = true, value_parser = session_name, conflicts_with_all = ["continue_last", "new"], add = ArgValueCandidates::new(complete::sessions))]
    pub session: Option<String>,
    /// Open the most recent session.
    #[arg(long = "continue", id = "continue_last", global = true, conflicts_with = "new")]
    pub continue_last: bool,
    /// Start a new session (the default).
    #[arg(long, global = true)]
    pub new: bool,
    /// Connection for a new session: a name from config.toml, or "demo".
    #[arg(long, value_name = "NAME", global = true, value_parser = connection, add = ArgValueCandidates::new(complete::connections))]
    pub connection: Option<ConnectionName>,
    /// Model to use.
    #[arg(short, long, value_name = "NAME", global = true, add = ArgValueCandidates::new(complete::models))]
    pub model: Option<String>,
    /// Permission mode; explore only reads.
    #[arg(long, value_name = "MODE", global = true, value_parser = values::modes(), add = ArgValueCandidates::new(complete::modes))]
    pub mode: Option<Mode>,
    /// Working directory [default: current directory].
    #[arg(long, value_name = "DIR", global = true, value_hint = ValueHint::DirPath)]
    pub cwd: Option<PathBuf>,
    /// Workspace: a folder of sessions, possibly created by another program.
    #[arg(long, value_name = "DIR", global = true, value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,
    /// Run in this process, also where a gateway has this home.
    #[arg(long, global = true)]
    pub no_gateway: bool,
}

impl From<Common> for StartRequest {
    fn from(common: Common) -> Self {
        let which = match common.session {
            Some(name) => Which::Named(name),
            None if common.continue_last => Which::Latest,
            None => Which::New,
        };
        let Common { connection, model, mode, cwd, workspace, no_gateway, .. } = common;
        StartRequest { which, connection, model, mode, cwd, workspace, no_gateway, ..StartRequest::default() }
    }
}

/// Commands without the full screen.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Send one message and print the response. Piped input is added to the message.
    ///
    /// Without a message stdin is the message. With one, a pipe silent for 3 seconds is ignored; "-" as the first or last
    /// word waits for it.
    #[command(
        after_help = "Examples:\n  git diff | lisle run \"review this\" > review.md\n  lisle run --session notes -p summarize < notes.txt"
    )]
    Run(Box<RunArgs>),
    /// Contexts: named texts for the system prompt.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Patterns: named frames for messages.
    #[command(subcommand)]
    Pattern(PatternCommand),
    /// Strategies: named ways of thinking for the system prompt.
    #[command(subcommand)]
    Strategy(StrategyCommand),
    /// List, change, branch, delete and check sessions.
    ///
    /// Results go to stdout, everything else to stderr. Sessions open in another
    /// lisle are not changed.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Share a conversation: everybody with its address can read it.
    ///
    /// It is uploaded to share.endpoint of config.toml, or becomes a page of this machine's gateway. Keys and home paths are
    /// masked. Shared again, an upload keeps its address.
    #[command(
        after_help = "Examples:\n  lisle share 260902-swift-river --expires 7d\n  lisle share list\n  lisle share revoke 0f3c…"
    )]
    Share(ShareArgs),
    /// Print a session's audit log: every tool call with its mode, who allowed or denied it, and
    /// its sandbox.
    #[command(after_help = "Example: lisle audit 260902-swift-river --refused")]
    Audit(Audit),
    /// Print tokens and cost by day, model or session, across all workspaces.
    ///
    /// `?` means that no price is known, `+3?` three requests without one.
    #[command(after_help = "Example: lisle usage --by model --since 7d")]
    Usage(UsageArgs),
    /// Check permissions of commands.
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// Sources: servers of the Model Context Protocol whose tools agents call.
    #[command(subcommand)]
    Sources(SourcesCommand),
    /// Sources, skills, agents and commands in one list.
    #[command(subcommand)]
    Extensions(ExtensionsCommand),
    /// Run the gateway of this home: turns that go on without a screen, and clients that come and go.
    ///
    /// The app joins it by itself. SIGTERM saves and ends.
    #[command(after_help = "Example: lisle serve --background --idle-exit 2h")]
    Serve(ServeArgs),
    /// The gateway of this home: its state, its clients, its end.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Channels: messages of other people, who may write, and what was refused.
    #[command(subcommand)]
    Channel(ChannelCommand),
    /// Open the app with the sessions of another machine, through ssh.
    ///
    /// Nothing listens there: ssh runs "lisle gateway stdio". --workspace names a workspace there.
    #[command(after_help = "Example: lisle ssh build-server --cwd project")]
    Ssh(SshArgs),
    /// Print a help topic, or the list of topics.
    #[command(after_help = "Example: lisle help scripting")]
    Help(Help),
    /// Print a script that completes commands, options and names in a shell.
    #[command(after_help = "Example: source <(lisle completions bash)")]
    Completions(Completions),
    /// Print a man page, or write all of them.
    #[command(after_help = "Examples:\n  lisle man run | man -l -\n  lisle man --dir ~/.local/share/man/man1")]
    Man(Man),
    /// JSON Schemas of what "lisle run" prints and a gateway speaks.
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// The configuration: values, problems, and the file.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Themes: list, show and check them.
    #[command(subcommand)]
    Themes(ThemesCommand),
    /// Keys: list, show and check them.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Check this machine's setup and how to fix what is missing.
    ///
    /// No network requests; keys are never printed.
    #[command(after_help = "Example: lisle doctor --json")]
    Doctor(Doctor),
    /// Reset terminal modes left on by a killed lisle.
    #[command(after_help = "Example: lisle reset-terminal")]
    ResetTerminal,
    /// API keys of connections.
    ///
    /// Keys are never printed.
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Labels of this workspace.
    #[command(subcommand)]
    Labels(LabelsCommand),
    /// Statuses of this workspace.
    #[command(subcommand)]
    Statuses(StatusesCommand),
    /// Views of this workspace: named conditions for the session list.
    #[command(subcommand)]
    Views(ViewsCommand),
}

/// `lisle help`.
#[derive(Debug, ClapArgs)]
pub struct Help {
    /// Help topic.
    #[arg(value_name = "TOPIC", add = ArgValueCandidates::new(complete::topics))]
    pub topic: Option<String>,
}

/// `lisle auth`.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a connection's key, read from piped stdin or a hidden prompt.
    ///
    /// The connection is defined in config.toml, or is anthropic, openai, gemini or openrouter. Its server is asked first:
    /// a key that it refuses is not stored, one that can't be checked is.
    #[command(after_help = "Example: lisle auth add anthropic < key.txt")]
    Add(AuthAdd),
    /// List connections with their servers and key sources.
    #[command(after_help = "Example: lisle auth list --json")]
    List(Json),
    /// Remove a connection's stored key. Environment variables are unchanged.
    #[command(after_help = "Example: lisle auth remove anthropic")]
    Remove(AuthName),
}

/// A connection and its new key.
#[derive(Debug, ClapArgs)]
pub struct AuthAdd {
    /// Connection name.
    #[arg(value_name = "CONNECTION", value_parser = connection, add = ArgValueCandidates::new(complete::connections_to_add))]
    pub name: ConnectionName,
    /// Store the key without asking the server.
    #[arg(long)]
    pub no_check: bool,
}

/// A connection.
#[derive(Debug, ClapArgs)]
pub struct AuthName {
    /// Connection name.
    #[arg(value_name = "CONNECTION", value_parser = connection, add = ArgValueCandidates::new(complete::connections))]
    pub name: ConnectionName,
}

/// `lisle permissions`.
#[derive(Debug, Subcommand)]
pub enum PermissionsCommand {
    /// Show whether a command would run, and why. Runs nothing.
    ///
    /// Prints allow, ask or deny, then one reason per line, as for an agent's call in --cwd and --mode
    /// (default: the mode of new sessions).
    #[command(after_help = "Example: lisle permissions check --mode ask -- 'git push'")]
    Check(Check),
}

/// `lisle permissions check`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("checked").args(["command", "file"]).required(true))]
pub struct Check {
    /// Assume this sandbox [default: this machine's].
    #[arg(long, value_enum, value_name = "SANDBOX")]
    pub sandbox: Option<AssumedSandbox>,
    /// Print a JSON object: command, verdict, reasons.
    #[arg(long)]
    pub json: bool,
    /// Check every line of this file and print one JSON object per line. JSON strings are decoded first.
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub file: Option<PathBuf>,
    /// Command line; words are joined with spaces.
    #[arg(value_name = "COMMAND", num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Sandbox to assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AssumedSandbox {
    /// Read-only sandbox.
    Enforced,
    /// No sandbox.
    None,
}

/// `lisle audit`.
#[derive(Debug, ClapArgs)]
pub struct Audit {
    /// Session id.
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id)]
    pub id: SessionId,
    /// Only refused calls.
    #[arg(long)]
    pub refused: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// `lisle usage`.
#[derive(Debug, ClapArgs)]
pub struct UsageArgs {
    /// Grouping.
    #[arg(long, value_name = "WHAT", value_parser = values::groups(), add = ArgValueCandidates::new(complete::usage_groups))]
    pub by: Option<UsageBy>,
    /// Start: a date (`2026-11-01`) or days back (`7d`).
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
    /// Check one part only.
    #[command(subcommand)]
    pub what: Option<DoctorCommand>,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle doctor` for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum DoctorCommand {
    /// Show what the terminal sends for each key and how lisle handles it.
    ///
    /// Ctrl+C twice or q twice to quit.
    #[command(after_help = "Example: lisle doctor keys")]
    Keys,
    /// Show this machine's sandbox: each protection, gaps, and fixes.
    #[command(after_help = "Example: lisle doctor sandbox")]
    Sandbox,
    /// Print an AppArmor profile that allows user namespaces for lisle.
    ///
    /// Save it as /etc/apparmor.d/lisle and load it with `apparmor_parser -r /etc/apparmor.d/lisle`.
    #[command(after_help = "Example: lisle doctor apparmor > /etc/apparmor.d/lisle")]
    Apparmor,
}
