//! Settings of a machine.

use super::extension_state::MachineExtensions;
use crate::domain::permission::Mode;
use crate::domain::tool::ToolSpec;
use std::path::PathBuf;

/// Settings of a machine, set once but for whether anybody can be asked, and for its tools and sources.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineConfig {
    /// The tools on offer and whether each only reads.
    pub tools: Vec<(ToolSpec, bool)>,
    /// Skills, agents, commands, and texts about sources.
    pub extensions: MachineExtensions,
    /// Requests a turn may make.
    pub requests_per_turn: u32,
    /// Changes of the mode table by the user's settings.
    pub policy: crate::permit::Policy,
    /// Nobody can be asked in the turn that runs, or in the next one.
    pub headless: bool,
    /// Its turn knows of no session but its own and those that it spawned.
    pub stranger: bool,
    /// Client of a gateway whose command is carried out.
    pub client: Option<String>,
    /// Enter steers while a turn runs, instead of queuing.
    pub steer_by_default: bool,
    /// The loosest mode that this workspace may have.
    pub loosest: Mode,
    /// The mode of the session that spawned this one and waits for it: no mode is looser.
    pub ceiling: Option<Mode>,
    /// Folder of this session, with its `plans/` and `data/`.
    pub session_dir: PathBuf,
    /// The part of the window, in percent, at which a conversation is compacted by itself; 0 for never.
    pub compact_at: f64,
    /// Prompts stay long in the vendor's cache where the session says nothing of it.
    pub long_cache: bool,
    /// Tools are told to the model in full where the session says nothing of it.
    pub full_tools: bool,
    /// Seed of ids and back-off.
    pub seed: u64,
}
