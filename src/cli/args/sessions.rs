//! Arguments of `lisle sessions`.

use super::complete;
use super::json::Json;
use super::values::{self, message_id, session_id, trash_id};
use crate::domain::export::Format;
use crate::domain::trash::TrashId;
use crate::domain::{MessageId, SessionId};
use crate::store::HistoryKind;
use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use std::ffi::OsString;
use std::path::PathBuf;

/// `lisle sessions`.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions, latest first.
    ///
    /// --routes lists the session keys of channels with their rows instead, of all agents or of one store.
    #[command(
        verbatim_doc_comment,
        after_help = "Examples:\n  lisle sessions list --flagged --label bug --json\n  lisle sessions list --routes --store ~/.openclaw/agents/main/sessions/sessions.json"
    )]
    List(ListArgs),
    /// Print a session.
    #[command(after_help = "Example: lisle sessions show 260902-swift-river --json")]
    Show(ShowArgs),
    /// Export a session as Markdown, HTML, JSON, plain text or a transcript of OpenClaw.
    ///
    /// Keys, passwords and home paths are masked. Without --out, prints to stdout; existing files are kept and
    /// the new one is numbered. --routes writes agents/ID/sessions below a folder, with sessions.json and transcripts.
    #[command(
        after_help = "Examples:\n  lisle sessions export 260902-swift-river -o talk.html\n  lisle sessions export --routes -o ~/for-openclaw"
    )]
    Export(Export),
    /// Import sessions from other programs and print their ids.
    ///
    /// Reads a file, a session's folder, a folder of many sessions, or the usual place of a program (--from).
    /// The source is unchanged. Sessions that were imported before are brought up to date, not doubled, so an
    /// import that was stopped goes on where it was. What was skipped is reported and kept with the session.
    ///
    /// --routes takes a state directory of OpenClaw or Fased, or a sessions.json in one: rows become session keys of
    /// lisle's agents, transcripts their sessions. Of two rows of a key the one that changed last stays.
    ///
    /// Programs: claude-code, codex, gemini, opencode, pi, craft, fabric-agents, openclaw (or fased), aichat, fabric.
    ///
    /// Ctrl+C stops between two records; a second one ends at once. Deleted sessions count as imported while they lie in
    /// the trash.
    #[command(
        verbatim_doc_comment,
        after_help = "Examples:\n  lisle sessions import --scan\n  lisle sessions import --from claude-code\n  lisle sessions import --from fabric trip.json\n  lisle sessions import ~/backup/.codex\n  lisle sessions import --routes ~/.openclaw"
    )]
    Import(Import),
    /// Search titles, ids, labels, messages, commands, paths and outputs of all sessions.
    ///
    /// Every word must occur in the session; prints the matching rows, best first.
    /// Case, accents and width are ignored. Supports "exact phrase", -exclude, and the filters status:
    /// label: tool: file: in:title|user|assistant|tool after: before: with 2026-11-01, yesterday, 7d, 3m.
    /// Words behind -- are words, also those that look like options.
    #[command(after_help = "Example: lisle sessions search 'parser \"off by one\" after:7d'")]
    Search(SearchArgs),
    /// Change title, status, labels and other properties.
    ///
    /// Also sets --mode and --cwd if given. Accepts several sessions.
    #[command(after_help = "Example: lisle sessions set 260902-swift-river --status done --unlabel bug")]
    Set(Set),
    /// Branch: create a session with another's history and print its id.
    ///
    /// The other session is unchanged.
    #[command(after_help = "Example: lisle sessions branch 260902-swift-river --title \"Another way\"")]
    Branch(Branch),
    /// Archive sessions: hide them from the list.
    #[command(after_help = "Example: lisle sessions archive 260902-swift-river")]
    Archive(Several),
    /// Unarchive sessions.
    #[command(after_help = "Example: lisle sessions unarchive 260902-swift-river")]
    Unarchive(Several),
    /// Move sessions to the trash and print their names there.
    ///
    /// `lisle sessions restore` restores them within 30 days.
    #[command(after_help = "Example: lisle sessions delete 260902-swift-river --yes")]
    Delete(Delete),
    /// List the trash, latest first.
    #[command(after_help = "Example: lisle sessions trash --json")]
    Trash(Json),
    /// Restore sessions from the trash and print their ids.
    ///
    /// A session gets a new id if its own is taken.
    #[command(after_help = "Example: lisle sessions restore 260902-swift-river")]
    Restore(Restore),
    /// Remove old rows and transcripts of session keys, within the limits of [session.maintenance].
    ///
    /// Says what would be removed; applies it with --enforce, or where the configured mode is "enforce". Main, running,
    /// flagged and active sessions always stay. Conversations go to the trash; those of another program's store are
    /// renamed to archives beside it.
    #[command(
        verbatim_doc_comment,
        after_help = "Examples:\n  lisle sessions cleanup --all-agents\n  lisle sessions cleanup --store ~/.openclaw/agents/main/sessions/sessions.json --enforce"
    )]
    Cleanup(CleanupArgs),
    /// Check the files of sessions.
    #[command(after_help = "Example: lisle sessions verify --repair")]
    Verify(Verify),
}

