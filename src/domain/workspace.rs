//! Workspaces as they are listed: each is a folder of sessions.

use super::colour::Colour;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The name of the workspace that is there without being made.
pub const USUAL: &str = "default";

/// A workspace as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Number of sessions, including archived and hidden ones.
    pub sessions: usize,
    /// It is the one that is open.
    pub current: bool,
    /// Another program made it.
    pub foreign: bool,
}

/// True if a workspace can have this name: it is the name of a folder.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    name.chars().count() <= 64 && name.chars().all(fits) && edge(name.chars().next()) && edge(name.chars().next_back())
}

/// The colour in which a workspace is named, always the same one for a name. The usual workspace has none.
#[must_use]
pub fn colour(name: &str) -> Option<Colour> {
    if name == USUAL {
        return None;
    }
    // FNV-1a: stable over versions and machines.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // Twelve hues, far enough from each other to be told apart.
    let hue = (hash >> 8) % 12 * 30;
    Colour::pair(&format!("hsl({hue}, 65%, 34%)"), Some(&format!("hsl({hue}, 60%, 68%)"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_those_of_folders() {
        for (name, fits) in [
            ("work", true),
            ("Two words", true),
            ("a.b-c_1", true),
            ("東京", true),
            ("", false),
            (".a", false),
            ("a/b", false),
            ("a ", false),
            ("..", false),
        ] {
            assert_eq!(is_name(name), fits, "{name:?}");
        }
    }

    #[test]
    fn each_has_its_colour() {
        assert_eq!(colour(USUAL), None);
        assert_eq!(colour("work"), colour("work"));
        let many: HashSet<String> = (0..200).map(|n| format!("{:?}", colour(&format!("w{n}")))).collect();
        assert!(many.len() >= 10, "{}", many.len());
    }
}
