//! Place and limits of a call.

use crate::sandbox::Allowances;
use crate::sandbox::proxy::KnownHosts;
use std::path::PathBuf;
use std::sync::Arc;

/// Place and limits of a call.
#[derive(Clone, Debug)]
pub struct CallPlace {
    /// The working directory: absolute.
    pub cwd: PathBuf,
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
