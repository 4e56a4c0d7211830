//! Place and limits of a call.

use crate::sandbox::Allowances;
use crate::sandbox::own_folders;
use crate::sandbox::proxy::KnownHosts;
use crate::sandbox::working_folder::WorkingFolder;
use std::path::PathBuf;
use std::sync::Arc;

/// Place and limits of a call.
#[derive(Clone, Debug)]
pub struct CallPlace {
    /// The working directory: absolute.
    pub cwd: PathBuf,
    /// The folder that the user chose as working directory; `None` where nobody noted it.
    pub folder: Option<WorkingFolder>,
    /// The session's directory; `plans/`, `data/` and `long_responses/` lie below it. Made on first use.
    pub session_dir: PathBuf,
    /// lisle's own folders (config, data, state): writing there is protected, and credentials there are secret.
    pub own_dirs: Vec<PathBuf>,
    /// The program that starts commands (`PROGRAM __run`); the own binary.
    pub runner: PathBuf,
    /// Access that the user's settings grant commands.
    pub allowances: Arc<Allowances>,
    /// Hosts that commands reach without a question, where the network is not open.
    pub known: Arc<KnownHosts>,
    /// Tokens of the model's context window: results over a tenth of it, at least 2,000 and at most 12,000 tokens,
    /// go to `long_responses/`.
    pub window: u64,
}

impl CallPlace {
    /// Why no call may run here: a link stands among lisle's own files, or the working directory is another folder than the
    /// one that was chosen. Blocks.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if let Some(why) = own_folders::fault(&self.session_dir) {
            return Some(format!("Not done: {why}. Only the user can put that right."));
        }
        // One that is gone is told by each tool in its own words.
        let is_other = self.folder.as_ref().is_some_and(|folder| folder.is_replaced_at(&self.cwd));
        is_other.then(|| {
            format!(
                "Not done: {} is another folder than the one this session works in, or a link leads elsewhere by now. Only the \
                 user can choose it again, with /cwd {0}.",
                self.cwd.display()
            )
        })
    }

    /// The working directory is the folder that was chosen. Blocks.
    #[must_use]
    pub fn is_same_folder(&self) -> bool {
        self.folder.as_ref().is_none_or(|folder| folder.is_at(&self.cwd))
    }
}
