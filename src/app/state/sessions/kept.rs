//! List state for the next start: grouping, folded groups, and facets in force.

use super::super::panes::Panes;
use super::group::Grouping;
use super::{Facets, Sessions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Screen state kept in `state/face.json`. Missing keys have their values of the first start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Grouping of the list.
    pub grouping: Grouping,
    /// The keys of folded groups, by grouping.
    pub folded: BTreeMap<Grouping, Vec<String>>,
    /// The facets in force, as typed.
    pub filter: Vec<String>,
    /// The commands of repositories that were seen, by their hash.
    pub commands: Vec<String>,
    /// Division of the screen.
    pub panes: Panes,
}

impl Sessions {
    /// State for the next start.
    #[must_use]
    pub fn kept(&self) -> Kept {
        let folded = self.folded.iter().filter(|(_, keys)| !keys.is_empty());
        Kept {
            grouping: self.grouping,
            folded: folded.map(|(grouping, keys)| (*grouping, keys.iter().cloned().collect())).collect(),
            filter: self.facets.texts(),
            ..Kept::default()
        }
    }

    /// Takes over what was kept, before there are sessions.
    pub fn recall(&mut self, kept: Kept) {
        self.grouping = kept.grouping;
        self.folded = kept.folded.into_iter().map(|(grouping, keys)| (grouping, keys.into_iter().collect())).collect();
        self.facets = Facets::parse(kept.filter.iter().map(String::as_str)).0;
    }
}
