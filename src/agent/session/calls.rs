//! State that the session's calls share: their tasks, the files they read, and what they reach of the network.

use super::chosen_folder::ChosenFolder;
use crate::agent::run_tasks::RunTasks;
use crate::agent::undo::UndoRecorder;
use crate::sandbox::proxy::KnownHosts;
use crate::sandbox::{Allowances, Network};
use crate::tools::read_tracker::Seen;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The file of remotes, in the data folder.
const REMOTES: &str = "remotes.jsonl";

/// State of a session's calls.
#[derive(Debug)]
pub(super) struct Calls {
    tasks: RunTasks,
    /// Files that calls read.
    seen: Arc<Seen>,
    /// Calls that wait for permission to connect, by number.
    reaching: HashMap<u64, oneshot::Sender<Result<(), String>>>,
    /// Hosts that commands reach without a question, by directory, as before the first command.
    known_hosts: Mutex<HashMap<PathBuf, Arc<KnownHosts>>>,
    /// Access of commands with skills, agents and commands; `None` without any.
    with_extensions: Option<Arc<Allowances>>,
    /// Working directory of the calls.
    folder: ChosenFolder,
    /// Keeps what calls change.
    recorder: Arc<UndoRecorder>,
}

impl Calls {
    /// No calls yet; what they change goes to this recorder.
    pub(super) fn new(recorder: UndoRecorder) -> Self {
        Self {
            tasks: RunTasks::default(),
            seen: Arc::default(),
            reaching: HashMap::new(),
            known_hosts: Mutex::default(),
            with_extensions: None,
            folder: ChosenFolder::default(),
            recorder: Arc::new(recorder),
        }
    }

    pub(super) fn recorder(&self) -> &Arc<UndoRecorder> {
        &self.recorder
    }

    /// Working directory as it was chosen.
    pub(super) fn folder(&self) -> &ChosenFolder {
        &self.folder
    }

    pub(super) fn tasks(&mut self) -> &mut RunTasks {
        &mut self.tasks
    }

    pub(super) fn seen(&self) -> Arc<Seen> {
        self.seen.clone()
    }

    /// The model knows no files any more.
    pub(super) fn forget_seen(&mut self) {
        self.seen = Arc::default();
    }

    /// Commands read these files beside what the settings say.
    pub(super) fn set_extensions(&mut self, of_settings: &Allowances, extensions: Vec<PathBuf>) {
        self.with_extensions = (!extensions.is_empty()).then(|| {
            let readable = of_settings.readable.iter().chain(&extensions).cloned().collect();
            Arc::new(Allowances { readable, extensions, ..of_settings.clone() })
        });
    }

    /// Access that commands have beside their profile.
    pub(super) fn allowances(&self, of_settings: &Arc<Allowances>) -> Arc<Allowances> {
        Arc::clone(self.with_extensions.as_ref().unwrap_or(of_settings))
    }

    /// A call waits for permission to connect.
    pub(super) fn wait_to_reach(&mut self, number: u64, done: oneshot::Sender<Result<(), String>>) {
        self.reaching.insert(number, done);
    }

    /// A call waits no longer.
    pub(super) fn no_longer_reaches(&mut self, number: u64) {
        self.reaching.remove(&number);
    }

    /// Answers a call that waits for permission to connect.
    pub(super) fn reached(&mut self, number: u64, answer: Result<(), String>) {
        if let Some(done) = self.reaching.remove(&number) {
            // The command may have ended meanwhile.
            let _ = done.send(answer);
        }
    }

    /// Read before the first command of a directory, and never again: what a command writes adds nothing. `data`: lisle's
    /// data folder, which remembers the remotes of repositories.
    pub(super) fn known_hosts(&self, cwd: &Path, allowances: &Allowances, data: &Path) -> Arc<KnownHosts> {
        if allowances.network != Network::Proxy {
            return Arc::default();
        }
        let seen = data.is_absolute().then(|| data.join(REMOTES));
        let read = || Arc::new(KnownHosts::of(cwd, &allowances.private_hosts, seen.as_deref()));
        let mut known = self.known_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(cwd.to_owned()).or_insert_with(read))
    }
}
