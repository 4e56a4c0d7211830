//! Tools as the model, the transcript and the permission function see them.

use super::access::Access;
use super::attachment::Attachment;
use super::diff::FileDiff;
use super::ids::{CallId, SessionId};
use super::permission::Decision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// Description of a tool for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name that the model calls: `read`, `write`, `bash` …
    pub name: String,
    /// Purpose, limits and result.
    pub description: String,
    /// JSON schema of the input object.
    pub schema: Value,
}

/// Beginning of the result of a call that never began.
pub const NOT_RUN: &str = "not run: ";
/// Beginning of the result of a call that something ended early.
pub const CUT_SHORT: &str = "interrupted: ";

/// Result of a call that the user stopped, before its output until then.
pub const STOPPED: &str = "interrupted: the user stopped the turn";

/// The field of a call's input that says for the user what the call is for.
pub const INTENT: &str = "intent";
/// Characters of it that are shown.
const LONGEST_INTENT: usize = 200;

/// Purpose of a call, in the model's words, on one line. Not sanitised.
#[must_use]
pub fn intent(input: &Value) -> Option<String> {
    // Claude knows this field of a command as its description.
    let text = [INTENT, "description"].iter().find_map(|field| input.get(field)?.as_str())?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(LONGEST_INTENT).collect();
    (!line.is_empty()).then_some(line)
}

/// The input without what is said for the user: two calls that differ in nothing else are the same.
#[must_use]
pub fn without_intent(input: &Value) -> Value {
    let mut input = input.clone();
    if let Some(map) = input.as_object_mut() {
        map.remove(INTENT);
    }
    input
}

/// State of a tool call. Stored under Craft Agents' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// Proposed by the model; not yet decided, or waiting for an answer.
    Pending,
    /// Running.
    Executing,
    /// Ended well.
    Completed,
    /// Ended with an error, was refused, skipped or interrupted.
    Error,
    /// Goes on in the background (written by other programs).
    Backgrounded,
}

impl ToolStatus {
    /// The call has its result.
    #[must_use]
    pub fn ended(self) -> bool {
        matches!(self, ToolStatus::Completed | ToolStatus::Error)
    }
}

/// Figures for the tool line of the transcript, and what can be unfolded below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolFigures {
    /// Exit status of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Lines read, listed or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// The change that a write or an edit made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<FileDiff>,
    /// The changes that it made to several files, in place of `diff`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// It goes on in the background as the job of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The whole result lies in this file because it was too long for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_result: Option<PathBuf>,
    /// Not all that it changed can be undone; why, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_incomplete: Option<String>,
    /// Files that configure or run code and that its command made or changed without having asked, and what became of that:
    /// a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Things that the sandbox kept from a command, each in a few words: `hidden secret: .env`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Pictures and documents that go to the model beside the text: copies that the session keeps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Attachment>,
    /// The session that the call spawned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Box<Child>>,
}

/// A spawned session as the call that spawned it shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// Session id.
    pub session: SessionId,
    /// Tool calls that it made.
    #[serde(default)]
    pub calls: u64,
    /// Tokens of its context and of all that it wrote.
    #[serde(default)]
    pub tokens: u64,
    /// Pending request in a few words, while it waits for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// The call does not wait for it.
    #[serde(default)]
    pub background: bool,
}

/// One tool call of the transcript, from proposal to result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: CallId,
    /// lisle's name of the tool (`bash`); for a tool of another program the name as it stands in the file.
    pub name: String,
    /// The input object as the model gave it.
    pub input: Value,
    /// Subject of the call on one line: the path, the command, the pattern. Not sanitised.
    pub subject: String,
    /// State.
    pub status: ToolStatus,
    /// The result as the model sees it; while it runs, the last lines of its output.
    pub result: Option<String>,
    /// Milliseconds from start to end.
    pub millis: Option<u64>,
    /// Figures for the tool line.
    #[serde(default)]
    pub figures: ToolFigures,
    /// Decision that allowed or stopped it; `None` before the decision, and for calls of other programs.
    #[serde(default)]
    pub decision: Option<Decision>,
}

/// Facts about a call. The tool gathers them before the decision and once more right before running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    /// lisle's name of the tool.
    pub tool: String,
    /// Subject of the call on one line.
    pub subject: String,
    /// Everything the call touches; the strictest one decides. Never empty.
    pub touches: Vec<Touch>,
    /// The exact thing that an answer covers: a command with its directory, or a file's change. A different one asks again.
    pub proposal: Proposal,
    /// Secrets exist below the directory of a command, and nothing masks them here.
    #[serde(default)]
    pub secrets_here: bool,
    /// Changed places of the proposal that the user struck out, by their place over all of its files. Only what is left
    /// is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
}

