//! Paths of the stores: one an agent, below `data/agents` or where `session.store` says.

use crate::routes::key::AgentId;
use crate::routes::maintenance::STORE_FILE;
use crate::store::io::Io;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Store of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStore {
    /// Agent.
    pub agent: AgentId,
    /// The store's file, which need not exist.
    pub path: PathBuf,
}

/// Stores of the agents that have a folder below `root`, and of the default agent, which comes first. `setting` is
/// `session.store`; where it names one file for all agents, that is the default agent's.
#[must_use]
pub fn agent_stores(io: &dyn Io, root: &Path, setting: Option<&str>, home: &Path) -> Vec<AgentStore> {
    let names = io.list(root).unwrap_or_default();
    let named = |name: &std::ffi::OsString| AgentId::parse(name.to_str()?).ok().filter(|id| name == id.as_str());
    let mut agents: BTreeSet<AgentId> = names.iter().filter_map(named).collect();
    agents.remove(&AgentId::default());
    let mut out: Vec<AgentStore> = Vec::new();
    for agent in std::iter::once(AgentId::default()).chain(agents) {
        let path = store_path(root, setting, home, &agent);
        if out.iter().all(|store| store.path != path) {
            out.push(AgentStore { agent, path });
        }
    }
    out
}

/// Path of an agent's store.
#[must_use]
pub fn store_path(root: &Path, setting: Option<&str>, home: &Path, agent: &AgentId) -> PathBuf {
    let Some(text) = setting else { return root.join(agent.as_str()).join("sessions").join(STORE_FILE) };
    let text = text.replace("{agentId}", agent.as_str());
    match text.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => root.join(text),
    }
}

/// Agent of a store by its path, `agents/<agentId>/sessions/sessions.json`; the default agent for any other path.
#[must_use]
pub fn agent_of(path: &Path) -> AgentId {
    let above: Vec<&str> = path.iter().rev().filter_map(|part| part.to_str()).skip(1).take(3).collect();
    match above.as_slice() {
        ["sessions", agent, "agents"] => AgentId::normalise(agent),
        _ => AgentId::default(),
    }
}
