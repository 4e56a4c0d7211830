//! Parts and settings that the engine is made of. `runtime` and `cli` fill them from the configuration.

use super::connections::Connections;
use super::extension_files::ExtensionBook;
use super::rule_files::RuleBook;
use super::source_files::SourceBook;
use crate::domain::{ConnectionName, Mode};
use crate::sources::Servers;
use crate::store::prompt_files::PromptFolders;
use crate::store::usage_log::UsageLog;
use crate::store::{HistoryKind, Store};
use crate::tools::registry::Registry;
use std::path::PathBuf;
use std::sync::Arc;

/// Keeps a choice of a connection and a model for the next start.
type RememberChoice = dyn Fn(&ConnectionName, Option<&str>) -> bool + Send + Sync;

/// Parts of the engine. `runtime` and `cli` make them from the configuration.
pub struct Setup {
    /// The workspace's files.
    pub store: Store,
    /// The connections, the default one first.
    pub connections: Connections,
    /// Usage log.
    pub books: Arc<UsageLog>,
    /// The tools.
    pub tools: Registry,
    /// The files of sources.
    pub sources: Arc<dyn SourceBook>,
    /// The files of skills, agents and commands.
    pub extensions: Arc<dyn ExtensionBook>,
    /// Servers of sources.
    pub servers: Servers,
    /// The files of rules.
    pub rules: Arc<dyn RuleBook>,
    /// Settings that the engine goes by.
    pub settings: EngineSettings,
    /// Called when the user chose a connection or a model of it, so that it is the usual one next time. `None`: no model
    /// was chosen. True if the model is the connection's usual one from now on.
    pub chosen: Box<RememberChoice>,
}

/// Settings that the engine goes by.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// Mode of new sessions.
    pub mode: Mode,
    /// The modes that Shift+Tab goes through.
    pub cycle: Vec<Mode>,
    /// Working directory of new sessions.
    pub cwd: PathBuf,
    /// Requests a turn may make.
    pub requests_per_turn: u32,
    /// Settings that change the mode table.
    pub policy: crate::permit::Policy,
    /// The part of the window, in percent, at which a conversation is compacted by itself; 0 for never.
    pub compact_at: f64,
    /// Prompts stay long in the vendor's cache.
    pub long_cache: bool,
    /// Describe tools to the model in full.
    pub full_tools: bool,
    /// The folder with the user's own project memory and preferences.
    pub config: Option<PathBuf>,
    /// Places where other programs keep their sessions.
    pub history_places: Vec<(HistoryKind, PathBuf)>,
    /// Folders of contexts and strategies.
    pub prompts: Arc<PromptFolders>,
    /// No person to ask.
    pub headless: bool,
    /// Enter steers while a turn runs, instead of queuing.
    pub steer_by_default: bool,
    /// lisle's own folders: protected from the tools.
    pub own_dirs: Vec<PathBuf>,
    /// The own binary, which starts commands.
    pub runner: PathBuf,
    /// Access that the user's settings grant commands.
    pub allowances: Arc<crate::sandbox::Allowances>,
    /// State of the sandbox.
    pub sandbox: crate::domain::permission::SandboxState,
    /// Automatic changes of sessions.
    pub inbox: Inbox,
    /// Requests that may cost more US dollars are announced.
    pub warn_cost: f64,
    /// Limits of what is kept for undo.
    pub undo: super::undo::UndoSettings,
}

/// Automatic changes of sessions, and the folder of worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// A session's status follows the work, in a workspace of our own.
    pub auto_status: bool,
    /// Days without a message before a session is archived; `None`: never.
    pub archive_idle_days: Option<u32>,
    /// Days before the trash deletes a session. 0: sessions are deleted at once.
    pub trash_days: u32,
    /// lisle's data folder, in which worktrees are made.
    pub data: PathBuf,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { auto_status: true, archive_idle_days: None, trash_days: 30, data: PathBuf::new() }
    }
}
