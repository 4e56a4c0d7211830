//! The arguments of the command line.

use crate::domain::{ConnectionName, Mode, SessionId};
use crate::runtime::setup::{Wanted, Which};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// lisle: a full-screen terminal home for agent conversations.
#[derive(Debug, Parser)]
#[command(name = "lisle", version, about, disable_help_subcommand = true, max_term_width = 100)]
pub struct Args {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// A command; without one the app opens.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// A first message to send when the app has opened.
    pub prompt: Option<String>,
}

/// What every command takes.
#[derive(Clone, Debug, Default, ClapArgs)]
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
    /// Use this connection for a new session: a name from config.toml, or "rehearsal".
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

impl From<Common> for Wanted {
    fn from(common: Common) -> Self {
        let which = match common.session {
            Some(id) => Which::This(id),
            None if common.continue_last => Which::Latest,
            None => Which::New,
        };
        let Common { connection, model, mode, cwd, workspace, .. } = common;
        Wanted { which, connection, model, mode, cwd, workspace }
    }
}

/// Commands without the screen.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send one message and print the answer. What is piped in is added to the message.
    ///
    /// Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but a call was refused, 4 no connection with credentials,
    /// 130 interrupted.
    Run(Run),
    /// Look at sessions.
    #[command(subcommand)]
    Sessions(SessionsCommand),
}

/// `lisle run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    /// What comes out.
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// The message.
    #[arg(required = true, value_name = "PROMPT", num_args = 1..)]
    pub prompt: Vec<String>,
}

/// What `lisle run` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The answer, or the plan.
    Text,
    /// Every event of the engine, one JSON object a line.
    Json,
}

/// `lisle sessions`.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions, the latest first.
    List(List),
    /// Print a session.
    Show(Show),
    /// Search titles, ids, labels, messages, commands, paths and outputs of all sessions.
    ///
    /// Every word must be somewhere in the session; the rows that hold any of them are printed, those with the most first.
    /// Words match anywhere; case, accents and width do not count. "exact phrase", -without, and the filters status:
    /// label: tool: file: in:title|user|assistant|tool after: before: with 2026-11-01, yesterday, 7d, 3m.
    ///
    /// Exit status: 0 found, 1 nothing found, 2 the query is wrong.
    Search(Search),
}

/// `lisle sessions list`.
#[derive(Debug, ClapArgs)]
pub struct List {
    /// Also the archived and the hidden ones.
    #[arg(long)]
    pub all: bool,
    /// As a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions search`.
#[derive(Debug, ClapArgs)]
pub struct Search {
    /// One JSON object a line for each session, as they are found.
    #[arg(long)]
    pub json: bool,
    /// What to search for.
    #[arg(required = true, value_name = "QUERY", num_args = 1.., allow_hyphen_values = true)]
    pub query: Vec<String>,
}

/// `lisle sessions show`.
#[derive(Debug, ClapArgs)]
pub struct Show {
    /// Which session.
    #[arg(value_name = "ID", value_parser = session_id)]
    pub id: SessionId,
    /// As a JSON object with `meta` and `messages`.
    #[arg(long)]
    pub json: bool,
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
    use clap::CommandFactory;

    #[test]
    fn the_arguments_hold_together() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["lisle", "--mode", "safe", "fix it"]).unwrap();
        assert_eq!((args.common.mode, args.prompt.as_deref()), (Some(Mode::Explore), Some("fix it")));
        let args = Args::try_parse_from(["lisle", "run", "--connection", "rehearsal", "list", "it"]).unwrap();
        assert!(matches!(args.command, Some(Command::Run(run)) if run.prompt == ["list", "it"]));
        let args = Args::try_parse_from(["lisle", "sessions", "list", "--json", "--workspace", "/x"]).unwrap();
        assert_eq!(args.common.workspace, Some("/x".into()));
        for wrong in [
            &["lisle", "--mode", "yolo"][..],
            &["lisle", "--session", "../x"],
            &["lisle", "--new", "--continue"],
            &["lisle", "run"],
        ] {
            assert!(Args::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
