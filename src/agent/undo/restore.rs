//! Carries out a plan. What is there is kept first, so that the restoration can be taken back, also after a restart.

use super::plan::{Known, UndoItem, Worked, plan};
use crate::domain::At;
use crate::domain::undo::{PathEntry, UndoAim, UndoEntry, UndoState};
use crate::store::checkpoints::{Checkpoints, Record, Sync};
use crate::tools::files::restore as disk;
use crate::tools::files::{FileError, LARGEST};
use std::path::PathBuf;

/// Result of a restoration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::agent) struct Done {
    /// The paths, as shown.
    pub(in crate::agent) restored: Vec<String>,
    /// Paths that were left: the path as shown, and the reason as a sentence.
    pub(in crate::agent) left: Vec<(String, String)>,
    /// Names of extended attributes that could not be kept.
    pub(in crate::agent) lost: Vec<String>,
    /// Files that went back only to what others wrote in between, as shown.
    pub(in crate::agent) kept: Vec<String>,
    /// Files that were changed while a command ran, by it or by somebody else: as shown, with the command.
    pub(in crate::agent) during: Vec<(String, String)>,
    /// Why some of it, or all, is not known: one sentence each.
    pub(in crate::agent) gaps: Vec<String>,
    /// Time of the undone change.
    pub(in crate::agent) at: At,
    /// There was nothing to undo.
    pub(in crate::agent) nothing: bool,
    /// Commits or branches changed as well, and stay.
    pub(in crate::agent) commits: bool,
}

/// Restores what `aim` names. Files that somebody changed since are left, unless `also` names them.
///
/// # Errors
/// A sentence, when nothing was done because the list cannot be read or written.
pub(in crate::agent) fn restore(
    checkpoints: &Checkpoints,
    aim: UndoAim,
    also: &[PathBuf],
    known: &Known,
    now: At,
) -> Result<Done, String> {
    let Worked { plan, items, undoes, redoes } = plan(checkpoints, aim, known).map_err(|error| error.to_string())?;
    let mut done =
        Done { at: plan.at, nothing: !plan.any, gaps: plan.gaps.clone(), commits: plan.commits, ..Done::default() };
    done.gaps.dedup();
    if !plan.any {
        return Ok(done);
    }
    let mut todo: Vec<(String, UndoEntry)> = Vec::new();
    for (file, item) in plan.files.into_iter().zip(items) {
        match file.state {
            UndoState::Lost(why) => done.left.push((file.shown, why)),
            UndoState::Changed(why) | UndoState::Risky(why) if !also.contains(&file.path) => {
                done.left.push((file.shown, why));
            }
            UndoState::Ready | UndoState::Changed(_) | UndoState::Between(_) | UndoState::Risky(_) => {
                let UndoItem { mut entry, whole } = item;
                let all = also.contains(&file.path);
                if let UndoState::Between(_) = &file.state {
                    if all {
                        entry.after = whole;
                    } else {
                        done.kept.push(file.shown.clone());
                    }
                }
                match keep(checkpoints, &entry) {
                    Ok(()) => {
                        done.during.extend(file.during.map(|command| (file.shown.clone(), command)));
                        todo.push((file.shown, entry));
                    }
                    Err(why) => done.left.push((file.shown, why)),
                }
            }
        }
    }
    // Where all of it is left, nothing was undone: it can be once more.
    if todo.is_empty() && !done.left.is_empty() {
        return Ok(done);
    }
    let records = checkpoints.records().map_err(|error| error.to_string())?;
    let number = records.iter().map(Record::number).max().unwrap_or(0) + 1;
    let entries: Vec<UndoEntry> = todo.iter().map(|(_, item)| item.clone()).collect();
    let begun = Record::Restoring { restore: number, at: now, undoes, redoes, entries };
    checkpoints.add(&begun, Sync::Yes).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    for step in in_order(&todo) {
        let (shown, item) = (&step.0, &step.1);
        match apply(checkpoints, item, &mut done.lost) {
            Ok(Applied::Done) => {
                done.restored.push(shown.clone());
                entries.push(item.clone());
            }
            Ok(Applied::NotEmpty) => {}
            Err(why) => done.left.push((shown.clone(), why)),
        }
    }
    done.restored.sort();
    if entries.is_empty() && !done.left.is_empty() {
        return Ok(done);
    }
    // A death before this line leaves the changes as they were listed: what was restored already is seen on the disk.
    checkpoints.add(&Record::Restored { restore: number, entries }, Sync::Yes).map_err(|error| error.to_string())?;
    Ok(done)
}

