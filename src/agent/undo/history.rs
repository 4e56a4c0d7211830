//! State of a session's list: the changes in force, those that were undone, and the last entry of
//! each path. Pure.

use super::chain::{Chains, Way};
use crate::domain::undo::{PathEntry, UndoEntry};
use crate::domain::{At, CallId, MessageId, SessionId};
use crate::store::checkpoints::Record;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A call that changed something, or may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) number: u64,
    pub(super) call: CallId,
    pub(super) row: Option<MessageId>,
    pub(super) turn: Option<MessageId>,
    pub(super) at: At,
    pub(super) entries: Vec<UndoEntry>,
    pub(super) gaps: Vec<String>,
    /// The command that ran meanwhile, where these changes may be somebody else's.
    pub(super) during: Option<String>,
    /// Another command ran when it began.
    crowded: bool,
    /// Positions in the list of its two records; the second one is that of the first while it has not ended.
    records: (usize, usize),
    /// Time of its end.
    ended: Option<At>,
    undone: bool,
}

/// Change by another session, with its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Other {
    session: SessionId,
    began: At,
    ended: Option<At>,
    paths: Vec<PathBuf>,
}

/// Changes in the lists of other sessions.
pub(super) fn others(lists: Vec<(SessionId, Vec<Record>)>) -> Vec<Other> {
    let mut out = Vec::new();
    for (session, records) in lists {
        let History { changes, restorations, .. } = History::read(records, &[]);
        let paths = |entries: Vec<UndoEntry>| entries.into_iter().map(|entry| entry.path).collect();
        for change in changes {
            let (began, ended) = (change.at, change.ended);
            out.push(Other { session: session.clone(), began, ended, paths: paths(change.entries) });
        }
        for one in restorations {
            out.push(Other { session: session.clone(), began: one.at, ended: Some(one.at), paths: paths(one.entries) });
        }
    }
    out
}

/// A restoration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restoration {
    pub(super) number: u64,
    pub(super) at: At,
    pub(super) entries: Vec<UndoEntry>,
    undoes: Vec<u64>,
    pub(super) redoes: Option<u64>,
    at_record: usize,
    /// It was taken back by another one.
    undone: bool,
}

/// The list, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    changes: Vec<Change>,
    /// Numbers of the calls during which git made a commit or went to another branch.
    commits: Vec<u64>,
    restorations: Vec<Restoration>,
    /// History of each path, as far as it is known.
    chains: Chains,
}