/// `lisle sessions list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Include archived and hidden sessions.
    #[arg(long, conflicts_with = "archived")]
    pub all: bool,
    /// Only archived sessions.
    #[arg(long)]
    pub archived: bool,
    /// Only flagged sessions.
    #[arg(long)]
    pub flagged: bool,
    /// Only unread sessions.
    #[arg(long)]
    pub unread: bool,
    /// Only this status, by id or name; repeat to match any.
    #[arg(long, value_name = "STATUS", add = ArgValueCandidates::new(complete::statuses))]
    pub status: Vec<String>,
    /// Only this label or its children, by id or name; repeat to match all.
    #[arg(long, value_name = "LABEL", add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// Only this view, by id or name.
    #[arg(long, value_name = "VIEW", add = ArgValueCandidates::new(complete::views))]
    pub view: Option<String>,
    /// List session keys of channels with their rows.
    #[arg(long, conflicts_with_all = ["all", "archived", "flagged", "unread", "status", "label", "view"])]
    pub routes: bool,
    /// Only this store, also one of OpenClaw or Fased [default: the stores of all agents].
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub store: Option<PathBuf>,
    /// Print a JSON array; an object with --routes.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions cleanup`.
#[derive(Debug, ClapArgs)]
pub struct CleanupArgs {
    /// Only say what would be removed, whatever the configured mode.
    #[arg(long, conflicts_with = "enforce")]
    pub dry_run: bool,
    /// Remove, whatever the configured mode.
    #[arg(long)]
    pub enforce: bool,
    /// Store of another program, such as OpenClaw's or Fased's sessions.json.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "all_agents"])]
    pub store: Option<PathBuf>,
    /// Agent [default: main].
    #[arg(long, value_name = "ID", conflicts_with = "all_agents")]
    pub agent: Option<String>,
    /// All agents.
    #[arg(long)]
    pub all_agents: bool,
    /// Session key in use, which stays.
    #[arg(long, value_name = "KEY")]
    pub active_key: Option<String>,
    /// Also remove rows whose conversation does not exist.
    #[arg(long)]
    pub fix_missing: bool,
    /// Print a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions search`.
#[derive(Debug, ClapArgs)]
pub struct SearchArgs {
    /// Print one JSON object per session, as found.
    #[arg(long)]
    pub json: bool,
    /// Query.
    #[arg(required = true, value_name = "QUERY", num_args = 1.., value_parser = search_word)]
    pub query: Vec<String>,
}

/// Sign before a word of a query that begins like an option.
const WORD_MARK: char = '\u{1}';

fn search_word(word: &str) -> Result<String, std::convert::Infallible> {
    Ok(word.strip_prefix(WORD_MARK).unwrap_or(word).to_owned())
}

/// The arguments of the process, in which words of a search such as `-exclude` and `-"two words"` are no options. Those
/// begin with two dashes, or have a single letter that is one.
pub fn search_words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let Some(at) = args.iter().position(|word| word == "search").filter(|at| *at > 0) else { return args };
    let before = args.get(..at).unwrap_or_default();
    // The words of a message may be the same.
    if before.last().is_none_or(|word| word != "sessions") || before.iter().any(|word| word == "run") {
        return args;
    }
    let is_short = |letter: char| "hVm".contains(letter);
    for word in args.iter_mut().skip(at + 1).take_while(|word| *word != "--") {
        let Some(text) = word.to_str().filter(|text| !text.starts_with("--")) else { continue };
        let Some(rest) = text.strip_prefix('-').filter(|rest| !rest.is_empty()) else { continue };
        let mut letters = rest.chars();
        if !(letters.next().is_some_and(is_short) && letters.next().is_none()) {
            *word = format!("{WORD_MARK}{text}").into();
        }
    }
    args
}

