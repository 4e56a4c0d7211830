//! Stored spellings of a key: case variants and older forms that other programs wrote.

use super::{AgentId, KeyNames, SessionKey};
use crate::domain::ids::At;

/// Result of a look-up in the keys of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLookup {
    /// Stored text to use: the key itself, else the variant that changed last.
    pub found: Option<String>,
    /// Other stored texts of the same key, which the next write removes.
    pub stale: Vec<String>,
}

/// Finds the stored texts that mean `key`. `agent` owns the store.
///
/// Ids that keep their case may also be stored in lower case by older programs. Such a text is used when no better one
/// is there, and never removed: it may be another room's.
#[must_use]
pub fn find_spellings<'a>(
    key: &SessionKey,
    stored: impl IntoIterator<Item = (&'a str, Option<At>)>,
    agent: &AgentId,
    names: &KeyNames,
) -> KeyLookup {
    let mut same: Vec<(&str, Option<At>)> = Vec::new();
    let mut folded: Vec<(&str, Option<At>)> = Vec::new();
    for (text, updated) in stored {
        match SessionKey::resolve(text, agent, names) {
            Ok(other) if other == *key => same.push((text, updated)),
            Ok(other) if other.as_str().to_lowercase() == key.as_str().to_lowercase() => folded.push((text, updated)),
            Ok(_) | Err(_) => {}
        }
    }
    let freshest = |all: &[(&str, Option<At>)]| {
        let exact = all.iter().find(|(text, _)| *text == key.as_str());
        exact.or_else(|| all.iter().max_by_key(|(_, updated)| *updated)).map(|(text, _)| (*text).to_owned())
    };
    let lowered = key.as_str().to_lowercase();
    folded.retain(|(text, _)| *text == lowered);
    let found = freshest(&same).or_else(|| freshest(&folded));
    let stale = same.iter().filter(|(text, _)| Some(*text) != found.as_deref()).map(|(text, _)| (*text).to_owned());
    KeyLookup { stale: stale.collect(), found }
}
