//! Preview of a restoration, and the changes of a session. Looks at files and contents, and changes nothing.

use super::chain::Way;
use super::history::{Change, History, others, short};
use crate::domain::diff::FileDiff;
use crate::domain::paths::is_protected;
use crate::domain::undo::{
    ChangeKind, ChangedFile, Changes, PathEntry, UndoAim, UndoDeed, UndoEntry, UndoFile, UndoPlan, UndoState,
};
use crate::domain::{At, CallId, MessageId};
use crate::store::StoreError;
use crate::store::checkpoints::{Checkpoints, Record};
use crate::tools::files::LARGEST;
use crate::tools::files::classify;
use crate::tools::files::restore::{KNOWN, look, see};
use crate::tools::files::text;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Milliseconds that the time of a file may lag behind the clock.
const LATE: i64 = 2_000;
/// Reason for leaving a file that differs only in what a restoration never gives.
const SET_ID: &str = "Only its set-user-ID or set-group-ID rights changed, which are not restored.";
/// Reason for leaving what configures or runs code.
const RUNS_CODE: &str = "Configures or runs code, possibly from another command.";
/// Rights of a file that come back. A list that others wrote makes no set-user-ID program.
const RIGHTS: u32 = 0o777;
/// Files whose changed lines are counted.
const COUNTED: usize = 300;
/// Files that are shown with their diffs.
const SHOWN: usize = 300;
/// Lines of a diff that are shown.
const LINES: usize = 4_000;

/// Facts that the session actor knows and the list does not.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Known {
    /// The session's working directory, resolved.
    pub(in crate::agent) cwd: PathBuf,
    /// The user's messages.
    pub(in crate::agent) said: Vec<(MessageId, String)>,
    /// Rows after the message that is gone back to.
    pub(in crate::agent) since: Since,
    /// Reason for doubt in the list, as a sentence: others may have written it.
    pub(in crate::agent) doubt: Option<&'static str>,
    /// Folders of lisle itself, as far as the working directory is not in them: nothing in them is restored.
    pub(in crate::agent) own: Vec<PathBuf>,
}

/// The calls after a message.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Since {
    /// Time of the message.
    pub(in crate::agent) at: At,
    /// Rows of the calls.
    pub(in crate::agent) rows: HashSet<MessageId>,
    /// Ids of the calls, for changes of which the row is not known: a server may give every call the same one.
    pub(in crate::agent) calls: HashSet<CallId>,
}

impl Since {
    fn has(&self, change: &Change) -> bool {
        match &change.row {
            Some(row) => self.rows.contains(row),
            None => self.calls.contains(&change.call) && change.at >= self.at,
        }
    }
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
    /// Current and planned entry of each file in the plan.
    pub(super) items: Vec<UndoItem>,
    pub(super) undoes: Vec<u64>,
    pub(super) redoes: Option<u64>,
}

/// One path of a plan.
#[derive(Clone, Debug)]
pub(super) struct UndoItem {
    /// Current and planned entry.
    pub(super) entry: UndoEntry,
    /// Planned entry if everything is undone, including other people's changes in between.
    pub(super) whole: PathEntry,
}

/// Works out what would be restored.
///
/// # Errors
/// When the session's list cannot be read.
pub(in crate::agent) fn plan(checkpoints: &Checkpoints, aim: UndoAim, known: &Known) -> Result<Worked, StoreError> {
    let records = checkpoints.records()?;
    // Another session wrote into the same directory meanwhile: only then its list is of interest.
    let began = |record: &Record| match record {
        Record::Begun { at, entries, .. } if entries.is_empty() => Some(*at),
        _ => None,
    };
    let others = match records.iter().filter_map(began).min() {
        Some(first) => others(checkpoints.others(At(first.0.saturating_sub(LATE)))),
        None => Vec::new(),
    };
    let history = History::read(records, &others);
    let chosen: Vec<&Change> = match &aim {
        UndoAim::Last => history.last_turn(),
        UndoAim::Since(_) => history.only(|change| known.since.has(change)),
        UndoAim::Redo => Vec::new(),
    };
    let undo = history.last_undo().filter(|_| aim == UndoAim::Redo);
    let numbers: Vec<u64> = chosen.iter().map(|change| change.number).collect();
    let paths: BTreeSet<&Path> =
        chosen.iter().flat_map(|change| &change.entries).map(|entry| entry.path.as_path()).collect();
    let mut ways: BTreeMap<&Path, Way<'_>> =
        paths.into_iter().filter_map(|path| Some((path, history.way(path, &numbers)?))).collect();
    for entry in undo.iter().flat_map(|undo| &undo.entries) {
        // Somebody else's step can lie between the undo and now, with another undo and its redo over it.
        let stands = history.left(&entry.path) == Some(&entry.after);
        let (whole, safe) = (&entry.before, stands.then_some(&entry.before));
        let why = (!stands).then_some("Changed after the undo, not by this session.");
        ways.entry(&entry.path).or_insert(Way { whole, safe, why, over: Vec::new() });
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
        commits: history.has_commits(&chosen),
    };
    let mut items: Vec<UndoItem> = Vec::new();
    ways.retain(|path, _| !known.own.iter().any(|own| path.starts_with(own)));
    for (path, way) in ways {
        if let Some((file, item)) = one(checkpoints, &history, path, &way, known, plan.files.len() < COUNTED) {
            plan.files.push(file);
            items.push(item);
        }
    }
    let comes = |item: &&UndoItem| item.entry.after != PathEntry::Absent;
    let coming: BTreeSet<PathBuf> = items.iter().filter(comes).map(|item| item.entry.path.clone()).collect();
    for file in plan.files.iter_mut().filter(|file| coming.contains(&file.path)) {
        if file.state == UndoState::Ready && classify::makes_repository(&file.path, &known.cwd, &coming) {
            file.state = UndoState::Risky("Makes its folder a git repository, whose settings may run programs.".into());
        }
    }
    Ok(Worked { plan, items, undoes: numbers, redoes: undo.map(|undo| undo.number) })
}

