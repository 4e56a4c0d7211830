//! What a restoration would do, and what a session changed. Looks at files and contents, and changes nothing.

use super::history::{Change, History};
use crate::domain::diff::FileDiff;
use crate::domain::undo::{
    ChangeKind, ChangedFile, Changes, Entry, Thing, UndoAim, UndoDeed, UndoFile, UndoPlan, UndoState,
};
use crate::domain::{At, CallId, MessageId};
use crate::store::StoreError;
use crate::store::checkpoints::Checkpoints;
use crate::tools::files::LARGEST;
use crate::tools::restore::{KNOWN, look};
use crate::tools::text;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Files whose changed lines are counted.
const COUNTED: usize = 300;
/// Files that are shown with their diffs.
const SHOWN: usize = 300;
/// Lines of a diff that are shown.
const LINES: usize = 4_000;

/// What the lane knows and the list does not.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Known {
    /// The session's working directory, resolved.
    pub(in crate::agent) cwd: PathBuf,
    /// The user's messages.
    pub(in crate::agent) said: Vec<(MessageId, String)>,
    /// The calls after the message that is gone back to.
    pub(in crate::agent) since: HashSet<CallId>,
}

impl Known {
    fn shown(&self, path: &Path, folder: bool) -> String {
        let below = path.strip_prefix(&self.cwd).unwrap_or(path).display().to_string();
        if folder { format!("{below}/") } else { below }
    }
}

/// A plan with what is needed to carry it out.
#[derive(Clone, Debug)]
pub(in crate::agent) struct Worked {
    pub(in crate::agent) plan: UndoPlan,
    /// For each file of the plan, what is there and what is to be there.
    pub(super) items: Vec<Entry>,
    pub(super) undoes: Vec<u64>,
    pub(super) redoes: Option<u64>,
}

/// Works out what would be restored.
///
/// # Errors
/// When the session's list cannot be read.
pub(in crate::agent) fn plan(checkpoints: &Checkpoints, aim: UndoAim, known: &Known) -> Result<Worked, StoreError> {
    let history = History::read(checkpoints.records()?);
    let chosen: Vec<&Change> = match &aim {
        UndoAim::Last => history.last_turn(),
        UndoAim::Since(_) => history.of_calls(|call| known.since.contains(call)),
        UndoAim::Redo => Vec::new(),
    };
    let undo = history.last_undo().filter(|_| aim == UndoAim::Redo);
    let mut targets: BTreeMap<&Path, &Thing> = BTreeMap::new();
    let entries = chosen.iter().flat_map(|change| &change.entries).chain(undo.iter().flat_map(|undo| &undo.entries));
    for entry in entries {
        // What stood there before the first of them.
        targets.entry(&entry.path).or_insert(&entry.before);
    }
    let said = chosen.first().and_then(|change| change.turn.as_ref());
    let about = said.and_then(|turn| known.said.iter().find(|(id, _)| id == turn)).map(|(_, text)| text.clone());
    let at = chosen.first().map(|change| change.at).or(undo.map(|undo| undo.at)).unwrap_or(At(0));
    let mut plan = UndoPlan {
        aim,
        at,
        about: about.unwrap_or_default(),
        any: !chosen.is_empty() || undo.is_some(),
        files: Vec::new(),
        gaps: chosen.iter().flat_map(|change| change.gaps.iter().cloned()).collect(),
    };
    let mut items = Vec::new();
    for (path, target) in targets {
        if let Some((file, item)) = one(checkpoints, &history, path, target, known, plan.files.len() < COUNTED) {
            plan.files.push(file);
            items.push(item);
        }
    }
    let undoes = chosen.iter().map(|change| change.number).collect();
    Ok(Worked { plan, items, undoes, redoes: undo.map(|undo| undo.number) })
}

/// How much of a file is read to compare it with this.
fn most(thing: &Thing) -> u64 {
    if matches!(thing, Thing::Large { .. }) { KNOWN } else { LARGEST }
}

fn is_there(path: &Path, thing: &Thing) -> bool {
    look(path, most(thing)).is_ok_and(|(now, _)| now == *thing)
}

/// One path of a plan; `None` where nothing is to be done.
fn one(
    checkpoints: &Checkpoints,
    history: &History,
    path: &Path,
    target: &Thing,
    known: &Known,
    counted: bool,
) -> Option<(UndoFile, Entry)> {
    if is_there(path, target) {
        return None;
    }
    let (now, bytes) = match look(path, LARGEST) {
        Ok(found) => found,
        Err(error) => (Thing::unkept(error.to_string()), None),
    };
    let deed = match (&now, target) {
        (_, Thing::Absent) => UndoDeed::Remove,
        (Thing::Absent, _) => UndoDeed::Bring,
        (Thing::File { hash, .. }, Thing::File { hash: old, .. }) if hash == old => UndoDeed::Mode,
        (Thing::Folder { .. }, Thing::Folder { .. }) => UndoDeed::Mode,
        _ => UndoDeed::Change,
    };
    let state = match lost(checkpoints, &now, target) {
        Some(why) => UndoState::Lost(why),
        None => match history.left(path) {
            Some(left) if is_there(path, left) => UndoState::Ready,
            Some(Thing::Unkept { .. }) => {
                UndoState::Changed("How it was left is not known: lisle ended meanwhile.".to_owned())
            }
            _ if now == Thing::Absent => UndoState::Changed("It was removed or moved since.".to_owned()),
            _ => UndoState::Changed("It was changed since, not by this session.".to_owned()),
        },
    };
    let new = target.hash().filter(|_| counted).and_then(|hash| checkpoints.content(hash).ok().flatten());
    let lines = match (&now, target) {
        _ if !counted || deed == UndoDeed::Mode => None,
        (Thing::File { .. } | Thing::Absent, Thing::File { .. } | Thing::Absent) => {
            count(bytes.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default())
        }
        _ => None,
    };
    let folder = matches!((&now, target), (Thing::Folder { .. }, _) | (_, Thing::Folder { .. }));
    let shown = known.shown(path, folder);
    let file = UndoFile { path: path.to_owned(), shown, deed, lines, state };
    Some((file, Entry { path: path.to_owned(), before: now, after: target.clone() }))
}

