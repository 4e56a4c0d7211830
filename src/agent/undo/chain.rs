//! History of each path: a chain of states, each step with its author.
//!
//! A change whose `before` is not what the last one left tells of a step that nobody recorded: the user's, another
//! program's, another session's. A restoration shortens the chain to the state that it went back to. Undo goes back
//! only over steps of the changes that it takes back; the first other one stops it. Pure.

use crate::domain::undo::PathEntry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChainLink {
    /// Entry before it.
    pub(super) from: PathEntry,
    /// Entry after it.
    pub(super) to: PathEntry,
    by: By,
    /// Position in the list of the record that told of it.
    at: usize,
}

/// Author of a step.
#[derive(Clone, Debug, PartialEq)]
enum By {
    /// This change.
    Change(u64),
    /// This change or somebody else: why that is thought, as a sentence.
    Shared(u64, String),
    /// Somebody else: the evidence, as a sentence.
    Other(String),
    /// A restoration that went to a state that is not in the chain.
    Restoration,
}

/// A way back for one path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way<'a> {
    /// Entry before the first of the changes.
    pub(super) whole: &'a PathEntry,
    /// Entry that can be restored without losing other people's content; `None` if the last step
    /// already is another's.
    pub(super) safe: Option<&'a PathEntry>,
    /// Reason why `whole` cannot be restored safely; `None` if it can.
    pub(super) why: Option<&'a str>,
    /// The changes whose steps lie between `safe` and the end.
    pub(super) over: Vec<u64>,
}

/// Chains of all paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chains {
    now: HashMap<PathBuf, Vec<ChainLink>>,
    /// Entry that the last record of each path left.
    left: HashMap<PathBuf, PathEntry>,
    /// Chains of the paths of each restoration, as they were before it.
    before: HashMap<u64, HashMap<PathBuf, Vec<ChainLink>>>,
}

impl Chains {
    /// A change was recorded. `began` and `at` are the positions of its two records in the list: what another one
    /// recorded in between is that one's. `shared` says why the step may be somebody else's.
    pub(super) fn change(
        &mut self,
        number: u64,
        (path, before, after): (&Path, &PathEntry, &PathEntry),
        (began, at): (usize, usize),
        shared: Option<String>,
    ) {
        let chain = self.now.entry(path.to_owned()).or_default();
        let mut from = before.clone();
        match chain.last() {
            Some(last) if last.at > began => from = last.to.clone(),
            _ => gap(chain, self.left.get(path), before, at),
        }
        self.left.insert(path.to_owned(), after.clone());
        if from != *after {
            let by = shared.map_or(By::Change(number), |why| By::Shared(number, why));
            chain.push(ChainLink { from, to: after.clone(), by, at });
        }
    }

    /// A restoration was recorded: it takes back the changes `undoes`, or the restoration `redoes`.
    pub(super) fn restoration(
        &mut self,
        number: u64,
        (path, before, after): (&Path, &PathEntry, &PathEntry),
        (undoes, redoes): (&[u64], Option<u64>),
        at: usize,
    ) {
        let chain = self.now.entry(path.to_owned()).or_default();
        self.before.entry(number).or_default().insert(path.to_owned(), chain.clone());
        gap(chain, self.left.get(path), before, at);
        let earlier = redoes.and_then(|redone| self.before.get(&redone)?.get(path));
        if let Some(earlier) = earlier {
            let left = earlier.last().map_or(before, |link| &link.to);
            chain.clone_from(earlier);
            if !earlier.is_empty() {
                gap(chain, Some(left), after, at);
            }
            self.left.insert(path.to_owned(), after.clone());
            return;
        }
        self.left.insert(path.to_owned(), after.clone());
        let own = |link: &ChainLink| matches!(&link.by, By::Change(n) | By::Shared(n, _) if undoes.contains(n));
        // Of steps that left the path as they found it, all are taken back: back to the last step of others, or to the first
        // own one.
        let behind_others = chain.iter().rposition(|link| !own(link)).map_or(0, |place| place + 1);
        let first = chain.iter().position(own);
        let ways = [Some(behind_others), first, chain.iter().rposition(|link| own(link) && link.from == *after)];
        let leads_there = |place: &usize| chain.get(*place).is_some_and(|link| link.from == *after);
        match ways.into_iter().flatten().find(leads_there) {
            Some(place) => chain.truncate(place),
            None => chain.push(ChainLink { from: before.clone(), to: after.clone(), by: By::Restoration, at }),
        }
    }

