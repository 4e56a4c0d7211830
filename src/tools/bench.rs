//! Test bench: a working directory, a session directory and a way to run calls as the engine does.

use super::read_tracker::Seen;
use super::registry::Registry;
use super::{CallPlace, RunContext, RunError};
use crate::domain::ids::CallId;
use crate::domain::permission::Sandbox;
use crate::domain::tool::{CallFacts, Outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The place of calls in a [`tree`].
pub(crate) fn place(root: &Path) -> CallPlace {
    CallPlace {
        cwd: root.join("work"),
        folder: None,
        session_dir: root.join("state/sessions/s1"),
        own_dirs: vec![root.join("state"), root.join("config")],
        runner: PathBuf::from("/bin/false"),
        allowances: Arc::default(),
        known: Arc::default(),
        window: 200_000,
    }
}

/// Folders in and around a working directory, and their real path.
pub(crate) fn tree() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for sub in ["work/src", "work/.git", "outside", "state/sessions/s1/plans", "config", "home"] {
        std::fs::create_dir_all(root.join(sub)).unwrap();
    }
    (dir, root)
}

/// Temp directories and what a call needs.
pub(crate) struct Bench {
    _dir: tempfile::TempDir,
    /// Place of the calls.
    pub place: CallPlace,
    /// Files read so far.
    pub seen: Arc<Seen>,
    /// Stops the calls.
    pub stop: CancellationToken,
    /// The engine around the calls.
    pub host: Arc<dyn super::host::Host>,
}

impl Bench {
    /// Empty directories.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        let place = CallPlace {
            cwd: root.join("work"),
            folder: None,
            session_dir: root.join("own/sessions/s1"),
            own_dirs: vec![root.join("own")],
            runner: PathBuf::from("/bin/false"),
            allowances: Arc::default(),
            known: Arc::default(),
            window: 200_000,
        };
        Self {
            _dir: dir,
            place,
            seen: Arc::new(Seen::default()),
            stop: CancellationToken::new(),
            host: Arc::new(super::host::Alone),
        }
    }

    /// The path below the working directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.cwd.join(name)
    }

    /// Writes a file below the working directory, with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Its content.
    pub fn content(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The facts of a call.
    pub fn inspect(&self, tool: &str, input: &Value) -> Result<CallFacts, String> {
        Registry::standard().find(tool).unwrap().inspect(input, &self.place, &self.seen)
    }

    /// Runs a call that was decided on `facts`.
    pub fn run_with(&self, tool: &str, input: Value, facts: CallFacts) -> Result<Outcome, RunError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (progress, _shown) = tokio::sync::mpsc::channel(8);
        let with = RunContext {
            sandbox: Sandbox::None,
            place: self.place.clone(),
            facts,
            seen: Arc::clone(&self.seen),
            stop: self.stop.clone(),
            call: CallId::new("call-1"),
            progress,
            jobs: Arc::default(),
            host: self.host.clone(),
        };
        runtime.block_on(Registry::standard().find(tool).unwrap().run(input, with))
    }

    /// Inspects and runs a call that must go well.
    pub fn ok(&self, tool: &str, input: Value) -> Outcome {
        let facts = self.inspect(tool, &input).unwrap();
        let outcome = self.run_with(tool, input, facts).unwrap();
        assert!(!outcome.failed, "{}", outcome.text);
        outcome
    }

    /// Inspects and runs a call that must fail, at either step: the sentence.
    pub fn error(&self, tool: &str, input: Value) -> String {
        match self.inspect(tool, &input) {
            Err(sentence) => sentence,
            Ok(facts) => {
                let outcome = self.run_with(tool, input, facts).unwrap();
                assert!(outcome.failed, "{}", outcome.text);
                outcome.text
            }
        }
    }
}