/// One thing that a call touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "touch")]
pub enum Touch {
    /// Only lisle's own state: todo, plan, question.
    Inner,
    /// Reads this path (resolved).
    Read {
        /// The resolved path.
        path: PathBuf,
        /// It looks like a secret: keys, credentials, `.env`.
        secret: bool,
    },
    /// Writes this path (resolved).
    Write {
        /// The resolved path.
        path: PathBuf,
        /// Place of the path.
        place: PathPlace,
    },
    /// Runs a command.
    Command {
        /// The command line, exactly.
        command: String,
        /// Working directory.
        cwd: PathBuf,
        /// The files that its names of programs stand for, by the search path that it gets.
        #[serde(default)]
        programs: Vec<StartedProgram>,
        /// Reason why some of its names could not be looked up (too many files behind a pattern …);
        /// `None` if all were.
        #[serde(default)]
        unseen: Option<String>,
        /// Words that name files of skills, agents and commands that count, where the sandbox keeps commands from writing them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        of_extensions: Vec<String>,
    },
    /// Changes the status or the labels of a session.
    Session {
        /// Session id.
        session: SessionId,
        /// It is the session that the call belongs to.
        own: bool,
    },
    /// Runs a script that only works on data: it may read what it is given and write below the session's `data/`.
    Script {
        /// The interpreter, every link in it followed.
        interpreter: PathBuf,
        /// SHA-256 (hex) of the script.
        script: String,
    },
    /// The command is to run outside the sandbox that would hold it.
    Outside,
    /// The command gets something that its sandbox keeps from it.
    Access(Access),
    /// A word of the command lies below the working directory by its letters, and leads elsewhere through a link, or to
    /// what is protected. No rule about paths speaks of it.
    Leaves {
        /// The path by its letters.
        path: PathBuf,
    },
    /// Asks a server for something.
    Fetch {
        /// The address, as it is asked for.
        url: String,
        /// The host of it, in lower case and without a port.
        host: String,
        /// The host is this machine, one of its network, or serves the credentials of a cloud; by the address that it has
        /// where that is known, else by its name.
        private: bool,
    },
    /// Calls a tool of a source.
    Source {
        /// The source's slug.
        source: String,
        /// The tool's name at its server. Not sanitised.
        tool: String,
        /// The tool is known to change nothing.
        read_only: bool,
        /// Hash of the tool's definition and of what its server is: another one is another tool.
        definition: String,
    },
    /// A command that runs wants to connect to a server.
    Connect {
        /// The host in lower case; with its port (`host:22`) unless that is one of the web's.
        host: String,
        /// As in [`Touch::Fetch`].
        private: bool,
        /// Reason to allow it without a question: a package registry, a remote of the repository, a setting.
        #[serde(default)]
        known: Option<String>,
    },
}

impl ToolFigures {
    /// The changes of files that are to be shown, in order.
    pub fn changes(&self) -> impl Iterator<Item = &FileDiff> {
        self.diff.iter().chain(&self.diffs)
    }

    /// Keeps what would change, for a call that is about to run: of very much its beginning.
    pub fn propose(&mut self, proposal: &Proposal) {
        let mut left = super::diff::ROW;
        match proposal {
            Proposal::Change { diff, .. } => self.diff = Some(diff.for_row(&mut left)),
            Proposal::Changes { .. } => self.diffs = proposal.diffs().map(|diff| diff.for_row(&mut left)).collect(),
            Proposal::Command { .. }
            | Proposal::Script { .. }
            | Proposal::Address { .. }
            | Proposal::Connect { .. }
            | Proposal::SourceCall { .. }
            | Proposal::Plain => {}
        }
    }
}

impl CallFacts {
    /// Words of its command that name files of extensions.
    #[must_use]
    pub fn of_extensions(&self) -> &[String] {
        let mut of_command = self.touches.iter().filter_map(|touch| match touch {
            Touch::Command { of_extensions, .. } => Some(of_extensions.as_slice()),
            _ => None,
        });
        of_command.next().unwrap_or_default()
    }
}

impl Touch {
    /// A command of which nothing was looked up.
    #[must_use]
    pub fn command(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        let (command, cwd) = (command.into(), cwd.into());
        Touch::Command { command, cwd, programs: Vec::new(), unseen: None, of_extensions: Vec::new() }
    }
}

/// A file that a command would start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedProgram {
    /// The name in the command.
    pub name: String,
    /// The file, every link in it followed.
    pub path: PathBuf,
    /// The number of the file on its file system: a file that was put in its place has another one.
    pub inode: u64,
    /// It, or what led to it, lies below the working directory: whoever writes there decides what it does.
    #[serde(default)]
    pub inside: bool,
}

/// Place of a path, for the decision on writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathPlace {
    /// The session's own `plans/` or `data/`.
    SessionFolder,
    /// The session's own `/tmp`.
    SessionTemp,
    /// Below the working directory and not protected.
    Inside,
    /// Outside the working directory.
    Outside,
    /// A path that configures or runs code: `.git`, shell start files, `.ssh`, CI, lisle's own config.
    Protected,
}