    /// Paths that a restoration took back, or brought again, without a word in its record: its changes had left them as they
    /// found them. `told` are the paths of its record.
    pub(super) fn unchanged(&mut self, number: u64, (undoes, redoes): (&[u64], Option<u64>), told: &HashSet<&Path>) {
        let earlier = redoes.and_then(|redone| self.before.get(&redone)).cloned().unwrap_or_default();
        for (path, chain) in self.now.iter_mut().filter(|(path, _)| !told.contains(path.as_path())) {
            let own = |link: &ChainLink| matches!(&link.by, By::Change(n) | By::Shared(n, _) if undoes.contains(n));
            let lowest = chain.iter().position(own).filter(|lowest| chain[*lowest..].iter().all(own));
            let back = lowest.filter(|lowest| chain.last().is_some_and(|last| chain[*lowest].from == last.to));
            let as_it_was = |earlier: &&Vec<ChainLink>| earlier.last().map(|link| &link.to) == self.left.get(path);
            match (earlier.get(path).filter(as_it_was), back) {
                (Some(earlier), _) => {
                    self.before.entry(number).or_default().insert(path.clone(), chain.clone());
                    chain.clone_from(earlier);
                }
                (None, Some(lowest)) => {
                    self.before.entry(number).or_default().insert(path.clone(), chain.clone());
                    chain.truncate(lowest);
                }
                (None, None) => {}
            }
        }
    }

    /// Entry that the last record of a path left.
    pub(super) fn left(&self, path: &Path) -> Option<&PathEntry> {
        self.left.get(path)
    }

    /// The way back over the changes that are `wanted`; `None` where none of them made a step that still counts.
    pub(super) fn way(&self, path: &Path, wanted: impl Fn(u64) -> bool) -> Option<Way<'_>> {
        let chain = self.now.get(path)?;
        let is_wanted = |link: &ChainLink| matches!(&link.by, By::Change(n) | By::Shared(n, _) if wanted(*n));
        let lowest = chain.iter().position(is_wanted)?;
        let whole = &chain[lowest].from;
        let mut way = Way { whole, safe: None, why: None, over: Vec::new() };
        for link in chain[lowest..].iter().rev() {
            match &link.by {
                By::Change(number) if wanted(*number) => {
                    way.safe = Some(&link.from);
                    way.over.push(*number);
                }
                By::Change(_) | By::Restoration => {
                    way.why = Some("Changed afterwards; skipped.");
                    break;
                }
                By::Shared(_, why) | By::Other(why) => {
                    way.why = Some(why);
                    break;
                }
            }
        }
        Some(way)
    }
}

/// Adds the step that nobody recorded, where there must be one.
fn gap(chain: &mut Vec<ChainLink>, left: Option<&PathEntry>, found: &PathEntry, at: usize) {
    let Some(left) = left.filter(|left| *left != found).cloned() else { return };
    let unknown = |thing: &PathEntry| matches!(thing, PathEntry::Unkept { .. } | PathEntry::Large { .. });
    let why = match (&left, found) {
        (PathEntry::Unkept { .. }, _) => "State after an earlier call unknown.",
        (_, found) if unknown(found) || unknown(&left) => "Possibly changed in between.",
        (_, PathEntry::Absent) => "Removed or moved in between, not by this session.",
        _ => "Changed in between, not by this session.",
    };
    chain.push(ChainLink { from: left, to: found.clone(), by: By::Other(why.to_owned()), at });
}