/// Bytes of a file that are read for the comparison.
fn most(thing: &PathEntry) -> u64 {
    if matches!(thing, PathEntry::Large { .. }) { KNOWN } else { LARGEST }
}

fn is_there(path: &Path, thing: &PathEntry) -> bool {
    see(path, most(thing)).is_ok_and(|now| now == *thing)
}

/// One path of a plan; `None` where nothing is to be done.
fn one(
    checkpoints: &Checkpoints,
    history: &History,
    path: &Path,
    way: &Way<'_>,
    known: &Known,
    counted: bool,
) -> Option<(UndoFile, UndoItem)> {
    // Where nothing was before the first change and nothing is now, what others wrote in between may be gone.
    let between = way.safe.filter(|_| way.why.is_some());
    if is_there(path, way.whole) && between.is_none_or(|safe| is_there(path, safe)) {
        return None;
    }
    let (now, bytes) = match look(path, LARGEST) {
        Ok(found) => found,
        Err(error) => (PathEntry::unkept(error.to_string()), None),
    };
    let changed = match history.left(path) {
        Some(left) if is_there(path, left) => None,
        Some(PathEntry::Unkept { .. }) => Some("State unknown: lisle quit meanwhile."),
        _ if now == PathEntry::Absent => Some("Removed or moved since."),
        _ => Some("Changed since, not by this session."),
    };
    // Back over the last steps alone, where those before them are followed by somebody else's.
    let part = between.filter(|safe| changed.is_none() && !is_there(path, safe));
    let wanted = part.unwrap_or(way.whole);
    let target = &plain_rights(wanted);
    let is_risky = || *target != PathEntry::Absent && classify::is_of_made_repository(path, &known.cwd);
    let risk = || is_risky().then(|| "Its folder is now a git repository, where it may run programs.".to_owned());
    // What a job makes stands for a moment until it is moved aside: a look in that moment takes it for the user's. So what
    // configures or runs code is chosen by hand wherever it may be another command's, whichever way it was worked out.
    let is_of_others = part.is_some() || way.over.is_empty() || history.is_crowded(&way.over);
    let runs_code = is_of_others && is_protected(path);
    let is_outside = !path.starts_with(&known.cwd);
    let beyond = || known.doubt.filter(|_| is_outside).map(|why| format!("Outside the working directory. {why}"));
    let rights = || (target != wanted && is_there(path, target)).then(|| SET_ID.to_owned());
    let gone = lost(checkpoints, &now, target).or_else(risk).or_else(beyond).or_else(rights);
    let state = match (gone, changed.or(way.why)) {
        (Some(why), _) => UndoState::Lost(why),
        (None, Some(why)) if part.is_none() => UndoState::Changed(why.to_owned()),
        // What would be restored without a choice, whichever way it was worked out.
        (None, _) if is_outside => UndoState::Risky("Outside the working directory.".to_owned()),
        (None, _) if runs_code => UndoState::Risky(RUNS_CODE.to_owned()),
        (None, why) => match (known.doubt, why) {
            (Some(doubt), _) => UndoState::Risky(doubt.to_owned()),
            (None, Some(why)) => UndoState::Between(why.to_owned()),
            (None, None) => UndoState::Ready,
        },
    };
    let deed = match (&now, target) {
        (_, PathEntry::Absent) => UndoDeed::Remove,
        (PathEntry::Absent, _) => UndoDeed::Bring,
        (PathEntry::File { hash, .. }, PathEntry::File { hash: old, .. }) if hash == old => UndoDeed::Mode,
        (PathEntry::Folder { .. }, PathEntry::Folder { .. }) => UndoDeed::Mode,
        _ => UndoDeed::Change,
    };
    let new = target.hash().filter(|_| counted).and_then(|hash| checkpoints.content(hash).ok().flatten());
    let lines = match (&now, target) {
        _ if !counted || deed == UndoDeed::Mode => None,
        (PathEntry::File { .. } | PathEntry::Absent, PathEntry::File { .. } | PathEntry::Absent) => {
            count(bytes.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default())
        }
        _ => None,
    };
    let folder = matches!((&now, target), (PathEntry::Folder { .. }, _) | (_, PathEntry::Folder { .. }));
    let shown = known.shown(path, folder);
    let during = history.during(&way.over).map(short);
    let file = UndoFile { path: path.to_owned(), shown, deed, lines, state, during };
    let entry = UndoEntry { path: path.to_owned(), before: now, after: target.clone() };
    Some((file, UndoItem { entry, whole: plain_rights(way.whole) }))
}