/// `lisle sessions show`.
#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// Session id.
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id)]
    pub id: SessionId,
    /// Print a JSON object with `meta` and `messages`.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions export`.
#[derive(Debug, ClapArgs)]
pub struct Export {
    /// Session id.
    #[arg(
        value_name = "ID",
        add = ArgValueCandidates::new(complete::sessions),
        value_parser = session_id,
        required_unless_present = "routes"
    )]
    pub id: Option<SessionId>,
    /// Format [default: from the file name, else md].
    #[arg(long, value_name = "FORMAT", value_parser = values::formats(), add = ArgValueCandidates::new(complete::formats))]
    pub format: Option<Format>,
    /// Output file, or folder for a file named after the title; prints its path.
    #[arg(long = "out", short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Export the session keys of all agents with their conversations to the folder --out, as OpenClaw keeps them.
    #[arg(long, requires = "out", conflicts_with_all = ["id", "format"])]
    pub routes: bool,
}

/// `lisle sessions import`.
#[derive(Debug, ClapArgs)]
pub struct Import {
    /// File or folder [default: the place of --from].
    #[arg(value_name = "PATH", required_unless_present_any = ["from", "scan", "routes"])]
    pub path: Option<PathBuf>,
    /// Only sessions of this program.
    #[arg(long, value_name = "KIND", value_parser = values::history_kinds(), add = ArgValueCandidates::new(complete::history_kinds))]
    pub from: Option<HistoryKind>,
    /// List what could be imported, with counts and sizes; imports nothing.
    #[arg(long)]
    pub scan: bool,
    /// Import session keys of OpenClaw or Fased with their conversations, into the workspaces of their agents.
    #[arg(long, conflicts_with = "scan")]
    pub routes: bool,
    /// Print the session, or a report on many, as a JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions set`.
#[derive(Debug, ClapArgs)]
pub struct Set {
    /// Session ids.
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// Title; never replaced by a generated one.
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Name for --session; an empty one removes it.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Status, by id or name.
    #[arg(long, value_name = "STATUS", add = ArgValueCandidates::new(complete::statuses))]
    pub status: Option<String>,
    /// Add a label, by id or name, with an optional "::value"; replaces the same label.
    #[arg(long, value_name = "LABEL[::VALUE]", add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// Remove a label.
    #[arg(long, value_name = "LABEL", add = ArgValueCandidates::new(complete::labels))]
    pub unlabel: Vec<String>,
    /// Flag.
    #[arg(long, conflicts_with = "unflag")]
    pub flag: bool,
    /// Unflag.
    #[arg(long)]
    pub unflag: bool,
    /// Mark unread.
    #[arg(long, conflicts_with = "read")]
    pub unread: bool,
    /// Mark read.
    #[arg(long)]
    pub read: bool,
    /// Hide from the list, except "list --all".
    #[arg(long, conflicts_with = "unhide")]
    pub hide: bool,
    /// Unhide.
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
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id)]
    pub id: SessionId,
    /// Last message to include, by its id in "show --json" [default: all].
    #[arg(long, value_name = "MESSAGE", value_parser = message_id)]
    pub at: Option<MessageId>,
    /// Title of the new session [default: the session's title with a number].
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
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// Print the changed sessions as a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions delete`.
#[derive(Debug, ClapArgs)]
pub struct Delete {
    /// Session ids.
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id, required = true)]
    pub ids: Vec<SessionId>,
    /// Delete permanently, not to the trash.
    #[arg(long)]
    pub now: bool,
    /// Don't ask for confirmation. Required without a terminal.
    #[arg(long, short)]
    pub yes: bool,
}

/// `lisle sessions restore`.
#[derive(Debug, ClapArgs)]
pub struct Restore {
    /// Names in the trash, as printed by "lisle sessions trash" and "delete", or session ids: the newest of that id.
    #[arg(value_name = "TRASH-ID", value_parser = trash_id, required = true, add = ArgValueCandidates::new(complete::trash))]
    pub trash: Vec<TrashId>,
    /// Print the sessions as a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle sessions verify`.
#[derive(Debug, ClapArgs)]
pub struct Verify {
    /// Session id [default: all sessions].
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::sessions), value_parser = session_id)]
    pub id: Option<SessionId>,
    /// Repair; keeps a copy of each changed file.
    #[arg(long)]
    pub repair: bool,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}
