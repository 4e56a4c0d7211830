//! Access of commands beyond their profile: from the user's settings, and from answers and rules for one command.

use super::places::caches::CacheFolder;
use super::places::hidden;
use super::profile::Network;
use std::path::{Path, PathBuf};

/// Access that the user's settings and answers give to commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowances {
    /// Folders of package managers and the like that commands write as the workspace's own.
    pub caches: Vec<CacheFolder>,
    /// Folder of the workspace's own copies of caches; `None` where there are none.
    pub private: Option<PathBuf>,
    /// Folders and files that commands read beside the usual ones.
    pub readable: Vec<PathBuf>,
    /// Folders of skills, and files of agents and commands, that count without a look at their bytes or after one; each link
    /// followed. They are among `readable`, too, and nothing writes them unasked.
    pub extensions: Vec<PathBuf>,
    /// Devices that commands use beside the harmless ones.
    pub devices: Vec<PathBuf>,
    /// The most memory in bytes that a command may use.
    pub memory: Option<u64>,
    /// Reach of commands of the workspace profile into the network.
    pub network: Network,
    /// Hosts of the private network that they may reach through the proxy, each with a port or for all of them.
    pub private_hosts: Vec<String>,
    /// `/tmp` of commands is a folder of the session where there are namespaces, and file tools mean the same one by
    /// it.
    pub own_temp: bool,
    /// Access that answers and rules give to the command at hand.
    pub granted: Granted,
}

/// Access that an answer or a rule gives to one command beside its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Folders and files that may be read, such as packages beside the project.
    pub readable: Vec<PathBuf>,
    /// Secrets of the project that are not masked.
    pub unmasked: Vec<PathBuf>,
    /// Secrets that commands of the session made. One that lies there by now and was hidden elsewhere is masked all the same.
    pub made: Vec<PathBuf>,
    /// Paths that may be written: one that is protected, or one outside of the working directory.
    pub writable: Vec<PathBuf>,
    /// Sockets of other programs: an agent of ssh or gpg, docker.
    pub sockets: Vec<PathBuf>,
    /// Names of variables that stay in the environment.
    pub env: Vec<String>,
}

impl Granted {
    /// True if a secret is not masked. Blocks.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let is_one_of = |list: &[PathBuf]| list.iter().any(|one| one == path);
        is_one_of(&self.unmasked) || is_one_of(&self.made) && !hidden::is_moved(path)
    }
}

/// A folder that settings open, with its links followed once: what becomes a link later is not the user's. Blocks.
#[must_use]
pub fn followed(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}