/// Keeps what is there now.
fn keep(checkpoints: &Checkpoints, item: &UndoEntry) -> Result<(), String> {
    let PathEntry::File { hash, .. } = &item.before else { return Ok(()) };
    match disk::look(&item.path, LARGEST) {
        Ok((PathEntry::File { hash: now, .. }, Some(bytes))) if now == *hash => {
            let kept = checkpoints.keep(&bytes, Sync::Yes);
            kept.map(drop).map_err(|error| format!("Can't record the current content: {error}."))
        }
        Ok(_) => Err("Changed at the same moment.".to_owned()),
        Err(error) => Err(format!("{error}.")),
    }
}

/// First what goes, deepest first; then folders, outermost first; then files; the rights of folders last, since they may
/// forbid the rest.
fn in_order(todo: &[(String, UndoEntry)]) -> Vec<&(String, UndoEntry)> {
    let goes = |entry: &UndoEntry| match (&entry.before, &entry.after) {
        (_, PathEntry::Absent) => true,
        (PathEntry::Folder { .. }, PathEntry::Folder { .. }) => false,
        // Another kind of thing comes into its place.
        (PathEntry::Folder { .. }, _) => true,
        _ => false,
    };
    let mut out: Vec<&(String, UndoEntry)> = todo.iter().filter(|(_, entry)| goes(entry)).collect();
    out.sort_by(|a, b| b.1.path.cmp(&a.1.path));
    let mut folders: Vec<&(String, UndoEntry)> = Vec::new();
    let mut rights: Vec<&(String, UndoEntry)> = Vec::new();
    let mut rest: Vec<&(String, UndoEntry)> = Vec::new();
    for one in todo.iter().filter(|(_, entry)| !goes(entry)) {
        match (&one.1.before, &one.1.after) {
            (PathEntry::Folder { .. }, PathEntry::Folder { .. }) => rights.push(one),
            (_, PathEntry::Folder { .. }) => folders.push(one),
            _ => rest.push(one),
        }
    }
    folders.sort_by(|a, b| a.1.path.cmp(&b.1.path));
    rights.sort_by(|a, b| b.1.path.cmp(&a.1.path));
    out.extend(folders);
    out.extend(rest);
    out.extend(rights);
    out
}

enum Applied {
    Done,
    /// A folder that holds something else stays.
    NotEmpty,
}

fn apply(checkpoints: &Checkpoints, item: &UndoEntry, lost: &mut Vec<String>) -> Result<Applied, String> {
    let said = |error: FileError| match error {
        FileError::Changed(_) => "Changed at the same moment.".to_owned(),
        FileError::NoFolder(_) => "A parent folder is now a link or a file.".to_owned(),
        error => format!("{error}."),
    };
    let mut now = item.before.clone();
    if matches!((&now, &item.after), (PathEntry::Folder { .. }, after) if !matches!(after, PathEntry::Folder { .. })) {
        if !disk::remove_folder(&item.path).map_err(said)? {
            return match item.after {
                PathEntry::Absent => Ok(Applied::NotEmpty),
                _ => Err("Now a non-empty folder.".to_owned()),
            };
        }
        now = PathEntry::Absent;
    }
    match &item.after {
        PathEntry::Absent if now == PathEntry::Absent => {}
        PathEntry::Absent => disk::remove(&item.path, &now).map_err(said)?,
        PathEntry::Folder { mode, attributes } => {
            if !matches!(now, PathEntry::Absent | PathEntry::Folder { .. }) {
                disk::remove(&item.path, &now).map_err(said)?;
            }
            lost.extend(disk::folder(&item.path, *mode, attributes).map_err(said)?);
        }
        PathEntry::File { hash, mode, attributes } => {
            let bytes = checkpoints.content(hash).map_err(|error| format!("{error}."))?;
            let bytes = bytes.ok_or("Old content damaged or missing.")?;
            lost.extend(disk::earlier(&item.path, &bytes, (*mode, attributes), &now).map_err(said)?);
        }
        PathEntry::Link { target, attributes } => {
            lost.extend(disk::link(&item.path, target, attributes, &now).map_err(said)?);
        }
        PathEntry::Large { .. } | PathEntry::Special | PathEntry::Unkept { .. } => {
            return Err("Not recorded.".to_owned());
        }
    }
    Ok(Applied::Done)
}