/// Why a path cannot be restored, as a sentence.
fn lost(checkpoints: &Checkpoints, now: &Thing, target: &Thing) -> Option<String> {
    match target {
        Thing::File { hash, .. } if !checkpoints.has(hash) => {
            return Some("Its old content was removed to make room (undo.max_bytes).".to_owned());
        }
        Thing::Large { bytes, .. } => {
            return Some(format!("It had {}, more than is kept for commands.", text::size(*bytes)));
        }
        Thing::Unkept { why } => return Some(format!("Its old content was not kept: {why}.")),
        Thing::Special => return Some("It was a pipe, a socket or a device.".to_owned()),
        _ => {}
    }
    match now {
        Thing::Special => Some("It is a pipe, a socket or a device now.".to_owned()),
        Thing::Large { bytes, .. } => {
            Some(format!("It has {} now, too much to be kept and brought back.", text::size(*bytes)))
        }
        Thing::Unkept { why } => Some(format!("It cannot be looked at: {why}.")),
        _ => None,
    }
}

/// Lines that come and go; `None` where a side is no text.
fn count(old: &[u8], new: &[u8]) -> Option<(u32, u32)> {
    if old.len() as u64 > KNOWN || new.len() as u64 > KNOWN {
        return None;
    }
    let (old, new) = (text::decode(old).ok()?.0, text::decode(new).ok()?.0);
    let diff = FileDiff::between("", Some(&old), &new);
    Some((diff.added, diff.removed))
}

/// What the session changed, against what stood there first.
///
/// # Errors
/// When the session's list cannot be read.
pub(in crate::agent) fn changes(checkpoints: &Checkpoints, known: &Known) -> Result<Changes, StoreError> {
    let history = History::read(checkpoints.records()?);
    let mut out = Changes { gaps: history.gaps(), ..Changes::default() };
    for (path, first) in history.found() {
        if is_there(path, first) {
            continue;
        }
        let (now, bytes) = look(path, LARGEST).unwrap_or_else(|error| (Thing::unkept(error.to_string()), None));
        // A folder shows in what is in it.
        if matches!((first, &now), (Thing::Folder { .. }, _) | (_, Thing::Folder { .. })) {
            continue;
        }
        if out.files.len() >= SHOWN {
            out.more += 1;
            continue;
        }
        out.files.push(changed(checkpoints, &known.shown(path, false), first, &now, bytes));
    }
    Ok(out)
}

fn changed(checkpoints: &Checkpoints, shown: &str, first: &Thing, now: &Thing, bytes: Option<Vec<u8>>) -> ChangedFile {
    let kind = match (first, now) {
        (Thing::Absent, _) => ChangeKind::Made,
        (_, Thing::Absent) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    let shown = shown.to_owned();
    let told = |note: &str| ChangedFile { shown: shown.clone(), kind, diff: None, note: note.to_owned() };
    let side = |thing: &Thing, bytes: Option<Vec<u8>>| match thing {
        Thing::Absent => Ok(None),
        Thing::File { hash, .. } => {
            let bytes = match bytes {
                Some(bytes) => bytes,
                None => checkpoints.content(hash).ok().flatten().ok_or("its first content was removed to make room")?,
            };
            if bytes.len() as u64 > KNOWN {
                return Err("too large to be compared");
            }
            text::decode(&bytes).map(|(text, _)| Some(text)).map_err(|_| "not text")
        }
        Thing::Link { target } => Ok(Some(format!("link to {}\n", target.display()))),
        Thing::Large { .. } => Err("too large to be compared"),
        Thing::Folder { .. } | Thing::Special => Err("no file"),
        Thing::Unkept { .. } => Err("its first content was not kept"),
    };
    match (side(first, None), side(now, bytes)) {
        (Ok(old), Ok(new)) => {
            let mut diff = FileDiff::between(&shown, old.as_deref(), new.as_deref().unwrap_or_default());
            let mut left = LINES;
            let all: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
            for hunk in &mut diff.hunks {
                hunk.lines.truncate(left);
                left -= hunk.lines.len();
            }
            diff.hunks.retain(|hunk| !hunk.lines.is_empty());
            let mode = match (first, now) {
                (Thing::File { mode: old, .. }, Thing::File { mode: new, .. }) if old != new => {
                    format!("permissions {old:o} \u{2192} {new:o}")
                }
                _ => String::new(),
            };
            let note = if all > LINES { format!("the first {LINES} of {all} lines") } else { mode };
            ChangedFile { shown, kind, diff: Some(diff), note }
        }
        (Err(why), _) | (_, Err(why)) => told(why),
    }
}