impl History {
    /// Reads a list. `others` is what other sessions changed in the same time.
    pub(super) fn read(records: Vec<Record>, others: &[Other]) -> Self {
        let mut out = Self::default();
        let mut open: HashMap<u64, (At, Vec<u64>, Option<u64>)> = HashMap::new();
        for (place, record) in records.into_iter().enumerate() {
            match record {
                Record::Begun { change, call, row, turn, at, subject, tool, entries } => {
                    let gap = format!("lisle quit while {tool} {subject} ran; record incomplete.");
                    // What a file tool changes is known before it runs.
                    let during = entries.is_empty().then_some(subject);
                    out.changes.push(Change {
                        number: change,
                        call,
                        row,
                        turn,
                        at,
                        entries,
                        gaps: vec![gap],
                        during,
                        crowded: false,
                        records: (place, place),
                        ended: None,
                        undone: false,
                    });
                }
                Record::Ended { change, entries, gaps, at, sure, commits, crowded } => {
                    out.commits.extend(commits.then_some(change));
                    if let Some(one) = out.changes.iter_mut().rev().find(|one| one.number == change) {
                        (one.entries, one.gaps, one.ended, one.records.1) = (entries, gaps, at, place);
                        one.crowded = crowded;
                        if sure {
                            one.during = None;
                        }
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
                    let (number, undone) = (restore, false);
                    out.restorations.push(Restoration {
                        number,
                        at,
                        entries,
                        undoes,
                        redoes,
                        at_record: place,
                        undone,
                    });
                }
            }
        }
        out.chains = out.linked(others);
        out
    }

    /// The chains of all paths, in the order in which the records tell of them.
    fn linked(&self, others: &[Other]) -> Chains {
        enum One<'a> {
            Change(&'a Change),
            Restoration(&'a Restoration),
        }
        let changes = self.changes.iter().map(|change| (change.records.1, One::Change(change)));
        let restorations = self.restorations.iter().map(|one| (one.at_record, One::Restoration(one)));
        let mut all: Vec<(usize, One<'_>)> = changes.chain(restorations).collect();
        all.sort_by_key(|(place, _)| *place);
        let mut chains = Chains::default();
        for (place, one) in all {
            match one {
                One::Change(change) => {
                    for UndoEntry { path, before, after } in &change.entries {
                        let shared = change.shared(path, others);
                        chains.change(change.number, (path, before, after), change.records, shared);
                    }
                }
                One::Restoration(one) => {
                    for UndoEntry { path, before, after } in &one.entries {
                        chains.restoration(one.number, (path, before, after), (&one.undoes, one.redoes), place);
                    }
                    let told = one.entries.iter().map(|entry| entry.path.as_path()).collect();
                    chains.unchanged(one.number, (&one.undoes, one.redoes), &told);
                }
            }
        }
        chains
    }

    /// The changes of the last turn that changed something and was not taken back, oldest first.
    pub(super) fn last_turn(&self) -> Vec<&Change> {
        let Some(last) = self.changes.iter().rev().find(|change| !change.undone) else { return Vec::new() };
        let same = |change: &&Change| change.number == last.number || (last.turn.is_some() && change.turn == last.turn);
        self.changes.iter().filter(|change| !change.undone).filter(same).collect()
    }

    /// git made a commit, or went to another branch, with one of these changes or after the first of them.
    pub(super) fn has_commits(&self, changes: &[&Change]) -> bool {
        changes
            .iter()
            .map(|change| change.number)
            .min()
            .is_some_and(|first| self.commits.iter().any(|one| *one >= first))
    }

    /// The changes that are wanted and were not taken back, oldest first.
    pub(super) fn only(&self, wanted: impl Fn(&Change) -> bool) -> Vec<&Change> {
        self.changes.iter().filter(|change| !change.undone && wanted(change)).collect()
    }

    /// The command that ran while one of these changes of the path was made, where it may be somebody else's.
    pub(super) fn during(&self, numbers: &[u64]) -> Option<&str> {
        let change = self.changes.iter().find(|change| numbers.contains(&change.number) && change.during.is_some())?;
        change.during.as_deref()
    }

    /// True if another command ran when one of these began.
    pub(super) fn is_crowded(&self, numbers: &[u64]) -> bool {
        self.changes.iter().any(|change| change.crowded && numbers.contains(&change.number))
    }

    /// The undo that can be redone: the last one, unless something was changed after it. That also holds once the change
    /// was undone and redone itself, because its files are not as the undo left them.
    pub(super) fn last_undo(&self) -> Option<&Restoration> {
        let changed = self.changes.iter().map(|change| change.number).max();
        let undo = self.restorations.iter().rev().find(|one| one.redoes.is_none() && !one.undone)?;
        changed.is_none_or(|changed| changed < undo.number).then_some(undo)
    }

    /// Entry that the last call or restoration of a path left.
    pub(super) fn left(&self, path: &Path) -> Option<&PathEntry> {
        self.chains.left(path)
    }

    /// The way back of a path over these changes.
    pub(super) fn way(&self, path: &Path, numbers: &[u64]) -> Option<Way<'_>> {
        self.chains.way(path, |number| numbers.contains(&number))
    }

    /// First known entry of each path.
    pub(super) fn found(&self) -> BTreeMap<&Path, &PathEntry> {
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

    /// Gaps in what is known of the changes in force.
    pub(super) fn gaps(&self) -> Vec<String> {
        self.changes.iter().filter(|change| !change.undone).flat_map(|change| change.gaps.clone()).collect()
    }
}

impl Change {
    /// Evidence that a change of `path` may be another session's: it changed the path while this command ran.
    fn shared(&self, path: &Path, others: &[Other]) -> Option<String> {
        let during = self.during.as_ref()?;
        let meets = |other: &&Other| {
            self.ended.is_none_or(|ended| other.began <= ended)
                && other.ended.unwrap_or(other.began) >= self.at
                && other.paths.iter().any(|other| other == path)
        };
        let other = others.iter().find(meets)?;
        Some(format!("Changed by session {} while `{}` ran.", other.session, short(during)))
    }
}

/// A command on little room.
pub(super) fn short(command: &str) -> String {
    let mut chars = command.chars();
    let start: String = chars.by_ref().take(40).collect();
    if chars.next().is_some() { format!("{}\u{2026}", start.trim_end()) } else { start }
}
