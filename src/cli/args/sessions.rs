//! Arguments of `lisle sessions`.

use super::Json;
use super::values::{format, message_id, session_id, trash_id};
use crate::domain::export::Format;
use crate::domain::trash::TrashId;
use crate::domain::{MessageId, SessionId};
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

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
