//! What a session's list says: which changes stand, which were taken back, and how each path was left. Pure.

use crate::domain::undo::{Entry, Thing};
use crate::domain::{At, CallId, MessageId};
use crate::store::checkpoints::Record;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A call that changed something, or may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) number: u64,
    pub(super) call: CallId,
    pub(super) turn: Option<MessageId>,
    pub(super) at: At,
    pub(super) entries: Vec<Entry>,
    pub(super) gaps: Vec<String>,
    undone: bool,
}

/// A restoration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restoration {
    pub(super) number: u64,
    pub(super) at: At,
    pub(super) entries: Vec<Entry>,
    undoes: Vec<u64>,
    redoes: Option<u64>,
    /// It was taken back by another one.
    undone: bool,
}

/// The list, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    changes: Vec<Change>,
    restorations: Vec<Restoration>,
    /// How each path was left, as far as is known.
    left: HashMap<PathBuf, Thing>,
    /// A change came after the last restoration.
    changed_last: bool,
}

impl History {
    pub(super) fn read(records: Vec<Record>) -> Self {
        let mut out = Self::default();
        let mut open: HashMap<u64, (At, Vec<u64>, Option<u64>)> = HashMap::new();
        for record in records {
            let kept: Vec<Entry> = record.entries().to_vec();
            let counts = !matches!(record, Record::Restoring { .. });
            match record {
                Record::Begun { change, call, turn, at, subject, tool, entries } => {
                    let gap = format!("lisle ended while {tool} {subject} ran; what it changed is not all known.");
                    let (gaps, undone) = (vec![gap], false);
                    out.changes.push(Change { number: change, call, turn, at, entries, gaps, undone });
                }
                Record::Ended { change, entries, gaps } => {
                    if let Some(one) = out.changes.iter_mut().rev().find(|one| one.number == change) {
                        for entry in &one.entries {
                            // It was to be changed; where it was not, it was left as it was.
                            out.left.insert(entry.path.clone(), entry.before.clone());
                        }
                        (one.entries, one.gaps) = (entries, gaps);
                    }
                    // One that may have changed something, and did not, is none.
                    out.changes.retain(|one| one.number != change || !one.entries.is_empty() || !one.gaps.is_empty());
                }
                Record::Restoring { restore, at, undoes, redoes, .. } => {
                    open.insert(restore, (at, undoes, redoes));
                }
                Record::Restored { restore, entries } => {
                    let Some((at, undoes, redoes)) = open.remove(&restore) else { continue };
                    for change in out.changes.iter_mut().filter(|change| undoes.contains(&change.number)) {
                        change.undone = true;
                    }
                    if let Some(other) = out.restorations.iter_mut().find(|one| Some(one.number) == redoes) {
                        other.undone = true;
                        let back = other.undoes.clone();
                        for change in out.changes.iter_mut().filter(|change| back.contains(&change.number)) {
                            change.undone = false;
                        }
                    }
                    let undone = false;
                    out.restorations.push(Restoration { number: restore, at, entries, undoes, redoes, undone });
                }
            }
            for entry in kept.into_iter().filter(|_| counts) {
                out.left.insert(entry.path, entry.after);
            }
        }
        let number = |last: Option<u64>| last.unwrap_or(0);
        out.changed_last =
            number(out.changes.last().map(|one| one.number)) > number(out.restorations.last().map(|one| one.number));
        out
    }

    /// The changes of the last turn that changed something and was not taken back, oldest first.
    pub(super) fn last_turn(&self) -> Vec<&Change> {
        let Some(last) = self.changes.iter().rev().find(|change| !change.undone) else { return Vec::new() };
        let same = |change: &&Change| change.number == last.number || (last.turn.is_some() && change.turn == last.turn);
        self.changes.iter().filter(|change| !change.undone).filter(same).collect()
    }

    /// The changes of these calls that were not taken back, oldest first.
    pub(super) fn of_calls(&self, wanted: impl Fn(&CallId) -> bool) -> Vec<&Change> {
        self.changes.iter().filter(|change| !change.undone && wanted(&change.call)).collect()
    }

    /// The last undo, while nothing was changed since.
    pub(super) fn last_undo(&self) -> Option<&Restoration> {
        if self.changed_last {
            return None;
        }
        self.restorations.iter().rev().find(|one| one.redoes.is_none() && !one.undone)
    }

    /// How a path was left by the last call or restoration that touched it.
    pub(super) fn left(&self, path: &Path) -> Option<&Thing> {
        self.left.get(path)
    }

    /// How each path was found first, by path.
    pub(super) fn found(&self) -> BTreeMap<&Path, &Thing> {
        let changes = self.changes.iter().map(|one| (one.number, &one.entries));
        let restorations = self.restorations.iter().map(|one| (one.number, &one.entries));
        let mut all: Vec<_> = changes.chain(restorations).collect();
        all.sort_by_key(|(number, _)| *number);
        let mut out = BTreeMap::new();
        for entry in all.iter().flat_map(|(_, entries)| entries.iter()) {
            out.entry(entry.path.as_path()).or_insert(&entry.before);
        }
        out
    }

    /// What is not known of the changes that stand.
    pub(super) fn gaps(&self) -> Vec<String> {
        self.changes.iter().filter(|change| !change.undone).flat_map(|change| change.gaps.clone()).collect()
    }
}
