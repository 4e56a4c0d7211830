//! The arguments of the command line.

use crate::domain::export::Format;
use crate::domain::inbox::TrashId;
use crate::domain::nearest::nearest;
use crate::domain::property::ValueType;
use crate::domain::spending::UsageBy;
use crate::domain::{At, ConnectionName, MessageId, Mode, SessionId};
use crate::runtime::setup::{StartRequest, Which};
use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

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
}

impl From<Common> for StartRequest {
    fn from(common: Common) -> Self {
        let which = match common.session {
            Some(id) => Which::This(id),
            None if common.continue_last => Which::Latest,
            None => Which::New,
        };
        let Common { connection, model, mode, cwd, workspace, .. } = common;
        StartRequest { which, connection, model, mode, cwd, workspace, last_workspace: false }
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

/// `lisle sessions`.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions, the latest first.
    List(ListArgs),
    /// Print a session.
    Show(ShowArgs),
    /// Write the conversation of a session as markdown, a page, plain text, or its own lines.
    ///
    /// Keys and passwords are masked. Without --out it goes to stdout; an existing file stays, and
    /// the new one gets a number.
    Export(Export),
    /// Make a session of one of another program, and print its id.
    ///
    /// A folder or session.jsonl of lisle or Craft Agents, a transcript of Claude Code (~/.claude/projects/*/*.jsonl), or a
    /// rollout of Codex (~/.codex/sessions/**/*.jsonl). The source is only read; omissions are reported.
    Import(Import),
    /// Search titles, ids, labels, messages, commands, paths and outputs of all sessions.
    ///
    /// Every word must be somewhere in the session; the rows that hold any of them are printed, those with the most first.
    /// Words match anywhere; case, accents and width do not count. "exact phrase", -without, and the filters status:
    /// label: tool: file: in:title|user|assistant|tool after: before: with 2026-11-01, yesterday, 7d, 3m.
    ///
    /// Exit status: 0 found, 1 nothing found, 2 the query is wrong.
    Search(SearchArgs),
    /// Change the title, the status, the labels and other properties.
    ///
    /// Also --mode and --cwd are set where they are given. Several sessions can be changed at once.
    Set(Set),
    /// Make a new session with the history of another one, and print its id.
    ///
    /// The other session stays as it is.
    Branch(Branch),
    /// Take sessions out of the list; they stay as they are.
    Archive(Several),
    /// Put archived sessions back into the list.
    Unarchive(Several),
    /// Move sessions to the trash, and print their names there.
    ///
    /// `lisle sessions restore` takes them out again for 30 days.
    Delete(Delete),
    /// List what is in the trash, the latest first.
    Trash(Json),
    /// Take sessions out of the trash, and print their ids.
    ///
    /// A session whose id is taken meanwhile gets another one.
    Restore(Restore),
    /// Look whether the files of sessions are whole.
    ///
    /// Exit status: 0 all of them are, 1 something is odd or could not be read.
    Verify(Verify),
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

/// `lisle sessions list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Also the archived and the hidden ones.
    #[arg(long, conflicts_with = "archived")]
    pub all: bool,
    /// Only the archived ones.
    #[arg(long)]
    pub archived: bool,
    /// Only the flagged ones.
    #[arg(long)]
    pub flagged: bool,
    /// Only those with something new in them.
    #[arg(long)]
    pub unread: bool,
    /// Only those of this status, by id or name; given several times, of any of them.
    #[arg(long, value_name = "STATUS")]
    pub status: Vec<String>,
    /// Only those with this label or one below it, by id or name; given several times, with all of them.
    #[arg(long, value_name = "LABEL")]
    pub label: Vec<String>,
    /// Only those of this view, by id or name.
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    /// As a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions search`.
#[derive(Debug, ClapArgs)]
pub struct SearchArgs {
    /// One JSON object a line for each session, as they are found.
    #[arg(long)]
    pub json: bool,
    /// Query.
    #[arg(required = true, value_name = "QUERY", num_args = 1.., allow_hyphen_values = true)]
    pub query: Vec<String>,
}

/// `lisle sessions show`.
#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// Session id.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: SessionId,
    /// As a JSON object with `meta` and `messages`.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions export`.
#[derive(Debug, ClapArgs)]
pub struct Export {
    /// Session id.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: SessionId,
    /// md, html, json or text; without it what the name of the file says, else md.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,
    /// Write this file, or one of a name from the title in this folder, and print its path.
    #[arg(long = "out", short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
}

fn format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| "it is md, html, json or text".to_owned())
}

