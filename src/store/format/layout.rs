//! Paths of a workspace's files, and the owner of a workspace.

use crate::domain::SessionId;
use std::path::{Path, PathBuf};

/// One workspace: `config.json` and `sessions/`.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The workspace's directory.
    pub workspace: PathBuf,
    /// Folder of lisle's state outside of workspaces: drafts and history.
    pub state: PathBuf,
}

/// The files of a session.
pub const SESSION: &str = "session.jsonl";
/// File that another program leaves while it rewrites.
pub const THEIR_TEMP: &str = "session.jsonl.tmp";
/// Bytes that were cut off or displaced.
pub const SALVAGE: &str = "session.jsonl.salvage";
/// The header once more.
pub const HEADER: &str = "header.json";
/// Rows that can still change.
pub const LIVE: &str = "live.jsonl";
/// The unsent text of a session that lies in the trash.
pub const DRAFT: &str = "draft.txt";
/// Our rows once more, where another program may write the session anew.
pub const OURS: &str = "ours.jsonl";
/// Storage of undo: a session's list, the workspace's contents.
pub const CHECKPOINTS: &str = "checkpoints";
/// The lock.
pub const LOCK: &str = "lisle.lock";

impl Layout {
    /// The workspace's description.
    pub fn config(&self) -> PathBuf {
        self.workspace.join("config.json")
    }

    /// The directory of all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.workspace.join("sessions")
    }

    /// The directory of one session. Ids are checked when they are made, so this never leaves the workspace.
    pub fn session(&self, id: &SessionId) -> PathBuf {
        self.sessions().join(id.as_str())
    }

    /// The contents that undo keeps.
    pub fn checkpoints(&self) -> PathBuf {
        self.workspace.join(CHECKPOINTS)
    }

    /// Folder of deleted sessions.
    pub fn trash(&self) -> PathBuf {
        self.workspace.join("trash")
    }

    /// The unsent text of one session.
    pub fn draft(&self, id: &SessionId) -> PathBuf {
        self.drafts().join(id.as_str())
    }

    /// The unsent texts of this workspace, which is told from others by its path: ids repeat between workspaces.
    pub fn drafts(&self) -> PathBuf {
        self.state.join("drafts").join(self.key())
    }

    /// Id of the workspace that lisle made here. Another one that came to the same place has another id.
    pub fn made(&self) -> PathBuf {
        self.state.join("made").join(self.key())
    }

    /// The cache of this workspace's list.
    pub fn index(&self) -> PathBuf {
        self.state.join("index").join(self.key())
    }

    /// A name for what lisle keeps of this workspace elsewhere.
    fn key(&self) -> String {
        let mut key = super::header::hash(self.workspace.as_os_str().as_encoded_bytes());
        key.truncate(16);
        key
    }

    /// Texts sent earlier.
    pub fn history(&self) -> PathBuf {
        self.state.join("history").join("input.jsonl")
    }
}

/// A name for a file that is renamed once it is whole.
pub fn temp(beside: &Path) -> PathBuf {
    let name = format!(".lisle-{}-{:08x}.tmp", std::process::id(), fastrand::u32(..));
    beside.with_file_name(name)
}

/// True for a name that [`temp`] made.
pub fn is_temp(name: &str) -> bool {
    name.starts_with(".lisle-") && name.ends_with(".tmp")
}

/// Content of the `config.json` of a workspace that lisle makes.
pub fn marker(name: &str, at_ms: i64) -> String {
    let id = format!("ws_{:08x}", fastrand::u32(..));
    let slug: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let config = serde_json::json!({
        "id": id, "name": name, "slug": slug, "createdAt": at_ms, "updatedAt": at_ms, "madeBy": "lisle",
    });
    format!("{config:#}\n")
}

/// The id in a `config.json`.
pub fn marker_id(bytes: &[u8]) -> Option<String> {
    let config = serde_json::from_slice::<serde_json::Value>(bytes).ok()?;
    config.get("id")?.as_str().map(str::to_owned)
}

/// The name in a `config.json`, and whether lisle made the workspace.
pub fn read_marker(bytes: &[u8]) -> (Option<String>, bool) {
    let Ok(config) = serde_json::from_slice::<serde_json::Value>(bytes) else { return (None, false) };
    let text = |key: &str| config.get(key).and_then(|v| v.as_str());
    (text("name").map(str::to_owned), text("madeBy") == Some("lisle"))
}

/// The workspace's id in a `config.json`.
pub fn read_id(bytes: &[u8]) -> Option<String> {
    let config = serde_json::from_slice::<serde_json::Value>(bytes).ok()?;
    config.get("id").and_then(|id| id.as_str()).filter(|id| !id.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_workspace_with_the_mark_is_ours() {
        let (name, ours) = read_marker(marker("Side work", 5).as_bytes());
        assert_eq!((name.as_deref(), ours), (Some("Side work"), true));
        assert_eq!(read_marker(br#"{"name":"Fixture","slug":"f"}"#), (Some("Fixture".into()), false));
        assert_eq!(read_marker(b"{"), (None, false));
    }
}