/// The entry with the rights that a restoration gives.
fn plain_rights(entry: &PathEntry) -> PathEntry {
    match entry {
        PathEntry::File { hash, mode, attributes } => {
            PathEntry::File { hash: hash.clone(), mode: mode & RIGHTS, attributes: attributes.clone() }
        }
        other => other.clone(),
    }
}

/// Reason why a path cannot be restored, as a sentence.
fn lost(checkpoints: &Checkpoints, now: &PathEntry, target: &PathEntry) -> Option<String> {
    match target {
        PathEntry::File { hash, .. } if !checkpoints.has(hash) => {
            return Some("Old content removed to free space (undo.max_bytes).".to_owned());
        }
        PathEntry::Large { bytes, .. } => {
            return Some(format!("Too large to record for commands: {}.", text::size(*bytes)));
        }
        PathEntry::Unkept { why } => return Some(format!("Old content not recorded: {why}.")),
        PathEntry::Special => return Some("Was a pipe, socket or device.".to_owned()),
        _ => {}
    }
    match now {
        PathEntry::Special => Some("Now a pipe, socket or device.".to_owned()),
        PathEntry::Large { bytes, .. } => Some(format!("Now {}, too large to record.", text::size(*bytes))),
        PathEntry::Unkept { why } => Some(format!("Can't read it: {why}.")),
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

/// Changes of the session, against the first known content.
///
/// # Errors
/// When the session's list cannot be read.
pub(in crate::agent) fn changes(checkpoints: &Checkpoints, known: &Known) -> Result<Changes, StoreError> {
    let history = History::read(checkpoints.records()?, &[]);
    let mut out = Changes { gaps: history.gaps(), ..Changes::default() };
    for (path, first) in history.found() {
        if is_there(path, first) {
            continue;
        }
        let (now, bytes) = look(path, LARGEST).unwrap_or_else(|error| (PathEntry::unkept(error.to_string()), None));
        // A folder shows in what is in it.
        if matches!((first, &now), (PathEntry::Folder { .. }, _) | (_, PathEntry::Folder { .. })) {
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

fn changed(
    checkpoints: &Checkpoints,
    shown: &str,
    first: &PathEntry,
    now: &PathEntry,
    bytes: Option<Vec<u8>>,
) -> ChangedFile {
    let kind = match (first, now) {
        (PathEntry::Absent, _) => ChangeKind::Made,
        (_, PathEntry::Absent) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    let shown = shown.to_owned();
    let told = |note: &str| ChangedFile { shown: shown.clone(), kind, diff: None, note: note.to_owned() };
    let side = |thing: &PathEntry, bytes: Option<Vec<u8>>| match thing {
        PathEntry::Absent => Ok(None),
        PathEntry::File { hash, .. } => {
            let bytes = match bytes {
                Some(bytes) => bytes,
                None => checkpoints.content(hash).ok().flatten().ok_or("original content removed to free space")?,
            };
            if bytes.len() as u64 > KNOWN {
                return Err("too large to compare");
            }
            text::decode(&bytes).map(|(text, _)| Some(text)).map_err(|_| "not text")
        }
        PathEntry::Link { target, .. } => Ok(Some(format!("link to {}\n", target.display()))),
        PathEntry::Large { .. } => Err("too large to compare"),
        PathEntry::Folder { .. } | PathEntry::Special => Err("no file"),
        PathEntry::Unkept { .. } => Err("original content not recorded"),
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
                (PathEntry::File { mode: old, .. }, PathEntry::File { mode: new, .. }) if old != new => {
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