/// `lisle sessions import`.
#[derive(Debug, ClapArgs)]
pub struct Import {
    /// The folder or file.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Print the new session as a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions set`.
#[derive(Debug, ClapArgs)]
pub struct Set {
    /// Session ids.
    #[arg(value_name = "ID", value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// The title; no generated one ever takes its place.
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// The status, by id or name.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Gives a label, by id or name, with its value behind "::"; one of the same label is replaced.
    #[arg(long, value_name = "LABEL[::VALUE]")]
    pub label: Vec<String>,
    /// Takes a label away, whatever its value.
    #[arg(long, value_name = "LABEL")]
    pub unlabel: Vec<String>,
    /// Flags it.
    #[arg(long, conflicts_with = "unflag")]
    pub flag: bool,
    /// Takes the flag away.
    #[arg(long)]
    pub unflag: bool,
    /// Marks it as unread.
    #[arg(long, conflicts_with = "read")]
    pub unread: bool,
    /// Marks it as read.
    #[arg(long)]
    pub read: bool,
    /// Hides it: only "list --all" has it then.
    #[arg(long, conflicts_with = "unhide")]
    pub hide: bool,
    /// Hides it no more.
    #[arg(long)]
    pub unhide: bool,
    /// Print the changed sessions as a JSON array.
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

fn by(text: &str) -> Result<UsageBy, String> {
    match text {
        "day" => Ok(UsageBy::Day),
        "model" => Ok(UsageBy::Model),
        "session" => Ok(UsageBy::Session),
        _ => Err("it is day, model or session".to_owned()),
    }
}

fn since(text: &str) -> Result<At, String> {
    let wrong = || "it is a day like 2026-11-01, or a number of days like 7d".to_owned();
    let zone = jiff::tz::TimeZone::system();
    let date = match text.strip_suffix('d').map(str::parse::<u16>) {
        Some(days) => {
            let today = jiff::Zoned::now().date();
            today.checked_sub(jiff::Span::new().days(days.map_err(|_| wrong())?)).map_err(|_| wrong())?
        }
        None => text.parse::<jiff::civil::Date>().map_err(|_| wrong())?,
    };
    date.to_zoned(zone).map(|start| At(start.timestamp().as_millisecond())).map_err(|_| wrong())
}

/// `lisle sessions branch`.
#[derive(Debug, ClapArgs)]
pub struct Branch {
    /// Session id.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: SessionId,
    /// Last message to include, by its id in "show --json"; all messages without it.
    #[arg(long, value_name = "MESSAGE", value_parser = message_id)]
    pub at: Option<MessageId>,
    /// Title of the new session; without it the title of the session with the next number behind it.
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Print the new session as a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions archive` and `unarchive`.
#[derive(Debug, ClapArgs)]
pub struct Several {
    /// Session ids.
    #[arg(value_name = "ID", value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// Print the changed sessions as a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions delete`.
#[derive(Debug, ClapArgs)]
pub struct Delete {
    /// Session ids.
    #[arg(value_name = "ID", value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// Not to the trash: gone at once, with no way back.
    #[arg(long)]
    pub now: bool,
    /// Do not ask. Needed where nobody can be asked.
    #[arg(long, short)]
    pub yes: bool,
}

/// `lisle sessions restore`.
#[derive(Debug, ClapArgs)]
pub struct Restore {
    /// The names in the trash, as "lisle sessions trash" and "delete" print them.
    #[arg(value_name = "TRASH-ID", value_parser = trash_id, required = true)]
    pub trash: Vec<TrashId>,
    /// Print the sessions as a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions verify`.
#[derive(Debug, ClapArgs)]
pub struct Verify {
    /// Session id; all sessions without it.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: Option<SessionId>,
    /// Also repair what can be; a copy of what is changed is kept.
    #[arg(long)]
    pub repair: bool,
    /// As a JSON array.
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

/// `lisle labels`.
#[derive(Debug, Subcommand)]
pub enum LabelsCommand {
    /// List them, each below the one that it belongs to.
    List(Json),
    /// Add one, and print its id.
    Add {
        /// Name; the id is made of it.
        name: String,
        /// Below this one, by id or name.
        #[arg(long, value_name = "LABEL")]
        under: Option<String>,
        /// It has a value of this type.
        #[arg(long, value_name = "string|number|date", value_parser = value_type)]
        value: Option<ValueType>,
    },
}

/// `lisle statuses`.
#[derive(Debug, Subcommand)]
pub enum StatusesCommand {
    /// List them in their order.
    List(Json),
    /// Add one at the end, and print its id.
    Add {
        /// Name; the id is made of it.
        name: String,
        /// Sessions of this status are over.
        #[arg(long)]
        closed: bool,
    },
}

/// `lisle views`.
#[derive(Debug, Subcommand)]
pub enum ViewsCommand {
    /// List them.
    List(Json),
    /// Add one, and print its id; one of the same name gets the new condition.
    ///
    /// A condition compares fields with ==, !=, <, <=, >, >=, joins with and, or, not, and asks with in ("a", "b").
    Add {
        /// Name; the id is made of it.
        name: String,
        /// The condition, such as: hasUnread and daysSince(lastUsedAt) < 7
        #[arg(value_name = "CONDITION")]
        expression: String,
    },
}

fn message_id(text: &str) -> Result<MessageId, String> {
    if text.trim().is_empty() { Err("a message has an id".to_owned()) } else { Ok(MessageId::new(text)) }
}

fn trash_id(text: &str) -> Result<TrashId, String> {
    // The characters of a session's id: it is a directory's name, too.
    SessionId::parse(text).map(|_| TrashId(text.to_owned())).map_err(|_| format!("{text:?} is no name in the trash"))
}

fn value_type(text: &str) -> Result<ValueType, String> {
    ValueType::parse(text).ok_or_else(|| "the types are string, number and date".to_owned())
}

fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "the modes are explore, ask and execute".to_owned())
}

fn connection(text: &str) -> Result<ConnectionName, String> {
    if text.trim().is_empty() { Err("a connection has a name".to_owned()) } else { Ok(ConnectionName::new(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_hold_together() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["lisle", "--mode", "safe", "fix it"]).unwrap();
        assert_eq!((args.common.mode, args.prompt()), (Some(Mode::Explore), Ok(Some("fix it".to_owned()))));
        let args = Args::try_parse_from(["lisle", "run", "--connection", "demo", "list", "it"]).unwrap();
        assert!(matches!(args.command, Some(CliCommand::Run(run)) if run.prompt == ["list", "it"]));
        let args = Args::try_parse_from(["lisle", "doctor", "keys"]).unwrap();
        assert!(matches!(args.command, Some(CliCommand::Doctor(doctor)) if doctor.what == Some(DoctorCommand::Keys)));
        let args = Args::try_parse_from(["lisle", "sessions", "list", "--json", "--workspace", "/x"]).unwrap();
        assert_eq!(args.common.workspace, Some("/x".into()));
        for wrong in [
            &["lisle", "--mode", "yolo"][..],
            &["lisle", "--session", "../x"],
            &["lisle", "--new", "--continue"],
            &["lisle", "run"],
            &["lisle", "sessions", "set"],
            &["lisle", "sessions", "set", "x", "--flag", "--unflag"],
            &["lisle", "sessions", "delete", "../x"],
            &["lisle", "sessions", "restore", "a/b"],
            &["lisle", "labels", "add", "x", "--value", "colour"],
        ] {
            assert!(Args::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_message_is_in_quotes_or_behind_two_dashes_and_other_words_are_commands() {
        let prompt = |words: &[&str]| {
            let args = Args::try_parse_from([&["lisle"], words].concat()).unwrap();
            assert!(args.command.is_none(), "{words:?}");
            args.prompt()
        };
        for (words, message) in [
            (&["fix the bug"][..], "fix the bug"),
            (&["--", "sessions"], "sessions"),
            (&["--mode", "ask", "--", "fix", "the", "-bug"], "fix the -bug"),
            (&["バグを直して"], "バグを直して"),
        ] {
            assert_eq!(prompt(words), Ok(Some(message.to_owned())), "{words:?}");
        }
        assert_eq!(prompt(&[]), Ok(None));
        for (words, says) in [
            (&["sesions"][..], "\"lisle sessions\"?"),
            (&["sesions", "list"], "\"lisle -- sesions list\""),
            (&["ran", "fix it"], "\"lisle run ran 'fix it'\""),
            (&["hlep"], "\"lisle help\"?"),
            (&["frobnicate"], "There are: run, sessions,"),
            (&["what's-up?"], "'what'\\''s-up?'"),
            (&["приветствие"], "lisle -- приветствие"),
            (&[" hello "], "no command \" hello \""),
            (&[""], "lisle run ''"),
        ] {
            let why = prompt(words).unwrap_err();
            assert!(why.contains(says), "{words:?}: {why}");
        }
    }
}