/// The exact effect, for the user who is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Proposal {
    /// This command in this directory.
    Command {
        /// The command line, exactly.
        command: String,
        /// Working directory.
        cwd: PathBuf,
    },
    /// This change of a file.
    Change {
        /// The change.
        diff: FileDiff,
        /// SHA-256 (hex) of the file's bytes before; empty when it does not exist.
        before: String,
        /// SHA-256 (hex) of the bytes after.
        after: String,
    },
    /// Ask for this address.
    Address {
        /// The address, exactly.
        url: String,
    },
    /// Let a command that runs connect to this server.
    Connect {
        /// Host and port.
        to: String,
        /// The command that connects; empty where it is not known.
        #[serde(default)]
        command: String,
    },
    /// These changes of several files, all or none.
    Changes {
        /// One for each file, in order.
        changes: Vec<FileChange>,
    },
    /// This script, which only works on data.
    Script {
        /// Language.
        language: String,
        /// The script, exactly.
        script: String,
        /// The files that it is given, and the one that it is to write.
        files: Vec<PathBuf>,
    },
    /// Call this tool of a source.
    SourceCall {
        /// The source's slug.
        source: String,
        /// The tool's name at its server. Not sanitised.
        tool: String,
        /// Its arguments as JSON, exactly. Not sanitised.
        arguments: String,
    },
    /// No preview: reading, listing, asking.
    Plain,
}

/// The change of one file among several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// The change.
    pub diff: FileDiff,
    /// SHA-256 (hex) of the file's bytes before; empty when it does not exist.
    pub before: String,
    /// SHA-256 (hex) of the bytes after; empty when it is deleted.
    pub after: String,
}

impl Proposal {
    /// The changes of files that it would make, in order.
    pub fn diffs(&self) -> impl Iterator<Item = &FileDiff> {
        let (one, several) = match self {
            Proposal::Change { diff, .. } => (Some(diff), &[][..]),
            Proposal::Changes { changes } => (None, changes.as_slice()),
            Proposal::Command { .. }
            | Proposal::Script { .. }
            | Proposal::Address { .. }
            | Proposal::Connect { .. }
            | Proposal::SourceCall { .. }
            | Proposal::Plain => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|change| &change.diff))
    }

    /// Count of its changed places that can be struck out one by one; none where there is only one, or where some are
    /// not shown.
    #[must_use]
    pub fn strikable(&self) -> usize {
        let count = self.diffs().map(|diff| diff.hunks.len()).sum();
        let whole = self.diffs().all(|diff| diff.left_out == 0);
        if whole && count > 1 { count } else { 0 }
    }

    /// True if these places can be left out of it, and something is left.
    #[must_use]
    pub fn can_leave_out(&self, places: &[u32]) -> bool {
        let count = self.strikable();
        let sorted = places.is_sorted_by(|a, b| a < b);
        sorted && places.len() < count && places.iter().all(|at| usize::try_from(*at).is_ok_and(|at| at < count))
    }

    /// The same without these places, as it is shown; its hashes stay those of the whole.
    #[must_use]
    pub fn shown_without(&self, places: &[u32]) -> Self {
        let mut out = self.clone();
        let (one, several) = match &mut out {
            Proposal::Change { diff, .. } => (Some(diff), &mut [][..]),
            Proposal::Changes { changes } => (None, changes.as_mut_slice()),
            _ => return out,
        };
        let mut first = 0;
        for diff in one.into_iter().chain(several.iter_mut().map(|change| &mut change.diff)) {
            let count = diff.hunks.len();
            diff.strike(&here(places, first, count));
            first += count;
        }
        out
    }
}

/// Those of `places` that lie in a file whose changed places are `count` from `first` on, counted from its own first one.
#[must_use]
pub fn here(places: &[u32], first: usize, count: usize) -> Vec<usize> {
    let places = places.iter().filter_map(|at| usize::try_from(*at).ok()?.checked_sub(first));
    places.filter(|at| *at < count).collect()
}

/// Outcome of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// It did not do what was asked.
    pub failed: bool,
    /// The text for the model, already cut to its limit.
    pub text: String,
    /// Figures for the tool line.
    pub figures: ToolFigures,
    /// Next action of the engine, besides keeping the result.
    pub then: Then,
    /// The change that it made, where that is another one than was proposed: the user struck out parts of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Box<Proposal>>,
}

/// Next action after a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Then {
    /// Nothing.
    #[default]
    Nothing,
    /// The todo list is now this.
    Todo(Vec<TodoItem>),
    /// A plan was submitted: show it and wait for the answer.
    Plan {
        /// Its file below the session's `plans/`.
        path: PathBuf,
        /// The title.
        title: String,
        /// The whole plan as markdown.
        markdown: String,
    },
    /// A step of the plan that is carried out is this far.
    Step {
        /// Its place in the plan, from 1.
        number: u32,
        /// New status.
        status: super::plan::StepStatus,
    },
    /// A skill was loaded, by its name: what it needs and allows holds for the turn.
    Skill(String),
    /// Ask the user and give the answer back as the result.
    Ask(super::request::AgentQuestion),
}

impl Outcome {
    /// A result that went well.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { failed: false, text: text.into(), figures: ToolFigures::default(), then: Then::Nothing, made: None }
    }

    /// A result that tells the model what went wrong and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::ok(text) }
    }
}

/// One line of the todo list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// Task.
    pub content: String,
    /// Status.
    pub status: TodoStatus,
}

/// Status of a todo item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}
